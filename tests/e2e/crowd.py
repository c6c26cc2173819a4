"""A crowd at the server's door: clients that ask, clients that ask for too much, clients that ask nothing.

Used by the tests and by ``benchmarks/web.py``.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import resource
import selectors
import socket
import sys
import time
import urllib.parse
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MESSAGES = (
    "in the beginning god created the heavens and earth .",
    "you shall observe a feast to me three times .",
    "and he said to them , go into the city",
    "now israel had fled every man to his tent .",
    "the word of the lord came to me again :",
)


def ordinary(name: str, number: int) -> dict[str, Any]:
    """Return the request of a number; no two that follow each other are alike."""
    message = MESSAGES[number % len(MESSAGES)]
    if name == "tag":
        return {"text": message}
    if name == "align":
        return {"source": message, "target": MESSAGES[(number + 1) % len(MESSAGES)], "marginals": "samples"}
    return {"message": message, "noise": number % 11, "seed": number}


def hostile() -> list[tuple[str, dict[str, Any]]]:
    """Return 34 requests that are short to write and long to answer."""
    rng = random.Random(1)
    common = MESSAGES[0].split()
    keys = " ".join("".join(rng.choices("23456789", k=3)) for _ in range(48))
    typed = " ".join("".join(rng.choices("aeinrst", k=3)) for _ in range(48))
    same, mixed = " ".join(["the"] * 48), " ".join(rng.choices(common, k=48))
    keypad, keyboard = {"input": keys, "noise": 10}, {"input": typed, "noise": 10, "channel": "typo"}
    methods = ("auto", "refine", "paper", "full", "dominance", "sparse")
    found: list[tuple[str, dict[str, Any]]] = []
    for text in (keypad, keyboard):
        found += [("decode", text | {"method": method}) for method in methods]
        found += [("beam", text | {"width": 50})] * 3
        found += [("sample", text | {"n": 200, "method": method}) for method in ("refine", "paper")]
        found += [("kbest", text | {"k": 50, "method": "paper"}), ("marginals", text)]
        found += [("search", text | {"method": method}) for method in ("refine", "paper")]
    found += [("align", {"source": same, "target": same, "marginals": "samples", "samples": 200})] * 2
    found += [("align", {"source": mixed, "target": same, "method": "paper", "samples": 200})]
    found += [("generate", {"n": 20, "max_length": 40, "method": "rescore"})]
    return found


class Client:
    """One connection that is kept as long as the server keeps it; HTTP as far as this server speaks it."""

    def __init__(self, url: str) -> None:
        address = urllib.parse.urlsplit(url)
        self._host, self._port = address.hostname, address.port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, name: str, body: dict[str, Any]) -> int:
        """Return the status, after the whole answer has been read."""
        content = json.dumps(body).encode()
        head = f"POST /api/{name} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
        request = f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content
        if self._streams is not None:
            with contextlib.suppress(OSError, EOFError):  # an idle connection that the server has closed
                return await self._exchange(*self._streams, request)
        self._streams = await asyncio.open_connection(self._host, self._port)
        return await self._exchange(*self._streams, request)

    @staticmethod
    async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> int:
        writer.write(request)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        if found := re.search(r"content-length: (\d+)", answer):
            await reader.readexactly(int(found[1]))
        else:
            while size := int(await reader.readline(), 16):  # chunks
                await reader.readexactly(size + 2)
            await reader.readline()
        return int(answer.split()[1])

    def close(self) -> None:
        """End the connection."""
        if self._streams is not None:
            self._streams[1].close()


@dataclass
class Tally:
    """What a crowd was answered."""

    statuses: Counter[int] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)  # seconds, of those with status 200

    def percentile(self, share: float) -> float:
        """Return the time that this share of the answers kept."""
        return sorted(self.times)[int(share * (len(self.times) - 1))]


async def ask_often(
    url: str,
    tally: Tally,
    number: int,
    *,
    end: float,
    names: tuple[str, ...] = ("decode",),
    rest: float = 0.0,
) -> None:
    """One client that asks until the end, with a rest after each answer."""
    client = Client(url)
    while time.perf_counter() < end:
        name = names[number % len(names)]
        begun = time.perf_counter()
        status = await client.ask(name, ordinary(name, number))
        tally.statuses[status] += 1
        number += 7
        if status == 200:
            tally.times.append(time.perf_counter() - begun)
        await asyncio.sleep(rest if status == 200 else 0.25)
    client.close()


async def ask_too_much(url: str, tally: Tally, question: tuple[str, dict[str, Any]], end: float) -> None:
    """One client that asks the same expensive thing again and again."""
    client = Client(url)
    while time.perf_counter() < end:
        tally.statuses[await client.ask(*question)] += 1
    client.close()


async def ask_nothing(url: str, number: int, end: float) -> None:
    """Keep many connections open that ask nothing, in a process of their own."""
    left = end - time.perf_counter()
    command = (sys.executable, __file__, url, str(number), str(left))
    process = await asyncio.create_subprocess_exec(*command)
    assert await process.wait() == 0


def hold_connections(url: str, number: int, seconds: float) -> None:
    """Keep many connections open; whichever is closed is opened again."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, number + 1000), hard))
    parts = urllib.parse.urlsplit(url)
    address, end = (parts.hostname, parts.port), time.perf_counter() + seconds
    with selectors.DefaultSelector() as watched:
        while time.perf_counter() < end:
            while len(watched.get_map()) < number and time.perf_counter() < end:
                watched.register(socket.create_connection(address, timeout=10), selectors.EVENT_READ)
            for key, _ in watched.select(0.1):  # only its end can come
                watched.unregister(key.fileobj)
                key.fileobj.close()  # type: ignore[union-attr]


async def memory_of(pid: int, end: float, every: float) -> list[float]:
    """Return a process's memory in MB over time."""
    found = []
    while time.perf_counter() < end:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        found.append(int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0]) / 1024)
        await asyncio.sleep(every)
    return found


if __name__ == "__main__":
    hold_connections(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
