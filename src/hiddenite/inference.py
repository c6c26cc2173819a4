"""Exact inference: decode, k-best, sample, marginals, each with its proof.

A target is a language model times candidates with channel weights. ``method`` picks among exact methods that
give the same answers at different cost: ``refine`` (refinement of an upper bound), ``paper`` (the same as
published), ``full`` (dynamic programming over the model's states), ``dominance`` (the same without states
that provably lose), and ``auto``; word lattices are for the last three. See ``cpp/hiddenite/engine.hpp`` for
the door to the core.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from hiddenite._core import SAMPLER_BATCH, Answer, Decoder, Method, Status, Strategy, Task, TaskKind
from hiddenite.channel import Candidates, Channel
from hiddenite.errors import (
    BudgetExceeded,
    EmptySupportError,
    HiddeniteError,
    ModelError,
    UnknownSymbolError,
    near_spellings,
)
from hiddenite.ngram import NgramModel
from hiddenite.proof import prove
from hiddenite.results import (
    Certificate,
    Decoded,
    Failure,
    Hypothesis,
    KBest,
    Marginals,
    Sample,
    Samples,
    Step,
)
from hiddenite.vocabulary import Vocabulary

METHODS = {
    m.name.lower(): m
    for m in (Method.AUTO, Method.REFINE, Method.PAPER, Method.FULL, Method.DOMINANCE, Method.SPARSE)
}
STRATEGIES = {"all": Strategy.ALL_BY_ONE, "full": Strategy.FULL_CONTEXT, "culprit": Strategy.CULPRIT}
StrategyName = Literal["all", "full", "culprit"]
MethodName = Literal["auto", "refine", "paper", "full", "dominance", "sparse"]
EPSILON = 1e-9  # of a sum may be left out, unless told otherwise
BATCH = 64  # records a call to the core; what an interrupt waits for
_UNLIMITED = 2**64 - 1
_Result = TypeVar("_Result", Decoded, KBest, Samples, Marginals)


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

    def result(self, answer: Answer) -> Decoded | KBest | Samples | Marginals | Failure:
        """Turn the core's answer into a record."""
        if answer.status != Status.DONE:
            position = answer.position + 1 if answer.status == Status.EMPTY_SUPPORT else None
            return Failure(answer.error, position, _id(answer))
        return _READERS[self.kind](answer)


# ------------------------------------------------------------ reading answers


def _id(answer: Answer) -> str | int | None:
    return int(answer.id) if answer.id_is_integer else answer.id or None


def _certificate(answer: Answer) -> Certificate:
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
        _certificate(answer),
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


def _kbest(answer: Answer) -> KBest:
    rows = zip(answer.words, answer.log_weights, _nodes(answer), strict=True)
    return KBest(tuple(Hypothesis(tuple(w), v, n) for w, v, n in rows), _certificate(answer), _id(answer))


def _samples(answer: Answer) -> Samples:
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


_READERS: dict[TaskKind, Callable[[Answer], Decoded | KBest | Samples | Marginals]] = {
    TaskKind.DECODE: _decoded,
    TaskKind.MBR: _mbr,
    TaskKind.KBEST: _kbest,
    TaskKind.SAMPLE: _samples,
    TaskKind.MARGINALS: _marginals,
}


# ------------------------------------------------------------------- one record


def _check_vocabulary(lm: NgramModel, made_with: Vocabulary) -> None:
    """Word ids mean nothing in another vocabulary."""
    if not lm.vocabulary.has_words_of(made_with):
        raise ModelError(
            "the candidates were made with another vocabulary than the model's; make them with lm.vocabulary"
        )


def _ask(lm: NgramModel, candidates: Candidates, query: Query, kind: type[_Result]) -> _Result:
    _check_vocabulary(lm, candidates.vocabulary)
    result = query.result(lm.engine.answer_readings([candidates.reading], query.task(), 0, 1)[0])
    if isinstance(result, Failure):
        raise _error(result)
    assert isinstance(result, kind)
    return result


def _error(failure: Failure) -> HiddeniteError:
    if failure.position is not None:
        return EmptySupportError(failure.position, failure.error)
    return ModelError(failure.error)


def _require(result: Decoded | KBest, require_exact: bool) -> None:
    if require_exact and not result.certificate.exact:
        gap = result.certificate.gap
        raise BudgetExceeded(f"the budget ended before the proof; the answer may be {gap:.4g} off", result)


def decode(
    lm: NgramModel,
    candidates: Candidates,
    *,
    method: MethodName = "auto",
    objective: Literal["map", "mbr"] = "map",
    budget: Budget | float | None = None,
    require_exact: bool = False,
    end: bool = True,
    strategy: StrategyName = "all",
    proof: bool = False,
) -> Decoded:
    """Return the best word sequence, with its certificate.

    ``objective="mbr"`` returns the sequence of least expected word errors instead of the most probable one. A
    ``budget`` that ends first returns the best so far and how far off it can be; with ``require_exact`` it
    raises :class:`BudgetExceeded`. ``end=False``: the text need not end after the last word. ``strategy`` is
    for ``refine``: which contexts of a rejected path become longer, "all" by one word, all to their "full"
    length, or the "culprit" alone. ``proof=True`` adds the proof as data, see :func:`hiddenite.write_proofs`.
    """
    if proof and objective != "map":
        raise ModelError("a proof is of the objective map; leave out objective or proof")
    kinds = {"map": TaskKind.DECODE, "mbr": TaskKind.MBR}
    if objective not in kinds:
        raise UnknownSymbolError("objective", objective, near_spellings(objective, kinds))
    query = Query(kinds[objective], method, budget=Budget.of(budget), end=end, strategy=strategy)
    result = _ask(lm, candidates, query, Decoded)
    _require(result, require_exact)
    return prove(lm, candidates, result, end=end, seconds=query.budget.seconds) if proof else result


def kbest(
    lm: NgramModel,
    candidates: Candidates,
    k: int,
    *,
    method: MethodName = "auto",
    budget: Budget | float | None = None,
    require_exact: bool = False,
    end: bool = True,
) -> KBest:
    """Return the k best distinct word sequences in order, fewer if there are fewer."""
    query = Query(TaskKind.KBEST, method, count=k, budget=Budget.of(budget), end=end)
    result = _ask(lm, candidates, query, KBest)
    _require(result, require_exact)
    return result


def sample(
    lm: NgramModel,
    candidates: Candidates,
    n: int,
    *,
    seed: int,
    method: MethodName = "auto",
    budget: Budget | float | None = None,
    end: bool = True,
    rejection: Rejection | None = None,
    epsilon: float = EPSILON,
) -> Samples:
    """Draw n independent word sequences from the posterior.

    ``rejection`` is for ``refine`` and ``paper``, which draw from a bound and accept or reject; where their
    ``budget`` ends, there are fewer draws. The other methods draw from a sum that may leave out the share
    ``epsilon`` of all weight; ``total_variation`` says how far the draws' distribution can be from the
    posterior. A sum that is not complete is a ModelError.
    """
    query = Query(
        TaskKind.SAMPLE,
        method,
        count=n,
        seed=seed,
        budget=Budget.of(budget),
        end=end,
        rejection=rejection or Rejection(),
        epsilon=epsilon,
    )
    return _ask(lm, candidates, query, Samples)


def marginals(
    lm: NgramModel,
    candidates: Candidates,
    *,
    budget: Budget | float | None = None,
    end: bool = True,
    epsilon: float = EPSILON,
) -> Marginals:
    """Return each candidate's posterior probability at its position, and ln of the total weight.

    The share ``epsilon`` of all weight may be left out, which saves time; the result says how far off that
    can make it. Sums that are not complete bound nothing: where the ``budget`` ends before, that is a
    ModelError.
    """
    query = Query(TaskKind.MARGINALS, budget=Budget.of(budget), end=end, epsilon=epsilon)
    return _ask(lm, candidates, query, Marginals)


class Search(Iterator[Step]):
    """A search that is watched turn by turn; see :func:`search`."""

    def __init__(
        self, lm: NgramModel, candidates: Candidates, method: str, strategy: StrategyName, end: bool
    ) -> None:
        if strategy not in STRATEGIES:
            raise UnknownSymbolError("strategy", strategy, near_spellings(strategy, STRATEGIES))
        if method not in ("refine", "paper"):
            raise UnknownSymbolError("method", method, near_spellings(method, ("refine", "paper")))
        _check_vocabulary(lm, candidates.vocabulary)
        if candidates.spans:
            raise ModelError("a search is watched on positions in a row, and this is a lattice; use decode")
        self._vocabulary = candidates.vocabulary
        self._distinct = [_distinct_words(candidates, i) for i in range(len(candidates))]
        self._decoder = Decoder(
            lm.engine.table,
            candidates.begin,
            candidates.word_ids,
            candidates.log_weights,
            end,
            STRATEGIES[strategy],
            method == "paper",
        )
        self.done = False  # the last path is proved to be the best of all

    def __next__(self) -> Step:
        if self.done:
            raise StopIteration
        step = self._decoder.step()
        self.done = step.done
        return Step(
            tuple(words[k] for words, k in zip(self._distinct, step.trial.path, strict=True)),
            step.trial.log_q,
            step.trial.log_p,
            step.upper,
            step.lower,
            step.states,
        )

    def contexts(self, position: int) -> list[tuple[str, ...]]:
        """Return what the bound's states before a position know: the words that the history ends in.

        The number of positions stands for ``</s>``. A search begins with one state each, which knows nothing;
        contexts of several words are where it had to look closer.
        """
        return [tuple(self._vocabulary[w] for w in words) for words, _ in self._decoder.states(position)]


def search(
    lm: NgramModel,
    candidates: Candidates,
    *,
    method: Literal["refine", "paper"] = "refine",
    strategy: StrategyName = "all",
    end: bool = True,
) -> Search:
    """Watch the search: the bound's best path at each turn, until it is proved to be the best of all."""
    return Search(lm, candidates, method, strategy, end)


def _distinct_words(candidates: Candidates, position: int) -> list[str]:
    """Return the words that the core tells apart, in its order: by id, the best spelling of each."""
    first, last = map(int, candidates.begin[position : position + 2])
    ids = candidates.word_ids[first:last].tolist()
    rows = zip(ids, candidates.slot(position), strict=True)
    best: dict[int, tuple[str, float]] = {}
    for word_id, (word, log_weight) in sorted(rows, key=lambda row: (row[0], -row[1][1])):
        if log_weight > -math.inf:
            best.setdefault(word_id, (word, log_weight))
    return [word for word, _ in best.values()]


# -------------------------------------------------------------------- batches


def answer_many(
    lm: NgramModel, candidates: Iterable[Candidates], query: Query, threads: int = 0
) -> Iterator[Decoded | KBest | Samples | Marginals | Failure]:
    """Ask the same of many records, on all cores (``threads=0``); results in input order.

    The results do not depend on the number of threads. What is wrong with one record is that record's
    :class:`Failure` and stops no other.
    """
    task = query.task()
    stream = 0
    records = iter(candidates)
    while given := list(itertools.islice(records, BATCH)):
        for one in given:
            _check_vocabulary(lm, one.vocabulary)
        batch = [one.reading for one in given]
        yield from map(query.result, lm.engine.answer_readings(batch, task, stream, threads))
        stream += len(batch)


def decode_many(
    lm: NgramModel,
    candidates: Iterable[Candidates],
    *,
    method: MethodName = "auto",
    budget: Budget | float | None = None,
    end: bool = True,
    threads: int = 0,
) -> Iterator[Decoded | Failure]:
    """Decode many records; see :func:`answer_many`."""
    query = Query(TaskKind.DECODE, method, budget=Budget.of(budget), end=end)
    for result in answer_many(lm, candidates, query, threads):
        assert isinstance(result, Decoded | Failure)
        yield result


def kbest_many(
    lm: NgramModel,
    candidates: Iterable[Candidates],
    k: int,
    *,
    method: MethodName = "auto",
    budget: Budget | float | None = None,
    end: bool = True,
    threads: int = 0,
) -> Iterator[KBest | Failure]:
    """Give the k best sequences of many records; see :func:`answer_many`."""
    query = Query(TaskKind.KBEST, method, count=k, budget=Budget.of(budget), end=end)
    for result in answer_many(lm, candidates, query, threads):
        assert isinstance(result, KBest | Failure)
        yield result


def sample_many(
    lm: NgramModel,
    candidates: Iterable[Candidates],
    n: int,
    *,
    seed: int,
    method: MethodName = "auto",
    budget: Budget | float | None = None,
    end: bool = True,
    threads: int = 0,
) -> Iterator[Samples | Failure]:
    """Draw n sequences for each of many records; see :func:`answer_many`."""
    query = Query(TaskKind.SAMPLE, method, count=n, seed=seed, budget=Budget.of(budget), end=end)
    for result in answer_many(lm, candidates, query, threads):
        assert isinstance(result, Samples | Failure)
        yield result


def marginals_many(
    lm: NgramModel,
    candidates: Iterable[Candidates],
    *,
    budget: Budget | float | None = None,
    end: bool = True,
    threads: int = 0,
) -> Iterator[Marginals | Failure]:
    """Give the marginals of many records; see :func:`answer_many`."""
    query = Query(TaskKind.MARGINALS, budget=Budget.of(budget), end=end)
    for result in answer_many(lm, candidates, query, threads):
        assert isinstance(result, Marginals | Failure)
        yield result


def answer_lines(
    lm: NgramModel, channel: Channel, text: bytes, query: Query, *, first_record: int = 0, threads: int = 0
) -> list[Decoded | KBest | Samples | Marginals | Failure]:
    """Ask the same of each line of a text, read by the channel within the core."""
    _check_vocabulary(lm, channel.vocabulary)
    answers = lm.engine.answer_lines(channel.core, text, query.task(), first_record, threads)
    return [query.result(answer) for answer in answers]
