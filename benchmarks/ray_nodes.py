"""A Ray cluster of some nodes on this machine, one processor each: ``python benchmarks/ray_nodes.py NODES``.

Prints the address and stays until standard input ends.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MARK = "HIDDENITE_BENCHMARK"  # in the environment of the cluster's processes


@contextlib.contextmanager
def ray_nodes(nodes: int) -> Iterator[str]:
    """Start a cluster of so many nodes; gives its address."""
    marked = os.environ | {MARK: str(os.getpid())}
    arguments = [sys.executable, __file__, str(nodes)]
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


def main() -> None:
    """Start the cluster, say where, and wait."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster  # noqa: PLC0415  (an extra)

    with contextlib.redirect_stdout(sys.stderr):
        cluster: Any = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
        )
        for _ in range(int(sys.argv[1]) - 1):
            cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
    print(cluster.address, flush=True)
    sys.stdin.read()
    cluster.shutdown()


if __name__ == "__main__":
    main()
