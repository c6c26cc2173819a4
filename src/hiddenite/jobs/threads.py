"""Blocks answered by the threads of this process, in order, several at a time.

While the core works on one block, the texts of another are made. All blocks under way share one budget of
threads: no more than these work at a time.
"""

from __future__ import annotations

import collections
import itertools
import os
import queue
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from hiddenite._core import cancel_calls

if TYPE_CHECKING:
    from concurrent.futures import Future  # where it is needed: a short job has one block

AT_A_TIME = 4  # blocks that are answered, at most,
AHEAD = 8  # and that wait for an earlier one
_Block = TypeVar("_Block")
_Answer = TypeVar("_Answer")


def answer_in_order(
    answer: Callable[[_Block, int], _Answer], blocks: Iterator[_Block], threads: int = 0
) -> Generator[tuple[_Block, _Answer]]:
    """Give blocks with their answers; ``answer`` gets a block and the number of threads it may use.

    The thread that asks for answers makes some too, with the first share of the threads; it waits only if it
    is far ahead. ``threads`` is the budget, 0 for all processors.
    """
    shares = thread_shares(threads)
    first = next(blocks, None)
    if first is None:
        return
    yield first, answer(first, sum(shares))  # alone: what is built on first use is built once
    second = next(blocks, None)
    if second is None:
        return
    blocks = itertools.chain([second], blocks)
    helpers = _Helpers(answer, shares[1:])
    waiting: collections.deque[tuple[_Block, Future[_Answer]]] = collections.deque()
    try:
        for block in blocks:
            waiting.append((block, helpers.begin(block) or _answered(answer, block, shares[0])))
            while waiting and (waiting[0][1].done() or len(waiting) > AHEAD):
                done, future = waiting.popleft()
                yield done, future.result()
        for done, future in waiting:
            yield done, future.result()
    except BaseException:
        cancel_calls()
        raise
    finally:
        helpers.close()


def thread_shares(threads: int) -> list[int]:
    """Return the threads of each block that is answered at a time; together they are those asked for."""
    total = threads if threads > 0 else num_processors()
    blocks = min(total, AT_A_TIME)
    return [total // blocks + (i < total % blocks) for i in range(blocks)]


def num_processors() -> int:
    """Return how many processors this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Helpers(Generic[_Block, _Answer]):
    """Threads that answer blocks, each with a share of the core's threads."""

    def __init__(self, answer: Callable[[_Block, int], _Answer], shares: Sequence[int]) -> None:
        self._answer = answer
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        for share in shares:
            self._free.put(share)
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

        self._pool = ThreadPoolExecutor(len(shares), thread_name_prefix="answer") if shares else None

    def begin(self, block: _Block) -> Future[_Answer] | None:
        """Let one of them answer the block; None if all are busy."""
        if self._pool is None or self._free.empty():
            return None
        return self._pool.submit(self._run, block, self._free.get())

    def _run(self, block: _Block, share: int) -> _Answer:
        try:
            return self._answer(block, share)
        finally:
            self._free.put(share)

    def close(self) -> None:
        """Wait for them."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


def _answered(answer: Callable[[_Block, int], _Answer], block: _Block, threads: int) -> Future[_Answer]:
    """Answer a block here and now; an error waits until those before it have been given."""
    from concurrent.futures import Future  # noqa: PLC0415

    future: Future[_Answer] = Future()
    try:
        future.set_result(answer(block, threads))
    except Exception as error:
        future.set_exception(error)
    return future
