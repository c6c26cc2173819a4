"""Draws of alignments follow p(alignment | sentence pair); a wrong law is found out."""

import itertools
import math

import numpy as np
import pytest

from tests.alignment_oracle import Problem, make_task, random_problem
from tests.statistics import FALSE_ALARM, chi_square_p_value

NUM_DRAWS = 20_000


def draw(problem: Problem, seed: int) -> list[tuple[int, ...]]:
    sampled = problem.hmm.align(make_task(k=0, samples=NUM_DRAWS, seed=seed)).sampled
    assert sampled is not None
    assert sampled.is_complete
    return [tuple(links) for links in sampled.links.tolist()]


@pytest.mark.parametrize("zeros", [0.0, 0.1])
def test_draws_follow_the_posterior(rng: np.random.Generator, zeros: float) -> None:
    problem = random_problem(int(rng.integers(2**32)), 3, 4, 3, scale=3.0, zeros=zeros)
    draws = draw(problem, int(rng.integers(2**32)))
    assert len(draws) == NUM_DRAWS
    weights = {a: math.exp(problem.log_weight(a)) for a in itertools.product(range(4), repeat=4)}
    total = sum(weights.values())
    assert chi_square_p_value(draws, {a: w / total for a, w in weights.items() if w > 0}) > FALSE_ALARM


def test_fertilities_left_out_are_found_out(rng: np.random.Generator) -> None:
    """The sabotaged twin: the law without the fertility of the first source word."""
    problem = random_problem(int(rng.integers(2**32)), 3, 4, 3, scale=3.0, zeros=0.0)
    draws = draw(problem, 1)
    weights = {
        a: math.exp(problem.log_weight(a) - problem.fertility[1, a.count(1)])
        for a in itertools.product(range(4), repeat=4)
        if a.count(1) <= 3
    }
    total = sum(w for w in weights.values())
    assert chi_square_p_value(draws, {a: w / total for a, w in weights.items()}) < FALSE_ALARM
