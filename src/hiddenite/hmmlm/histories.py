r"""What a text has seen of the words before a token: how many of them, and how often.

>>> histories = Histories(b"a b c\na b d\n")
>>> histories.bins(b"a b\n").tolist()  # after <s>, after <s> a, after <s> a b: each was seen twice
[26, 50, 74]

A bin is the number of words, up to four, of the longest history that the text has, and the power of two of
its count. It says nothing about the token itself, so weights of language models may depend on it: their
mixture is a language model still.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import TokenText, WordTable, read_tokens
from hiddenite.files.corpus import Sentence, as_text

LONGEST = 4  # words of a history; <s> is one
SIZES = 24  # bins of counts, by powers of two
NUM_BINS = (LONGEST + 1) * SIZES
_BEGIN, _ABSENT = 0, -1

Ids = NDArray[np.int64]


class Histories:
    """Histories of a text with their counts."""

    def __init__(self, text: bytes | Iterable[Sentence]) -> None:
        self._table = WordTable()
        before = _words_before(read_tokens(as_text(text), "<text>", 1, self._table, grow=True))
        self._keys: list[Ids] = []  # by length: history without its last word, and that word; rising
        self._counts: list[Ids] = []
        number: Ids | None = None  # of the history of each token, by length
        for _ in range(LONGEST):
            key = _lengthened(number, before)
            known = key != _ABSENT
            keys, places, counts = np.unique(key[known], return_inverse=True, return_counts=True)
            self._keys.append(keys)
            self._counts.append(counts.astype(np.int64))
            number = np.full(len(before), _ABSENT)
            number[known] = places

    def bins(self, text: bytes | Iterable[Sentence]) -> Ids:
        """Return the bin of each word and sentence end, line after line: from 0 to ``NUM_BINS`` - 1."""
        before = _words_before(read_tokens(as_text(text), "<text>", 1, self._table, grow=False))
        result = np.zeros(len(before), np.int64)
        number: Ids | None = None
        for length, (keys, counts) in enumerate(zip(self._keys, self._counts, strict=True), 1):
            key = _lengthened(number, before)
            if not len(keys):
                break
            place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            found = keys[place] == key
            size = np.minimum(np.log2(counts[place]).astype(np.int64) + 1, SIZES - 1)
            result[found] = length * SIZES + size[found]
            number = np.where(found, place, _ABSENT)
        return result


def _words_before(text: TokenText) -> Ids:
    """Return the word before each token, ``</s>`` included; 0 stands for ``<s>``, 1 for ``<unk>``."""
    begin = text.begin.astype(np.int64)
    sentences = np.arange(len(begin) - 1)
    ids = np.full(len(text.tokens) + len(sentences), _BEGIN, np.int64)
    ids[np.arange(len(text.tokens)) + np.repeat(sentences, np.diff(begin))] = text.tokens.astype(np.int64) + 1
    return np.concatenate([[_BEGIN], ids[:-1]])


def _lengthened(number: Ids | None, before: Ids) -> Ids:
    """Make histories one word longer: that of the token before, and its word."""
    if number is None:
        return before
    shorter = np.concatenate([[_ABSENT], number[:-1]])
    return np.where((shorter == _ABSENT) | (before == _BEGIN), _ABSENT, (shorter << 32) | before)
