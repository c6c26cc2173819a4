"""Weights of language models by what was seen of the words before, against counting by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hiddenite.errors import ModelError
from hiddenite.hmmlm.histories import LONGEST, NUM_BINS, SIZES, Histories
from hiddenite.hmmlm.interpolation import Interpolation

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


@given(TEXTS, st.integers(0, 99))
def test_weights_by_history_fit_at_least_as_well_and_add_up(text: list[list[str]], seed: int) -> None:
    data = as_bytes(text)
    models = [Fixed(seed), Fixed(seed + 1)]
    histories = Histories(data)
    plain, mixed = Interpolation.fit(models, data), Interpolation.fit(models, data, histories=histories)
    assert mixed.by_history is not None
    np.testing.assert_allclose(mixed.by_history.sum(axis=0), 1.0)
    bins = histories.bins(data)
    unseen = np.setdiff1d(np.arange(NUM_BINS), bins)
    np.testing.assert_allclose(mixed.by_history[:, unseen].T, [plain.weights] * len(unseen), rtol=1e-6)
    shares = mixed.by_history[:, bins]
    columns = np.exp([m.token_log_probs(data) for m in models])
    np.testing.assert_allclose(mixed.token_log_probs(data), np.log((shares * columns).sum(axis=0)))
    # Each bin climbs from the overall weights, towards its own items and four of the overall kind.
    assert mixed.perplexity(data) <= plain.perplexity(data) * (1 + 1e-9)


def test_weights_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(ModelError, match="each bin"):
        Interpolation([Fixed(1), Fixed(2)], [0.5, 0.5], Histories(b"a\n"), np.full((2, NUM_BINS), 0.4))
