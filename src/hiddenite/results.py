"""Results: immutable records whose ``to_dict`` is the JSON of the command line.

Natural logarithms. ``log_prob`` sums to one over its alternatives, ``log_weight`` need not.

Columns are kept as the core gives them, as memory; only who asks for an array needs NumPy, which takes three
times the memory of the interpreter.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def json_number(value: float | None) -> float | None:
    """Return the number, or None for an infinity or NaN, which JSON lacks, and for what is not known."""
    return value if value is not None and math.isfinite(value) else None


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

    log_prob_column: memoryview[Any]
    log_prob_known_column: memoryview[Any]
    tokens_column: memoryview[Any]
    oov_column: memoryview[Any]

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
        columns = (self.log_prob_column, self.tokens_column, self.oov_column)
        return map(SentenceScore, *(column.tolist() for column in columns))

    def summary(self) -> ScoreSummary:
        """Return the totals."""
        return ScoreSummary(
            len(self),
            sum(self.tokens_column.tolist()),
            sum(self.oov_column.tolist()),
            math.fsum(self.log_prob_column),
            math.fsum(self.log_prob_known_column),
        )

    def __reduce__(self) -> tuple[Any, ...]:  # for copies and other processes: memory itself cannot be sent
        columns = (self.log_prob_column, self.log_prob_known_column, self.tokens_column, self.oov_column)
        return _restored, tuple((column.format, column.tobytes()) for column in columns)


def _restored(*columns: tuple[str, bytes]) -> SentenceScores:
    return SentenceScores(*(memoryview(content).cast(form) for form, content in columns))  # type: ignore[call-overload]


def _as_array(column: memoryview[Any]) -> NDArray[Any]:
    import numpy as np  # noqa: PLC0415  (only who asks for arrays needs it)

    return np.asarray(column)


@dataclass(frozen=True, slots=True)
class Discount:
    """The Kneser-Ney discounts of one order."""

    order: int
    d1: float
    d2: float
    d3: float  # for counts of three and more
    closed_form: bool  # estimated from the counts of counts; else the fixed fall-back


# ------------------------------------------------------------- exact inference


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is proved: ``lower`` <= the optimum <= ``upper``.

    The objective is the log weight, which is as large as can be, or the expected errors, as few as can be.
    """

    exact: bool  # the answer is an optimum
    upper: float
    lower: float
    method: str
    refinements: int
    states: int  # states that were built
    objective: str = "log_weight"

    @property
    def gap(self) -> float:
        """How far off the answer can be."""
        return 0.0 if self.exact else self.upper - self.lower

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        record = {
            "exact": self.exact,
            "upper": json_number(self.upper),
            "lower": json_number(self.lower),
            "gap": json_number(self.gap),
            "method": self.method,
            "refinements": self.refinements,
            "states": self.states,
        }
        return record if self.objective == "log_weight" else record | {"objective": self.objective}


def _nodes_field(nodes: tuple[int, ...]) -> dict[str, Any]:
    return {"nodes": list(nodes)} if nodes else {}


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A word sequence and its log weight."""

    words: tuple[str, ...]
    log_weight: float  # sum of ln p(word | before) and channel weights, </s> included
    nodes: tuple[int, ...] = ()  # of a lattice: those that the path passes

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        record = {"words": list(self.words), "log_weight": json_number(self.log_weight)}
        return record | _nodes_field(self.nodes)


@dataclass(frozen=True, slots=True)
class Decoded:
    """The best word sequence and the proof that it is."""

    words: tuple[str, ...]
    log_weight: float
    certificate: Certificate  # under objective="mbr" that of the least expected errors
    id: str | int | None = None
    nodes: tuple[int, ...] = ()  # of a lattice: those that the path passes
    expected_errors: float | None = None  # under objective="mbr": words wrong on average

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        record: dict[str, Any] = {
            "id": self.id,
            "words": list(self.words),
            "log_weight": json_number(self.log_weight),
        }
        if self.expected_errors is not None:
            record["expected_errors"] = self.expected_errors
        return record | _nodes_field(self.nodes) | {"certificate": self.certificate.to_dict()}


@dataclass(frozen=True, slots=True)
class KBest:
    """The k best word sequences, best first; fewer if there are fewer."""

    hypotheses: tuple[Hypothesis, ...]
    certificate: Certificate
    id: str | int | None = None

    def __len__(self) -> int:
        return len(self.hypotheses)

    def __iter__(self) -> Iterator[Hypothesis]:
        return iter(self.hypotheses)

    def __getitem__(self, i: int) -> Hypothesis:
        return self.hypotheses[i]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "id": self.id,
            "kbest": [h.to_dict() for h in self.hypotheses],
            "certificate": self.certificate.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Sample:
    """A word sequence and how often it was drawn."""

    words: tuple[str, ...]
    log_weight: float
    count: int
    nodes: tuple[int, ...] = ()  # of a lattice: those that the path passes

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        record = {"words": list(self.words), "log_weight": self.log_weight, "count": self.count}
        return record | _nodes_field(self.nodes)


@dataclass(frozen=True, slots=True)
class Samples:
    """Independent draws from the posterior; iterates over the draws in order."""

    samples: tuple[Sample, ...]  # distinct, most frequent first
    draws: tuple[int, ...]  # places in ``samples``, in the order of drawing
    log_partition: float | None  # ln of the sum of all paths' weights; None: too few draws to tell
    log_partition_error: float | None  # its standard error; 0 if it is exact
    log_partition_upper: float  # it is not above this, whatever was drawn
    trials: int  # proposals, accepted or not
    exact: bool  # as many draws as were asked for
    method: str
    id: str | int | None = None

    @property
    def count(self) -> int:
        """Number of draws."""
        return len(self.draws)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return (self.samples[i].words for i in self.draws)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "id": self.id,
            "samples": [s.to_dict() for s in self.samples],
            "count": self.count,
            "log_partition": json_number(self.log_partition),
            "log_partition_error": json_number(self.log_partition_error),
            "log_partition_upper": json_number(self.log_partition_upper),
            "trials": self.trials,
            "exact": self.exact,
            "method": self.method,
        }


@dataclass(frozen=True, slots=True)
class Marginals:
    """Per position, each candidate's posterior probability, most probable first."""

    slots: tuple[tuple[tuple[str, float], ...], ...]
    log_partition: float  # ln of the sum of all paths' weights
    id: str | int | None = None
    spans: tuple[tuple[int, int], ...] = ()  # of a lattice: the nodes that each slot leads from and to

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object; candidates of probability zero are left out."""
        slots = [[[word, prob] for word, prob in slot if prob > 0] for slot in self.slots]
        spans = {"spans": [list(span) for span in self.spans]} if self.spans else {}
        return {"id": self.id, "slots": slots, **spans, "log_partition": json_number(self.log_partition)}


@dataclass(frozen=True, slots=True)
class Failure:
    """What was wrong with one record of a batch."""

    error: str  # one line
    position: int | None = None  # counted from 1, as in the error; one more than there are stands for </s>
    id: str | int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"id": self.id, "error": self.error, "position": self.position}


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of the search: the best path of the bound, and what is proved so far."""

    words: tuple[str, ...]
    log_q: float  # the bound's weight of the path
    log_p: float  # its true weight
    upper: float
    lower: float
    states: int

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        fields = {k: json_number(v) for k, v in asdict(self).items() if k != "words"}
        return {"words": list(self.words), **fields}
