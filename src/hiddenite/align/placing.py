"""Markers of a source sentence put into its translation.

>>> given = strip("the <b>dog</b> sleeps")
>>> place_markers(given, "le chien dort", np.eye(3)).text
'le <b>chien</b> dort'

An element that covers words gets the target span of greatest expected agreement
(:mod:`hiddenite.align.spans`), inside the span of the element around it and apart from those beside it, so
that elements are nested as in the source. A point goes where the fewest links cross it: the gap h that
maximises Σ p(i–j) over links whose ends lie on the same side of it, before or after; one that hangs on a
word, such as a note, goes behind that word's translation. A marker whose probability (agreement, or share
of links that do not cross) is below the threshold is left out; the elements inside it are not. Text is
never changed: without markers, the result is the translation, character for character.

Where an element of the source begins or ends with a letter, punctuation that hangs on the target's word at
that end stays outside.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite.align.evidence import Probabilities
from hiddenite.align.markers import Element, MarkedText, find_words, strip
from hiddenite.align.spans import best_span, membership
from hiddenite.errors import FormatError, ModelError

_OPENS = re.compile(r"\\\+?[a-z]+[0-9]*(?: [0-9]\S*)?")  # a USFM marker that needs a blank behind it
_Words = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class PlacedMarker:
    """What became of a marker."""

    marker: str  # as it opens
    begin: int | None  # characters of the translation that it covers; None: it was left out
    end: int | None
    probability: float


@dataclass(frozen=True, slots=True)
class Placement:
    """A translation with markers."""

    text: str
    markers: tuple[PlacedMarker, ...]  # of the source, in its order


def place_markers(
    source: MarkedText,
    target: str,
    p: Probabilities,
    *,
    threshold: float = 0.0,
    separate: bool = False,
    file: str = "<target>",
    line: int | None = None,
) -> Placement:
    """Put the markers of ``source`` into ``target``; ``p`` are the link probabilities of their words."""
    words = find_words(source.text, separate), find_words(target, separate)
    if p.shape != (len(words[0]), len(words[1])):
        raise ModelError(f"link probabilities of {p.shape} words, expected {(len(words[0]), len(words[1]))}")
    placer = _Placer(source, target, words, p, threshold)
    placer.place(-1, (0, len(words[1])), (0, len(target)))
    text = placer.render(-1, 0, len(target))
    if not _is_same(text, target):
        raise FormatError(
            file, line, "markers cannot be put here without changing the text; take \\, | and < out of it"
        )
    return Placement(text, tuple(placer.report()))


def _is_same(text: str, target: str) -> bool:
    try:
        return strip(text).text == target
    except FormatError:
        return False


class _Placer:
    """Finds a place for each element; parents before children."""

    def __init__(
        self,
        source: MarkedText,
        target: str,
        words: tuple[_Words, _Words],
        p: Probabilities,
        threshold: float,
    ) -> None:
        self._source, self._target, self._threshold = source, target, threshold
        (self._e, self._f), self._p = words, p
        self._children: dict[int, list[int]] = {}
        for place, element in enumerate(source.elements):
            self._children.setdefault(element.parent, []).append(place)
        self._found: dict[int, tuple[int, int]] = {}  # element: its characters of the target
        self._parent: dict[int, int] = {}  # element: that around it which was placed
        self._probability = dict.fromkeys(range(len(source.elements)), 0.0)
        self._gaps = _gap_weights(p)

    def place(self, parent: int, window: tuple[int, int], limits: tuple[int, int]) -> None:
        """Place what stands in ``parent``, whose words and characters of the target are given."""
        allowed = np.zeros(len(self._f), dtype=np.bool_)
        allowed[slice(*window)] = True
        points, taken = [], []
        waiting = list(self._children.get(parent, []))
        while waiting:
            spans = [n for n in waiting if self._source_words(n)[0] < self._source_words(n)[1]]
            points += [n for n in waiting if n not in spans]
            best = self._surest(spans, allowed)
            if best is None:  # none of them gets a place: their children may
                waiting = [child for n in spans for child in self._children.get(n, [])]
                continue
            place, begin, end = best
            self._keep(place, parent, begin, end, limits)
            allowed[begin:end] = False
            taken.append((begin, end))
            self.place(place, (begin, end), self._found[place])
            waiting = [n for n in spans if n != place]
        for place in points:
            self._place_point(place, parent, window, taken, limits)

    def _surest(self, spans: Sequence[int], allowed: NDArray[np.bool_]) -> tuple[int, int, int] | None:
        found = []
        for n in spans:
            span = best_span(membership(self._p, *self._source_words(n)), allowed)
            self._probability[n] = 0.0 if span is None else span[2]
            if span is not None and span[2] >= self._threshold:
                found.append((span[2], -n, span))
        if not found:
            return None
        _, minus, (begin, end, _) = max(found)
        return -minus, begin, end

    def _keep(self, place: int, parent: int, begin: int, end: int, limits: tuple[int, int]) -> None:
        """Note the characters of the words begin … end − 1, without punctuation at ends that have letters."""
        element = self._source.elements[place]
        inside = self._source.text[element.begin : element.end].strip()
        low, high = self._f[begin][0], self._f[end - 1][1]
        text = self._target[low:high]
        if any(map(str.isalnum, text)):
            low += _marks_before(text) if inside[:1].isalnum() else 0
            high -= _marks_before(text[::-1]) if inside[-1:].isalnum() else 0
        low, high = max(low, limits[0]), min(high, limits[1])
        self._found[place] = low, max(low, high)
        self._parent[place] = parent

    def _source_words(self, place: int) -> tuple[int, int]:
        """Return the words that an element touches."""
        element = self._source.elements[place]
        if not self._source.text[element.begin : element.end].strip():
            return 0, 0
        touched = [n for n, (b, e) in enumerate(self._e) if b < element.end and e > element.begin]
        return (touched[0], touched[-1] + 1) if touched else (0, 0)

    def _place_point(
        self,
        place: int,
        parent: int,
        window: tuple[int, int],
        taken: Sequence[tuple[int, int]],
        limits: tuple[int, int],
    ) -> None:
        gap, hangs = _source_gap(self._source.elements[place], self._source.text, self._e)
        free = [h for h in range(window[0], window[1] + 1) if not any(b < h < e for b, e in taken)]
        best, self._probability[place] = (self._behind(gap) if hangs and gap else None) or (-1, 0.0)
        if best not in free:
            best, self._probability[place] = self._least_crossed(gap, free)
        if self._probability[place] < self._threshold:
            return
        at = self._character(best, hangs, window)
        at = min(max(at, limits[0]), limits[1])
        self._found[place] = at, at
        self._parent[place] = parent

    def _behind(self, gap: int) -> tuple[int, float] | None:
        """Return the gap behind the translation of the word before a gap of the source, if one is likely."""
        span = best_span(membership(self._p, gap - 1, gap))
        return None if span is None or span[2] < 0.5 else (span[1], span[2])

    def _least_crossed(self, gap: int, free: Sequence[int]) -> tuple[int, float]:
        """Return the gap that fewest links cross, and the share of those that do not."""
        weights, total = self._gaps[gap], float(self._p.sum())
        ratio = gap / max(len(self._e), 1) * len(self._f)
        best = max(free, key=lambda h: (round(float(weights[h]), 6), -abs(h - ratio)))
        at_end = gap in (0, len(self._e)) and best in (0, len(self._f))
        return best, float(weights[best]) / total if total > 0 else float(at_end)

    def _character(self, gap: int, hangs: bool, window: tuple[int, int]) -> int:
        """Return where a point goes that stands in a gap between words."""
        if hangs and gap > window[0]:
            begin, end = self._f[gap - 1]
            text = self._target[begin:end]
            return end - (_marks_before(text[::-1]) if any(map(str.isalnum, text)) else 0)
        if gap < window[1]:
            return self._f[gap][0]
        return self._f[gap - 1][1] if gap > 0 else 0

    def render(self, parent: int, begin: int, end: int) -> str:
        """Return the characters begin … end with the markers of what stands in ``parent``."""
        inner = [n for n, around in self._parent.items() if around == parent]
        pieces = []
        for n in sorted(inner, key=lambda n: (*self._found[n], n)):
            low, high = self._found[n]
            element = self._source.elements[n]
            pieces += [self._target[begin:low], self._opening(element, low)]
            pieces += [self.render(n, low, high), element.closing]
            begin = high
        return "".join([*pieces, self._target[begin:end]])

    def _opening(self, element: Element, at: int) -> str:
        """Return the marker, with the blank that USFM needs behind it."""
        needs = _OPENS.fullmatch(element.opening) is not None and at < len(self._target)
        return element.opening + " " * needs

    def report(self) -> list[PlacedMarker]:
        """Return what became of each marker."""
        rows = []
        for n, element in enumerate(self._source.elements):
            begin, end = self._found.get(n, (None, None))
            rows.append(PlacedMarker(element.opening.strip(), begin, end, min(self._probability[n], 1.0)))
        return rows


def _gap_weights(p: Probabilities) -> NDArray[np.float64]:
    """Return [source gap, target gap]: Σ p of links whose ends lie on the same side of both gaps."""
    before = np.zeros((p.shape[0] + 1, p.shape[1] + 1))
    before[1:, 1:] = p.astype(np.float64).cumsum(axis=0).cumsum(axis=1)
    rows, columns = before[:, -1:], before[-1:, :]
    return np.asarray(2 * before + before[-1, -1] - rows - columns)


def _source_gap(element: Element, text: str, words: _Words) -> tuple[int, bool]:
    """Return how many words stand before a point, and whether it hangs on the word before it."""
    at = element.begin
    gap = sum(end <= at or (begin < at and not any(map(str.isalnum, text[at:end]))) for begin, end in words)
    hangs = at > 0 and not text[at - 1].isspace() and not (at < len(text) and text[at].isalnum())
    return gap, hangs


def _marks_before(text: str) -> int:
    """Return how many characters stand before the first letter or digit."""
    return next((n for n, c in enumerate(text) if c.isalnum()), len(text))
