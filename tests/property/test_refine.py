"""The laws of a relaxation, under any sequence of tighten.

q >= p on every path, tight means q = p, q never rises, its best path bounds the optimum, its total bounds Z.
"""

import itertools
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hiddenite._core import Relaxation, Strategy
from tests.enumeration import Target, log_sum, targets, tolerance

ROWS = 64  # up to so many words a position the edges come from rows, beyond from lists; 0 asks for lists
Kind = tuple[Strategy, bool, int]
KINDS: list[Kind] = [(s, False, ROWS) for s in (Strategy.ALL_BY_ONE, Strategy.FULL_CONTEXT, Strategy.CULPRIT)]
KINDS += [(Strategy.ALL_BY_ONE, False, 0)]
KINDS += [(Strategy.ALL_BY_ONE, True, ROWS)]  # as published
NAMES = ["all", "full", "culprit", "lists", "paper"]

# Sums of the same terms in another order.
ROUNDING = 1e-9


def places(target: Target) -> list[list[int]]:
    """All paths, as places in the slots' distinct words."""
    sizes = []
    for i in range(len(target.slots)):
        first, last = map(int, target.candidates.begin[i : i + 2])
        ids = target.candidates.word_ids[first:last].tolist()
        weights = target.candidates.log_weights[first:last].tolist()
        sizes.append(len({w for w, weight in zip(ids, weights, strict=True) if weight > -math.inf}))
    return [list(path) for path in itertools.product(*map(range, sizes))]


def relaxation(target: Target, kind: Kind, end: bool, total: bool) -> Relaxation:
    c = target.candidates
    strategy, paper, widest_row = kind
    return Relaxation(
        target.model.engine.table,
        c.begin,
        c.word_ids,
        c.log_weights,
        end,
        total,
        strategy,
        paper,
        1,
        widest_row,
    )


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
@given(target=targets(), end=st.booleans(), data=st.data())
def test_laws(kind: Kind, target: Target, end: bool, data: st.DataObject) -> None:
    assume(target.slots)
    assume(all(any(weight > -math.inf for _, weight in slot) for slot in target.slots))
    paths = places(target)
    true = target.paths(end)
    q = relaxation(target, kind, end, total=False)
    before = {tuple(path): math.inf for path in paths}
    for _ in range(data.draw(st.integers(1, 6), label="steps")):
        scores = {tuple(path): q.score(path) for path in paths}
        for path, trial in scores.items():
            assert trial.log_q >= trial.log_p - ROUNDING
            assert trial.log_q <= before[path] + ROUNDING
            if trial.is_tight:
                assert trial.log_q == trial.log_p
        best = max(trial.log_q for trial in scores.values())
        if best > -math.inf:
            trial = q.best()
            assert trial.log_q == pytest.approx(best, abs=ROUNDING)
            # What is kept of the last best path adds up to the same bits.
            again = scores[tuple(trial.path)]
            assert (trial.log_q, trial.log_p, trial.is_tight) == (again.log_q, again.log_p, again.is_tight)
        if true:
            assert best >= true[0][0] - tolerance(true[0][0])
        if q.is_exact:
            assert all(trial.is_tight for trial in scores.values())
        before = {path: trial.log_q for path, trial in scores.items()}
        q.tighten(data.draw(st.sampled_from(paths), label="path"))


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
@given(target=targets(), end=st.booleans())
def test_tightening_the_best_path_ends_at_the_optimum(kind: Kind, target: Target, end: bool) -> None:
    true = target.paths(end)
    assume(true)
    assume(target.slots)
    q = relaxation(target, kind, end, total=False)
    trial = q.best()
    for _ in range(2000):
        if trial.is_tight:
            break
        q.tighten(trial.path)
        trial = q.best()
    assert trial.is_tight
    assert trial.log_p == pytest.approx(true[0][0], abs=tolerance(true[0][0]))


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
@given(target=targets(), end=st.booleans())
def test_the_total_bounds_the_partition(kind: Kind, target: Target, end: bool) -> None:
    true = target.paths(end)
    assume(true)
    assume(target.slots)
    log_partition = log_sum([log_weight for log_weight, _ in true])
    q = relaxation(target, kind, end, total=True)
    last = math.inf
    for _ in range(5):
        assert q.log_total >= log_partition - tolerance(log_partition)
        assert q.log_total <= last + ROUNDING
        last = q.log_total
        q.tighten(q.draw().path)
