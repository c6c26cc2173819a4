"""Posteriors of the labels of many sentences under one chain of labels, by forward–backward.

The weight of labels t_1 … t_n is start(t_1) · Π_j weight_j(t_j) · Π_j A(t_j, t_{j+1}) · end(t_n). Batches
of sentences of like length move together, one position at a time, so that each step is one product of
matrices: N words and T labels cost O(N T²). Batches are so small that no product is worth several threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_CELLS = 200_000  # multiplications of one product


@dataclass(frozen=True, slots=True)
class Chain:
    """Which labels follow which."""

    start: Array  # [label]
    follows: Array  # [label, next label]
    end: Array  # [label]


@dataclass(frozen=True, slots=True)
class ChainPosterior:
    """What the labels of a text are expected to be."""

    labels: Array  # [word, label]: p(t_j = label | sentence)
    pairs: Array  # [label, next label]: expected number over the text
    firsts: Array  # [label]: expected number of sentences that begin with it
    lasts: Array  # [label]: and that end with it


def infer_labels(weights: Array, lengths: NDArray[np.int64], chain: Chain) -> ChainPosterior:
    """Return the posteriors; ``weights`` [word, label] of all sentences in order, ``lengths`` their words."""
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    begins = np.cumsum(lengths) - lengths
    labels = np.zeros_like(weights)
    pairs = np.zeros_like(chain.follows)
    size = max(_CELLS // len(chain.start) ** 2, 64) if len(chain.start) else 1
    for first in range(0, len(order), size):
        batch = order[first : first + size]
        pairs += _infer_batch(weights, begins[batch], lengths[batch], chain, labels)
    ends = (begins + lengths - 1)[order]
    return ChainPosterior(
        labels,
        pairs * chain.follows,
        labels[begins[order]].sum(axis=0),
        labels[ends].sum(axis=0),
    )


def _infer_batch(
    weights: Array, begins: NDArray[np.int64], sizes: NDArray[np.int64], chain: Chain, labels: Array
) -> Array:
    """Fill in the labels of sentences, longest first; return Σ α_j(t) w_{j+1}(t') β_{j+1}(t') [t, t']."""
    longest, width = int(sizes[0]), weights.shape[1]
    active = [
        int(np.searchsorted(-sizes, -j, side="left")) for j in range(longest + 1)
    ]  # longer than j words
    alpha, beta = (np.empty((longest, len(sizes), width)) for _ in range(2))
    given = np.empty_like(alpha)
    scale = np.empty((longest, len(sizes), 1))
    for j in range(longest):
        n = active[j]
        given[j, :n] = weights[begins[:n] + j]
        found = (chain.start if j == 0 else alpha[j - 1, :n] @ chain.follows) * given[j, :n]
        scale[j, :n] = found.sum(axis=1, keepdims=True)
        alpha[j, :n] = found / scale[j, :n]
    pairs = np.zeros_like(chain.follows)
    for j in range(longest - 1, -1, -1):
        n, more = active[j], active[j + 1]  # the first ``more`` have a next word
        beta[j, more:n] = chain.end / (alpha[j, more:n] @ chain.end)[:, None]
        if more:
            behind = given[j + 1, :more] * beta[j + 1, :more] / scale[j + 1, :more]
            beta[j, :more] = behind @ chain.follows.T
            pairs += alpha[j, :more].T @ behind
        labels[begins[:n] + j] = alpha[j, :n] * beta[j, :n]
    return pairs


def estimate_chain(posterior: ChainPosterior, share: Array, weight: float) -> Chain:
    """Return the chain that expected counts give; ``weight`` of all labels' ``share`` in each row."""
    left = posterior.pairs.sum(axis=1) + posterior.lasts
    ends = posterior.lasts.sum() / max(left.sum(), 1e-300)
    return Chain(
        (posterior.firsts + weight * share) / (posterior.firsts.sum() + weight),
        (posterior.pairs + weight * (1 - ends) * share) / (left + weight)[:, None],
        (posterior.lasts + weight * ends) / (left + weight),
    )
