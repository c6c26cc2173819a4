"""Smoothed fertility distributions, from each word's expected histogram.

A histogram counts how often a word generated 0, 1, 2 ... words. Three ways to a distribution p(n | word):

categorical   the histogram, backed off to that of all words; done in the core, nothing to do here.
poisson       a rate per word; words seen RARE times or less share one (Zhao & Gildea 2010).
log-linear    p(n | word) proportional to exp(theta . F(word, n)), features of Quirk (2013, section 3):
              n; n and the word, if it was seen more than RARE times; n and its length; n and its first four
              letters. The penalised likelihood, concave, is maximised by L-BFGS.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hiddenite.arrays import np
from hiddenite.errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Histograms = NDArray[np.float64]

RARE = 10
PREFIX = 4  # letters
PENALTY = 1.0  # weight of |theta|^2 / 2
FIRM = 1e6  # observations a distribution is worth, so that nothing backs off from it


def poisson(words: Sequence[str], histograms: _Histograms) -> _Histograms:
    """Return p(n | word) as truncated Poisson distributions."""
    del words
    width = histograms.shape[1]
    seen = histograms.sum(axis=1)
    links = histograms @ np.arange(width)
    rare = seen <= RARE
    rate = np.full(len(seen), links[rare].sum() / max(seen[rare].sum(), 1e-9))
    rate[~rare] = links[~rare] / seen[~rare]
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, width)))])
    scores = np.outer(np.log(np.maximum(rate, 1e-6)), np.arange(width)) - log_factorial
    return _softmax(scores)


def log_linear(words: Sequence[str], histograms: _Histograms) -> _Histograms:
    """Return p(n | word) of the feature model."""
    try:
        from scipy.optimize import minimize  # noqa: PLC0415 (an extra)
        from threadpoolctl import threadpool_limits  # noqa: PLC0415
    except ImportError:
        raise ModelError("log-linear fertilities need SciPy; install hiddenite[fit]") from None
    groups = _features(words, histograms.sum(axis=1))
    sizes = [int(ids.max(initial=-1)) + 1 for ids in groups]
    width = histograms.shape[1]
    bounds = np.cumsum([0, *(size * width for size in sizes)])
    seen = histograms.sum(axis=1, keepdims=True)

    def blocks(theta: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        return [theta[a:b].reshape(-1, width) for a, b in itertools.pairwise(bounds)]

    def scores(theta: NDArray[np.float64]) -> _Histograms:
        total = np.zeros_like(histograms)
        for ids, block in zip(groups, blocks(theta), strict=True):
            has = ids >= 0
            total[has] += block[ids[has]]
        return total

    def loss(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        probs = _softmax(scores(theta))
        value = float(PENALTY / 2 * theta @ theta - (histograms * np.log(probs)).sum())
        slope = seen * probs - histograms
        gradient = PENALTY * theta
        for ids, block in zip(groups, blocks(gradient), strict=True):
            has = ids >= 0
            np.add.at(block, ids[has], slope[has])
        return value, gradient

    # Sums of several threads are rounded in another order, and the steps that follow part from each other.
    with threadpool_limits(1, user_api="blas"):
        found = minimize(loss, np.zeros(bounds[-1]), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return _softmax(scores(found.x))


def _features(words: Sequence[str], seen: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """Return, for each kind of feature, the number of the word's own; -1 if it has none."""
    frequent = np.flatnonzero(seen > RARE)
    own = np.full(len(words), -1, dtype=np.int64)
    own[frequent] = np.arange(len(frequent))
    lengths = np.array([len(word) for word in words], dtype=np.int64)
    numbers: dict[str, int] = {}
    prefixes = np.array([numbers.setdefault(w[:PREFIX], len(numbers)) for w in words], dtype=np.int64)
    return [np.zeros(len(words), dtype=np.int64), own, lengths, prefixes]


def _softmax(scores: _Histograms) -> _Histograms:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


ESTIMATORS: dict[str, Callable[[Sequence[str], _Histograms], _Histograms] | None] = {
    "categorical": None,
    "poisson": poisson,
    "log-linear": log_linear,
}


def smooth(
    name: str, words: Sequence[str], table: NDArray[np.float32], max_fertility: int
) -> NDArray[np.float32]:
    """Return the model's fertility table, re-estimated; rows are words."""
    estimate = ESTIMATORS[name]
    if estimate is None or not words:
        return table
    histograms = table.astype(np.float64).reshape(len(words), max_fertility + 1)
    return (FIRM * estimate(words, histograms)).astype(np.float32).ravel()
