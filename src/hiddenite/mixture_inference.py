"""Candidates under a mixture of language models: the questions of :mod:`hiddenite.inference`, as exact.

A mixture has no table of back-off weights that the engine could walk: after a context that only some models
list, each model backs off with a weight of its own. So a record becomes a word lattice, whose states have a
context of every model (:mod:`hiddenite.rescoring`). The best sequence is searched for best first, under a
bound that knows the last word alone; where a budget ends the search, its gap is known. All else is a dynamic
program over the product of candidates and models, which grows with the candidates of a position to the power
of the longest context: where it does not fit, the record is refused (``Budget(states=...)``, 50 million
unless told otherwise), and fewer candidates a position are the remedy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from hiddenite._core import TaskKind
from hiddenite.candidates import Candidates
from hiddenite.channel import Channel
from hiddenite.errors import HiddeniteError, ModelError
from hiddenite.lattice import Edge, Lattice
from hiddenite.lattice.lattice import Final
from hiddenite.ngram_mixture import ModelMixture
from hiddenite.query import Query
from hiddenite.rescoring import LatticeWeights, Rescored
from hiddenite.results import Certificate, Decoded, Failure, KBest, Marginals, Samples, WordAnswer

METHODS = ("auto", "full", "dominance")
MAX_STATES = 50_000_000


@dataclass(frozen=True, slots=True)
class WeighedMixture:
    """A mixture and how it is asked: times a weight, after ``<s>`` or after nothing that is known."""

    mixture: ModelMixture
    lm_weight: float = 1.0
    begin: bool = True

    def answer(self, candidates: Candidates, query: Query, stream: int = 0) -> WordAnswer:
        """Answer one record; ModelError: it has no answer, or not within the budget."""
        if query.method not in METHODS:
            raise ModelError(f"{query.method} is for one language model; use {', '.join(METHODS)}")
        scored = self._scored(candidates, query)
        answer = _ANSWERS[query.kind](scored, candidates, query, stream)
        return answer if candidates.spans else _in_a_row(answer)

    def answer_lines(
        self, channel: Channel, lines: Sequence[bytes], query: Query, first_record: int, threads: int = 0
    ) -> list[WordAnswer | Failure]:
        """Answer what the channel reads of each line, in order; what is wrong with one stops no other."""

        def one(number: int) -> WordAnswer | Failure:
            name: str | int | None = None
            try:
                candidates = channel(lines[number].decode())
                name = candidates.id
                return self.answer(candidates, query, first_record + number)
            except UnicodeDecodeError as error:
                return Failure(f"column {error.start + 1}: expected UTF-8 text", None, None)
            except HiddeniteError as error:
                return Failure(str(error), None, name)

        with ThreadPoolExecutor(threads or None) as pool:
            return list(pool.map(one, range(len(lines))))

    def _scored(self, candidates: Candidates, query: Query) -> Rescored:
        spans = candidates.spans or [(i, i + 1) for i in range(len(candidates))]
        slots = [candidates.slot(i) for i in range(len(candidates))]
        edges = [
            Edge(*span, word, weight)
            for span, slot in zip(spans, slots, strict=True)
            for word, weight in slot
        ]
        last = max((end for _, end in spans), default=0)
        states = min(query.budget.states, MAX_STATES)
        return Rescored(
            Lattice(edges, {last: Final()}, id=candidates.id),
            self.mixture,
            LatticeWeights(lm_weight=self.lm_weight),
            transparent=(),
            begin=self.begin,
            end=query.end,
            max_states=states,
            method="full" if query.method == "full" else "auto",
            budget=query.budget,
        )


def _in_a_row(answer: WordAnswer) -> WordAnswer:
    """Leave out nodes, which say nothing of positions in a row."""
    if isinstance(answer, Decoded):
        return replace(answer, nodes=())
    if isinstance(answer, KBest):
        return replace(answer, hypotheses=tuple(replace(one, nodes=()) for one in answer.hypotheses))
    if isinstance(answer, Samples):
        return replace(answer, samples=tuple(replace(one, nodes=()) for one in answer.samples))
    return replace(answer, spans=())


def _best(scored: Rescored, candidates: Candidates, query: Query, stream: int) -> Decoded:
    del candidates, query, stream
    return scored.best()


def _kbest(scored: Rescored, candidates: Candidates, query: Query, stream: int) -> WordAnswer:
    del candidates, stream
    return scored.kbest(query.count, "paths")


def _sample(scored: Rescored, candidates: Candidates, query: Query, stream: int) -> WordAnswer:
    del candidates
    return scored.sample(query.count, seed=query.seed, stream=stream)


def _slots(scored: Rescored, candidates: Candidates) -> list[list[tuple[str, float]]]:
    """Return the words of each position with their probabilities, in the order of the candidates."""
    probs = iter(scored.posteriors())
    return [[(word, next(probs)) for word in candidates.words(i)] for i in range(len(candidates))]


def _marginals(scored: Rescored, candidates: Candidates, query: Query, stream: int) -> Marginals:
    del query, stream
    slots = (tuple(sorted(slot, key=lambda pair: -pair[1])) for slot in _slots(scored, candidates))
    lower, upper = scored.log_partition_bounds
    return Marginals(
        tuple(slots),
        scored.log_partition,
        lower,
        upper,
        scored.error_bound,
        candidates.id,
        tuple(candidates.spans),
    )


def _fewest_errors(scored: Rescored, candidates: Candidates, query: Query, stream: int) -> Decoded:
    """Positions are fixed, so the least expected number of wrong words is found slot by slot."""
    del query, stream
    if candidates.spans:
        raise ModelError(
            "the record is a lattice, where words have no fixed positions to be wrong at; use the objective "
            "map, or lattice decode --objective mbr"
        )
    chosen = [max(slot, key=lambda pair: pair[1]) for slot in _slots(scored, candidates)]
    errors = math.fsum(1.0 - prob for _, prob in chosen)
    off = len(chosen) * scored.error_bound
    exact = off <= 2e-9 * max(len(chosen), 1)
    bounds = (errors, errors) if exact else (errors + off, max(errors - off, 0.0))
    proof = Certificate(exact, *bounds, "full", 0, scored.core.num_states, "expected_errors")
    words = tuple(word for word, _ in chosen)
    labels = [scored.words.index(word) for word in words]
    log_weight = scored.core.total_of(scored.labels, labels)
    return Decoded(words, log_weight, proof, candidates.id, expected_errors=errors)


_ANSWERS = {
    TaskKind.DECODE: _best,
    TaskKind.KBEST: _kbest,
    TaskKind.SAMPLE: _sample,
    TaskKind.MARGINALS: _marginals,
    TaskKind.MBR: _fewest_errors,
}
