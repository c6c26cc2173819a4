"""Numbers of tokens, ln p(word | words before it): added up by sentence, mixed over models.

A word of probability zero has -inf and is then passed over: p(word | before) means the words before that were
possible when they came. So every model gives a distribution after any words, a mixture of such is one again,
and a sentence has probability zero exactly if one of its words has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def log_weights(weights: Sequence[float] | Floats) -> Floats:
    """Return ln of the weights; that of zero is -inf."""
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(weights, dtype=np.float64))


def sentence_sums(log_probs: Floats, begins: NDArray[np.int64]) -> Floats:
    """Add up the tokens of each sentence; sentence i has those from ``begins[i]`` to ``begins[i + 1]``."""
    sums = np.zeros(len(begins) - 1)
    filled = begins[:-1] < begins[1:]
    if filled.any():
        sums[filled] = np.add.reduceat(log_probs, begins[:-1][filled])
    return sums


def mixture_log_probs(columns: Floats, weights: Sequence[float], begins: NDArray[np.int64]) -> Floats:
    """Mix models whose member is drawn once a sentence; columns[member, token]."""
    result = np.empty(columns.shape[1])
    prior = log_weights(weights)
    for begin, end in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        # The weight of a member is its share in the words so far.
        total = np.logaddexp.reduce(prior[:, None] + np.cumsum(columns[:, begin:end], axis=1), axis=0)
        if end > begin and total[-1] == -np.inf:
            result[begin:end] = _one_by_one(columns[:, begin:end], prior)
        else:
            result[begin:end] = np.diff(total, prepend=0.0)
    return result


def _one_by_one(columns: Floats, prior: Floats) -> Floats:
    """Mix the tokens of a sentence that has impossible words."""
    result = np.full(columns.shape[1], -np.inf)
    joint, before = prior, 0.0
    for t, column in enumerate(columns.T):
        total = float(np.logaddexp.reduce(joint + column))
        if total > -np.inf:
            result[t] = total - before
            joint, before = joint + column, total
    return result


def fit_weights(log_probs: Floats, iterations: int = 200) -> Floats:
    """Return the weights of the mixture that fits best; log_probs[model, item]. EM on a concave function.

    An item that no model can explain says nothing about the weights.
    """
    most = log_probs.max(axis=0)
    possible = most > -np.inf
    scaled = np.exp(log_probs[:, possible] - most[possible])
    weights = np.full(len(log_probs), 1 / len(log_probs))
    for _ in range(iterations if possible.any() else 0):
        shares = weights[:, None] * scaled
        weights = (shares / shares.sum(axis=0)).mean(axis=1)
    return np.asarray(weights / weights.sum())
