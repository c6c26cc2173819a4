"""What several processes of a test run need and one of them makes; how fast the machine is."""

import fcntl
import functools
import time
from collections.abc import Callable
from pathlib import Path

import pytest

REFERENCE_SECONDS = 0.065  # of the loop below, on the processor for which timed tests have their sizes


@functools.cache
def machine_speed() -> float:
    """How many times as fast as that processor this one is, from 1 to 6: as much more a timed test takes."""
    seconds = []
    for _ in range(3):
        begun = time.process_time()
        sum(i * i for i in range(1_000_000))
        seconds.append(time.process_time() - begun)
    return max(1.0, min(REFERENCE_SECONDS / min(seconds), 6.0))


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
