"""The keypad: keys of characters, the paper's example, what it refuses, what it draws."""

import math
import unicodedata
from collections.abc import Hashable

import numpy as np
import pytest

from hiddenite._core import key_of as core_key_of
from hiddenite.channel import Keypad, encoder_from_name
from hiddenite.errors import ModelError
from tests.channel_oracle import CENTRES, LETTER_KEYS, key_law, key_of, unigram_model
from tests.statistics import FALSE_ALARM, chi_square_p_value

DRAWS = 100_000


def test_the_papers_examples() -> None:
    model = unigram_model(["dog", "fog", "cat"])
    channel = Keypad(model.vocabulary)
    assert channel.encode("dog fog .") == "364 364 0"
    slot = dict(channel("364").slot(0))
    assert slot["dog"] == slot["fog"] > slot["cat"]
    # One key is right with probability 1 / Z; Z adds up 1 / (64 d + 1) over the keys.
    assert slot["dog"] == pytest.approx(sum(math.log(key_law(key, 64)[key]) for key in (3, 6, 4)))


def test_ascii_has_the_keys_of_a_phone() -> None:
    for code in range(0x21, 0x7F):
        assert core_key_of(chr(code)) == key_of(chr(code)), chr(code)


def test_accented_letters_have_the_key_of_their_base() -> None:
    for code in [*range(0xC0, 0x250), *range(0x1E00, 0x1F00)]:
        base = unicodedata.normalize("NFKD", chr(code))[0].lower()
        if base in LETTER_KEYS:
            assert core_key_of(chr(code)) == LETTER_KEYS[base], chr(code)


@pytest.mark.parametrize(
    ("character", "key"),
    [
        *zip("øłđħßæœþŋıĸſ", map(int, "653472686457"), strict=True),
        *[(c, 0) for c in "×÷ªº¿–…“€ждλ中ー😀\u0301²½"],
    ],
)
def test_other_characters(character: str, key: int) -> None:
    assert core_key_of(character) == key


def test_star_is_zero_and_white_space_separates() -> None:
    channel = Keypad(unigram_model([".", "it", "!?"]).vocabulary)
    assert channel(" 48\t\t*  00 ").log_weights.tolist() == channel("48 0 00").log_weights.tolist()
    assert channel("48 *").words(1) == ["."]


def test_special_words_are_no_candidates() -> None:
    channel = Keypad(unigram_model(["abc", "abcd", "abcde"]).vocabulary)
    assert [channel("222 2222 22222").words(i) for i in range(3)] == [["abc"], ["abcd"], ["abcde"]]


def test_a_length_that_no_word_has_is_an_empty_position() -> None:
    candidates = Keypad(unigram_model(["a", "abc"]).vocabulary)("22 2 2222222")
    assert [candidates.words(i) for i in range(3)] == [[], ["a"], []]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("84x 3", "column 3: found 'x', expected the keys 0 to 9 and white space between words"),
        ("# 3", "column 1: found '#'"),
        ("84 3é", "column 5: found 'é'"),
        ("84\u00a03", "column 3: found '\u00a0'"),
    ],
)
def test_other_characters_in_an_observation_are_refused(line: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        Keypad(unigram_model(["a"]).vocabulary)(line)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("ambiguity", [-1.0, math.nan, math.inf])
def test_bad_ambiguities_are_refused(ambiguity: float) -> None:
    with pytest.raises(ModelError, match=r"ambiguity is .*, expected a finite number of at least 0"):
        Keypad(unigram_model(["a"]).vocabulary, ambiguity)


# Draws. The key 2 has neighbours at five distances.


def draws(text: str, ambiguity: float) -> str:
    return encoder_from_name("keypad", ambiguity).encode(text * DRAWS, seed=1)


def law(intended: int, ambiguity: float) -> dict[Hashable, float]:
    return {str(key): p for key, p in enumerate(key_law(intended, ambiguity))}


@pytest.mark.parametrize("text", ["a", ".", "z"])
def test_noise_follows_the_model(text: str) -> None:
    assert chi_square_p_value(draws(text, 64.0), law(key_of(text), 64.0)) > FALSE_ALARM


def test_noise_that_does_not_follow_the_model_is_seen() -> None:
    # Twins: an ambiguity that is a little off, and the noise of a neighbouring key.
    assert chi_square_p_value(draws("a", 60.0), law(2, 64.0)) < FALSE_ALARM
    assert chi_square_p_value(draws("d", 64.0), law(2, 64.0)) < FALSE_ALARM
    # Distances in steps instead of a straight line: only the far keys differ.
    steps = [1 / (64 * sum(map(abs, np.subtract(CENTRES[2], CENTRES[key]))) + 1) for key in range(10)]
    crooked: dict[Hashable, float] = {str(key): weight / sum(steps) for key, weight in enumerate(steps)}
    assert chi_square_p_value(draws("a", 64.0), crooked) < FALSE_ALARM
