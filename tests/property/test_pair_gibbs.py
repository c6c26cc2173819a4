"""Gibbs sampling of one pair's links against enumeration, and what becomes of pairs without exact draws."""

import numpy as np
import pytest
from numpy.typing import NDArray

from hiddenite import Aligner, AlignerOptions
from hiddenite.align import Question
from hiddenite.align.answers import Alignment
from tests.alignment_oracle import Problem, link_probabilities, make_task, random_problem

QUICK = AlignerOptions(model1_sweeps=3, hmm_sweeps=3, fertility_sweeps=6, chains=1)
# Sixty problems of twelve links; errors beyond 8 standard errors of the means of 20 batches (Student's t, 19
# degrees of freedom) happen once in ten million links: false_alarm = 1e-4 for the whole test.
SEEDS, WIDEST = range(60), 8.0
LEAST_ERROR = 0.01  # links that hardly ever change have too small an estimate of their own


def worst(problem: Problem, truth: NDArray[np.float64], seed: int) -> float:
    """Return the largest difference from the truth, in standard errors."""
    task = make_task(k=0, samples=1, seed=seed)
    task.gibbs_probabilities = True
    answer = problem.hmm.align(task)
    assert answer.sampled is not None
    assert answer.sampled.gibbs_sweeps == 300
    found = answer.probabilities.reshape(truth.shape)
    return float(np.abs(found - truth).max() / max(answer.sampled.gibbs_error, LEAST_ERROR))


def test_averages_are_the_models_probabilities() -> None:
    for seed in SEEDS:
        problem = random_problem(seed, 3, 4, 3, scale=1.0, zeros=0.0)
        assert worst(problem, link_probabilities(problem), seed) < WIDEST


def test_other_models_probabilities_are_told_apart() -> None:
    """The sabotage twin: fertilities left out, as a sampler that forgets them would."""
    far = 0
    for seed in SEEDS:
        problem = random_problem(seed, 3, 4, 3, scale=1.0, zeros=0.0)
        without = Problem(problem.emission, problem.jump, problem.end, 0 * problem.fertility)
        far += worst(problem, link_probabilities(without), seed) >= WIDEST
    assert far > 0


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    pairs = [("the house", "la maison"), ("the dog", "le chien"), ("a dog sleeps", "un chien dort")]
    return Aligner.train(pairs * 5, seed=1, options=QUICK)


@pytest.mark.parametrize("words", [80, 200])
def test_long_pairs_have_probabilities(aligner: Aligner, words: int) -> None:
    rng = np.random.default_rng(words)
    pair = [
        list(rng.choice(side, words))
        for side in (["the", "house", "dog", "a"], ["la", "maison", "chien", "un"])
    ]
    answer = next(aligner.ask([(pair[0], pair[1])], Question(threshold=0.5, budget=1.0, seed=1), threads=1))
    assert isinstance(answer, Alignment)
    assert answer.probabilities is not None
    assert answer.probabilities.sum() > words / 20
    assert answer.sampling is not None
    if answer.sampling.method == "gibbs":
        assert answer.sampling.standard_error is not None
        assert "Gibbs sweeps" in (answer.sampling.note or "")
        assert not answer.exact


def test_gibbs_by_name_agrees_with_exact_draws(aligner: Aligner) -> None:
    pair = ("the dog sleeps", "le chien dort")
    exact = aligner.align(*pair, samples=4000, seed=1)
    chain = aligner.align(*pair, marginals="gibbs", seed=1)
    assert exact.probabilities is not None
    assert chain.probabilities is not None
    assert np.abs(exact.probabilities - chain.probabilities).max() < 0.1


def test_probabilities_are_finite_where_fertilities_are_zero() -> None:
    """A word that cannot be without a link keeps the one it has: the ratio of its fertilities is infinite."""
    averaged = 0
    for seed in range(300):
        problem = random_problem(seed, 2, 3, 2, scale=1.0, zeros=0.3)
        if not problem.ranked():
            continue
        task = make_task(k=0, samples=1, seed=seed)
        task.gibbs_probabilities = True
        answer = problem.hmm.align(task)
        if answer.sampled is not None and answer.sampled.gibbs_sweeps:
            assert ((answer.probabilities >= 0) & (answer.probabilities <= 1)).all()
            averaged += 1
    assert averaged > 50
