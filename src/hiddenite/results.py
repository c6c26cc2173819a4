"""Results: immutable records whose ``to_dict`` is the JSON of the command line.

Natural logarithms. ``log_prob`` sums to one over its alternatives, ``log_weight`` need not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


def json_number(value: float) -> float | None:
    """Return the number, or None for an infinity or NaN, which JSON lacks."""
    return value if math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """A sentence under a language model."""

    log_prob: float  # ln p(words </s> | <s>)
    tokens: int  # words and </s>
    oov: int  # words outside the vocabulary

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object; ``log_prob`` is null for probability zero."""
        return {"log_prob": json_number(self.log_prob), "tokens": self.tokens, "oov": self.oov}


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """A text under a language model."""

    sentences: int
    tokens: int  # words and one </s> per sentence
    oov: int  # words outside the vocabulary
    log_prob: float  # sum over the sentences
    log_prob_known: float  # the same without the terms of words outside the vocabulary

    @property
    def perplexity(self) -> float:
        """exp(-log_prob / tokens)."""
        return _perplexity(self.log_prob, self.tokens)

    @property
    def perplexity_without_oov(self) -> float:
        """exp(-log_prob_known / (tokens - oov))."""
        return _perplexity(self.log_prob_known, self.tokens - self.oov)

    def __add__(self, other: ScoreSummary) -> ScoreSummary:
        return ScoreSummary(
            self.sentences + other.sentences,
            self.tokens + other.tokens,
            self.oov + other.oov,
            self.log_prob + other.log_prob,
            self.log_prob_known + other.log_prob_known,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object; numbers that are not finite are null."""
        fields = {k: v for k, v in asdict(self).items() if k != "log_prob_known"}
        fields["perplexity"] = self.perplexity
        fields["perplexity_without_oov"] = self.perplexity_without_oov
        return {k: json_number(v) for k, v in fields.items()}


def _perplexity(log_prob: float, tokens: int) -> float:
    if tokens == 0:
        return math.nan
    try:
        return math.exp(-log_prob / tokens)
    except OverflowError:
        return math.inf


@dataclass(frozen=True, slots=True)
class SentenceScores:
    """Sentences under a language model, as columns; iterates over :class:`SentenceScore`."""

    log_prob: NDArray[np.float64]
    log_prob_known: NDArray[np.float64]
    tokens: NDArray[np.uint32]
    oov: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.log_prob)

    def __getitem__(self, i: int) -> SentenceScore:
        return SentenceScore(float(self.log_prob[i]), int(self.tokens[i]), int(self.oov[i]))

    def __iter__(self) -> Iterator[SentenceScore]:
        columns = zip(self.log_prob.tolist(), self.tokens.tolist(), self.oov.tolist(), strict=True)
        return (SentenceScore(*row) for row in columns)

    def summary(self) -> ScoreSummary:
        """Return the totals."""
        return ScoreSummary(
            len(self),
            int(self.tokens.sum()),
            int(self.oov.sum()),
            float(self.log_prob.sum()),
            float(self.log_prob_known.sum()),
        )


@dataclass(frozen=True, slots=True)
class Discount:
    """The Kneser-Ney discounts of one order."""

    order: int
    d1: float
    d2: float
    d3: float  # for counts of three and more
    closed_form: bool  # estimated from the counts of counts; else the fixed fall-back
