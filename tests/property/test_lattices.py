"""Word lattices against enumeration of all routes: best path, k best, log Z, edge probabilities, budgets."""

import functools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import (
    Budget,
    Candidates,
    EmptySupportError,
    ModelError,
    NgramModel,
    decode,
    kbest,
    marginals,
    sample,
    search,
)
from tests.enumeration import ATOL, OUTSIDE, RTOL, log_sum, log_weights, tolerance
from tests.models import load, train
from tests.oracle import BOS, EOS, UNK, Backoff, arpa_text
from tests.strategies import tables, zipfian_corpus

Edge = tuple[int, int, str, float]
WALKS = ["auto", "full", "dominance", "refine", "paper"]


@dataclass(frozen=True)
class Lattice:
    """A drawn language model and edges."""

    oracle: Backoff
    model: NgramModel
    edges: list[Edge]

    @property
    def candidates(self) -> Candidates:
        return Candidates.from_lattice(self.model.vocabulary, self.edges)

    @property
    def last(self) -> int:
        return max(to for _, to, _, _ in self.edges)

    def routes(self, node: int = 0) -> Iterator[tuple[Edge, ...]]:
        if node == self.last:
            yield ()
        for edge in self.edges:
            if edge[0] == node:
                yield from ((edge, *rest) for rest in self.routes(edge[1]))

    def log_weight(self, route: tuple[Edge, ...], end: bool) -> float:
        """The definition: LM terms of each word after all before it, channel weights, </s>."""
        known = set(self.oracle.words)
        history = [BOS]
        total = 0.0
        steps = [(word, log_weight) for _, _, word, log_weight in route]
        for word, log_weight in [*steps, *([(EOS, 0.0)] if end else [])]:
            symbol = word if word in known else UNK
            log_prob = self.oracle.log_prob(symbol, tuple(history)) if symbol in known else -math.inf
            total += log_prob + log_weight
            history.append(symbol)
        return total

    def paths(self, end: bool) -> list[tuple[float, tuple[Edge, ...]]]:
        """Every route of positive weight, best first."""
        scored = [(self.log_weight(route, end), route) for route in self.routes()]
        return sorted((path for path in scored if path[0] > -math.inf), key=lambda path: -path[0])


def key_of(route: tuple[Edge, ...]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The words and the nodes of a route."""
    return tuple(word for _, _, word, _ in route), (0, *(node for _, node, _, _ in route))


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    """Up to five nodes, any edges: branches, by-passes, dead ends, nodes that nothing leads to."""
    rows = draw(tables())
    oracle = Backoff.from_rows(rows)
    words = [*sorted(w for w in oracle.words if w not in {BOS, EOS, UNK}), *OUTSIDE]
    nodes = draw(st.integers(2, 5))
    spans = [(a, b) for b in range(1, nodes) for a in range(b)]
    keys = draw(
        st.lists(
            st.tuples(st.sampled_from(spans), st.sampled_from(words)), min_size=1, max_size=9, unique=True
        )
    )
    return Lattice(oracle, load(arpa_text(rows)), [(a, b, w, draw(log_weights)) for (a, b), w in keys])


@pytest.mark.parametrize("method", WALKS)
@given(lattice=lattices(), end=st.booleans())
def test_decode_is_the_best_route(method: str, lattice: Lattice, end: bool) -> None:
    paths = lattice.paths(end)
    if not paths:
        with pytest.raises(EmptySupportError):
            decode(lattice.model, lattice.candidates, method=method, end=end)  # type: ignore[arg-type]
        return
    best = decode(lattice.model, lattice.candidates, method=method, end=end)  # type: ignore[arg-type]
    assert best.certificate.exact
    assert best.log_weight == pytest.approx(paths[0][0], abs=ATOL, rel=RTOL)
    same = [log_weight for log_weight, route in paths if key_of(route) == (best.words, best.nodes)]
    assert best.log_weight == pytest.approx(max(same), abs=ATOL, rel=RTOL)


@pytest.mark.parametrize("method", WALKS)
@given(lattice=lattices(), end=st.booleans(), k=st.sampled_from([1, 2, 5, 1000]))
def test_kbest_are_the_k_best_routes(method: str, lattice: Lattice, end: bool, k: int) -> None:
    paths = lattice.paths(end)
    if not paths:
        with pytest.raises(EmptySupportError):
            kbest(lattice.model, lattice.candidates, k, method=method, end=end)  # type: ignore[arg-type]
        return
    best = kbest(lattice.model, lattice.candidates, k, method=method, end=end)  # type: ignore[arg-type]
    assert best.certificate.exact
    assert len(best) == min(k, len(paths))
    assert [h.log_weight for h in best] == pytest.approx(
        [log_weight for log_weight, _ in paths[:k]], abs=ATOL, rel=RTOL
    )
    if k >= len(paths):
        assert sorted((h.words, h.nodes) for h in best) == sorted(key_of(route) for _, route in paths)


@given(lattice=lattices(), end=st.booleans())
def test_marginals_and_log_partition(lattice: Lattice, end: bool) -> None:
    paths = lattice.paths(end)
    if not paths:
        with pytest.raises(EmptySupportError):
            marginals(lattice.model, lattice.candidates, end=end)
        return
    found = marginals(lattice.model, lattice.candidates, end=end)
    log_partition = log_sum([log_weight for log_weight, _ in paths])
    assert found.log_partition == pytest.approx(log_partition, abs=ATOL, rel=RTOL)
    assert set(found.spans) == {(a, b) for a, b, _, _ in lattice.edges}
    probs = {
        (*span, word): p for span, slot in zip(found.spans, found.slots, strict=True) for word, p in slot
    }
    assert set(probs) == {(a, b, word) for a, b, word, _ in lattice.edges}
    for a, b, word, _ in lattice.edges:
        through = [lw for lw, route in paths if any(edge[:3] == (a, b, word) for edge in route)]
        expected = sum(math.exp(lw - log_partition) for lw in through)
        assert probs[a, b, word] == pytest.approx(expected, abs=ATOL)


@pytest.mark.parametrize("method", ["auto", "refine", "paper"])
@given(lattice=lattices(), end=st.booleans(), seed=st.integers(0, 2**32))
def test_samples_are_possible_routes(method: str, lattice: Lattice, end: bool, seed: int) -> None:
    paths = lattice.paths(end)
    if not paths:
        return
    drawn = sample(lattice.model, lattice.candidates, 20, seed=seed, end=end, method=method)  # type: ignore[arg-type]
    total = log_sum([log_weight for log_weight, _ in paths])
    assert drawn.log_partition_upper >= total - tolerance(total)
    assert drawn.count == 20 == sum(s.count for s in drawn.samples)
    possible = {key_of(route): log_weight for log_weight, route in paths}
    for s in drawn.samples:
        assert s.log_weight == pytest.approx(possible[s.words, s.nodes], abs=ATOL, rel=RTOL)


@given(lattice=lattices(), states=st.integers(1, 12))
def test_a_budget_gives_honest_bounds(lattice: Lattice, states: int) -> None:
    paths = lattice.paths(end=True)
    for method in ("full", "dominance", "refine", "paper"):
        try:
            found = decode(lattice.model, lattice.candidates, method=method, budget=Budget(states=states))
        except EmptySupportError:
            assert not paths
            continue
        if not paths:
            assert not found.certificate.exact or found.log_weight == -math.inf
            continue
        certificate = found.certificate
        assert certificate.lower <= paths[0][0] + tolerance(paths[0][0])
        assert certificate.upper >= paths[0][0] - tolerance(paths[0][0])
        assert (found.words, found.nodes) in {key_of(route) for route in lattice.routes()}


@given(lattice=lattices())
def test_a_chain_is_a_lattice(lattice: Lattice) -> None:
    """The same slots, as positions in a row and as edges from each node to the next."""
    words = sorted({word for _, _, word, _ in lattice.edges})
    slots = [[(word, -0.5 * i - j) for j, word in enumerate(words)] for i in range(3)]
    row = Candidates.from_slots(lattice.model.vocabulary, slots)
    edges = [(i, i + 1, word, w) for i, slot in enumerate(slots) for word, w in slot]
    graph = Candidates.from_lattice(lattice.model.vocabulary, edges)
    assert graph.spans == [(0, 1), (1, 2), (2, 3)]
    try:
        expected = marginals(lattice.model, row)
    except EmptySupportError:
        with pytest.raises(EmptySupportError):
            marginals(lattice.model, graph)
        return
    found = marginals(lattice.model, graph)
    assert found.log_partition == pytest.approx(expected.log_partition, abs=1e-9)
    for one, other in zip(found.slots, expected.slots, strict=True):
        assert dict(one) == pytest.approx(dict(other), abs=1e-9)
    best, same = decode(lattice.model, graph), decode(lattice.model, row)
    assert best.log_weight == pytest.approx(same.log_weight, abs=1e-9)


@given(lattice=lattices())
def test_what_needs_a_chain_says_so(lattice: Lattice) -> None:
    with pytest.raises(ModelError, match="lattice"):
        decode(lattice.model, lattice.candidates, method="sparse")
    with pytest.raises(ModelError, match="lattice"):
        decode(lattice.model, lattice.candidates, objective="mbr")


@given(
    lattice=lattices(),
    end=st.booleans(),
    method=st.sampled_from(["refine", "paper"]),
    strategy=st.sampled_from(["all", "full", "culprit"]),
)
def test_every_turn_of_a_search_holds_the_best_route_between_its_bounds(
    lattice: Lattice, end: bool, method: str, strategy: str
) -> None:
    paths = lattice.paths(end)
    watched = search(lattice.model, lattice.candidates, method=method, strategy=strategy, end=end)  # type: ignore[arg-type]
    if not paths:
        with pytest.raises(EmptySupportError):
            list(watched)
        return
    best = paths[0][0]
    uppers = []
    words = {tuple(word for _, _, word, _ in route) for _, route in paths}
    for step in watched:
        assert step.lower <= best + tolerance(best)
        assert step.upper >= best - tolerance(best)
        assert step.log_q >= step.log_p
        uppers.append(step.upper)
    assert uppers == sorted(uppers, reverse=True)
    assert watched.done
    assert step.lower == step.upper == pytest.approx(best, abs=ATOL, rel=RTOL)
    assert step.words in words or step.log_p < best
    assert all(isinstance(context, tuple) for context in watched.contexts(lattice.last))


WORDS = 60


@functools.cache
def large_model() -> NgramModel:
    return train(zipfian_corpus(random.Random(7), 3000, WORDS), 4)


@given(generator=st.integers(0, 2**32).map(random.Random), end=st.booleans())
def test_methods_agree_on_larger_lattices(generator: random.Random, end: bool) -> None:
    """Beyond enumeration: what leads to a node by several ways is dropped, kept and merged right."""
    model = large_model()
    nodes = generator.randrange(4, 14)
    keys = {(a, a + 1, f"w{generator.randrange(WORDS)}") for a in range(nodes)}
    for _ in range(generator.randrange(20, 200)):
        a = generator.randrange(nodes)
        b = min(nodes, a + generator.choice([1, 1, 2, 3]))
        keys.add((a, b, f"w{generator.randrange(WORDS)}"))
    flatness = generator.choice([0.0, 1.0, 4.0])
    edges = [(a, b, word, -flatness * generator.random()) for a, b, word in sorted(keys)]
    candidates = Candidates.from_lattice(model.vocabulary, edges)
    full = kbest(model, candidates, 30, method="full", end=end)
    pruned = kbest(model, candidates, 30, method="dominance", end=end)
    weights = [h.log_weight for h in full]
    assert [h.log_weight for h in pruned] == pytest.approx(weights, abs=1e-9)
    for method in WALKS:
        best = decode(model, candidates, method=method, end=end)  # type: ignore[arg-type]
        assert best.log_weight == pytest.approx(weights[0], abs=1e-9)
    # The total is at least what the thirty best weigh, and each edge's share what they say.
    found = marginals(model, candidates, end=end)
    assert found.log_partition >= log_sum(weights) - 1e-9
    out_of_start = sum(
        p for (a, _), slot in zip(found.spans, found.slots, strict=True) if a == 0 for _, p in slot
    )
    into_end = sum(
        p for (_, b), slot in zip(found.spans, found.slots, strict=True) if b == nodes for _, p in slot
    )
    assert out_of_start == pytest.approx(1.0, abs=1e-9)
    assert into_end == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1, "w1", 290.0), (0, 2, "w2", 0.0), (1, 2, "w3", 500.0)],
        [(0, 1, "w1", -250.0), (0, 2, "w2", 0.0), (1, 3, "w3", 0.0), (2, 3, "w4", 500.0)],
        [(0, 1, "w1", -290.0), (1, 2, "w2", -460.0), (0, 3, "w1", 0.0), (2, 3, "w3", 0.0), (3, 4, "w1", 0.0)],
        [(0, 1, "w1", 1e6), (0, 2, "w2", -1e6), (1, 2, "w3", -1e6), (2, 3, "w4", 1e6)],
    ],
)
def test_weights_far_apart(edges: list[Edge]) -> None:
    """Masses that leave the range of doubles in one unit or another are summed as logarithms."""
    model = large_model()
    candidates = Candidates.from_lattice(model.vocabulary, edges)
    weights = [h.log_weight for h in kbest(model, candidates, 10, method="full")]
    found = marginals(model, candidates)
    assert found.log_partition == pytest.approx(log_sum(weights), rel=1e-12)
    assert all(0.0 <= p <= 1.0 for slot in found.slots for _, p in slot)
    assert sum(s.count for s in sample(model, candidates, 5, seed=1).samples) == 5
