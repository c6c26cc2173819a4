"""What the words around add to the weights of tags, against an enumeration of all features in Python."""

import math
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import Tagger
from hiddenite.tag import Tagged
from hiddenite.tag.emissions import split_symbol
from tests.strategies import examples

SENTENCES = [
    [("The", "D"), ("dog-house", "N"), ("barks", "V"), (".", "P")],
    [("A", "D"), ("cat", "N"), ("sleeps", "V")],
    [("Dogs", "N"), ("bark", "V"), ("12", "M"), ("times", "N")],
    [("Été", "N"), ("naît", "V"), ("à", "D"), ("PARIS", "N")],
    [("cats", "N"), ("bark", "V"), ("the", "D"), ("dog", "N")],
] * 2
ROLES = {"before": 2, "after": 3, "before 2": 4, "after 2": 5}
DISTANCE = {"before": -1, "after": 1, "before 2": -2, "after 2": 2}
WORDS = sorted({word for sentence in SENTENCES for word, _ in sentence})
TAGGER = Tagger.train(SENTENCES, order=2, lexicalize=1)


# Features, as context_features.hpp lists them


def shape_of(character: str) -> str:
    if character.lower() != character:
        return "A"
    if character in "0123456789":
        return "0"
    return "a" if character.isalpha() else character


def once(text: str) -> str:
    return "".join(c for i, c in enumerate(text) if i == 0 or text[i - 1] != c)


def own_features(word: str) -> Iterator[str]:
    low, shape = word.lower(), "".join(map(shape_of, word))
    yield "b"
    for k in range(1, min(len(low), 5) + 1):
        yield "p" + low[:k]
        yield "s" + low[-k:]
    yield "h" + shape
    yield "H" + once(shape)
    yield from (kind for kind, is_so in (("-", "-" in word), ("d", "0" in shape)) if is_so)
    if "A" in shape and "a" not in shape:
        yield "C"


def features(words: Sequence[str], i: int) -> Iterator[str]:
    def normal(word: str) -> str:
        return "".join("0" if c in "0123456789" else c for c in word.lower())

    yield from ("0w" + words[i], "0l" + normal(words[i]))
    yield from ("0" + feature for feature in own_features(words[i]))
    if i == 0:
        yield "1c" + shape_of(words[i][0])
    for role, number in ROLES.items():
        place = i + DISTANCE[role]
        word = words[place] if 0 <= place < len(words) else ""
        found = ["w" + word, "l" + normal(word)]
        if number <= 3:
            found += ["s" + word.lower()[-k:] for k in range(1, min(len(word), 3) + 1)]
            found.append("H" + once("".join(map(shape_of, word))))
        yield from (f"{number}{feature}" for feature in found)


# Their hashes, as vocabulary.cpp makes them

MASK = 2**64 - 1
K0, K1 = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93


def mix(a: int, b: int) -> int:
    return (a * b & MASK) ^ (a * b >> 64)


def hash_of(text: str) -> int:
    data = text.encode()
    size = len(data)

    def load(at: int, width: int) -> int:
        return int.from_bytes(data[at : at + width], "little")

    if size > 16:
        value, at = K0 ^ size, 0
        while size - at > 8:
            value, at = mix(value ^ load(at, 8), K1), at + 8
        return mix(value ^ load(size - 8, 8), K0)
    width = 8 if size >= 8 else 4
    if size >= 4:
        first, last = load(0, width), load(size - width, width)
    else:
        first, last = data[0] | data[size // 2] << 8, data[-1]
    return mix(mix(first ^ K0 ^ size, K1) ^ last, K0)


def expected_weights(words: Sequence[str], i: int) -> dict[str, float]:
    """Return kappa ln p(t | w) + the weights of all features - mu ln p(symbol), by symbol."""
    model, options = TAGGER.model, TAGGER.model.options
    assert model.context is not None
    guess = [math.exp(x) for x in model.guesser.guesser().guess(words[i], i == 0)]
    seen = [sum((w, t) == (words[i], tag) for s in SENTENCES for w, t in s) for tag in model.tags]
    m = options.guess_weight if sum(seen) else 1.0
    scores = [
        options.base_weight * max(math.log((n + m * g) / (sum(seen) + m)), -30.0)
        for n, g in zip(seen, guess, strict=True)
    ]
    row_of = {int(key): row for row, key in enumerate(model.context.key)}
    for feature in features(words, i):
        row = row_of.get(hash_of(feature))
        if row is not None:
            for k in range(int(model.context.begin[row]), int(model.context.begin[row + 1])):
                scores[int(model.context.part[k])] += float(model.context.weight[k])
    total = sum(count for _, count in model.symbols)
    has_own = any(split_symbol(symbol)[1] == words[i].lower() for symbol, _ in model.symbols)
    return {
        symbol: scores[model.tags.index(tag)] - options.prior_weight * math.log(count / total)
        for symbol, count in model.symbols
        for tag, word in [split_symbol(symbol)]
        if word == (words[i].lower() if has_own else "")
    }


LETTERS = st.text(alphabet="aAbkéÉ1-.", min_size=1, max_size=20)


@examples(0.5)
@given(st.lists(st.one_of(st.sampled_from(WORDS), LETTERS), min_size=1, max_size=6))
def test_weights_are_those_of_all_features(words: list[str]) -> None:
    candidates = TAGGER.candidates(words)
    for i in range(len(words)):
        expected = expected_weights(words, i)
        found = dict(candidates.slot(i))
        assert found
        for symbol, weight in found.items():
            assert weight == pytest.approx(expected[symbol], abs=1e-4)  # sums of about 40 floats below 10
        floor = math.log(TAGGER.model.options.floor)
        left_out = [w for symbol, w in expected.items() if symbol not in found]
        prior = TAGGER.model.options.prior_weight * math.log(len(SENTENCES) * 5)
        assert all(weight <= max(expected.values()) + floor + prior for weight in left_out)


def test_the_features_here_are_those_of_the_model() -> None:
    """Each feature of a training sentence has a row: else the comparison above would look at few."""
    assert TAGGER.model.context is not None
    keys = {int(key) for key in TAGGER.model.context.key}
    for sentence in SENTENCES:
        words = [word for word, _ in sentence]
        for i in range(len(words)):
            hashes = [hash_of(feature) for feature in features(words, i)]
            assert sum(h in keys for h in hashes) >= 0.9 * len(hashes)


def test_many_sentences_are_tagged_as_one_is() -> None:
    """Batches remember the steps of a small model; a single sentence asks for each."""
    sentences = [[f"{word}{i % 7}" for word, _ in sentence] for i, sentence in enumerate(SENTENCES * 10)]
    found = list(TAGGER.tag_many(sentences, threads=1))
    assert len(found) == 100
    for words, answer in zip(sentences, found, strict=True):
        alone = TAGGER.tag(words)
        assert isinstance(answer, Tagged)
        assert (answer.tags, answer.log_weight) == (alone.tags, alone.log_weight)
        assert answer.certificate.exact
