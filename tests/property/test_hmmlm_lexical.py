"""Lexicalised models against the dense hidden Markov model that they denote, and against enumeration."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hiddenite._core import (
    ContextTree,
    LexicalHmm,
    LexicalProduct,
    WordTable,
    best_states,
    filter_states,
    next_words,
    posterior_states,
    read_tokens,
)
from hiddenite.errors import FormatError, ModelError
from hiddenite.hmmlm import HMMLanguageModel, LexicalOptions
from hiddenite.hmmlm.automata import TokenAutomaton
from hiddenite.hmmlm.constraints import TokenVocabulary, constraint
from hiddenite.hmmlm.generation import FREE
from tests.lexical_oracle import BEGIN, EMITTED, END, WORDS, Denoted, random_model
from tests.statistics import FALSE_ALARM, chi_square_p_value

ATOL = 1e-6  # the numbers of the model are floats

MODELS = st.builds(
    random_model,
    seed=st.integers(0, 10_000),
    chains=st.integers(1, 3),
    truncated=st.booleans(),
)
SENTENCES = st.lists(st.sampled_from([0, 3, 4, 5]), max_size=5)


def sentence_log_prob(model: LexicalHmm, words: list[int]) -> float:
    table = WordTable()
    for word in WORDS:
        table.add(word)
    text = read_tokens(" ".join(WORDS[w] for w in words).encode() + b"\n", "<test>", 1, table, grow=False)
    return float(np.sum(model.token_log_probs(text, 1)))


@settings(deadline=None, max_examples=30)
@given(MODELS, SENTENCES)
def test_answers_are_those_of_the_dense_model(model: LexicalHmm, words: list[int]) -> None:
    dense = Denoted(model)
    ids = np.array(words, np.uint32)
    complete = [*words, END]
    expected = dense.forward(complete).sum()
    assert sentence_log_prob(model, words) == pytest.approx(np.log(expected), abs=ATOL)
    begin, states, values, log_prob = posterior_states(model, ids, True)
    assert log_prob == pytest.approx(np.log(expected), abs=ATOL)
    for t in range(len(complete)):
        exact = dense.forward(complete[: t + 1]) * dense.backward(complete[t + 1 :]) / expected
        found = np.zeros(model.num_states)
        found[states[begin[t] : begin[t + 1]]] = values[begin[t] : begin[t + 1]]
        np.testing.assert_allclose(found, exact, atol=ATOL)
    begin, states, values, _ = filter_states(model, ids, False)
    if words:
        alpha = dense.forward(words)
        np.testing.assert_allclose(values[begin[-2] :], alpha[states[begin[-2] :]] / alpha.sum(), atol=ATOL)
    alpha = dense.forward(words)
    expected_next = [0.0 if w == BEGIN else float((alpha @ dense.step[w]).sum()) for w in range(len(WORDS))]
    np.testing.assert_allclose(next_words(model, ids), expected_next / alpha.sum(), atol=ATOL)


@settings(deadline=None, max_examples=15)
@given(MODELS, st.lists(st.sampled_from([0, 3, 4, 5]), max_size=3))
def test_best_states_are_best(model: LexicalHmm, words: list[int]) -> None:
    dense, complete = Denoted(model), [*words, END]
    best = np.zeros(model.num_states)
    best[dense.start] = 1.0
    for w in complete:
        best = (best[:, None] * dense.step[w]).max(axis=0)
    states, log_prob = best_states(model, np.array(words, np.uint32), True)
    assert log_prob == pytest.approx(np.log(best.max()), abs=ATOL)
    along = 0.0
    for before, w, after in zip([dense.start, *states[:-1]], complete, states, strict=True):
        along += np.log(dense.step[w][before, after])
    assert along == pytest.approx(log_prob, abs=ATOL)


@settings(deadline=None, max_examples=20)
@given(MODELS)
def test_probabilities_of_next_words_add_up_to_one(model: LexicalHmm) -> None:
    dense = Denoted(model)
    total = sum(dense.step[w].sum(axis=1) for w in EMITTED)
    alive = dense.context != END
    np.testing.assert_allclose(total[alive], 1.0, atol=1e-5)  # back-off weights and rows are floats
    for words in ([], [3], [3, 4], [3, 4, 5], [4, 4]):
        assert next_words(model, np.array(words, np.uint32)).sum() == pytest.approx(1.0, abs=1e-5)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000), st.integers(1, 2))
def test_leaving_states_out_keeps_what_a_state_says_of_the_next_word(seed: int, chains: int) -> None:
    whole = random_model(seed, chains, truncated=False)
    parent, last = whole.contexts.longer()
    begin, places = whole.state_begin.astype(int), whole.places.reshape(-1, chains)
    first = begin[:-1][np.diff(begin) > 0]  # one state of each context
    sizes = (np.diff(begin) > 0).astype(int)
    short = LexicalHmm(
        ContextTree(len(WORDS), parent, last),
        whole.table,
        whole.lexical_weight,
        [whole.chain(m) for m in range(chains)],
        whole.chain_weight,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64),
        np.ascontiguousarray(places[first].ravel()),
    )
    all_states, kept = Denoted(whole), Denoted(short)
    for w in EMITTED:
        of_whole = all_states.step[w].sum(axis=1)[first]
        np.testing.assert_allclose(kept.step[w].sum(axis=1), of_whole, atol=ATOL)


def compiled(keywords: list[str], pattern: str | None) -> TokenAutomaton:
    ids = {word: i for i, word in enumerate(WORDS)}
    return constraint(keywords, pattern).compile(TokenVocabulary.of_words(ids))


ASKED = [([], None), (["b"], None), (["a b"], None), (["a", "c"], None), ([], "a .* c"), ([], "(a|b)* c?")]
CONSTRAINTS = st.sampled_from([compiled(*asked) for asked in ASKED])


def accepted(
    dense: Denoted, automaton: TokenAutomaton, slots: list[int], shortest: int, longest: int
) -> dict[tuple[int, ...], float]:
    """Sentences that satisfy the constraint, with their probabilities."""
    result = {}
    for length in range(shortest, longest + 1):
        for words in itertools.product([0, 3, 4, 5], repeat=length):
            fits = all(slot in (FREE, w) for slot, w in zip(slots, words, strict=False))
            if fits and automaton.matches(words):
                result[words] = float(dense.forward([*words, END]).sum())
    return result


def made_product(
    model: LexicalHmm, automaton: TokenAutomaton, slots: list[int], shortest: int, longest: int
) -> LexicalProduct:
    return LexicalProduct(model, automaton.core(), slots, shortest, longest, False, 1)


@settings(deadline=None, max_examples=40)
@given(MODELS, CONSTRAINTS, st.integers(0, 2), st.integers(0, 1), st.sampled_from([FREE, 3, 4]))
def test_constraints_have_the_probability_of_their_sentences(
    model: LexicalHmm, automaton: TokenAutomaton, shortest: int, more: int, slot: int
) -> None:
    longest = shortest + more
    slots = [slot] if shortest > 0 else []
    sentences = accepted(Denoted(model), automaton, slots, shortest, longest)
    product = made_product(model, automaton, slots, shortest, longest)
    total = sum(sentences.values())
    assert np.exp(product.log_prob) == pytest.approx(total, rel=1e-5, abs=1e-12)  # floats in the model
    if total > 0:
        assert tuple(product.draw(1, 0).words.tolist()) in sentences
    if total > 0 and shortest == longest and longest > 0:
        tables = product.word_probabilities(list(range(longest)))
        for t, table in enumerate(tables):
            for w in range(len(WORDS)):
                expected = sum(p for words, p in sentences.items() if words[t] == w) / total
                assert table[w] == pytest.approx(expected, abs=ATOL)


@pytest.mark.parametrize(("chains", "truncated"), [(1, False), (2, True)])
def test_draws_under_a_constraint_follow_the_law(chains: int, truncated: bool) -> None:
    model, automaton = random_model(5, chains, truncated), compiled(["b"], None)
    sentences = accepted(Denoted(model), automaton, [], 0, 3)
    product = made_product(model, automaton, [], 0, 3)
    drawn = [tuple(product.draw(1, stream).words.tolist()) for stream in range(4000)]
    total = sum(sentences.values())
    law = {words: p / total for words, p in sentences.items() if p > 0}
    assert chi_square_p_value(drawn, law) > FALSE_ALARM
    shorter = {
        words: p / (1 + len(words)) for words, p in law.items()
    }  # the twin: a law that prefers short ones
    wrong = {words: p / sum(shorter.values()) for words, p in shorter.items()}
    assert chi_square_p_value(drawn, wrong) < FALSE_ALARM


def test_a_trained_model_is_saved_and_read(tmp_path: Path) -> None:
    lines = ["the cat sat on the mat", "the dog sat on the log", "a cat saw the dog"] * 30
    model = HMMLanguageModel.train_lexical(lines, "fast", seed=1, threads=1)
    model.save(tmp_path / "model.hmm")
    again = HMMLanguageModel.load(tmp_path / "model.hmm")
    assert again.is_lexicalised
    assert "lexicalised" in repr(again)
    assert again.score(lines).log_prob.tolist() == model.score(lines).log_prob.tolist()
    assert sum(again.predict("the cat").values()) == pytest.approx(1.0, abs=1e-5)
    with pytest.raises(ModelError, match="lexicalised"):
        again.export_npz(tmp_path / "plain.npz")
    damaged = (tmp_path / "model.hmm").read_bytes()
    (tmp_path / "cut.hmm").write_bytes(damaged[: len(damaged) // 2])
    with pytest.raises(FormatError):
        HMMLanguageModel.load(tmp_path / "cut.hmm")


def test_the_same_seed_gives_the_same_model_for_any_threads() -> None:
    lines = ["the cat sat on the mat", "the dog sat on the log", "a cat saw the dog"] * 30
    scores = [
        HMMLanguageModel.train_lexical(lines, seed=3, threads=threads).score(lines).log_prob.tolist()
        for threads in (1, 3)
    ]
    assert scores[0] == scores[1]


@pytest.mark.parametrize(
    ("tokens", "words", "states"),
    [(930_000, 10_001, 131_072), (10_000, 42_000, 4_194_304), (4_000_000, 9, 524_288)],
)
def test_more_text_and_more_words_get_more_states(tokens: int, words: int, states: int) -> None:
    assert LexicalOptions().settings(tokens, words).states == states
    assert LexicalOptions(states=7).settings(tokens, words).states == 7
