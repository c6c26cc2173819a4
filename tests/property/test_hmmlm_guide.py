"""Guides against enumeration: every sentence of a small model is written down."""

import itertools
import math
import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hiddenite import HMMLanguageModel
from hiddenite._core import DenseHmm, SparseHmm
from hiddenite.hmmlm import constraints as c
from hiddenite.hmmlm.arrays import dense_emission, dense_transition
from hiddenite.hmmlm.constraints import Constraint
from hiddenite.hmmlm.guide import Guide, GuideModel, GuideState
from hiddenite.hmmlm.shape import brown_shape, dense_shape
from tests.hmm_oracle import END, KINDS, Oracle, oracle, random_chain

RTOL = 1e-9  # some hundred operations on doubles
WORDS = ["<unk>", "<s>", "</s>", "a", "b", "c"]
TEXTS = [None, None, None, b"a", b"b", b" a"]  # the same ids as subword tokens

Accept = Callable[[Sequence[str]], bool]


def contains(words: Sequence[str], phrase: str) -> bool:
    return f" {phrase} " in f" {' '.join(words)} "


CASES: list[tuple[str, Constraint, Accept]] = [
    ("all", c.all_of("a", "b"), lambda w: "a" in w and "b" in w),
    ("any", c.any_of("a", "b b"), lambda w: "a" in w or contains(w, "b b")),
    ("at least two", c.at_least(2, "a", "b", "c"), lambda w: len({"a", "b", "c"} & set(w)) >= 2),
    ("none", c.none_of("a", "b c"), lambda w: "a" not in w and not contains(w, "b c")),
    ("phrase", c.keyword("a b"), lambda w: contains(w, "a b")),
    ("negation", c.keyword("c") & ~c.keyword("a"), lambda w: "c" in w and "a" not in w),
    ("pattern", c.pattern("a .* (b|c)"), lambda w: re.fullmatch("a.*[bc]", "".join(w)) is not None),
    ("positions", c.at({1: "b"}), lambda w: len(w) > 1 and w[1] == "b"),
    ("template", c.template("a ___ c"), lambda w: len(w) == 3 and w[0] == "a" and w[2] == "c"),
    ("count", c.words(1, 2) & "b", lambda w: 1 <= len(w) <= 2 and "b" in w),
    (
        "characters",
        c.text("a( [ab])* c{1,2}"),
        lambda w: re.fullmatch("a( [ab])* c{1,2}", " ".join(w)) is not None,
    ),
    (
        "openfst",
        c.openfst("0 1 a\n1 1 b\n1 2 <other>\n2"),
        lambda w: re.fullmatch("ab*[^b]", "".join(w)) is not None,
    ),
]


def model_of(seed: int, kind: str, members: int) -> HMMLanguageModel:
    rng = np.random.default_rng(seed)
    chains = [random_chain(rng, kind, 3, 3, zeros=0.2) for _ in range(members)]
    weights = rng.exponential(size=members) + 0.1
    return HMMLanguageModel(WORDS, chains, weights / weights.sum())


def sentences(model: HMMLanguageModel, lengths: Sequence[int]) -> dict[tuple[int, ...], float]:
    """p of every sentence, without its end."""
    oracles = [oracle(chain) for chain in model.chains]
    end = (END,) if model.has_end else ()
    result = {}
    for n in lengths:
        for words in itertools.product([0, 3, 4, 5], repeat=n):
            result[words] = math.fsum(
                weight * o.probability((*words, *end))
                for weight, o in zip(model.weights, oracles, strict=True)
            )
    return result


def prefix_probability(model: HMMLanguageModel, words: Sequence[int]) -> float:
    oracles = [oracle(chain) for chain in model.chains]
    return math.fsum(w * o.probability(words) for w, o in zip(model.weights, oracles, strict=True))


def check_state(
    state: GuideState,
    model: HMMLanguageModel,
    accepted: dict[tuple[int, ...], float],
    prefix: tuple[int, ...],
) -> None:
    """Compare all numbers of a prefix with sums over sentences."""
    whole = prefix_probability(model, prefix) if prefix else 1.0
    if whole == 0.0:
        return
    good = math.fsum(p for words, p in accepted.items() if words[: len(prefix)] == prefix)
    assert math.exp(state.log_prob()) == pytest.approx(good / whole, rel=RTOL, abs=1e-300)
    if good == 0.0 or state.is_ended:
        return
    weights, predicted = state.log_weights(), state.next_log_probs()
    assert math.fsum(np.exp(weights + predicted)) == pytest.approx(1.0, rel=RTOL)
    some = [5, 0, END, 5]
    np.testing.assert_allclose(state.log_weights(tokens=some), weights[some], rtol=RTOL, atol=1e-12)
    for token in range(len(WORDS)):
        longer = (*prefix, token)
        if token == END:
            joint = accepted.get(prefix, 0.0) if model.has_end else 0.0
            p = prefix_probability(model, longer) if model.has_end else 0.0
        else:
            joint = math.fsum(x for words, x in accepted.items() if words[: len(longer)] == longer)
            p = prefix_probability(model, longer)
        if p > 0.0:
            expected = (joint / p) / (good / whole)
            assert math.exp(weights[token]) == pytest.approx(expected, rel=RTOL, abs=1e-300)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    case=st.sampled_from(CASES),
    kind=st.sampled_from(KINDS),
    members=st.integers(1, 2),
    window=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    data=st.data(),
)
def test_weights_are_those_of_enumeration(
    *,
    seed: int,
    case: tuple[str, Constraint, Accept],
    kind: str,
    members: int,
    window: tuple[int, int],
    data: st.DataObject,
) -> None:
    _, constraint, accept = case
    model = model_of(seed, kind, members)
    shortest, longest = min(window), max(window)
    if not model.has_end:
        shortest = longest
    spelled = ["?", *WORDS[1:]]  # one letter each
    accepted = {
        words: p
        for words, p in sentences(model, range(shortest, longest + 1)).items()
        if accept([spelled[w] for w in words]) and not (case[0] == "characters" and 0 in words)
    }
    guide = Guide(model, constraint, min_length=shortest, max_length=longest, threads=1)
    state, prefix = guide.start(), tuple[int, ...]()
    while True:
        check_state(state, model, accepted, prefix)
        if len(prefix) == longest or not state.is_possible:
            break
        token = data.draw(st.sampled_from([0, 3, 4, 5]))
        state, prefix = state.advance(token), (*prefix, token)
        good = any(words[: len(prefix)] == prefix for words, p in accepted.items() if p > 0)
        if good:
            assert state.is_possible
    if len(prefix) >= shortest and state.is_possible:
        assert state.is_satisfied == (prefix in accepted)


@given(seed=st.integers(0, 10**6), words=st.lists(st.sampled_from([3, 4, 5]), max_size=3))
def test_a_prompt_moves_the_belief_alone(seed: int, words: list[int]) -> None:
    model = model_of(seed, "brown", 2)
    if prefix_probability(model, words) == 0.0:
        return
    guide = Guide(model, c.keyword("a"), max_length=2, threads=1)
    found = math.exp(guide.start(words).log_prob())
    both = sentences(model, range(len(words), len(words) + 3))
    start = tuple(words)
    good = math.fsum(p for w, p in both.items() if w[: len(words)] == start and 3 in w[len(words) :])
    assert found == pytest.approx(good / prefix_probability(model, words), rel=RTOL)


PHRASES = ["a b", "c a b", "b b", "c", "a c"]


def one_group(chain: SparseHmm) -> SparseHmm:
    """The same chain with all states in one group, so that none of its groups is plain."""
    emission = dense_emission(chain)
    shape = dense_shape(chain.num_words, chain.num_states, has_end=True)
    kept = [w for w in range(chain.num_words) if w != 1]  # all but <s>
    transition = np.ascontiguousarray(dense_transition(chain)).reshape(-1)
    return SparseHmm(shape, chain.initial, transition, np.ascontiguousarray(emission[:, kept].T).reshape(-1))


@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    phrases=st.lists(
        st.sampled_from(["a b", "c a b", "b b", "c", "a c"]), min_size=2, max_size=3, unique=True
    ),
    best=st.booleans(),
)
def test_groups_without_a_word_of_the_constraint_are_multiplied_once(
    seed: int, phrases: list[str], best: bool
) -> None:
    """States of the automaton that differ in what was read of a phrase share columns there."""
    rng = np.random.default_rng(seed)
    words = [*WORDS, *(f"w{i}" for i in range(9))]
    classes = [0, -1, 5, 1, 1, 2, *(int(k) for k in rng.integers(2, 5, 9))]
    classes[6:9] = [3, 4, 2]
    shape = brown_shape(classes, 11)
    sizes = np.diff(shape.group_begin.astype(int))
    rows = rng.exponential(size=(shape.num_states, shape.num_states)) ** 2
    rows /= rows.sum(1, keepdims=True)
    begins = shape.group_begin.astype(int)
    blocks = [
        rows[a:b, d:e].reshape(-1)
        for a, b in itertools.pairwise(begins)
        for d, e in itertools.pairwise(begins)
    ]
    emitting = [g for g in shape.word_group.tolist() if g < len(sizes)]
    owners = np.concatenate([np.arange(begins[g], begins[g + 1]) for g in emitting])
    emission = rng.exponential(size=len(owners))
    emission /= np.bincount(owners, emission, shape.num_states)[owners]
    initial = np.full(shape.num_states, 1 / shape.num_states)
    chain = SparseHmm(shape, initial, np.concatenate(blocks).astype(np.float32), emission)
    grouped, plain = HMMLanguageModel(words, [chain]), HMMLanguageModel(words, [one_group(chain)])
    if best:
        walks = [m.generate(keywords=phrases, length=9, method="best").sentences[0] for m in (grouped, plain)]
        assert walks[0].words == walks[1].words
        return
    found, expected = (m.constraint_log_prob(phrases, length=9, threads=1) for m in (grouped, plain))
    assert found == pytest.approx(expected, rel=RTOL)


def dense_of(chain: SparseHmm) -> tuple[DenseHmm, Oracle]:
    transition = np.ascontiguousarray(dense_transition(chain)).reshape(-1)
    emission = np.ascontiguousarray(dense_emission(chain).T, dtype=np.float32)
    dense = DenseHmm(chain.initial, transition, emission.reshape(-1), len(emission), END)
    return dense, Oracle(
        chain, chain.initial, dense_transition(chain).astype(float), emission.T.astype(np.float64)
    )


@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    keyword=st.sampled_from(["ab", "a", "aab", "b a"]),
    negated=st.booleans(),
    prefix=st.lists(st.sampled_from([3, 4, 5]), max_size=2),
)
def test_subword_tokens_are_weighed_over_all_tokenisations(
    seed: int, keyword: str, negated: bool, prefix: list[int]
) -> None:
    """Tokens «a», «b» and « a»: «ab» is a word whichever way it is cut, « a» begins a new one."""
    chain = random_chain(np.random.default_rng(seed), "dense", 3, 3)
    dense, truth = dense_of(chain)
    model = GuideModel.dense(dense, TEXTS, end=END)
    constraint = ~c.keyword(keyword) if negated else c.keyword(keyword)
    state = Guide(model, constraint, max_length=4, threads=1).start()
    for token in prefix:
        state = state.advance(token)

    def accept(words: tuple[int, ...]) -> bool:
        text = b"".join(TEXTS[w] or b"?" for w in words).decode()
        return (f" {keyword} " in f" {' '.join(text.split())} ") != negated and 0 not in words

    accepted = truth.sentences(range(5), accept)
    start = tuple(prefix)
    good = math.fsum(p for words, p in accepted.items() if words[: len(start)] == start)
    whole = truth.probability(start)
    assert math.exp(state.log_prob()) == pytest.approx(good / whole, rel=RTOL)
    weights = state.log_weights() if good else None
    for token in (3, 4, 5):
        longer = (*start, token)
        joint = math.fsum(p for words, p in accepted.items() if words[: len(longer)] == longer)
        if weights is not None:
            expected = joint / truth.probability(longer) / (good / whole)
            assert math.exp(weights[token]) == pytest.approx(expected, rel=RTOL, abs=1e-300)
