"""Ambiguity classes: which tags words may have, how many words have which, over the samples of a run."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUM_EXAMPLES = 12  # words of an ambiguity class
Classes = tuple[NDArray[np.int64], NDArray[np.int32]]  # word i has tag[begin[i]:begin[i + 1]]


@dataclass(frozen=True, slots=True)
class AmbiguityClass:
    """Tags that words may have, with its share of the lexicon."""

    tags: tuple[str, ...]
    types: float  # words that have it, mean over the kept samples
    tokens: float  # their tokens, mean over the kept samples
    share: float  # types of all types: its posterior mass
    words: tuple[str, ...]  # the most frequent ones, in the last sample

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return dataclasses.asdict(self) | {"tags": list(self.tags), "words": list(self.words)}


class ClassTally:
    """How many words and tokens had each ambiguity class, summed over samples."""

    def __init__(self) -> None:
        self.samples = 0
        self.types: Counter[tuple[int, ...]] = Counter()
        self.tokens: Counter[tuple[int, ...]] = Counter()

    def add(self, begin: NDArray[np.int64], tag: NDArray[np.int32], word_counts: NDArray[np.int64]) -> None:
        """Add a sample: word i has the class ``tag[begin[i]:begin[i + 1]]``."""
        first, kind = _distinct_classes(begin, tag)
        types = np.bincount(kind, minlength=len(first)).tolist()
        tokens = np.bincount(kind, word_counts, len(first)).tolist()
        for word, num_types, num_tokens in zip(first.tolist(), types, tokens, strict=True):
            key = _class_of(begin, tag, word)
            self.types[key] += num_types
            self.tokens[key] += int(num_tokens)
        self.samples += 1

    def merge(self, other: ClassTally) -> None:
        """Add the samples of another tally."""
        self.types.update(other.types)
        self.tokens.update(other.tokens)
        self.samples += other.samples

    def means(self) -> dict[tuple[int, ...], tuple[float, float]]:
        """Return mean types and tokens by class."""
        n = self.samples
        return {key: (self.types[key] / n, self.tokens[key] / n) for key in self.types}

    def lexicon(
        self,
        classes: Classes,
        word_counts: NDArray[np.int64],
        words: Sequence[str],
        names: Sequence[str],
    ) -> list[AmbiguityClass]:
        """Return the classes, those of most words first; ``classes`` are those of the last sample."""
        examples = _examples(classes, word_counts, words)
        rows = [
            AmbiguityClass(
                tuple(names[t] for t in tags), types, tokens, types / len(words), examples.get(tags, ())
            )
            for tags, (types, tokens) in self.means().items()
        ]
        return sorted(rows, key=lambda row: (-row.types, -row.tokens, row.tags))


def _distinct_classes(
    begin: NDArray[np.int64], tag: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return one word of each class that occurs, and the number of each word's class among them.

    Sets are told apart by the sum of a 64-bit number per tag; two sums meet by chance once in 10^13 lexicons.
    """
    random = np.random.default_rng(1)
    numbers = random.integers(2**64, size=int(tag.max(initial=0)) + 1, dtype=np.uint64)
    sums = np.concatenate([[np.uint64(0)], np.cumsum(numbers[tag], dtype=np.uint64)])
    keys = sums[begin[1:]] - sums[begin[:-1]]
    _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    return first, kind.reshape(-1)


def _class_of(begin: NDArray[np.int64], tag: NDArray[np.int32], word: int) -> tuple[int, ...]:
    return tuple(sorted(tag[begin[word] : begin[word + 1]].tolist()))


def _examples(
    classes: Classes, counts: NDArray[np.int64], words: Sequence[str]
) -> dict[tuple[int, ...], tuple[str, ...]]:
    """Return the most frequent words of each class."""
    begin, tag = classes
    first, kind = _distinct_classes(begin, tag)
    order = np.lexsort((-counts, kind))
    bounds = np.searchsorted(kind[order], np.arange(len(first) + 1))
    result = {}
    for k, word in enumerate(first.tolist()):
        members = order[bounds[k] : bounds[k + 1]][:NUM_EXAMPLES]
        result[_class_of(begin, tag, word)] = tuple(words[i] for i in members.tolist())
    return result
