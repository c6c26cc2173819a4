"""Gradient training of a hidden Markov language model: text in, an ordinary model out.

>>> training = NeuralTraining(["the cat sat"] * 8, ModelOptions(states=4, clusters=2), seed=1)
>>> for report in training: pass
>>> training.model().score(["the cat sat"])[0].tokens
4

The objective is the evidence itself, ln p(words) with states summed out. The validation text is scored by the
compiled chain, that is by the model as it will be used.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hiddenite._core import HmmShape, SparseHmm, TokenText, WordTable, read_tokens
from hiddenite.errors import FormatError, ModelError
from hiddenite.files.corpus import Sentence, as_text
from hiddenite.hmmlm.archive import sparse_members
from hiddenite.hmmlm.clusters import Clustering, Clusters
from hiddenite.hmmlm.model import HMMLanguageModel
from hiddenite.hmmlm.neural.batches import Batch, Paired, batches, sentence_lines, with_pairs
from hiddenite.hmmlm.neural.evidence import log_evidence
from hiddenite.hmmlm.neural.layout import Layout, export_chain, import_chain, make_layout
from hiddenite.hmmlm.neural.networks import Array, Params
from hiddenite.hmmlm.neural.options import ModelOptions, TrainerOptions
from hiddenite.hmmlm.neural.parameters import Hmm, Kept, init_parameters, tables_of_chain
from hiddenite.hmmlm.neural.trainer import Report, Trainer
from hiddenite.hmmlm.options import MAX_SEED
from hiddenite.hmmlm.shape import brown_shape, uniform_shape, word_classes

_TINY = 1e-30


def hmm_loss(
    hmm: Hmm, params: Params, prepared: Paired, key: Array | None, carry: Array | None
) -> tuple[Array, Array]:
    """Return minus ln p of a batch, and the distribution over states after each row, [B, k].

    Without ``carry`` each row begins a sentence; without ``key`` nothing is dropped.
    """
    kept, batch = hmm.keep(key), prepared.batch
    logs = hmm.emissions(params, kept, batch.words)
    shift = jax.lax.stop_gradient(logs.max(axis=-1))
    blocks = jnp.exp(hmm.blocks(params, kept, prepared.pairs))
    first = _first_alpha(kept, prepared, carry)
    log_prob, last = log_evidence(first, blocks, jnp.exp(logs - shift[..., None]), prepared.pair, batch.mask)
    total = log_prob.sum() + jnp.where(batch.mask, shift, 0.0).sum()
    last_set = jnp.asarray(hmm.layout.set_of_word)[batch.words[:, -1]]
    return -total, _spread(kept, jax.lax.stop_gradient(last), last_set, hmm.layout.set_size)


def _first_alpha(kept: Kept, prepared: Paired, carry: Array | None) -> Array:
    """Return alpha before the first word: the state of ``</s>``, first in its set, or what was carried."""
    rows, n = prepared.first_set.shape[0], kept.states.shape[1]
    begin = jnp.zeros((rows, n)).at[:, 0].set(1.0)
    if carry is None:
        return begin
    if kept.slots is not None:  # what was carried may have been dropped since
        carry = jnp.take_along_axis(carry, kept.slots[prepared.first_set], axis=1)
    weight = jnp.where(kept.valid[prepared.first_set], carry + _TINY, 0.0)
    return jnp.where(prepared.batch.fresh[:, None], begin, weight / weight.sum(axis=1, keepdims=True))


def _spread(kept: Kept, alpha: Array, last_set: Array, set_size: int) -> Array:
    if kept.slots is None:
        return alpha
    rows = jnp.arange(alpha.shape[0])[:, None]
    return jnp.zeros((alpha.shape[0], set_size)).at[rows, kept.slots[last_set]].set(alpha)


class HmmTask:
    """A hidden Markov model for the trainer."""

    def __init__(
        self,
        layout: Layout,
        options: ModelOptions,
        trainer: TrainerOptions,
        *,
        tokens: TokenText,
        valid: TokenText | None = None,
        start: SparseHmm | None = None,
        threads: int = 0,
    ) -> None:
        self.layout, self.options = layout, options
        self._trainer, self._lines = trainer, sentence_lines(tokens)
        self._valid, self._threads = valid, threads
        tables = None
        if start is not None:
            tables = tables_of_chain(layout, options, *import_chain(layout, start))
        self._start = tables
        self._hmm = Hmm(layout, options)

    def init(self, rng: np.random.Generator) -> Params:
        """Draw parameters, or begin at the chain."""
        return init_parameters(rng, self.layout, self.options, self._start)

    def constants(self) -> Params | None:
        """Return the tables of the chain that a neural model starts from."""
        return self._start if self.options.parameterisation == "neural" else None

    def batches(self, rng: np.random.Generator) -> Sequence[Batch]:
        """Return the batches of an epoch."""
        return batches(self._lines, self._trainer, rng)

    def prepare(self, batch: Batch) -> Paired:
        """List the pairs of sets."""
        return with_pairs(batch, self.layout)

    def rows(self, prepared: Paired) -> Batch:
        """Return the words."""
        return prepared.batch

    def carry(self, prepared: Paired) -> Any:
        """Nothing between sentences; the distribution over states in a document."""
        if self._trainer.batching == "sentences":
            return ()
        return jnp.zeros((prepared.batch.words.shape[0], self.layout.set_size))

    def loss(
        self, params: Params, constants: Params | None, prepared: Paired, key: Array | None, carry: Any
    ) -> tuple[Array, Any]:
        """Return minus ln p, and the carried distribution."""
        hmm = self._hmm.with_offset(constants)
        document = self._trainer.batching == "document"
        total, after = hmm_loss(hmm, params, prepared, key, carry if document else None)
        return total, after if document else ()

    def chain(self, params: Params) -> SparseHmm:
        """Return the model as it is used."""
        return export_chain(self.layout, *self._hmm.with_offset(self.constants()).probabilities(params))

    def perplexity(self, params: Params) -> float | None:
        """Per token of the validation text, ``</s>`` included."""
        if self._valid is None:
            return None
        log_probs = self.chain(params).token_log_probs(self._valid, self._threads)
        return math.exp(-float(np.mean(log_probs))) if len(log_probs) else math.nan


class NeuralTraining:
    """A text, a model and its trainer; iterate to run it."""

    def __init__(
        self,
        corpus: bytes | Iterable[Sentence],
        options: ModelOptions | None = None,
        trainer: TrainerOptions | None = None,
        *,
        seed: int,
        valid: bytes | Iterable[Sentence] | None = None,
        clusters: Clusters | None = None,
        start: HMMLanguageModel | None = None,
        threads: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        names: tuple[str, str] = ("<corpus>", "<valid>"),
        devices: Sequence[Any] | None = None,
    ) -> None:
        """Read the text; continue from ``checkpoint`` if that file exists.

        ``start`` is a trained model of one member whose words, sets and probabilities are taken over: states
        and clusters are then its own.
        """
        if not 0 <= seed <= MAX_SEED:
            raise ModelError(f"the seed is {seed}, expected 0 to 2^64 - 1")
        if start is not None and len(start.members) != 1:
            raise ModelError(f"found a mixture of {len(start.members)} members to start from, expected one")
        self.options, self.seed = options or ModelOptions(), seed
        self._table = WordTable()
        for word in () if start is None else start.words:
            self._table.add(word)
        text = as_text(corpus)
        self._tokens = tokens = read_tokens(text, names[0], 1, self._table, grow=start is None)
        if not len(tokens.tokens):
            raise FormatError(names[0], None, "has no word, expected text to train on")
        held_out = None
        if valid is not None:
            read = as_text(valid)
            held_out = read_tokens(read, names[1], 1, self._table, grow=False)
        chain = None if start is None else sparse_members(start.members)[0]
        shape = chain if chain is not None else self._shape(text, tokens, clusters, threads)
        chosen = trainer or TrainerOptions()
        self.task = HmmTask(
            make_layout(shape),
            self.options,
            chosen,
            tokens=tokens,
            valid=held_out,
            start=chain,
            threads=threads,
        )
        identity = {"text": hashlib.sha256(text).hexdigest(), "options": dataclasses.asdict(self.options)}
        identity["start"] = _digest(shape)
        self.trainer = Trainer(
            self.task, chosen, seed=seed, identity=identity, checkpoint=checkpoint, devices=devices
        )

    def _shape(self, text: bytes, tokens: TokenText, clusters: Clusters | None, threads: int) -> HmmShape:
        o = self.options
        if o.sets == "uniform":
            size = o.states_per_word or max(1, o.states // o.clusters)
            if size > o.states:
                raise ModelError(
                    f"found {size} states per word, expected at most {o.states}, the number of states"
                )
            rng = np.random.default_rng([self.seed & 0xFFFFFFFF, self.seed >> 32])
            return uniform_shape(len(self._table), o.states, size, rng)
        used = clusters or Clustering([text], o.clusters, threads=threads).run()
        counts = tokens.counts(len(self._table)).tolist()
        return brown_shape(word_classes(self._table.words(), used.words, used.classes, counts), o.states)

    @property
    def num_epochs(self) -> int:
        """Epochs at most."""
        return self.trainer.options.epochs

    @property
    def num_epochs_done(self) -> int:
        """Epochs done, those before the checkpoint included."""
        return self.trainer.num_epochs_done

    def __iter__(self) -> Iterator[Report]:
        return iter(self.trainer)

    def run(self) -> NeuralTraining:
        """Do all epochs that are left."""
        self.trainer.run()
        return self

    def model(self) -> HMMLanguageModel:
        """Return the best model so far."""
        method = "neural" if self.options.parameterisation == "neural" else "gradient"
        options = dataclasses.asdict(self.options) | dataclasses.asdict(self.trainer.options)
        size = {"sentences": self._tokens.num_sentences, "tokens": len(self._tokens.tokens)}
        about = {"method": method, "seed": self.seed, "options": options, **size}
        return HMMLanguageModel(self._table.words(), [self.task.chain(self.trainer.params)], None, about)


def _digest(shape: HmmShape) -> str:
    """Tell shapes, and chains to start from, apart."""
    names = ["group_begin", "word_group", "set_begin", "members"]
    names += ["initial", "transition", "emission"] if isinstance(shape, SparseHmm) else []
    digest = hashlib.sha256()
    for name in names:
        digest.update(np.ascontiguousarray(getattr(shape, name)).tobytes())
    return digest.hexdigest()
