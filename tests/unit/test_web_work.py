"""Deadlines end calls; lines serve the small before the large; idle connections make room."""

import asyncio
import contextlib
import functools
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

from hiddenite import Candidates, Keypad, NgramModel, decode
from hiddenite._core import Deadline
from hiddenite.web import Limits, create_app
from hiddenite.web.connections import Connection, open_port
from hiddenite.web.work import Busy, Lane, TooLong, Work
from tests.web_models import language_model, models


def decode_often(lm: NgramModel, candidates: Candidates) -> None:
    for _ in range(100):
        decode(lm, candidates, method="paper")


def test_a_deadline_ends_a_call_of_the_core() -> None:
    lm = language_model()
    candidates = Keypad(lm.vocabulary, 1.0)(" ".join(["222"] * 3000))  # long enough to look at the clock
    deadline = Deadline(1e9)
    deadline.cancel()
    with deadline, pytest.raises(TimeoutError, match="the time is over"):
        decode_often(lm, candidates)
    assert decode(lm, Keypad(lm.vocabulary)("843")).words == ("the",)  # of this thread no more


def test_a_deadline_passes_and_is_of_one_thread() -> None:
    deadline = Deadline(0.01)
    deadline.check()
    time.sleep(0.02)
    assert deadline.is_over
    with pytest.raises(TimeoutError):
        deadline.check()
    assert not Deadline(float("inf")).is_over


def test_a_line_serves_the_small_first_and_refuses_the_largest() -> None:
    order: list[int] = []

    def note(size: int, _: Deadline) -> None:
        order.append(size)

    async def run() -> list[object]:
        lane = Lane(1, Limits(waiting=2))
        gate = threading.Event()
        first = asyncio.ensure_future(lane.run(lambda _: gate.wait(10), (0, 0), 10.0))
        await asyncio.sleep(0)
        others = [
            asyncio.ensure_future(lane.run(functools.partial(note, size), (1, size), 10.0))
            for size in (3, 9, 1)
        ]
        await asyncio.sleep(0)
        gate.set()
        return await asyncio.gather(first, *others, return_exceptions=True)

    _, *answers = asyncio.run(run())
    assert [isinstance(answer, Busy) for answer in answers] == [False, True, False]
    assert order == [1, 3]


def test_who_waits_too_long_is_refused_and_places_come_back() -> None:
    async def run() -> None:
        lane = Lane(1, Limits(wait_seconds=0.05))
        gate = threading.Event()
        first = asyncio.ensure_future(lane.run(lambda _: gate.wait(10), (0, 0), 10.0))
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await lane.run(lambda _: None, (0, 0), 1.0)
        leaving = asyncio.ensure_future(lane.run(lambda _: None, (0, 0), 1.0))
        await asyncio.sleep(0)
        leaving.cancel()
        gate.set()
        await first
        assert await lane.run(lambda _: 7, (0, 0), 1.0) == 7

    asyncio.run(run())


def test_what_is_not_quick_begins_again_with_more_time() -> None:
    begun: list[Deadline] = []

    def work(deadline: Deadline) -> None:
        begun.append(deadline)
        while True:
            deadline.check()
            time.sleep(0.005)

    limits = Limits(quick_seconds=0.02, seconds=0.1)
    with pytest.raises(TooLong, match=r"no answer within 0\.1 s"):
        asyncio.run(Work(limits).run(work, (0, 0)))
    assert len(begun) == 2


def test_work_is_cancelled_with_its_caller() -> None:
    stopped = threading.Event()

    def work(deadline: Deadline) -> None:
        with contextlib.suppress(TimeoutError):
            while True:
                deadline.check()
                time.sleep(0.005)
        stopped.set()

    async def run() -> None:
        lane = Lane(1, Limits())
        task = asyncio.ensure_future(lane.run(work, (0, 0), 60.0))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(stopped.wait, 10)

    asyncio.run(run())


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    monkeypatch.setattr(Connection, "most", 20)
    with open_port("127.0.0.1", 0) as listener:
        config = uvicorn.Config(create_app(models()), http=Connection, log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        listener.listen()
        thread.start()
        yield listener.getsockname()
        server.should_exit = True
        thread.join()


def test_a_new_connection_takes_the_place_of_the_oldest_idle_one(crowded: tuple[str, int]) -> None:
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(socket.create_connection(crowded, timeout=10)) for _ in range(60)]
        asking = stack.enter_context(socket.create_connection(crowded, timeout=10))
        asking.sendall(b"GET /api/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert asking.recv(65_536).startswith(b"HTTP/1.1 200 ")
        with contextlib.suppress(ConnectionResetError):
            assert idle[0].recv(1) == b""
        idle[-1].settimeout(0.1)
        with pytest.raises(TimeoutError):
            idle[-1].recv(1)
