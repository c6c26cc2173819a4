"""Model files as their members."""

from pathlib import Path

from hiddenite.files.container import Members


def members_of(path: Path) -> dict[str, bytes]:
    """The members of a model file by name."""
    members = Members(path, "model", "expected a model")
    return {name: members.read(name) for name in members.namelist()}
