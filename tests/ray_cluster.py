"""A Ray cluster of two nodes on this machine, one processor each, until standard input ends.

    python -m tests.ray_cluster

prints its address.
"""

import contextlib
import io
import os
import sys
from typing import Any


def main() -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster  # noqa: PLC0415  (an extra)

    with contextlib.redirect_stdout(io.StringIO()):
        cluster: Any = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
        )
        cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
    print(cluster.address, flush=True)
    sys.stdin.read()
    cluster.shutdown()


if __name__ == "__main__":
    main()
