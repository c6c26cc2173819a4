"""Model files as their members."""

import zipfile
from pathlib import Path

from hiddenite.container import Members


def members_of(path: Path) -> dict[str, bytes]:
    """The members of a model file by name."""
    members = Members(path, "model", "expected a model")
    return {name: members.read(name) for name in members.namelist()}


def write_zip(path: Path, members: dict[str, bytes]) -> Path:
    """Write members as model files were before they were containers."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path
