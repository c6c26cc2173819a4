"""The server under a crowd: whoever asks something ordinary is answered soon, whatever the others do."""

import asyncio
import contextlib
import json
import socket
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.crowd import Client, Tally, ask_nothing, ask_often, ask_too_much, hostile, memory_of, ordinary
from tests.e2e.test_serve import server

SECONDS = 2.0  # for 95 in 100 ordinary answers beside other tests; benchmarks/web.py asks for 0.5
FLAT_MB = 60.0
MOST_ANSWERED = 0.8


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    with server(tmp_path_factory.mktemp("load"), "--allow-host", "pages.example") as (url, process):
        asyncio.run(warm(url))
        yield url, process.pid


async def warm(url: str) -> None:
    client = Client(url)
    for noise in range(11):  # the channels are made once
        await client.ask("decode", {"message": "the", "noise": noise})
        await client.ask("decode", {"message": "the", "noise": noise, "channel": "typo"})
    client.close()


def test_a_crowd_does_not_keep_others_waiting(running: tuple[str, int]) -> None:
    url, pid = running

    async def crowd(hostile_seconds: float, seconds: float) -> tuple[Tally, Tally, list[float]]:
        asked, others = Tally(), Tally()
        begun = time.perf_counter()
        end, last = begun + hostile_seconds, begun + hostile_seconds + seconds
        names = ("decode", "kbest", "sample", "marginals", "beam", "tag", "align", "search")

        async def many() -> None:
            await asyncio.sleep(hostile_seconds)
            await asyncio.gather(*(ask_often(url, others, n, end=last, names=names) for n in range(200)))

        memory = asyncio.ensure_future(memory_of(pid, last, 0.5))
        await asyncio.gather(
            ask_nothing(url, 2000, end),
            many(),
            *(ask_too_much(url, others, question, end) for question in hostile()),
            *(ask_often(url, asked, n, end=last, rest=0.05) for n in range(4)),
        )
        return asked, others, await memory

    asked, others, memory = asyncio.run(crowd(7.0, 3.0))
    assert asked.statuses.keys() <= {200, 429}, (
        asked.statuses
    )  # «busy, ask again» is an answer where all are busy
    assert asked.statuses[200] >= MOST_ANSWERED * asked.statuses.total(), asked.statuses
    assert asked.percentile(0.95) <= SECONDS
    assert others.statuses.keys() <= {200, 400, 404, 422, 429}, others.statuses
    assert memory[-1] - memory[len(memory) // 2] <= FLAT_MB, memory


def address_of(url: str) -> tuple[str, int]:
    parts = urllib.parse.urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port


def test_connections_that_ask_nothing_are_closed(running: tuple[str, int]) -> None:
    begun = time.monotonic()
    with contextlib.ExitStack() as stack:
        sent = [b"", b"POST /api/decode HTTP/1.1\r\nHost: loc", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"]
        opened = [socket.create_connection(address_of(running[0]), timeout=15) for _ in sent]
        for connection, start in zip(opened, sent, strict=True):
            stack.enter_context(connection).sendall(start)
        for connection in opened:
            with contextlib.suppress(ConnectionResetError):
                while connection.recv(65_536):
                    pass
    assert 4 < time.monotonic() - begun < 12


def test_work_stops_when_the_client_leaves(running: tuple[str, int]) -> None:
    url, pid = running
    beam = next(question for name, question in hostile() if name == "beam")
    content = json.dumps(beam).encode()
    head = "POST /api/beam HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
    with socket.create_connection(address_of(url)) as connection:
        connection.sendall(f"{head}\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content)
        time.sleep(0.7)
    time.sleep(0.3)
    used = cpu_seconds(pid)
    time.sleep(0.5)
    assert cpu_seconds(pid) - used < 0.2  # of 2 s that the request might have


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def test_every_request_ends_in_time(running: tuple[str, int]) -> None:
    async def slowest() -> float:
        client, worst = Client(running[0]), 0.0
        for name, question in dict(hostile()).items():
            begun = time.perf_counter()
            assert await client.ask(name, question) in {200, 404, 422}
            worst = max(worst, time.perf_counter() - begun)
        client.close()
        return worst

    assert asyncio.run(slowest()) < 4.0  # 0.1 s, then 2 s, and what it takes to notice


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:80", 200),
        ("LOCALHOST.", 200),
        ("pages.example", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("10.0.0.1", 421),
    ],
)
def test_other_hosts_are_refused(running: tuple[str, int], host: str, status: int) -> None:
    with socket.create_connection(address_of(running[0]), timeout=15) as connection:
        connection.sendall(f"GET /api/models HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while chunk := connection.recv(65_536):
            answer += chunk
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    if status == 421:
        assert f"--allow-host {host}".encode() in answer


def test_an_ordinary_question_is_quick(running: tuple[str, int]) -> None:
    tally = Tally()
    asyncio.run(ask_often(running[0], tally, 1, end=time.perf_counter() + 0.5))
    assert tally.statuses.keys() == {200}
    assert ordinary("decode", 1) != ordinary("decode", 2)
