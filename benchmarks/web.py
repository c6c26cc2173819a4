"""The playground under load: ``python benchmarks/web.py [ROW] [--quick] [--write]``; needs the extra ``web``.

Starts ``hiddenite serve`` on the built-in texts and asks it over real connections:

answer   one client, one message of ten words after the other: time from request to answer
page     the same from key press to the answer on the page, in Chromium (needs Playwright)
load     200 clients at once for a minute, each with its own connection, all kinds of questions mixed: every
         answer is 200 or 429, and the server's memory is flat

The clients are this process; they take their share of the machine, so the load's times are upper bounds.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import statistics
import subprocess
import sysconfig
import time
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from report import Row, run_rows

HIDDENITE = Path(sysconfig.get_path("scripts"), "hiddenite")
CLIENTS = 200
BAR_MS = 100.0
FLAT_MB = 10
MESSAGES = (
    "in the beginning god created the heavens and earth .",
    "you shall observe a feast to me three times .",
    "and he said to them , go into the city",
    "now israel had fled every man to his tent .",
    "the word of the lord came to me again :",
)
QUESTIONS = ("decode", "kbest", "sample", "marginals", "beam", "tag", "align", "search")


@contextmanager
def server() -> Iterator[tuple[str, int]]:
    """A running server's address and process."""
    process = subprocess.Popen([HIDDENITE, "serve", "--port", "0"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if found := re.search(r"http://\S+/", line):
                yield found[0], process.pid
                return
        raise SystemExit("hiddenite serve did not start")
    finally:
        process.terminate()
        process.wait()


def question(name: str, number: int) -> dict[str, Any]:
    """Return the request of a number; no two that follow each other are alike."""
    message = MESSAGES[number % len(MESSAGES)]
    if name == "tag":
        return {"text": message}
    if name == "align":
        return {"source": message, "target": MESSAGES[(number + 1) % len(MESSAGES)], "marginals": "samples"}
    return {"message": message, "noise": number % 11, "seed": number}


class Client:
    """One connection that is kept; HTTP as far as this server speaks it."""

    def __init__(self, url: str) -> None:
        address = urllib.parse.urlsplit(url)
        self._host, self._port = address.hostname, address.port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, name: str, body: dict[str, Any]) -> int:
        """Return the status, after the whole answer has been read."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._streams
        content = json.dumps(body).encode()
        head = f"POST /api/{name} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
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


async def answer_times(url: str, count: int) -> list[float]:
    """Return milliseconds from request to answer of single questions."""
    client, times = Client(url), []
    for number in range(count):
        begun = time.perf_counter()
        status = await client.ask("decode", question("decode", number))
        times.append(1000 * (time.perf_counter() - begun))
        assert status == 200
    client.close()
    return times


async def load(url: str, pid: int, seconds: float) -> tuple[Counter[int], list[float], list[float]]:
    """Return how often each status came, milliseconds of the answered, and MB of memory over time."""
    statuses: Counter[int] = Counter()
    times: list[float] = []
    end = time.perf_counter() + seconds

    async def client(number: int) -> None:
        connection = Client(url)
        while time.perf_counter() < end:
            name = QUESTIONS[number % len(QUESTIONS)]
            begun = time.perf_counter()
            status = await connection.ask(name, question(name, number))
            statuses[status] += 1
            number += 7
            if status == 200:
                times.append(1000 * (time.perf_counter() - begun))
            else:
                await asyncio.sleep(0.25)
        connection.close()

    async def watch() -> list[float]:
        memory = []
        while time.perf_counter() < end:
            memory.append(resident_mb(pid))
            await asyncio.sleep(seconds / 30)
        return memory

    memory, *_ = await asyncio.gather(watch(), *(client(number) for number in range(CLIENTS)))
    return statuses, times, memory


def resident_mb(pid: int) -> float:
    """Return the memory that a process holds."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1024


def page_times(url: str, count: int) -> list[float]:
    """Return milliseconds from a key press to the answer on the page; nothing without a browser."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415  (optional)
    except ImportError:
        chromium = None
    if chromium is None:
        return []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(url)
        page.get_by_text("200 independent draws").wait_for()
        times = [float(page.evaluate(TYPE_AND_WAIT, f"{MESSAGES[n % 5]}{n}")) for n in range(count)]
        browser.close()
    return times


# Puts a message into the field as a key press does, and waits for the answer to be in the page.
TYPE_AND_WAIT = """(text) => new Promise((resume) => {
  const field = document.querySelector("#message");
  const observer = new MutationObserver(() => {
    observer.disconnect();
    requestAnimationFrame(() => {
      const taken = performance.now() - begun;
      setTimeout(() => resume(taken), 150);
    });
  });
  observer.observe(document.querySelector("#certificate"), { childList: true });
  field.value = text;
  const begun = performance.now();
  field.dispatchEvent(new Event("input", { bubbles: true }));
})"""


def spread(times: list[float]) -> str:
    """Return median and 95th percentile."""
    ordered = sorted(times)
    return f"{statistics.median(ordered):.1f} ms (95th percentile {ordered[int(0.95 * len(ordered))]:.1f} ms)"


def _timed(what: str, times: list[float]) -> Row:
    met = statistics.median(times) <= BAR_MS if times else None
    measured = spread(times) if times else "needs Playwright and Chromium"
    return Row(what, f"at most {BAR_MS:.0f} ms at the median", measured, met)


def answer_row(quick: bool) -> Row:
    """One client."""
    with server() as (url, _):
        asyncio.run(answer_times(url, 20))  # the channels are made once
        times = asyncio.run(answer_times(url, 20 if quick else 500))
    return _timed("From request to answer: a message of ten words, demo model", times)


def page_row(quick: bool) -> Row:
    """One reader."""
    with server() as (url, _):
        times = page_times(url, 5 if quick else 50)
    return _timed("From key press to answer on the page: the same in Chromium", times)


def load_row(quick: bool) -> Row:
    """A crowd."""
    seconds = 5.0 if quick else 60.0
    with server() as (url, pid):
        statuses, times, memory = asyncio.run(load(url, pid, seconds))
    settled = memory[len(memory) // 3 :]
    counts = ", ".join(f"{n:,} × {status}" for status, n in sorted(statuses.items()))
    flat = settled[-1] - settled[0] <= FLAT_MB
    return Row(
        f"{CLIENTS} clients at once for {seconds:.0f} s, all questions mixed",
        f"no error but 429, memory within {FLAT_MB} MB over the last two thirds",
        f"{counts}; answers {spread(times)}; {settled[0]:.0f} MB, then {settled[-1]:.0f} MB",
        statuses.keys() <= {200, 429} and flat,
        f"Memory in MB, every {seconds / 30:.1f} s: {', '.join(f'{mb:.0f}' for mb in memory)}\n",
    )


ROWS: dict[str, Callable[[bool], Row]] = {"answer": answer_row, "page": page_row, "load": load_row}


def main() -> None:
    """Run the rows asked for."""
    run_rows("Playground", __doc__, ROWS, lambda _, quick: quick)


if __name__ == "__main__":
    main()
