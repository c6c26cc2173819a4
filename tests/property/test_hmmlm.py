"""Queries of hidden Markov language models against enumeration: every state sequence, every sentence."""

import itertools
import math
import types
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import ModelError
from hiddenite.hmmlm.arrays import dense_emission, dense_transition, one_chain
from hiddenite.hmmlm.batches import filter_many, gradient, posterior_many
from hiddenite.hmmlm.constraints import TokenVocabulary, constraint
from hiddenite.hmmlm.interpolation import Interpolation
from hiddenite.hmmlm.model import HMMLanguageModel
from tests.hmm_oracle import END, KINDS, Oracle, oracle, random_chain
from tests.models import load

ATOL = 1e-9  # sums of at most a few thousand probabilities, in doubles
NAMES = ["<unk>", "<s>", "</s>", "a", "b", "c"]
VOCABULARY = TokenVocabulary.of_words({word: i for i, word in enumerate(NAMES)})

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(KINDS)
zeros = st.sampled_from([0.0, 0.3])
texts = st.lists(st.lists(st.sampled_from(NAMES[3:5]), max_size=3), min_size=1, max_size=3)


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
    automaton = constraint(keywords, pattern).compile(VOCABULARY)

    def accept(words: tuple[int, ...]) -> bool:
        named = [NAMES[w] for w in words]
        placed = all(p < len(named) and named[p] == word for p, word in fixed.items())
        return placed and automaton.matches(words)

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


# Chains in which many sentences are impossible, some for one member and not for the other.
WEIGHTS = ([1.0], [0.3, 0.7], [1.0, 0.0], [0.0, 1.0], [0.2, 0.5, 0.3])


def words_one_by_one(oracles: list[Oracle], weights: list[float], words: list[int]) -> list[float]:
    """ln p(word | before) by definition; `before` leaves out the words that were impossible then."""

    def probability(prefix: list[int]) -> float:
        return math.fsum(w * o.probability(prefix) for w, o in zip(weights, oracles, strict=True))

    kept: list[int] = []
    before = 1.0
    result = []
    for word in words:
        now = probability([*kept, word])
        result.append(math.log(now / before) if now > 0 else -math.inf)
        if now > 0:
            kept.append(word)
            before = now
    return result


def impossible_case(
    seed: int, kind: str, weights: list[float]
) -> tuple[list[Oracle], HMMLanguageModel, list[list[int]]]:
    """A mixture of chains with many zeros, and sentences of which some are empty."""
    rng = np.random.default_rng(seed)
    chains = [random_chain(rng, kind, 4, 3, zeros=0.7) for _ in weights]
    texts = [[int(w) for w in rng.choice([0, 3, 4, 5], n)] for n in rng.integers(0, 6, 5)]
    return [oracle(chain) for chain in chains], HMMLanguageModel(NAMES, chains, weights), texts


def assert_equal(found: Any, expected: Any) -> None:
    assert np.array_equal(np.isinf(found), np.isinf(expected))
    assert np.allclose(found, expected, rtol=0, atol=1e-6)  # transitions are floats


@given(seeds, kinds, st.sampled_from(WEIGHTS))
def test_an_impossible_sentence_spoils_no_other(seed: int, kind: str, weights: list[float]) -> None:
    oracles, model, texts = impossible_case(seed, kind, weights)
    lines = [" ".join(NAMES[w] for w in words) for words in texts]
    expected = [words_one_by_one(oracles, weights, with_end(oracles[0], words)) for words in texts]
    known = [
        [p for p, w in zip(row, [*words, END], strict=False) if w != 0]
        for row, words in zip(expected, texts, strict=True)
    ]
    assert_equal(
        model.token_log_probs("".join(f"{line}\n" for line in lines).encode()),
        [p for row in expected for p in row],
    )
    scores = model.score(lines)
    assert_equal(scores.log_prob, [math.fsum(row) for row in expected])
    assert_equal(scores.log_prob_known, [math.fsum(row) for row in known])
    assert not math.isnan(scores.summary().perplexity)


@given(seeds, st.sampled_from(["brown", "uniform", "dense"]), st.sampled_from(WEIGHTS))
def test_what_one_model_cannot_explain_another_can(seed: int, kind: str, weights: list[float]) -> None:
    oracles, model, texts = impossible_case(seed, kind, weights)
    ngram = load(NGRAM)
    text = "".join(" ".join(NAMES[w] for w in words) + "\n" for words in texts).encode()
    columns = [[p for words in texts for p in words_one_by_one(oracles, weights, [*words, END])]]
    columns.append(ngram.token_log_probs(text).tolist())
    for share in (0.0, 0.25, 1.0):
        mixed = Interpolation([model, ngram], [share, 1 - share])
        probabilities = share * np.exp(columns[0]) + (1 - share) * np.exp(columns[1])
        with np.errstate(divide="ignore"):
            assert_equal(mixed.token_log_probs(text), np.log(probabilities))
        assert not math.isnan(mixed.perplexity(text))
    fitted = Interpolation.fit([model, ngram], text)
    assert sum(fitted.weights) == pytest.approx(1)


NGRAM = """\\data\\
ngram 1=6

\\1-grams:
-99 <unk>
-99 <s>
-0.6 </s>
-0.6 a
-0.6 b
-99 c

\\end\\
"""


@given(seeds, kinds, st.sampled_from([0.0, 0.7]))
def test_a_mixture_is_one_chain_with_blocks(seed: int, kind: str, zeros: float) -> None:
    """All answers of a mixture equal those of the block chain that it is."""
    rng = np.random.default_rng(seed)
    chains = [random_chain(rng, kind, 3, 2, zeros) for _ in range(2)]
    mixture = HMMLanguageModel(NAMES[:5], chains, [0.3, 0.7])
    block = HMMLanguageModel(NAMES[:5], [one_chain(chains, [0.3, 0.7])])
    names = [NAMES[w] for w in rng.choice([0, 3, 4], 3)]
    text = " ".join(names).encode()
    assert np.allclose(mixture.token_log_probs(text), block.token_log_probs(text), rtol=0, atol=1e-7)
    if mixture.score([names])[0].log_prob == -math.inf:
        for model in (mixture, block):
            with pytest.raises(ModelError, match="probability zero"):
                model.decode(names)
            with pytest.raises(ModelError, match="probability zero"):
                model.posterior(names)
        return
    for asked in (["a"], ["a", "b"]):
        first, second = (m.constraint_log_prob(asked, length=3) for m in (mixture, block))
        assert first == second or math.isclose(
            first, second, abs_tol=1e-7
        )  # the block chain rounds to floats once more
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


@given(
    seeds, kinds, zeros, st.lists(st.lists(st.sampled_from(NAMES[3:5]), max_size=3), min_size=1, max_size=4)
)
def test_many_sentences_are_answered_as_one_by_one(
    seed: int, kind: str, zeros: float, sentences: list[list[str]]
) -> None:
    models = [case(seed + i, kind, zeros)[1] for i in range(2)]
    model = HMMLanguageModel(models[0].words, [m.members[0] for m in models], [0.3, 0.7])
    try:
        filters, posteriors = ([ask(s) for s in sentences] for ask in (model.filter, model.posterior))
    except ModelError:
        with pytest.raises(ModelError, match=r"sentence \d+: the sentence has probability zero"):
            posterior_many(model, sentences)
        return
    for found, expected in (
        (filter_many(model, sentences, threads=2), filters),
        (posterior_many(model, sentences, threads=2), posteriors),
    ):
        assert [len(s) for s in found] == [len(s) for s in expected]
        for one, other in zip(itertools.chain(*found), itertools.chain(*expected), strict=True):
            assert one.state.tolist() == other.state.tolist()
            np.testing.assert_allclose(one.probability, other.probability, rtol=1e-9, atol=1e-300)


@given(seeds, kinds, texts)
def test_the_gradient_is_the_expected_use(seed: int, kind: str, sentences: list[list[str]]) -> None:
    """By enumeration of states: how often each number is a factor, on average."""
    models = [case(seed + i, kind, 0.0) for i in range(2)]
    weights = [0.3, 0.7]
    model = HMMLanguageModel(models[0][1].words, [m.members[0] for _, m in models], weights)
    found = gradient(model, sentences, threads=2)
    ids = [with_end(models[0][0], [NAMES.index(w) for w in s]) for s in sentences]
    totals = [sum(w * o.probability(x) for w, (o, _) in zip(weights, models, strict=True)) for x in ids]
    assert close(found.log_prob, math.fsum(math.log(p) for p in totals))
    for m, (o, _) in enumerate(models):
        chain, part = o.chain, found.members[m]
        initial, moves, words = (np.zeros_like(x) for x in (o.initial, o.transition, o.emission))
        for x, total in zip(ids, totals, strict=True):
            for states, p in o.paths(x):
                share = weights[m] * p / total
                initial[list(states[:1])] += share
                for a, b in itertools.pairwise(states):
                    moves[a, b] += share
                for z, w in zip(states, x, strict=True):
                    words[z, w] += share
        names = ("num_states", "num_words", "group_begin", "word_group", "set_begin", "members")
        read: Any = types.SimpleNamespace(
            transition=part.transition,
            emission=part.emission,
            **{name: getattr(chain, name) for name in names},
        )
        np.testing.assert_allclose(part.initial, initial, rtol=1e-9, atol=1e-12)
        # A chain's arrays hold floats, and so does what dense_transition makes of them.
        np.testing.assert_allclose(dense_transition(read), moves, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(dense_emission(read), words, rtol=1e-9, atol=1e-12)
