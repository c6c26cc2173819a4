"""Soft targets: their counts against enumeration, their mean, and what they are worth."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hiddenite._core import EmOptions, HmmEm, SoftTargets, SparseHmm, TokenText, WordTable, read_tokens
from hiddenite.errors import ModelError
from hiddenite.hmmlm import HMMLanguageModel
from hiddenite.hmmlm.options import HMMOptions
from hiddenite.hmmlm.targets import END as END_TOKEN
from hiddenite.hmmlm.targets import Targets
from hiddenite.hmmlm.training import Training
from tests.hmm_oracle import END, Oracle, oracle, random_chain

ATOL = 2e-5  # counts are floats, below ten
WORDS = ["<unk>", "<s>", "</s>", "a", "b", "c"]
Lists = list[dict[int, float]]


def tokens_of(sentences: list[list[int]]) -> TokenText:
    table = WordTable()
    for word in WORDS:
        table.add(word)
    text = "".join(" ".join(WORDS[w] for w in words) + "\n" for words in sentences)
    return read_tokens(text.encode(), "<test>", 1, table, grow=False)


def soft(lists: Lists) -> SoftTargets:
    begin = np.concatenate([[0], np.cumsum([len(q) for q in lists])]).astype(np.uint64)
    words = np.array([w for q in lists for w in q], np.uint32)
    return SoftTargets(begin, words, np.array([p for q in lists for p in q.values()], np.float32))


Counts = tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]


def counted(chain: SparseHmm, sentences: list[list[int]], lists: Lists | None) -> Counts:
    """Pairs, first and emissions as one turn under the chain counts them."""
    options = EmOptions()
    options.folds, options.cross_validated = 1, False
    em = HmmEm(tokens_of(sentences), chain, options, 1, None if lists is None else soft(lists))
    em.iterate_under(chain, 1)
    return em.fold(0)


class Expected:
    """The same counts by their formula, over all state sequences."""

    def __init__(self, truth: Oracle) -> None:
        states, words = truth.emission.shape
        self.truth = truth
        self.pairs, self.first = np.zeros((states, states)), np.zeros(states)
        self.emissions = np.zeros((states, words))

    def add(self, words: list[int], lists: Lists) -> None:
        whole = [*words, END]
        total = self.truth.probability(whole)
        for states, p in self.truth.paths(whole):
            self.first[states[0]] += p / total
            for before, after in itertools.pairwise(states):
                self.pairs[before, after] += p / total
            for z, w in zip(states, whole, strict=True):
                self.emissions[z, w] += p / total
        for t, (w, q) in enumerate(zip(whole, lists, strict=True)):
            if q.get(w, 0.0) > 0:
                for v, p in q.items():
                    self._last_step(whole[:t], v, p / sum(q.values()) - (v == w))

    def _last_step(self, before: list[int], v: int, weight: float) -> None:
        truth = self.truth
        if not before:
            share = truth.initial * truth.emission[:, v]
            self.first += weight * share / share.sum()
            self.emissions[:, v] += weight * share / share.sum()
            return
        filtered = np.zeros(len(truth.initial))
        for states, p in truth.paths(before):
            filtered[states[-1]] += p
        pairs = filtered[:, None] * truth.transition * truth.emission[:, v]
        self.pairs += weight * pairs / pairs.sum()
        self.emissions[:, v] += weight * pairs.sum(axis=0) / pairs.sum()


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(["dense", "brown", "uniform"]), st.integers(1, 3))
def test_counts_are_those_of_enumeration(seed: int, kind: str, number: int) -> None:
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, kind, 3, 3)
    sentences = [rng.choice([0, 3, 4, 5], rng.integers(1, 4)).tolist() for _ in range(number)]
    lists: Lists = []
    expected = Expected(oracle(chain))
    for words in sentences:
        own = []
        for w in (*words, END):  # now and then a list without the token, or with <s>, which no state emits
            listed = {w, *rng.choice([0, 1, END, 3, 4, 5], 2).tolist()} - (
                {w} if rng.random() < 0.2 else set()
            )
            own.append(
                {int(v): float(np.float32(p)) for v, p in zip(listed, rng.random(len(listed)), strict=True)}
            )
        lists += own
        expected.add(words, [{v: p for v, p in q.items() if v != 1} for q in own])
    pairs, first, emissions = counted(chain, sentences, lists)
    np.testing.assert_allclose(first, expected.first.clip(0), atol=ATOL)
    if kind == "dense":  # one group: the pairs lie as a matrix
        z = chain.num_states
        np.testing.assert_allclose(pairs.reshape(z, z), expected.pairs.clip(0), atol=ATOL)
    sets, groups = chain.set_begin.astype(int), chain.group_begin.astype(int)
    for w in range(len(WORDS)):
        size = sets[w + 1] - sets[w]
        if size:
            places = chain.members[sets[w] : sets[w + 1]] if len(chain.members) else np.arange(size)
            states = groups[chain.word_group[w]] + places
            np.testing.assert_allclose(
                emissions[sets[w] : sets[w + 1]], expected.emissions[states, w].clip(0), atol=ATOL
            )


def test_over_all_texts_of_a_source_the_counts_are_the_same() -> None:
    """Every sentence of two words, drawn with equal probability, stands once: the changes add up to zero."""
    chain = random_chain(np.random.default_rng(4), "dense", 3, 3)
    sentences = [list(words) for words in itertools.product([3, 4, 5], repeat=2)]
    even, ended = {3: 1 / 3, 4: 1 / 3, 5: 1 / 3}, {END: 1.0}
    with_targets = counted(chain, sentences, [even, even, ended] * 9)
    for found, plain in zip(with_targets, counted(chain, sentences, None), strict=True):
        np.testing.assert_allclose(found, plain, atol=ATOL)
    uneven = {3: 0.6, 4: 0.2, 5: 0.2}  # the twin: targets of another source
    wrong = counted(chain, sentences, [uneven, uneven, ended] * 9)
    assert np.abs(wrong[2] - with_targets[2]).max() > 100 * ATOL


def test_targets_that_are_sure_change_no_bit() -> None:
    chain = random_chain(np.random.default_rng(5), "brown", 4, 3)
    sentences = [[3, 4], [5], [4, 4, 3]]
    lists = [{w: 1.0} for words in sentences for w in (*words, END)]
    for found, plain in zip(counted(chain, sentences, lists), counted(chain, sentences, None), strict=True):
        np.testing.assert_array_equal(found, plain)
    with pytest.raises(ModelError, match="soft targets"):
        counted(chain, sentences, lists[:-1])


def test_few_samples_with_targets_teach_more_than_without() -> None:
    """A source of known probabilities: the next token depends on the last one alone."""
    rng = np.random.default_rng(1)
    size, end = 12, 12
    table = rng.dirichlet(np.full(size + 1, 0.3), size + 1)
    table[size, end] = 0.0  # the first row is that of the beginning; no empty sentence
    table[size] /= table[size].sum()

    def sample() -> tuple[list[int], list[int]]:
        tokens: list[int] = []
        before = [size]
        while (token := int(rng.choice(size + 1, p=table[before[-1]]))) != end and len(tokens) < 30:
            tokens.append(token)
            before.append(token)
        return tokens, before

    drawn = [sample() for _ in range(150)]
    rows = [b for _, before in drawn for b in before]
    ids = np.append(np.arange(size), END_TOKEN)
    begin = np.arange(len(rows) + 1, dtype=np.uint64) * (size + 1)
    targets = Targets(begin, np.tile(ids, len(rows)), table[rows].astype(np.float32).ravel())
    text = "".join(" ".join(map(str, tokens)) + "\n" for tokens, _ in drawn).encode()
    fresh = [" ".join(map(str, sample()[0])) for _ in range(400)]
    options = HMMOptions(states=size, clusters=size, epochs=4, folds=4)
    perplexities = [
        HMMLanguageModel.from_training(
            Training(text, options, seed=1, threads=1, targets=given).run()
        ).perplexity(fresh)
        for given in (targets, None)
    ]
    assert perplexities[0] < 0.995 * perplexities[1]
