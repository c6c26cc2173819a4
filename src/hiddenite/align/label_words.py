"""What the spelling of a word says about its label: its other occurrences, its ending, its shape.

The labels of a word type are smoothed with those of ever more general classes of words, from all words over
the shape and endings of one to five letters to the word in lower case:

    p(t | class) = [c(class, t) + w · p(t | more general class)] / [c(class) + w]

Words without a letter (marks, numbers) look alike in most languages: their labels on the source side are
evidence on the target side, see :func:`same_spelling`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from hiddenite.align.label_chain import Array

LONGEST_ENDING = 5
WEIGHT = 5.0  # occurrences that the more general class counts for


def shape(word: str) -> str:
    """Return the kind of a word: marks, digits, capital, hyphen."""
    if not any(map(str.isalnum, word)):
        return "mark"
    digit = "0" if any(map(str.isdigit, word)) else ""
    capital = "A" if word[0].isupper() else ""
    return digit + capital + ("-" if "-" in word else "")


def is_letterless(word: str) -> bool:
    """Tell whether a word is a mark or a number."""
    return not any(map(str.isalpha, word))


class WordClasses:
    """The classes of each word type, from general to special."""

    def __init__(self, types: Sequence[str]) -> None:
        numbers: dict[tuple[str, ...], int] = {}
        levels = LONGEST_ENDING + 3
        self._classes = np.full((len(types), levels), -1, dtype=np.int64)  # [type, level]; -1: has none
        for row, word in enumerate(types):
            lower, kind = word.lower(), shape(word)
            found: list[tuple[str, ...]] = [(), (kind,)]
            found += [(kind, lower[-n:]) for n in range(1, LONGEST_ENDING + 1) if n < len(lower)]
            self._classes[row, : len(found)] = [numbers.setdefault(one, len(numbers)) for one in found]
            self._classes[row, -1] = numbers.setdefault((lower, "", ""), len(numbers))
        self._num_classes = len(numbers)

    def smooth(self, counts: Array) -> Array:
        """Return p(label | type) [type, label] from expected counts [type, label]."""
        found = np.tile(counts.sum(axis=0) / max(counts.sum(), 1e-300), (len(counts), 1))
        for level in range(1, self._classes.shape[1]):
            rows = np.flatnonzero(self._classes[:, level] >= 0)
            classes = self._classes[rows, level]
            sums = np.zeros((self._num_classes, counts.shape[1]))
            np.add.at(sums, classes, counts[rows])
            found[rows] = _mix(sums[classes], found[rows])
        return _mix(counts, found)


def _mix(counts: Array, general: Array) -> Array:
    mixed: Array = (counts + WEIGHT * general) / (counts.sum(axis=1, keepdims=True) + WEIGHT)
    return mixed


def same_spelling(
    source: Iterable[tuple[str, int]], types: Sequence[str], num_labels: int
) -> NDArray[np.float64]:
    """Return [type, label]: the source's labels of a letterless word, or of its kind; zeros for words.

    ``source`` are words with the numbers of their labels.
    """
    counts: defaultdict[str, Counter[int]] = defaultdict(Counter)
    kinds: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for word, label in source:
        if is_letterless(word):
            counts[word][label] += 1
            kinds[shape(word)][label] += 1
    found = np.zeros((len(types), num_labels))
    for row, word in enumerate(types):
        kind = kinds.get(shape(word)) if is_letterless(word) else None
        if kind is None:
            continue
        for label, count in kind.items():
            found[row, label] += count / kind.total()
        for label, count in counts.get(word, Counter()).items():
            found[row, label] += count
        found[row] /= found[row].sum()
    return found
