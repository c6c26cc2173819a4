"""Links by probability: the draws that they rest on, and what is proved of them.

A link's probability is its share of n independent exact draws. With probability ``CONFIDENCE`` the true
probabilities of all links of a sentence pair lie in the intervals of :func:`share_bounds` (Chernoff: if p is
true, a share at least as far off as s has a probability of at most exp(−n KL(s, p))). A link is decided if
its interval lies on one side of the threshold. Taking all links whose probability reaches t maximises the
expected sum of (1 − t) for each right link and −t for each wrong one; what undecided links can cost is the
gap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import LinkDraws
from hiddenite.results import json_number

CONFIDENCE = 1 - 1e-6  # of all intervals of one sentence pair together

_Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sampling:
    """The draws behind link probabilities."""

    method: str  # exact: independent draws, by rejection
    asked: int  # draws wanted in each direction
    draws: int  # made in each direction: the smaller number
    trials: int  # proposals, accepted or not, of all directions
    standard_error: float | None  # the largest of any link's; None: nothing was drawn
    log_partition: float | None  # ln of the sum of all alignments' weights, summed over directions
    log_partition_error: float | None  # its standard error; both None where unseen alignments could decide
    log_partition_upper: float  # a bound that is always true

    @property
    def complete(self) -> bool:
        """Whether there are as many draws as were asked for."""
        return self.draws >= self.asked

    @property
    def note(self) -> str | None:
        """What is missing, in words."""
        if self.complete:
            return None
        if self.trials == 0:
            return "the budget ended before the first trial"
        drawn = "no exact sample" if self.draws == 0 else f"{self.draws} of {self.asked} exact samples"
        return f"{drawn} within {self.trials} trials"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "method": self.method,
            "asked": self.asked,
            "draws": self.draws,
            "trials": self.trials,
            "standard_error": self.standard_error,
            "log_partition": self.log_partition,
            "log_partition_error": self.log_partition_error,
            "log_partition_upper": json_number(self.log_partition_upper),
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class LinkCertificate:
    """What is proved of links taken by probability: on which side of the threshold each link's lies."""

    exact: bool  # every link is decided
    threshold: float
    method: str  # samples: shares of exact draws; hmm: computed, of the chain without fertilities
    draws: int | None  # in each direction; None: no draws were needed
    standard_error: float | None
    confidence: float  # that all decided links are decided rightly
    undecided: int | None  # links; None: nothing is known of any
    gap: float | None  # what the undecided links can cost, in links
    note: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "exact": self.exact,
            "threshold": self.threshold,
            "method": self.method,
            "draws": self.draws,
            "standard_error": self.standard_error,
            "confidence": self.confidence,
            "undecided": self.undecided,
            "gap": self.gap,
            "note": self.note,
        }


def read_sampling(
    sampled: Sequence[LinkDraws], asked: int, shares: Sequence[NDArray[np.float32]]
) -> Sampling:
    """Sum up the draws of one or two directions; ``shares`` are their links' shares."""
    values = [one.log_partition for one in sampled]
    known = all(value is not None for value in values)
    return Sampling(
        "exact",
        asked,
        min(len(one) for one in sampled),
        sum(one.trials for one in sampled),
        _largest_error(sampled, shares),
        sum(value for value in values if value is not None) if known else None,
        math.hypot(*(one.log_partition_error for one in sampled)) if known else None,
        sum(one.log_partition_upper for one in sampled),
    )


def _largest_error(sampled: Sequence[LinkDraws], shares: Sequence[NDArray[np.float32]]) -> float | None:
    """Return the largest standard error of a mean of shares; one more draw of each outcome counts in."""
    if any(len(one) == 0 for one in sampled):
        return None
    squares = np.zeros(shares[0].shape)
    for one, share in zip(sampled, shares, strict=True):
        n = len(one) + 2
        p = (share.astype(np.float64) * len(one) + 1) / n
        squares += p * (1 - p) / n
    return round(math.sqrt(squares.max(initial=0.0)) / len(sampled), 6)


def share_bounds(num_draws: int, num_shares: int, confidence: float = CONFIDENCE) -> tuple[_Array, _Array]:
    """Return [count]: between which probabilities each of so many shares lies, all at once."""
    share = np.arange(num_draws + 1) / num_draws
    most = math.log(2 * max(num_shares, 1) / (1 - confidence)) / num_draws
    return _farthest(share, np.zeros_like(share), most), _farthest(share, np.ones_like(share), most)


def _farthest(share: _Array, end: _Array, most: float) -> _Array:
    """Bisect for the p between share and end that is at least as far as KL(share, p) = most."""
    near, far = share.copy(), end
    for _ in range(60):
        middle = (near + far) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            gained = np.where(share > 0, share * np.log(share / middle), 0.0)
            lost = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - middle)), 0.0)
        inside = gained + lost <= most
        near, far = np.where(inside, middle, near), np.where(inside, far, middle)
    return far


def certify_links(
    threshold: float, shares: Sequence[NDArray[np.float32]], sampled: Sequence[LinkDraws], sampling: Sampling
) -> LinkCertificate:
    """Decide the links of one or two directions' shares of exact draws."""
    undecided, gap = None, None
    if shares and shares[0].size == 0:  # there is nothing to decide
        undecided, gap = 0, 0.0
    elif shares:
        low, high = (np.zeros(shares[0].shape) for _ in range(2))
        for one, share in zip(sampled, shares, strict=True):
            counts = np.rint(share.astype(np.float64) * len(one)).astype(np.int64)
            lower, upper = share_bounds(len(one), sum(s.size for s in shares))
            low += lower[counts] / len(shares)
            high += upper[counts] / len(shares)
        chosen = mean_of(shares) >= threshold
        cost = np.where(chosen, threshold - low, high - threshold)
        wrong = np.where(chosen, low < threshold, high >= threshold)
        undecided = int(wrong.sum())
        gap = round(float(cost[wrong].sum()), 6)
    return LinkCertificate(
        undecided == 0,
        threshold,
        "samples",
        sampling.draws,
        sampling.standard_error,
        CONFIDENCE,
        undecided,
        gap,
        sampling.note,
    )


def certify_computed(threshold: float, known: bool) -> LinkCertificate:
    """Say of probabilities that were computed, not drawn, whether they are there."""
    note = None if known else "the budget ended before the probabilities were computed"
    missing = None if not known else 0
    return LinkCertificate(known, threshold, "hmm", None, None, 1.0, missing, missing, note)


def mean_of(shares: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the mean of the directions' probabilities."""
    return np.asarray(sum(shares) / np.float32(len(shares)), dtype=np.float32)
