"""Probabilities of a sparse-emission HMM from parameters: tables, networks, or the sum of both.

A logit is  phi = [table] + [network].  The scalar parameterisation has trained tables alone, the neural one
networks alone; a neural model that starts from a trained chain has the chain's logarithms as a table that
stays as it is and networks that begin silent, so that it starts exactly there.

    full       p(z'|z) = exp phi(z, z') / sum over all states
    factored   p(z'|z) = p(c'|z) p(z'|z, c'),  two softmaxes: over classes, and over the states of one class

The factored form needs k x k logits for each pair of classes that occurs in a batch, and no more; the full
form needs Z x Z for its normaliser. Dropout (paper, section 4.2) enters here: ``state`` keeps n slots of each
set, and everything is computed for these alone; ``unstructured`` masks pairs (z, z').
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from hiddenite.hmmlm.neural.layout import LEAST, Layout
from hiddenite.hmmlm.neural.networks import Array, Params, init_residual, normal, residual
from hiddenite.hmmlm.neural.options import ModelOptions

NEVER = -1e30  # a logit of probability zero whose gradient is zero, not NaN
DROPPED = -30.0  # added to a dropped pair's logit: no text becomes impossible, e.g. where </s> has one state


def init_parameters(
    rng: np.random.Generator, layout: Layout, options: ModelOptions, start: Params | None = None
) -> Params:
    """Draw parameters; with the tables of a trained chain, begin at the chain."""
    if options.parameterisation == "scalar":
        return start if start is not None else _random_tables(rng, layout, options)
    silent = start is not None
    width, layers, z = options.width, options.layers, layout.num_states
    params: Params = {
        "source": normal(rng, z, width),
        "word": normal(rng, layout.num_words, width),
    }
    params["word_bias"] = jnp.zeros(layout.num_words)
    if options.tying == "none":
        params["emitter"] = normal(rng, z, width)
    if options.tying != "all":
        params["target"] = normal(rng, z, width)
    params["target_bias"] = jnp.zeros(z)
    params["transition_net"] = init_residual(rng, width, layers, silent=silent)
    params["emission_net"] = init_residual(rng, width, layers, silent=silent)
    if options.transitions == "factored":
        params["class"] = normal(rng, layout.num_sets, width)
        params["class_bias"] = jnp.zeros(layout.num_sets)
        params["class_net"] = init_residual(rng, width, layers, silent=silent)
    return params


def _random_tables(rng: np.random.Generator, layout: Layout, options: ModelOptions) -> Params:
    s, k, z, v = layout.num_sets, layout.set_size, layout.num_states, layout.num_words
    params: Params = {"emission": normal(rng, *((v, k) if layout.partitioned else (z, v)), scale=1.0)}
    size = (s, s, k, k) if layout.partitioned else (z, z)
    params["transition"] = normal(rng, *size, scale=1.0)
    if options.transitions == "factored":
        params["class"] = normal(rng, z, s, scale=0.1)
    return params


def tables_of_chain(
    layout: Layout, options: ModelOptions, transition: NDArray[np.float32], emission: NDArray[np.float32]
) -> Params:
    """Return ln p of a chain as tables in this module's order."""
    s, k, z = layout.num_sets, layout.set_size, layout.num_states
    result: Params = {"emission": jnp.asarray(emission)}
    if not layout.partitioned:
        dense = np.full((z, layout.num_words), math.log(LEAST), dtype=np.float32)
        words = np.arange(layout.num_words)
        for j in range(k):
            use = layout.valid[:, j] & layout.emitted
            dense[layout.sets[use, j], words[use]] = emission[use, j]
        return {"emission": jnp.asarray(dense), "transition": jnp.asarray(transition)}
    blocks = transition.reshape(s, k, s, k)
    result["transition"] = jnp.asarray(np.ascontiguousarray(blocks.transpose(0, 2, 1, 3)))
    if options.transitions == "factored":
        with np.errstate(divide="ignore"):
            result["class"] = jnp.asarray(np.logaddexp.reduce(blocks, axis=3).reshape(z, s))
    return result


@dataclass(frozen=True)
class Kept:
    """What dropout has left: n slots of each set, and a key for the mask of pairs."""

    slots: Array | None  # [S, n]: places in their set; None: all
    states: Array  # [S, n]
    valid: Array  # [S, n]
    key: Array | None  # of unstructured dropout


class Hmm:
    """Log probabilities as functions of parameters; holds the layout's tables, and no state."""

    def __init__(self, layout: Layout, options: ModelOptions, offset: Params | None = None) -> None:
        """``offset``: the tables of a trained chain, for a neural model that starts there."""
        self.layout, self.options = layout, options
        self.offset = offset
        self._rows = jax.jit(self._rows_of_set)  # compiled once for all exports
        self._all_emissions = jax.jit(self._emissions_of_all)
        if not layout.partitioned:
            member = np.zeros((layout.num_states, layout.num_words), dtype=bool)
            words = np.arange(layout.num_words)
            for j in range(layout.set_size):
                use = layout.valid[:, j] & layout.emitted
                member[layout.sets[use, j], words[use]] = True
            self._member = member

    def with_offset(self, offset: Params | None) -> Hmm:
        """Return the same model beside other tables, e.g. traced ones."""
        result = copy.copy(self)
        result.offset = offset
        return result

    # ----------------------------------------------------------------- dropout

    def keep(self, key: Array | None) -> Kept:
        """Draw what a training step leaves; without a key, leave all."""
        sets, valid = jnp.asarray(self.layout.sets), jnp.asarray(self.layout.valid)
        if key is None or self.options.dropout == "none" or self.options.dropout_rate == 0:
            return Kept(None, sets, valid, None)
        if self.options.dropout == "unstructured":
            return Kept(None, sets, valid, key)
        n = max(1, round(self.layout.set_size * (1 - self.options.dropout_rate)))
        # Padding comes last in its set, so that </s> keeps its state.
        order = jnp.where(valid, jax.random.uniform(key, valid.shape), 2.0)
        slots = jnp.argsort(order, axis=1)[:, :n]
        return Kept(slots, jnp.take_along_axis(sets, slots, 1), jnp.take_along_axis(valid, slots, 1), None)

    def _mask(self, kept: Kept, source: Array, target: Array) -> Array | None:
        """Unstructured dropout: the mask [..., k, k] of blocks, a function of the two sets."""
        if kept.key is None:
            return None
        k, key, s = self.layout.set_size, kept.key, self.layout.num_sets

        def draw(a: Array, b: Array) -> Array:
            block = jax.random.fold_in(key, a * s + b)
            return jax.random.bernoulli(block, 1 - self.options.dropout_rate, (k, k))

        return jax.vmap(draw)(source, target)

    # ------------------------------------------------------------- transitions

    def _tables(self, params: Params) -> Params | None:
        return params if self.options.parameterisation == "scalar" else self.offset

    def vectors(self, params: Params, kept: Kept) -> tuple[Array, Array, Array, Array] | None:
        """Return sources [S, n, H], targets [S, n, H], their bias [S, n], and the sources' own vectors."""
        if self.options.parameterisation == "scalar":
            return None
        plain = params["source"][kept.states]
        target = params["target" if "target" in params else "source"][kept.states]
        return residual(params["transition_net"], plain), target, params["target_bias"][kept.states], plain

    @staticmethod
    def _select(kept: Kept, table: Array, source: Array, target: Array) -> Array:
        """Restrict blocks [P, k, k] to the kept slots; 0/1 matrices spare scattered gradients."""
        if kept.slots is None:
            return table
        choose = jax.nn.one_hot(kept.slots, table.shape[-1], dtype=table.dtype)
        return jnp.einsum("pnk,pkl,pml->pnm", choose[source], table, choose[target])

    def block_logits(self, params: Params, kept: Kept, vectors: Any, source: Array, target: Array) -> Array:
        """Phi of the pairs of sets (source, target), [P, n, n]; padding at NEVER, dropped pairs lowered."""
        tables, logits = self._tables(params), jnp.zeros(())
        if tables is not None:
            logits = self._select(kept, tables["transition"][source, target], source, target)
        if vectors is not None:
            h, e, bias, _ = vectors
            logits = logits + jnp.einsum("pih,pjh->pij", h[source], e[target]) + bias[target][:, None, :]
        if (mask := self._mask(kept, source, target)) is not None:
            logits = jnp.where(mask, logits, logits + DROPPED)
        return jnp.where(kept.valid[target][:, None, :], logits, NEVER)

    def class_log_probs(self, params: Params, kept: Kept, vectors: Any) -> Array:
        """ln p(c' | z), [S, n, S]."""
        tables, logits = self._tables(params), jnp.zeros(())
        if tables is not None:
            logits = tables["class"][kept.states]
        if vectors is not None:
            h = residual(params["class_net"], vectors[3])
            logits = logits + h @ params["class"].T + params["class_bias"]
        return jax.nn.log_softmax(logits, axis=-1)

    def _row_normaliser(self, params: Params, kept: Kept, vectors: Any) -> Array:
        """Ln of the sum over all states of exp phi, [S, n]: one set of sources at a time, recomputed for the
        gradient, so that Z x Z logits never exist at once.
        """
        targets = jnp.arange(self.layout.num_sets)

        @jax.checkpoint
        def of_set(s: Array) -> Array:
            logits = self.block_logits(params, kept, vectors, jnp.full_like(targets, s), targets)
            return jax.nn.logsumexp(logits, axis=(0, 2))

        return jnp.asarray(jax.lax.map(of_set, targets))

    def blocks(self, params: Params, kept: Kept, pairs: Array) -> Array:
        """ln p(z' | z) between the sets of each pair [P, 2]: [P, n, n]."""
        if not self.layout.partitioned:
            matrix = self.dense_log_transition(params, kept.key)
            rows, columns = kept.states[pairs[:, 0]], kept.states[pairs[:, 1]]
            valid = kept.valid[pairs[:, 1]][:, None, :]
            return jnp.where(valid, matrix[rows[:, :, None], columns[:, None, :]], NEVER)
        source, target = pairs[:, 0], pairs[:, 1]
        vectors = self.vectors(params, kept)
        logits = self.block_logits(params, kept, vectors, source, target)
        if self.options.transitions == "full":
            return logits - self._row_normaliser(params, kept, vectors)[source][:, :, None]
        of_class = self.class_log_probs(params, kept, vectors)[source, :, target]
        return jax.nn.log_softmax(logits, axis=-1) + of_class[:, :, None]

    def dense_log_transition(self, params: Params, key: Array | None = None) -> Array:
        """ln p(z' | z) under uniform sets, [Z, Z]."""
        tables, logits = self._tables(params), jnp.zeros(())
        if tables is not None:
            logits = tables["transition"]
        if self.options.parameterisation == "neural":
            target = params["target" if "target" in params else "source"]
            h = residual(params["transition_net"], params["source"])
            logits = logits + h @ target.T + params["target_bias"]
        if key is not None:
            kept = jax.random.bernoulli(key, 1 - self.options.dropout_rate, logits.shape)
            logits = jnp.where(kept, logits, logits + DROPPED)
        return jax.nn.log_softmax(logits, axis=-1)

    # --------------------------------------------------------------- emissions

    def emissions(self, params: Params, kept: Kept, words: Array) -> Array:
        """ln p(word | z) for the kept slots of each word's set: words.shape + [n]."""
        of_word = jnp.asarray(self.layout.set_of_word)[words]
        if not self.layout.partitioned:
            table = self._dense_emission(params)
            return jnp.where(kept.valid[of_word], table[kept.states[of_word], words[..., None]], NEVER)
        flat = self._chunk_emissions(params, kept)
        rows = flat.reshape(-1, flat.shape[-1])[jnp.asarray(self.layout.place_of_word)[words]]
        return jnp.where(kept.valid[of_word], rows, NEVER)

    def _emitters(self, params: Params, states: Array | slice) -> Array:
        return residual(
            params["emission_net"], params["emitter" if "emitter" in params else "source"][states]
        )

    def _chunk_emissions(self, params: Params, kept: Kept) -> Array:
        """ln p(word | z) of all chunks of words, [Q, CHUNK, n]; a class' sum runs over its chunks."""
        words, owner = jnp.asarray(self.layout.chunk_words), jnp.asarray(self.layout.chunk_set)
        tables, logits = self._tables(params), jnp.zeros(())
        if tables is not None:
            logits = tables["emission"][words]
            if kept.slots is not None:
                choose = jax.nn.one_hot(kept.slots, logits.shape[-1], dtype=logits.dtype)
                logits = jnp.einsum("qwk,qnk->qwn", logits, choose[owner])
        if self.options.parameterisation == "neural":
            h = self._emitters(params, kept.states)[owner]
            logits = logits + jnp.einsum("qwh,qnh->qwn", params["word"][words], h)
            logits = logits + params["word_bias"][words][..., None]
        logits = jnp.where((words >= 0)[..., None], logits, NEVER)
        s = self.layout.num_sets
        most = jax.ops.segment_max(jax.lax.stop_gradient(logits).max(axis=1), owner, s)
        sums = jax.ops.segment_sum(jnp.exp(logits - most[owner][:, None]).sum(axis=1), owner, s)
        return logits - (most + jnp.log(sums))[owner][:, None]

    def _dense_emission(self, params: Params) -> Array:
        """ln p(word | z) under uniform sets, [Z, V]."""
        tables, logits = self._tables(params), jnp.zeros(())
        if tables is not None:
            logits = tables["emission"]
        if self.options.parameterisation == "neural":
            logits = logits + self._emitters(params, slice(None)) @ params["word"].T + params["word_bias"]
        return jax.nn.log_softmax(jnp.where(jnp.asarray(self._member), logits, NEVER), axis=-1)

    # ------------------------------------------------------------------ export

    def probabilities(self, params: Params) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """p(z' | z), [Z, Z], and p(word | slot), [V, k], without dropout: what a chain is made of."""
        words = jnp.arange(self.layout.num_words)
        emission = np.exp(np.asarray(self._all_emissions(params, self.offset, words), dtype=np.float64))
        if not self.layout.partitioned:
            return np.exp(np.asarray(self.dense_log_transition(params), dtype=np.float32)), emission
        s, k = self.layout.num_sets, self.layout.set_size
        result = np.empty((s, k, s * k), dtype=np.float32)
        for source in range(s):
            rows = self._rows(params, self.offset, jnp.int32(source))
            result[source] = np.exp(np.asarray(rows))
        return result.reshape(s * k, s * k), emission

    def _rows_of_set(self, params: Params, offset: Params | None, source: Array) -> Array:
        """ln p(z' | z) for all states z of a set, [k, S k]."""
        model, kept = self.with_offset(offset), self.keep(None)
        targets = jnp.arange(self.layout.num_sets)
        vectors = model.vectors(params, kept)
        logits = model.block_logits(params, kept, vectors, jnp.full_like(targets, source), targets)
        if self.options.transitions == "full":
            logits = logits - jax.nn.logsumexp(logits, axis=(0, 2))[None, :, None]
        else:
            of_class = model.class_log_probs(params, kept, vectors)[source]
            logits = jax.nn.log_softmax(logits, axis=-1) + of_class.T[:, :, None]
        return logits.transpose(1, 0, 2).reshape(self.layout.set_size, -1)

    def _emissions_of_all(self, params: Params, offset: Params | None, words: Array) -> Array:
        return self.with_offset(offset).emissions(params, self.keep(None), words)


jax.tree_util.register_dataclass(Kept, ["slots", "states", "valid", "key"], [])
