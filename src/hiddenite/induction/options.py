"""Which model, which sampler, how long: the options of an induction and what they mean to the core.

==============  ==========================================================================================
consensus       several one-tag+lm chains, each begun with more tags than wanted, which are then merged; their
                answers are combined (:mod:`hiddenite.induction.consensus`). The others are the papers' models
pyp             tags by trigrams, T -> B -> U -> uniform, words by their tags (Blunsom & Cohn 2011)
one-tag         the same, and all tokens of a word have one tag
lex             the same, and a word has an ambiguity class, the tags it may have (Dubbin & Blunsom 2014)
... +lm         words that a tag has not yet served are spelled by the tag's character bigrams
==============  ==========================================================================================
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from hiddenite._core import InductionOptions
from hiddenite.errors import ModelError, OptionError
from hiddenite.options import MISSING, Options, join_names, option

CONSENSUS = "consensus"
PAPER_MODELS = ("pyp", "pyp+lm", "one-tag", "one-tag+lm", "lex", "lex+lm")
MODELS = (CONSENSUS, *PAPER_MODELS)
Stage = Literal["start", "main"]  # a run's one-tag or wide stage before its model's own sweeps, and these
VARIANTS = ("published", "singletons", "heads")  # of the lexicon's classes
CASES = ("fold", "keep")  # of the first letter, where its capital says nothing
KINDS = ("separate", "mix")
OF_COMBINING = ("tolerance", "kinds")  # options that no sweep knows
SPELLINGS = ("hierarchical", "dirichlet")
STARTS = ("random", "type", "one-tag", "exchange", "mixed", "clusters")
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
PAPER_ITERATIONS = 200
CONSENSUS_CHAINS, WIDE_ITERATIONS, CONSENSUS_ITERATIONS = 24, 30, 20
MAX_SEED = 2**63 - 1


_ALL_SAMPLERS = tuple(dict.fromkeys(sampler for samplers in SAMPLERS.values() for sampler in samplers))
_LEX = {"model": ("lex", "lex+lm")}

_TRIALS = 4  # tags that are proposed for a word of one tag


@dataclass(frozen=True, kw_only=True)
class InduceOptions(Options):
    """How to induce tags. What is None or empty becomes the model's default."""

    tags: int = option(MISSING, "How many tags.", metavar="K", least=1, most=MAX_TAGS)
    model: str = option(CONSENSUS, "The model.", choices=MODELS)
    sampler: str = option("", "The sampler; by the model if not given.", choices=("", *_ALL_SAMPLERS))
    iterations: int | None = option(
        None,
        f"Sweeps; {CONSENSUS_ITERATIONS} of consensus, {PAPER_ITERATIONS} of the papers' models "
        "if not given.",
        "--iterations",
        "-n",
        least=1,
    )
    burn_in: int | None = option(None, "Sweeps before samples are kept; half of them if not given.", least=0)
    order: int = option(3, "Longest n-grams of tags.", least=2, most=MAX_ORDER)
    particles: int = option(
        10, "Particles of a sentence.", least=1, most=10_000, when={"sampler": ("type", "lex", "sentence-pf")}
    )
    chunk: int = option(
        64,
        "Tokens of a word that are drawn together; 0: all.",
        least=0,
        when={"sampler": ("type", "lex")},
    )
    chains: int | None = option(
        None,
        f"Independent chains; {CONSENSUS_CHAINS} of consensus, which are combined, else 1; the best answers.",
        least=1,
        most=1024,
    )
    start: str = option("", "Where chains begin; by the model if not given.", choices=("", *STARTS))
    start_iterations: int | None = option(
        None,
        f"Sweeps of a one-tag start, {DEFAULT_START_ITERATIONS} if not given; of consensus, those with more "
        f"tags, {WIDE_ITERATIONS} if not given.",
        least=0,
    )
    width: float = option(
        1.6,
        "Tags of the first sweeps, as a multiple of K; they are merged to K.",
        least=1.0,
        most=8.0,
        when={"model": (CONSENSUS,)},
    )
    tolerance: float = option(
        0.009,
        "A chain is left out whose log joint is lower than the best by more than this share of it; half of "
        "the chains always stay.",
        least=0.0,
        most=1.0,
        when={"model": (CONSENSUS,)},
    )
    case: str = option(
        CASES[0],
        "fold: «The» at the beginning of a sentence, or behind a mark, counts as «the», if that is the usual "
        "form elsewhere; keep: they are two words.",
        choices=CASES,
        when={"model": (CONSENSUS,)},
    )
    kinds: str = option(
        KINDS[0],
        "separate: words, numbers and marks such as commas have classes of their own if there are enough; "
        "mix: they may share one.",
        choices=KINDS,
        when={"model": (CONSENSUS,)},
    )
    variant: str = option(
        "", "Of the classes of a lexicon; published if not given.", choices=("", *VARIANTS), when=_LEX
    )
    spelling: str = option(
        "hierarchical",
        "How tags spell words.",
        choices=SPELLINGS,
        when={"model": tuple(model for model in MODELS if model == CONSENSUS or model.endswith("+lm"))},
    )
    sample_hyperparameters: bool = option(True, "Draw the parameters of the model too.")
    geometric: float = option(
        0.9, "How probable a class of one tag is beforehand.", least=1e-9, most=1 - 1e-9, when=_LEX
    )
    seed: int = option(1, "Seed.", least=0, most=MAX_SEED)

    def __post_init__(self) -> None:
        if self.model in MODELS:
            for name, value in self._defaults().items():
                if getattr(self, name) in ("", None):
                    object.__setattr__(self, name, value)
        if self.burn_in is None:
            object.__setattr__(self, "burn_in", (self.iterations or 0) // 2)
        if self.start_iterations is None and self.has_first_stage:
            sweeps = WIDE_ITERATIONS if self.is_consensus else DEFAULT_START_ITERATIONS
            object.__setattr__(self, "start_iterations", sweeps)
        super().__post_init__()
        self._check_start()
        self._check_sampler()
        assert self.burn_in is not None
        if self.burn_in >= self.num_sweeps("main"):
            raise OptionError(
                "burn_in", f"is {self.burn_in}, expected less than the {self.iterations} iterations"
            )
        if self.variant == "heads" and self.model == "lex":
            raise OptionError("variant", "is heads, which needs a model that spells: lex+lm")
        if (self.tags + 1) ** self.order > MAX_CELLS:
            raise ModelError(
                f"{self.tags} tags of order {self.order} have {self.tags + 1}^{self.order} transitions, "
                f"expected at most {MAX_CELLS}; use fewer tags or a lower order"
            )

    def _defaults(self) -> dict[str, object]:
        """Return what options are that were not given."""
        return {
            "sampler": SAMPLERS[self.family][0],
            "start": "mixed" if self.is_consensus else _START[self.family],
            "variant": VARIANTS[0] if self.family == "lex" else "",
            "iterations": CONSENSUS_ITERATIONS if self.is_consensus else PAPER_ITERATIONS,
            "chains": CONSENSUS_CHAINS if self.is_consensus else 1,
        }

    def _check_sampler(self) -> None:
        if self.sampler not in SAMPLERS[self.family]:
            known = join_names(SAMPLERS[self.family])
            raise OptionError("sampler", f"is '{self.sampler}', expected {known} with the model {self.model}")
        if self.sampler == "sentence" and self.order > 3:
            raise OptionError("sampler", "is sentence, which needs order 2 or 3; use sentence-pf")

    def _check_start(self) -> None:
        if self.start == "one-tag" and self.family == "one-tag":
            raise OptionError("start", "is one-tag, but a one-tag model cannot start from itself; use type")
        if self.start == "mixed" and not self.is_consensus:
            raise OptionError("start", "is mixed, which needs the model consensus")

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse sweeps of a first stage where there is none, too."""
        super().check_effects(given)
        if "start_iterations" in given and not self.has_first_stage:
            raise OptionError("start_iterations", "has no effect; it needs start one-tag or model consensus")
        if "width" in given and self.start_iterations == 0:
            raise OptionError("width", "has no effect with start_iterations 0")
        if "kinds" in given and self.tags == 1:
            raise OptionError("kinds", "has no effect with one tag")
        if "tolerance" in given and self.num_chains == 1:
            raise OptionError("tolerance", "has no effect with one chain")

    @property
    def is_consensus(self) -> bool:
        """Whether the chains are combined."""
        return self.model == CONSENSUS

    @property
    def folds_case(self) -> bool:
        """Whether capitals that are due to their place are taken for small letters."""
        return self.is_consensus and self.case == "fold"

    @property
    def has_first_stage(self) -> bool:
        """Whether there are sweeps of another model before."""
        return self.is_consensus or self.start == "one-tag"

    @property
    def num_chains(self) -> int:
        """Independent chains."""
        return self.chains or 1

    def num_sweeps(self, stage: Stage) -> int:
        """Sweeps that a stage has."""
        if stage == "main":
            return self.iterations or 0
        return (self.start_iterations or 0) if self.has_first_stage else 0

    def num_tags(self, stage: Stage) -> int:
        """Tags that a stage has; the first of consensus has more."""
        if stage == "main" or not self.is_consensus:
            return self.tags
        most = min(MAX_TAGS, math.floor(math.exp(math.log(MAX_CELLS) / self.order) + 1e-9) - 1)
        return max(self.tags, min(most, math.ceil(self.width * self.tags - 1e-9)))

    @property
    def family(self) -> str:
        """The model without its spelling."""
        return "one-tag" if self.is_consensus else self.model.removesuffix("+lm")

    @property
    def has_spelling(self) -> bool:
        """Whether tags spell words."""
        return self.is_consensus or self.model.endswith("+lm")

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
        sampler = self.sampler if self.is_consensus else "one-tag"
        return self._core(one_tag=True, lexicon="none", sampler=sampler, tags=self.num_tags("start"))

    def core_answer(self) -> InductionOptions:
        """Return the core's options of a chain that has the tags of a consensus."""
        return self._core(one_tag=False, lexicon="none", sampler="local")

    def _core(self, *, tags: int | None = None, **changes: Any) -> InductionOptions:
        return InductionOptions(
            tags=tags or self.tags,
            order=self.order,
            spelling=self.spelling if self.has_spelling else "none",
            particles=self.particles,
            chunk=self.chunk,
            one_tag_trials=_TRIALS,
            sample_hyperparameters=self.sample_hyperparameters,
            geometric=self.geometric,
            **changes,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields."""
        return dataclasses.asdict(self)
