"""Questions to the exact engine, and how its answers are read.

A :class:`Query` says what to ask of every record: which task, by which method, within which budget. Methods
are exact and give the same answers at different cost; :mod:`hiddenite.inference` lists them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from hiddenite._core import SAMPLER_BATCH, Answer, Method, Status, Strategy, Task, TaskKind
from hiddenite.errors import ModelError, UnknownSymbolError, near_spellings
from hiddenite.results import (
    Certificate,
    Decoded,
    Failure,
    Hypothesis,
    KBest,
    Marginals,
    Sample,
    Samples,
    WordAnswer,
)

METHODS = {
    m.name.lower(): m
    for m in (Method.AUTO, Method.REFINE, Method.PAPER, Method.FULL, Method.DOMINANCE, Method.SPARSE)
}
STRATEGIES = {"all": Strategy.ALL_BY_ONE, "full": Strategy.FULL_CONTEXT, "culprit": Strategy.CULPRIT}
StrategyName = Literal["all", "full", "culprit"]
MethodName = Literal["auto", "refine", "paper", "full", "dominance", "sparse"]
EPSILON = 1e-9  # of a sum may be left out, by default
_UNLIMITED = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop before the proof is complete, per record; the default never does."""

    seconds: float = math.inf
    refinements: int = _UNLIMITED
    states: int = _UNLIMITED

    def __post_init__(self) -> None:
        if not self.seconds >= 0:
            raise ModelError(f"the budget is {self.seconds} seconds, expected 0 or more")
        for name, value in (("refinements", self.refinements), ("states", self.states)):
            if not 0 <= value <= _UNLIMITED:
                raise ModelError(f"the budget is {value} {name}, expected 0 or more")

    @classmethod
    def of(cls, budget: Budget | float | None) -> Budget:
        """Read a budget; a number is seconds."""
        if budget is None:
            return cls()
        if isinstance(budget, Budget):
            return budget
        return cls(seconds=float(budget))


@dataclass(frozen=True, slots=True)
class Rejection:
    """How ``refine`` and ``paper`` sample: draws per bound, and when the bound is good enough."""

    batch: int = SAMPLER_BATCH  # draws from one bound before it is refined, B in the paper
    target_rate: float = 0.5  # the bound is fixed once this share of the trials is accepted,
    rate_window: int = 100  # counted over so many last trials (AR-100); 0: over all (AR)

    def __post_init__(self) -> None:
        if self.batch < 1 or self.rate_window < 0 or not 0 < self.target_rate <= 1:
            raise ModelError("expected a batch of 1 or more, a window of 0 or more, a rate in (0, 1]")


@dataclass(frozen=True, slots=True)
class Query:
    """What to ask of every record, and how to read the answer."""

    kind: TaskKind
    method: str = "auto"
    count: int = 1
    seed: int = 0
    budget: Budget = Budget()
    end: bool = True  # </s> follows the last word
    strategy: str = "all"  # refine: which contexts of a rejected path become longer
    rejection: Rejection = Rejection()
    epsilon: float = EPSILON  # sums: the share of all weight that may be left out

    def task(self) -> Task:
        """Return the core's form."""
        if self.method not in METHODS:
            raise UnknownSymbolError("method", self.method, near_spellings(self.method, METHODS))
        if not 1 <= self.count <= _UNLIMITED:
            raise ModelError(f"the count is {self.count}, expected 1 or more, below 2^64")
        if self.strategy not in STRATEGIES:
            raise UnknownSymbolError("strategy", self.strategy, near_spellings(self.strategy, STRATEGIES))
        if not 0 <= self.epsilon < 1:
            raise ModelError(f"epsilon is {self.epsilon}, expected a share of the sum: 0 or more, below 1")
        b, r = self.budget, self.rejection
        return Task(
            self.kind,
            METHODS[self.method],
            self.count,
            self.seed & _UNLIMITED,
            b.seconds,
            b.refinements,
            b.states,
            self.end,
            STRATEGIES[self.strategy],
            r.batch,
            r.target_rate,
            r.rate_window,
            self.epsilon,
        )

    def result(self, answer: Answer) -> WordAnswer | Failure:
        """Turn the core's answer into a record."""
        if answer.status != Status.DONE:
            position = answer.position + 1 if answer.status == Status.EMPTY_SUPPORT else None
            return Failure(answer.error, position, _id(answer))
        return _READERS[self.kind](answer)


# ------------------------------------------------------------ reading answers


def _id(answer: Answer) -> str | int | None:
    return int(answer.id) if answer.id_is_integer else answer.id or None


def certificate_of(answer: Answer) -> Certificate:
    """Return the certificate of the best path or the k best."""
    c = answer.certificate
    assert c is not None
    return Certificate(c.exact, c.upper, c.lower, c.method.name.lower(), c.refinements, c.states)


def _nodes(answer: Answer) -> list[tuple[int, ...]]:
    """Return the nodes of a lattice that each path passes; nothing of positions in a row."""
    spans = answer.spans
    if not spans:
        return [()] * len(answer.words)
    return [(0, *(spans[slot][1] for slot in route)) for route in answer.routes]


def _decoded(answer: Answer) -> Decoded:
    return Decoded(
        tuple(answer.words[0]),
        answer.log_weights[0],
        certificate_of(answer),
        _id(answer),
        _nodes(answer)[0],
    )


def _mbr(answer: Answer) -> Decoded:
    c = answer.certificate  # of the negative, which is maximised
    assert c is not None
    method = c.method.name.lower()
    proof = Certificate(c.exact, -c.lower, -c.upper, method, c.refinements, c.states, "expected_errors")
    words, log_weight = tuple(answer.words[0]), answer.log_weights[0]
    return Decoded(words, log_weight, proof, _id(answer), expected_errors=answer.expected_errors)


def _kbest(answer: Answer) -> KBest[Hypothesis]:
    rows = zip(answer.words, answer.log_weights, _nodes(answer), strict=True)
    return KBest(tuple(Hypothesis(tuple(w), v, n) for w, v, n in rows), certificate_of(answer), _id(answer))


def _samples(answer: Answer) -> Samples[Sample]:
    rows = zip(answer.words, answer.log_weights, answer.counts, _nodes(answer), strict=True)
    samples = [Sample(tuple(w), v, c, n) for w, v, c, n in rows]
    order = sorted(range(len(samples)), key=lambda i: (-samples[i].count, -samples[i].log_weight))
    place = {old: new for new, old in enumerate(order)}
    return Samples(
        tuple(samples[i] for i in order),
        tuple(place[i] for i in answer.draws),
        answer.log_partition.value,
        None if answer.log_partition.value is None else answer.log_partition.error,
        answer.log_partition.lower,
        answer.log_partition.upper,
        answer.error_bound,
        answer.trials,
        answer.complete,
        answer.method.name.lower(),
        _id(answer),
    )


def _marginals(answer: Answer) -> Marginals:
    slots = (
        tuple(sorted(zip(words, probs, strict=True), key=lambda pair: -pair[1]))
        for words, probs in zip(answer.slot_words, answer.marginals, strict=True)
    )
    total = answer.log_partition
    assert total.value is not None
    return Marginals(
        tuple(slots),
        total.value,
        total.lower,
        total.upper,
        answer.error_bound,
        _id(answer),
        tuple(answer.spans),
    )


_READERS: dict[TaskKind, Callable[[Answer], WordAnswer]] = {
    TaskKind.DECODE: _decoded,
    TaskKind.MBR: _mbr,
    TaskKind.KBEST: _kbest,
    TaskKind.SAMPLE: _samples,
    TaskKind.MARGINALS: _marginals,
}
