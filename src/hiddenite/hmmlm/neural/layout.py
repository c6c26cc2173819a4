"""Where states live in rectangular arrays, and the way back to the arrays of a chain.

Every word has a *set* of states, and all sets are padded to the same number k of slots. Under Brown sets a
set is a class: its states are slots of their own, state (s, j) having the index s * k + j. Under uniform sets
each word has a set, which lists the states by number. ``</s>`` has a set with one state. Nothing but these
tables tells one kind from the other; blocks of transitions are k x k between two sets.

The first word is a transition from the state of ``</s>``: a sentence begins where the last one ended.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import HmmShape, SparseHmm
from hiddenite.errors import ModelError
from hiddenite.hmmlm.arrays import dense_transition
from hiddenite.hmmlm.shape import END, NO_GROUP

CHUNK = 64  # words of one class whose emissions are computed together
LEAST = 1e-12  # a probability of zero starts here


@dataclass(frozen=True)
class Layout:
    """The tables; S sets of k slots, Z padded states, V words."""

    shape: HmmShape
    partitioned: bool  # no state is in two sets
    num_states: int  # Z, padded ones included
    sets: NDArray[np.int32]  # [S, k]: states
    valid: NDArray[np.bool_]  # [S, k]: not padding
    live: NDArray[np.bool_]  # [Z]: not padding
    set_of_word: NDArray[np.int32]  # [V]
    emitted: NDArray[np.bool_]  # [V]: all but <s>
    chunk_words: NDArray[np.int32]  # [Q, CHUNK]: words of a class, padded with -1; partitioned only
    chunk_set: NDArray[np.int32]  # [Q]
    place_of_word: NDArray[np.int32]  # [V]: in chunk_words, flattened

    @property
    def num_sets(self) -> int:
        """S."""
        return len(self.sets)

    @property
    def set_size(self) -> int:
        """k, the slots of a set."""
        return int(self.sets.shape[1])

    @property
    def num_words(self) -> int:
        """V."""
        return len(self.set_of_word)

    @property
    def end_set(self) -> int:
        """The set of ``</s>``."""
        return int(self.set_of_word[END])

    @property
    def state_of_slot(self) -> NDArray[np.int64]:
        """The padded state of each of the chain's states."""
        if not self.partitioned:
            return np.arange(self.num_states)
        return np.flatnonzero(self.live)


def make_layout(shape: HmmShape) -> Layout:
    """Lay out the states of a shape; ``</s>`` must have one of its own."""
    groups = np.where(shape.word_group == NO_GROUP, 0, shape.word_group).astype(np.int32)
    begins = shape.group_begin.astype(np.int64)
    sizes = np.diff(begins)
    if not shape.has_end or sizes[groups[END]] != 1:
        raise ModelError("found a model without a state for </s> alone, expected one to train")
    emitted = np.asarray(shape.word_group != NO_GROUP)
    return _subsets(shape, begins, emitted) if len(shape.members) else _classes(shape, sizes, groups, emitted)


def _classes(
    shape: HmmShape, sizes: NDArray[np.int64], groups: NDArray[np.int32], emitted: NDArray[np.bool_]
) -> Layout:
    k = int(sizes.max())
    sets = np.arange(len(sizes) * k, dtype=np.int32).reshape(-1, k)
    valid = np.arange(k)[None, :] < sizes[:, None]
    chunks, owners = [], []
    for s in range(len(sizes)):
        words = np.flatnonzero((groups == s) & emitted)
        for at in range(0, len(words), CHUNK):
            part = words[at : at + CHUNK]
            chunks.append(np.pad(part, (0, CHUNK - len(part)), constant_values=-1))
            owners.append(s)
    chunk_words = np.array(chunks, dtype=np.int32)
    place = np.zeros(len(groups), dtype=np.int32)
    filled = np.flatnonzero(chunk_words.reshape(-1) >= 0)
    place[chunk_words.reshape(-1)[filled]] = filled
    owner = np.array(owners, dtype=np.int32)
    live = valid.reshape(-1)
    return Layout(shape, True, sets.size, sets, valid, live, groups, emitted, chunk_words, owner, place)


def _subsets(shape: HmmShape, begins: NDArray[np.int64], emitted: NDArray[np.bool_]) -> Layout:
    set_begin = shape.set_begin.astype(np.int64)
    k = int(np.diff(set_begin).max())
    num_words, num_states = shape.num_words, int(begins[-1])
    sets = np.full((num_words, k), num_states - 1, dtype=np.int32)
    valid = np.zeros((num_words, k), dtype=bool)
    for w, (b, e) in enumerate(itertools.pairwise(set_begin)):
        if e > b:
            sets[w, : e - b] = begins[shape.word_group[w]] + shape.members[b:e]
            valid[w, : e - b] = True
    nothing = np.zeros(0, dtype=np.int32)
    words = np.arange(num_words, dtype=np.int32)
    live = np.ones(num_states, dtype=bool)
    return Layout(
        shape, False, num_states, sets, valid, live, words, emitted, nothing[None], nothing, nothing
    )


def export_chain(layout: Layout, transition: NDArray[np.float32], emission: NDArray[np.float64]) -> SparseHmm:
    """Return the chain of p(next | state), [Z, Z], and p(word | slot), [V, k]."""
    kept = layout.state_of_slot
    rows = transition[np.ix_(kept, kept)]
    rows /= rows.sum(axis=1, keepdims=True, dtype=np.float64)
    begins = layout.shape.group_begin.astype(np.int64)
    blocks = [
        rows[a:b, c:d].reshape(-1)
        for a, b in itertools.pairwise(begins)
        for c, d in itertools.pairwise(begins)
    ]
    end = int(np.searchsorted(kept, layout.sets[layout.end_set, 0]))
    used = layout.valid[layout.set_of_word] & layout.emitted[:, None]
    return SparseHmm(
        layout.shape,
        rows[end].astype(np.float64) / rows[end].sum(dtype=np.float64),
        np.concatenate(blocks),
        np.ascontiguousarray(emission[used], dtype=np.float64),
    )


def import_chain(layout: Layout, chain: SparseHmm) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return ln p(next | state), [Z, Z], and ln p(word | slot), [V, k], of a chain of the same shape."""
    same = (
        np.array_equal(getattr(chain, name), getattr(layout.shape, name))
        for name in ("group_begin", "word_group", "set_begin", "members")
    )
    if not all(same):
        raise ModelError("the model to start from has other sets of states; train both on the same clusters")
    kept = layout.state_of_slot
    rows = dense_transition(chain)
    rows[int(np.searchsorted(kept, layout.sets[layout.end_set, 0]))] = chain.initial
    transition = np.full((layout.num_states, layout.num_states), LEAST, dtype=np.float64)
    transition[np.ix_(kept, kept)] = rows
    emission = np.full((layout.num_words, layout.set_size), LEAST)
    used = layout.valid[layout.set_of_word] & layout.emitted[:, None]
    emission[used] = chain.emission
    logs = (np.log(np.maximum(p, LEAST)).astype(np.float32) for p in (transition, emission))
    return next(logs), next(logs)
