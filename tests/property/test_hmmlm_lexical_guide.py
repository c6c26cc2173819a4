"""Guides and constraints on lexicalised models, against sums over every sentence of the model they denote."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hiddenite._core import LexicalHmm
from hiddenite.hmmlm import HMMLanguageModel
from hiddenite.hmmlm import constraints as c
from hiddenite.hmmlm.constraints import Constraint
from hiddenite.hmmlm.guide import Guide, GuideModel, GuideState
from tests.lexical_oracle import END, FEW, MANY, MOST, WORDS, Denoted, random_model
from tests.property.test_hmmlm_guide import CASES, Accept

RTOL = 1e-9  # some thousand operations on doubles
ORDINARY = [0, 3, 4, 5]
MODELS = st.builds(
    random_model, seed=st.integers(0, 10**6), chains=st.integers(1, 3), truncated=st.booleans()
)
Law = dict[tuple[int, ...], float]


def probability(dense: Denoted, words: tuple[int, ...]) -> float:
    return float(dense.forward(list(words)).sum())


def accepted(dense: Denoted, case: tuple[str, Constraint, Accept], lengths: range) -> Law:
    """p of every sentence that the constraint accepts."""
    name, _, accept = case
    spelled = ["?", *WORDS[1:]]  # one letter each
    return {
        words: probability(dense, (*words, END))
        for n in lengths
        for words in itertools.product(ORDINARY, repeat=n)
        if accept([spelled[w] for w in words]) and not (name == "characters" and 0 in words)
    }


def check_state(state: GuideState, dense: Denoted, law: Law, prefix: tuple[int, ...]) -> None:
    whole = probability(dense, prefix)
    good = math.fsum(p for words, p in law.items() if words[: len(prefix)] == prefix)
    assert math.exp(state.log_prob()) == pytest.approx(good / whole, rel=RTOL, abs=1e-300)
    if good == 0.0:
        return
    weights, predicted = state.log_weights(), state.next_log_probs()
    assert math.fsum(np.exp(weights + predicted)) == pytest.approx(1.0, rel=RTOL)
    some = [5, 0, END, 5]
    np.testing.assert_allclose(state.log_weights(tokens=some), weights[some], rtol=RTOL, atol=1e-12)
    for token in (*ORDINARY, END):
        longer = (*prefix, token)
        joint = (
            law.get(prefix, 0.0)
            if token == END
            else math.fsum(p for words, p in law.items() if words[: len(longer)] == longer)
        )
        expected = joint / probability(dense, longer) / (good / whole)
        assert math.exp(weights[token]) == pytest.approx(expected, rel=RTOL, abs=1e-14)


@settings(deadline=None, max_examples=30)
@given(MODELS, st.sampled_from(CASES), st.tuples(st.integers(0, 3), st.integers(0, 3)), st.data())
def test_weights_are_those_of_enumeration(
    lexical: LexicalHmm,
    case: tuple[str, Constraint, Accept],
    window: tuple[int, int],
    data: st.DataObject,
) -> None:
    dense, model = Denoted(lexical), HMMLanguageModel(WORDS, [lexical])
    shortest, longest = min(window), max(window)
    law = accepted(dense, case, range(shortest, longest + 1))
    guide = Guide(model, case[1], min_length=shortest, max_length=longest, threads=1)
    state, prefix = guide.start(), tuple[int, ...]()
    while True:
        check_state(state, dense, law, prefix)
        if len(prefix) == longest or not state.is_possible:
            break
        token = data.draw(st.sampled_from(ORDINARY))
        state, prefix = state.advance(token), (*prefix, token)
    found = model.constraint_log_prob(constraint=case[1] & c.words(shortest, longest), max_length=longest)
    assert math.exp(found) == pytest.approx(math.fsum(law.values()), rel=RTOL, abs=1e-300)


@settings(deadline=None, max_examples=10)
@given(MODELS, st.lists(st.sampled_from(ORDINARY), max_size=3), st.sampled_from(ORDINARY))
def test_prompts_and_fixed_tokens(lexical: LexicalHmm, prompt: list[int], word: int) -> None:
    dense, model = Denoted(lexical), HMMLanguageModel(WORDS, [lexical])
    guide = Guide(model, c.keyword("a"), max_length=3, fixed={1: word}, threads=1)
    start = tuple(prompt)
    good = math.fsum(
        probability(dense, (*start, *rest, END))
        for n in (2, 3)
        for rest in itertools.product(ORDINARY, repeat=n)
        if 3 in rest and rest[1] == word
    )
    good += probability(dense, (*start, 3, END))  # one word has no second
    found = math.exp(guide.start(prompt).log_prob())
    assert found == pytest.approx(good / probability(dense, start), rel=RTOL)


def test_unknown_tokens_are_passed_over_and_threads_do_not_matter() -> None:
    lexical = random_model(3, 2, truncated=True)
    model = HMMLanguageModel(["<unk>", "<s>", "</s>", "0", "1", "2"], [lexical])
    tokens = GuideModel.of_tokens(model, [b"a", b" b", b" c", b" d", b"."], end=4)
    states = [Guide(tokens, c.keyword("d"), max_length=4, threads=n).start().advance(0) for n in (1, 3)]
    np.testing.assert_array_equal(states[0].log_weights(), states[1].log_weights())
    passed = states[0].advance(3)  # a token that the model does not have
    assert passed.is_satisfied
    np.testing.assert_array_equal(passed.next_log_probs(), states[0].next_log_probs())


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    chains=st.integers(1, 3),
    truncated=st.booleans(),
    longer=st.sampled_from([FEW, MANY]),
    case=st.sampled_from(CASES),
    window=st.tuples(st.integers(0, 3), st.integers(0, 3)),
)
def test_the_best_walk_is_that_of_enumeration(
    *,
    seed: int,
    chains: int,
    truncated: bool,
    longer: tuple[tuple[int, int], ...],
    case: tuple[str, Constraint, Accept],
    window: tuple[int, int],
) -> None:
    lexical = random_model(seed, chains, truncated, longer)
    dense, model = Denoted(lexical), HMMLanguageModel(WORDS, [lexical])
    shortest, longest = min(window), max(window)
    law = accepted(dense, case, range(shortest, longest + 1))
    if not law:
        return
    wanted = case[1] & c.words(shortest, longest)
    found = model.generate(constraint=wanted, max_length=longest, method="best", threads=1)
    assert math.exp(found.log_prob) == pytest.approx(math.fsum(law.values()), rel=RTOL)
    sentence = found.sentences[0]
    words = tuple(WORDS.index(w) for w in sentence.words)
    assert words in law
    most = max(dense.best([*of, END]) for of in law)
    assert dense.joint([*words, END], list(sentence.states)) == pytest.approx(most, rel=RTOL)


@pytest.mark.parametrize("seed", [15, 19, 32, 41])  # without a try of every word, each fails with some chains
@pytest.mark.parametrize("chains", [1, 2])
def test_the_best_walk_where_all_likely_words_are_a_trap(seed: int, chains: int) -> None:
    """All words but one make a longer context after «a», and the sentence would end there too soon."""
    lexical = random_model(seed, chains, False, MOST, ends=True)
    dense, model = Denoted(lexical), HMMLanguageModel(WORDS, [lexical])
    one = model.generate(fixed={0: "a"}, length=3, method="best", threads=1).sentences[0]
    fitting = [words for words in itertools.product(ORDINARY, repeat=3) if words[0] == 3]
    most = max(dense.best([*words, END]) for words in fitting)
    words = [WORDS.index(w) for w in one.words]
    assert dense.joint([*words, END], list(one.states)) == pytest.approx(most, rel=RTOL)


def test_the_best_walk_obeys_fixed_words_and_does_not_depend_on_threads() -> None:
    lexical = random_model(5, 2, truncated=True, longer=MANY)
    dense, model = Denoted(lexical), HMMLanguageModel(WORDS, [lexical])
    found = [
        model.generate(fixed={1: "b"}, length=4, method="best", threads=threads).sentences[0]
        for threads in (1, 3)
    ]
    assert found[0] == found[1]
    fitting = [words for words in itertools.product(ORDINARY, repeat=4) if words[1] == 4]
    most = max(dense.best([*words, END]) for words in fitting)
    words = [WORDS.index(w) for w in found[0].words]
    assert dense.joint([*words, END], list(found[0].states)) == pytest.approx(most, rel=RTOL)


def test_sabotage_a_draw_is_not_the_best_walk() -> None:
    """The law above tells a likely sentence from the best one."""
    lexical = random_model(5, 2, truncated=True)
    dense, model = Denoted(lexical), HMMLanguageModel(WORDS, [lexical])
    drawn = model.generate(5, length=3, seed=1).sentences
    most = max(dense.best([*words, END]) for words in itertools.product(ORDINARY, repeat=3))
    joint = [dense.joint([*(WORDS.index(w) for w in one.words), END], list(one.states)) for one in drawn]
    assert any(p < most * (1 - RTOL) for p in joint)
