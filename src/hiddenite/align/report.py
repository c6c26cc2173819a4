"""What a page about the links of a text shows: pairs and links, the dubious first, and the lexicon.

A link of probability p is wrongly decided with probability min(p, 1 − p). Pairs are ordered by the sum of
this over their links, per word: what to look at first. The lexicon is made of expected counts: c(e, f) = Σ
p over the text, p(f | e) = c(e, f) / Σ_f c(e, f). Only what the page shows is kept, so that memory grows
with it and with the lexicon.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hiddenite.align.evidence import Probabilities

LEAST_SHOWN = 0.01  # links below are not drawn
_TRANSLATIONS = 6  # of a word
_LEAST_COUNT = 0.1  # of a translation
_Words = Sequence[str]
Counts = dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class ReportPair:
    """A sentence pair with its links."""

    number: int  # its line, from 1
    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, int, float], ...]  # source, target, p
    doubt: float  # expected number of wrong decisions per word


@dataclass(frozen=True, slots=True)
class DubiousLink:
    """A link that may be right or wrong."""

    number: int  # its pair's line
    source: str
    target: str
    p: float


@dataclass(frozen=True, slots=True)
class LexiconEntry:
    """A word and its translations."""

    word: str
    count: float  # expected number of links
    translations: tuple[tuple[str, float], ...]  # with p(translation | word), best first


@dataclass(frozen=True, slots=True)
class Report:
    """All that the page shows."""

    num_pairs: int
    num_words: tuple[int, int]
    num_links: int  # that reach the threshold
    threshold: float
    doubt: float  # expected number of wrong decisions, of all links
    pairs: tuple[ReportPair, ...]  # the most dubious first
    links: tuple[DubiousLink, ...]
    lexicon: tuple[LexiconEntry, ...]  # frequent words first


def make_report(
    pairs: Iterable[tuple[_Words, _Words]],
    links: Iterable[Probabilities],
    *,
    threshold: float,
    most_pairs: int,
    most_links: int,
    most_words: int,
) -> Report:
    """Look at all pairs once; keep the most dubious ones."""
    sums = [0, 0, 0, 0]
    doubt = 0.0
    worst: list[tuple[float, int, ReportPair]] = []
    dubious: list[tuple[float, int, int, DubiousLink]] = []
    counts: Counts = defaultdict(lambda: defaultdict(float))
    for number, ((e, f), p) in enumerate(zip(pairs, links, strict=True), 1):
        found = _pair(number, e, f, p, threshold)
        sums = [a + b for a, b in zip(sums, (1, len(e), len(f), int((p >= threshold).sum())), strict=True)]
        doubt += found.doubt * (len(e) + len(f))
        _push(worst, (found.doubt, -number, found), most_pairs)
        for i, j, value in found.links:
            counts[e[i]][f[j]] += value
            link = DubiousLink(number, e[i], f[j], value)
            _push(dubious, (min(value, 1 - value), -number, -i * len(f) - j, link), most_links)
    return Report(
        sums[0],
        (sums[1], sums[2]),
        sums[3],
        threshold,
        doubt,
        tuple(one[-1] for one in sorted(worst, key=lambda x: x[:-1], reverse=True)),
        tuple(one[-1] for one in sorted(dubious, key=lambda x: x[:-1], reverse=True)),
        tuple(_lexicon(counts, most_words)),
    )


def _push(heap: list, item: tuple, most: int) -> None:  # type: ignore[type-arg]
    (heapq.heappush if len(heap) < most else heapq.heappushpop)(heap, item)


def _pair(number: int, e: _Words, f: _Words, p: Probabilities, threshold: float) -> ReportPair:
    cells = np.argwhere(p >= min(LEAST_SHOWN, max(threshold, 1e-6))).tolist()
    links = tuple((i, j, min(float(p[i, j]), 1.0)) for i, j in cells)
    wrong = float(np.minimum(p, 1 - np.minimum(p, 1)).sum())
    return ReportPair(number, tuple(e), tuple(f), links, wrong / max(len(e) + len(f), 1))


def _lexicon(counts: Counts, most: int) -> list[LexiconEntry]:
    totals = {word: sum(found.values()) for word, found in counts.items()}
    chosen = heapq.nsmallest(most, totals, key=lambda word: (-totals[word], word))
    entries = []
    for word in chosen:
        best = heapq.nsmallest(_TRANSLATIONS, counts[word].items(), key=lambda item: (-item[1], item[0]))
        kept = tuple((f, c / totals[word]) for f, c in best if c >= _LEAST_COUNT)
        entries.append(LexiconEntry(word, totals[word], kept))
    return entries
