"""Lines about how far a command is, off a terminal and on one."""

import io
import time

import pytest
from rich.console import Console
from rich.progress import Progress

from hiddenite.cli import progress as module
from hiddenite.cli.progress import duration, progress


class Clock:
    """A clock that somebody sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


def test_a_line_a_minute_with_the_time_left(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with progress("reading", 100.0, quiet=False) as report:
        clock.now += 59
        report(10)
        clock.now += 2
        report(20, "3 words")
        clock.now += 30
        report(50)
    assert capsys.readouterr().err == "hiddenite: reading, 20 %, 4 min 4 s left, 3 words\n"


def test_the_time_left_goes_by_the_stage_alone(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with progress("sweeps", None, quiet=False) as report:
        for done in range(1, 11):
            clock.now += 50
            report(done, "", "start", 10)
        capsys.readouterr()
        for done in range(1, 31):
            clock.now += 2
            report(done, "", "main", 200)
    assert capsys.readouterr().err == "hiddenite: main, 15 %, 5 min 40 s left\n"


def test_a_live_line_forgets_the_stage_before(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[Progress] = []

    class Noted(Progress):
        def __init__(self, *columns: object, **options: object) -> None:
            options["console"] = Console(file=io.StringIO(), force_terminal=True)
            super().__init__(*columns, **options)  # type: ignore[arg-type]
            self.now = 0.0
            self.get_time = lambda: self.now
            lines.append(self)

    monkeypatch.setattr("rich.progress.Progress", Noted)
    with module._live_line("sweeps", None) as report:
        live = lines[0]
        for stage, seconds in (("start", 50.0), ("main", 2.0)):
            for done in range(1, 11):
                live.now += seconds  # type: ignore[attr-defined]
                report(done, "", stage, 20)
        assert live.tasks[0].time_remaining == pytest.approx(20, abs=2)


def test_quiet_says_nothing(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with progress("reading", 100.0, quiet=True) as report:
        clock.now += 500
        report(20, stage="writing")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.0, "59 s"), (61.0, "1 min 1 s"), (3660.0, "1 h 1 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
