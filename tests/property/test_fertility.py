"""The fertility HMM against enumeration: all methods and budgets, weights of all sizes, planted faults."""

import math
from dataclasses import dataclass, replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from hiddenite import ModelError
from hiddenite._core import AlignMethod, AlignTask, FertilityHmm, PaperStep
from tests.alignment_oracle import (
    Claim,
    Problem,
    check_best,
    check_draws,
    make_task,
    problems,
    random_problem,
)

budgets = st.sampled_from(
    [{}, {}, {"seconds": 0.0}, {"seconds": 1e-5}, {"labels": 1}, {"labels": 7}, {"labels": 60}]
)


def ask(problem: Problem, task: AlignTask) -> Claim | None:
    """Return the answer; nothing where it is proved, rightly, that there is no alignment."""
    try:
        best = problem.hmm.align(task).best
    except ModelError:  # no alignment has a probability above zero
        assert not problem.ranked()
        return None
    assert best is not None
    return best if problem.ranked() else None  # a budget may end before nothing is found to be possible


@given(problem=problems, method=st.sampled_from(list(AlignMethod)), k=st.integers(1, 12), budget=budgets)
def test_bounds_hold_and_proofs_are_true(
    problem: Problem, method: AlignMethod, k: int, budget: dict[str, float]
) -> None:
    k = k if method == AlignMethod.EXACT else 1
    best = ask(problem, make_task(method, k, **budget))  # type: ignore[arg-type]
    if best is not None:
        check_best(problem, best, k)


@given(problem=problems, k=st.integers(1, 30))
def test_without_a_budget_all_is_proved(problem: Problem, k: int) -> None:
    best = ask(problem, make_task(k=k))
    if best is not None:
        assert best.exact
        check_best(problem, best, k)


@given(problem=problems, exactly_all=st.booleans(), step=st.sampled_from(list(PaperStep)))
def test_the_published_algorithm_is_right_where_it_says_so(
    problem: Problem, exactly_all: bool, step: PaperStep
) -> None:
    task = make_task(AlignMethod.PAPER)
    paper = task.paper
    paper.exactly_all, paper.step = exactly_all, step
    task.paper = paper
    best = ask(problem, task)
    if best is not None:
        check_best(problem, best, 1)


@given(problem=problems, budget=budgets, seed=st.integers(0, 2**32 - 1))
def test_shares_of_draws_are_near_the_truth_or_absent(
    problem: Problem, budget: dict[str, float], seed: int
) -> None:
    task = make_task(k=0, samples=60, seed=seed, **budget)  # type: ignore[arg-type]
    try:
        answer = problem.hmm.align(task)
    except ModelError:
        assert not problem.ranked()
        return
    assert answer.best is None
    assert answer.sampled is not None
    if problem.ranked():
        check_draws(problem, answer.sampled, answer.probabilities)


# --------------------------------------------------------------- planted faults


@dataclass(frozen=True)
class Said:
    """A claim that can be falsified."""

    links: NDArray[np.uint32]
    log_weights: NDArray[np.float64]
    exact: bool
    lower: float
    upper: float

    @classmethod
    def by(cls, claim: Claim) -> "Said":
        return cls(claim.links, claim.log_weights, claim.exact, claim.lower, claim.upper)


@dataclass(frozen=True)
class Drew:
    """What is said of draws, falsifiable too."""

    number: int
    log_partition: float | None
    log_partition_error: float
    log_partition_upper: float

    def __len__(self) -> int:
        return self.number


@pytest.fixture
def problem(rng: np.random.Generator) -> Problem:
    return random_problem(int(rng.integers(2**32)), 4, 5, 3, scale=3.0, zeros=0.0)


def test_the_law_of_bounds_sees_planted_faults(problem: Problem) -> None:
    claim = ask(problem, make_task(k=5))
    assert claim is not None
    truth = Said.by(claim)
    check_best(problem, truth, 5)
    second = float(truth.log_weights[1])
    faults = [
        replace(truth, upper=truth.upper - 1e-6, lower=truth.lower - 1e-6),  # below the optimum
        replace(truth, links=truth.links[1:], log_weights=truth.log_weights[1:], lower=second, upper=second),
        replace(truth, links=truth.links[:3], log_weights=truth.log_weights[:3]),  # too few are called all
        replace(truth, links=truth.links[[0, 1, 2, 3, 3]]),  # one twice
        replace(truth, links=truth.links[::-1]),  # another's weight
        replace(truth, upper=truth.upper + 1.0),  # exact, yet with a gap
        replace(truth, exact=False),  # no gap, yet not exact
    ]
    for fault in faults:
        with pytest.raises(AssertionError):
            check_best(problem, fault, 5)


def test_the_law_of_draws_sees_planted_faults(problem: Problem) -> None:
    answer = problem.hmm.align(make_task(k=0, samples=2000, seed=1))
    drawn, shares = answer.sampled, answer.probabilities
    assert drawn is not None
    assert drawn.log_partition is not None

    said = Drew(len(drawn), drawn.log_partition, drawn.log_partition_error, drawn.log_partition_upper)
    check_draws(problem, said, shares)
    off = drawn.log_partition + 10 * drawn.log_partition_error + 0.01
    for fault, claimed in (
        (replace(said, number=0), np.zeros_like(shares)),  # nothing drawn, said to be probability zero
        (said, np.roll(shares, 1)),
        (replace(said, log_partition=off), shares),
        (replace(said, log_partition_upper=drawn.log_partition - 0.5), shares),
    ):
        with pytest.raises(AssertionError):
            check_draws(problem, fault, claimed)


@pytest.mark.parametrize("number", [math.nan, math.inf, 1e101, -1e101])
def test_weights_whose_sums_leave_the_doubles_are_refused(number: float) -> None:
    emission = np.zeros((2, 3))
    emission[1, 2] = number
    with pytest.raises(ModelError, match=r"emission\[1, 2\] is"):
        FertilityHmm(emission, np.zeros((3, 3)), np.zeros(3), np.zeros((3, 2)))
