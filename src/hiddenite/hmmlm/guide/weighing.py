"""The weights that a language model's next token needs, and how far the rest may be off.

A model that emits every token from every state is read whole for all weights: 0.8 GB for 4,096 states and
50,257 tokens. The other model has already said which tokens matter. Its probabilities times the width of
each weight's bounds (:meth:`GuideState.log_weight_bounds`) say what a guess could cost; the weights of the
costliest tokens are computed until the others together cost less than ``tolerance``. With m the masses
p(token) weight and n those with guesses, the law of the next token moves in total variation by at most

    sum |m - n| / sum n

since 2 TV <= sum |m - n| / sum n + |sum m - sum n| / sum n. Tokens that the other model has ruled out cost
nothing, so that a choice among the best hundred (top-k) is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiddenite._core import DenseHmm
from hiddenite.errors import ModelError
from hiddenite.hmmlm.guide.guide import GuideState, LogWeights

TOLERANCE = 1e-4
_FIRST = 256  # tokens that are looked at before the first sum
_ALL = 0.4  # of the tokens: from there on reading them in order is faster
_SMALL = 1 << 22  # emissions: reading all takes a millisecond
_ROUNDING = 1e-12  # of sums of doubles


@dataclass(frozen=True, eq=False, slots=True)
class Weighed:
    """Log weights of all tokens."""

    log_weights: LogWeights  # as GuideState.log_weights, or a guess between the bounds
    num_exact: int  # tokens whose weight was computed
    error: float  # the most that the law of the next token can be off, in total variation


def weigh(
    state: GuideState, scores: ArrayLike, *, temperature: float = 1.0, tolerance: float = TOLERANCE
) -> Weighed:
    """Return the weights to be added to another model's scores, its logits or log probabilities by token.

    With tolerance 0 all weights are exact, as they always are where that is cheap: where tokens belong to
    classes, where the model is lexicalised or small.
    """
    if not (0 <= tolerance < 1):
        raise ModelError(f"the tolerance is {tolerance}, expected a number from 0 to below 1")
    logits = np.asarray(scores, np.float64)
    if logits.shape != (state.guide.num_tokens,):
        raise ModelError(f"found scores of shape {logits.shape}, expected {state.guide.num_tokens} numbers")
    most = logits.max()
    if np.isnan(most) or most == np.inf:
        raise ModelError("a score is no number, expected logits or log probabilities")
    chains = state.guide.model.chains
    is_dense = all(isinstance(chain, DenseHmm) for chain in chains)
    is_cheap = not is_dense or sum(chain.num_states for chain in chains) * len(logits) <= _SMALL
    if tolerance == 0 or is_cheap or not state.is_possible or state.is_ended or most == -np.inf:
        return Weighed(state.log_weights(temperature), len(logits), 0.0)
    return _weigh(state, logits, temperature, tolerance)


def _weigh(state: GuideState, logits: NDArray[np.float64], temperature: float, tolerance: float) -> Weighed:
    if not temperature > 0:
        raise ModelError(f"the temperature is {temperature}, expected a number above 0")
    lower, guess, upper = (bound / temperature for bound in state.log_weight_bounds())
    peak = float((logits + upper).max())  # of what is possible: it may be far below the best score
    if peak == -np.inf:
        return Weighed(state.log_weights(temperature), len(logits), 0.0)
    low, value, high = (np.exp(logits + bound - peak) for bound in (lower, guess, upper))
    cost = np.maximum(high - value, value - low)
    order = np.argsort(-cost)
    rest = np.append(np.cumsum(cost[order][::-1])[::-1], 0.0)  # [k]: of all but the k costliest
    weights, done, wanted = guess, 0, min(_FIRST, len(order))
    total = float(value.sum())
    while True:
        if wanted > _ALL * len(order):
            return Weighed(state.log_weights(temperature), len(order), 0.0)
        chosen = np.sort(order[done:wanted])
        weights[chosen] = state.log_weights(temperature, chosen)
        total += float((np.exp(logits[chosen] + weights[chosen] - peak) - value[chosen]).sum())
        done = wanted
        needed = int(np.searchsorted(-rest, -tolerance * total))
        if needed <= done:
            break
        wanted = needed
    error = float(rest[done]) / total * (1 + _ROUNDING) if rest[done] > 0 else 0.0
    return Weighed(weights, done, error)
