"""The laws of every answer, against enumeration in rational numbers: no rounding on this side.

A `World` is a small random back-off model (weights above 1, probabilities of zero) with a row of positions or
a lattice, whose channel weights are of any size. Each law speaks of one answer and raises AssertionError.

    lower <= optimum <= upper;   exact => the answer is an optimum;   what is impossible is never an answer

The core adds doubles. What it reports may be off by a rounding a term, relative to the largest sum on the way
(`World.rounding`); which path it chooses may be off by a rounding of weights above the best of each position,
which is far less when all weights are large (`World.choice_rounding`).
"""

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from hiddenite import Candidates, NgramModel
from hiddenite.results import Decoded, Hypothesis, KBest, Marginals, Sample, Samples
from tests.models import load
from tests.oracle import BOS, EOS, UNK, Backoff, arpa_text
from tests.strategies import closure

Edge = tuple[int, int, str, float]  # from node, to node, word, weight
Path = tuple[Fraction, tuple[str, ...], tuple[int, ...]]  # weight, words, nodes
SCALES = (1.0, 1e3, 1e6, 1e8, 1e10, 1e12)
UNIT = Fraction(1, 2**52)


@dataclass(frozen=True)
class World:
    """A model, and edges from node to node; positions in a row are the nodes 0, 1, 2 and so on."""

    oracle: Backoff
    model: NgramModel
    edges: list[Edge]
    is_row: bool
    end: bool

    @property
    def last(self) -> int:
        return max((edge[1] for edge in self.edges), default=0)

    @cached_property
    def candidates(self) -> Candidates:
        if not self.is_row:
            return Candidates.from_lattice(self.model.vocabulary, self.edges)
        slots = [[(w, x) for a, _, w, x in self.edges if a == i] for i in range(self.last)]
        return Candidates.from_slots(self.model.vocabulary, slots)

    def routes(self, node: int = 0) -> Iterator[tuple[Edge, ...]]:
        if node == self.last:
            yield ()
        for edge in self.edges:
            if edge[0] == node:
                yield from ((edge, *rest) for rest in self.routes(edge[1]))

    def log_weight(self, words: tuple[str, ...], weights: list[float]) -> Fraction | None:
        """The definition, None for a probability of zero."""
        known = set(self.oracle.words)
        history: tuple[str, ...] = (BOS,)
        total = Fraction(0)
        for word, weight in [*zip(words, weights, strict=True), *([(EOS, 0.0)] if self.end else [])]:
            symbol = word if word in known else UNK
            log_prob = self.term(symbol, history) if symbol in known else None
            if log_prob is None or weight == -math.inf:
                return None
            total += log_prob + Fraction(weight)
            history = (*history, symbol)
        return total

    def term(self, word: str, context: tuple[str, ...]) -> Fraction | None:
        """The oracle's log_prob without rounding."""
        context = context[max(0, len(context) - self.oracle.order + 1) :]
        total = Fraction(0)
        while (*context, word) not in self.oracle.log_probs:
            back_off = self.oracle.log_backoffs.get(context, 0.0)
            if not context or back_off == -math.inf:
                return None
            total += Fraction(back_off)
            context = context[1:]
        log_prob = self.oracle.log_probs[(*context, word)]
        return None if log_prob == -math.inf else total + Fraction(log_prob)

    @cached_property
    def paths(self) -> list[Path]:
        """Every path of positive weight, best first."""
        found = []
        for route in self.routes():
            words = tuple(edge[2] for edge in route)
            weight = self.log_weight(words, [edge[3] for edge in route])
            if weight is not None:
                found.append((weight, words, (0, *(edge[1] for edge in route))))
        return sorted(found, key=lambda path: -path[0])

    @cached_property
    def weight_of(self) -> dict[tuple[tuple[str, ...], tuple[int, ...]], Fraction]:
        return {(words, nodes): weight for weight, words, nodes in self.paths}

    def weight(self, words: tuple[str, ...], nodes: tuple[int, ...]) -> Fraction | None:
        return self.weight_of.get((words, tuple(range(len(words) + 1)) if self.is_row else nodes))

    @cached_property
    def rounding(self) -> Fraction:
        """Of a reported weight."""
        return 8 * self._num_terms * UNIT * (self._largest_sum() + 1)

    @cached_property
    def choice_rounding(self) -> Fraction:
        """Of weights that are measured from the best of their position; in a lattice, from the best way."""
        if not self.is_row:
            return self.rounding
        slots = [[x for a, _, _, x in self.edges if a == i and x > -math.inf] for i in range(self.last)]
        spread = sum((Fraction(max(slot)) - Fraction(min(slot)) for slot in slots), Fraction(0))
        return 8 * self._num_terms * UNIT * (spread + self._largest_lm_sum() + 1)

    @property
    def _num_terms(self) -> int:
        return (self.last + 1) * (self.oracle.order + 3)

    def _largest_lm_sum(self) -> Fraction:
        numbers = [*self.oracle.log_probs.values(), *self.oracle.log_backoffs.values()]
        return self._num_terms * Fraction(max(abs(x) for x in numbers if math.isfinite(x)))

    def _largest_sum(self) -> Fraction:
        weights = [Fraction(abs(x)) for _, _, _, x in self.edges if math.isfinite(x)]
        return self.last * max(weights, default=Fraction(0)) + self._largest_lm_sum()


# ------------------------------------------------------------------- random worlds


def random_rows(rng: random.Random, words: list[str]) -> dict[tuple[str, ...], tuple[float, float | None]]:
    """A closed ARPA table of order 1 to 4."""
    order = rng.randint(1, 4)
    symbols = [UNK, BOS, EOS, *words]
    ngrams: list[tuple[str, ...]] = []
    for n in range(2, order + 1):
        for _ in range(rng.randint(1, 8)):
            ngrams.append(
                (rng.choice([BOS, *words, UNK]), *(rng.choice([*words, EOS]) for _ in range(n - 1)))
            )
    listed = [g for g in closure(sorted(set(ngrams))) if len(g) > 1]
    order = max([1, *map(len, listed)])

    def log10_prob() -> float:
        return -99.0 if rng.random() < 0.05 else -rng.randint(0, 4000) / 1000

    def log10_backoff() -> float:
        return rng.randint(-2000, 600) / 1000

    return {
        g: (log10_prob(), log10_backoff() if len(g) < order and rng.random() < 0.8 else None)
        for g in [*((w,) for w in symbols), *listed]
    }


def random_weight(rng: random.Random, offset: float, spread: float) -> float:
    if rng.random() < 0.04:
        return -math.inf
    return offset + spread * rng.choice([0.0, 0.0, rng.uniform(-3, 0), rng.uniform(-1, 1)])


def random_world(rng: random.Random, scale: float, lattice: bool) -> World:
    """Large weights come as an offset that all share, as one of each position, or as real differences."""
    words = ["a", "b", "cc", "d-d"][: rng.randint(2, 4)]
    rows = random_rows(rng, words)
    kind = rng.choice(["shared", "own", "differences"])
    shared = rng.choice([-scale, scale]) if scale > 1 else 0.0
    edges: list[Edge] = []
    length = rng.randint(1, 4)
    spans = [(i, i + 1) for i in range(length)]
    if lattice:
        pairs = [sorted(rng.sample(range(length + 1), 2)) for _ in range(3)]
        spans = sorted({*spans, *((a, b) for a, b in pairs)})
    for a, b in spans:
        offset = {"shared": shared, "own": rng.uniform(-scale, scale), "differences": 0.0}[kind]
        spread = scale if kind == "differences" else 1.0
        for word in rng.sample([*words, "unseen"], rng.randint(1, len(words) + 1)):
            edges.append((a, b, word, random_weight(rng, offset, spread)))
    if not any(x > -math.inf for _, _, _, x in edges):
        edges[0] = (*edges[0][:3], 0.0)
    keep = [e for e in edges if e[3] > -math.inf or not lattice]
    is_row_possible = all(any(a == i and x > -math.inf for a, _, _, x in keep) for i in range(length))
    if not lattice and not is_row_possible:
        keep = [(a, b, w, 0.0 if x == -math.inf else x) for a, b, w, x in keep]
    return World(Backoff.from_rows(rows), load(arpa_text(rows)), keep, not lattice, rng.random() < 0.8)


# ------------------------------------------------------------------------- the laws


def check_bounds(world: World, answer: Decoded | KBest[Hypothesis], *, choice: bool = True) -> None:
    """lower <= optimum <= upper, and an exact answer is an optimum."""
    certificate = answer.certificate
    best = world.paths[0][0]
    first = answer if isinstance(answer, Decoded) else answer[0]
    assert first.log_weight == certificate.lower
    true = world.weight(first.words, first.nodes)
    if true is None:
        assert first.log_weight == -math.inf
        assert not certificate.exact
    else:
        assert abs(Fraction(first.log_weight) - true) <= world.rounding
        assert Fraction(certificate.lower) <= best + world.rounding
    assert certificate.upper >= certificate.lower
    assert certificate.upper == math.inf or Fraction(certificate.upper) >= best - world.rounding
    if not certificate.exact:
        assert certificate.upper == math.inf or Fraction(certificate.upper) >= best
    if certificate.exact:
        assert certificate.upper == certificate.lower
        assert true is not None
        assert best - true <= (world.choice_rounding if choice else world.rounding)


def check_kbest(world: World, answer: KBest[Hypothesis], k: int) -> None:
    """Distinct paths of their own weights, in order; if exact, the k best."""
    check_bounds(world, answer)
    weights = [world.weight(h.words, h.nodes) for h in answer]
    assert len({(h.words, h.nodes) for h in answer}) == len(answer) <= k
    if not answer.certificate.exact:
        return
    assert len(answer) == min(k, len(world.paths))
    for found, (expected, _, _) in zip(weights, world.paths, strict=False):
        assert found is not None
        assert abs(found - expected) <= 2 * world.choice_rounding


def log_partition(world: World) -> float:
    """Exact to some units in the last place, whatever the size of the weights."""
    best = world.paths[0][0]
    return float(best + Fraction(math.log(math.fsum(math.exp(w - best) for w, _, _ in world.paths))))


def check_samples(world: World, answer: Samples[Sample], count: int) -> None:
    """Draws are possible paths; what is said of Z is true, if by chance: six standard errors, 1 in 5e8."""
    assert answer.count <= count
    assert answer.exact == (answer.count == count)
    for one in answer.samples:
        assert world.weight(one.words, one.nodes) is not None
    total = log_partition(world)
    slack = float(world.rounding) + 1e-9
    assert answer.log_partition_upper >= total - slack
    if answer.log_partition is not None:
        assert answer.log_partition_error is not None
        assert abs(answer.log_partition - total) <= 6 * answer.log_partition_error + slack


def edge_probabilities(world: World) -> dict[tuple[int, int, str], float]:
    expected: dict[tuple[int, int, str], float] = {}
    best = world.paths[0][0]
    norm = math.fsum(math.exp(w - best) for w, _, _ in world.paths)
    for weight, words, nodes in world.paths:
        for (a, b), word in zip(itertools.pairwise(nodes), words, strict=True):
            expected[a, b, word] = expected.get((a, b, word), 0.0) + math.exp(weight - best) / norm
    return expected


def check_least_errors(world: World, answer: Decoded) -> None:
    """Of a row: the answer's expected errors, and that no other's are fewer."""
    probs = edge_probabilities(world)
    least = sum(1 - max(prob for (a, _, _), prob in probs.items() if a == i) for i in range(world.last))
    own = sum(1 - probs.get((i, i + 1, word), 0.0) for i, word in enumerate(answer.words))
    slack = 1e-8 + 8 * world.last * float(world.choice_rounding)
    assert answer.expected_errors is not None
    assert abs(answer.expected_errors - own) <= slack
    assert answer.certificate.objective == "expected_errors"
    assert answer.certificate.lower - slack <= least <= answer.certificate.upper + slack
    assert not answer.certificate.exact or own <= least + slack


def check_marginals(world: World, answer: Marginals, error: float = 0.0) -> None:
    """Every probability and ln Z."""
    total = log_partition(world)
    assert abs(answer.log_partition - total) <= float(world.rounding) + 1e-9 + error
    spans = answer.spans or tuple((i, i + 1) for i in range(world.last))
    expected = edge_probabilities(world)
    slack = 1e-9 + error + 4 * float(world.choice_rounding)
    for (a, b), slot in zip(spans, answer.slots, strict=True):
        for word, prob in slot:
            assert abs(prob - expected.get((a, b, word), 0.0)) <= slack
