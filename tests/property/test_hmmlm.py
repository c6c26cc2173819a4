"""Queries of hidden Markov language models against enumeration: every state sequence, every sentence."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import ModelError
from hiddenite.hmmlm.arrays import one_chain
from hiddenite.hmmlm.constraints import constraint
from hiddenite.hmmlm.model import HMMLanguageModel
from tests.hmm_oracle import END, KINDS, Oracle, oracle, random_chain

ATOL = 1e-9  # sums of at most a few thousand probabilities, in doubles
NAMES = ["<unk>", "<s>", "</s>", "a", "b", "c"]

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(KINDS)
zeros = st.sampled_from([0.0, 0.3])


def case(
    seed: int, kind: str, zeros: float, states: int = 4, words: int = 2
) -> tuple[Oracle, HMMLanguageModel]:
    chain = random_chain(np.random.default_rng(seed), kind, states, words, zeros)
    return oracle(chain), HMMLanguageModel(NAMES[: 3 + words], [chain])


def sentence(o: Oracle, rng: np.random.Generator, length: int) -> list[int]:
    return [int(w) for w in rng.choice(o.words, length)]


def with_end(o: Oracle, words: list[int]) -> list[int]:
    return [*words, END] if o.chain.has_end else words


def close(found: float, expected: float) -> bool:
    return math.isclose(found, expected, rel_tol=ATOL, abs_tol=ATOL)


@given(seeds, kinds, zeros, st.integers(0, 4))
def test_probabilities_of_sentences(seed: int, kind: str, zeros: float, length: int) -> None:
    o, model = case(seed, kind, zeros)
    words = sentence(o, np.random.default_rng(seed), length)
    expected = o.probability(with_end(o, words)) if with_end(o, words) else 1.0
    found = model.score([[NAMES[w] for w in words]])[0]
    assert found.tokens == len(with_end(o, words))
    assert close(math.exp(found.log_prob), expected)


@given(seeds, kinds, zeros, st.integers(1, 4))
def test_words_one_by_one(seed: int, kind: str, zeros: float, length: int) -> None:
    """p(word | before), of the scorer and of the predictor, is a ratio of prefix probabilities."""
    o, model = case(seed, kind, zeros)
    words = sentence(o, np.random.default_rng(seed), length)
    names = [NAMES[w] for w in words]
    log_probs = model.token_log_probs(" ".join(names).encode())
    before = 1.0
    for t, w in enumerate(words):
        now = o.probability(words[: t + 1])
        if now == 0:
            return
        assert close(math.exp(log_probs[t]), now / before)
        assert close(model.predict(names[:t])[NAMES[w]], now / before)
        before = now


@given(seeds, kinds, zeros, st.integers(1, 4))
def test_filter_posterior_and_best_states(seed: int, kind: str, zeros: float, length: int) -> None:
    o, model = case(seed, kind, zeros)
    words = sentence(o, np.random.default_rng(seed), length)
    names, complete = [NAMES[w] for w in words], with_end(o, words)
    paths = dict(o.paths(complete))
    if not paths:
        with pytest.raises(ModelError, match="probability zero"):
            model.posterior(names)
        with pytest.raises(ModelError, match="probability zero"):
            model.decode(names)
        return
    total = math.fsum(paths.values())
    for t, row in enumerate(model.posterior(names)):
        for z, p in zip(row.state.tolist(), row.probability.tolist(), strict=True):
            assert close(p, math.fsum(q for path, q in paths.items() if path[t] == z) / total)
    for t, row in enumerate(model.filter(names)):
        prefix = dict(o.paths(words[: t + 1]))
        for z, p in zip(row.state.tolist(), row.probability.tolist(), strict=True):
            assert close(
                p, math.fsum(q for path, q in prefix.items() if path[t] == z) / math.fsum(prefix.values())
            )
    best = model.decode(names)
    assert close(math.exp(best.log_prob), max(paths.values()))
    assert close(o.joint(complete, best.states), max(paths.values()))


CONSTRAINTS = [
    ((), None, {}),
    (("a",), None, {}),
    (("a", "b"), None, {}),
    (("a b",), None, {}),
    ((), "a .* b?", {}),
    ((), "(a|b b)+ [^a]*", {}),
    (("b",), ". a .*", {}),
    ((), None, {1: "a"}),
    (("b",), None, {0: "a"}),
]


@given(st.tuples(seeds, kinds, zeros), st.sampled_from(CONSTRAINTS), st.integers(0, 3), st.booleans())
def test_constraint_probability_and_best_walk(
    drawn: tuple[int, str, float],
    asked: tuple[tuple[str, ...], str | None, dict[int, str]],
    longest: int,
    exact_length: bool,
) -> None:
    seed = drawn[0]
    o, model = case(*drawn)
    keywords, pattern, fixed = asked
    exact_length |= not o.chain.has_end
    if max(fixed, default=-1) >= longest:
        return
    lengths = [longest] if exact_length else list(range(longest + 1))
    automaton = constraint(keywords, pattern)

    def accept(words: tuple[int, ...]) -> bool:
        named = [NAMES[w] for w in words]
        placed = all(p < len(named) and named[p] == word for p, word in fixed.items())
        return placed and automaton.matches(named)

    accepted = o.sentences(lengths, accept)
    total = math.fsum(accepted.values())
    length: dict[str, Any] = {"length": longest} if exact_length else {"max_length": longest}
    found = model.constraint_log_prob(keywords, pattern, fixed=fixed, **length)
    assert close(math.exp(found), total)
    if total == 0:
        with pytest.raises(ModelError, match="satisfies the constraint"):
            model.generate(keywords=keywords, pattern=pattern, fixed=fixed, **length)
        return
    best = model.generate(keywords=keywords, pattern=pattern, fixed=fixed, method="best", **length)
    assert close(math.exp(best.log_prob), total)
    most = max(p for words in accepted for _, p in [*o.paths(with_end(o, list(words))), ((), 0.0)])
    if longest:
        words = with_end(o, [NAMES.index(w) for w in best.sentences[0].words])
        assert close(o.joint(words, best.sentences[0].states), most)
    for one in model.generate(
        5, keywords=keywords, pattern=pattern, fixed=fixed, seed=seed, **length
    ).sentences:
        ids = tuple(NAMES.index(w) for w in one.words)
        assert accepted[ids] > 0
        assert close(math.exp(one.log_prob), accepted[ids])


@given(seeds, kinds, zeros, st.lists(st.booleans(), min_size=1, max_size=4))
def test_gaps_are_filled_by_the_posterior(seed: int, kind: str, zeros: float, gaps: list[bool]) -> None:
    o, model = case(seed, kind, zeros)
    words = sentence(o, np.random.default_rng(seed), len(gaps))
    asked = ["___" if gap else NAMES[w] for w, gap in zip(words, gaps, strict=True)]
    fits = o.sentences(
        [len(gaps)], lambda s: all(g or w == v for w, v, g in zip(s, words, gaps, strict=True))
    )
    total = math.fsum(fits.values())
    if total == 0:
        with pytest.raises(ModelError, match="probability zero"):
            model.infill(asked)
        return
    filled = model.infill(asked, top=len(NAMES))
    assert close(math.exp(filled.log_prob), total)
    for position, row in zip(filled.gaps, filled.candidates, strict=True):
        for word, p in row:
            expected = math.fsum(q for s, q in fits.items() if s[position] == NAMES.index(word)) / total
            assert close(p, expected)


@given(seeds, kinds)
def test_a_mixture_is_one_chain_with_blocks(seed: int, kind: str) -> None:
    """All answers of a mixture equal those of the block chain that it is."""
    rng = np.random.default_rng(seed)
    chains = [random_chain(rng, kind, 3, 2) for _ in range(2)]
    mixture = HMMLanguageModel(NAMES[:5], chains, [0.3, 0.7])
    block = HMMLanguageModel(NAMES[:5], [one_chain(chains, [0.3, 0.7])])
    names = [NAMES[w] for w in rng.choice([0, 3, 4], 3)]
    text = " ".join(names).encode()
    assert np.allclose(mixture.token_log_probs(text), block.token_log_probs(text), rtol=0, atol=1e-7)
    for asked in (["a"], ["a", "b"]):
        first, second = (m.constraint_log_prob(asked, length=3) for m in (mixture, block))
        assert math.isclose(first, second, abs_tol=1e-7)  # the block chain rounds to floats once more
    assert mixture.infill(["___", *names[1:]]).words == block.infill(["___", *names[1:]]).words
    assert math.isclose(mixture.decode(names).log_prob, block.decode(names).log_prob, abs_tol=1e-7)
    for mixed, whole in zip(mixture.filter(names), block.filter(names), strict=True):
        offset = np.where(mixed.member == 0, 0, chains[0].num_states) + mixed.state
        dense = np.zeros(block.num_states)
        dense[whole.state] = whole.probability
        assert np.allclose(dense[offset], mixed.probability, rtol=0, atol=1e-7)
    predicted = block.predict(names)
    assert all(math.isclose(p, predicted[w], abs_tol=1e-7) for w, p in mixture.predict(names).items())


def test_long_sentences_do_not_underflow() -> None:
    o, model = case(7, "brown", 0.0)
    names = [NAMES[w] for w in sentence(o, np.random.default_rng(1), 3000)]
    score = model.score([names])[0]
    assert math.isfinite(score.log_prob)
    assert score.log_prob < -1000
    assert sum(row.probability.sum() for row in model.posterior(names)) == pytest.approx(3001, abs=1e-6)
    assert math.isfinite(model.decode(names).log_prob)
    assert math.isfinite(model.constraint_log_prob(["a"] * 3, length=600))
    far = " ".join(["a"] * 400)
    assert -math.inf < model.constraint_log_prob([far], max_length=420) < -100
    assert model.generate(keywords=[far], max_length=420).sentences[0].words.count("a") >= 400
