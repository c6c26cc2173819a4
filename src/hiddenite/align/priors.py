"""What is known of words before training: a bilingual dictionary, or priors in eflomal's format.

A lexicon has a line for each pair, ``word TAB word [TAB weight]``; priors have lines of five kinds::

    LEX   source  target  count      links of the two words
    FERF  source  n       count      how often it generated n words
    FERR  target  n       count
    HMMF  jump    count              jumps over source positions, from one linked word to the next
    HMMR  jump    count              over target positions

All of them are counts, as if a text had been aligned before: training adds them to its own, and they stay in
the model. A lexicon's weight is a number of links, 1 if it is not given.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from hiddenite._core import AlignmentModel, AlignmentTables
from hiddenite.align.bitext import normalize_word
from hiddenite.align.links import read_lines
from hiddenite.align.options import AlignerOptions
from hiddenite.arrays import np
from hiddenite.errors import FormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIELDS = {"LEX": 4, "FERF": 4, "FERR": 4, "HMMF": 3, "HMMR": 3}
_Kind = TypeVar("_Kind", bound="np.generic")
_MOST = 1e6  # of a count
_HINT = 1e-3  # observations of one word for each word of a lexicon: its fertilities are those of all words


@dataclass
class Priors:
    """Counts of links, fertilities and jumps; [0] is the forward direction."""

    links: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    fertilities: tuple[dict[tuple[str, int], float], dict[tuple[str, int], float]] = field(
        default_factory=lambda: (defaultdict(float), defaultdict(float))
    )
    jumps: tuple[dict[int, float], dict[int, float]] = field(
        default_factory=lambda: (defaultdict(float), defaultdict(float))
    )

    def add_lexicon(self, path: str | os.PathLike[str]) -> None:
        """Add the pairs of a dictionary."""
        expected = "expected word TAB word [TAB weight]"
        for number, line in read_lines(path):
            if not line.strip():
                continue
            parts = line.split("\t")
            if len(parts) not in (2, 3) or not all(_is_word(part) for part in parts[:2]):
                raise FormatError(os.fspath(path), number, f"found '{line:.60}', {expected}")
            weight = _count(parts[2] if len(parts) == 3 else "1", path, number)
            self.links[parts[0], parts[1]] += weight

    def add_eflomal(self, path: str | os.PathLike[str]) -> None:
        """Add priors that eflomal-makepriors wrote."""
        for number, line in read_lines(path):
            parts = line.split("\t")
            if len(parts) != _FIELDS.get(parts[0]):
                expected = "expected LEX, FERF, FERR, HMMF or HMMR and their fields, separated by tabs"
                raise FormatError(os.fspath(path), number, f"found '{line:.60}', {expected}")
            count, reverse = _count(parts[-1], path, number), int(parts[0].endswith("R"))
            if parts[0] == "LEX":
                self.links[parts[1], parts[2]] += count
            elif parts[0].startswith("FER"):
                self.fertilities[reverse][parts[1], _whole(parts[2], path, number)] += count
            else:
                self.jumps[reverse][_whole(parts[1], path, number)] += count

    def model(self, options: AlignerOptions) -> AlignmentModel:
        """Return the counts as a model that a training with these options can go on from."""
        options = options.for_corpus(1)
        clean = normalize_word if options.normalize else str
        links: dict[tuple[str, str], float] = defaultdict(float)
        for (e, f), count in self.links.items():
            links[clean(e), clean(f)] += count
        words = [
            sorted({pair[side] for pair in links} | {clean(word) for word, _ in self.fertilities[side]})
            for side in (0, 1)
        ]
        places = [{word: n for n, word in enumerate(side)} for side in words]
        tables = AlignmentTables()
        tables.words = words
        pairs = sorted((places[0][e], places[1][f], count) for (e, f), count in links.items())
        tables.pair_source = np.array([p[0] for p in pairs], dtype=np.uint32)
        tables.pair_target = np.array([p[1] for p in pairs], dtype=np.uint32)
        counts = np.array([p[2] for p in pairs], dtype=np.float32)
        tables.pair_count = counts, counts
        self._fill_words(tables, [len(side) for side in words])
        self._fill_fertilities(tables, places, clean, options.max_fertility + 1)
        for d in (0, 1):
            tables.set_jumps(d, *self._jumps(d, options.max_jump))
        return AlignmentModel(tables, options.core(), options.string_prior)

    @staticmethod
    def _fill_words(tables: AlignmentTables, sizes: list[int]) -> None:
        sides = tables.pair_source, tables.pair_target
        links = tables.pair_count[0]
        seen = [np.bincount(side, links, n) for side, n in zip(sides, sizes, strict=True)]
        tables.word_count = _pair([np.ceil(n).astype(np.uint32) for n in seen])
        tables.partners = _pair(
            [np.bincount(s, minlength=n).astype(np.uint32) for s, n in zip(sides, sizes, strict=True)]
        )
        tables.likeness = _pair([np.zeros(n, dtype=np.float32) for n in sizes])
        tables.null_count = _pair([np.zeros(n, dtype=np.float32) for n in reversed(sizes)])

    def _fill_fertilities(
        self, tables: AlignmentTables, places: list[dict[str, int]], clean: Callable[[str], str], width: int
    ) -> None:
        rows = [np.zeros((len(side), width), dtype=np.float32) for side in places]
        for d, table in enumerate(rows):
            table[:, 1] = _HINT
            for (word, n), count in self.fertilities[d].items():
                table[places[d][clean(word)], min(max(n, 0), width - 1)] += count
        tables.fertility = _pair([table.ravel() for table in rows])

    def _jumps(self, d: int, most: int) -> list[NDArray[np.float64]]:
        """Return the histograms of the start, the inside and the end; the file knows of one kind of jump."""
        histograms = [np.zeros(2 * most + 1) for _ in range(3)]
        for jump, count in self.jumps[d].items():
            histograms[1][min(max(jump, -most), most) + most] += count
        return histograms


def _pair(arrays: list[NDArray[_Kind]]) -> tuple[NDArray[_Kind], NDArray[_Kind]]:
    return arrays[0], arrays[1]


def _is_word(text: str) -> bool:
    return text.split() == [text]


def _count(text: str, path: str | os.PathLike[str], line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= _MOST:
        raise FormatError(os.fspath(path), line, f"found '{text}', expected a count from 0 to {_MOST:.0f}")
    return value


def _whole(text: str, path: str | os.PathLike[str], line: int) -> int:
    try:
        return int(text)
    except ValueError:
        raise FormatError(os.fspath(path), line, f"found '{text}', expected a whole number") from None
