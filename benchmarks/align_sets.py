"""Parallel texts with gold links, halves for choosing and for reporting, and what probabilities are worth.

A text is aligned whole; settings are chosen on the first half of its gold lines (of the Hansards: on the
development sentences), figures are reported on the second half (on the test sentences).

Measures of probabilities, over the cells of the sentences with gold links; possible links are left out:
calibration   mean over listed cells, those of p >= 0.01, of |mean p - share that is right| of the cell's bin
Brier         sum of (p - right)^2 over all cells, for each gold link
gap           sum over bins of |sum of p - number right|, unlisted cells being a bin, for each gold link
missed        share of the gold links that are not listed
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hiddenite.align.evaluation import score
from hiddenite.align.links import GoldLinks, Link, read_gold

LISTED = 0.01
BINS = np.array([0.0, LISTED, *np.linspace(0.05, 0.95, 19), 0.99, 1.0 + 1e-6])
Pair = tuple[str, str]
Probabilities = Callable[[int], np.ndarray]  # of sentence pair n: [source, target]


def directory() -> Path:
    """Return where the parallel texts lie."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("HIDDENITE_DATA", beside)) / "align"


@dataclass(frozen=True)
class AlignedText:
    """A parallel text, and which of its lines have gold links to be measured on."""

    name: str
    pairs: tuple[Pair, ...]
    gold: dict[int, GoldLinks]

    def error_rate(self, links: Sequence[Iterable[Link]]) -> float:
        """Return the alignment error rate in percent."""
        return 100 * score(list(self.gold.values()), [links[n] for n in self.gold]).aer


@functools.cache
def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


@functools.cache
def _half(name: str, codes: tuple[str, str], report: bool) -> AlignedText:
    folder = directory() / name
    pairs = tuple(zip(*(_lines(folder / f"text.{code}") for code in codes), strict=True))
    gold = read_gold(folder / "gold")
    middle = len(gold) // 2
    chosen = range(middle, len(gold)) if report else range(middle)
    return AlignedText(name, pairs, {n: gold[n] for n in chosen})


@functools.cache
def hansards(num_pairs: int | None, report: bool) -> AlignedText:
    """Return the sentences with gold links and so many training pairs behind them."""
    folder, part = directory() / "hansards", "test" if report else "dev"
    sides = [
        [*_lines(folder / f"{part}.{c}"), *_lines(folder / f"train.{c}")[:num_pairs]] for c in ("en", "fr")
    ]
    gold = dict(enumerate(read_gold(folder / f"{part}.gold")))
    size = f"{(num_pairs or 100_000) // 1000} k"
    return AlignedText(f"hansards {size}", tuple(zip(*sides, strict=True)), gold)


SETS: dict[str, Callable[[bool], AlignedText]] = {
    "greek-nt": lambda report: _half("greek-nt", ("grc", "en"), report),
    "zh-en": lambda report: _half("zh-en", ("zh", "en"), report),
    "en-sv": lambda report: _half("en-sv", ("en", "sv"), report),
    "hansards 2 k": lambda report: hansards(2_000, report),
    "hansards 20 k": lambda report: hansards(20_000, report),
    "hansards 100 k": lambda report: hansards(None, report),
}


@dataclass(frozen=True)
class Calibration:
    """How much probabilities mean what they say; see the module."""

    calibration: float
    brier: float
    gap: float
    missed: float
    bins: list[tuple[float, int, float, float]]  # from, cells, mean p, share that is right


def calibrate(text: AlignedText, probabilities: Probabilities) -> Calibration:
    """Measure the probabilities of the sentences with gold links."""
    count, mass, right = (np.zeros(len(BINS) - 1) for _ in range(3))
    brier, links = 0.0, 0
    for n, gold in text.gold.items():
        p = np.asarray(probabilities(n), dtype=np.float64)
        truth, known = np.zeros(p.shape), np.ones(p.shape, dtype=bool)
        for i, j in gold.possible:
            known[i, j] = (i, j) in gold.sure
        for i, j in gold.sure:
            truth[i, j] = 1
        p, truth = p[known], truth[known]
        places = np.clip(np.digitize(p, BINS) - 1, 0, len(count) - 1)
        count += np.bincount(places, minlength=len(count))
        mass += np.bincount(places, p, minlength=len(count))
        right += np.bincount(places, truth, minlength=len(count))
        brier += float(((p - truth) ** 2).sum())
        links += len(gold.sure)
    gaps = np.abs(mass - right)
    rows = [
        (float(BINS[b]), int(count[b]), mass[b] / count[b], right[b] / count[b])
        for b in range(len(count))
        if count[b]
    ]
    return Calibration(
        float(gaps[1:].sum() / max(count[1:].sum(), 1)),
        brier / links,
        float(gaps.sum() / links),
        right[0] / links,
        rows,
    )
