"""Who works when: a few threads, three lines in front of them, and a deadline for everything.

A request first gets ``quick_seconds`` in one of ``workers`` threads, of which one is kept for small questions
of the first rank. What is not done by then stops, and begins again in the one thread for long work, with
``seconds``. So whoever asks something quick never waits for something long. A line is ordered by what a
request asks for and by its size; a full line refuses its last one (429), and so is refused who has waited for
``wait_seconds``. A search that is watched works in short turns in a thread for all of them. When the client
leaves, the work stops, and its place in line is free.
"""

from __future__ import annotations

import asyncio
import bisect
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from hiddenite._core import Deadline
from hiddenite.errors import HiddeniteError
from hiddenite.web.models import Limits

TURN_SECONDS = 0.02  # of one stream, before others have theirs

_Result = TypeVar("_Result")
_Item = TypeVar("_Item")
Rank = tuple[int, int]  # a smaller one is served first


class Busy(HiddeniteError):
    """All places are taken."""

    def __init__(self) -> None:
        super().__init__("the server is busy; try again in a second")


class TooLong(HiddeniteError):
    """The time was over before the answer was there."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s; ask for fewer words, less noise or another method")


class Lane:
    """Some threads and a line in front of them. Only the event loop's thread counts."""

    def __init__(self, threads: int, limits: Limits) -> None:
        self._pool = ThreadPoolExecutor(max(1, threads), thread_name_prefix="hiddenite")
        self._threads = self._free = threads
        self._limits = limits
        self._line: list[tuple[Rank, int, asyncio.Future[bool]]] = []  # True: go; False: refused
        self._arrivals = itertools.count()

    async def run(self, work: Callable[[Deadline], _Result], rank: Rank, time: float | Deadline) -> _Result:
        """Wait for a thread, and run in it; seconds begin with the work. Raise Busy or TimeoutError."""
        await self._wait(rank)
        loop = asyncio.get_running_loop()
        deadline = time if isinstance(time, Deadline) else Deadline(time)
        future = self._pool.submit(_within, deadline, work)

        # Not when the caller stops waiting: the thread is busy until the work has noticed.
        def leave(_: Future[_Result]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._leave)

        future.add_done_callback(leave)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            deadline.cancel()
            raise

    async def _wait(self, rank: Rank) -> None:
        if self._free > self._kept(rank):
            self._free -= 1
            return
        place = (rank, next(self._arrivals), asyncio.get_running_loop().create_future())
        bisect.insort(self._line, place)
        if len(self._line) > self._limits.waiting:
            self._line.pop()[2].set_result(False)
        try:
            await asyncio.wait([place[2]], timeout=self._limits.wait_seconds)
        except asyncio.CancelledError:
            if place not in self._line and place[2].result():
                self._leave()  # the turn came at the same moment
            raise
        finally:
            with contextlib.suppress(ValueError):
                self._line.remove(place)
        if not (place[2].done() and place[2].result()):
            raise Busy

    def _leave(self) -> None:
        self._free += 1
        while self._line and self._free > self._kept(self._line[0][0]):
            self._free -= 1
            self._line.pop(0)[2].set_result(True)

    def _kept(self, rank: Rank) -> int:
        """Return how many threads are not for this rank: one is kept for the first, if there are several."""
        return int(rank[0] > 0 and self._threads > 1)


def _within(deadline: Deadline, work: Callable[[Deadline], _Result]) -> _Result:
    with deadline:
        return work(deadline)


class Work:
    """Runs requests in threads."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._quick = Lane(limits.workers, limits)
        self._long = Lane(1, limits)
        self._watch = Lane(1, limits)
        self._streams = limits.streams

    async def run(self, work: Callable[[Deadline], _Result], rank: Rank) -> _Result:
        """Run a function; raise Busy if there is no place, TooLong if the time does not suffice."""
        limits = self._limits
        with contextlib.suppress(TimeoutError):
            return await self._quick.run(work, rank, limits.quick_seconds)
        with contextlib.suppress(TimeoutError):
            return await self._long.run(work, rank, limits.seconds)
        raise TooLong(limits.seconds)

    @contextlib.contextmanager
    def stream(self) -> Iterator[None]:
        """Hold a stream's place; raise Busy if there is none."""
        if self._streams == 0:
            raise Busy
        self._streams -= 1
        try:
            yield
        finally:
            self._streams += 1

    async def batches(self, items: Iterator[_Item], deadline: Deadline) -> AsyncIterator[list[_Item]]:
        """Walk an iterator in the threads, a turn at a time."""
        while batch := await self._watch.run(lambda _: _turn(items), (0, 0), deadline):
            yield batch


def _turn(items: Iterator[_Item]) -> list[_Item]:
    end = time.perf_counter() + TURN_SECONDS
    batch: list[_Item] = []
    for item in items:
        batch.append(item)
        if time.perf_counter() > end:
            break
    return batch
