"""Which states emit which words: the shape of a chain, known before training.

``brown``: the words of a class share the class' states, and each state belongs to one class. ``uniform``:
each word has a random subset of all states (Chiu & Rush 2020, section 4.1). Either way ``</s>`` has one state
of its own, because nothing is carried over it. ``dense``: every state emits every word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import HmmShape
from hiddenite.errors import ModelError

NO_GROUP = 0xFFFFFFFF
UNKNOWN, BEGIN, END = 0, 1, 2
_NO_MEMBERS = np.zeros(0, dtype=np.uint32)


def _begins(sizes: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).astype(np.int64)


def word_classes(
    words: Sequence[str], clustered: Sequence[str], classes: Sequence[int], counts: Sequence[int]
) -> list[int]:
    """Return the class of each word from clusters that list some; -1 for ``<s>`` and ``</s>``.

    An unknown word that the clusters lack goes where it most likely belongs: to the class with the most
    words seen once.
    """
    given = dict(zip(clustered, classes, strict=True))
    result = [given.get(word, -1) for word in words]
    missing = [w for w, c in enumerate(result) if c < 0 and w not in (UNKNOWN, BEGIN, END)]
    if missing:
        examples = ", ".join(words[w] for w in missing[:3])
        raise ModelError(
            f"the clusters lack {len(missing)} words of the text ({examples}, …); cluster the same text"
        )
    if result[UNKNOWN] < 0:
        rare = [c for c, n in zip(result, counts, strict=True) if n == 1 and c >= 0]
        result[UNKNOWN] = int(np.bincount(rare or [c for c in result if c >= 0]).argmax())
    return result


def brown_shape(classes: Sequence[int], states: int) -> HmmShape:
    """Share ``states`` equally among the classes; classes[word] is -1 for a word that is never emitted."""
    groups = np.asarray(classes, dtype=np.int64)
    number = int(groups.max(initial=-1)) + 1
    if number > states:
        raise ModelError(f"found {number} clusters and {states} states, expected a state for each cluster")
    sizes = [states // number + (c < states % number) for c in range(number)] + [1]
    groups = groups.copy()
    groups[END] = number
    word_sizes = np.where(groups < 0, 0, np.asarray(sizes)[groups])
    word_group = np.where(groups < 0, NO_GROUP, groups).astype(np.uint32)
    return HmmShape(
        _begins(sizes).astype(np.uint32), word_group, _begins(word_sizes).astype(np.uint64), _NO_MEMBERS, True
    )


def uniform_shape(num_words: int, states: int, set_size: int, rng: np.random.Generator) -> HmmShape:
    """Draw a subset of ``set_size`` states for each word."""
    word_group = np.zeros(num_words, dtype=np.uint32)
    word_group[BEGIN], word_group[END] = NO_GROUP, 1
    members = [np.sort(rng.choice(states, set_size, replace=False)) for _ in range(num_words)]
    members[BEGIN], members[END] = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    return HmmShape(
        np.array([0, states, states + 1], dtype=np.uint32),
        word_group,
        _begins([len(m) for m in members]).astype(np.uint64),
        np.concatenate(members).astype(np.uint32),
        True,
    )


def dense_shape(num_words: int, states: int, has_end: bool) -> HmmShape:
    """Let every state emit every word but ``<s>``."""
    word_group = np.zeros(num_words, dtype=np.uint32)
    word_group[BEGIN] = NO_GROUP
    if not has_end:
        word_group[END] = NO_GROUP
    sizes = np.where(word_group == NO_GROUP, 0, states)
    begins = np.array([0, states], dtype=np.uint32)
    return HmmShape(begins, word_group, _begins(sizes).astype(np.uint64), _NO_MEMBERS, has_end)
