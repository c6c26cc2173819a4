"""What several processes of a test run need and one of them makes."""

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(
    factory: pytest.TempPathFactory, worker_id: str, name: str, make: Callable[[Path], None]
) -> Path:
    """A folder that `make` has filled: the first process fills it while the others wait."""
    base = factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / name
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            made = factory.mktemp(name)
            make(made)
            made.rename(folder)
    return folder
