"""Weights of language models that depend on the words before the one that is predicted.

With levels f of the words before (:class:`Histories`) and u_m, how well model m predicted the last words,

    p(w | before) = sum_m weight_m(before) p_m(w | before)
    weight_m(before)  is proportional to  weight_m exp(sum_f offset[f][m, level_f(before)])
    u_m(t) = sum_{s < t} DECAY^(t - s) ln p_m(w_s) / p(w_s),  p being the mixture with the overall weights

s over the words before in the sentence; a bin of u_m is the last level. The offsets are fitted on held-out
text: they begin at zero and climb, kind after kind, by steps g / (h + PRIOR), g being the gradient of ln p
less PRIOR offset, h twice the sum of weight (1 - weight): at least the curvature of the normaliser.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite.hmmlm.mixing import log_weights

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
DECAY = 0.6
PRIOR = 4.0  # tokens' worth of curvature that hold an offset at zero
_SWEEPS = 20
_LATELY = (-4.0, -2.0, -1.0, -0.5, -0.2, -1e-6, 1e-6, 0.1, 0.2, 0.4, 0.8, 1.6)  # bounds of bins
_MOST = 5.0  # of one word in u
_LEAST_GAIN = 1e-6  # nats a token


@dataclass(frozen=True, slots=True)
class Gate:
    """Offsets of ln weight."""

    overall: Floats  # [model]: weights
    offsets: tuple[Floats, ...]  # [kind][model, level]; the last kind is that of u

    def log_weights(self, columns: Floats, levels: list[Ids], begins: NDArray[np.bool_]) -> Floats:
        """Return ln weight [model, token]; ``begins`` says which tokens begin a sentence."""
        kinds = _kinds(columns, levels, begins, self.overall)
        return _normalised(log_weights(self.overall)[:, None] + _sum(self.offsets, kinds))


def fit_gate(
    columns: Floats, levels: list[Ids], num_levels: list[int], begins: NDArray[np.bool_], overall: Floats
) -> Gate:
    """Fit the offsets; columns[model, token] are ln p. A token that no model explains says nothing."""
    kinds = _kinds(columns, levels, begins, overall)
    sizes = [*num_levels, len(_LATELY) + 1]
    offsets = [np.zeros((len(columns), size)) for size in sizes]
    possible = (columns + log_weights(overall)[:, None]).max(axis=0) > -np.inf
    seen = [kind[:, possible] for kind in kinds]
    given = columns[:, possible]
    logits = np.repeat(log_weights(overall)[:, None], given.shape[1], axis=1)
    best = Gate(overall, tuple(o.copy() for o in offsets))
    most = _objective(given, logits, offsets)
    for _ in range(_SWEEPS if given.size else 0):
        for kind, offset in zip(seen, offsets, strict=True):
            _climb(given, logits, kind, offset)
        value = _objective(given, logits, offsets)
        if not value > most + _LEAST_GAIN * given.shape[1]:
            break
        best, most = Gate(overall, tuple(o.copy() for o in offsets)), value
    return best


def _climb(columns: Floats, logits: Floats, kind: Ids, offset: Floats) -> None:
    """Move the offsets of one kind, and the logits with them."""
    weights = np.exp(_normalised(logits))
    shares = np.exp(_normalised(_normalised(logits) + columns))
    for m in range(len(columns)):
        gradient = np.bincount(kind[m], shares[m] - weights[m], offset.shape[1]) - PRIOR * offset[m]
        curvature = np.bincount(kind[m], weights[m] * (1 - weights[m]), offset.shape[1])
        step = gradient / (2 * curvature + PRIOR)
        offset[m] += step
        logits[m] += step[kind[m]]


def _objective(columns: Floats, logits: Floats, offsets: list[Floats]) -> float:
    log_prob = np.logaddexp.reduce(_normalised(logits) + columns, axis=0).sum()
    return float(log_prob) - PRIOR / 2 * sum(float((offset**2).sum()) for offset in offsets)


def _normalised(logits: Floats) -> Floats:
    return np.asarray(logits - np.logaddexp.reduce(logits, axis=0))


def _sum(offsets: tuple[Floats, ...], kinds: list[Ids]) -> Floats:
    rows = np.arange(len(kinds[0]))[:, None]
    total: Floats = np.zeros(kinds[0].shape)
    for offset, kind in zip(offsets, kinds, strict=True):
        total += offset[rows, kind]
    return total


def _kinds(columns: Floats, levels: list[Ids], begins: NDArray[np.bool_], overall: Floats) -> list[Ids]:
    """Return levels [model, token] of each kind."""
    repeated = [np.broadcast_to(level, columns.shape) for level in levels]
    return [*repeated, np.digitize(_lately(columns, begins, overall), _LATELY)]


def _lately(columns: Floats, begins: NDArray[np.bool_], overall: Floats) -> Floats:
    """Return u [model, token]."""
    mixed = np.logaddexp.reduce(columns + log_weights(overall)[:, None], axis=0)
    with np.errstate(invalid="ignore"):
        gain = np.nan_to_num(np.clip(columns - mixed, -_MOST, _MOST), nan=0.0)
    place = np.arange(columns.shape[1])
    place -= np.maximum.accumulate(np.where(begins, place, 0))  # in the sentence
    result = np.zeros(columns.shape)
    for t in range(1, int(place.max(initial=0)) + 1):
        at = np.flatnonzero(place == t)
        result[:, at] = DECAY * (result[:, at - 1] + gain[:, at - 1])
    return result
