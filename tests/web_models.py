"""Small models for tests of the playground."""

import atexit
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hiddenite import Aligner, AlignerOptions, HMMLanguageModel, NgramModel, Tagger
from hiddenite.cli.demo_align import SMALL_TEXT as PAIRS
from hiddenite.cli.demo_tags import tagged_sentences
from hiddenite.correct.corrector import Corrector
from hiddenite.errors import UnknownSymbolError
from hiddenite.web import Limits, Models
from tests.models import train

SENTENCES = [
    "the quick brown fox jumps over the lazy dog .",
    "the lazy dog sleeps under the old tree .",
    "the old tree stands over the quiet house .",
    "a quick fox sleeps under the quiet tree .",
    "the dog barks and the fox runs over the hill .",
    "the quiet house stands under the old hill .",
    "and the end of the day is near , he said .",
]
WORDS = sorted({word for sentence in SENTENCES for word in sentence.split()})


@dataclass(frozen=True)
class FakeGenerated:
    """Stands for the answer of an HMM language model."""

    keywords: Sequence[str]
    n: int

    def to_dict(self) -> dict[str, Any]:
        one = {"words": ["here", *self.keywords], "log_prob": -1.5}
        return {"sentences": [one] * self.n, "constraint_log_prob": math.log(0.25)}


class FakeGenerator:
    """Stands for an HMM language model that knows a few words."""

    def generate(
        self,
        n: int = 1,
        *,
        length: int | None = None,
        max_length: int = 60,
        keywords: Sequence[str] = (),
        method: str = "sample",
        seed: int = 1,
        threads: int = 0,
    ) -> FakeGenerated:
        for word in keywords:
            if word not in WORDS:
                raise UnknownSymbolError("word", word)
        return FakeGenerated(keywords, n)


@functools.cache
def language_model() -> NgramModel:
    return train(SENTENCES, 3)


@functools.cache
def tagger() -> Tagger:
    return Tagger.train(tagged_sentences(), order=2)


@functools.cache
def aligner() -> Aligner:
    options = AlignerOptions(model1_sweeps=4, hmm_sweeps=4, fertility_sweeps=8, chains=1)
    return Aligner.train(PAIRS, seed=1, options=options)


@functools.cache
def corrector() -> Corrector:
    return Corrector.from_ngram(language_model())


@functools.cache
def generator() -> HMMLanguageModel:
    return HMMLanguageModel.train(SENTENCES, 8, 4, seed=1, epochs=4, folds=2)


for cached in (language_model, tagger, aligner, corrector, generator):
    atexit.register(cached.cache_clear)  # before the core is unloaded


def models(limits: Limits | None = None) -> Models:
    """All models, the one for generation a stand-in."""
    return Models(
        language_model(),
        tagger(),
        aligner(),
        FakeGenerator(),
        corrector(),
        {"lm": "seven sentences"},
        {"decode": SENTENCES[:2]},
        limits or Limits(),
    )
