"""What all experiments share: claims and their rules, results that are kept, pictures, the command line.

A paper is a folder with three modules. ``measure`` holds the pieces of its experiments, each a function from
a size to plain numbers; ``compare`` the published figures, tables, pictures and claims, all functions of
those numbers; ``run`` starts them. A finished piece is kept as JSON, so a run that is stopped goes on with
the next piece, and what is written about the numbers can change without measuring anew.

A claim is something that the paper says, with a rule that decides from our numbers whether it holds. The rule
is code; nothing on the page is judged by hand.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib
import importlib.util
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "experiments"
RESULTS = ROOT / "experiments" / "results"  # those that docs/experiments.md tells of
FULL_RESULTS = RESULTS / "full"  # those of docs/experiments-full.md
PAPERS = ("carter2012", "quirk2013", "dubbin2012", "dubbin2014", "chiu2020")
MOST_RATE = 600  # of the grid: up to exp(3), twentyfold a step
SIZES = ("tiny", "small", "reduced", "full")
sys.path.append(str(ROOT / "benchmarks"))  # whose helpers measure much of this already

from report import machine  # noqa: E402
from report import table as table  # noqa: E402, PLC0414

Pieces = Mapping[str, Any]  # what the pieces of a paper found, by name

# ---------------------------------------------------------------------- claims


@dataclass(frozen=True)
class Judgement:
    """What our numbers say to a claim."""

    holds: bool | None  # None: they say nothing
    ours: str

    @property
    def verdict(self) -> str:
        """Return it in words."""
        return {True: "holds", False: "**does not hold**", None: "not testable here"}[self.holds]


@dataclass(frozen=True)
class Claim:
    """Something the paper says, and what decides it."""

    name: str
    says: str
    paper: str  # the paper's own figure, and where it is
    rule: str  # in words: when it holds
    needs: tuple[str, ...]  # pieces
    judge: Callable[[Pieces], Judgement]

    def judged(self, pieces: Pieces) -> Judgement:
        """Apply the rule; a piece that was not run decides nothing."""
        missing = [name for name in self.needs if name not in pieces]
        return Judgement(None, f"not run: {', '.join(missing)}") if missing else self.judge(pieces)


def untestable(name: str, says: str, paper: str, why: str) -> Claim:
    """Return a claim that no number of ours can decide."""
    return Claim(name, says, paper, "none", (), lambda _: Judgement(None, why))


def claim_table(claims: Iterable[Claim], pieces: Pieces) -> str:
    """Return a row for each claim."""
    rows = [(c.says, c.paper, c.rule, j.ours, j.verdict) for c in claims for j in [c.judged(pieces)]]
    return table(("the paper says", "its figure", "holds if", "ours", "verdict"), rows)


def plain(text: str) -> str:
    """Return text that a cell of a table shows as it is; only what would end the cell is escaped."""
    return text.replace("|", "\\|")


# ----------------------------------------------------------------------- rules


def line_fit(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return slope and intercept of the least-squares line."""
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread
    return slope, mean_y - slope * mean_x


def explained(ys: Sequence[float], fitted: Sequence[float]) -> float:
    """Return R², the share of the variance that a fit explains."""
    mean = sum(ys) / len(ys)
    total = sum((y - mean) ** 2 for y in ys)
    return 1 - sum((y - f) ** 2 for y, f in zip(ys, fitted, strict=True)) / total if total else 1.0


def line_and_exponential(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return R² of the best line a + b x, and of the best exponential a exp(b x): two numbers each.

    For a given b the best a is a quotient of sums; b is looked for on a grid of growth factors per step.
    """
    slope, intercept = line_fit(xs, ys)
    line = explained(ys, [intercept + slope * x for x in xs])
    return line, max(_exponential(xs, ys, 0.005 * i) for i in range(1, MOST_RATE))


def _exponential(xs: Sequence[float], ys: Sequence[float], rate: float) -> float:
    curve = [math.exp(rate * (x - xs[-1])) for x in xs]
    scale = sum(y * c for y, c in zip(ys, curve, strict=True)) / sum(c * c for c in curve)
    return explained(ys, [scale * c for c in curve])


def growth(by_order: Mapping[str, float]) -> tuple[float, float]:
    """Return by which factors a quantity and the order grow from the lowest order to the highest."""
    orders = sorted(map(int, by_order))
    return by_order[str(orders[-1])] / by_order[str(orders[0])], orders[-1] / orders[0]


def sub_linear(by_order: Mapping[str, float]) -> Judgement:
    """Judge whether a quantity grows by a smaller factor than the order does."""
    factor, linear = growth(by_order)
    told = " → ".join(f"{by_order[n]:.0f}" for n in sorted(by_order, key=int))
    return Judgement(factor < linear, f"{told}: ×{factor:.2f} while n grows ×{linear:.2f}")


def lower(
    first: float, second: float, form: str = ".1f", margin: float = 0.0, names: tuple[str, str] | None = None
) -> Judgement:
    """Judge whether the first number is below the second by more than a margin."""
    one, other = f"{first:{form}}", f"{second:{form}}"
    told = f"{one} against {other}" if names is None else f"{names[0]} {one}, {names[1]} {other}"
    return Judgement(first < second - margin, told)


def everywhere(judgements: Iterable[Judgement]) -> Judgement:
    """Judge that all hold; one that is not known leaves it open unless another fails."""
    found = list(judgements)
    states = [j.holds for j in found]
    holds = False if False in states else None if None in states or not states else True
    return Judgement(holds, "; ".join(j.ours for j in found))


# -------------------------------------------------------------------- pictures


def panels(number: int, width: float = 4.2, height: float = 3.4, *, rows: int = 1) -> tuple[Any, list[Any]]:
    """Return a figure with so many panels in each row."""
    from matplotlib.figure import Figure  # noqa: PLC0415  (only pictures need it)

    figure = Figure(figsize=(width * number, height * rows))
    return figure, [figure.add_subplot(rows, number, i + 1) for i in range(number * rows)]


def finish(figure: Any, axes: Iterable[Any], *, legend: Mapping[str, Any] | None = None) -> Any:
    """Give the panels legends and room."""
    for axis in axes:
        if axis.get_legend_handles_labels()[1]:
            axis.legend(**{"frameon": False, "fontsize": 8, **(legend or {})})
    figure.tight_layout()
    return figure


# ------------------------------------------------------------- data and results


@dataclass(frozen=True)
class Setting:
    """Which data, which size, and where what comes of it is kept."""

    data: Path | None  # None: the built-in texts
    size: str
    output: Path = BUILD

    @property
    def _name(self) -> str:
        return "-".join(self.data.resolve().parts[1:]) if self.data else f"built-in-{self.size}"

    @property
    def directory(self) -> Path:
        """Return where results are kept."""
        return self.output / f"{self._name}-{self.size}" if self.data else self.output / self._name

    def prepare(self) -> None:
        """Tell the helpers of the benchmarks where data and models are; before they are imported."""
        data = self.data
        if data is None:
            from experiments.builtin import write_texts  # noqa: PLC0415  (the data need it not)

            data = write_texts(self.directory / "data", self.size)
        os.environ["HIDDENITE_DATA"] = str(data)
        os.environ["HIDDENITE_BENCH"] = str(self.output / self._name / "bench")


def compare_module(paper: str, size: str = "reduced") -> ModuleType:
    """Return what a paper's numbers are held against; some papers have other tables at full size."""
    name = f"experiments.{paper}.full"
    if size != "full" or importlib.util.find_spec(name) is None:
        name = f"experiments.{paper}.compare"
    return importlib.import_module(name)


def run_paper(paper: str, setting: Setting, chosen: Sequence[str] = (), again: bool = False) -> Path:
    """Run the pieces that are not there yet, or those chosen; return the file with all that is known."""
    setting.prepare()
    measure = _measure_module(paper)
    pieces = _pieces(measure, setting.size)
    folder = setting.directory / paper
    folder.mkdir(parents=True, exist_ok=True)
    for name in chosen or pieces:
        if name not in pieces:
            raise SystemExit(f"{paper} has no piece {name}, expected {', '.join(pieces)}")
        path = folder / f"{name}.json"
        if path.exists() and not again:
            continue
        print(f"{paper}: {name}", flush=True)
        begun = time.process_time()
        try:
            found = pieces[name](measure.SIZES[setting.size])
        except FileNotFoundError as error:
            raise SystemExit(
                f"{name}: {error.filename} is not there; run.py --help says what the data must hold"
            ) from None
        about = {"seconds": round(time.process_time() - begun, 1), "date": _today(), "machine": _machine()}
        write_json(path, {"found": found, **about})
    return _collect(paper, setting, folder, pieces)


def _pieces(measure: ModuleType, size: str) -> Mapping[str, Callable[[Any], Any]]:
    """Return the pieces of a paper; some papers have others at full size."""
    found: Mapping[str, Callable[[Any], Any]] = measure.PIECES
    return getattr(measure, "FULL_PIECES", found) if size == "full" else found


def _measure_module(paper: str) -> ModuleType:
    try:
        return importlib.import_module(f"experiments.{paper}.measure")
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"{paper} needs {error.name}, which is not installed: pip install 'hiddenite[demo,fit,neural]'"
        ) from None


def _collect(paper: str, setting: Setting, folder: Path, names: Iterable[str]) -> Path:
    """Put the pieces that are done into one file, in the order of the paper."""
    files = {name: folder / f"{name}.json" for name in names}
    now = {"date": _today(), "machine": _machine()}  # of pieces that do not say it
    done = {n: now | json.loads(f.read_text(encoding="utf-8")) for n, f in files.items() if f.exists()}
    path = setting.directory / f"{paper}.json"
    dates = sorted({piece["date"] for piece in done.values()})
    record = {
        "paper": paper,
        "data": "real" if setting.data else "built-in",
        "size": setting.size,
        "machine": "; ".join(sorted({piece["machine"] for piece in done.values()})),
        "date": " to ".join(dict.fromkeys([*dates[:1], *dates[-1:]])),
        "seconds": round(sum(piece["seconds"] for piece in done.values())),
        "pieces": {name: piece["found"] for name, piece in done.items()},
        "runs": {
            name: {what: piece[what] for what in ("seconds", "date", "machine")}
            for name, piece in done.items()
        },
    }
    write_json(path, record)
    return path


def take_over(recorded: Path, folder: Path) -> None:
    """Take the pieces of an earlier record for done, so that a run elsewhere goes on with what is missing.

    A record that does not say what each piece took has the sum: it is kept with the first one.
    """
    if not recorded.exists():
        return
    record = json.loads(recorded.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    seconds = record["seconds"]
    for name, found in record["pieces"].items():
        about = {"seconds": seconds, "date": record["date"], "machine": record["machine"]}
        seconds = 0
        if not (folder / f"{name}.json").exists():
            write_json(folder / f"{name}.json", {"found": found, **record.get("runs", {}).get(name, about)})


def _today() -> str:
    return dt.datetime.now(dt.UTC).date().isoformat()


def _machine() -> str:
    return machine().partition(", load")[0]


def write_json(path: Path, record: Any) -> None:
    """Write a record, whole or not at all."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(rounded(record), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(path)


def rounded(record: Any) -> Any:
    """Return it with six significant digits: nothing here means more."""
    if isinstance(record, float):
        return float(f"{record:.6g}")
    if isinstance(record, Mapping):
        return {str(key): rounded(value) for key, value in record.items()}
    return [rounded(value) for value in record] if isinstance(record, list | tuple) else record


# ------------------------------------------------------------------ the report


def section(record: Mapping[str, Any], pictures: str) -> str:
    """Return what is to be said of one paper, in Markdown; ``pictures`` goes before their names."""
    paper, pieces = record["paper"], record["pieces"]
    compare = compare_module(paper, record["size"])
    of_size = getattr(compare, "FULL", {}) if record["size"] == "full" else {}
    real = of_size.get("data", compare.DATA)
    where = {"real": real, "built-in": "built-in text: " + compare.BUILT_IN}[record["data"]]
    differs = (
        "What differs" if record["data"] == "real" else "The text is another; with real data, what differs"
    )
    parts = [
        f"## {compare.TITLE}\n",
        f"{compare.CITATION}\n",
        f"Ours: {where}. Size: {record['size']}. {record['machine']}; "
        f"{record['seconds']} s of processor time{', ' + record['date'] if 'date' in record else ''}.\n",
        f"{differs}: {of_size.get('differs', compare.DIFFERS)}\n",
        claim_table(compare.CLAIMS, pieces),
    ]
    for title, needs, content in compare.PARTS:
        if all(name in pieces for name in needs):
            parts += [f"### {title}\n", content(pieces)]
            parts += [f"![{title}]({pictures}{paper}-{name}.png)\n" for name in compare.SHOWN.get(title, ())]
    return "\n".join(parts)


def draw(record: Mapping[str, Any], prefix: str) -> list[Path]:
    """Write the pictures of one paper; return their files."""
    paper, pieces = record["paper"], record["pieces"]
    paths = []
    for name, (needs, picture) in compare_module(paper, record["size"]).PICTURES.items():
        if all(piece in pieces for piece in needs):
            path = Path(f"{prefix}{paper}-{name}.png")
            path.parent.mkdir(parents=True, exist_ok=True)
            picture(pieces).savefig(path, dpi=110, metadata={"Software": None})
            paths.append(path)
    return paths


# ---------------------------------------------------------------- command line


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that all scripts have."""
    result = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    result.add_argument("--data", type=Path, metavar="DIR", help="real data; without it, built-in texts")
    result.add_argument("--size", choices=SIZES, default="reduced")
    result.add_argument("--output", type=Path, default=BUILD, metavar="DIR", help="where results are kept")
    result.add_argument("--again", action="store_true", help="also what is finished")
    return result


def main(paper: str, description: str | None) -> None:
    """Run one paper's experiments and write their report beside the results."""
    options = parser(description)
    options.add_argument("pieces", nargs="*", metavar="PIECE", help="all by default")
    options.add_argument("--no-pictures", action="store_true")
    given = options.parse_args()
    if given.data is not None and not given.data.is_dir():
        options.error(f"{given.data} is no directory, expected the data; leave it out for built-in texts")
    path = run_paper(paper, Setting(given.data, given.size, given.output), given.pieces, given.again)
    record = json.loads(path.read_text(encoding="utf-8"))
    report = path.with_suffix(".md")
    report.write_text(section(record, ""), encoding="utf-8")
    if not given.no_pictures:
        draw(record, f"{path.parent}/")
    print(f"wrote {report}")
