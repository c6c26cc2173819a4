"""The last layer of a network: one softmax over all words, or a small one and then one within a class.

With V words of H numbers, one softmax costs V H products a token, and that is most of what a small network
costs. The factored one has the frequent words and the classes of all others at its first level,

    ln p(w | h) = ln p(w | h)                  w is frequent,
    ln p(w | h) = ln p(c | h) + ln p(w | h, c)  w is of the class c,

and both levels score words by the same word vectors. The tokens of a batch are sorted by class beforehand, on
the host, so that the second level is one product of [C, M, H] and [C, H, W]: M tokens at most are of a class
of W words at most. Classes come from exchange; those of more than W words are split, the frequent words of a
class together, for a class whose words share a frequency is easier to predict than a random part of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from hiddenite._core import TokenText, WordTable
from hiddenite.hmmlm.clusters import Clustering
from hiddenite.hmmlm.neural.batches import Batch
from hiddenite.hmmlm.neural.networks import Array, Params, normal
from hiddenite.hmmlm.shape import BEGIN, END, word_classes

OUTPUTS = ("softmax", "factored")
NUM_FREQUENT = 512
NUM_CLASSES = 100
CLASS_WORDS = 64  # W
_LEAST_TOKENS = 16  # M is this times a power of two: few shapes are compiled
_NEVER = -1e30


@dataclass(frozen=True)
class Levels:
    """Where each word is: K entries of the first level, of which the last C are classes."""

    frequent: NDArray[np.int32]  # [K - C]: words
    members: NDArray[np.int32]  # [C, W]: words of a class, padded with 0
    valid: NDArray[np.bool_]  # [C, W]: not padding
    entry: NDArray[np.int32]  # [V]: at the first level
    place: NDArray[np.int32]  # [V]: within the class; 0 for frequent words


@dataclass(frozen=True)
class Sorted:
    """A batch and its tokens by class."""

    batch: Batch
    tokens: Any  # [C, M]: numbers of tokens of the flattened batch, padded with 0
    slot: Any  # [B, T]: where each token is in ``tokens``, flattened; frequent words and padding have C * M


jax.tree_util.register_dataclass(Sorted, ["batch", "tokens", "slot"], [])


def make_levels(corpus: bytes, table: WordTable, tokens: TokenText) -> Levels:
    """Choose frequent words and classes from the training text."""
    counts = np.asarray(tokens.counts(len(table)), dtype=np.int64)
    found = Clustering([corpus], NUM_CLASSES).run()
    owner = np.array(word_classes(table.words(), found.words, found.classes, counts.tolist()))
    listed = [int(word) for word in np.argsort(-counts, kind="stable") if word != BEGIN]
    first = {END, *listed[:NUM_FREQUENT]}
    rest = np.array([word for word in listed if word not in first], dtype=np.int64)
    parts: list[list[int]] = []
    for number in np.unique(owner[rest]):
        words = rest[owner[rest] == number].tolist()
        parts += [words[at : at + CLASS_WORDS] for at in range(0, len(words), CLASS_WORDS)]
    return _tables(len(table), [word for word in listed if word in first], parts)


def _tables(num_words: int, frequent: list[int], classes: list[list[int]]) -> Levels:
    size = max([1, *map(len, classes)])
    members = np.zeros((len(classes), size), dtype=np.int32)
    valid = np.zeros((len(classes), size), dtype=bool)
    entry, place = np.zeros(num_words, dtype=np.int32), np.zeros(num_words, dtype=np.int32)
    entry[frequent] = np.arange(len(frequent))
    for c, words in enumerate(classes):
        members[c, : len(words)], valid[c, : len(words)] = words, True
        entry[words], place[words] = len(frequent) + c, np.arange(len(words))
    return Levels(np.array(frequent, dtype=np.int32), members, valid, entry, place)


def sort_tokens(batch: Batch, levels: Levels) -> Sorted:
    """List the tokens of each class."""
    words, classes = batch.words.reshape(-1), len(levels.members)
    owner = levels.entry[words] - len(levels.frequent)
    chosen = np.flatnonzero((owner >= 0) & batch.mask.reshape(-1))
    chosen = chosen[np.argsort(owner[chosen], kind="stable")]
    counts = np.bincount(owner[chosen], minlength=classes)
    most = _LEAST_TOKENS
    while most < counts.max(initial=0):
        most *= 2
    column = np.arange(len(chosen)) - np.repeat(np.cumsum(counts) - counts, counts)
    tokens = np.zeros((classes, most), dtype=np.int32)
    tokens[owner[chosen], column] = chosen
    slot = np.full(words.shape, classes * most, dtype=np.int32)
    slot[chosen] = owner[chosen] * most + column
    return Sorted(batch, tokens, slot.reshape(batch.words.shape))


def init_classes(rng: np.random.Generator, levels: Levels, width: int) -> Params:
    """Draw the vectors of the classes."""
    number = len(levels.members)
    return {"class": normal(rng, max(1, number), width)[:number], "class_bias": jnp.zeros(number)}


def softmax_log_probs(params: Params, hidden: Array, words: Array) -> Array:
    """ln p of each word by one softmax over all but ``<s>``."""
    logits = (hidden @ params["word"].T + params["bias"]).at[..., BEGIN].set(_NEVER)
    return jnp.take_along_axis(jax.nn.log_softmax(logits, axis=-1), words[..., None], axis=-1)[..., 0]


def factored_log_probs(levels: Levels, params: Params, hidden: Array, sort: Sorted) -> Array:
    """ln p of each word by two levels."""
    words, frequent = sort.batch.words, jnp.asarray(levels.frequent)
    vectors = jnp.concatenate([params["word"][frequent], params["class"]])
    bias = jnp.concatenate([params["bias"][frequent], params["class_bias"]])
    first = jax.nn.log_softmax(hidden @ vectors.T + bias, axis=-1)
    of_entry = jnp.take_along_axis(first, jnp.asarray(levels.entry)[words][..., None], axis=-1)[..., 0]
    within = _within_classes(levels, params, hidden.reshape(-1, hidden.shape[-1]), sort)
    return of_entry + jnp.append(within, 0.0)[sort.slot]


def _within_classes(levels: Levels, params: Params, hidden: Array, sort: Sorted) -> Array:
    """ln p(word | h, class) of the sorted tokens, [C M]."""
    members = jnp.asarray(levels.members)
    vectors, bias = params["word"][members], params["bias"][members]
    logits = jnp.einsum("cmh,cwh->cmw", hidden[sort.tokens], vectors) + bias[:, None, :]
    logits = jnp.where(jnp.asarray(levels.valid)[:, None, :], logits, _NEVER)
    place = jnp.asarray(levels.place)[sort.batch.words.reshape(-1)[sort.tokens]]
    chosen = jnp.take_along_axis(logits, place[..., None], axis=-1)[..., 0]
    return (chosen - jax.nn.logsumexp(logits, axis=-1)).reshape(-1)
