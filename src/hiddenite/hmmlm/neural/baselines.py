"""The networks that hidden Markov models are compared with, trained by the same trainer.

``feed-forward``: two hidden layers over the vectors of the four words before. ``lstm``: two recurrent layers.
Both end in a softmax whose weights are the word vectors (paper, section 5.1), over all words or factored
(``outputs``). Perplexity is per token, ``</s>`` included. ``sentences`` begins each line anew; ``document``
goes on across lines.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from hiddenite._core import TokenText, WordTable, read_tokens
from hiddenite.errors import ModelError
from hiddenite.hmmlm.neural.batches import (
    Batch,
    batches,
    document_batches,
    evaluation_batches,
    sentence_lines,
)
from hiddenite.hmmlm.neural.networks import (
    Array,
    Params,
    dropout,
    init_linear,
    init_lstm,
    linear,
    lstm_layer,
    normal,
)
from hiddenite.hmmlm.neural.options import TrainerOptions
from hiddenite.hmmlm.neural.outputs import (
    OUTPUTS,
    Levels,
    Sorted,
    factored_log_probs,
    init_classes,
    make_levels,
    softmax_log_probs,
    sort_tokens,
)
from hiddenite.hmmlm.neural.trainer import Report, Trainer
from hiddenite.hmmlm.shape import BEGIN

KINDS = ("feed-forward", "lstm")
WINDOW = 4
LAYERS = 2
_EVALUATED_TOKENS = 2048


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """The form of a network."""

    kind: str = "lstm"
    width: int = 256
    dropout_rate: float = 0.3
    output: str = "softmax"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ModelError(f"found the network '{self.kind}', expected {' or '.join(KINDS)}")
        if self.output not in OUTPUTS:
            raise ModelError(f"found the output '{self.output}', expected {' or '.join(OUTPUTS)}")
        if self.width < 1 or not 0 <= self.dropout_rate < 1:
            raise ModelError(
                f"found width {self.width}, dropout {self.dropout_rate}, expected >= 1 and [0, 1)"
            )


def init_network(rng: np.random.Generator, num_words: int, options: NetworkOptions) -> Params:
    """Draw parameters."""
    width = options.width
    params: Params = {"word": normal(rng, num_words, width), "bias": jnp.zeros(num_words)}
    for i in range(LAYERS):
        if options.kind == "lstm":
            params[f"layer{i}"] = init_lstm(rng, width)
        else:
            params[f"layer{i}"] = init_linear(rng, width * (1 if i else WINDOW), width)
    return params


def _recurrent(options: NetworkOptions, params: Params, inputs: Array, carry: Any, keys: Any) -> Any:
    x, after = inputs, []
    for i in range(LAYERS):
        state, x = lstm_layer(params[f"layer{i}"], carry[i], dropout(keys[i], x, options.dropout_rate))
        after.append(state)
    return x, tuple(after)


def _feed_forward(options: NetworkOptions, params: Params, windows: Array, keys: Any) -> Array:
    x = windows.reshape(*windows.shape[:2], -1)
    for i in range(LAYERS):
        x = jax.nn.relu(linear(params[f"layer{i}"], dropout(keys[i], x, options.dropout_rate)))
    return x


def hidden_vectors(
    options: NetworkOptions, params: Params, batch: Batch, key: Array | None, carry: Any
) -> tuple[Array, Any]:
    """Return what the last layer sees before each word of a batch, [B, T, H], and what is carried over.

    Carried are, for the LSTM, its states; for the window, the words before the row. The first word of a text
    and, without documents, of a sentence has ``<s>`` before it, or ``</s>`` in a document.
    """
    keys = [None] * (LAYERS + 1) if key is None else list(jax.random.split(key, LAYERS + 1))
    earlier = jnp.concatenate([batch.before[:, None], batch.words[:, :-1]], axis=1)
    if options.kind == "lstm":
        start = jax.tree.map(lambda x: jnp.where(batch.fresh[:, None], 0.0, x), carry)
        x, after = _recurrent(options, params, params["word"][earlier], start, keys)
    else:
        older = jnp.where(batch.fresh[:, None], BEGIN, carry)
        line = jnp.concatenate([older, earlier], axis=1)
        after = line[:, -WINDOW:][:, 1:]
        vectors = params["word"][line]
        windows = jnp.stack([vectors[:, i : i + earlier.shape[1]] for i in range(WINDOW)], axis=2)
        x = _feed_forward(options, params, windows, keys)
    return dropout(keys[LAYERS], x, options.dropout_rate), after


def first_carry(options: NetworkOptions, rows: int) -> Any:
    """Return what is carried into the beginning of a text."""
    if options.kind == "lstm":
        zeros = jnp.zeros((rows, options.width))
        return tuple((zeros, zeros) for _ in range(LAYERS))
    return jnp.full((rows, WINDOW - 1), BEGIN, dtype=jnp.int32)


class NetworkTask:
    """A network for the trainer."""

    def __init__(
        self,
        options: NetworkOptions,
        trainer: TrainerOptions,
        num_words: int,
        tokens: TokenText,
        valid: TokenText | None,
        *,
        levels: Levels | None = None,
    ) -> None:
        """``levels`` are those of a factored output."""
        self.options, self._trainer, self._num_words = options, trainer, num_words
        self._lines = sentence_lines(tokens)
        self._valid = None if valid is None else sentence_lines(valid)
        self._levels = levels
        self._score = jax.jit(self._log_probs)

    def init(self, rng: np.random.Generator) -> Params:
        """Draw parameters."""
        params = init_network(rng, self._num_words, self.options)
        return (
            params if self._levels is None else params | init_classes(rng, self._levels, self.options.width)
        )

    def constants(self) -> None:
        """There are none."""

    def batches(self, rng: np.random.Generator) -> Sequence[Batch]:
        """Return the batches of an epoch."""
        return batches(self._lines, self._trainer, rng)

    def prepare(self, batch: Batch) -> Batch | Sorted:
        """Sort the tokens by class if the output is factored."""
        return batch if self._levels is None else sort_tokens(batch, self._levels)

    def rows(self, prepared: Batch | Sorted) -> Batch:
        """Return the words."""
        return prepared if isinstance(prepared, Batch) else prepared.batch

    def _log_probs(
        self, params: Params, prepared: Batch | Sorted, key: Array | None, carry: Any
    ) -> tuple[Array, Any]:
        """ln p of each word of a batch, [B, T], and what is carried over."""
        hidden, after = hidden_vectors(self.options, params, self.rows(prepared), key, carry)
        if isinstance(prepared, Batch) or self._levels is None:
            return softmax_log_probs(params, hidden, self.rows(prepared).words), after
        return factored_log_probs(self._levels, params, hidden, prepared), after

    def carry(self, prepared: Batch | Sorted) -> Any:
        """Nothing between sentences."""
        if self._trainer.batching == "sentences":
            return ()
        return first_carry(self.options, self.rows(prepared).words.shape[0])

    def loss(
        self, params: Params, constants: None, prepared: Batch | Sorted, key: Array | None, carry: Any
    ) -> tuple[Array, Any]:
        """Return minus the sum of ln p."""
        del constants
        document, batch = self._trainer.batching == "document", self.rows(prepared)
        before = carry if document else first_carry(self.options, batch.words.shape[0])
        values, after = self._log_probs(params, prepared, key, before)
        return -jnp.where(batch.mask, values, 0.0).sum(), after if document else ()

    def perplexity(self, params: Params) -> float | None:
        """Per token of the validation text."""
        if self._valid is None:
            return None
        return math.exp(-float(np.mean(self.token_log_probs(params, self._valid))))

    def token_log_probs(self, params: Params, lines: list[NDArray[np.int32]]) -> NDArray[np.float64]:
        """ln p of each token, line after line."""
        if self._trainer.batching == "document":
            return self._document_log_probs(params, lines)
        result: list[NDArray[np.float64]] = [np.zeros(0)] * len(lines)
        for numbers, batch in evaluation_batches(lines, _EVALUATED_TOKENS):
            carry = first_carry(self.options, batch.words.shape[0])
            values = np.asarray(self._score(params, self.prepare(batch), None, carry)[0], dtype=np.float64)
            for row, i in enumerate(numbers):
                result[i] = values[row, : len(lines[i])]
        return np.concatenate([*result, np.zeros(0)])

    def _document_log_probs(self, params: Params, lines: list[NDArray[np.int32]]) -> NDArray[np.float64]:
        if not lines:
            return np.zeros(0)
        carry, result = first_carry(self.options, 1), []
        for batch in document_batches(lines, 1, _EVALUATED_TOKENS):
            values, carry = self._score(params, self.prepare(batch), None, carry)
            result.append(np.asarray(values, dtype=np.float64)[batch.mask])
        return np.concatenate(result)


class NetworkModel:
    """A trained network that scores text; takes part in an interpolation."""

    def __init__(self, words: Sequence[str], task: NetworkTask, params: Params) -> None:
        self.words, self.params = tuple(words), params
        self._task = task
        self._table = WordTable()
        for word in words:
            self._table.add(word)

    @property
    def num_parameters(self) -> int:
        """Numbers that were trained."""
        return sum(int(leaf.size) for leaf in jax.tree.leaves(self.params))

    def token_log_probs(self, text: bytes, threads: int = 0) -> NDArray[np.float64]:
        """ln p of each word and sentence end, line after line."""
        del threads
        return self._task.token_log_probs(
            self.params, sentence_lines(read_tokens(text, "<text>", 1, self._table, grow=False))
        )

    def perplexity(self, text: bytes) -> float:
        """exp of minus the mean ln p per token, sentence ends included."""
        return math.exp(-float(np.mean(self.token_log_probs(text))))


def train_network(
    corpus: bytes,
    options: NetworkOptions,
    trainer: TrainerOptions,
    *,
    seed: int,
    valid: bytes | None = None,
    on_epoch: Callable[[Report], None] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> NetworkModel:
    """Train a network on UTF-8 text, one sentence a line; continue from ``checkpoint`` if it exists."""
    table = WordTable()
    tokens = read_tokens(corpus, "<corpus>", 1, table, grow=True)
    held_out = None if valid is None else read_tokens(valid, "<valid>", 1, table, grow=False)
    levels = make_levels(corpus, table, tokens) if options.output == "factored" else None
    task = NetworkTask(options, trainer, len(table), tokens, held_out, levels=levels)
    identity = {"text": hashlib.sha256(corpus).hexdigest(), "options": dataclasses.asdict(options)}
    run = Trainer(task, trainer, seed=seed, identity=identity, checkpoint=checkpoint)
    for report in run:
        if on_epoch is not None:
            on_epoch(report)
    return NetworkModel(table.words(), task, run.params)
