"""Lattices under a language model: the best words, the k best, posteriors, draws; every answer exact.

    weight of a path = sum over its edges of
        channel_weight * acoustic + pronunciation + old_lm_weight * language
        + for each word: lm_weight * ln p(word | words before) + word_penalty
    all divided by the temperature.

How the best path is found (``method``), always with the same answer:

    dominance      best first, under a bound that knows the last word alone: states that provably lose are
                   never made (``cpp/hiddenite/lattice/best_path.hpp``); ``auto`` is this
    refine, paper  the loop of :func:`hiddenite.search` on the lattice: a bound is refined where its best path
                   was too optimistic (``cpp/hiddenite/exact/bound/graph_bound.hpp``); for one model
    full           on the product of lattice and model

A ``budget`` that ends first gives the best so far and what the best can weigh. Sums, posteriors, draws and
sequences of the largest sum are dynamic programs on the product, walked once when the first is asked, with
epsilon edges, fillers and parallel edges as they are; their certificates say ``full``: no path was left out.
Mixtures of models (:class:`~hiddenite.ngram_mixture.ModelMixture`) are asked in the same ways.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Sequence
from typing import Literal

from hiddenite._core import (
    SILENT,
    Composition,
    LatticeSearch,
    NgramTable,
    best_lattice_path,
    best_mixture_path,
)
from hiddenite.errors import EmptySupportError, ModelError, UnknownSymbolError, near_spellings
from hiddenite.lattice import Lattice
from hiddenite.lattice.columns import Columns, LatticeWeights
from hiddenite.lattice.lattice import Edge
from hiddenite.ngram import NgramModel
from hiddenite.ngram_mixture import MixtureWords, ModelMixture
from hiddenite.options import check_seed
from hiddenite.query import Budget, StrategyName
from hiddenite.results import Certificate, Decoded, Hypothesis, KBest, Sample, Samples
from hiddenite.searching import WATCHED, Search, refining
from hiddenite.vocabulary import SENTENCE_BEGIN, SENTENCE_END

__all__ = [
    "MAX_PREFIXES",
    "METHODS",
    "TRANSPARENT",
    "Distinct",
    "LatticeMethod",
    "LatticeWeights",
    "Rescored",
]

# Words of recognisers' lattices that are no words of a text: sentence ends, which are added, and silence.
TRANSPARENT = frozenset({SENTENCE_BEGIN, SENTENCE_END, "!SENT_START", "!SENT_END", "-pau-", "<sil>", "<SIL>"})
MAX_PREFIXES = 200_000  # opened by the search for sequences of the largest sum
Distinct = Literal["max", "sum", "paths"]
LatticeMethod = Literal["auto", "refine", "paper", "full", "dominance"]
METHODS: tuple[LatticeMethod, ...] = ("auto", "refine", "paper", "full", "dominance")


class Rescored:
    """A lattice times a language model, or the lattice alone, ready for questions."""

    def __init__(
        self,
        lattice: Lattice,
        lm: NgramModel | ModelMixture | None = None,
        weights: LatticeWeights | None = None,
        *,
        transparent: Collection[str] = TRANSPARENT,
        begin: bool = True,
        end: bool = True,
        max_states: int = 50_000_000,
        method: LatticeMethod = "auto",
        budget: Budget | float | None = None,
    ) -> None:
        if not isinstance(lattice, Lattice):
            raise ModelError(
                f"found {lattice!r:.40}, expected a lattice; read_lattices reads them from a file"
            )
        if not isinstance(lm, NgramModel | ModelMixture | None):
            raise ModelError(f"found {lm!r:.40}, expected a language model; NgramModel.load reads one")
        if method not in METHODS:
            raise UnknownSymbolError("method", method, near_spellings(method, METHODS))
        if method in WATCHED and not isinstance(lm, NgramModel):
            what = "the lattice's own scores are exact as they are" if lm is None else "found a mixture"
            raise ModelError(f"{method} refines a bound of one language model; {what}; use auto")
        self.lattice = lattice
        self.lm = lm
        self._method = method
        self._budget = Budget.of(budget)
        weights = weights or LatticeWeights()
        scales = lattice.scales
        lm_weight = scales.language if weights.lm_weight is None else weights.lm_weight
        if lm is not None and lm_weight < 0:
            raise ModelError(f"lmscale of the lattice is {lm_weight}, expected 0 or more; give --lm-weight")
        numbers = lm.numbered() if isinstance(lm, ModelMixture) else None if lm is None else lm.vocabulary
        self._columns = Columns(lattice, numbers, weights, transparent)
        self.words = self._columns.words  # [label]
        self._scale = lm_weight / weights.temperature if lm is not None else 0.0
        self._begin, self._end = begin, end
        self._max_states = max_states
        self._graph = self._columns.graph()
        self._numbers = numbers if isinstance(numbers, MixtureWords) else None
        self._best_edges, self._best_log_weight, self._proof = self._find_best()
        if self._proof.upper == -math.inf:
            raise ModelError(self._why_no_path())

    def __repr__(self) -> str:
        return f"<Rescored {self.lattice!r:.60}>"

    @functools.cached_property
    def core(self) -> Composition:
        """The product of the lattice and the model."""
        seconds = self._budget.seconds
        how = (self._graph, self._scale, self._begin, self._end, self._max_states, seconds)
        if not self._numbers:
            return Composition(self._table, *how)
        tables, shares, ids = self._numbers.core()
        return Composition.mixture(tables, shares, ids, *how)

    @property
    def _table(self) -> NgramTable | None:
        return self.lm._table if isinstance(self.lm, NgramModel) else None

    # ------------------------------------------------------------- best path

    def _find_best(self) -> tuple[list[int], float, Certificate]:
        """Return the edges of the best path, its weight, and the proof."""
        if self._method in WATCHED:
            return self._refine()
        if self._method == "full":
            edges, weight = self.core.best() if self.core.has_path else ([], -math.inf)
            return edges, weight, Certificate(True, weight, weight, "full", 0, self.core.num_states)
        states = min(self._max_states, self._budget.states)
        how = (self._graph, self._scale, self._begin, self._end, states, self._budget.seconds)
        if self._numbers:
            tables, shares, ids = self._numbers.core()
            found = best_mixture_path(tables, shares, ids, *how)
        else:
            found = best_lattice_path(self._table, *how)
        edges, weight, exact, upper, made = found
        return edges, weight, Certificate(exact, upper, weight, "dominance", 0, made)

    def _refine(self) -> tuple[list[int], float, Certificate]:
        try:
            edges, weight, proof = self._stepper("all").run(*self._limits)
        except EmptySupportError:
            return [], -math.inf, Certificate(True, -math.inf, -math.inf, self._method, 0, 0)
        return edges, weight, self._refined(weight, proof)

    def _refined(self, weight: float, proof: tuple[bool, float, int, int]) -> Certificate:
        exact, upper, refinements, states = proof
        return Certificate(exact, upper, weight, self._method, refinements, states)

    @property
    def _limits(self) -> tuple[float, int, int]:
        return self._budget.seconds, self._budget.refinements, min(self._budget.states, self._max_states)

    def _stepper(self, strategy: StrategyName, method: str | None = None) -> LatticeSearch:
        core_strategy, is_paper = refining(method or self._method, strategy)
        assert self._table is not None
        how = (self._graph, self._scale, self._begin, self._end)
        return LatticeSearch(self._table, *how, core_strategy, is_paper)

    def search(
        self, *, method: Literal["refine", "paper"] = "refine", strategy: StrategyName = "all"
    ) -> Search:
        """Watch the search for the best path; see :func:`hiddenite.search`."""
        if not isinstance(self.lm, NgramModel):
            raise ModelError("search refines a bound of one language model, found none or several; use best")
        return Search(self._stepper(strategy, method), self._text, self.lm.vocabulary)

    def _why_no_path(self) -> str:
        unknown = self._columns.unknown
        if self.lm is None or self.lm.knows_unknown or not unknown:
            return "every path of the lattice has weight zero"
        names = ", ".join(f"'{word}'" for word in sorted(unknown)[:3])
        more = f" and {len(unknown) - 3} more words" if len(unknown) > 3 else ""
        return (
            f"every path has a word that the model does not know ({names}{more}) and gives probability zero; "
            "give p(<unk>) (--unk-log10 -5), or name fillers with --transparent FILE"
        )

    # ---------------------------------------------------------------- maxima

    def best(self) -> Decoded:
        """Return the best path's words; no other path weighs more."""
        edges = self._best_edges
        return Decoded(
            self._text(edges), self._best_log_weight, self._proof, self.lattice.id, self._nodes(edges)
        )

    def best_edges(self) -> list[Edge]:
        """Return the edges of the best path, those without a word included."""
        return [self.lattice.edges[i] for i in self._origins(self._best_edges)]

    def kbest(
        self, k: int, distinct: Distinct = "max", max_prefixes: int = MAX_PREFIXES
    ) -> KBest[Hypothesis]:
        """Return the k best word sequences, each once, or the k best paths (``distinct="paths"``).

        A sequence weighs what the best of its paths weighs (``max``) or the sum over all of them (``sum``).
        The search for the largest sums may end before it is complete, after ``max_prefixes``; the certificate
        says so.
        """
        if not 1 <= k < 2**64:
            raise ModelError(f"k is {k}, expected 1 or more, below 2^64")
        if distinct not in ("max", "sum", "paths"):
            raise ModelError(f"distinct is '{distinct}', expected max, sum or paths")
        if self._method in WATCHED:
            return self._kbest_by_refining(k, distinct)
        labels = list(range(len(self._columns.label))) if distinct == "paths" else self._columns.label
        limit = max_prefixes if distinct == "sum" else 2**64 - 1
        rows, complete, upper = self.core.rank(labels, k, distinct == "sum", limit)
        if not rows:  # only sums can end like that: what the maxima find first stands for it
            edges = self._best_edges
            sequence = [labels[i] for i in edges if labels[i] != SILENT]
            rows = [(sequence, edges, self.core.total_of(labels, sequence))]
            proof = self._proved(rows[0][2], upper=max(upper, rows[0][2]))
        else:
            proof = self._proved(rows[0][2], complete=complete)
        hypotheses = tuple(
            Hypothesis(self._text(edges), weight, self._nodes(edges)) for _, edges, weight in rows
        )
        return KBest(hypotheses, proof, self.lattice.id)

    def _kbest_by_refining(self, k: int, distinct: Distinct) -> KBest[Hypothesis]:
        if distinct == "sum":
            raise ModelError(f"{self._method} finds paths, not sums of paths; use auto for distinct sum")
        labels = [] if distinct == "paths" else self._columns.label
        rows, weights, proof = self._stepper("all").kbest(k, labels, *self._limits)
        pairs = zip(rows, weights, strict=True)
        hypotheses = tuple(Hypothesis(self._text(edges), w, self._nodes(edges)) for edges, w in pairs)
        return KBest(hypotheses, self._refined(weights[0], proof), self.lattice.id)

    # ------------------------------------------------------------------ sums

    @property
    def log_partition(self) -> float:
        """ln of the sum of all paths' weights."""
        return self.core.log_partition

    @property
    def log_partition_bounds(self) -> tuple[float, float]:
        """What ln of the sum lies between, whatever rounding has done."""
        return self.log_partition - self._rounding, self.log_partition + self._rounding

    @property
    def error_bound(self) -> float:
        """No probability is further from the true one: sums of large weights lose digits."""
        return 1.0 if self._rounding > 0.25 else math.expm1(2 * self._rounding)

    @functools.cached_property
    def _rounding(self) -> float:
        return self.core.rounding

    def posteriors(self) -> list[float]:
        """Return the probability of each edge of the lattice."""
        result = [0.0] * len(self.lattice.edges)
        for origin, prob in zip(self._columns.origin, self.core.posteriors(), strict=True):
            result[origin] = prob  # the same for all words of an edge with several
        return result

    def best_through(self) -> list[float]:
        """Return, of each edge of the lattice, the weight of the best path through it."""
        result = [-math.inf] * len(self.lattice.edges)
        for origin, weight in zip(self._columns.origin, self.core.best_through(), strict=True):
            result[origin] = weight
        return result

    def sample(self, n: int, *, seed: int, stream: int = 0) -> Samples[Sample]:
        """Draw n independent paths from the posterior."""
        if not 1 <= n < 2**64:
            raise ModelError(f"n is {n}, expected 1 or more, below 2^64")
        check_seed(seed)
        counts: dict[tuple[int, ...], list[int]] = {}
        weights: dict[tuple[int, ...], float] = {}
        for number, (edges, weight) in enumerate(self.core.sample(n, seed, stream)):
            path = tuple(edges)
            counts.setdefault(path, []).append(number)
            weights[path] = weight
        order = sorted(counts, key=lambda path: (-len(counts[path]), -weights[path]))
        draws = [0] * n
        for place, path in enumerate(order):
            for number in counts[path]:
                draws[number] = place
        samples = tuple(
            Sample(self._text(path), weights[path], len(counts[path]), self._nodes(path)) for path in order
        )
        lower, upper = self.log_partition_bounds
        z, error = self.log_partition, self.error_bound
        return Samples(samples, tuple(draws), z, 0.0, lower, upper, error, n, True, "full", self.lattice.id)

    # ---------------------------------------------------------------- inside

    @property
    def labels(self) -> list[int]:
        """The label of each edge of the product's lattice: a number of ``words``, or SILENT."""
        return self._columns.label

    @property
    def columns(self) -> Columns:
        """The lattice as the core has it."""
        return self._columns

    def _origins(self, edges: Sequence[int]) -> list[int]:
        """Return the edges of the lattice, each once, of a path of the core."""
        found: list[int] = []
        for edge in edges:
            if not self._columns.is_inner[edge]:
                found.append(self._columns.origin[edge])
        return found

    def _nodes(self, edges: Sequence[int]) -> tuple[int, ...]:
        path = self._origins(edges)
        return (self.lattice.start, *(self.lattice.edges[i].end for i in path))

    def _text(self, edges: Sequence[int]) -> tuple[str, ...]:
        labels = (self._columns.label[i] for i in edges)
        return tuple(self.words[label] for label in labels if label != SILENT)

    def _proved(self, log_weight: float, *, complete: bool = True, upper: float | None = None) -> Certificate:
        exact = complete and upper is None
        bound = log_weight if upper is None else upper
        return Certificate(exact, bound, log_weight, "full", 0, self.core.num_states)
