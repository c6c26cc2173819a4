"""The typo channel: the keyboard, the kinds of slips, what it refuses, what it draws."""

import functools
import itertools
import math
from collections.abc import Hashable

import pytest

from hiddenite.channel import Encoder, Typo, TypoRates
from hiddenite.errors import ModelError
from tests.channel_oracle import neighbours, total, typo_prob, unigram_model
from tests.statistics import FALSE_ALARM, chi_square_p_value

DRAWS = 200_000
RATES = TypoRates()


def weight(intended: str, seen: str, distance: int = 2) -> float:
    return RATES.model().log_weight(intended, seen, distance)


@pytest.mark.parametrize(
    ("key", "near"),
    [("g", "ftyhvbG"), ("a", "qwszA"), ("q", "12waQ"), ("P", "_)O{:Lp"), ("1", "`2q!"), (" ", ""), ("é", "")],
)
def test_neighbours_touch(key: str, near: str) -> None:
    assert neighbours(key) == set(near)
    others = set("abcdefghijklmnopqrstuvwxyzABCXYZ1290-=[];',./") - set(near) - {key}
    if near:
        assert min(weight(key, c) for c in near) > max(weight(key, c) for c in others)


def test_each_kind_of_slip_has_its_price() -> None:
    kept, last, end = math.log(0.98), math.log(1 - 0.02 * 0.9), math.log(1 - 0.02 * 0.2)
    assert weight("the", "the") == pytest.approx(2 * kept + last + end)
    assert weight("the", "teh") == pytest.approx(kept + math.log(0.02 * 0.1) + end)
    assert weight("the", "th") == pytest.approx(2 * kept + math.log(0.02 * 0.3) + end)
    assert weight("the", "thes") == pytest.approx(2 * kept + last + math.log(0.02 * 0.2 / 47) + end)
    near = math.log(0.02 * 0.4 * 0.8 / len(neighbours("h")))
    assert weight("the", "tje") == pytest.approx(kept + near + last + end)
    far = math.log(0.02 * 0.4 * 0.2 / (47 - len(neighbours("h"))))
    assert weight("the", "tpe") == pytest.approx(kept + far + last + end)
    assert weight("the", "xyz") == -math.inf


def test_the_right_word_leads() -> None:
    model = unigram_model(["the", "then", "they", "tea", "ten", "quick", "quack", "quirk"])
    channel = Typo(model.vocabulary, unknown=False)
    candidates = channel("teh qiuck thee")
    best = [max(candidates.slot(i), key=lambda pair: pair[1])[0] for i in range(3)]
    assert best == ["the", "quick", "the"]


def test_distance_limits_the_candidates() -> None:
    vocabulary = unigram_model(["abcd", "abc", "ab", "a", "b"]).vocabulary
    found = {d: set(Typo(vocabulary, distance=d)("abcd").words(0)) for d in range(4)}
    assert found == {
        0: {"abcd"},
        1: {"abcd", "abc"},
        2: {"abcd", "abc", "ab"},
        3: {*"ab", "abcd", "abc", "ab"},
    }


def test_unknown_words_follow_the_model() -> None:
    knows, does_not = unigram_model(["word"]), unigram_model(["word"], unknown=False)
    assert Typo(knows.vocabulary)("wrod xyz").words(1) == ["xyz"]
    assert Typo(does_not.vocabulary)("wrod xyz").words(1) == []
    assert Typo(does_not.vocabulary, unknown=True)("xyz").words(0) == ["xyz"]
    assert Typo(knows.vocabulary, unknown=False)("xyz").words(0) == []
    assert Typo(knows.vocabulary)("<s> <unk>").words(0) == ["<s>"]
    assert Typo(knows.vocabulary)("<s> <unk>").word_ids.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distance": -1}, "the typo channel's distance is -1, expected 0 to 8"),
        ({"distance": 9}, "distance is 9"),
        ({"unknown_cost": math.nan}, "the cost of an unknown word's character is nan"),
        ({"unknown_cost": -1.0}, "expected a finite number of at least 0"),
        ({"rates": TypoRates(error_rate=1.0)}, "error rate is 1.0.*, expected at least 0 and less than 1"),
        ({"rates": TypoRates(error_rate=math.nan)}, "error rate is nan"),
        ({"rates": TypoRates(neighbour=1.5)}, "neighbour share is 1.5.*, expected 0 to 1"),
        ({"rates": TypoRates(deletion=-0.3)}, "deletion share is -0.3"),
        ({"rates": TypoRates(insertion=0.5)}, "add up to 1.3.*, expected 1"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Typo(unigram_model(["a"]).vocabulary, **options)  # type: ignore[arg-type]


# Draws: the exact law of a short word adds up all scripts, however long.

NOISY = TypoRates(error_rate=0.3, transposition=0.2, deletion=0.2)
PLAIN_KEYS = "`1234567890-=qwertyuiop[]\\asdfghjkl;'zxcvbnm,./"
WORD = "ab"


OTHER = "anything else"


@functools.cache
def exact_law(word: str, rates: TypoRates) -> dict[Hashable, float]:
    """The law of what is seen, given that something is: what is short and not shifted, and all the rest."""
    nothing = typo_prob(word, "", rates, 9, total)
    seen = ["".join(s) for n in (1, 2) for s in itertools.product(PLAIN_KEYS, repeat=n)]
    seen += ["".join(s) for s in itertools.product("abs", repeat=3)]
    law: dict[Hashable, float] = {s: typo_prob(word, s, rates, 9, total) / (1 - nothing) for s in seen}
    return law | {OTHER: 1 - math.fsum(law.values())}


def p_value(rates: TypoRates) -> float:
    """Of draws with these rates under the law of the noisy ones."""
    law = exact_law(WORD, NOISY)
    draws = Encoder(rates.model()).encode(f"{WORD} " * DRAWS, seed=1).split()
    return chi_square_p_value([draw if draw in law else OTHER for draw in draws], law)


def test_noise_follows_the_model() -> None:
    assert p_value(NOISY) > FALSE_ALARM


@pytest.mark.parametrize(
    "twin",
    [
        TypoRates(error_rate=0.3, transposition=0.2, deletion=0.2, neighbour=0.75),
        TypoRates(error_rate=0.29, transposition=0.2, deletion=0.2),
        TypoRates(error_rate=0.3, transposition=0.18, deletion=0.22),
    ],
)
def test_noise_that_does_not_follow_the_model_is_seen(twin: TypoRates) -> None:
    assert p_value(twin) < FALSE_ALARM
