"""Rows of a benchmark: what was asked, the bar, what was measured; and their place in RESULTS.md."""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

RESULTS = Path(__file__).resolve().parent / "RESULTS.md"
Size = TypeVar("Size")


@dataclass(frozen=True)
class Row:
    """One promise and its bar, with the measurements behind it."""

    what: str
    bar: str
    measured: str
    met: bool | None  # None: no bar, or not measurable here
    details: str = ""  # markdown

    @property
    def verdict(self) -> str:
        """Return the bar's fate in a word."""
        return {True: "met", False: "**missed**", None: "–"}[self.met]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a markdown table."""
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def milliseconds(seconds: float) -> str:
    """Return a time with three significant digits."""
    return f"{1e3 * seconds:.3g}"


def mean(values: Iterable[float]) -> float:
    """Return the mean."""
    return statistics.fmean(values)


def machine() -> str:
    """Say what the figures were measured on; only ratios within one run mean anything."""
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.partition(": ")[2]
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    return f"{os.cpu_count()} cores of {model}, {platform.system()}, load {load}"


def write_section(title: str, number_of_row: dict[str, Row]) -> None:
    """Put the rows into their section of RESULTS.md; rows that were not run stay as they are."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Results\n"
    begin, end = f"<!-- {title}: begin -->", f"<!-- {title}: end -->"
    if begin not in text:
        text += f"\n## {title}\n\n{begin}\n{end}\n"
    before, rest = text.split(begin)
    inside, after = rest.split(end)
    blocks = {m[1]: m[0] for m in re.finditer(r"<!-- row (\S+) -->.*?(?=<!-- row |\Z)", inside, re.DOTALL)}
    for name, row in number_of_row.items():
        blocks[name] = (
            f"<!-- row {name} -->\n### {row.what}\n\nBar: {row.bar}. Measured: {row.measured}. "
            f"Bar {row.verdict}.\n\n{row.details}\n"
            f"<sub>{machine()}</sub>\n\n"
        )
    inside = "\n" + "".join(blocks[name] for name in sorted(blocks, key=lambda n: (len(n), n)))
    RESULTS.write_text(before + begin + inside + end + after, encoding="utf-8")


def run_rows(
    title: str,
    description: str | None,
    rows: Mapping[str, Callable[[Size], Row]],
    size: Callable[..., Size],
    options: Mapping[str, int] | None = None,
) -> None:
    """Run the rows that the command line names; ``size`` says how much, by row and whether to be quick.

    ``options`` are further numbers of the command line with their defaults, given to ``size`` by name.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true")
    for option, default in (options or {}).items():
        parser.add_argument(f"--{option}", type=int, default=default)
    arguments = parser.parse_args()
    chosen = {option: getattr(arguments, option) for option in options or {}}
    for name in arguments.rows:
        if name not in rows:
            parser.error(f"no row {name}, expected {', '.join(rows)}")
    print(machine())
    for name in arguments.rows or rows:
        row = rows[name](size(name, arguments.quick, **chosen))
        print(f"\n{name}. {row.what}\n   bar: {row.bar}")
        print(f"   measured: {row.measured}: {row.verdict}\n\n{row.details}", flush=True)
        if arguments.write:
            write_section(title, {name: row})
