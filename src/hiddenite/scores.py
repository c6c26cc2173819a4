"""Scores of text under a language model: of a sentence, of many as columns, and their totals.

Columns become NumPy arrays when somebody asks for them: scoring alone needs no NumPy, which takes three times
the memory of the interpreter.
"""

from __future__ import annotations

import math
import operator
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hiddenite.records import json_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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

    log_prob_column: array[float]
    log_prob_known_column: array[float]
    tokens_column: array[int]
    oov_column: array[int]

    @classmethod
    def of(cls, *columns: memoryview[Any]) -> SentenceScores:
        """Take the core's columns over."""
        copies: list[array[Any]] = [array(column.format, column.tobytes()) for column in columns]
        return cls(*copies)

    @property
    def log_prob(self) -> NDArray[np.float64]:
        """ln p(words </s> | <s>) of each sentence."""
        return _as_array(self.log_prob_column)

    @property
    def log_prob_known(self) -> NDArray[np.float64]:
        """The same without the terms of words outside the vocabulary."""
        return _as_array(self.log_prob_known_column)

    @property
    def tokens(self) -> NDArray[np.uint32]:
        """Words and </s>."""
        return _as_array(self.tokens_column)

    @property
    def oov(self) -> NDArray[np.uint32]:
        """Words outside the vocabulary."""
        return _as_array(self.oov_column)

    def __len__(self) -> int:
        return len(self.log_prob_column)

    def __getitem__(self, i: int) -> SentenceScore:
        place = operator.index(i)
        return SentenceScore(self.log_prob_column[place], self.tokens_column[place], self.oov_column[place])

    def __iter__(self) -> Iterator[SentenceScore]:
        return map(SentenceScore, self.log_prob_column, self.tokens_column, self.oov_column)

    def __repr__(self) -> str:
        total = self.summary()
        return f"<SentenceScores of {len(self):,} sentences, perplexity {total.perplexity:.2f}>"

    def summary(self) -> ScoreSummary:
        """Return the totals."""
        return ScoreSummary(
            len(self),
            sum(self.tokens_column),
            sum(self.oov_column),
            math.fsum(self.log_prob_column),
            math.fsum(self.log_prob_known_column),
        )


def _as_array(column: array[Any]) -> NDArray[Any]:
    import numpy as np  # noqa: PLC0415  (only who asks for arrays needs it)

    return np.asarray(column)


@dataclass(frozen=True, slots=True)
class Discount:
    """The discounts of one order, three by Kneser-Ney, the same one by absolute discounting."""

    order: int
    d1: float
    d2: float
    d3: float  # for counts of three and more
    closed_form: bool  # estimated from the counts of counts; else the fixed fall-back


def missing_discounts(discounts: Sequence[Discount]) -> str | None:
    """Say which orders have too few n-grams for discounts of their own; None: all have them."""
    fallen_back = [d for d in discounts if not d.closed_form]
    if not fallen_back:
        return None
    orders = ", ".join(str(d.order) for d in fallen_back)
    if fallen_back[0].d1 == fallen_back[0].d3:
        return f"too few different counts for the discount of order {orders}: using 0.5 there"
    return (
        f"too few different counts for the Kneser-Ney discounts of order {orders}: using 0.5, 1 and 1.5 there"
    )
