"""Compiles the C++ drivers of ``benchmarks/cpp`` and talks to them.

Ratios of methods that take microseconds cannot be taken through an interpreter: both sides run in one C++
process, on the same readings, in turn. ``benchmarks/cpp/driver.cpp`` says what can be asked.
"""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from sms import BUILD, ROOT

SOURCES = ROOT / "benchmarks" / "cpp"


def compile_drivers() -> None:
    """Build what is out of date; no flag that the library itself is not built with."""
    if not (BUILD / "build.ninja").exists() and not (BUILD / "Makefile").exists():
        subprocess.run(["cmake", "-S", SOURCES, "-B", BUILD, "-DCMAKE_BUILD_TYPE=None"], check=True)
    subprocess.run(["cmake", "--build", BUILD, "--parallel", "2"], check=True, stdout=subprocess.DEVNULL)


@dataclass(frozen=True, slots=True)
class Timing:
    """What one ask of one record cost and gave."""

    seconds: float  # best of the repeats
    median_seconds: float
    log_weight: float
    exact: bool
    method: str
    states: int
    refinements: int
    trials: int


class Driver:
    """A running ``engine_driver`` with one language model."""

    def __init__(self, model: Path) -> None:
        self._file = BUILD / f"records-{model.stem}.txt"
        self._process = subprocess.Popen(
            [BUILD / "engine_driver", model], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Driver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._file.unlink(missing_ok=True)

    def _command(self, *words: object) -> list[str]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(*words, file=self._process.stdin, flush=True)
        lines = []
        for line in self._process.stdout:
            if line == "end\n":
                return lines
            lines.append(line)
        raise SystemExit(f"engine_driver ended at: {' '.join(map(str, words))[:200]}")

    def read_keypad(self, records: Sequence[str], ambiguity: float = 64.0, keep: int = 0) -> float:
        """Give it key presses; return the mean number of candidates a position."""
        return self._read(records, "keypad", ambiguity, keep)

    def read_slots(self, records: Sequence[str]) -> float:
        """Give it JSON records of candidates; return the mean number of candidates a position."""
        return self._read(records, "slots")

    def _read(self, records: Sequence[str], *command: object) -> float:
        self._file.write_text("".join(f"{record}\n" for record in records), encoding="utf-8")
        _, num_slots, num_words = map(int, self._command(*command, self._file)[0].split())
        return num_words / num_slots

    def time(self, asks: Sequence[str], repeats: int, cap: float = 0.0) -> dict[str, list[Timing]]:
        """Ask every record every one of ``asks``; ``cap`` is a budget in seconds, 0 for none."""
        result = defaultdict(list)
        for line in self._command("time", repeats, cap, *asks):
            _, ask, best, median, weight, exact, method, *counts = line.split()
            states, refinements, trials = map(int, counts)
            result[ask].append(
                Timing(
                    float(best),
                    float(median),
                    float(weight),
                    exact == "1",
                    method,
                    states,
                    refinements,
                    trials,
                )
            )
        return dict(result)

    def batch_seconds(self, ask: str, repeats: int, threads: int) -> float:
        """Return the wall time of all records at once, the best of the repeats."""
        return float(self._command("batch", repeats, threads, ask)[0])
