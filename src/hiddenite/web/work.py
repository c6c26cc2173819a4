"""A bounded pool of threads.

At most ``workers`` requests are at work and ``waiting`` in line; the next one is told to come back (429). A
search that is watched is cut into short turns which queue up like any request, so a long one delays nobody by
more than a turn; there are at most ``streams`` of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from hiddenite.errors import HiddeniteError
from hiddenite.web.models import Limits

TURN_SECONDS = 0.02  # of one stream, before others have theirs

_Result = TypeVar("_Result")
_Item = TypeVar("_Item")


class Busy(HiddeniteError):
    """All places are taken."""

    def __init__(self) -> None:
        super().__init__("the server is busy; try again in a second")


class Work:
    """Runs functions in threads, and refuses what it could not begin soon."""

    def __init__(self, limits: Limits) -> None:
        self._pool = ThreadPoolExecutor(limits.workers, thread_name_prefix="hiddenite")
        self._places = limits.workers + limits.waiting
        self._streams = limits.streams
        self._lock = threading.Lock()

    async def run(self, function: Callable[[], _Result]) -> _Result:
        """Run a function; raise Busy if the line is full."""
        with self._lock:
            if self._places == 0:
                raise Busy
            self._places -= 1
        future = self._pool.submit(function)
        future.add_done_callback(
            self._leave
        )  # not when the caller stops waiting: the thread is busy till then
        return await asyncio.wrap_future(future)

    def _leave(self, _: Future[_Result]) -> None:
        with self._lock:
            self._places += 1

    @contextlib.contextmanager
    def stream(self) -> Iterator[None]:
        """Hold a stream's place; raise Busy if there is none."""
        if self._streams == 0:  # only the event loop's own thread counts streams
            raise Busy
        self._streams -= 1
        try:
            yield
        finally:
            self._streams += 1

    async def batches(self, items: Iterator[_Item]) -> AsyncIterator[list[_Item]]:
        """Walk an iterator in the threads, a turn at a time."""
        while batch := await asyncio.wrap_future(self._pool.submit(_turn, items)):
            yield batch


def _turn(items: Iterator[_Item]) -> list[_Item]:
    end = time.perf_counter() + TURN_SECONDS
    batch: list[_Item] = []
    for item in items:
        batch.append(item)
        if time.perf_counter() > end:
            break
    return batch
