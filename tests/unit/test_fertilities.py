"""Smoothed fertility distributions against formulas and brute force."""

import math

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from threadpoolctl import threadpool_limits

from hiddenite.align import Aligner, AlignerOptions
from hiddenite.align.fertilities import PENALTY, RARE, log_linear, poisson
from hiddenite.errors import OptionError
from tests.unit.test_align_hmm import toy_corpus

WORDS = ["the", "house", "houses", "a", "extraordinarily"]
HISTOGRAMS = np.array([[50.0, 45, 5], [2, 10, 3], [0, 1, 1], [30, 2, 0], [0, 0, 3]])


def test_poisson_has_a_rate_per_word_and_a_shared_one() -> None:
    probs = poisson(WORDS, HISTOGRAMS)
    assert probs.sum(axis=1) == pytest.approx(np.ones(5))
    rate = 55 / 100
    weights = [rate**n / math.factorial(n) for n in range(3)]
    assert probs[0] == pytest.approx(np.array(weights) / sum(weights))
    assert probs[2] == pytest.approx(probs[4])  # seen 2 and 3 times
    shared = (3 + 6) / 5
    weights = [shared**n / math.factorial(n) for n in range(3)]
    assert probs[4] == pytest.approx(np.array(weights) / sum(weights))


def test_log_linear_is_the_penalised_maximum() -> None:
    """The same optimum by plain numeric optimisation of one feature vector a (word, n)."""
    names = sorted(
        {("all", 0)}
        | {("word", w) for w, h in zip(WORDS, HISTOGRAMS, strict=True) if h.sum() > RARE}
        | {("length", len(w)) for w in WORDS}
        | {("prefix", w[:4]) for w in WORDS},
        key=str,
    )
    active = [
        [
            names.index(f)
            for f in [("all", 0), ("word", w), ("length", len(w)), ("prefix", w[:4])]
            if f in names
        ]
        for w in WORDS
    ]

    def probs(theta: np.ndarray) -> np.ndarray:
        table = theta.reshape(len(names), 3)
        scores = np.array([table[rows].sum(axis=0) for rows in active])
        weights = np.exp(scores)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def loss(theta: np.ndarray) -> float:
        return float(PENALTY / 2 * theta @ theta - (HISTOGRAMS * np.log(probs(theta))).sum())

    found = minimize(loss, np.zeros(3 * len(names)), method="BFGS", options={"gtol": 1e-6})
    assert np.abs(approx_fprime(found.x, loss)).max() < 1e-3
    assert log_linear(WORDS, HISTOGRAMS) == pytest.approx(probs(found.x), abs=1e-3)


def test_log_linear_does_not_depend_on_threads() -> None:
    """Enough parameters for sums by several threads, which round differently."""
    rng = np.random.default_rng(1)
    words = [f"w{i:05d}" for i in rng.integers(100_000, size=3000)]
    histograms = rng.multinomial(20, rng.dirichlet(np.full(8, 0.5), size=3000)).astype(np.float64)
    tables = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            tables.append(log_linear(words, histograms))
    assert np.array_equal(tables[0], tables[1])


def test_unknown_names_are_refused() -> None:
    with pytest.raises(OptionError, match="did you mean poisson"):
        AlignerOptions(fertilities="poison")


@pytest.mark.parametrize("name", ["poisson", "log-linear"])
def test_an_aligner_takes_them(name: str) -> None:
    aligner = Aligner.train(toy_corpus(), seed=1, options=AlignerOptions(fertilities=name))
    assert aligner.align("the red door", "la rouge porte").links == ((0, 0), (1, 1), (2, 2))
