"""Options of the commands that multiply a model with a channel: which model, and what counts how much.

    weight of a path = ( sum over its words of
        [ lm_weight ln p(word | words before) + channel_weight (channel's ln weight) + word_penalty ]
        + lm_weight ln p(</s> | words) ) / temperature

The lattice commands have the same weights (:mod:`hiddenite.rescoring`). Here the model and the channel are
each replaced by one with other numbers, so that every method is exact for it as it is for any other.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from hiddenite.channel import Channel
from hiddenite.cli.common import Lm
from hiddenite.cli.lm_options import Mixed
from hiddenite.errors import OptionError
from hiddenite.mixture_inference import WeighedMixture
from hiddenite.ngram import NgramModel
from hiddenite.options import option

WEIGHTS = "Weights"
NOT_PROVED = (
    "lm_weight",
    "channel_weight",
    "word_penalty",
    "temperature",
    "no_begin",
    "unk_log10",
    "vocabulary",
    "mix_lm",
)


@dataclass(frozen=True, kw_only=True)
class Words(Lm, Mixed):
    """A command that asks a model or several, all of their words or some."""

    def model_files(self) -> tuple[str, ...]:
        """Return the files that the model is made of."""
        vocabulary = () if self.vocabulary is None else (self.vocabulary,)
        return (self.lm, *self.mixed_files(), *vocabulary)

    def load_model(self) -> NgramModel:
        """Return the model of the words that it is asked about."""
        return self.load(self.lm)


@dataclass(frozen=True, kw_only=True)
class WeightedModel(Words):
    """A command that asks a model and a channel, each with its weight."""

    lm_weight: float = option(1.0, "What ln p of the model is multiplied with.", least=0, section=WEIGHTS)
    channel_weight: float = option(
        1.0, "What ln of the channel's weights is multiplied with.", least=0, section=WEIGHTS
    )
    word_penalty: float = option(0.0, "Added to ln of the weight for each word.", section=WEIGHTS)
    temperature: float = option(
        1.0, "All weights are divided by it; above 1 the posterior is flatter.", least=1e-6, section=WEIGHTS
    )
    no_begin: bool = option(False, "The text need not begin with the first word.")
    no_end: bool = option(False, "The text need not end after the last word.")

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse proofs of what is not the model's file: the checker reads that alone."""
        super().check_effects(given)
        for name in NOT_PROVED if getattr(self, "proof", None) is not None else ():
            if name in given:
                raise OptionError(
                    name, "has no effect with proof; a proof is about the model's file as it is"
                )

    def load_model(self) -> NgramModel:
        """Return the model as it is asked: its words, its weight, its sentence begin."""
        model, weight = super().load_model(), self.lm_weight / self.temperature
        if weight == 1.0 and not self.no_begin:
            return model
        from hiddenite.ngram_tools import weigh  # noqa: PLC0415  (few need it)

        return weigh(model, weight, begin=not self.no_begin)

    def load_weighed_mixture(self) -> WeighedMixture:
        """Return the mixture as it is asked."""
        return WeighedMixture(
            self.load_mixture(self.lm), self.lm_weight / self.temperature, begin=not self.no_begin
        )

    def weigh(self, channel: Channel) -> Channel:
        """Return the channel with its weights."""
        weight, penalty = self.channel_weight / self.temperature, self.word_penalty / self.temperature
        return channel if (weight, penalty) == (1.0, 0.0) else channel.weighted(weight, penalty)
