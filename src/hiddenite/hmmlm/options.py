"""The options of training a hidden Markov language model.

Pseudo-counts are explained in ``cpp/hiddenite/chain_counts.hpp``. Training wants states that are smoothed
towards their class; once it has ended, much weight goes to p(class | class) and little to the states' own.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from dataclasses import dataclass, field
from typing import Any

from hiddenite._core import EmOptions as CoreEmOptions
from hiddenite._core import Smoothing as CoreSmoothing
from hiddenite.errors import HiddeniteWarning, ModelError, OptionError
from hiddenite.options import Options, join_names, option

SETS = ("brown", "uniform")
PRESETS = ("fast", "default", "best")
EM_PRESETS: dict[str, dict[str, int]] = {  # what differs from the fields' own defaults
    "single": {},
    "mixture": {"states": 6144, "epochs": 12, "members": 3, "rounds": 2},
    "best": {"states": 6144, "epochs": 12, "members": 8, "rounds": 2},
}
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


@dataclass(frozen=True)
class HMMOptions(Options):
    """How a model is trained."""

    states: int = option(4096, "States; </s> has one more.", least=1, most=MAX_STATES)
    clusters: int = option(128, "Classes of words; those of a class share states.", least=1)
    sets: str = option("brown", "States of a word: of its class, or random.", choices=SETS)
    states_per_word: int | None = option(
        None, "Of a random set; states / clusters if not given.", least=1, when={"sets": ("uniform",)}
    )
    epochs: int = option(24, "Passes over the text.", least=1)
    folds: int = option(6, "Parts of the text, each left out in turn.", least=1)
    cross_validated: bool = option(True, "Leave the folds out in turn.")
    noise: float = option(1.0, "Of the start.", least=0, most=1e9)
    members: int = option(1, "Members of a mixture; each has so many states.", least=1)
    rounds: int = option(0, "Rounds of log-bilinear transitions after the last epoch.", least=0)
    training: Smoothing = field(default_factory=Smoothing)
    afterwards: Smoothing | None = None  # None: chosen on the validation text, or AFTERWARDS without one

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sets == "brown" and self.clusters > self.states:
            raise OptionError(
                "clusters",
                f"is {self.clusters}, expected at most the {self.states} states: one for each cluster",
            )
        if self.states_per_word is not None and self.states_per_word > self.states:
            raise OptionError(
                "states_per_word", f"is {self.states_per_word}, expected at most all {self.states} states"
            )
        if self.cross_validated and self.folds < 2:
            raise OptionError("folds", "is 1, expected at least 2 for cross-validation")

    @classmethod
    def of_preset(cls, preset: str = "single", **given: Any) -> HMMOptions:
        """Return the options of a preset, but for those that are given and not None."""
        if preset not in EM_PRESETS:
            raise OptionError("preset", f"is '{preset}', expected {join_names(list(EM_PRESETS))}")
        return cls(**EM_PRESETS[preset] | {name: value for name, value in given.items() if value is not None})

    @property
    def set_size(self) -> int:
        """States of a word under uniform sets."""
        return self.states_per_word or max(1, self.states // self.clusters)

    def reduced(self, tokens: int) -> HMMOptions:
        """Take no more states than a text has tokens, since others would never be met; says so."""
        if self.states <= tokens:
            return self
        note = f"the text has {tokens:,} tokens, so the model gets {tokens:,} states"
        warnings.warn(note, HiddeniteWarning, stacklevel=4)
        per_word = None if self.states_per_word is None else min(self.states_per_word, tokens)
        clusters = min(self.clusters, tokens)
        return dataclasses.replace(self, states=tokens, clusters=clusters, states_per_word=per_word)

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
            raise ValueError("has other options than expected")
        after = fields["afterwards"]
        changed = {
            "training": Smoothing(**fields["training"]),
            "afterwards": None if after is None else Smoothing(**after),
        }
        return cls(**(fields | changed))


@dataclass(frozen=True, slots=True)
class LexicalSettings:
    """What a preset means for a text."""

    chains: int  # on clusters of their own
    states_per_class: int
    states: int | None  # that are kept, of all chains together; None: all
    clusters: int
    epochs: int  # of EM
    rounds: int  # of log-bilinear transitions
    residual: int  # epochs beside the lexical route, at most
    folds: int
    prunes_again: bool  # keep twice the states first, then those that are visited most of them
    tokens_per_context: tuple[int, int, int]  # of two, three and four words, at most; 0: none of that length


_ALL = (1, 1, 1)  # contexts that gain anything
_BY_PRESET = {
    "fast": LexicalSettings(1, 8, None, 127, 9, 2, 3, 8, prunes_again=False, tokens_per_context=(58, 77, 0)),
    "default": LexicalSettings(
        3, 12, 1 << 17, 127, 9, 3, 16, 8, prunes_again=True, tokens_per_context=(58, 77, 100)
    ),
    "best": LexicalSettings(3, 16, 1 << 22, 127, 9, 3, 8, 8, prunes_again=False, tokens_per_context=_ALL),
}
_TOKENS_PER_STATE = 64  # of hidden states: a small text gets fewer
_TOKENS_OF_PRESETS, _WORDS_OF_PRESETS = 1e6, 10_500  # more text gets more states, and so do more words
_MOST_STATES_PER_CLASS = 16  # of the preset default: the product of three chains has their cube
_MOST_PRUNED_AGAIN = 1 << 18  # states; counting visits takes longer than it is worth where there are more


@dataclass(frozen=True)
class LexicalOptions(Options):
    """How a lexicalised model is trained."""

    preset: str = option(
        "default", "Time and size: fast has one chain, the others have three.", choices=PRESETS
    )
    states: int | None = option(None, "States to keep; the preset's if not given.", least=1, most=1 << 26)

    def settings(self, tokens: int, words: int) -> LexicalSettings:
        """Return the preset for a text of so many tokens and different words."""
        preset = _BY_PRESET[self.preset]
        clusters = max(1, min(preset.clusters, words // 4))
        fitting = max(1, tokens // (_TOKENS_PER_STATE * clusters))
        more_text, more_words = max(1.0, tokens / _TOKENS_OF_PRESETS), max(1.0, words / _WORDS_OF_PRESETS)
        two, three, four = preset.tokens_per_context
        states, of_class = self.states, preset.states_per_class
        power = 0.5  # fast keeps all states, best nearly all that matter
        if self.preset == "default":
            power = 2.5
            of_class = min(_MOST_STATES_PER_CLASS, round(of_class * math.sqrt(more_text)))
            two, three, four = (math.ceil(each / more_words) for each in (two, three, four))
        if states is None and preset.states is not None:
            states = round(preset.states * more_text * more_words**power)
        return dataclasses.replace(
            preset,
            clusters=clusters,
            states_per_class=min(of_class, fitting),
            states=states,
            prunes_again=preset.prunes_again and states is not None and states <= _MOST_PRUNED_AGAIN,
            tokens_per_context=(two, three, four),
        )
