"""Options that several ``align`` commands share, and how those of training become AlignerOptions."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass

from hiddenite._core import AlignmentModel
from hiddenite.align.aligner import Aligner
from hiddenite.align.answers import DIRECTIONS
from hiddenite.align.fertilities import ESTIMATORS
from hiddenite.align.options import AlignerOptions
from hiddenite.align.priors import Priors
from hiddenite.align.symmetrize import DEFAULT, METHODS
from hiddenite.align.training import MAX_SEED
from hiddenite.errors import OptionError
from hiddenite.options import MISSING, Options, argument, join_names, option

BUDGET = 10.0  # seconds per sentence pair
TRAINING = "Training"
_KINDS = {
    field.name: type(field.default)
    for field in dataclasses.fields(AlignerOptions)
    if isinstance(field.default, int | float) and not isinstance(field.default, bool)
} | {"ending_weight": float, "jump_words": int}  # by default these depend on what is asked


@dataclass(frozen=True, kw_only=True)
class Bitexts(Options):
    """A command that reads a parallel text."""

    source: str = argument(MISSING, "Source text, or 'source ||| target' lines; - is stdin.", "SRC")
    target: str | None = argument(None, "Target text, line by line.", "[TGT]")


@dataclass(frozen=True, kw_only=True)
class Asking(Options):
    """A command that gives links."""

    direction: str = option("both", "Of the alignments.", choices=tuple(DIRECTIONS))
    symmetrize: str = option(
        DEFAULT, "How both directions become one.", choices=tuple(METHODS), when={"direction": ("both",)}
    )
    budget: float = option(BUDGET, "Seconds per sentence pair; then the best so far and its gap.", least=0)


@dataclass(frozen=True, kw_only=True)
class TrainingChoices(Options):
    """A command that trains."""

    seed: int | None = option(
        None, "Seed; drawn and shown if not given.", least=0, most=MAX_SEED, section=TRAINING
    )
    sweeps: str | None = option(
        None,
        "Sweeps with the lexicon alone, with jumps, with fertilities; by the corpus' size if not given.",
        metavar="A,B,C",
        section=TRAINING,
    )
    chains: int | None = option(None, "Independent runs to average.", least=1, section=TRAINING)
    string_prior: bool = option(
        True,
        "Words spelt alike are likelier translations.",
        "--string-prior/--no-string-prior",
        section=TRAINING,
    )
    fertilities: str = option(
        "categorical", "How fertilities are smoothed.", choices=tuple(ESTIMATORS), section=TRAINING
    )
    normalize: bool = option(
        True,
        "Learn from the text in lower case and in Unicode's composed form.",
        "--normalize/--as-written",
        section=TRAINING,
    )
    earlier: str | None = option(
        None,
        "Continue from this model with more text; it stays as it is.",
        "--from",
        metavar="MODEL",
        section=TRAINING,
    )
    lexicon: str | None = option(
        None, "Dictionary: word TAB word [TAB weight] lines.", metavar="FILE", section=TRAINING
    )
    priors: str | None = option(None, "Counts in eflomal's format.", metavar="FILE", section=TRAINING)
    settings: tuple[str, ...] = option(
        (),
        "Any other training option, e.g. coupling=3; repeatable.",
        "--set",
        metavar="NAME=VALUE",
        section=TRAINING,
    )
    checkpoint: str | None = option(
        None, "Kept after each sweep; continued if it exists.", metavar="FILE", section=TRAINING
    )

    def aligner_options(self) -> AlignerOptions:
        """Return what the options of training say."""
        fields: dict[str, object] = {
            "chains": self.chains,
            "normalize": self.normalize,
            "string_prior": self.string_prior,
            "fertilities": self.fertilities,
        }
        if self.sweeps is not None:
            counts = [count.strip() for count in self.sweeps.split(",")]
            if len(counts) != 3 or not all(count.isdecimal() for count in counts):
                raise OptionError("sweeps", f"is '{self.sweeps}', expected three counts such as 8,8,32")
            names = ("model1_sweeps", "hmm_sweeps", "fertility_sweeps")
            fields |= dict(zip(names, map(int, counts), strict=True))
        fields |= dict(map(_setting, self.settings))
        return AlignerOptions(**fields)  # type: ignore[arg-type]

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse a dictionary beside a model, which has learnt what it knows."""
        super().check_effects(given)
        for name in ("lexicon", "priors"):
            if self.earlier is not None and getattr(self, name) is not None:
                raise OptionError(name, "has no effect with --from: train the model itself with it")

    def files_before(self) -> tuple[str | None, str | None, str | None]:
        """Return the files with what is known before training."""
        return self.earlier, self.lexicon, self.priors


def known_before(
    options: AlignerOptions, earlier: str | None, lexicon: str | None, priors: str | None
) -> AlignmentModel | None:
    """Return what training goes on from: a model, or the counts of a dictionary and of priors."""
    if earlier is not None:
        return Aligner.load(earlier).model
    if lexicon is None and priors is None:
        return None
    found = Priors()
    if lexicon is not None:
        found.add_lexicon(lexicon)
    if priors is not None:
        found.add_eflomal(priors)
    return found.model(options)


def _setting(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    if name not in _KINDS:
        raise OptionError("settings", f"has '{name}', expected {join_names(list(_KINDS))}")
    try:
        return name, _KINDS[name](value)
    except ValueError:
        kind = "a whole number" if _KINDS[name] is int else "a number"
        raise OptionError("settings", f"has '{value}' for {name}, expected {kind}") from None
