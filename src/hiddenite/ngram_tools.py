"""Models made from models: mixed, pruned, filtered, limited, rounded, weighed; two compared on a text.

Each function gives a new :class:`NgramModel`. The loops over n-grams are in C++, ``cpp/hiddenite/lm/tools``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hiddenite._core import (
    Histories,
    filter_words,
    limit_order,
    mix_tables,
    mixture_log_probs,
    prune_by_entropy,
    prune_to_size,
    sample_sentences,
    weigh_table,
)
from hiddenite._core import quantize as quantize_table
from hiddenite.errors import ModelError, OptionError
from hiddenite.files.corpus import Sentence, sentence_text
from hiddenite.ngram import NgramModel
from hiddenite.options import check_seed
from hiddenite.records import json_number
from hiddenite.scores import ScoreSummary

EM_TOLERANCE = 1e-9  # of weights
EM_ROUNDS = 10_000


def mix(models: Sequence[NgramModel], weights: Sequence[float]) -> NgramModel:
    """Return the static mixture: all n-grams of the models, each with the exact mixed probability.

    p(w | s) = sum over m of weight_m p_m(w | s) wherever some model lists (s, w). Back-off weights are such
    that contexts sum to one. A word that a model does not list has probability zero there.
    """
    if len(models) < 2:
        raise ModelError(f"found {len(models)} model, expected at least two to mix")
    if len(weights) != len(models):
        raise OptionError(
            "weights", f"has {len(weights)} numbers, expected {len(models)}, one for each model"
        )
    total = sum(weights)
    if not (all(0 <= weight < math.inf for weight in weights) and 0 < total < math.inf):
        raise OptionError("weights", "expected numbers of at least 0, not all of them 0")
    return NgramModel(mix_tables([model._table for model in models], [weight / total for weight in weights]))


@dataclass(frozen=True, slots=True)
class MixtureWeights:
    """The weights under which a text is most probable."""

    weights: tuple[float, ...]
    perplexity: float  # of the text under the mixture of scores
    rounds: int


def tune_weights(models: Sequence[NgramModel], text: bytes, name: str = "<text>") -> MixtureWeights:
    """Find the mixture weights by expectation-maximisation on held-out text, one sentence a line.

    The likelihood is concave in the weights, so the limit does not depend on where the search begins.
    """
    import numpy as np  # noqa: PLC0415  (scoring alone needs no NumPy)

    log_probs = np.stack(mixture_log_probs([model._table for model in models], text, name))
    best = log_probs.max(axis=0, initial=-math.inf)
    usable = np.isfinite(best)
    if not usable.any():
        raise ModelError(f"{name}: no word has a positive probability under any of the models")
    probs = np.exp(log_probs[:, usable] - best[usable])
    weights = np.full(len(models), 1 / len(models))
    rounds = 0
    for rounds in range(1, EM_ROUNDS + 1):  # noqa: B007
        joint = weights[:, None] * probs
        updated = (joint / joint.sum(axis=0)).mean(axis=1)
        change = np.abs(updated - weights).max()
        weights = updated
        if change < EM_TOLERANCE:
            break
    log_prob = float(np.log(weights @ probs).sum() + best[usable].sum())
    perplexity = math.exp(-log_prob / int(usable.sum())) if usable.all() else math.inf
    return MixtureWeights(tuple(float(weight) for weight in weights), perplexity, rounds)


HISTORIES = {"text": Histories.TEXT, "exact": Histories.EXACT, "stolcke": Histories.STOLCKE}


def prune(model: NgramModel, threshold: float, histories: str = "text") -> NgramModel:
    """Leave out n-grams whose loss raises perplexity by less than ``threshold``, as a fraction.

    ``histories``: how often contexts occur, as in new text of the kind that the model was trained on, in
    the model's own stationary distribution (exact relative entropy), or by the chain rule as Stolcke (1998)
    has it.
    """
    if not 0 <= threshold < math.inf:
        raise OptionError("entropy", f"is {threshold}, expected at least 0")
    return NgramModel(prune_by_entropy(model._table, threshold, _histories(histories)))


def prune_to(model: NgramModel, keep: int, histories: str = "text") -> tuple[NgramModel, float]:
    """Prune by entropy to at most ``keep`` n-grams; also return the threshold."""
    table, threshold = prune_to_size(model._table, keep, _histories(histories))
    return NgramModel(table), threshold


def _histories(name: str) -> Histories:
    if name not in HISTORIES:
        raise OptionError("histories", f"is '{name}', expected {', '.join(HISTORIES)}")
    return HISTORIES[name]


def filter_vocabulary(model: NgramModel, words: Iterable[str], renormalize: bool = True) -> NgramModel:
    """Keep the n-grams of some words; ``<unk>``, ``<s>`` and ``</s>`` stay.

    With ``renormalize`` the result is the model given that all words are among them: every probability is
    divided by the sum over the words that are left. Without it probabilities stay as they are.
    """
    return NgramModel(filter_words(model._table, list(words), renormalize))


def weigh(model: NgramModel, weight: float = 1.0, *, begin: bool = True) -> NgramModel:
    """Return the model whose ln p are all multiplied by ``weight``, for decoding and drawing.

    Its numbers are no probabilities, but a back-off table with bounds like any other: all methods are exact
    for it. ``begin=False``: a text may begin in the middle of a sentence; ``<s>`` says nothing about what
    follows. The channel's side of the same is ``channel.weighted()``.
    """
    if weight == 1.0 and begin:
        return model
    return NgramModel(weigh_table(model._table, weight, begin))


def limit(model: NgramModel, order: int) -> NgramModel:
    """Return the model of the n-grams of at most ``order`` words."""
    if not 1 <= order <= model.order:
        raise OptionError("order", f"is {order}, expected 1 to {model.order}, the order of the model")
    return NgramModel(limit_order(model._table, order))


def quantize(model: NgramModel, bits: int = 12) -> NgramModel:
    """Round probabilities and back-off weights to 2^bits values; :meth:`NgramModel.compact` saves."""
    if not 4 <= bits <= 16:
        raise OptionError("bits", f"is {bits}, expected 4 to 16")
    return NgramModel(quantize_table(model._table, bits))


# ---------------------------------------------------------------------- sample


@dataclass(frozen=True, slots=True)
class DrawnSentence:
    """A sentence drawn from a model."""

    words: tuple[str, ...]  # the prefix included
    log_prob: float  # ln p(what was drawn | <s> prefix), </s> included if it was drawn
    complete: bool  # </s> was drawn

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"words": list(self.words), "log_prob": json_number(self.log_prob), "complete": self.complete}


def draw_sentences(
    model: NgramModel, count: int, seed: int, prefix: str = "", *, max_words: int = 1000, first: int = 0
) -> list[DrawnSentence]:
    """Draw sentences that begin with ``prefix``, independently and exactly.

    Draw number i uses stream ``first`` + i of the seed.
    """
    begin = tuple(prefix.split())
    found = sample_sentences(model._table, count, " ".join(begin), max_words, check_seed(seed), first)
    return [DrawnSentence(begin + tuple(words), log_prob, ended) for words, log_prob, ended in found]


# --------------------------------------------------------------------- compare


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two models on one text; differences are B minus A, per sentence."""

    first: ScoreSummary
    second: ScoreSummary
    better: int  # sentences that B makes more probable
    worse: int
    difference: float  # mean of ln p_B - ln p_A per token
    standard_error: float  # of that mean, over sentences
    perplexity_ratio: float  # exp(-difference): below 1, B is better

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        numbers = {
            "difference": self.difference,
            "standard_error": self.standard_error,
            "perplexity_ratio": self.perplexity_ratio,
        }
        return {
            "a": self.first.to_dict(),
            "b": self.second.to_dict(),
            "b_better": self.better,
            "b_worse": self.worse,
            **{name: json_number(value) for name, value in numbers.items()},
        }


def compare(
    first: NgramModel, second: NgramModel, text: bytes | Iterable[Sentence], name: str = "<text>"
) -> Comparison:
    """Score a text under two models, sentence by sentence."""
    import numpy as np  # noqa: PLC0415

    lines = text if isinstance(text, bytes) else sentence_text(text)
    a, b = (model.score_text(lines, name=name) for model in (first, second))
    tokens = np.asarray(a.tokens, float)
    if not len(tokens):
        raise ModelError(f"{name}: has no sentence, expected text to compare the models on")
    with np.errstate(invalid="ignore"):
        gain = np.asarray(b.log_prob) - np.asarray(a.log_prob)
    gain[np.isnan(gain)] = 0.0  # impossible under both
    mean = float(gain.sum() / tokens.sum())
    with np.errstate(invalid="ignore"):
        residual = gain - mean * tokens
    count = len(tokens)
    error = math.sqrt(float((residual**2).sum()) * count / max(count - 1, 1)) / float(tokens.sum())
    ratio = math.exp(-mean) if abs(mean) < 700 else (0.0 if mean > 0 else math.inf)
    return Comparison(
        a.summary(), b.summary(), int((gain > 0).sum()), int((gain < 0).sum()), mean, error, ratio
    )
