"""Property test number one: the max-backoff bound is never too low, and never higher than need be."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models import assert_close, load, save
from tests.oracle import BOS, LN_10, ArpaRows, Backoff, arpa_text, parse_arpa
from tests.strategies import examples, log10_probs, tables


@examples(3)
@given(tables())
def test_bound_is_the_maximum_over_all_longer_contexts(rows: ArpaRows) -> None:
    oracle = Backoff.from_rows(rows)
    model = load(arpa_text(rows))
    expected = oracle.max_log_probs()
    found = {(c, w): model.max_log_prob(w, c) for c, w in expected}
    assert_close(found, expected, atol=oracle.rounding())


@examples(3)
@given(tables(closed=True))
def test_bound_is_the_maximum_on_closed_models(rows: ArpaRows) -> None:
    oracle = Backoff.from_rows(rows)
    assert oracle.is_closed()
    model = load(arpa_text(rows))
    expected = oracle.max_log_probs()
    found = {(c, w): model.max_log_prob(w, c) for c, w in expected}
    assert_close(found, expected, atol=oracle.rounding())


@examples(2)
@given(tables() | tables(probs=log10_probs | st.floats(-1e37, 0)))
def test_bound_is_never_below_a_probability_not_even_by_a_rounding(rows: ArpaRows) -> None:
    model = load(arpa_text(rows))
    conditionals = Backoff.from_rows(rows).conditionals()
    bounds = {(c, w): model.max_log_prob(w, c) for c, w in conditionals}
    for context, word in conditionals:
        value = model.log_prob(word, context)
        for start in range(len(context) + 1):
            assert bounds[context[start:], word] >= value, (context, start, word)


@given(tables())
def test_max_arpa_columns_answer_every_question(rows: ArpaRows) -> None:
    """A reader of the file alone: mf of a listed n-gram, else mbow(s) p(w | s without its first word)."""
    oracle = Backoff.from_rows(rows)
    columns = parse_arpa(save(load(arpa_text(rows)), max_columns=True).decode())
    expected = oracle.max_log_probs()
    found = {(c, w): _maximum_from_file(columns, oracle, c, w) for c, w in expected}
    assert_close(found, expected, atol=oracle.rounding())


def _maximum_from_file(
    columns: dict[tuple[str, ...], list[float]], oracle: Backoff, context: tuple[str, ...], word: str
) -> float:
    def natural(log10_value: float) -> float:
        return -math.inf if log10_value == -99 else log10_value * LN_10

    if (*context, word) in columns:
        return natural(columns[(*context, word)][-2])
    if context not in columns:
        return oracle.log_prob(word, context)
    return natural(columns[context][-1]) + oracle.log_prob(word, context[1:])


def test_a_weight_above_one_lifts_the_bound() -> None:
    # By hand: p(b | a) = 10 * 0.01 = 0.1 beats p(b) = 0.01; after <s> nothing can stand to the left.
    model = load(arpa_text({("<unk>",): (-3.0, None), ("<s>",): (-99.0, 0.0), ("</s>",): (-1.0, None),
                            ("a",): (-1.0, 1.0), ("b",): (-2.0, 0.0), (BOS, "a"): (-0.5, None)}))  # fmt: skip
    assert model.max_log_prob("b") == pytest.approx(-1 * LN_10, rel=2**-22)
    assert model.max_log_prob("b", ["<s>"]) == pytest.approx(-2 * LN_10, rel=2**-22)


def test_a_bound_adds_up_in_the_order_of_the_value() -> None:
    # The two weights together move the last digit of p(b), one alone does not: (x + x) + p > x + (x + p).
    tiny = 1e-14 / LN_10
    model = load(arpa_text({("<unk>",): (-3.0, None), ("<s>",): (-99.0, 0.0), ("</s>",): (-1.0, None),
                            ("a",): (-1.0, tiny), ("b",): (-98.5, None), ("a", "a"): (-0.5, tiny),
                            ("a", "a", "a"): (-0.5, None)}))  # fmt: skip
    p = model.log_prob("b")
    assert model.log_prob("b", ["a"]) == p
    assert model.log_prob("b", ["a", "a"]) > p
    assert model.max_log_prob("b", ["a", "a"]) >= model.log_prob("b", ["a", "a"])
