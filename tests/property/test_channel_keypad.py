"""The keypad channel against its definition."""

import itertools
import math

import hypothesis.strategies as st
import pytest
from hypothesis import given

from hiddenite._core import KeypadNoise
from hiddenite.candidates import Candidates
from hiddenite.channel import Keypad, Typo
from tests.channel_oracle import key_law, keypad_log_weight, unigram_model

ATOL = 1e-12  # a dozen additions of numbers below 100

characters = st.sampled_from("adgz79.,éÅñ")
words = st.text(characters, min_size=1, max_size=7)
vocabularies = st.dictionaries(words, st.sampled_from([-1.0, -1.5, -2.0]), min_size=1, max_size=30)
ambiguities = st.sampled_from([0.0, 1.0, 16.0, 64.0])
observations = st.lists(st.text("0123456789", min_size=1, max_size=7), max_size=4)


@given(vocabularies, ambiguities, observations)
def test_candidates_are_the_words_of_the_length_with_their_weights(
    vocabulary: dict[str, float], ambiguity: float, observed: list[str]
) -> None:
    candidates = Keypad(unigram_model(vocabulary).vocabulary, ambiguity)(" ".join(observed))
    assert len(candidates) == len(observed)
    for position, keys in enumerate(observed):
        expected = {w: keypad_log_weight(w, keys, ambiguity) for w in vocabulary if len(w) == len(keys)}
        assert dict(candidates.slot(position)) == pytest.approx(expected, abs=ATOL)


@given(vocabularies, observations, st.integers(1, 6))
def test_keep_prefers_weight_then_frequency_then_id(
    vocabulary: dict[str, float], observed: list[str], keep: int
) -> None:
    model = unigram_model(vocabulary)
    everything = Keypad(model.vocabulary)(" ".join(observed))
    kept = Keypad(model.vocabulary, keep=keep)(" ".join(observed))
    assert_best_are_kept(everything, kept, keep, vocabulary)


@given(vocabularies, st.lists(words, min_size=1, max_size=3), st.integers(1, 6))
def test_keep_counts_words_outside_the_vocabulary(
    vocabulary: dict[str, float], observed: list[str], keep: int
) -> None:
    model = unigram_model(vocabulary)
    everything = Typo(model.vocabulary)(" ".join(observed))
    kept = Typo(model.vocabulary, keep=keep)(" ".join(observed))
    assert_best_are_kept(everything, kept, keep, vocabulary | {"": -1.5})


def assert_best_are_kept(
    everything: Candidates, kept: Candidates, keep: int, log10: dict[str, float]
) -> None:
    for position in range(len(everything)):
        slot = everything.slot(position)
        ids = [everything.vocabulary.id(word) for word, _ in slot]
        frequency = [log10.get(word, log10.get("", 0.0)) for word, _ in slot]
        order = sorted(range(len(slot)), key=lambda i: (-slot[i][1], -frequency[i], ids[i]))
        assert kept.slot(position) == [slot[i] for i in sorted(order[:keep])]


@given(words, ambiguities)
def test_noise_is_a_probability_of_the_observation(word: str, ambiguity: float) -> None:
    noise = KeypadNoise(ambiguity)
    for intended in range(10):
        law = [math.exp(noise.log_prob(observed, intended)) for observed in range(10)]
        assert math.fsum(law) == pytest.approx(1.0, abs=ATOL)
        assert law == pytest.approx(key_law(intended, ambiguity), abs=ATOL)
    short = word[:2]
    channel = Keypad(unigram_model([short]).vocabulary, ambiguity)
    everything = " ".join(map("".join, itertools.product("0123456789", repeat=len(short))))
    assert math.fsum(map(math.exp, channel(everything).log_weights)) == pytest.approx(1.0, abs=ATOL)


@given(vocabularies, st.sampled_from([1.0, 64.0]))
def test_without_noise_the_word_meant_weighs_most(vocabulary: dict[str, float], ambiguity: float) -> None:
    channel = Keypad(unigram_model(vocabulary).vocabulary, ambiguity)
    text = list(vocabulary)
    candidates = channel(channel.encode(" ".join(text)))
    for position, word in enumerate(text):
        slot = dict(candidates.slot(position))
        assert slot[word] == max(slot.values())
