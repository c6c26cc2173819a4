"""The exact aligner against a mixed-integer program: an oracle for problems that enumeration cannot reach."""

from typing import Any

import highspy
import numpy as np
import pytest

from tests.alignment_oracle import Problem, make_task, random_problem

ATOL = 1e-5  # HiGHS' feasibility tolerance 1e-6, times a few dozen terms
GAP = 1e-9


def mip_maximum(problem: Problem) -> float:
    """max ln w(a): a unit of flow along the target words (state: last real position), one count a word."""
    targets, width = problem.emission.shape
    model: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    model.setOptionValue("output_flag", False)
    model.setOptionValue("mip_rel_gap", GAP)
    model.setOptionValue("mip_abs_gap", GAP)
    leaving: dict[tuple[int, int], list[Any]] = {}
    arriving: dict[tuple[int, int], list[Any]] = {(0, 0): []}
    linked: dict[int, list[Any]] = {i: [] for i in range(1, width)}
    terms = []
    for j in range(targets):
        for last in range(width):
            for i in range(width):
                after = i or last
                value = problem.emission[j, i] + (problem.jump[last, i] if i else 0.0)
                x = model.addBinary()
                terms.append(float(value) * x)
                leaving.setdefault((j, last), []).append(x)
                arriving.setdefault((j + 1, after), []).append(x)
                if i:
                    linked[i].append(x)
    model.addConstr(highspy.Highs.qsum(leaving[0, 0]) == 1)
    for last in range(1, width):
        model.addConstr(highspy.Highs.qsum(leaving[0, last]) == 0)
    for j in range(1, targets):
        for last in range(width):
            model.addConstr(highspy.Highs.qsum(leaving[j, last]) == highspy.Highs.qsum(arriving[j, last]))
    for last in range(width):
        terms += [float(problem.end[last]) * x for x in arriving.get((targets, last), [])]
    for i in range(1, width):
        counts = [model.addBinary() for _ in range(problem.fertility.shape[1])]
        model.addConstr(highspy.Highs.qsum(counts) == 1)
        model.addConstr(
            highspy.Highs.qsum(c * y for c, y in enumerate(counts)) == highspy.Highs.qsum(linked[i])
        )
        terms += [float(problem.fertility[i, c]) * y for c, y in enumerate(counts)]
    model.maximize(highspy.Highs.qsum(terms))
    return float(model.getInfo().objective_function_value)


@pytest.mark.parametrize("case", range(8))
def test_exact_is_the_optimum_of_the_program(rng: np.random.Generator, case: int) -> None:
    seed = int(rng.integers(2**32))
    problem = random_problem(seed, 3 + case % 4, 5 + case % 3, 4, scale=[1.0, 3.0][case % 2], zeros=0.0)
    found = problem.hmm.align(make_task()).best
    assert found is not None
    assert found.exact
    assert found.log_weights[0] == pytest.approx(mip_maximum(problem), abs=ATOL)
