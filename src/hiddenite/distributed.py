"""Batches on a Ray cluster: the same blocks, answered by processes on any number of machines.

Each processor of the cluster runs one process that loads the model once; compiled models are mapped, so the
processes of one machine share one copy. Models are read by their path, which every machine must see. The
driver sends blocks out, a few ahead of what is written, and takes the answers back in input order, so the
output is the one of a single machine and the same journal lets it be gone on with. A process that is lost is
started again and asked again; nothing is written twice, because only the driver writes.
"""

from __future__ import annotations

import collections
import itertools
import logging
import socket
from collections.abc import Callable, Generator, Iterator
from typing import Any, Generic, TypeVar

from hiddenite.errors import ModelError

BLOCKS_PER_TASK = 16  # one message to a process and back
TASKS_AHEAD = 3  # per process
LOCAL = "local"
_Block = TypeVar("_Block")
_Answer = TypeVar("_Answer")


class _Worker(Generic[_Block, _Answer]):
    """A process that answers."""

    def __init__(self, make: Callable[[], Callable[[_Block], _Answer]]) -> None:
        self._answer = make()

    def answer(self, blocks: list[_Block]) -> list[_Answer]:
        return [self._answer(block) for block in blocks]


def cluster_answers(
    address: str, make: Callable[[], Callable[[_Block], _Answer]]
) -> Callable[[Iterator[_Block]], Generator[tuple[_Block, _Answer]]]:
    """Return what gives blocks with their answers, in order, from the cluster at ``address``.

    ``make`` and the blocks are sent to the processes; ``local`` starts a cluster of this machine.
    """
    ray = _connected(address)

    def answers(blocks: Iterator[_Block]) -> Generator[tuple[_Block, _Answer]]:
        endless = {"max_restarts": -1, "max_task_retries": -1}  # a lost process is replaced
        worker_class = ray.remote(num_cpus=1, **endless)(_Worker)
        count = max(1, int(ray.cluster_resources().get("CPU", 1)))
        workers = itertools.cycle([worker_class.remote(make) for _ in range(count)])
        waiting: collections.deque[tuple[list[_Block], Any]] = collections.deque()
        try:
            while task := list(itertools.islice(blocks, BLOCKS_PER_TASK)):
                waiting.append((task, next(workers).answer.remote(task)))
                if len(waiting) >= TASKS_AHEAD * count:
                    yield from _received(ray, *waiting.popleft())
            while waiting:
                yield from _received(ray, *waiting.popleft())
        finally:
            ray.shutdown()

    return answers


def _received(ray: Any, task: list[_Block], reference: Any) -> Iterator[tuple[_Block, _Answer]]:
    try:
        answers = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.as_instanceof_cause() from None  # what went wrong over there, as it would here
    return zip(task, answers, strict=True)


def _connected(address: str) -> Any:
    try:
        import ray  # noqa: PLC0415  (an extra)
    except ImportError:
        raise ModelError("--ray needs the extra ray: pip install 'hiddenite[ray]'") from None
    try:
        _knock(address)
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level=logging.ERROR,
            include_dashboard=False if address == LOCAL else None,
        )
    except (OSError, RuntimeError, ValueError) as error:
        first_line = str(error).strip().split("\n")[0]
        raise ModelError(f"the Ray cluster {address} cannot be reached: {first_line}") from None
    return ray


def _knock(address: str) -> None:
    """Raise OSError if nobody answers at host:port; Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=5).close()
