"""The fertility HMM against enumeration: best alignment, k best, the published algorithm's bounds."""

import itertools
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from hiddenite._core import AlignMethod, AlignTask, FertilityHmm, PaperStep

ATOL = 1e-9  # sums of a few dozen doubles below 100


class Problem:
    """Log weights of one sentence pair, and its alignments by brute force."""

    def __init__(
        self, seed: int, sources: int, targets: int, max_fertility: int, *, scale: float, zeros: float
    ) -> None:
        rng = np.random.default_rng(seed)

        def draw(*shape: int) -> np.ndarray:
            weights = -scale * rng.random(shape)
            return np.where(rng.random(shape) < zeros, -np.inf, weights)

        self.emission = draw(targets, sources + 1)
        self.jump = draw(sources + 1, sources + 1)
        self.end = -scale * rng.random(sources + 1)
        self.fertility = draw(sources + 1, max_fertility + 1)
        self.hmm = FertilityHmm(self.emission, self.jump, self.end, self.fertility)

    def log_weight(self, links: tuple[int, ...]) -> float:
        total, last = 0.0, 0
        for j, i in enumerate(links):
            if i > 0:
                total += self.jump[last, i]
                last = i
            total += self.emission[j, i]
        for i in range(1, len(self.end)):
            count = links.count(i)
            total += self.fertility[i, count] if count < self.fertility.shape[1] else -math.inf
        return float(total + self.end[last])

    def ranked(self) -> list[float]:
        targets, width = self.emission.shape
        weights = (self.log_weight(links) for links in itertools.product(range(width), repeat=targets))
        return sorted((w for w in weights if w > -math.inf), reverse=True)


problems = st.builds(
    Problem,
    st.integers(0, 2**32 - 1),
    st.integers(0, 4),
    st.integers(0, 5),
    st.integers(0, 4),
    scale=st.sampled_from([0.1, 1.0, 3.0, 20.0]),
    zeros=st.sampled_from([0.0, 0.0, 0.15]),
)


def task(method: AlignMethod = AlignMethod.EXACT, num_best: int = 1) -> AlignTask:
    result = AlignTask()
    result.method = method
    result.num_best = num_best
    return result


@given(problem=problems)
def test_exact_is_the_argmax(problem: Problem) -> None:
    weights = problem.ranked()
    found = problem.hmm.align(task())
    assert found.exact
    if not weights:
        assert found.links == []
        return
    assert found.log_weights[0] == pytest.approx(weights[0], abs=ATOL)
    assert found.log_weights[0] == pytest.approx(problem.log_weight(tuple(found.links[0])), abs=ATOL)
    assert found.upper == found.log_weights[0]


@given(problem=problems, k=st.integers(2, 30))
def test_kbest_are_the_first_of_all(problem: Problem, k: int) -> None:
    weights = problem.ranked()
    found = problem.hmm.align(task(num_best=k))
    assert found.exact
    assert found.log_weights == pytest.approx(weights[:k], abs=ATOL)
    assert len({tuple(links) for links in found.links}) == len(found.links)
    for links, weight in zip(found.links, found.log_weights, strict=True):
        assert weight == pytest.approx(problem.log_weight(tuple(links)), abs=ATOL)


@given(problem=problems, exactly_all=st.booleans(), step=st.sampled_from(list(PaperStep)))
def test_the_published_algorithm_is_right_where_it_says_so(
    problem: Problem, exactly_all: bool, step: PaperStep
) -> None:
    weights = problem.ranked()
    asked = task(AlignMethod.PAPER)
    paper = asked.paper
    paper.exactly_all = exactly_all
    paper.step = step
    asked.paper = paper
    found = problem.hmm.align(asked)
    best = weights[0] if weights else -math.inf
    assert found.upper >= best - ATOL
    if found.exact and found.links:
        assert found.log_weights[0] == pytest.approx(best, abs=ATOL)


@given(problem=problems)
def test_a_budget_leaves_bounds(problem: Problem) -> None:
    weights = problem.ranked()
    asked = task()
    asked.labels = 1
    found = problem.hmm.align(asked)
    if found.links:
        assert found.log_weights[0] <= weights[0] + ATOL
        assert found.upper >= weights[0] - ATOL
        assert not found.exact or found.log_weights[0] == pytest.approx(weights[0], abs=ATOL)
