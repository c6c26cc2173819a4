"""Tests of samplers: Pearson's chi-square with a stated rate of false alarms."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from scipy import stats

Outcome = TypeVar("Outcome", bound=Hashable)

# Of a test that should pass; a suite with a hundred of them alarms falsely once in ten thousand runs.
FALSE_ALARM = 1e-6
LEAST_EXPECTED = 5.0  # rarer outcomes are pooled, as the approximation wants


def chi_square_p_value(draws: Sequence[Outcome], probs: Mapping[Outcome, float]) -> float:
    """The probability that draws from `probs` look at least as odd as these; 0 for an impossible draw."""
    counts = dict.fromkeys(probs, 0)
    for draw in draws:
        if draw not in counts:
            return 0.0
        counts[draw] += 1
    outcomes = sorted(probs, key=lambda o: -probs[o])
    expected = np.array([probs[o] for o in outcomes]) * len(draws)
    observed = np.array([counts[o] for o in outcomes], float)
    frequent = int(np.sum(expected >= LEAST_EXPECTED))
    pooled_expected = np.append(expected[:frequent], expected[frequent:].sum())
    pooled_observed = np.append(observed[:frequent], observed[frequent:].sum())
    if pooled_expected[-1] < LEAST_EXPECTED:  # too rare together: the last frequent one takes them in
        pooled_expected = np.append(pooled_expected[:-2], pooled_expected[-2:].sum())
        pooled_observed = np.append(pooled_observed[:-2], pooled_observed[-2:].sum())
    if len(pooled_expected) < 2:
        return 1.0
    statistic = np.sum((pooled_observed - pooled_expected) ** 2 / pooled_expected)
    return float(stats.chi2.sf(statistic, len(pooled_expected) - 1))
