"""Automata over words against Python's regular expressions over letters."""

import itertools
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hiddenite import ModelError
from hiddenite.hmmlm import constraints as c
from hiddenite.hmmlm.patterns import pattern, text_pattern
from hiddenite.hmmlm.subwords import token_automaton
from hiddenite.hmmlm.word_automata import contains

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


IDS = {"<unk>": 0, "<s>": 1, "</s>": 2, "a": 3, "b": 4, "c": 5, "d": 6}
VOCABULARY = c.TokenVocabulary.of_words(IDS)


def accepts(constraint: c.Constraint, sentence: Sequence[str]) -> bool:
    return constraint.compile(VOCABULARY).matches([IDS[word] for word in sentence])


@settings(max_examples=50)
@given(st.lists(patterns, min_size=1, max_size=3), st.data(), words)
def test_combinations_count_what_their_parts_accept(
    texts: list[str], data: st.DataObject, sentence: list[str]
) -> None:
    k = data.draw(st.integers(0, len(texts)))
    number = sum(pattern(text).matches(sentence) for text in texts)
    parts = [c.pattern(text) for text in texts]
    assert accepts(c.at_least(k, *parts), sentence) == (number >= k)
    assert accepts(~c.at_least(k, *parts), sentence) == (number < k)
    assert accepts(c.none_of(*parts), sentence) == (number == 0)


@settings(max_examples=50)
@given(patterns)
def test_minimal_automata_have_no_two_states_alike(text: str) -> None:
    """States differ in what they accept; five letters tell at least six states apart."""
    automaton = c.pattern(text).compile(VOCABULARY)
    tails = [tuple(t) for n in range(6) for t in itertools.product([3, 4, 5, 6], repeat=n)]
    behaviours = set()
    for state in range(automaton.num_states):
        ends = []
        for tail in tails:
            q = state
            for token in tail:
                q = automaton.step(q, token)
            ends.append(q != -1 and bool(automaton.accepts[q]))
        behaviours.add(tuple(ends))
    assert automaton.num_states > 6 or len(behaviours) == automaton.num_states


characters = st.recursive(
    st.sampled_from(["a", "b", "é", "€", ".", "[ab]", "[^a]", "[a-c]", r"\w"]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{1,}", "{0,2}"])).map(
            lambda pair: f"({pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=5,
)


@given(characters, st.text("abcé€x", max_size=5))
def test_patterns_over_characters_are_those_of_python(expression: str, text: str) -> None:
    expected = re.fullmatch(expression, text, re.ASCII) is not None
    assert text_pattern(expression).matches(text) == expected


PIECES = ["a", "b", "ab", "é", "€", "é€", "x", "cx"]


@given(characters, st.lists(st.sampled_from(range(len(PIECES) + 2)), max_size=4))
def test_tokens_lead_where_their_bytes_lead(expression: str, tokens: list[int]) -> None:
    """The last two tokens are the halves of é: text that ends inside a character is no text."""
    texts = [*(p.encode() for p in PIECES), "é".encode()[:1], "é".encode()[1:]]
    automaton = token_automaton(text_pattern(expression), texts)
    data = b"".join(texts[t] for t in tokens)
    try:
        expected = re.fullmatch(expression, data.decode(), re.ASCII) is not None
    except UnicodeDecodeError:
        expected = False
    assert automaton.matches(tokens) == expected


def test_keywords_come_in_any_order() -> None:
    automaton = c.constraint(["a", "b", "c"]).compile(VOCABULARY)
    assert all(automaton.matches([IDS[w] for w in order]) for order in itertools.permutations("abc"))
    assert not automaton.matches([3, 4])
    assert automaton.num_states == 8


def test_none_of_many_phrases_needs_few_states() -> None:
    parts = [" ".join(p) for p in itertools.product("abcd", repeat=3)][:40]
    assert c.none_of(*parts).compile(VOCABULARY).num_states < 50


def test_a_backslash_takes_the_next_character_as_it_is() -> None:
    assert pattern(r"the .* \.").matches(["the", "end", "."])
    assert not pattern(r"the .* \.").matches(["the", "end"])


@pytest.mark.parametrize("text", ["(a", "a)", "*", "a | *", "[a b"])
def test_bad_patterns_are_refused(text: str) -> None:
    with pytest.raises(ModelError, match="the pattern"):
        pattern(text)


def test_a_constraint_that_grows_too_large_is_refused() -> None:
    with pytest.raises(ModelError, match="automaton states"):
        c.constraint([f"w{i}" for i in range(13)]).compile(
            c.TokenVocabulary.of_words({w: i for i, w in enumerate(["<unk>", *(f"w{i}" for i in range(13))])})
        )
