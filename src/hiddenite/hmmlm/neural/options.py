"""What a gradient training can be told: the model's form, and how it is optimised."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hiddenite.errors import ModelError

PARAMETERISATIONS = ("scalar", "neural")
TRANSITIONS = ("factored", "full")
DROPOUTS = ("none", "state", "unstructured")
TYINGS = ("none", "emission", "all")
BATCHINGS = ("sentences", "document")
SCHEDULES = ("cosine", "constant")


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ModelError(f"found the {name} '{value}', expected {', '.join(allowed)}")


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The form of the model (Chiu & Rush 2020, section 4)."""

    states: int = 1024  # the end of the sentence has one more
    clusters: int = 32
    sets: str = "brown"  # or uniform
    states_per_word: int | None = None  # of a uniform set; None: states / clusters
    parameterisation: str = "neural"
    transitions: str = "factored"  # p(c'|z) p(z'|z,c'), or full: one softmax over all states
    dropout: str = "none"  # state: of each partition; unstructured: of pairs of states
    dropout_rate: float = 0.5
    tying: str = "none"  # emission: source and emitting states share vectors; all: targets too
    width: int = 128  # of vectors and networks
    layers: int = 2  # residual layers of a network

    def __post_init__(self) -> None:
        _one_of("sets", self.sets, ("brown", "uniform"))
        _one_of("parameterisation", self.parameterisation, PARAMETERISATIONS)
        _one_of("transitions", self.transitions, TRANSITIONS)
        _one_of("dropout", self.dropout, DROPOUTS)
        _one_of("tying", self.tying, TYINGS)
        if not 0 <= self.dropout_rate < 1:
            raise ModelError(f"the dropout rate is {self.dropout_rate}, expected 0 up to, not including, 1")
        for name in ("states", "clusters", "width", "layers"):
            if getattr(self, name) < 1:
                raise ModelError(f"{name} is {getattr(self, name)}, expected at least 1")
        if self.sets == "uniform" and self.transitions == "factored":
            raise ModelError("uniform sets have no classes to factor over; expected full transitions")
        if self.sets == "uniform" and self.dropout == "state":
            raise ModelError("state dropout needs partitions, expected brown sets (paper, section 4.2)")


@dataclass(frozen=True, slots=True)
class TrainerOptions:
    """AdamW over mini-batches."""

    epochs: int = 8
    batch_tokens: int = 512  # of one step, padding included
    batching: str = "sentences"  # shuffled; or document: in order, the state carried over
    segment: int = 32  # words of a document's piece; gradients end at its borders
    rate: float = 3e-3
    schedule: str = "cosine"  # to zero at the last step, or constant
    warmup: int = 50  # steps
    weight_decay: float = 0.01
    clip: float = 5.0  # of the gradient's norm
    patience: int = 3  # epochs without a better valid perplexity
    checkpoint_steps: int = 500  # between two checkpoints, besides those at the ends of epochs

    def __post_init__(self) -> None:
        _one_of("batching", self.batching, BATCHINGS)
        _one_of("schedule", self.schedule, SCHEDULES)
        for name in ("epochs", "batch_tokens", "segment", "patience", "checkpoint_steps"):
            if getattr(self, name) < 1:
                raise ModelError(f"{name} is {getattr(self, name)}, expected at least 1")
        for name in ("rate", "clip"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise ModelError(f"{name} is {getattr(self, name)}, expected a number above 0")
        for name in ("weight_decay", "warmup"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) >= 0):
                raise ModelError(f"{name} is {getattr(self, name)}, expected a number from 0 up")
