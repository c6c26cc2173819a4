"""The options of gradient training: the model's form, and how it is optimised."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hiddenite.errors import OptionError
from hiddenite.options import Options, option

PARAMETERISATIONS = ("scalar", "neural")
TRANSITIONS = ("factored", "full")
DROPOUTS = ("none", "state", "unstructured")
TYINGS = ("none", "emission", "all")
BATCHINGS = ("sentences", "document")
SCHEDULES = ("cosine", "constant")


@dataclass(frozen=True)
class ModelOptions(Options):
    """The form of the model (Chiu & Rush 2020, section 4)."""

    states: int = option(1024, "States; </s> has one more.", least=1)
    clusters: int = option(32, "Classes of words.", least=1)
    sets: str = option("brown", "States of a word: of its class, or random.", choices=("brown", "uniform"))
    states_per_word: int | None = option(
        None, "Of a random set; states / clusters if not given.", least=1, when={"sets": ("uniform",)}
    )
    parameterisation: str = option(
        "neural", "One number a probability, or networks.", choices=PARAMETERISATIONS
    )
    transitions: str = option("factored", "p(c'|z) p(z'|z,c'), or one softmax over all.", choices=TRANSITIONS)
    dropout: str = option("none", "Of states of each partition, or of pairs of states.", choices=DROPOUTS)
    dropout_rate: float = option(
        0.5, "Share that is dropped.", least=0, most=1 - 1e-9, when={"dropout": DROPOUTS[1:]}
    )
    tying: str = option("none", "Which vectors are shared.", choices=TYINGS)
    width: int = option(128, "Of vectors and networks.", least=1)
    layers: int = option(2, "Residual layers of a network.", least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sets == "uniform" and self.transitions == "factored":
            raise OptionError("transitions", "is factored, but uniform sets have no classes; use full")
        if self.sets == "uniform" and self.dropout == "state":
            raise OptionError("dropout", "is state, which needs the sets brown (paper, section 4.2)")


@dataclass(frozen=True)
class TrainerOptions(Options):
    """AdamW over mini-batches."""

    epochs: int = option(8, "Passes over the text.", least=1)
    batch_tokens: int = option(512, "Words of a step, padding included.", least=1)
    batching: str = option("sentences", "Shuffled sentences, or the document in order.", choices=BATCHINGS)
    segment: int = option(32, "Words of a document's piece; gradients end at its borders.", least=1)
    rate: float = option(3e-3, "Learning rate.", least=0)
    schedule: str = option("cosine", "To zero at the last step, or constant.", choices=SCHEDULES)
    warmup: int = option(50, "Steps.", least=0)
    weight_decay: float = option(0.01, "Of the weights.", least=0)
    clip: float = option(5.0, "Of the gradient's norm.", least=0)
    patience: int = option(3, "Epochs without a better valid perplexity.", least=1)
    checkpoint_steps: int = option(
        500, "Between two checkpoints, besides those at the ends of epochs.", least=1
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("rate", "clip"):
            if not 0 < getattr(self, name) < math.inf:
                raise OptionError(name, f"is {getattr(self, name):g}, expected a number above 0")
