"""How far a long command is: a live line on a terminal, a plain line a minute elsewhere; both on stderr."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

SECONDS_BETWEEN_LINES = 60.0
Report = Callable[..., None]  # (done, note="", stage=None, total=None)


@contextlib.contextmanager
def progress(stage: str, total: float | None, quiet: bool, *, unit: str = "") -> Iterator[Report]:
    """Show ``stage``, the share that is done and the time left; gives the function to report to."""
    if quiet:
        yield lambda *_, **__: None
    elif sys.stderr is not None and sys.stderr.isatty():
        with _live_line(stage, total) as report:
            yield report
    else:
        yield _Lines(stage, total, unit)


@contextlib.contextmanager
def _live_line(stage: str, total: float | None) -> Iterator[Report]:
    from rich.console import Console  # noqa: PLC0415  (only a terminal needs it)
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), TaskProgressColumn())
    note_column = TextColumn("{task.fields[note]}")
    with Progress(
        *columns, note_column, TimeRemainingColumn(), console=Console(stderr=True), transient=True
    ) as live:
        task = live.add_task(stage, total=total, note="")

        def report(done: float, note: str = "", stage: str | None = None, total: float | None = None) -> None:
            changes = {
                name: value for name, value in (("description", stage), ("total", total)) if value is not None
            }
            if stage not in (None, live.tasks[0].description):
                live.reset(task)  # what the stage before took says nothing about this one
            live.update(task, completed=done, note=note, **changes)  # type: ignore[arg-type]

        yield report


class _Lines:
    """A line a minute, with an estimate of the time left."""

    def __init__(self, stage: str, total: float | None, unit: str) -> None:
        self._stage, self._total, self._unit = stage, total, unit
        self._begun = self._last = self._reported = time.monotonic()

    def __call__(
        self, done: float, note: str = "", stage: str | None = None, total: float | None = None
    ) -> None:
        if stage not in (None, self._stage):
            self._begun = self._reported  # what the stage before took says nothing about this one
        self._stage, self._total = stage or self._stage, total or self._total
        self._reported = now = time.monotonic()
        if now - self._last < SECONDS_BETWEEN_LINES:
            return
        self._last = now
        parts = [f"hiddenite: {self._stage}"]
        if self._total and done > 0:
            left = (now - self._begun) * (self._total - done) / done
            parts.append(f"{100 * done / self._total:.0f} %, {duration(left)} left")
        print(", ".join(filter(None, [*parts, note])), file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """Return a time in the two largest units."""
    minutes, hours = seconds / 60, seconds / 3600
    if hours >= 1:
        return f"{int(hours)} h {int(minutes) % 60} min"
    return f"{int(minutes)} min {int(seconds) % 60} s" if minutes >= 1 else f"{seconds:.0f} s"
