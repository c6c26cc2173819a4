"""The playground under load: ``python benchmarks/web.py [ROW] [--quick] [--write]``; needs the extra ``web``.

Starts ``hiddenite serve`` on the built-in texts and asks it over real connections:

answer   one client, one message of ten words after the other: time from request to answer
page     the same from key press to the answer on the page, in Chromium (needs Playwright)
hostile  four clients ask for ordinary messages while 34 others ask again and again for what takes longest
idle     the same while 2,000 connections are held open that ask nothing
load     the same while 200 clients ask all kinds of questions

In the last three, nothing but 2xx and 4xx may come, and the server's memory is flat. The clients are this
process; they take their share of the machine, so the times are upper bounds.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from report import Row, run_rows

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.e2e.crowd import (
    MESSAGES,
    Client,
    Tally,
    ask_nothing,
    ask_often,
    ask_too_much,
    hostile,
    memory_of,
    ordinary,
)

HIDDENITE = Path(sysconfig.get_path("scripts"), "hiddenite")
CLIENTS = 200
IDLE = 2000
BAR_MS = 100.0
ORDINARY_SECONDS = 0.5
FLAT_MB = 10
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


async def answer_times(url: str, count: int) -> list[float]:
    """Return milliseconds from request to answer of single questions."""
    client, times = Client(url), []
    for number in range(count):
        begun = time.perf_counter()
        status = await client.ask("decode", ordinary("decode", number))
        times.append(1000 * (time.perf_counter() - begun))
        assert status == 200
    client.close()
    return times


Crowd = Callable[[str, Tally, float], list[Coroutine[Any, Any, Any]]]


async def beside(url: str, pid: int, seconds: float, crowd: Crowd) -> tuple[Tally, Tally, list[float]]:
    """Return what ordinary clients and the crowd were answered, and MB of memory over time."""
    asked, others = Tally(), Tally()
    end = time.perf_counter() + seconds
    memory = asyncio.ensure_future(memory_of(pid, end, seconds / 30))
    clients = [ask_often(url, asked, n, end=end, rest=0.05) for n in range(4)]
    await asyncio.gather(*clients, *crowd(url, others, end))
    return asked, others, await memory


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


def _crowd_row(what: str, seconds: float, crowd: Crowd) -> Row:
    with server() as (url, pid):
        asyncio.run(answer_times(url, 22))  # the channels are made once
        asked, others, memory = asyncio.run(beside(url, pid, seconds, crowd))
    settled = memory[len(memory) // 3 :]
    statuses = asked.statuses + others.statuses
    counts, own = (
        ", ".join(f"{n:,} × {status}" for status, n in sorted(tally.items()))
        for tally in (others.statuses, asked.statuses)
    )
    times = spread([1000 * t for t in asked.times])
    flat = settled[-1] - settled[0] <= FLAT_MB
    in_time = asked.percentile(0.95) <= ORDINARY_SECONDS
    return Row(
        f"Ordinary decoding for {seconds:.0f} s beside {what}",
        f"at most {1000 * ORDINARY_SECONDS:.0f} ms at the 95th percentile, no status but 2xx and 4xx, "
        f"memory within {FLAT_MB} MB over the last two thirds",
        f"{own}, {times}; the others {counts or 'none'}; {settled[0]:.0f} MB, then {settled[-1]:.0f} MB",
        in_time and flat and all(status // 100 in {2, 4} for status in statuses),
        f"Memory in MB, every {seconds / 30:.1f} s: {', '.join(f'{mb:.0f}' for mb in memory)}\n",
    )


def hostile_row(quick: bool) -> Row:
    """Who asks for too much."""
    return _crowd_row(
        "34 hostile clients",
        5.0 if quick else 60.0,
        lambda url, tally, end: [ask_too_much(url, tally, question, end) for question in hostile()],
    )


def idle_row(quick: bool) -> Row:
    """Who asks nothing."""
    return _crowd_row(
        f"{IDLE:,} idle connections",
        5.0 if quick else 60.0,
        lambda url, _, end: [ask_nothing(url, IDLE, end)],
    )


def load_row(quick: bool) -> Row:
    """A crowd."""
    return _crowd_row(
        f"{CLIENTS} clients, all questions mixed",
        5.0 if quick else 60.0,
        lambda url, tally, end: [ask_often(url, tally, n, end=end, names=QUESTIONS) for n in range(CLIENTS)],
    )


ROWS: dict[str, Callable[[bool], Row]] = {
    "answer": answer_row,
    "page": page_row,
    "hostile": hostile_row,
    "idle": idle_row,
    "load": load_row,
}


def main() -> None:
    """Run the rows asked for."""
    run_rows("Playground", __doc__, ROWS, lambda _, quick: quick)


if __name__ == "__main__":
    main()
