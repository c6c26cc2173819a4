"""Results: immutable records whose ``to_dict`` is the JSON of the command line.

Natural logarithms. ``log_prob`` sums to one over its alternatives, ``log_weight`` need not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

from hiddenite.records import Counted, Sequenced, json_number, show_rows

_Row = TypeVar("_Row", bound=Sequenced)
_Drawn = TypeVar("_Drawn", bound=Counted)


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is proved: ``lower`` <= the optimum <= ``upper``.

    The objective is the log weight, which is as large as can be, or the expected errors, as few as can be.
    That of a corrected text is the log weight of the best reading, of which improbable changes are taken
    back.
    """

    exact: bool  # the answer is an optimum
    upper: float
    lower: float
    method: str
    refinements: int
    states: int  # states that were built
    objective: str = "log_weight"
    left_out: float | None = (
        None  # of corrections: no word that was not looked at scores more, ln p_edit + ln p
    )

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
        if self.left_out is not None:
            record["left_out"] = json_number(self.left_out)
        return record if self.objective == "log_weight" else record | {"objective": self.objective}


def words_field(words: tuple[str, ...]) -> dict[str, Any]:
    """Return the field of the text that was tagged, if it was one."""
    return {"words": list(words)} if words else {}


def _nodes_field(nodes: tuple[int, ...]) -> dict[str, Any]:
    return {"nodes": list(nodes)} if nodes else {}


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A word sequence and its log weight."""

    words: tuple[str, ...]
    log_weight: float  # sum of ln p(word | before) and channel weights, </s> included
    nodes: tuple[int, ...] = ()  # of a lattice: those that the path passes

    @property
    def items(self) -> tuple[str, ...]:
        """The words."""
        return self.words

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        record = {"words": list(self.words), "log_weight": json_number(self.log_weight)}
        return record | _nodes_field(self.nodes)


@dataclass(frozen=True, slots=True)
class Proof:
    """Why no other words weigh more, as data that others can check (``hiddenite verify``).

    Each context stands for the histories that end in its words, or, if it is closed, for those after which
    the model knows nothing else; from there, whatever follows weighs no more than the upper weight. Weights
    of candidates are measured from the best of their position there.
    """

    words: tuple[str, ...]
    log_weight: float
    end: bool  # </s> follows the last word
    slots: tuple[tuple[tuple[str, float], ...], ...]  # [position]: candidates and their log weights
    contexts: tuple[tuple[tuple[str, bool, float], ...], ...]  # [position]: words, closed, upper weight
    refinements: int  # that the proof took
    id: str | int | None = None
    text: tuple[str, ...] = ()  # of a tagger: the words that were tagged

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of a proof file; candidates of equal weight share it."""
        slots = []
        for slot in self.slots:
            by_weight: dict[float, list[str]] = {}
            for word, log_weight in slot:
                by_weight.setdefault(log_weight, []).append(word)
            slots.append([[json_number(weight), words] for weight, words in by_weight.items()])
        contexts = [
            [[words, "closed" if closed else "open", json_number(upper)] for words, closed, upper in rows]
            for rows in self.contexts
        ]
        return {
            "id": self.id,
            **({"text": list(self.text)} if self.text else {}),
            "words": list(self.words),
            "log_weight": self.log_weight,
            "end": self.end,
            "slots": slots,
            "contexts": contexts,
        }


@dataclass(frozen=True, slots=True)
class Decoded:
    """The best word sequence and the proof that it is."""

    words: tuple[str, ...]
    log_weight: float
    certificate: Certificate  # under objective="mbr" that of the least expected errors
    id: str | int | None = None
    nodes: tuple[int, ...] = ()  # of a lattice: those that the path passes
    expected_errors: float | None = None  # under objective="mbr": words wrong on average
    proof: Proof | None = None  # if it was asked for; not part of the JSON

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
class KBest(Generic[_Row]):
    """The k best sequences of words (``Hypothesis``) or tags, best first; fewer if there are fewer."""

    hypotheses: tuple[_Row, ...]
    certificate: Certificate
    id: str | int | None = None
    words: tuple[str, ...] = ()  # of a tagger: the words that were tagged

    def __len__(self) -> int:
        return len(self.hypotheses)

    def __iter__(self) -> Iterator[_Row]:
        return iter(self.hypotheses)

    def __getitem__(self, i: int) -> _Row:
        return self.hypotheses[i]

    def __repr__(self) -> str:
        return show_rows("KBest", [f"{' '.join(h.items)} ({h.log_weight:.4f})" for h in self.hypotheses])

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "id": self.id,
            **words_field(self.words),
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

    @property
    def items(self) -> tuple[str, ...]:
        """The words."""
        return self.words

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        record = {"words": list(self.words), "log_weight": self.log_weight, "count": self.count}
        return record | _nodes_field(self.nodes)


@dataclass(frozen=True, slots=True)
class Samples(Generic[_Drawn]):
    """Independent draws from the posterior; iterates over the draws in order."""

    samples: tuple[_Drawn, ...]  # distinct, most frequent first
    draws: tuple[int, ...]  # places in ``samples``, in the order of drawing
    log_partition: float | None  # ln of the sum of all paths' weights; None: too few draws to tell
    log_partition_error: float | None  # its standard error; 0 if it is exact
    log_partition_lower: float  # it is not below this; -inf: nothing is known
    log_partition_upper: float  # it is not above this, whatever was drawn
    total_variation: float  # at most this between what was drawn from and the posterior
    trials: int  # proposals, accepted or not
    exact: bool  # as many draws as were asked for
    method: str
    id: str | int | None = None
    words: tuple[str, ...] = ()  # of a tagger: the words that were tagged

    @property
    def count(self) -> int:
        """Number of draws."""
        return len(self.draws)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return (self.samples[i].items for i in self.draws)

    def __repr__(self) -> str:
        rows = [f"{s.count} x {' '.join(s.items)}" for s in self.samples]
        return show_rows(f"Samples, {self.count:,} draws", rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "id": self.id,
            **words_field(self.words),
            "samples": [s.to_dict() for s in self.samples],
            "count": self.count,
            "log_partition": json_number(self.log_partition),
            "log_partition_error": json_number(self.log_partition_error),
            "log_partition_lower": json_number(self.log_partition_lower),
            "log_partition_upper": json_number(self.log_partition_upper),
            "total_variation": self.total_variation,
            "trials": self.trials,
            "exact": self.exact,
            "method": self.method,
        }


@dataclass(frozen=True, slots=True)
class Marginals:
    """Per position, the posterior probability of each candidate or tag, most probable first."""

    slots: tuple[tuple[tuple[str, float], ...], ...]
    log_partition: float  # ln of the sum of all paths' weights, as far as they were added up;
    log_partition_lower: float  # that of all of them lies between these
    log_partition_upper: float
    error_bound: float  # no probability is further from the true one
    id: str | int | None = None
    spans: tuple[tuple[int, int], ...] = ()  # of a lattice: the nodes that each slot leads from and to
    words: tuple[str, ...] = ()  # of a tagger: the words that were tagged

    def __repr__(self) -> str:
        names = [f"{word}: " for word in self.words] or [""] * len(self.slots)
        rows = [name + top_words(slot) for name, slot in zip(names, self.slots, strict=True)]
        return show_rows("Marginals", rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object; candidates of probability zero are left out."""
        slots = [[[word, prob] for word, prob in slot if prob > 0] for slot in self.slots]
        spans = {"spans": [list(span) for span in self.spans]} if self.spans else {}
        return {
            "id": self.id,
            **words_field(self.words),
            "slots": slots,
            **spans,
            "log_partition": json_number(self.log_partition),
            "log_partition_lower": json_number(self.log_partition_lower),
            "log_partition_upper": json_number(self.log_partition_upper),
            "error_bound": self.error_bound,
        }


def top_words(slot: Sequence[tuple[str, float]]) -> str:
    """Return the two most probable words of a position."""
    return ", ".join(f"{word} {prob:.3f}" for word, prob in slot[:2]) + (", ..." if len(slot) > 2 else "")


WordAnswer = Decoded | KBest[Hypothesis] | Samples[Sample] | Marginals


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
