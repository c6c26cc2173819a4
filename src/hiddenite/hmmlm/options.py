"""What the training of a hidden Markov language model can be told.

Pseudo-counts are explained in ``cpp/hiddenite/chain_counts.hpp``. Training wants states that are smoothed
towards their class; once it has ended, much weight goes to p(class | class) and little to the states' own.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any

from hiddenite._core import EmOptions as CoreEmOptions
from hiddenite._core import Smoothing as CoreSmoothing
from hiddenite.errors import ModelError

SETS = ("brown", "uniform")
MAX_STATES = 1 << 17
MAX_SEED = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Smoothing:
    """Pseudo-counts; zero is maximum likelihood."""

    cluster: float = 8.0  # of p(class' | class) in p(class' | state)
    state: float = 8.0  # of p(state' | class, class') in p(state' | state, class')
    group: float = 8.0  # of p(state' | class') in p(state' | class, class')
    emission: float = 8.0  # of p(word | class) in p(word | state)

    def __post_init__(self) -> None:
        for name, value in dataclasses.asdict(self).items():
            if not (math.isfinite(value) and value >= 0):
                raise ModelError(f"the smoothing of {name} is {value}, expected a number from 0 up")

    def core(self) -> CoreSmoothing:
        """Return the core's record."""
        result = CoreSmoothing()
        for name, value in dataclasses.asdict(self).items():
            setattr(result, name, value)
        return result


AFTERWARDS = Smoothing(cluster=64.0, state=1.0, group=1024.0, emission=4.0)


@dataclass(frozen=True, slots=True)
class HMMOptions:
    """How a model is trained."""

    states: int = 4096  # the end of the sentence has one more
    clusters: int = 128  # classes of words; those of a class share states
    sets: str = "brown"  # or uniform: each word has a random subset of the states
    states_per_word: int | None = None  # of a uniform subset; None: states / clusters
    epochs: int = 24
    folds: int = 6
    cross_validated: bool = True
    noise: float = 1.0  # of the start
    members: int = 1  # of a mixture; each has so many states
    rounds: int = 0  # of log-bilinear transitions fitted to the counts after the last epoch; 0: none
    training: Smoothing = field(default_factory=Smoothing)
    afterwards: Smoothing | None = None  # None: chosen on the validation text, or AFTERWARDS without one

    def __post_init__(self) -> None:
        if not 1 <= self.states <= MAX_STATES:
            raise ModelError(f"found {self.states} states, expected 1 to {MAX_STATES}")
        if self.sets not in SETS:
            raise ModelError(f"found the sets '{self.sets}', expected {' or '.join(SETS)}")
        for name in ("clusters", "epochs", "folds", "members"):
            if getattr(self, name) < 1:
                raise ModelError(f"{name} is {getattr(self, name)}, expected at least 1")
        if self.sets == "brown" and self.clusters > self.states:
            raise ModelError(
                f"found {self.clusters} clusters and {self.states} states, expected a state for each cluster"
            )
        if self.states_per_word is not None and not 1 <= self.states_per_word <= self.states:
            raise ModelError(
                f"found {self.states_per_word} states per word, expected 1 to {self.states}, all there are"
            )
        if self.rounds < 0:
            raise ModelError(f"found {self.rounds} rounds, expected 0 or more")
        if self.cross_validated and self.folds < 2:
            raise ModelError("cross-validation needs two folds or more")
        if not (math.isfinite(self.noise) and self.noise >= 0):
            raise ModelError(f"the noise is {self.noise}, expected a number from 0 up")

    @property
    def set_size(self) -> int:
        """States of a word under uniform sets."""
        return self.states_per_word or max(1, self.states // self.clusters)

    def core(self) -> CoreEmOptions:
        """Return the core's record."""
        result = CoreEmOptions()
        result.folds, result.cross_validated, result.noise = self.folds, self.cross_validated, self.noise
        result.smoothing = self.training.core()
        return result

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> HMMOptions:
        """Read what ``dataclasses.asdict`` gave; raises ValueError for anything else."""
        names = {f.name for f in dataclasses.fields(cls)}
        if set(fields) != names:
            raise ValueError("holds other options than expected")
        after = fields["afterwards"]
        changed = {
            "training": Smoothing(**fields["training"]),
            "afterwards": None if after is None else Smoothing(**after),
        }
        return cls(**(fields | changed))
