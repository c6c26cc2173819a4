"""Draws of alignments follow p(alignment | sentence pair); a wrong law is found out."""

import itertools
import math

import numpy as np
import pytest

from hiddenite._core import AlignTask
from tests.property.test_fertility import Problem
from tests.statistics import FALSE_ALARM, chi_square_p_value

NUM_DRAWS = 20_000


def draws_and_law(
    rng: np.random.Generator, zeros: float
) -> tuple[list[tuple[int, ...]], dict[tuple[int, ...], float]]:
    problem = Problem(int(rng.integers(2**32)), 3, 4, 3, scale=3.0, zeros=zeros)
    task = AlignTask()
    task.num_samples = NUM_DRAWS
    task.seed = int(rng.integers(2**32))
    draws = [tuple(links) for links in problem.hmm.align(task).samples]
    weights = {a: math.exp(problem.log_weight(a)) for a in itertools.product(range(4), repeat=4)}
    total = sum(weights.values())
    return draws, {a: w / total for a, w in weights.items() if w > 0}


@pytest.mark.parametrize("zeros", [0.0, 0.1])
def test_draws_follow_the_posterior(rng: np.random.Generator, zeros: float) -> None:
    draws, law = draws_and_law(rng, zeros)
    assert len(draws) == NUM_DRAWS
    assert chi_square_p_value(draws, law) > FALSE_ALARM


def test_fertilities_left_out_are_found_out(rng: np.random.Generator) -> None:
    """The sabotaged twin: the law without the fertility of the first source word."""
    problem = Problem(int(rng.integers(2**32)), 3, 4, 3, scale=3.0, zeros=0.0)
    task = AlignTask()
    task.num_samples = NUM_DRAWS
    draws = [tuple(links) for links in problem.hmm.align(task).samples]
    weights = {
        a: math.exp(problem.log_weight(a) - problem.fertility[1, a.count(1)])
        for a in itertools.product(range(4), repeat=4)
        if a.count(1) <= 3
    }
    total = sum(w for w in weights.values())
    assert chi_square_p_value(draws, {a: w / total for a, w in weights.items()}) < FALSE_ALARM
