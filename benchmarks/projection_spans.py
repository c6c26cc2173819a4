"""A row about spans: where a source span lands, against the words that gold links say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from projection_data import Size, data, eflomal_intersection
from report import Row, mean, table

from hiddenite.align import Bitext, Training
from hiddenite.align.links import GoldLinks, read_gold
from hiddenite.align.spans import best_span, membership

SETS = (("en-sv", "en", "sv"), ("zh-en", "zh", "en"))
LENGTHS = (1, 2, 3, 4)
Range = tuple[int, int]


def spans(size: Size) -> Row:
    """Compare the span of greatest expected agreement with the hull of links."""
    rows, gains = [], []
    for name, source, target in SETS:
        folder = data() / "align" / name
        sides = [_lines(folder / f"text.{code}")[: size.sentences] for code in (source, target)]
        gold = read_gold(folder / "gold")[: size.sentences]
        training = Training(Bitext.of(*sides), seed=1, threads=1).run()
        links = [np.mean(training.link_probabilities(n), axis=0) for n in range(len(gold))]
        theirs = eflomal_intersection(*sides)
        for length in LENGTHS:
            scores: list[list[float]] = [[], [], []]
            for one, p, both in zip(gold, links, theirs, strict=True):
                for begin, wanted in _cases(one, p.shape[0], length):
                    end = begin + length
                    found = best_span(membership(p, begin, end))
                    likely = np.flatnonzero((p[begin:end] >= 0.5).any(axis=0)).tolist()
                    ranges = (
                        _hull(j for i, j in both if begin <= i < end),
                        _hull(likely),
                        None if found is None else found[:2],
                    )
                    for kept, place in zip(scores, ranges, strict=True):
                        kept.append(_agreement(place, wanted))
            means = [100 * mean(one) for one in scores]
            gains.append(means[2] - means[1])
            rows.append((name, length, len(scores[0]), *(f"{one:.1f}" for one in means)))
    return Row(
        "Where spans land: agreement (F, %) with the span that gold links say",
        "the span of greatest expected agreement is better than the hull of links, every length",
        f"{min(gains):+.1f} to {max(gains):+.1f} points",
        min(gains) > 0,
        table(("text", "words", "spans", "hull of eflomal's", "hull of p ≥ 0.5", "expected agreement"), rows)
        + "\nAll source spans whose sure links lead to neighbouring words that have no other sure links.\n",
    )


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def _cases(gold: GoldLinks, words: int, length: int) -> Iterator[tuple[int, Range]]:
    """Give source spans with the target span that is theirs alone."""
    for begin in range(words - length + 1):
        mine = {j for i, j in gold.sure if begin <= i < begin + length}
        others = {j for i, j in gold.sure if not begin <= i < begin + length}
        place = _hull(mine)
        if place is not None and place[1] - place[0] == len(mine) and not others & mine:
            yield begin, place


def _hull(places: Iterable[int]) -> Range | None:
    found = list(places)
    return (min(found), max(found) + 1) if found else None


def _agreement(found: Range | None, wanted: Range) -> float:
    if found is None:
        return 0.0
    common = max(0, min(found[1], wanted[1]) - max(found[0], wanted[0]))
    return 2 * common / (found[1] - found[0] + wanted[1] - wanted[0])
