"""Automata over words against Python's regular expressions over letters."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import ModelError
from hiddenite.hmmlm.constraints import constraint, contains, intersect, pattern

LETTERS = "abc"
letters = st.sampled_from([*LETTERS, "."])
sets = st.lists(st.sampled_from(LETTERS), min_size=1, max_size=2).map(lambda w: f"[{' '.join(w)}]")
negated = st.lists(st.sampled_from(LETTERS), min_size=1, max_size=2).map(lambda w: f"[^{' '.join(w)}]")
atoms = st.one_of(letters, sets, negated)
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(" ".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from("*+?")).map(lambda pair: f"({pair[0]}){pair[1]}"),
    ),
    max_leaves=6,
)
words = st.lists(st.sampled_from(LETTERS + "d"), max_size=5)


@given(patterns, words)
def test_patterns_match_what_regular_expressions_match(text: str, sentence: list[str]) -> None:
    expected = re.fullmatch(text.replace(" ", ""), "".join(sentence)) is not None
    assert pattern(text).matches(sentence) == expected


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=4), words)
def test_a_phrase_is_contained_where_it_stands(phrase: list[str], sentence: list[str]) -> None:
    assert contains(phrase).matches(sentence) == ("".join(phrase) in "".join(sentence))


@given(patterns, patterns, words)
def test_an_intersection_accepts_what_both_accept(one: str, two: str, sentence: list[str]) -> None:
    both = intersect(pattern(one), pattern(two))
    assert both.matches(sentence) == (pattern(one).matches(sentence) and pattern(two).matches(sentence))


def test_keywords_come_in_any_order() -> None:
    automaton = constraint(["a", "b", "c"])
    assert all(automaton.matches(order) for order in itertools.permutations("abc"))
    assert not automaton.matches("ab")


def test_a_backslash_takes_the_next_character_as_it_is() -> None:
    assert pattern(r"the .* \.").matches(["the", "end", "."])
    assert not pattern(r"the .* \.").matches(["the", "end"])


@pytest.mark.parametrize("text", ["(a", "a)", "*", "a | *", "[a b"])
def test_bad_patterns_are_refused(text: str) -> None:
    with pytest.raises(ModelError, match="the pattern"):
        pattern(text)


def test_a_constraint_that_grows_too_large_is_refused() -> None:
    with pytest.raises(ModelError, match="automaton states"):
        constraint([f"w{i}" for i in range(13)])
