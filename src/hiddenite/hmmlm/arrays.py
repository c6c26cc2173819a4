"""The arrays of a chain, and their exchange with other tools as a plain ``.npz``.

With G groups of states, Z states and V words (ids 0, 1, 2 are ``<unk>``, ``<s>`` and ``</s>``):

=================  =============  =========================================================================
``words``          V strings      only in ``.npz`` files; without them words are called w0, w1, …
``group_begin``    uint32 G + 1   states of group g are group_begin[g] up to group_begin[g + 1]
``word_group``     uint32 V       the group that emits the word; 2^32 - 1 for ``<s>``
``set_begin``      uint64 V + 1   entries of the word's set in ``members`` and ``emission``
``members``        uint32         places of a set's states in their group; empty: all sets are whole groups
``initial``        float64 Z      p(first state)
``transition``     float32 Z * Z  p(next | state) in blocks: for each group g, for each group h, the matrix
                                  with a row for each state of g, a column for each of h
``emission``       float64        p(word | state) for the states of each word's set
=================  =============  =========================================================================

The dense layout is what other tools have: ``initial`` Z, ``transition`` Z x Z, ``emission`` Z x V. A dense
file whose words include ``</s>`` is a model of sentences; without it, of word sequences of a given length.
``<unk>`` and ``<s>`` are added if they are missing, with probability zero.
"""

from __future__ import annotations

import itertools
import os
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import HmmShape, SparseHmm
from hiddenite.errors import FormatError, HiddeniteError, ModelError
from hiddenite.files.corpus import tokenize
from hiddenite.files.output import atomic_output
from hiddenite.hmmlm.shape import NO_GROUP, dense_shape
from hiddenite.vocabulary import SENTENCE_BEGIN, SENTENCE_END, UNKNOWN

SPECIAL = (UNKNOWN, SENTENCE_BEGIN, SENTENCE_END)
KINDS: dict[str, type[Any]] = {
    "group_begin": np.uint32,
    "word_group": np.uint32,
    "set_begin": np.uint64,
    "members": np.uint32,
    "initial": np.float64,
    "transition": np.float32,
    "emission": np.float64,
}
_ROUNDING = 1e-3  # how far from one a dense row may sum


def check_words(words: Sequence[str]) -> None:
    """Refuse a vocabulary that is none."""
    if tuple(words[:3]) != SPECIAL or len(set(words)) != len(words):
        raise ModelError("expected different words, <unk>, <s> and </s> first")


def chain_arrays(chain: SparseHmm) -> dict[str, NDArray[Any]]:
    """Return the arrays by name."""
    return {name: getattr(chain, name) for name in KINDS}


def read_chain(array: Callable[[str, type[Any]], NDArray[Any]], has_end: bool) -> SparseHmm:
    """Make a chain of arrays that a function gives by name and type."""
    a = {name: array(name, kind) for name, kind in KINDS.items()}
    shape = HmmShape(a["group_begin"], a["word_group"], a["set_begin"], a["members"], has_end)
    return SparseHmm(shape, a["initial"], a["transition"], a["emission"])


def dense_transition(chain: SparseHmm) -> NDArray[np.float32]:
    """Return the transitions as one Z x Z matrix."""
    begins, table, z = chain.group_begin.astype(np.int64), chain.transition, chain.num_states
    result = np.empty((z, z), dtype=np.float32)
    for b, e in itertools.pairwise(begins):
        at = b * z
        for c, d in itertools.pairwise(begins):
            size = (e - b) * (d - c)
            result[b:e, c:d] = table[at : at + size].reshape(e - b, d - c)
            at += size
    return result


def dense_emission(chain: SparseHmm) -> NDArray[np.float64]:
    """Return the emissions as one Z x V matrix."""
    result = np.zeros((chain.num_states, chain.num_words))
    begins, group_begin = chain.set_begin.astype(np.int64), chain.group_begin.astype(np.int64)
    groups, members, emission = chain.word_group, chain.members, chain.emission
    for w in range(chain.num_words):
        if groups[w] == NO_GROUP:
            continue
        b, e = begins[w], begins[w + 1]
        places = members[b:e] if len(members) else np.arange(e - b)
        result[group_begin[groups[w]] + places, w] = emission[b:e]
    return result


def one_chain(members: Sequence[SparseHmm], weights: Sequence[float]) -> SparseHmm:
    """Return a mixture as one dense chain: a block for each member, its weight in the initial probabilities.

    Members meet in nothing but the start, as the member is drawn anew for each sentence.
    """
    if len(members) == 1:
        return members[0]
    sizes = [chain.num_states for chain in members]
    begins = np.concatenate([[0], np.cumsum(sizes)])
    transition = np.zeros((begins[-1], begins[-1]), dtype=np.float32)
    emission = np.zeros((begins[-1], members[0].num_words))
    for chain, b, e in zip(members, begins[:-1], begins[1:], strict=True):
        transition[b:e, b:e] = dense_transition(chain)
        emission[b:e] = dense_emission(chain)
    initial = np.concatenate([w * c.initial for c, w in zip(members, weights, strict=True)])
    return _dense_chain(initial, transition, emission, members[0].has_end)


def _dense_chain(
    initial: NDArray[Any], transition: NDArray[Any], emission: NDArray[Any], has_end: bool
) -> SparseHmm:
    shape = dense_shape(emission.shape[1], len(initial), has_end)
    columns = [w for w in range(emission.shape[1]) if shape.word_group[w] != NO_GROUP]
    return SparseHmm(
        shape,
        np.ascontiguousarray(initial, dtype=np.float64),
        np.ascontiguousarray(transition, dtype=np.float32).reshape(-1),
        np.ascontiguousarray(emission.T[columns], dtype=np.float64).reshape(-1),
    )


def export_npz(
    path: str | os.PathLike[str],
    words: Sequence[str],
    members: Sequence[SparseHmm],
    weights: Sequence[float],
    *,
    dense: bool = False,
) -> None:
    """Write the blocked or the dense layout."""
    chain = one_chain(members, weights)
    listed = np.array(words, dtype=np.str_)
    with atomic_output(path) as out:
        if dense:
            kept = [w for w in range(len(words)) if chain.word_group[w] != NO_GROUP]
            np.savez(
                out,
                words=listed[kept],
                initial=chain.initial,
                transition=dense_transition(chain),
                emission=dense_emission(chain)[:, kept],
            )
        else:
            arrays = chain_arrays(chain) | {"words": listed, "has_end": np.array(chain.has_end)}
            np.savez(out, **arrays)  # type: ignore[arg-type]  # the stub takes any keyword for its flag


def import_npz(path: str | os.PathLike[str]) -> tuple[list[str], SparseHmm]:
    """Read either layout; raises FormatError for anything else."""
    name = os.fspath(path)
    hint = "expected the arrays that docs/hmmlm.md lists"
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return _import(dict(arrays))
    except OSError as error:
        raise FormatError(name, None, f"cannot be read: {error.strerror or error}; {hint}") from None
    except (ValueError, KeyError, zipfile.BadZipFile, HiddeniteError) as error:
        raise FormatError(name, None, f"{error}; {hint}") from None


def _import(arrays: dict[str, NDArray[Any]]) -> tuple[list[str], SparseHmm]:
    for needed in ("initial", "transition", "emission"):
        if needed not in arrays:
            raise ValueError(f"lacks the array {needed}")
    if "group_begin" in arrays:
        words = [str(w) for w in arrays["words"]]
        has_end = bool(arrays["has_end"]) if "has_end" in arrays else True
        return words, read_chain(lambda n, kind: np.ascontiguousarray(arrays[n], dtype=kind), has_end)
    initial, transition, emission = (
        np.asarray(arrays[n], np.float64) for n in ("initial", "transition", "emission")
    )
    z = len(initial)
    if transition.shape != (z, z) or emission.ndim != 2 or len(emission) != z:
        raise ValueError(
            f"has {initial.shape}, {transition.shape} and {emission.shape}, expected Z, Z x Z and Z x V"
        )
    for what, rows in (("initial", initial[None]), ("transition", transition), ("emission", emission)):
        if not (
            np.isfinite(rows).all() and (rows >= 0).all() and (abs(rows.sum(axis=1) - 1) < _ROUNDING).all()
        ):
            raise ValueError(f"{what} has a row that does not add up to 1")
    given = (
        [str(w) for w in arrays["words"]]
        if "words" in arrays
        else [f"w{i}" for i in range(emission.shape[1])]
    )
    if len(given) != emission.shape[1] or any(tokenize(w) != [w] for w in given):
        raise ValueError(f"lists {len(given)} words for {emission.shape[1]} columns, or an empty one")
    words = [*SPECIAL, *(w for w in given if w not in SPECIAL)]
    columns = np.zeros((z, len(words)))
    for i, word in enumerate(given):
        columns[:, words.index(word) if word in SPECIAL else words.index(word, 3)] = emission[:, i]
    return words, _dense_chain(initial, transition, columns, SENTENCE_END in given)
