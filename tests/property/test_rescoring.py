"""Recognisers' lattices against enumeration: silent edges, fillers, parallel edges, ends, weights."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import Budget, Candidates, ModelError, NgramModel, decode
from hiddenite._core import word_errors
from hiddenite.consensus import least_errors, mesh, nearest_errors
from hiddenite.lattice import Edge, Lattice, Scales
from hiddenite.lattice.lattice import Final
from hiddenite.rescoring import LatticeMethod, LatticeWeights, Rescored
from tests.enumeration import ATOL, OUTSIDE, RTOL, log_sum, log_weights
from tests.models import load, train
from tests.oracle import BOS, EOS, UNK, Backoff, arpa_text
from tests.strategies import tables

SILENT = ("", "-pau-", "<s>")
Path = tuple[int, ...]  # edges by their place


@dataclass(frozen=True)
class Case:
    """A drawn model, lattice and weights."""

    oracle: Backoff
    model: NgramModel
    lattice: Lattice
    weights: LatticeWeights
    begin: bool
    end: bool

    def rescored(self, method: LatticeMethod = "auto", budget: Budget | None = None) -> Rescored:
        return Rescored(
            self.lattice,
            self.model,
            self.weights,
            begin=self.begin,
            end=self.end,
            method=method,
            budget=budget,
        )

    def routes(self, node: int) -> Iterator[Path]:
        if node in self.lattice.finals:
            yield ()
        for place, edge in enumerate(self.lattice.edges):
            if edge.start == node:
                yield from ((place, *rest) for rest in self.routes(edge.end))

    def words(self, path: Path) -> tuple[str, ...]:
        words = (word for i in path for word in self.lattice.edges[i].word.split())
        return tuple(word for word in words if word not in SILENT)

    def own_weight(self, path: Path) -> float:
        """The definition, term by term, but for the language model's."""
        scales, w = self.lattice.scales, self.weights
        channel = scales.acoustic if w.channel_weight is None else w.channel_weight
        penalty = scales.word_penalty if w.word_penalty is None else w.word_penalty
        words = self.words(path)
        edges = [self.lattice.edges[i] for i in path]
        last = edges[-1].end if edges else self.lattice.start
        final = self.lattice.finals[last]
        total = penalty * len(words)
        if channel:
            total += channel * (sum(edge.acoustic for edge in edges) + final.acoustic)
        if w.old_lm_weight:
            total += w.old_lm_weight * (sum(edge.language for edge in edges) + final.language)
        return total + scales.pronunciation * sum(edge.pronunciation for edge in edges)

    def log_weight(self, path: Path) -> float:
        """The definition, term by term."""
        lm_weight = self.lattice.scales.language if self.weights.lm_weight is None else self.weights.lm_weight
        words, total = self.words(path), self.own_weight(path)
        history = [BOS] if self.begin else []
        for word in [*words, *([EOS] if self.end else [])] if lm_weight else ():
            symbol = word if word in self.oracle.words else UNK
            total += lm_weight * self.oracle.log_prob(symbol, tuple(history))
            history.append(symbol)
        return total / self.weights.temperature

    def paths(self) -> list[tuple[float, Path]]:
        scored = [(self.log_weight(path), path) for path in self.routes(self.lattice.start)]
        return sorted((row for row in scored if row[0] > -math.inf), key=lambda row: -row[0])

    def sequences(self, sums: bool) -> dict[tuple[str, ...], float]:
        groups: dict[tuple[str, ...], list[float]] = {}
        for log_weight, path in self.paths():
            groups.setdefault(self.words(path), []).append(log_weight)
        return {words: log_sum(found) if sums else max(found) for words, found in groups.items()}


optional = st.one_of(st.none(), st.sampled_from([0.0, 0.5, 1.0, 7.0]))
signed = st.one_of(st.none(), st.sampled_from([-2.0, 0.0, 0.7]))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Up to five nodes in any numbering, edges of none, one or several words, twice if it so happens."""
    rows = draw(tables())
    oracle = Backoff.from_rows(rows)
    known = sorted(w for w in oracle.words if w not in {BOS, EOS, UNK})
    words = st.sampled_from([*known, *known, *OUTSIDE, *SILENT, " ".join((known or ["q1"])[:2] * 2)])
    nodes = draw(st.integers(2, 5))
    name = draw(st.permutations(range(nodes)))
    spans = [(a, b) for b in range(1, nodes) for a in range(b)]
    edges = [
        Edge(name[a], name[b], draw(words), draw(log_weights), draw(log_weights), draw(log_weights))
        for a, b in draw(st.lists(st.sampled_from(spans), min_size=1, max_size=9))
    ]
    ends = draw(st.lists(st.integers(0, nodes - 2), max_size=1))
    finals = {name[n]: Final(draw(log_weights), draw(log_weights)) for n in [*ends, nodes - 1]}
    scale = st.sampled_from([1.0, 0.25, 3.0])
    scales = Scales(draw(scale), draw(scale), draw(scale), draw(st.sampled_from([0.0, -1.5])))
    weights = LatticeWeights(
        draw(optional), draw(optional), draw(signed), draw(optional), draw(st.sampled_from([1.0, 0.5, 4.0]))
    )
    lattice = Lattice(edges, finals, name[0], "drawn", {}, scales, nodes)
    return Case(oracle, load(arpa_text(rows)), lattice, weights, draw(st.booleans()), draw(st.booleans()))


def close(x: object) -> object:
    return pytest.approx(x, abs=20 * ATOL, rel=20 * RTOL)  # weights of up to 7 scale the rounding


@given(
    case=cases(),
    method=st.sampled_from(["full", "refine", "paper", "dominance"]),
    k=st.sampled_from([1, 3, 50]),
)
def test_every_method_finds_the_best_paths(case: Case, method: LatticeMethod, k: int) -> None:
    paths = case.paths()
    if not paths:
        with pytest.raises(ModelError):
            case.rescored(method)
        return
    scored = case.rescored(method)
    best = scored.best()
    assert best.certificate.exact
    assert best.certificate.method == method
    assert best.log_weight == close(paths[0][0])
    assert [one.log_weight for one in scored.kbest(k, "paths")] == close([w for w, _ in paths[:k]])
    ranked = sorted(case.sequences(sums=False).items(), key=lambda row: -row[1])[:k]
    found = scored.kbest(k, "max")
    assert found.certificate.exact
    assert [one.log_weight for one in found] == close([weight for _, weight in ranked])


@given(case=cases(), method=st.sampled_from(["refine", "paper"]))
def test_every_turn_of_a_search_has_the_best_path_between_its_bounds(
    case: Case, method: Literal["refine", "paper"]
) -> None:
    paths = case.paths()
    if not paths:
        return
    best = paths[0][0]
    slack = 20 * (ATOL + RTOL * abs(best))
    watched = case.rescored().search(method=method)
    for step in watched:
        assert step.lower <= best + slack
        assert step.upper >= best - slack
        assert step.log_q >= step.log_p
    assert watched.done
    assert step.upper == close(best)


@given(case=cases(), method=st.sampled_from(["refine", "paper", "dominance"]), states=st.integers(1, 12))
def test_a_budget_that_ends_leaves_honest_bounds(case: Case, method: LatticeMethod, states: int) -> None:
    paths = case.paths()
    try:
        found = case.rescored(method, Budget(states=states)).best()
    except ModelError:
        assert not paths
        return
    if paths:
        best = paths[0][0]
        slack = 20 * (ATOL + RTOL * abs(best))
        assert found.certificate.lower <= best + slack
        assert found.certificate.upper >= best - slack
        assert found.words in {case.words(path) for path in case.routes(case.lattice.start)}
    else:
        assert not found.certificate.exact


@given(case=cases())
def test_the_best_path(case: Case) -> None:
    paths = case.paths()
    if not paths:
        with pytest.raises(ModelError):
            case.rescored()
        return
    best = case.rescored().best()
    assert best.certificate.exact
    assert best.log_weight == close(paths[0][0])
    assert best.log_weight == close(case.sequences(sums=False)[best.words])


@pytest.mark.parametrize("sums", [False, True])
@given(case=cases(), k=st.sampled_from([1, 2, 5, 1000]))
def test_word_sequences_come_once_and_in_order(sums: bool, case: Case, k: int) -> None:
    expected = case.sequences(sums)
    if not expected:
        return
    found = case.rescored().kbest(k, "sum" if sums else "max")
    assert found.certificate.exact
    assert [h.log_weight for h in found] == close(sorted(expected.values(), reverse=True)[:k])
    assert len({h.words for h in found}) == len(found) == min(k, len(expected))
    assert all(h.log_weight == close(expected[h.words]) for h in found)


@given(case=cases(), k=st.sampled_from([1, 3, 1000]))
def test_paths_one_by_one(case: Case, k: int) -> None:
    paths = case.paths()
    if paths:
        found = case.rescored().kbest(k, "paths")
        assert [h.log_weight for h in found] == close([weight for weight, _ in paths[:k]])


@given(case=cases())
def test_sums_posteriors_and_the_best_through_an_edge(case: Case) -> None:
    paths = case.paths()
    if not paths:
        return
    scored = case.rescored()
    total = log_sum([weight for weight, _ in paths])
    assert scored.log_partition == close(total)
    through = scored.best_through()
    for place, prob in enumerate(scored.posteriors()):
        weights = [weight for weight, path in paths if place in path]
        assert prob == pytest.approx(sum(math.exp(w - total) for w in weights), abs=1e-4)
        assert through[place] == close(max(weights, default=-math.inf))
    shares = scored.core.length_shares(scored.labels)
    for length in range(len(shares) + 1):
        weights = [weight for weight, path in paths if len(case.words(path)) == length]
        found = shares[length] if length < len(shares) else 0.0
        assert found == pytest.approx(sum(math.exp(w - total) for w in weights), abs=1e-4)


@st.composite
def large_lattices(draw: st.DrawFn) -> tuple[Lattice, list[tuple[Fraction, Path]]]:
    """A lattice of weights of any size, its paths with their exact weights."""
    size = draw(st.sampled_from([1.0, 1e4, 1e8, 1e12, 1e16]))
    weight = st.one_of(st.sampled_from([0.0, size, -size]), st.floats(-3, 3).map(lambda x: size + x))
    length = draw(st.integers(1, 3))
    columns = [draw(st.lists(weight, min_size=1, max_size=3)) for _ in range(length)]
    rows = [(n, value) for n, column in enumerate(columns) for value in column]
    edges = [Edge(n, n + 1, f"w{place}", value) for place, (n, value) in enumerate(rows)]
    lattice = Lattice(edges, {length: Final()})
    by_node = [[place for place, edge in enumerate(edges) if edge.start == n] for n in range(length)]
    paths = [(sum((Fraction(edges[i].acoustic) for i in path), Fraction(0)), path)
             for path in itertools.product(*by_node)]  # fmt: skip
    return lattice, paths


@given(large_lattices())
def test_sums_of_weights_of_any_size_know_what_rounding_has_done(
    case: tuple[Lattice, list[tuple[Fraction, Path]]],
) -> None:
    lattice, paths = case
    best = max(weight for weight, _ in paths)
    shares = {path: math.exp(max(float(weight - best), -1000.0)) for weight, path in paths}
    total = math.fsum(shares.values())
    scored = Rescored(lattice)
    found = sum(Fraction(lattice.edges[int(word[1:])].acoustic) for word in scored.best().words)
    largest = max(abs(Fraction(edge.acoustic)) for edge in lattice.edges)
    assert best - found <= Fraction(1e-14) * largest  # no more than rounding can have done
    for place, prob in enumerate(scored.posteriors()):
        true = math.fsum(share for path, share in shares.items() if place in path) / total
        assert abs(prob - true) <= scored.error_bound + 1e-12
    lower, upper = scored.log_partition_bounds
    assert Fraction(lower) <= best + Fraction(math.log(total)) + Fraction(1e-9)
    assert Fraction(upper) >= best + Fraction(math.log(total)) - Fraction(1e-9)
    law = {tuple(f"w{i}" for i in path): share / total for path, share in shares.items()}
    answer = least_errors(scored)
    assert expected_errors(answer.words, law) <= answer.certificate.upper + 1e-7
    assert answer.certificate.lower <= min(expected_errors(words, law) for words in law) + 1e-7
    assert scored.sample(3, seed=1).total_variation == scored.error_bound


def test_a_path_that_counts_for_nothing_takes_no_digits() -> None:
    """Some tools write -1e30 for what is impossible."""
    edges = [Edge(0, 1, "a", -1.0), Edge(0, 1, "b", -2.0), Edge(0, 1, "c", -1e30)]
    scored = Rescored(Lattice(edges, {1: Final()}))
    assert scored.error_bound < 1e-12
    assert least_errors(scored).certificate.exact


@pytest.mark.parametrize("size", [1e300, 1e308])
def test_weights_whose_sums_leave_the_doubles_are_refused(size: float) -> None:
    edges = [Edge(n, n + 1, word, size) for n in range(2) for word in ("a", "b")]
    with pytest.raises(ModelError, match="add up to more than 1e300"):
        Rescored(Lattice(edges, {2: Final()}))


def test_a_lattice_that_turns_the_model_around_is_refused() -> None:
    lattice = Lattice([Edge(0, 1, "a")], {1: Final()}, scales=Scales(language=-1.0))
    with pytest.raises(ModelError, match=r"lmscale of the lattice is -1\.0"):
        Rescored(lattice, train(["a b"], 2))


@given(case=cases())
def test_draws_are_paths(case: Case) -> None:
    if case.paths():
        expected = case.sequences(sums=False)
        drawn = case.rescored().sample(20, seed=1)
        assert drawn.count == 20
        assert all(sample.words in expected for sample in drawn.samples)


def expected_errors(words: tuple[str, ...], law: dict[tuple[str, ...], float]) -> float:
    names = {word: i for i, word in enumerate({*words, *itertools.chain.from_iterable(law)})}
    coded = [names[word] for word in words]
    return sum(prob * word_errors(coded, [names[word] for word in other]) for other, prob in law.items())


@given(case=cases())
def test_expected_errors_lie_within_their_bounds(case: Case) -> None:
    sums = case.sequences(sums=True)
    if not sums:
        return
    total = log_sum(list(sums.values()))
    law = {words: math.exp(weight - total) for words, weight in sums.items()}
    answer = least_errors(case.rescored())
    atol = 1e-3  # twenty words, posteriors right to 1e-5
    assert expected_errors(answer.words, law) <= answer.certificate.upper + atol
    # Every sequence of the lattice, and every part of one, is a candidate of the minimum.
    tried = {part for words in law for part in (words, words[1:], words[:-1])}
    least = min(expected_errors(words, law) for words in tried)
    assert answer.certificate.lower <= least + atol
    if answer.certificate.exact:
        assert answer.certificate.upper <= least + atol
    if max(law.values()) > 0.51:
        assert answer.certificate.exact


@given(case=cases())
def test_a_mesh_has_the_posteriors_of_words_that_exclude_each_other(case: Case) -> None:
    sums = case.sequences(sums=True)
    if not sums:
        return
    total = log_sum(list(sums.values()))
    made = mesh(case.rescored())
    assert all(sum(prob for _, prob in slot) == pytest.approx(1.0, abs=1e-9) for slot in made.slots)
    # The expected number of each word does not depend on how slots are laid.
    for word in {word for words in sums for word in words}:
        expected = sum(math.exp(weight - total) * words.count(word) for words, weight in sums.items())
        assert sum(dict(slot).get(word, 0.0) for slot in made.slots) == pytest.approx(expected, abs=1e-3)


@given(case=cases(), reference=st.lists(st.sampled_from(["a", "b", "q1"]), max_size=4))
def test_the_nearest_path(case: Case, reference: list[str]) -> None:
    if not case.paths():
        return
    scored = case.rescored()
    routes = (path for path in case.routes(case.lattice.start) if case.own_weight(path) > -math.inf)
    found = {case.words(path) for path in routes}  # whatever the language model thinks of them
    errors = min(expected_errors(tuple(reference), {words: 1.0}) for words in found)
    assert nearest_errors(scored, reference) == errors


def test_the_engine_of_slots_agrees() -> None:
    model = load("\\data\\\nngram 1=5\n\n\\1-grams:\n-9 <s>\n-1 </s>\n-0.5 a\n-0.4 b\n-2 <unk>\n\n\\end\\\n")
    edges = [(0, 1, "a", -0.1), (0, 2, "b", -0.7), (1, 2, "b", -0.2), (1, 3, "a", -2.0), (2, 3, "q", -0.3)]
    best = Rescored(Lattice.from_edges(edges), model).best()
    other = decode(model, Candidates.from_lattice(model.vocabulary, edges))
    assert (best.words, best.nodes) == (other.words, other.nodes)
    assert best.log_weight == pytest.approx(other.log_weight, abs=1e-12)


def test_a_word_that_ends_all_paths_is_named() -> None:
    model = load("\\data\\\nngram 1=3\n\n\\1-grams:\n-9 <s>\n-1 </s>\n-0.5 a\n\n\\end\\\n")
    with pytest.raises(ModelError, match=r"'xyzzy'.*--unk-log10"):
        Rescored(Lattice.from_edges([(0, 1, "xyzzy", 0.0)]), model)
