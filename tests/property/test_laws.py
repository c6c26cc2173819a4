"""Every task, method, budget and scale, on rows and lattices: bounds are true, exact answers are optima."""

import dataclasses
import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import Budget, EmptySupportError, ModelError, decode, kbest, marginals, sample
from hiddenite.results import Certificate, Decoded
from tests.laws import (
    SCALES,
    World,
    check_bounds,
    check_kbest,
    check_marginals,
    check_samples,
    random_world,
)

ROW_METHODS = ["auto", "refine", "paper", "full", "dominance", "sparse"]
LATTICE_METHODS = ["auto", "full", "dominance"]
BUDGETS = {
    "none": None,
    "no time": Budget(seconds=0),
    "hardly any time": Budget(seconds=2e-5),
    "no refinement": Budget(refinements=0),
    "a refinement": Budget(refinements=1),
    "a state": Budget(states=1),
    "some states": Budget(states=7),
}
CASES = [(method, False) for method in ROW_METHODS] + [(method, True) for method in LATTICE_METHODS]

worlds = st.builds(lambda seed, scale: (seed, scale), st.integers(0, 2**32), st.sampled_from(SCALES))


def ask(world: World, question: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The answer, or None where the core says that every path is impossible, which must be true."""
    try:
        return question(world.model, world.candidates, *arguments, end=world.end, **options)
    except EmptySupportError:
        assert not world.paths
        return None


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(("method", "lattice"), CASES)
@given(drawn=worlds, k=st.sampled_from([1, 2, 5, 1000]))
def test_maxima(method: str, lattice: bool, budget: str, drawn: tuple[int, float], k: int) -> None:
    world = random_world(random.Random(drawn[0]), drawn[1], lattice)
    best = ask(world, decode, method=method, budget=BUDGETS[budget])
    if best is not None:
        if not world.paths:
            assert not best.certificate.exact
            return
        check_bounds(world, best, choice=method != "sparse")
        assert best.certificate.exact or budget != "none"
    if method == "sparse":
        return
    several = ask(world, kbest, k, method=method, budget=BUDGETS[budget])
    if several is not None and world.paths:
        check_kbest(world, several, k)
        assert several.certificate.exact or budget != "none"


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(("method", "lattice"), [c for c in CASES if c[0] not in ("sparse", "dominance")])
@given(drawn=worlds)
def test_sums(method: str, lattice: bool, budget: str, drawn: tuple[int, float]) -> None:
    world = random_world(random.Random(drawn[0]), drawn[1], lattice)
    try:
        draws = ask(world, sample, 30, method=method, budget=BUDGETS[budget], seed=drawn[0])
        if draws is not None and world.paths:
            check_samples(world, draws, 30)
            assert draws.exact or budget != "none"
        found = ask(world, marginals, budget=BUDGETS[budget])
        if found is not None:
            check_marginals(world, found)
    except ModelError as error:  # a sum that is not complete
        assert budget != "none"
        assert "budget" in str(error)  # noqa: PT017


# A law that never fails is none.

FAULTS: dict[str, Callable[[Certificate], Certificate]] = {
    "upper too low": lambda c: dataclasses.replace(c, upper=c.upper - 1e-3, exact=False),
    "lower too high": lambda c: dataclasses.replace(c, lower=c.lower + 1e-3, upper=c.upper + 1e-3),
    "exact too soon": lambda c: dataclasses.replace(c, exact=True),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(fault: str) -> None:
    caught = 0
    for seed in range(60):
        world = random_world(random.Random(seed), 1.0, lattice=False)
        budget = Budget(refinements=0) if fault == "exact too soon" else None
        best = ask(world, decode, method="refine", budget=budget)
        if best is None or (best.certificate.upper == best.certificate.lower and fault == "exact too soon"):
            continue
        wrong = dataclasses.replace(best, certificate=FAULTS[fault](best.certificate))
        if fault == "lower too high":
            wrong = dataclasses.replace(wrong, log_weight=wrong.certificate.lower)
        with pytest.raises(AssertionError):
            check_bounds(world, wrong)
        caught += 1
    assert caught > 10


def test_a_worse_path_is_not_exact() -> None:
    """An answer that is off by little beside its weights is seen: the law measures differences."""
    for seed in range(200):
        world = random_world(random.Random(seed), 1e8, lattice=False)
        if len(world.paths) < 2 or world.paths[0][0] - world.paths[1][0] < 0.01:
            continue
        weight, words, _ = world.paths[1]
        value = float(weight)
        wrong = Decoded(words, value, Certificate(True, value, value, "refine", 0, 0))
        with pytest.raises(AssertionError):
            check_bounds(world, wrong)
        return
    raise AssertionError("no world has two paths")


def test_worlds_are_of_all_kinds() -> None:
    drawn = [random_world(random.Random(s), 1e8, lattice=s % 2 == 0) for s in range(60)]
    assert any(not w.paths for w in drawn)
    assert any(len(w.paths) > 20 for w in drawn)
    assert any(not w.end for w in drawn)
    assert any(math.isinf(x) for w in drawn for *_, x in w.edges)
