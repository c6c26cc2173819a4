"""Which model, which sampler, how long: the options of an induction and what they mean to the core.

==============  ==========================================================================================
pyp             tags by trigrams, T -> B -> U -> uniform, words by their tags (Blunsom & Cohn 2011)
one-tag         the same, and all tokens of a word have one tag
lex             the same, and a word has an ambiguity class, the tags it may have (Dubbin & Blunsom 2014)
... +lm         words that a tag has not yet served are spelled by the tag's character bigrams
==============  ==========================================================================================
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hiddenite._core import InductionOptions
from hiddenite.errors import ModelError, UnknownSymbolError, near_spellings

ModelName = Literal["pyp", "pyp+lm", "one-tag", "one-tag+lm", "lex", "lex+lm"]
MODELS = ("pyp", "pyp+lm", "one-tag", "one-tag+lm", "lex", "lex+lm")
VARIANTS = ("published", "singletons", "heads")  # of the lexicon's classes
SPELLINGS = ("hierarchical", "dirichlet")
STARTS = ("random", "type", "one-tag", "exchange", "clusters")
SAMPLERS = {  # by model, the default first
    "pyp": ("type", "local", "sentence", "sentence-pf"),
    "one-tag": ("one-tag", "one-tag-heuristic"),
    "lex": ("lex", "local", "sentence", "sentence-pf", "type"),
}
_START = {"pyp": "random", "one-tag": "type", "lex": "one-tag"}
MAX_TAGS = 255
MAX_ORDER = 8
MAX_CELLS = 1 << 24  # of the transition counts: (tags + 1) ^ order
DEFAULT_START_ITERATIONS = 50
MAX_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class InduceOptions:
    """How to induce tags. What is None or empty becomes the model's default."""

    tags: int  # K
    model: ModelName = "lex+lm"
    sampler: str = ""
    iterations: int = 200
    burn_in: int | None = None  # sweeps before samples are kept; None: half of them
    order: int = 3  # of the tags' n-grams
    particles: int = 10
    chunk: int = 64  # tokens of a word drawn together; 0: all
    chains: int = 1
    start: str = ""  # random, type, one-tag, exchange or clusters
    start_iterations: int | None = None  # sweeps of the one-tag run that a start may be
    variant: str = ""  # lex: published, singletons or heads
    spelling: str = "hierarchical"  # +lm: hierarchical or dirichlet
    sample_hyperparameters: bool = True
    geometric: float = 0.9  # lex: of the size of a class
    seed: int = 1

    def __post_init__(self) -> None:
        _check_choice("model", self.model, MODELS)
        defaults = {
            "sampler": self.sampler or SAMPLERS[self.family][0],
            "start": self.start or _START[self.family],
            "variant": self.variant or VARIANTS[0],
            "burn_in": self.iterations // 2 if self.burn_in is None else self.burn_in,
        }
        for name, value in defaults.items():
            object.__setattr__(self, name, value)
        _check_choice("sampler", self.sampler, SAMPLERS[self.family], f" of {self.model}")
        _check_choice("start", self.start, STARTS)
        _check_choice("variant", self.variant, VARIANTS)
        _check_choice("spelling", self.spelling, SPELLINGS)
        if self.start == "one-tag" and self.family == "one-tag":
            raise ModelError("a one-tag model cannot start from a one-tag run; start it by type")
        if self.start_iterations is None:
            warm = DEFAULT_START_ITERATIONS if self.start == "one-tag" else 0
            object.__setattr__(self, "start_iterations", warm)
        self._check_numbers()

    def _check_numbers(self) -> None:
        _check_range("number of tags", self.tags, 1, MAX_TAGS)
        _check_range("order", self.order, 2, MAX_ORDER)
        _check_range("number of iterations", self.iterations, 1, None)
        assert self.burn_in is not None
        assert self.start_iterations is not None
        _check_range("burn-in", self.burn_in, 0, self.iterations - 1)
        _check_range("number of start iterations", self.start_iterations, 0, None)
        _check_range("number of particles", self.particles, 1, 10_000)
        _check_range("chunk", self.chunk, 0, None)
        _check_range("number of chains", self.chains, 1, 1024)
        _check_range("seed", self.seed, 0, MAX_SEED)
        if not 0 < self.geometric < 1:
            raise ModelError(f"the geometric parameter is {self.geometric}, expected one between 0 and 1")
        if self.variant == "heads" and self.model == "lex":
            raise ModelError("the variant heads is about spelling; say model lex+lm, or another variant")
        if self.sampler == "sentence" and self.order > 3:
            raise ModelError("the exact sentence sampler knows orders 2 and 3; take sentence-pf")
        if (self.tags + 1) ** self.order > MAX_CELLS:
            raise ModelError(
                f"{self.tags} tags of order {self.order} have {self.tags + 1}^{self.order} transitions, "
                f"expected at most {MAX_CELLS}; take fewer tags or a lower order"
            )

    @property
    def family(self) -> str:
        """The model without its spelling."""
        return self.model.removesuffix("+lm")

    @property
    def has_spelling(self) -> bool:
        """Whether tags spell words."""
        return self.model.endswith("+lm")

    def core(self) -> InductionOptions:
        """Return the core's options of the run."""
        is_lexicon = self.family == "lex"
        return self._core(
            one_tag=self.family == "one-tag",
            lexicon=self.variant if is_lexicon else "none",
            sampler=self.sampler,
        )

    def core_start(self) -> InductionOptions:
        """Return the core's options of the one-tag run before it."""
        return self._core(one_tag=True, lexicon="none", sampler="one-tag")

    def _core(self, **changes: Any) -> InductionOptions:
        return InductionOptions(
            tags=self.tags,
            order=self.order,
            spelling=self.spelling if self.has_spelling else "none",
            particles=self.particles,
            chunk=self.chunk,
            sample_hyperparameters=self.sample_hyperparameters,
            geometric=self.geometric,
            **changes,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields."""
        return dataclasses.asdict(self)


def _check_choice(kind: str, name: str, known: Sequence[str], where: str = "") -> None:
    if name not in known:
        raise UnknownSymbolError(kind + where, name, near_spellings(name, known) or known)


def _check_range(what: str, found: int, least: int, most: int | None) -> None:
    if found < least or (most is not None and found > most):
        expected = f"at least {least}" if most is None else f"{least} to {most}"
        raise ModelError(f"the {what} is {found}, expected {expected}")
