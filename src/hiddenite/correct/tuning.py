"""Thresholds and probabilities fitted to pairs that a corrector has not learnt from.

Exact marginals are exact under the model, and models are too sure of themselves: of changes with a marginal
of 0.75, about half are right. A logistic map from the marginal (and whether the word as seen is a known one)
to the share that is right makes probabilities of them. On these, the threshold is chosen that serves the
objective best: F1, F0.5 or the word error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from hiddenite.correct.evaluation import f_measure, judge
from hiddenite.correct.settings import Calibration, logit
from hiddenite.errors import ModelError, UnknownSymbolError, near_spellings

if TYPE_CHECKING:
    from hiddenite.correct.corrector import Corrector

OBJECTIVES = ("f1", "f0.5", "wer")
CAREFUL_SPOILT = 0.003  # careful: at most so many good words may be spoilt
_RIDGE = 0.5  # keeps the map near the marginal itself where there is little to learn from
_NEWTON_STEPS = 25


class Outcome(NamedTuple):
    """A change that the best reading makes."""

    posterior: float
    was_known: bool
    is_right: bool
    spoils: bool  # what it replaces was right


def tune(corrector: Corrector, pairs: Iterable[tuple[str, str]], objective: str = "f1") -> Corrector:
    """Return the corrector tuned; see :meth:`Corrector.tune`."""
    if objective not in OBJECTIVES:
        raise UnknownSymbolError("objective", objective, near_spellings(objective, OBJECTIVES) or OBJECTIVES)
    rows = list(pairs)
    outcomes, num_errors, num_good = collect(corrector, rows)
    if not outcomes:
        raise ModelError("nothing changes in these pairs, so there is nothing to tune; give more pairs")
    calibration = fit(outcomes)
    scored = sorted(((calibration(o.posterior, o.was_known), o) for o in outcomes), key=lambda row: -row[0])
    threshold = known = choose(scored, num_errors, objective)
    if objective == "wer":  # known and unknown words can be judged apart: errors add up
        threshold = choose([row for row in scored if not row[1].was_known], num_errors, objective)
        known = choose([row for row in scored if row[1].was_known], num_errors, objective)
    settings = replace(
        corrector.settings,
        calibration=calibration,
        threshold=threshold,
        known_threshold=known,
        careful_threshold=choose_careful(scored, num_errors, num_good),
    )
    if settings.careful_threshold < max(threshold, known):
        settings = replace(settings, careful_threshold=max(threshold, known))
    return corrector.with_settings(settings)


def collect(corrector: Corrector, rows: Sequence[tuple[str, str]]) -> tuple[list[Outcome], int, int]:
    """Return all changes of the best readings, the number of errors and the number of good words."""
    plain = corrector.with_settings(replace(corrector.settings, calibration=Calibration()))
    outcomes = []
    num_errors = num_good = 0
    corrections = plain.correct_many((noisy for noisy, _ in rows), min_probability=0.0)
    for (noisy, right), correction in zip(rows, corrections, strict=True):
        for piece in judge(noisy, right, correction.changes):
            is_error = piece.seen != piece.right
            num_errors += is_error
            num_good += not is_error
            for change in piece.changes:
                known = plain.is_known(change.old)
                outcomes.append(Outcome(change.posterior, known, piece.made == piece.right, not is_error))
    return outcomes, num_errors, num_good


def fit(outcomes: Sequence[Outcome]) -> Calibration:
    """Fit the logistic map by Newton's method, with a ridge towards the marginals themselves."""
    import numpy as np  # noqa: PLC0415

    x = np.array([[1.0, logit(o.posterior), float(o.was_known)] for o in outcomes])
    y = np.array([float(o.is_right) for o in outcomes])
    origin = np.array([0.0, 1.0, 0.0])
    weights = origin.copy()

    def loss(w: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        z = x @ w
        return float(np.sum(np.logaddexp(0.0, z) - y * z) + _RIDGE / 2 * np.sum((w - origin) ** 2))

    for _ in range(_NEWTON_STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (y - p) - _RIDGE * (weights - origin)
        hessian = (x * (p * (1 - p))[:, None]).T @ x + _RIDGE * np.eye(3)
        step = np.linalg.solve(hessian, gradient)
        while loss(weights + step) > loss(weights) and np.abs(step).max() > 1e-9:
            step = step / 2  # a full step can overshoot where most changes are alike
        weights = weights + step
    offset, slope, known = (float(w) for w in weights)
    return Calibration(offset, slope, known)


def choose(scored: Sequence[tuple[float, Outcome]], num_errors: int, objective: str) -> float:
    """Return the threshold of the best objective; ``scored`` is in descending order of probability."""
    best, threshold = -math.inf, 0.5
    true = spoilt = 0
    for count, (probability, outcome) in enumerate(scored, 1):
        true += outcome.is_right
        spoilt += outcome.spoils
        if objective == "wer":
            value = float(true - spoilt)  # a true change removes an error, one that spoils adds one
        else:
            value = f_measure(true / count, true / max(num_errors, 1), 1.0 if objective == "f1" else 0.5)
        is_last = count == len(scored) or scored[count][0] < probability
        if is_last and value > best:
            best, threshold = value, _between(scored, count)
    return threshold


def choose_careful(scored: Sequence[tuple[float, Outcome]], num_errors: int, num_good: int) -> float:
    """Return the threshold of the best F0.5 among those that spoil few good words."""
    best, threshold = -math.inf, 0.9
    true = spoilt = 0
    for count, (probability, outcome) in enumerate(scored, 1):
        true += outcome.is_right
        spoilt += outcome.spoils
        if count < len(scored) and scored[count][0] == probability:
            continue
        value = f_measure(true / count, true / max(num_errors, 1), 0.5)
        if spoilt <= CAREFUL_SPOILT * num_good and value > best:
            best, threshold = value, _between(scored, count)
    return threshold


def _between(scored: Sequence[tuple[float, Outcome]], count: int) -> float:
    """Return a threshold that lets the first ``count`` changes pass."""
    last = scored[count - 1][0]
    following = scored[count][0] if count < len(scored) else 0.0
    return (last + following) / 2
