"""Taggers drawn by hypothesis against the formulas and all tag sequences."""

import math
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite.tag import Tagger
from tests.enumeration import log_sum
from tests.models import assert_close
from tests.strategies import examples
from tests.tag_oracle import (
    Tagged,
    all_taggings,
    deleted_interpolation,
    small_options,
    suffix_guess,
    tag_frequencies,
    transitions,
)

WORDS = ["a", "b", "ab", "Ab", "cab", "CAB", "é", "Éa", "1-b", "<s>", "Cab"]
UNSEEN = ["zab", "Zab", "x", "É", "2", "-", "AB", "<unk>", "語"]
TAGS = ["N", "V", "D"]
# Tables of floats, sums of ten or so terms.
ATOL = 1e-5

sentences_of_pairs = st.lists(
    st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(TAGS)), min_size=1, max_size=5),
    min_size=1,
    max_size=8,
)
options = st.builds(
    small_options,
    order=st.integers(1, 5),
    transitions=st.sampled_from(["kneser-ney", "deleted-interpolation"]),
    guesser=st.sampled_from(["suffix", "log-linear"]),
    guess_weight=st.sampled_from([0.0, 0.3, 2.0]),
    lexicalize=st.integers(0, 3),
    rare=st.integers(1, 3),
    suffix_length=st.integers(0, 3),
    floor=st.sampled_from([0.0, 0.05]),
    tag_dictionary=st.booleans(),
)


class Case:
    """A drawn tagger, a drawn sentence, and all taggings of it."""

    def __init__(self, data: st.DataObject) -> None:
        self.sentences: list[Tagged] = list(data.draw(sentences_of_pairs))
        self.tagger = Tagger.train_with(self.sentences, data.draw(options))
        self.words = data.draw(st.lists(st.sampled_from([*WORDS, *UNSEEN]), max_size=4))
        guesses = [self.guess(word, i == 0) for i, word in enumerate(self.words)]
        self.paths = all_taggings(self.tagger, self.sentences, self.words, guesses)

    def guess(self, word: str, is_first: bool) -> dict[str, float]:
        chosen = self.tagger.model.options
        if chosen.guesser == "suffix":
            return suffix_guess(self.sentences, word, chosen.rare, chosen.suffix_length)
        log_probs = self.tagger.model.guesser.guesser().guess(word, is_first)
        return {tag: math.exp(p) for tag, p in zip(self.tagger.tags, log_probs, strict=True)}

    def marginals(self) -> tuple[list[dict[str, float]], float]:
        total = log_sum([value for value, _ in self.paths])
        slots: list[defaultdict[str, float]] = [defaultdict(float) for _ in self.words]
        for value, tags in self.paths:
            for slot, tag in zip(slots, tags, strict=True):
                slot[tag] += math.exp(value - total)
        return [dict(slot) for slot in slots], total


@examples(1)
@given(st.data())
def test_the_best_tags_are_the_best_of_all(data: st.DataObject) -> None:
    case = Case(data)
    found = case.tagger.tag(case.words)
    assert found.words == tuple(case.words)
    assert found.certificate.exact
    assert found.log_weight == pytest.approx(case.paths[0][0], abs=ATOL)
    assert {tags: value for value, tags in case.paths}[found.tags] == pytest.approx(
        found.log_weight, abs=ATOL
    )


@examples(0.5)
@given(st.data(), st.integers(1, 12))
def test_the_k_best_are_the_first_of_all(data: st.DataObject, k: int) -> None:
    case = Case(data)
    found = case.tagger.kbest(case.words, k)
    assert len(found) == min(k, len(case.paths))
    assert len({s.tags for s in found}) == len(found)
    for sequence, (value, _) in zip(found, case.paths, strict=False):
        assert sequence.log_weight == pytest.approx(value, abs=ATOL)


@examples(0.5)
@given(st.data())
def test_marginals_and_fewest_expected_errors(data: st.DataObject) -> None:
    case = Case(data)
    expected, log_partition = case.marginals()
    found = case.tagger.marginals(case.words)
    assert found.log_partition == pytest.approx(log_partition, abs=ATOL)
    for slot, probs in zip(found.slots, expected, strict=True):
        assert_close({t: p for t, p in slot if p > 1e-9}, {t: p for t, p in probs.items() if p > 1e-9}, ATOL)
    mbr = case.tagger.tag(case.words, objective="mbr")
    errors = [1 - probs[tag] for probs, tag in zip(expected, mbr.tags, strict=True)]
    assert errors == pytest.approx([1 - max(probs.values()) for probs in expected], abs=ATOL)
    assert mbr.expected_errors == pytest.approx(sum(errors), abs=ATOL)


@examples(0.3)
@given(st.data())
def test_draws_are_taggings(data: st.DataObject) -> None:
    case = Case(data)
    drawn = case.tagger.sample(case.words, 20, seed=1)
    possible = {tags for _, tags in case.paths}
    assert len(list(drawn)) == 20
    assert set(drawn) <= possible
    assert drawn == case.tagger.sample(case.words, 20, seed=1)


@examples(0.5)
@given(sentences_of_pairs, st.sampled_from([*WORDS, *UNSEEN]), st.integers(1, 3), st.integers(0, 4))
def test_suffix_guesses_are_those_of_the_formula(
    sentences: list[Tagged], word: str, rare: int, longest: int
) -> None:
    tagger = Tagger.train_with(
        sentences, small_options(guesser="suffix", rare=rare, suffix_length=longest, lexicalize=0)
    )
    log_probs = tagger.model.guesser.guesser().guess(word, False)
    expected = suffix_guess(sentences, word, rare, longest)
    found = {t: math.exp(p) for t, p in zip(tagger.tags, log_probs, strict=True)}
    assert_close(found, expected, 1e-6)  # floats
    assert sum(found.values()) == pytest.approx(1, abs=1e-6)


@examples(0.3)
@given(sentences_of_pairs, st.integers(1, 5))
def test_deleted_interpolation_is_that_of_the_formula(sentences: list[Tagged], order: int) -> None:
    tags = [[tag for _, tag in s] for s in sentences]
    options = small_options(order=order, transitions="deleted-interpolation", lexicalize=0)
    tagger = Tagger.train_with(sentences, options)
    expected = deleted_interpolation(tags, order)
    model = transitions(tagger)
    seen = sorted(tag_frequencies(sentences))
    for history in [(), ("<s>",), ("<s>", seen[0]), (seen[0], seen[-1]), ("<s>", seen[-1], seen[0])]:
        for tag in [*seen, "</s>"]:
            found = math.exp(model.log_prob(tag, history))
            assert found == pytest.approx(
                expected.prob(tag, history[-(order - 1) :] if order > 1 else ()), abs=1e-6
            )
