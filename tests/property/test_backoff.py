"""Probabilities and scores of any ARPA table, closed or not, against the definition."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import NgramModel
from tests.models import assert_close, compiled, load, save, train
from tests.oracle import BOS, EOS, UNK, ArpaRows, Backoff, Ngram, arpa_text
from tests.strategies import WORDS, corpora, examples, tables

EXACT = 1e-12  # double sums of ten floats below 300, in another order


@examples(2)
@given(tables())
def test_log_prob_is_the_definition(rows: ArpaRows) -> None:
    oracle = Backoff.from_rows(rows)
    model = load(arpa_text(rows))
    expected = oracle.conditionals()
    assert_close({(c, w): model.log_prob(w, c) for c, w in expected}, expected, atol=oracle.rounding())


@given(tables(closed=True))
def test_log_prob_of_a_closed_table_is_exact(rows: ArpaRows) -> None:
    oracle = Backoff.from_rows(rows)
    model = load(arpa_text(rows))
    listed = {*rows, (UNK,), (BOS,), (EOS,)}
    assert model.ngram_counts == tuple(sum(len(g) == n for g in listed) for n in range(1, oracle.order + 1))
    expected = oracle.conditionals()
    assert_close({(c, w): model.log_prob(w, c) for c, w in expected}, expected, atol=EXACT)


@given(tables(), st.lists(st.sampled_from([*WORDS, "new"]), min_size=6, max_size=9))
def test_a_context_beyond_the_order_does_not_count(rows: ArpaRows, context: list[str]) -> None:
    model = load(arpa_text(rows))
    assert model.log_prob("a", context) == model.log_prob("a", context[len(context) + 1 - model.order :])


sentences = st.lists(st.lists(st.sampled_from([*WORDS, UNK, "never-seen"]), max_size=8), max_size=5)


@given(tables(), sentences)
def test_scores_are_unchanged_by_what_closes_the_table(rows: ArpaRows, texts: list[list[str]]) -> None:
    oracle = Backoff.from_rows(rows)
    for text, score in zip(texts, load(arpa_text(rows)).score(texts), strict=True):
        assert score.log_prob == pytest.approx(
            oracle.score(text), abs=oracle.rounding() * (len(text) + 1), rel=0
        )
        assert score.tokens == len(text) + 1
        assert score.oov == sum((w,) not in rows or w == UNK for w in text)


@given(tables(), sentences)
def test_a_score_is_the_sum_of_its_terms(rows: ArpaRows, texts: list[list[str]]) -> None:
    model = load(arpa_text(rows))
    scores = model.score(texts)
    for i, text in enumerate(texts):
        history = ["<s>", *text]
        terms = [model.log_prob(w, history[: k + 1]) for k, w in enumerate([*text, EOS])]
        known = [t for t, w in zip(terms, [*text, EOS], strict=True) if w == EOS or _is_known(model, w)]
        assert scores.log_prob[i] == pytest.approx(sum(terms), abs=EXACT * len(terms), rel=0)
        assert scores.log_prob_known[i] == pytest.approx(sum(known), abs=EXACT * len(terms), rel=0)
    many = model.score(texts * 40)  # so many are scored side by side
    assert many.log_prob.tolist() == scores.log_prob.tolist() * 40
    assert many.log_prob_known.tolist() == scores.log_prob_known.tolist() * 40
    lines = "".join(" ".join(words) + "\n" for words in texts * 40).encode()
    plain = model._table.score_text(lines, 1, "text", 1, plain=True)  # without vector instructions
    assert plain[0].tolist() == many.log_prob.tolist()
    assert plain[1].tolist() == many.log_prob_known.tolist()


def _is_known(model: NgramModel, word: str) -> bool:
    return word in model.vocabulary and word != UNK


@given(tables(empty_orders=True), st.integers(1, 3), sentences)
def test_empty_top_orders_leave_every_weight_in_force(
    rows: ArpaRows, empty: int, texts: list[list[str]]
) -> None:
    announced = max(map(len, rows)) + empty
    oracle = Backoff.from_rows(rows, announced)
    expected, bounds = oracle.conditionals(), oracle.max_log_probs()
    read = load(arpa_text(rows, announced))
    for model in (read, load(save(read)), load(save(read, max_columns=True)), compiled(read)):
        assert model.order == oracle.order
        assert_close({(c, w): model.log_prob(w, c) for c, w in expected}, expected, atol=oracle.rounding())
        assert_close({(c, w): model.max_log_prob(w, c) for c, w in bounds}, bounds, atol=oracle.rounding())
        for text, score in zip(texts, model.score(texts), strict=True):
            atol = oracle.rounding() * (len(text) + 1)
            assert score.log_prob == pytest.approx(oracle.score(text), abs=atol, rel=0)


@given(corpora(), st.integers(1, 5))
def test_perplexity_is_the_definition(texts: list[Ngram], order: int) -> None:
    model = train(texts, order)
    summary = model.score(texts).summary()
    log_probs = [model.score([text])[0].log_prob for text in texts]
    assert summary.sentences == len(texts)
    assert summary.tokens == sum(len(text) + 1 for text in texts)
    expected = math.exp(-sum(log_probs) / summary.tokens)
    assert summary.perplexity == pytest.approx(expected, rel=1e-12)  # sums in another order


@examples(0.2)
@given(corpora(), st.integers(1, 4), st.integers(1500, 4000))
def test_any_number_of_threads_gives_the_same_scores(texts: list[Ngram], order: int, lines: int) -> None:
    # So many lines that there are several pieces, and more sentences in each than are scored side by side.
    model = train(texts, order)
    many = [text for text, _ in zip(itertools.cycle(texts), range(lines), strict=False)]
    alone = [model.score([text]) for text in texts]
    expected = np.array([alone[i % len(texts)].log_prob[0] for i in range(lines)])
    known = np.array([alone[i % len(texts)].log_prob_known[0] for i in range(lines)])
    for threads in (1, 2, 3, 8, 0):
        scores = model.score(many, threads=threads)
        assert scores.log_prob.tobytes() == expected.tobytes()
        assert scores.log_prob_known.tobytes() == known.tobytes()
        assert scores.tokens.tolist() == [len(text) + 1 for text in many]
        assert scores.oov.tolist() == [text.count(UNK) for text in many]
