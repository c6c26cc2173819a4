"""Options of commands that read n-gram models: which words count, p(<unk>), several models as a mixture."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from hiddenite.errors import OptionError
from hiddenite.jobs.model_cache import local_path
from hiddenite.ngram import NgramModel
from hiddenite.ngram_mixture import ModelMixture
from hiddenite.ngram_training import read_vocabulary
from hiddenite.options import Options, option

VOCABULARY_HELP = "Only these words of the model; all others are unknown to it."
MIX_HELP = "More models: --lm and these are mixed word by word, exactly after every context."
MIX_WEIGHTS_HELP = "Weights of --lm and --mix-lm, divided by their sum; by default equal."


@dataclass(frozen=True, kw_only=True)
class Unknown(Options):
    """A command that reads an ARPA file."""

    unk_log10: float | None = option(
        None,
        "log10 p(<unk>) for a file that lists no <unk> (-99 means zero); without it p(<unk>) is zero.",
        most=0,
    )


@dataclass(frozen=True, kw_only=True)
class Limited(Unknown):
    """A command that asks models, all of them or some words."""

    vocabulary: str | None = option(None, VOCABULARY_HELP, metavar="FILE")

    def load(self, path: str) -> NgramModel:
        """Return a model of the words that it is asked about; probabilities stay as they are."""
        return limited(NgramModel.load(local_path(path), self.unk_log10), self.vocabulary)


@dataclass(frozen=True, kw_only=True)
class Mixed(Limited):
    """A command whose model may be several, mixed word by word."""

    mix_lm: str | None = option(None, MIX_HELP, metavar="LM,...")
    mix_weights: str | None = option(None, MIX_WEIGHTS_HELP, metavar="X,X,...")

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse weights of nothing."""
        super().check_effects(given)
        if self.mix_weights is not None and self.mix_lm is None:
            raise OptionError("mix_weights", "has no effect without --mix-lm")

    def mixed_files(self) -> tuple[str, ...]:
        """Return the files of --mix-lm."""
        return () if self.mix_lm is None else tuple(self.mix_lm.split(","))

    def load_mixture(self, lm: str) -> ModelMixture:
        """Return the mixture of a model and those of --mix-lm."""
        models = [self.load(path) for path in (lm, *self.mixed_files())]
        weights = None if self.mix_weights is None else read_weights("mix_weights", self.mix_weights)
        return ModelMixture(models, weights)


def limited(model: NgramModel, vocabulary: str | None, renormalize: bool = False) -> NgramModel:
    """Return the model of the words of a file."""
    if vocabulary is None:
        return model
    from hiddenite.ngram_tools import filter_vocabulary  # noqa: PLC0415  (few need it)

    return filter_vocabulary(model, read_vocabulary(local_path(vocabulary)), renormalize=renormalize)


def read_weights(name: str, text: str) -> list[float]:
    """Return the numbers of an option, separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(name, f"is '{text}', expected numbers such as 0.7,0.3") from None
