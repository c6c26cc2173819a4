"""Scores of induced tags: by hand, against scipy's matching, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linear_sum_assignment

from hiddenite import ModelError
from hiddenite._core import best_matching
from hiddenite.induction.evaluation import compare, many_to_one, one_to_one, v_measure
from tests.strategies import examples

GOLD = [["N", "N", "V"], [], ["N", "V", "D"]]
INDUCED = [["1", "1", "2"], [], ["1", "1", "3"]]


def test_by_hand() -> None:
    found = compare(GOLD, INDUCED)
    assert found.tokens == 6
    assert found.many_to_one == pytest.approx(5 / 6)
    assert found.one_to_one == pytest.approx(5 / 6)
    # H(gold) = entropy of 3, 2, 1 of 6; 1 holds three N and one V
    h_gold = -sum(p * math.log(p) for p in (1 / 2, 1 / 3, 1 / 6))
    h_induced = -sum(p * math.log(p) for p in (4 / 6, 1 / 6, 1 / 6))
    h_gold_given = 4 / 6 * -sum(p * math.log(p) for p in (3 / 4, 1 / 4))
    h_induced_given = 2 / 6 * math.log(2)
    homogeneity, completeness = 1 - h_gold_given / h_gold, 1 - h_induced_given / h_induced
    assert found.homogeneity == pytest.approx(homogeneity)
    assert found.completeness == pytest.approx(completeness)
    assert found.v_measure == pytest.approx(2 * homogeneity * completeness / (homogeneity + completeness))
    assert found.mapping() == {"1": "N", "2": "V", "3": "D"}


def test_one_name_is_given_once() -> None:
    """Two induced tags that are mostly N: many-to-one calls both so, one-to-one only the larger."""
    gold = [["N"] * 5 + ["V"]]
    induced = [["1", "1", "1", "2", "2", "2"]]
    found = compare(gold, induced)
    assert found.many_to_one == pytest.approx(5 / 6)
    assert found.one_to_one == pytest.approx(4 / 6)
    assert found.mapping(one_to_one=True) == {"1": "N", "2": "V"}


def test_renaming_changes_nothing_and_equal_tags_are_perfect() -> None:
    renamed = [[{"N": "x", "V": "y", "D": "z"}[t] for t in s] for s in GOLD]
    assert many_to_one(GOLD, renamed) == one_to_one(GOLD, renamed) == 1.0
    assert v_measure(GOLD, renamed) == pytest.approx(1.0)
    assert v_measure(GOLD, [["1"] * len(s) for s in GOLD]) == pytest.approx(0.0)
    assert v_measure([["N"]], [["1"]]) == 1.0


def test_a_mapping_is_learnt_on_one_text_and_applied_to_another() -> None:
    learnt = compare(GOLD, INDUCED).mapping()
    assert compare([["V", "N"]], [["1", "1"]]).accuracy_of(learnt) == 0.5
    assert compare([["V", "N"]], [["2", "9"]]).accuracy_of(learnt) == 0.5  # 9 was never mapped
    assert compare(GOLD, INDUCED).accuracy_of(learnt) == compare(GOLD, INDUCED).many_to_one


def test_the_table_of_classes() -> None:
    rows = compare(GOLD, INDUCED).classes()
    assert [row.tag for row in rows] == ["1", "2", "3"]
    assert rows[0].parts == (("N", 3), ("V", 1))
    assert rows[0].purity == 0.75
    record = compare(GOLD, INDUCED).to_dict(tables=True)
    assert list(record)[:3] == ["many_to_one", "one_to_one", "v_measure"]
    assert record["classes"][0]["many_to_one"] == "N"
    assert "classes" not in compare(GOLD, INDUCED).to_dict()


@pytest.mark.parametrize(
    ("gold", "induced", "error"),
    [
        ([["N"]], [["1", "2"]], "sentence 1 has 1 gold tags and 2 induced ones"),
        ([["N"], ["V"]], [["1"]], "sentence 2 has 1 gold tags and 0 induced ones"),
        ([["N"]], [["1"], ["2"]], "there are induced tags after sentence 1"),
        ([[]], [[]], "there is no tagged word"),
    ],
)
def test_what_does_not_fit(gold: list[list[str]], induced: list[list[str]], error: str) -> None:
    with pytest.raises(ModelError, match=error):
        compare(gold, induced)


@examples(2)
@given(
    hnp.arrays(np.int64, st.tuples(st.integers(1, 7), st.integers(1, 7)), elements=st.integers(0, 9)),
)
def test_the_matching_is_a_best_one(weights: np.ndarray) -> None:
    pairs = best_matching(weights.astype(np.float64))
    rows, columns = zip(*pairs, strict=True)
    assert len(set(rows)) == len(set(columns)) == len(pairs) == min(weights.shape)
    best = weights[linear_sum_assignment(-weights)].sum()
    assert sum(weights[pair] for pair in pairs) == best
