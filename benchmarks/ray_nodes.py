"""A Ray cluster of two nodes on this machine, the one of the tests, and its processes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

CLUSTER = Path(__file__).resolve().parents[1] / "tests" / "ray_cluster.py"
MARK = "HIDDENITE_BENCHMARK"  # in the environment of the cluster's processes


@contextlib.contextmanager
def ray_nodes() -> Iterator[str]:
    """Start the cluster; gives its address."""
    marked = os.environ | {MARK: str(os.getpid())}
    arguments = [sys.executable, str(CLUSTER)]
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, env=marked, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate(timeout=60)


def answering_processes() -> list[int]:
    """Return the processes of our cluster that answer."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            answers = process.name.isdecimal() and b"ray::_Worker" in (process / "cmdline").read_bytes()
            if answers and f"{MARK}={os.getpid()}".encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found
