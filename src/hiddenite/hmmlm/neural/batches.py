"""Mini-batches of few shapes: each shape is compiled once, so lengths and numbers of pairs are rounded up.

``sentences``: shuffled anew in each epoch; sentences of about the same length share a batch, and a batch has
the same number of (padded) words whatever their length. ``document``: the text in order, cut into parallel
streams that are read segment by segment; what a model remembers is carried from one segment to the next.

The order depends on the seed and the epoch alone, so that a training can continue from any step.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from hiddenite._core import TokenText
from hiddenite.hmmlm.neural.layout import Layout
from hiddenite.hmmlm.neural.options import TrainerOptions
from hiddenite.hmmlm.shape import END

LENGTHS = (16, 32, 64)  # longer ones are rounded up to a multiple of the last

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Batch:
    """Words of B rows, padded to T columns, and the word before each row."""

    words: Any  # [B, T]
    mask: Any  # [B, T]: whether there is a word
    before: Any  # [B]: the word before the row, </s> at the beginning of a sentence
    fresh: Any  # [B]: nothing is carried over into this row


jax.tree_util.register_dataclass(Batch, ["words", "mask", "before", "fresh"], [])


def sentence_lines(text: TokenText) -> list[Ints]:
    """Return the words of each sentence, ``</s>`` last."""
    begins = text.begin.astype(np.int64)
    tokens = np.asarray(text.tokens, dtype=np.int32)
    return [np.append(tokens[b:e], np.int32(END)) for b, e in itertools.pairwise(begins)]


def _bucket(length: int) -> int:
    for limit in LENGTHS:
        if length <= limit:
            return limit
    return -(-length // LENGTHS[-1]) * LENGTHS[-1]


def batches(lines: list[Ints], options: TrainerOptions, rng: np.random.Generator) -> list[Batch]:
    """Return the batches of one epoch in their order."""
    if options.batching == "document":
        return document_batches(lines, max(1, options.batch_tokens // options.segment), options.segment)
    return sentence_batches([lines[i] for i in rng.permutation(len(lines))], options.batch_tokens, rng)


def sentence_batches(lines: list[Ints], tokens: int, rng: np.random.Generator | None) -> list[Batch]:
    """Batch the lines by length; shuffle the batches if there is a generator."""
    by_length: dict[int, list[Ints]] = {}
    for line in lines:
        by_length.setdefault(_bucket(len(line)), []).append(line)
    result = []
    for length in sorted(by_length):
        rows, members = max(1, tokens // length), by_length[length]
        result += [_padded(members[at : at + rows], rows, length) for at in range(0, len(members), rows)]
    return result if rng is None else [result[i] for i in rng.permutation(len(result))]


def _padded(lines: list[Ints], rows: int, length: int) -> Batch:
    words = np.zeros((rows, length), dtype=np.int32)
    mask = np.zeros((rows, length), dtype=bool)
    for row, line in enumerate(lines):
        words[row, : len(line)], mask[row, : len(line)] = line, True
    return Batch(words, mask, np.full(rows, END, dtype=np.int32), np.ones(rows, dtype=bool))


def document_batches(lines: list[Ints], rows: int, segment: int) -> list[Batch]:
    """Cut the text into ``rows`` streams of segments; each begins after an end of sentence."""
    stream = np.concatenate(lines)
    columns = -(-len(stream) // rows)
    words = np.zeros(rows * columns, dtype=np.int32)
    words[: len(stream)] = stream
    mask = (np.arange(rows * columns) < len(stream)).reshape(rows, columns)
    before = np.concatenate([[END], words[:-1]]).astype(np.int32).reshape(rows, columns)
    before[:, 0] = END  # a stream that begins within a sentence knows nothing of what came before
    table = words.reshape(rows, columns)
    result = []
    for at in range(0, columns, segment):
        short = ((0, 0), (0, at + segment - min(columns, at + segment)))
        part = slice(at, at + segment)
        fresh = np.full(rows, at == 0)
        result.append(
            Batch(np.pad(table[:, part], short), np.pad(mask[:, part], short), before[:, at].copy(), fresh)
        )
    return result


@dataclass(frozen=True)
class Paired:
    """A batch with the pairs of sets between neighbours, each listed once."""

    batch: Batch
    first_set: Any  # [B]: of the word before
    pairs: Any  # [P, 2], padded with the pair of set 0
    pair: Any  # [B, T]: the pair that leads to each word


jax.tree_util.register_dataclass(Paired, ["batch", "first_set", "pairs", "pair"], [])


def with_pairs(batch: Batch, layout: Layout) -> Paired:
    """List the pairs of sets; their number is half the words or as many, unless there are fewer pairs."""
    sets = layout.set_of_word[batch.words].astype(np.int64)
    first = layout.set_of_word[batch.before]
    earlier = np.concatenate([first[:, None].astype(np.int64), sets[:, :-1]], axis=1)
    codes = np.where(batch.mask, earlier * layout.num_sets + sets, 0)
    unique, inverse = np.unique(codes, return_inverse=True)
    size = codes.size // 2 if 2 * len(unique) <= codes.size else codes.size
    size = max(1, len(unique), min(size, layout.num_sets**2))
    pairs = np.zeros((size, 2), dtype=np.int32)
    pairs[: len(unique)] = np.stack(np.divmod(unique, layout.num_sets), axis=1)
    return Paired(batch, first, pairs, inverse.reshape(codes.shape).astype(np.int32))


def evaluation_batches(lines: list[Ints], tokens: int) -> Iterator[tuple[NDArray[np.int64], Batch]]:
    """Yield batches with the numbers of their sentences, for scores in the order of the text."""
    order = sorted(range(len(lines)), key=lambda i: (_bucket(len(lines[i])), i))
    at = 0
    for batch in sentence_batches([lines[i] for i in order], tokens, None):
        count = int(batch.mask.any(axis=1).sum())
        yield np.array(order[at : at + count], dtype=np.int64), batch
        at += count
