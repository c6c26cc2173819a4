"""Soft targets: what another model held for possible at each token of its samples, with probabilities.

A sample says which token came; a target says how probable it and others were, so a few samples with targets
teach as much as many without (``cpp/hiddenite/hmm/em.hpp`` has the formula). A list may be cut to the most
probable tokens: it is normalised over those that some sample has, and a token outside its list counts as it
came.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import SoftTargets
from hiddenite.errors import FormatError
from hiddenite.vocabulary import SENTENCE_END

END = -1  # the end of a sample, in place of a token
_ARRAYS = "tokens [samples, length], target_tokens and target_probs [samples, length, k]"


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """Lists of tokens for each token of a text, the ends of its lines included."""

    begin: NDArray[np.uint64]  # [token], and the end
    tokens: NDArray[np.int64]
    probabilities: NDArray[np.float32]

    @property
    def digest(self) -> str:
        """A name of these numbers."""
        parts = (self.begin.tobytes(), self.tokens.tobytes(), self.probabilities.tobytes())
        return hashlib.sha256(b"".join(parts)).hexdigest()

    def core(self, words: Sequence[str]) -> SoftTargets:
        """Return them by word id; tokens that are no words are left out."""
        word_of = np.full(int(self.tokens.max(initial=0)) + 2, -1, np.int64)
        for i, word in enumerate(words):
            if word == SENTENCE_END:
                word_of[END] = i
            elif word.isdigit() and int(word) < len(word_of) - 1:
                word_of[int(word)] = i
        ids = word_of[self.tokens]
        known = ids >= 0
        kept = np.concatenate([[0], np.cumsum(known)])
        begin = kept[self.begin.astype(np.int64)].astype(np.uint64)
        return SoftTargets(begin, ids[known].astype(np.uint32), self.probabilities[known])


@dataclass(slots=True)
class Row:
    """The lists of one sample, one for each of its tokens."""

    tokens: NDArray[np.int64]
    probabilities: NDArray[np.float32]
    begin: NDArray[np.int64]  # [token], and the end


@dataclass(slots=True)
class TargetBuilder:
    """Lists of many samples, put together."""

    _sizes: list[NDArray[np.int64]] = field(default_factory=list)
    _tokens: list[NDArray[np.int64]] = field(default_factory=list)
    _probabilities: list[NDArray[np.float32]] = field(default_factory=list)

    def add(self, row: Row | None, kept: Sequence[int], end_at: int | None, end: int | None) -> None:
        """Add the lists of the tokens that are kept, and that of the end; without a row they are empty."""
        places = [*kept, end_at]
        sizes = np.zeros(len(places), np.int64)
        for i, place in enumerate(places):
            if row is None or place is None:
                continue
            part = slice(int(row.begin[place]), int(row.begin[place + 1]))
            tokens = row.tokens[part]
            sizes[i] = len(tokens)
            self._tokens.append(tokens if end is None else np.where(tokens == end, END, tokens))
            self._probabilities.append(row.probabilities[part])
        self._sizes.append(sizes)

    def build(self) -> Targets | None:
        """Return the lists of all samples; None if there are none."""
        if not self._tokens:
            return None
        begin = np.concatenate([[0], np.cumsum(np.concatenate(self._sizes))]).astype(np.uint64)
        return Targets(begin, np.concatenate(self._tokens), np.concatenate(self._probabilities))


def read_row(given: Any, num_tokens: int) -> Row:
    """Read ``[[[id, probability], ...], ...]`` of a JSON record; raises ValueError."""
    problem = (
        f"found other targets than expected: a list of [id, probability] for each of {num_tokens} tokens"
    )
    if not isinstance(given, list) or len(given) != num_tokens:
        raise ValueError(problem)
    begin = np.zeros(num_tokens + 1, np.int64)
    pairs: list[list[float]] = []
    for i, targets in enumerate(given):
        if not isinstance(targets, list):
            raise ValueError(problem)
        for pair in targets:
            if not (isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int and pair[0] >= 0):
                raise ValueError(problem)
            if type(pair[1]) not in (int, float) or not 0 <= pair[1] <= 1:
                raise ValueError(problem)
        pairs += targets
        begin[i + 1] = len(pairs)
    tokens = np.array([pair[0] for pair in pairs], np.int64)
    return Row(tokens, np.array([pair[1] for pair in pairs], np.float32), begin)


def array_rows(path: str | os.PathLike[str]) -> Iterator[tuple[list[int], int, Row]]:
    """Read an ``.npz`` with tokens and targets; a target token below zero is skipped."""
    name = os.fspath(path)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            tokens, ids, shares = (arrays[key] for key in ("tokens", "target_tokens", "target_probs"))
    except OSError as error:
        raise FormatError(name, None, f"cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError) as error:
        raise FormatError(name, None, f"{error!s:.120}; expected {_ARRAYS}") from None
    fits = tokens.dtype.kind in "iu" and ids.dtype.kind in "iu" and shares.dtype.kind == "f"
    if not fits or tokens.ndim != 2 or ids.ndim != 3 or ids.shape != shares.shape:
        raise FormatError(name, None, f"has arrays of other types or shapes, expected {_ARRAYS}")
    if ids.shape[:2] != tokens.shape or not ((shares >= 0) & (shares <= 1)).all():
        raise FormatError(name, None, f"has no probability for each token, expected {_ARRAYS}")
    for row, of_row, share in zip(tokens, ids, shares, strict=True):
        known = of_row >= 0
        begin = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        yield row.tolist(), 1, Row(of_row[known].astype(np.int64), share[known].astype(np.float32), begin)
