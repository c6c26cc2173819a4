"""The typo channel against its definition, over whole vocabularies."""

import math

import hypothesis.strategies as st
import pytest
from hypothesis import given

from hiddenite.channel import Typo, TypoRates
from tests.channel_oracle import log, typo_prob, unigram_model

ATOL = 1e-9  # logarithms of products of at most twenty factors

# Few characters, so that words are near each other: neighbours, strangers, shifted, not on the keyboard.
characters = st.sampled_from("asSpé")
words = st.text(characters, min_size=1, max_size=6)
vocabularies = st.sets(words, min_size=1, max_size=30)
shares = st.tuples(*[st.integers(0, 4)] * 4).filter(any)


@st.composite
def typo_rates(draw: st.DrawFn) -> TypoRates:
    parts = draw(shares)
    substitution, insertion, deletion, transposition = (part / sum(parts) for part in parts)
    return TypoRates(
        error_rate=draw(st.sampled_from([0.0, 0.02, 0.5])),
        substitution=substitution,
        insertion=insertion,
        deletion=deletion,
        transposition=transposition,
        neighbour=draw(st.sampled_from([0.0, 0.8, 1.0])),
    )


@given(vocabularies, words, st.integers(0, 3), typo_rates())
def test_candidates_are_all_words_within_the_distance(
    vocabulary: set[str], seen: str, distance: int, rates: TypoRates
) -> None:
    channel = Typo(unigram_model(vocabulary).vocabulary, rates=rates, distance=distance, unknown=False)
    expected = {word: log(typo_prob(word, seen, rates, distance)) for word in vocabulary}
    possible = {word: weight for word, weight in expected.items() if weight > -math.inf}
    assert dict(channel(seen).slot(0)) == pytest.approx(possible, abs=ATOL)


@given(vocabularies, st.lists(words, max_size=4))
def test_a_word_outside_the_vocabulary_stands_for_itself(vocabulary: set[str], seen: list[str]) -> None:
    channel = Typo(unigram_model(vocabulary).vocabulary, unknown_cost=1.5)
    candidates = channel(" ".join(seen))
    for position, word in enumerate(seen):
        slot = candidates.slot(position)
        strangers = {w: weight for w, weight in slot if w not in vocabulary}
        own = log(typo_prob(word, word, TypoRates(), 0)) - 1.5 * len(word)
        assert strangers == ({} if word in vocabulary else pytest.approx({word: own}, abs=ATOL))


@given(st.text("as", min_size=60, max_size=80), st.integers(0, 59), st.integers(0, 59))
def test_long_words_are_found_too(word: str, first: int, second: int) -> None:
    # The index works on bits of 64 places; what is beyond them must count as well. Prefixes of the word are
    # words too: far ones that the walk passes, and near ones.
    channel = Typo(unigram_model([word, word[:1], word[:30], word[:-1]]).vocabulary, unknown=False)
    for seen in (word[:first] + "p" + word[first:], word[:second] + word[second + 1 :] + "p"):
        near = (word, word[:-1])
        expected = {w: log(typo_prob(w, seen, TypoRates(), 2)) for w in near}
        possible = {w: weight for w, weight in expected.items() if weight > -math.inf}
        assert dict(channel(seen).slot(0)) == pytest.approx(possible, abs=ATOL)
