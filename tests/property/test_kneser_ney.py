"""Kneser-Ney estimation against the formulas, and as a law: every context's probabilities sum to one."""

import math
import random
from collections.abc import Collection, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import NgramModel
from hiddenite._core import KneserNeyTrainer, write_arpa
from hiddenite.ngram_training import TrainingOptions
from tests.models import assert_close, save, train
from tests.oracle import LN_10, Estimate, Sentence, kneser_ney, parse_arpa
from tests.strategies import WORDS, corpora, examples, zipfian_corpora, zipfian_corpus

# Saved numbers are floats of 24 bits with up to 9 digits; logarithms here are below 30.
ATOL = 30 * 2**-23

prunings = st.sampled_from([(), (0,), (0, 1), (0, 0, 1), (0, 1, 1, 2), (0, 0, 3)])


def assert_equals_oracle(model: NgramModel, oracle: Estimate) -> None:
    """The same n-grams with the same numbers."""
    rows = {g: numbers for g, numbers in parse_arpa(save(model).decode()).items() if g != ("<s>",)}
    assert rows.keys() == oracle.model.log_probs.keys() - {("<s>",)}
    log_probs = {g: numbers[0] * LN_10 for g, numbers in rows.items()}
    assert_close(log_probs, {g: oracle.model.log_probs[g] for g in rows}, atol=ATOL)
    backoffs = {g: b for g, b in oracle.model.log_backoffs.items() if g != ("<s>",)}
    # Pruning may leave nothing of the highest orders; what was their context has a weight of 1.
    found = {g: _natural(rows[g][1]) if len(g) < model.order else 0.0 for g in backoffs}
    assert_close(found, backoffs, atol=ATOL)
    assert [not d.closed_form for d in model.discounts] == oracle.fallen_back
    for d, expected in zip(model.discounts, oracle.discounts, strict=True):
        assert (d.d1, d.d2, d.d3) == pytest.approx(expected, rel=1e-12, abs=1e-12)  # a handful of operations


def _natural(log10_value: float) -> float:
    return -math.inf if log10_value == -99 else log10_value * LN_10


@examples(3)
@given(corpora(), st.integers(1, 9), prunings)
def test_small_corpora(texts: list[Sentence], order: int, prune: Sequence[int]) -> None:
    assert_equals_oracle(train(texts, order, prune=prune), kneser_ney(texts, order, prune))


@examples(0.25)
@given(zipfian_corpora, st.integers(1, 9), prunings)
def test_corpora_with_closed_form_discounts(texts: list[Sentence], order: int, prune: Sequence[int]) -> None:
    assert_equals_oracle(train(texts, order, prune=prune), kneser_ney(texts, order, prune))


@given(
    corpora(),
    st.integers(1, 5),
    st.integers(0, 5),
    st.none() | st.lists(st.sampled_from([*WORDS, "unseen", "<unk>", "</s>"]), min_size=1),
    prunings,
)
def test_limited_vocabularies(
    texts: list[Sentence],
    order: int,
    unknown_below: int,
    vocabulary: Collection[str] | None,
    prune: Sequence[int],
) -> None:
    model = train(texts, order, unknown_below=unknown_below, vocabulary=vocabulary, prune=prune)
    assert_equals_oracle(model, kneser_ney(texts, order, prune, unknown_below, vocabulary))


def test_the_closed_form_is_met_in_these_tests() -> None:
    estimate = kneser_ney(zipfian_corpus(random.Random(1), 150, 300), 5)
    assert not any(estimate.fallen_back)


@given(corpora(), st.integers(1, 6), prunings)
def test_probabilities_sum_to_one(texts: list[Sentence], order: int, prune: Sequence[int]) -> None:
    assert_sums_to_one(train(texts, order, prune=prune), texts)


@examples(0.1)
@given(zipfian_corpora, st.integers(1, 5), prunings)
def test_probabilities_sum_to_one_with_closed_form_discounts(
    texts: list[Sentence], order: int, prune: Sequence[int]
) -> None:
    assert_sums_to_one(train(texts, order, prune=prune), texts[:10])


def assert_sums_to_one(model: NgramModel, texts: list[Sentence]) -> None:
    """Over all words but <s>, after every context of the text and some that are not in it."""
    contexts = {tuple(["<s>", *text][:i][-model.order :]) for text in texts for i in range(len(text) + 2)}
    words = [w for w in model.vocabulary if w != "<s>"]
    for context in [*contexts, ("unseen",), ("<unk>", "unseen")]:
        total = math.fsum(math.exp(model.log_prob(w, context)) for w in words)
        # Each logarithm is a sum of at most 6 floats below 30, so each probability is off by 6 * 30 * 2**-24.
        assert total == pytest.approx(1, abs=6 * 30 * 2**-24), context


# Sorted runs on disk


def arpa_of(texts: Sequence[Sentence], order: int, memory_bytes: int, **options: Any) -> bytes:
    """The saved model, estimated with so little memory as the public interface does not permit."""
    prune, unknown_below = list(options.get("prune", ())), options.get("unknown_below", 0)
    directory = TrainingOptions().temporary_directory
    trainer = KneserNeyTrainer(order, prune, unknown_below, None, memory_bytes, directory)
    chunks = iter([" ".join(text).encode() + b"\n" for text in texts])
    trainer.add(lambda: next(chunks, b""), "text")
    parts: list[bytes] = []
    write_arpa(trainer.finish()[0], parts.append, False)
    return b"".join(parts)


TOKENS_IN_MEMORY = 1024  # at least so many are kept in memory, however little there is


@examples(0.2)
@given(zipfian_corpora, st.integers(1, 9), prunings, st.integers(0, 3))
def test_runs_on_disk_give_the_same_bits(
    texts: list[Sentence], order: int, prune: Sequence[int], unknown_below: int
) -> None:
    texts = texts * (1 + 4 * TOKENS_IN_MEMORY // sum(len(text) + 2 for text in texts))
    options = {"prune": prune, "unknown_below": unknown_below}
    assert arpa_of(texts, order, 0, **options) == arpa_of(texts, order, 1 << 30, **options)


def test_the_least_memory_gives_the_same_bits() -> None:
    # 1 MiB holds 65536 tokens: four runs and a rest.
    texts = zipfian_corpus(random.Random(2), 3000, 200) * 10
    assert sum(len(text) + 2 for text in texts) > 4 * 65536
    assert save(train(texts, 4, memory_bytes=1 << 20)) == save(train(texts, 4))
