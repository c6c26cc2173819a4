"""Weights of language models by what was seen of the words before, against counting by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hiddenite.errors import ModelError
from hiddenite.hmmlm.gate import fit_gate
from hiddenite.hmmlm.histories import LONGEST, SIZES, VARIETY, Histories
from hiddenite.hmmlm.interpolation import Interpolation, sentence_begins

TEXTS = st.lists(st.lists(st.sampled_from(["a", "b", "c"]), max_size=6), min_size=1, max_size=8)


def as_bytes(sentences: list[list[str]]) -> bytes:
    return "".join(" ".join(words) + "\n" for words in sentences).encode()


def endings(words: list[str], t: int) -> list[tuple[str, ...]]:
    """The last 1, 2, ... words before token t, <s> among them."""
    before = ["<s>", *words[:t]]
    return [tuple(before[-k:]) for k in range(1, min(LONGEST, len(before)) + 1)]


@given(TEXTS, TEXTS)
def test_bins_are_those_of_counting(seen: list[list[str]], asked: list[list[str]]) -> None:
    known = {w for words in seen for w in words}
    counts: dict[tuple[str, ...], int] = {}
    for words in seen:
        for t in range(len(words) + 1):
            for history in endings(words, t):
                counts[history] = counts.get(history, 0) + 1
    expected = []
    for words in asked:
        plain = [w if w in known else "<unk>" for w in words]
        for t in range(len(words) + 1):
            found = [h for h in endings(plain, t) if h in counts]
            # A longer history that was seen has all its endings seen, so the last is the longest.
            longest = max(found, key=len, default=())
            size = int(math.log2(counts[longest])) + 1 if longest else 0
            expected.append(len(longest) * SIZES + size)
    assert Histories(as_bytes(seen)).bins(as_bytes(asked)).tolist() == expected


class Fixed:
    """A model that gives numbers in turn."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def token_log_probs(self, text: bytes, threads: int = 0) -> NDArray[np.float64]:
        tokens = sum(len(line.split()) + 1 for line in text.decode().splitlines())
        return np.log(np.random.default_rng(self._seed).random(tokens))


@given(TEXTS, TEXTS)
def test_levels_are_those_of_counting(seen: list[list[str]], asked: list[list[str]]) -> None:
    words = sorted({w for sentence in seen for w in sentence})
    after: dict[tuple[str, ...], list[str]] = {}
    for sentence in seen:
        for t in range(len(sentence) + 1):
            for history in endings(sentence, t):
                after.setdefault(history, []).append([*sentence, "</s>"][t])
    histories = Histories(as_bytes(seen))
    levels = histories.levels(as_bytes(asked))
    assert len(levels) == len(histories.num_levels) == LONGEST + 2
    assert all(level.max() < number for level, number in zip(levels, histories.num_levels, strict=True))
    place = 0
    for sentence in asked:
        plain = [w if w in words else "<unk>" for w in sentence]
        for t in range(len(sentence) + 1):
            for length in range(1, LONGEST + 1):
                found = next((after[h] for h in endings(plain, t) if len(h) == length and h in after), None)
                expected = 0
                if found is not None:
                    variety = np.digitize(len(set(found)) / len(found), VARIETY)
                    expected = 1 + (int(math.log2(len(found))) + 1) * (len(VARIETY) + 1) + int(variety)
                assert levels[length][place] == expected
            place += 1
    last = [w for sentence in asked for w in ["<s>", *(w if w in words else "<unk>" for w in sentence)]]
    numbers = levels[-1].tolist()
    pairs = set(zip(last, numbers, strict=True))
    assert len(pairs) == len(set(last)) == len(set(numbers))  # one number for each word


@given(TEXTS, st.integers(0, 99))
def test_weights_by_history_fit_at_least_as_well_and_add_up(text: list[list[str]], seed: int) -> None:
    data = as_bytes(text)
    models = [Fixed(seed), Fixed(seed + 1), Fixed(seed + 2)]
    plain, mixed = Interpolation.fit(models, data), Interpolation.fit(models, data, histories=Histories(data))
    assert mixed.gate is not None
    assert mixed.histories is not None
    columns = np.stack([m.token_log_probs(data) for m in models])
    weights = mixed.gate.log_weights(columns, mixed.histories.levels(data), sentence_begins(data))
    np.testing.assert_allclose(np.exp(weights).sum(axis=0), 1.0)
    np.testing.assert_allclose(mixed.token_log_probs(data), np.log(np.exp(weights + columns).sum(axis=0)))
    assert mixed.perplexity(data) <= plain.perplexity(data) * (1 + 1e-9)


@given(TEXTS, st.integers(0, 99), st.data())
def test_weights_know_nothing_of_the_word_that_comes(
    text: list[list[str]], seed: int, data: st.DataObject
) -> None:
    """Another word from place t on, and other scores: the weights up to t are the same."""
    models = [Fixed(seed), Fixed(seed + 1)]
    mixed = Interpolation.fit(models, as_bytes(text), histories=Histories(as_bytes(text)))
    assert mixed.gate is not None
    assert mixed.histories is not None
    s = data.draw(st.integers(0, len(text) - 1))
    t = data.draw(st.integers(0, len(text[s])))
    other = [*text[:s], [*text[s][:t], "c", *text[s][t + 1 :]], *text[s + 1 :]]
    place = sum(len(words) + 1 for words in text[:s]) + t
    found = []
    for version, shift in ((text, 0.0), (other, 0.7)):
        columns = np.stack([m.token_log_probs(as_bytes(version)) for m in models])
        columns[0, place:] -= shift
        levels, begins = mixed.histories.levels(as_bytes(version)), sentence_begins(as_bytes(version))
        found.append(mixed.gate.log_weights(columns, levels, begins)[:, : place + 1])
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-12)


def test_a_model_that_did_well_lately_gets_more_weight() -> None:
    """One of two models is right about whole sentences: words of the sentence say which."""
    rng = np.random.default_rng(1)
    length, number = 10, 400
    right = np.repeat(rng.integers(2, size=number), length + 1)
    columns = np.log(np.where(np.arange(2)[:, None] == right, 0.5, 0.1))
    begins = np.arange(columns.shape[1]) % (length + 1) == 0
    levels = [np.zeros(columns.shape[1], np.int64)]
    gate = fit_gate(columns, levels, [1], begins, np.array([0.5, 0.5]))
    weights = np.exp(gate.log_weights(columns, levels, begins))
    of_right = weights[right, np.arange(len(right))]
    assert of_right[begins].mean() == pytest.approx(0.5, abs=0.1)
    assert of_right[~begins].mean() > 0.9


def test_a_gate_needs_histories() -> None:
    with pytest.raises(ModelError, match="neither"):
        Interpolation([Fixed(1), Fixed(2)], [0.5, 0.5], Histories(b"a\n"))
