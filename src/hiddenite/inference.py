"""Exact inference: decode, k-best, sample, marginals, each with its proof.

A target is a language model times candidates with channel weights. ``method`` picks among exact methods that
give the same answers at different cost: ``refine`` (refinement of an upper bound), ``paper`` (the same as
published), ``full`` (dynamic programming over the model's states), ``dominance`` (the same without states
that provably lose), and ``auto``. See ``cpp/hiddenite/engine.hpp`` for
the door to the core.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Literal, TypeVar

from hiddenite._core import Decoder, TaskKind
from hiddenite.candidates import Candidates
from hiddenite.channel import Channel
from hiddenite.errors import (
    BudgetExceeded,
    EmptySupportError,
    HiddeniteError,
    ModelError,
    UnknownSymbolError,
    near_spellings,
)
from hiddenite.lattice import Lattice
from hiddenite.mixture_inference import WeighedMixture
from hiddenite.ngram import NgramModel
from hiddenite.ngram_mixture import ModelMixture
from hiddenite.proof import prove
from hiddenite.query import EPSILON, Budget, MethodName, Query, Rejection, StrategyName
from hiddenite.rescoring import Rescored
from hiddenite.results import (
    Decoded,
    Failure,
    Hypothesis,
    KBest,
    Marginals,
    Sample,
    Samples,
    WordAnswer,
)
from hiddenite.searching import Search, refining

BATCH = 64  # records a call to the core; what an interrupt waits for
_Result = TypeVar("_Result", Decoded, KBest[Hypothesis], Samples[Sample], Marginals)


# ------------------------------------------------------------------- one record


def _check_candidates(lm: NgramModel | ModelMixture, made: Candidates | Channel) -> None:
    """Word ids mean nothing in another vocabulary."""
    if not isinstance(made, Candidates | Channel):
        raise ModelError(
            f"found {made!r:.60}, expected candidates; a channel makes them: Typo(lm.vocabulary)(text)"
        )
    if not lm.vocabulary.has_words_of(made.vocabulary):
        raise ModelError(
            "the candidates were made with another vocabulary than the model's; make them with lm.vocabulary"
        )


def _ask(lm: NgramModel | ModelMixture, candidates: Candidates, query: Query, kind: type[_Result]) -> _Result:
    _check_candidates(lm, candidates)
    if isinstance(lm, ModelMixture):
        query.task()  # checks what was asked
        mixed = WeighedMixture(lm).answer(candidates, query)
        assert isinstance(mixed, kind)
        return mixed
    result = query.result(lm.engine.answer_readings([candidates.reading], query.task(), 0, 1)[0])
    if isinstance(result, Failure):
        raise _error(result)
    assert isinstance(result, kind)
    return result


def _error(failure: Failure) -> HiddeniteError:
    if failure.position is not None:
        return EmptySupportError(failure.position, failure.error)
    return ModelError(failure.error)


def _require(result: Decoded | KBest[Hypothesis], require_exact: bool) -> None:
    if require_exact and not result.certificate.exact:
        gap = result.certificate.gap
        raise BudgetExceeded(f"the budget ended before the proof; the answer may be {gap:.4g} off", result)


def decode(
    lm: NgramModel | ModelMixture,
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
        raise ModelError("a proof needs the objective map; leave out objective or proof")
    if proof and isinstance(lm, ModelMixture):
        raise ModelError("a proof is about one model's file, found a mixture; leave out proof")
    kinds = {"map": TaskKind.DECODE, "mbr": TaskKind.MBR}
    if objective not in kinds:
        raise UnknownSymbolError("objective", objective, near_spellings(objective, kinds))
    query = Query(kinds[objective], method, budget=Budget.of(budget), end=end, strategy=strategy)
    result = _ask(lm, candidates, query, Decoded)
    _require(result, require_exact)
    if not proof or isinstance(lm, ModelMixture):
        return result
    return prove(lm, candidates, result, end=end, seconds=query.budget.seconds)


def kbest(
    lm: NgramModel | ModelMixture,
    candidates: Candidates,
    k: int,
    *,
    method: MethodName = "auto",
    budget: Budget | float | None = None,
    require_exact: bool = False,
    end: bool = True,
) -> KBest[Hypothesis]:
    """Return the k best distinct word sequences in order, fewer if there are fewer."""
    query = Query(TaskKind.KBEST, method, count=k, budget=Budget.of(budget), end=end)
    result = _ask(lm, candidates, query, KBest)
    _require(result, require_exact)
    return result


def sample(
    lm: NgramModel | ModelMixture,
    candidates: Candidates,
    n: int,
    *,
    seed: int,
    method: MethodName = "auto",
    budget: Budget | float | None = None,
    end: bool = True,
    rejection: Rejection | None = None,
    epsilon: float = EPSILON,
) -> Samples[Sample]:
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
    lm: NgramModel | ModelMixture,
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


def search(
    lm: NgramModel,
    candidates: Candidates | Lattice,
    *,
    method: Literal["refine", "paper"] = "refine",
    strategy: StrategyName = "all",
    end: bool = True,
) -> Search:
    """Watch the search: the bound's best path at each turn, until it is proved to be the best of all.

    A :class:`Lattice` has the weights of its own header; :meth:`Rescored.search` has others.
    """
    if isinstance(candidates, Lattice):
        return Rescored(candidates, lm, end=end).search(method=method, strategy=strategy)
    core_strategy, is_paper = refining(method, strategy)
    _check_candidates(lm, candidates)
    decoder = Decoder(
        lm.engine.table,
        candidates.begin,
        candidates.word_ids,
        candidates.log_weights,
        end,
        core_strategy,
        is_paper,
        candidates.spans,
    )
    if candidates.spans:
        slots, places = decoder.edges
        texts = [candidates.words(i) for i in range(len(candidates))]
        edges = [texts[slot][place] for slot, place in zip(slots, places, strict=True)]
        return Search(decoder, lambda path: tuple(edges[e] for e in path), candidates.vocabulary)
    distinct = [_distinct_words(candidates, i) for i in range(len(candidates))]
    return Search(
        decoder,
        lambda path: tuple(words[k] for words, k in zip(distinct, path, strict=True)),
        candidates.vocabulary,
    )


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
) -> Iterator[WordAnswer | Failure]:
    """Ask the same of many records, on all cores (``threads=0``); results in input order.

    The results do not depend on the number of threads. What is wrong with one record is that record's
    :class:`Failure` and stops no other.
    """
    task = query.task()
    stream = 0
    records = iter(candidates)
    while given := list(itertools.islice(records, BATCH)):
        for one in given:
            _check_candidates(lm, one)
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
) -> Iterator[KBest[Hypothesis] | Failure]:
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
) -> Iterator[Samples[Sample] | Failure]:
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
) -> list[WordAnswer | Failure]:
    """Ask the same of each line of a text, read by the channel within the core."""
    _check_candidates(lm, channel)
    answers = lm.engine.answer_lines(channel.core, text, query.task(), first_record, threads)
    return [query.result(answer) for answer in answers]
