"""Have the chains met, and what are their samples worth: R-hat and effective sample size.

Of m chains with n draws each, split into halves so that a drift counts as disagreement (Gelman et al. 2013,
section 11.4): with W the mean variance within the halves and B / n that of their means,

    R-hat = sqrt(((n - 1) / n W + B / n) / W),
    ESS   = m n / (1 + 2 sum over lags of rho),   rho_k = 1 - (W - mean autocovariance at k) / variance,

the sum of neighbouring pairs being cut where it first turns negative and kept from growing (Geyer 1992).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiddenite.records import json_number

MIN_DRAWS = 4  # a chain


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Of the log joint over the kept sweeps."""

    chains: int
    draws: int  # a chain
    r_hat: float  # near 1: the chains agree; NaN with too few draws
    ess: float  # independent draws that all of them are worth
    best_chain: int  # the one whose tags are the answer, from 0
    mean_log_joint: tuple[float, ...]  # by chain

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "chains": self.chains,
            "draws": self.draws,
            "r_hat": json_number(self.r_hat),
            "ess": json_number(self.ess),
            "best_chain": self.best_chain,
            "mean_log_joint": [json_number(x) for x in self.mean_log_joint],
        }


def _halves(draws: ArrayLike) -> NDArray[np.float64]:
    """Return [half chain, draw]; ``draws`` are [chain, draw]."""
    values = np.atleast_2d(np.asarray(draws, dtype=np.float64))
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, values.shape[1] - half :]])


def r_hat(draws: ArrayLike) -> float:
    """Return the split R-hat of [chain, draw]; NaN for fewer than four draws a chain."""
    halves = _halves(draws)
    length = halves.shape[1]
    if length < MIN_DRAWS // 2:
        return math.nan
    within = float(halves.var(axis=1, ddof=1).mean())
    between = float(halves.mean(axis=1).var(ddof=1))
    if within == 0.0:
        return 1.0 if between == 0.0 else math.inf
    return math.sqrt((length - 1) / length + between / within)


def effective_sample_size(draws: ArrayLike) -> float:
    """Return what [chain, draw] are worth in independent draws; NaN for fewer than four a chain."""
    halves = _halves(draws)
    num, length = halves.shape
    if length < MIN_DRAWS // 2:
        return math.nan
    autocovariance = np.mean([_autocovariance(row) for row in halves], axis=0)
    within = autocovariance[0] * length / (length - 1)
    variance = autocovariance[0] + float(halves.mean(axis=1).var(ddof=1))
    if variance == 0.0:
        return math.nan
    rho = 1.0 - (within - autocovariance) / variance
    rho[0] = 1.0
    total, before = 0.0, math.inf
    for k in range(0, length - 1, 2):
        pair = min(float(rho[k] + rho[k + 1]), before)
        if pair < 0.0:
            break
        total, before = total + pair, pair
    worth: float = num * length / max(2.0 * total - 1.0, 1e-12)
    return float(min(worth, num * length * math.log10(max(num * length, 10))))


def _autocovariance(row: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the autocovariance at all lags, by the fast Fourier transform."""
    length = len(row)
    spectrum = np.fft.rfft(row - row.mean(), 2 * length)
    return np.asarray(np.fft.irfft(spectrum * np.conj(spectrum), 2 * length)[:length] / length)
