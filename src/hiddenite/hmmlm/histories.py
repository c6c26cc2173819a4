r"""What a text has seen of the words before a token: how many of them, how often, and what came after them.

>>> histories = Histories(b"a b c\na b d\n")
>>> histories.bins(b"a b\n").tolist()  # after <s>, after <s> a, after <s> a b: each was seen twice
[26, 50, 74]

A bin is the number of words, up to four, of the longest history that the text has, and the power of two of
its count. The *levels* of a token are its bin; for each length the power of two of that history's count, and
how varied the words after it were; and the last word. They say nothing about the token itself, so weights of
language models may depend on them: their mixture is a language model still.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import TokenText, WordTable, read_tokens
from hiddenite.files.corpus import Sentence, as_text

LONGEST = 4  # words of a history; <s> is one
SIZES = 24  # bins of counts, by powers of two
NUM_BINS = (LONGEST + 1) * SIZES
VARIETY = (0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 0.99)  # bounds: different words after a history, by its count
_BEGIN, _ABSENT = 0, -1

Ids = NDArray[np.int64]


class Histories:
    """Histories of a text with their counts."""

    def __init__(self, text: bytes | Iterable[Sentence]) -> None:
        self._table = WordTable()
        before, after = _words_around(read_tokens(as_text(text), "<text>", 1, self._table, grow=True))
        self._keys: list[Ids] = []  # by length: history without its last word, and that word; rising
        self._counts: list[Ids] = []
        self._types: list[Ids] = []  # different words after it
        number: Ids | None = None  # of the history of each token, by length
        for _ in range(LONGEST):
            key = _lengthened(number, before)
            known = key != _ABSENT
            keys, places, counts = np.unique(key[known], return_inverse=True, return_counts=True)
            pairs = np.unique((places.astype(np.int64) << 32) | after[known])
            self._keys.append(keys)
            self._counts.append(counts.astype(np.int64))
            self._types.append(np.bincount(pairs >> 32, minlength=len(keys)))
            number = np.full(len(before), _ABSENT)
            number[known] = places

    @property
    def num_levels(self) -> list[int]:
        """How many levels there are of each kind."""
        return [NUM_BINS, *([1 + SIZES * (len(VARIETY) + 1)] * LONGEST), len(self._table) + 1]

    def bins(self, text: bytes | Iterable[Sentence]) -> Ids:
        """Return the bin of each word and sentence end, line after line: from 0 to ``NUM_BINS`` - 1."""
        return self.levels(text)[0]

    def levels(self, text: bytes | Iterable[Sentence]) -> list[Ids]:
        """Return the levels of each word and sentence end, kind after kind."""
        before, _ = _words_around(read_tokens(as_text(text), "<text>", 1, self._table, grow=False))
        bins, by_length = np.zeros(len(before), np.int64), []
        for length, (found, place) in enumerate(self._places(before), 1):
            count = np.maximum(self._counts[length - 1][place], 1)
            size = np.minimum(np.log2(count).astype(np.int64) + 1, SIZES - 1)
            bins[found] = length * SIZES + size[found]
            variety = np.digitize(self._types[length - 1][place] / count, VARIETY)
            by_length.append(np.where(found, 1 + size * (len(VARIETY) + 1) + variety, 0))
        nothing = np.zeros(len(before), np.int64)
        return [bins, *by_length, *([nothing] * (LONGEST - len(by_length))), before]

    def _places(self, before: Ids) -> Iterator[tuple[NDArray[np.bool_], Ids]]:
        """Which tokens have a history that was seen, and its number, length after length."""
        number: Ids | None = None
        for keys in self._keys:
            if not len(keys):
                return
            key = _lengthened(number, before)
            place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            found = keys[place] == key
            number = np.where(found, place, _ABSENT)
            yield found, place


def _words_around(text: TokenText) -> tuple[Ids, Ids]:
    """Return the word before each token, ``</s>`` included, and the token; 0 is ``<s>`` and ``</s>``."""
    begin = text.begin.astype(np.int64)
    sentences = np.arange(len(begin) - 1)
    ids = np.full(len(text.tokens) + len(sentences), _BEGIN, np.int64)
    ids[np.arange(len(text.tokens)) + np.repeat(sentences, np.diff(begin))] = text.tokens.astype(np.int64) + 1
    return np.concatenate([[_BEGIN], ids[:-1]]), ids


def _lengthened(number: Ids | None, before: Ids) -> Ids:
    """Make histories one word longer: that of the token before, and its word."""
    if number is None:
        return before
    shorter = np.concatenate([[_ABSENT], number[:-1]])
    return np.where((shorter == _ABSENT) | (before == _BEGIN), _ABSENT, (shorter << 32) | before)
