"""A million answers over all tasks, methods, budgets and scales against enumeration: none may be false."""

import itertools
import os
import random
from collections import Counter

import numpy as np
import pytest

from hiddenite import Budget, EmptySupportError, ModelError, decode, kbest, marginals, sample
from tests.laws import (
    SCALES,
    World,
    check_bounds,
    check_kbest,
    check_least_errors,
    check_marginals,
    check_samples,
    random_world,
)
from tests.property.test_laws import LATTICE_METHODS, ROW_METHODS

pytestmark = pytest.mark.statistical

# A tenth for each of the ten seeds of `make statistical`.
NUM_ANSWERS = int(os.environ.get("HIDDENITE_ANSWERS", "110000"))
BUDGETS = (
    None,
    Budget(seconds=0),
    Budget(seconds=2e-5),
    Budget(refinements=0),
    Budget(refinements=2),
    Budget(states=1),
    Budget(states=6),
)


def check_world(world: World, counts: Counter[str], seed: int) -> None:
    """Ask everything once."""
    methods = ROW_METHODS if world.is_row else LATTICE_METHODS
    for method, budget in itertools.product(methods, BUDGETS):
        for task in ("decode", "kbest", "sample", "marginals", "mbr"):
            if method == "sparse" and task != "decode":
                continue
            if (task == "marginals" and method != "auto") or (task == "mbr" and method != "refine"):
                continue
            counts[f"{task} {method}"] += 1
            try:
                check_answer(world, task, method, budget, seed)
            except EmptySupportError:
                assert not world.paths
            except ModelError as error:
                if budget is None or "budget" not in str(error):
                    raise


def check_answer(world: World, task: str, method: str, budget: Budget | None, seed: int) -> None:
    """Raise AssertionError for a false answer."""
    lm, candidates, end = world.model, world.candidates, world.end
    if task == "marginals":
        found = marginals(lm, candidates, budget=budget, end=end)
        return check_marginals(world, found)
    if task == "mbr":
        return check_least_errors(world, decode(lm, candidates, objective="mbr", budget=budget, end=end))
    if task == "sample":
        draws = sample(lm, candidates, 10, seed=seed, method=method, budget=budget, end=end)  # type: ignore[arg-type]
        return check_samples(world, draws, 10) if world.paths else None
    if task == "kbest":
        several = kbest(lm, candidates, 3, method=method, budget=budget, end=end)  # type: ignore[arg-type]
        assert several.certificate.exact or budget is not None
        return check_kbest(world, several, 3) if world.paths else None
    best = decode(lm, candidates, method=method, budget=budget, end=end)  # type: ignore[arg-type]
    assert best.certificate.exact or budget is not None
    if not world.paths:
        assert not best.certificate.exact
        return None
    return check_bounds(world, best, choice=method != "sparse")


def test_no_answer_is_false(rng: np.random.Generator) -> None:
    counts: Counter[str] = Counter()
    source = random.Random(int(rng.integers(2**63)))
    while counts.total() < NUM_ANSWERS:
        world = random_world(source, source.choice(SCALES), lattice=source.random() < 0.4)
        check_world(world, counts, source.getrandbits(32))
    assert len(counts) == 18, counts
