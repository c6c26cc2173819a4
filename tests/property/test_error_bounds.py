"""The least expected word errors of small lattices, against every sequence of their words."""

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite._core import PathShares, word_errors
from hiddenite.consensus import least_errors
from hiddenite.error_bounds import CountBound, ErrorSearch
from hiddenite.lattice import Edge, Lattice
from hiddenite.lattice.lattice import Final
from hiddenite.rescoring import Rescored

ATOL = 1e-9
LETTERS = "abc"
Law = dict[tuple[str, ...], float]


def drawn(seed: int) -> Rescored:
    """Few letters, so that words stand several times and in several orders; silent edges among them."""
    rng = random.Random(seed)
    nodes = rng.randint(2, 5)
    edges = [Edge(i, i + 1, rng.choice([*LETTERS, ""]), -2 * rng.random()) for i in range(nodes - 1)]
    for _ in range(rng.randint(1, 9)):
        start, end = sorted(rng.sample(range(nodes), 2))
        edges.append(Edge(start, end, rng.choice([*LETTERS, ""]), -2 * rng.random()))
    return Rescored(Lattice(edges, {nodes - 1: Final()}))


def law_of(rescored: Rescored) -> Law:
    ranked = rescored.kbest(10_000, "sum")
    assert ranked.certificate.exact
    return {one.words: math.exp(one.log_weight - rescored.log_partition) for one in ranked}


def expected(words: tuple[str, ...], law: Law) -> float:
    coded = {one: [LETTERS.index(letter) for letter in one] for one in (words, *law)}
    return math.fsum(share * word_errors(coded[words], coded[other]) for other, share in law.items())


def every(longest: int) -> list[tuple[str, ...]]:
    return [words for n in range(longest + 1) for words in itertools.product(LETTERS, repeat=n)]


@given(seed=st.integers(0, 10**9))
def test_the_answer_is_proved_and_no_words_have_fewer_errors(seed: int) -> None:
    rescored = drawn(seed)
    law = law_of(rescored)
    answer = least_errors(rescored)
    least = min(expected(words, law) for words in every(max(map(len, law)) + 1))
    assert answer.certificate.exact
    assert answer.expected_errors == pytest.approx(least, abs=1e-7)
    assert expected(answer.words, law) == pytest.approx(least, abs=1e-7)


@pytest.mark.parametrize(
    ("best", "rows"),
    [
        ("abcdef", ["abcdef".replace(letter, "") for letter in "abcdef"]),
        ("abacad", ["bacad", "abcad", "abacd"]),
    ],
)
def test_words_longer_than_any_path_can_be_the_best(best: str, rows: list[str]) -> None:
    """All paths lack one letter: two of them are two errors apart, all letters one from each."""
    edges = [
        Edge(0 if i == 0 else 10 * row + i, 100 if i == 4 else 10 * row + i + 1, letter)
        for row, text in enumerate(rows, 1)
        for i, letter in enumerate(text)
    ]
    answer = least_errors(Rescored(Lattice(edges, {100: Final()})))
    assert answer.words == tuple(best)
    assert answer.expected_errors == pytest.approx(1.0)
    assert answer.certificate.exact


@given(seed=st.integers(0, 10**9), work=st.integers(0, 400))
def test_bounds_hold_whenever_the_search_ends(seed: int, work: int) -> None:
    rescored = drawn(seed)
    law = law_of(rescored)
    longest = max(map(len, law))
    known = random.Random(seed).choice(every(longest))
    number = {word: label for label, word in enumerate(rescored.words)}
    if not all(word in number for word in known):
        return
    search = ErrorSearch(rescored, [number[word] for word in known], longest)
    assert search.upper == pytest.approx(expected(known, law), abs=1e-7)
    search.run(work=work)
    least = min(expected(words, law) for words in every(longest + 1))
    assert search.lower <= least + 1e-7
    assert search.upper >= least - 1e-7
    own = expected(tuple(rescored.words[label] for label in search.known), law)
    assert own <= search.upper + 1e-7


@given(seed=st.integers(0, 10**9))
def test_counts_orders_and_distances_are_those_of_the_paths(seed: int) -> None:
    rescored = drawn(seed)
    law = law_of(rescored)
    shares = PathShares(rescored.core, rescored.labels, 0.0)
    for label, word in enumerate(rescored.words):
        for n, share in enumerate(shares.counts(label)):
            true = math.fsum(p for words, p in law.items() if words.count(word) == n)
            assert share == pytest.approx(true, abs=ATOL)
    for x, y in itertools.permutations(range(len(rescored.words)), 2):
        table = shares.around(x, y, 4)
        for place, share in enumerate(table):
            true = 0.0
            for words, p in law.items():
                if words.count(rescored.words[y]) == 1:
                    at = words.index(rescored.words[y])
                    i, j = words[:at].count(rescored.words[x]), words[at:].count(rescored.words[x])
                    true += p if (min(i, 3), min(j, 3)) == divmod(place, 4) else 0.0
            assert share == pytest.approx(true, abs=ATOL)
    some = PathShares(rescored.core, rescored.labels, 0.05)
    for words in every(2):
        if all(word in rescored.words for word in words):
            coded = [rescored.words.index(word) for word in words]
            true = expected(words, law)
            assert shares.errors(coded, 0.0, math.inf, 10**6)[:2] == pytest.approx((true, 0.0), abs=1e-9)
            least, left_out, _ = some.errors(coded, 0.02, math.inf, 10**6)
            assert least <= true + ATOL
            assert 0.0 <= left_out <= 1.0 + ATOL
            assert true <= least + left_out * 10 + ATOL


@given(seed=st.integers(0, 10**9))
def test_no_bag_below_a_number_is_missed(seed: int) -> None:
    rescored = drawn(seed)
    law = law_of(rescored)
    counted = CountBound.of(rescored, PathShares(rescored.core, rescored.labels, 0.0))
    limit = counted.value() + 0.4
    found = counted.bags(limit, 100_000)
    assert found is not None
    listed = {tuple(sorted(bag)): bound for bound, bag in found}
    assert len(listed) == len(found)
    most = {label: len(row) - 1 for label, row in counted.phi.items()}
    for counts in itertools.product(*(range(c + 2) for c in most.values())):
        bag = {label: c for label, c in zip(most, counts, strict=True) if c}
        n = sum(bag.values())
        bound = (
            math.fsum(
                p
                * (
                    abs(n - len(words))
                    + sum(abs(bag.get(label, 0) - words.count(rescored.words[label])) for label in most)
                )
                for words, p in law.items()
            )
            / 2
        )
        if bound < limit - 1e-9:
            assert listed[tuple(sorted(bag.items()))] == pytest.approx(bound, abs=1e-9)
