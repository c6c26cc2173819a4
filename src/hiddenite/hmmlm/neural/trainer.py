"""AdamW over mini-batches as an iterator: one report an epoch, checkpoints in between.

Whatever is trained is a :class:`Task`: it draws parameters, makes batches, and has a loss. The trainer knows
nothing else of it, so that hidden Markov models and the networks they are compared with are optimised alike.

A step's randomness comes from the seed and the step's number, an epoch's order from the seed and the epoch:
the parameters, the optimiser's moments and what the task carries over are all there is to keep, and a
training that continues from a checkpoint ends with the same bits. A loss that is no number ends the training
before it touches the parameters; the state before that step is what the checkpoint then holds.

With several devices the rows of a batch are spread over them and the parameters are on each: XLA adds up the
gradients. The numbers do not depend on it beyond rounding.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from hiddenite.errors import ModelError
from hiddenite.hmmlm.neural.batches import Batch
from hiddenite.hmmlm.neural.checkpoints import load_checkpoint, save_checkpoint
from hiddenite.hmmlm.neural.networks import Array, Params
from hiddenite.hmmlm.neural.options import TrainerOptions

_SPREAD: Any = PartitionSpec("rows")  # type: ignore[no-untyped-call]
_ON_EACH: Any = PartitionSpec()  # type: ignore[no-untyped-call]
_PARAMETERS, _ORDER = 0, 1  # what random numbers are for
_MAY_CHANGE = ("rate", "clip", "checkpoint_steps")  # between a checkpoint and the run that continues from it


class Task(Protocol):
    """What can be trained."""

    def init(self, rng: np.random.Generator) -> Params:
        """Draw parameters."""

    def constants(self) -> Any:
        """Return arrays that the loss needs and nobody trains."""

    def batches(self, rng: np.random.Generator) -> Sequence[Any]:
        """Return the batches of an epoch."""

    def prepare(self, batch: Any) -> Any:
        """Return what the loss takes; may look at the batch on the host."""

    def rows(self, prepared: Any) -> Batch:
        """Return the part of it whose first axis is rows."""

    def carry(self, prepared: Any) -> Any:
        """Return what is carried into the first segment of a text."""

    def loss(
        self, params: Params, constants: Any, prepared: Any, key: Array | None, carry: Any
    ) -> tuple[Array, Any]:
        """Return minus the sum of ln p, and what is carried over."""

    def perplexity(self, params: Params) -> float | None:
        """Return that of the validation text, if there is one."""


@dataclass(frozen=True, slots=True)
class Report:
    """One epoch, done."""

    number: int  # from 1
    total: int
    step: int
    log_prob: float  # ln p per token of the training text, as each batch was met
    valid_perplexity: float | None
    is_best: bool


@dataclass
class _State:
    """All that a training needs to continue."""

    params: Params
    best: Params
    moments: Any
    carry: Any
    step: int = 0
    epoch: int = 0
    position: int = 0  # in the epoch
    log_prob: float = 0.0  # of the epoch so far
    tokens: int = 0
    best_perplexity: float = math.inf
    bad_epochs: int = 0


_ARRAYS = ("params", "best", "moments", "carry")


class Trainer:
    """Optimises a task; iterate to run it."""

    def __init__(
        self,
        task: Task,
        options: TrainerOptions,
        *,
        seed: int,
        identity: dict[str, Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        devices: Sequence[Any] | None = None,
    ) -> None:
        """Draw parameters, or continue from ``checkpoint`` if that file exists."""
        self.task, self.options, self.seed = task, options, seed
        self._checkpoint = checkpoint
        self._key = jax.random.key(np.uint32(seed & 0xFFFFFFFF))
        self._mesh = Mesh(np.array(devices if devices is not None else jax.devices()), ("rows",))
        kept = {k: v for k, v in dataclasses.asdict(options).items() if k not in _MAY_CHANGE}
        self._identity = {"seed": seed, "trainer": kept} | (identity or {})
        epoch = self._epoch_batches(0)
        self._optimiser = self._make_optimiser(len(epoch))
        self._constants = self._replicated(task.constants())
        self._step = jax.jit(self._update)
        params = self._replicated(task.init(self._rng(_PARAMETERS)))
        first = self._replicated(task.carry(task.prepare(epoch[0])))
        # Placed like what a step returns: the second step then needs no compilation of its own.
        moments = self._replicated(jax.jit(self._optimiser.init)(params))
        self._state = _State(params, params, moments, first)
        if checkpoint is not None and Path(checkpoint).exists():
            self._restore(checkpoint)

    # ---------------------------------------------------------------- optimise

    def _make_optimiser(self, steps: int) -> optax.GradientTransformation:
        o = self.options
        warm = optax.linear_schedule(0.0, o.rate, max(1, o.warmup))
        later: Any = optax.constant_schedule(o.rate)
        if o.schedule == "cosine":
            later = optax.cosine_decay_schedule(o.rate, max(1, o.epochs * steps - o.warmup), alpha=0.01)
        schedule = optax.join_schedules([warm, later], [o.warmup]) if o.warmup else later
        return optax.chain(
            optax.clip_by_global_norm(o.clip), optax.adamw(schedule, weight_decay=o.weight_decay)
        )

    def _update(
        self, params: Params, moments: Any, carry: Any, constants: Any, batch_and_key: tuple[Any, Array]
    ) -> Any:
        """One step: the loss, whether all is finite, and what comes after."""
        prepared, key = batch_and_key
        tokens = jnp.maximum(self.task.rows(prepared).mask.sum(), 1)

        def mean_loss(p: Params) -> tuple[Array, Any]:
            total, after = self.task.loss(p, constants, prepared, key, carry)
            return total / tokens, (total, after)

        (_, (total, after)), gradient = jax.value_and_grad(mean_loss, has_aux=True)(params)
        updates, moments = self._optimiser.update(gradient, moments, params)
        finite = [jnp.isfinite(leaf).all() for leaf in jax.tree.leaves((total, gradient))]
        fine = jnp.stack(finite).all()
        return optax.apply_updates(params, updates), moments, after, total, tokens, fine

    def _epoch_batches(self, epoch: int) -> Sequence[Any]:
        return self.task.batches(self._rng(_ORDER, epoch))

    def _rng(self, *purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed & 0xFFFFFFFF, self.seed >> 32, *purpose])

    # ----------------------------------------------------------------- devices

    def _replicated(self, tree: Any) -> Any:
        return jax.device_put(tree, NamedSharding(self._mesh, _ON_EACH))

    def place(self, prepared: Any) -> Any:
        """Spread the rows over the devices if they divide them; put the rest on each."""
        batch = self.task.rows(prepared)
        rows, devices = batch.words.shape[0], self._mesh.devices.size

        def put(leaf: Any) -> Any:
            divided = leaf.ndim > 0 and leaf.shape[0] == rows and rows % devices == 0 and devices > 1
            return jax.device_put(leaf, NamedSharding(self._mesh, _SPREAD if divided else _ON_EACH))

        return jax.tree.map(put, prepared)

    # --------------------------------------------------------------------- run

    @property
    def num_epochs_done(self) -> int:
        """Epochs done, those before the checkpoint included."""
        return self._state.epoch

    @property
    def num_steps_done(self) -> int:
        """Steps done, those before the checkpoint included."""
        return self._state.step

    @property
    def is_done(self) -> bool:
        """Whether all epochs are done or the valid perplexity has not fallen for long."""
        s = self._state
        return s.epoch >= self.options.epochs or s.bad_epochs >= self.options.patience

    def __iter__(self) -> Iterator[Report]:
        while not self.is_done:
            for _ in self.steps():
                pass
            yield self.end_epoch()

    def steps(self) -> Iterator[float]:
        """Run to the end of the epoch; yields ln p per token of each batch."""
        state, epoch = self._state, self._epoch_batches(self._state.epoch)
        if state.step == 0:  # a start that nothing improves on is kept
            start = self.task.perplexity(state.params)
            state.best_perplexity = math.inf if start is None or math.isnan(start) else start
        while state.position < len(epoch):
            prepared = self.place(self.task.prepare(epoch[state.position]))
            key = jax.random.fold_in(self._key, state.step + 1)
            params, moments, carry, total, tokens, fine = self._step(
                state.params, state.moments, state.carry, self._constants, (prepared, key)
            )
            if not bool(fine):
                self._stop(float(total))
            state.params, state.moments, state.carry = params, moments, carry
            state.step += 1
            state.position += 1
            state.log_prob -= float(total)
            state.tokens += int(tokens)
            if self._checkpoint is not None and state.step % self.options.checkpoint_steps == 0:
                self._save(self._checkpoint)
            yield -float(total) / int(tokens)

    def _stop(self, loss: float) -> None:
        step = self._state.step + 1
        advice = "lower the learning rate"
        if self._checkpoint is not None:
            self._save(self._checkpoint)
            advice = f"the state before it is in {os.fspath(self._checkpoint)}; continue with a lower rate"
        what = "loss" if not math.isfinite(loss) else "gradient"
        raise ModelError(f"the {what} is not a finite number at step {step}; {advice}")

    def end_epoch(self) -> Report:
        """Validate, keep the parameters if they are the best so far, and go on to the next epoch."""
        s = self._state
        perplexity = self.task.perplexity(s.params)
        better = perplexity is None or perplexity < s.best_perplexity
        if better:
            s.best, s.bad_epochs = s.params, 0
            s.best_perplexity = math.inf if perplexity is None else perplexity
        else:
            s.bad_epochs += 1
        log_prob = s.log_prob / max(1, s.tokens)
        s.epoch, s.position, s.log_prob, s.tokens = s.epoch + 1, 0, 0.0, 0
        if self._checkpoint is not None:
            self._save(self._checkpoint)
        return Report(s.epoch, self.options.epochs, s.step, log_prob, perplexity, better)

    def run(self) -> Trainer:
        """Do all epochs that are left."""
        for _ in self:
            pass
        return self

    @property
    def params(self) -> Params:
        """The parameters with the least valid perplexity, or the last ones without a validation text."""
        return self._state.best if self._state.epoch else self._state.params

    # ------------------------------------------------------------- checkpoints

    def _save(self, path: str | os.PathLike[str]) -> None:
        fields = {f.name: getattr(self._state, f.name) for f in dataclasses.fields(_State)}
        progress = {name: value for name, value in fields.items() if name not in _ARRAYS}
        save_checkpoint(path, self._identity, progress, [fields[name] for name in _ARRAYS])

    def _restore(self, path: str | os.PathLike[str]) -> None:
        like = [getattr(self._state, name) for name in _ARRAYS]
        progress, arrays = load_checkpoint(path, self._identity, like)
        placed = self._replicated(arrays)
        self._state = _State(**dict(zip(_ARRAYS, placed, strict=True)), **progress)
