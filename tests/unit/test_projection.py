"""Projected labels: the chain against enumeration, the formulas by hand, and what the whole must keep."""

import itertools
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import hiddenite
from hiddenite import ModelError, OptionError
from hiddenite.align.label_chain import Array, Chain, infer_labels
from hiddenite.align.label_words import WEIGHT, WordClasses, is_letterless, same_spelling, shape
from hiddenite.align.projection import RELIABILITY, collect_evidence, infer, project

ATOL = 1e-9  # a few dozen products of numbers near one


def enumerate_chain(weights: Array, chain: Chain) -> tuple[Array, Array]:
    """Return posteriors and expected pairs of one sentence by summing over all label sequences."""
    n, t = weights.shape
    labels, pairs = np.zeros((n, t)), np.zeros((t, t))
    total = 0.0
    for one in itertools.product(range(t), repeat=n):
        w = chain.start[one[0]] * chain.end[one[-1]]
        w *= np.prod([weights[j, k] for j, k in enumerate(one)])
        w *= np.prod([chain.follows[a, b] for a, b in itertools.pairwise(one)])
        total += w
        for j, k in enumerate(one):
            labels[j, k] += w
        for a, b in itertools.pairwise(one):
            pairs[a, b] += w
    return labels / total, pairs / total


@st.composite
def chains(draw: st.DrawFn) -> tuple[list[Array], Chain]:
    t = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lengths = draw(st.lists(st.integers(0, 5), min_size=1, max_size=5))
    sentences = [rng.random((n, t)) + 0.01 for n in lengths]
    return sentences, Chain(rng.random(t) + 0.01, rng.random((t, t)) + 0.01, rng.random(t) + 0.01)


@given(chains())
@settings(max_examples=60, deadline=None)
def test_the_chain_agrees_with_enumeration(case: tuple[list[Array], Chain]) -> None:
    sentences, chain = case
    lengths = np.array([len(s) for s in sentences], dtype=np.int64)
    found = infer_labels(np.concatenate(sentences), lengths, chain)
    begin, pairs = 0, np.zeros_like(chain.follows)
    firsts, lasts = np.zeros(len(chain.start)), np.zeros(len(chain.start))
    for sentence in sentences:
        if not len(sentence):
            continue
        labels, two = enumerate_chain(sentence, chain)
        np.testing.assert_allclose(found.labels[begin : begin + len(sentence)], labels, atol=ATOL, rtol=0)
        begin += len(sentence)
        pairs += two
        firsts += labels[0]
        lasts += labels[-1]
    np.testing.assert_allclose(found.pairs, pairs, atol=ATOL, rtol=0)
    np.testing.assert_allclose(found.firsts, firsts, atol=ATOL, rtol=0)
    np.testing.assert_allclose(found.lasts, lasts, atol=ATOL, rtol=0)


def test_rare_words_lean_on_their_endings() -> None:
    types = ("walking", "talking", "singing", "dog", "Xing")
    counts = np.array([[0.0, 9.0], [0.0, 9.0], [0.0, 0.0], [9.0, 0.0], [0.0, 0.0]])
    found = WordClasses(types).smooth(counts)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=ATOL, rtol=0)
    assert found[2, 1] > 0.9  # never seen, but ends like the others
    assert found[3, 0] > 0.8
    assert found[2, 1] > found[4, 1]  # another shape


def test_smoothing_is_the_formula_for_a_single_type() -> None:
    counts = np.array([[3.0, 1.0]])
    expected = counts[0] / 4
    for _ in range(4):  # shape, one ending, lower case, the word
        expected = (counts[0] + WEIGHT * expected) / (4 + WEIGHT)
    np.testing.assert_allclose(WordClasses(["ab"]).smooth(counts)[0], expected, atol=ATOL, rtol=0)


def test_marks_and_numbers_keep_what_the_source_says() -> None:
    assert [shape(w) for w in (",", "12", "Dog", "dog", "x-1", "漢")] == ["mark", "0", "A", "", "0-", ""]
    assert is_letterless("1,5")
    assert not is_letterless("2nd")
    found = same_spelling([(",", 0), (",", 0), ("7", 1), ("men", 2)], [",", "!", "1999", "men"], 3)
    np.testing.assert_allclose(found, [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]], atol=ATOL, rtol=0)


# The whole


def test_masses_are_sums_over_links_and_never_above_one() -> None:
    tagged = [[("a", "X"), ("b", "Y"), ("c", "X"), ("d", "_")]]
    p = np.array([[0.5, 0.9], [0.2, 0.6], [0.1, 0.5], [0.2, 0.0]])
    found = collect_evidence(tagged, [("u", "v")], [p])
    assert found.names == ("X", "Y")
    np.testing.assert_allclose(found.mass, [[0.6, 0.2], [0.7, 0.3]], atol=1e-7, rtol=0)
    assert np.array_equal(infer(found, "none"), found.mass)


@given(st.integers(0, 2**32), st.sampled_from(["words", "sequence"]))
@settings(max_examples=25, deadline=None)
def test_distributions_are_distributions(seed: int, smoothing: Any) -> None:
    rng = np.random.default_rng(seed)
    tagged, target, links = [], [], []
    for _ in range(int(rng.integers(1, 5))):
        e, f = rng.integers(0, 5, size=2)
        tagged.append([(str(rng.integers(9)), "ABC_"[rng.integers(4)]) for _ in range(e)])
        target.append([f"w{rng.integers(5)}" for _ in range(f)])
        links.append((rng.random((e, f)) * rng.integers(0, 2, size=(e, f))).astype(np.float32))
    for one in project(tagged, target, links, smoothing=smoothing, threshold=0.4):
        assert one.distribution.shape == (len(one.words), len(one.names))
        sums = one.distribution.sum(axis=1)
        assert np.all((np.abs(sums - 1) < 1e-5) | (sums == 0))
        for label, p in zip(one.labels, one.probabilities, strict=True):
            assert (label is not None) == (p >= 0.4)


def test_a_word_without_links_is_labelled_by_its_other_occurrences() -> None:
    tagged = [[("the", "DET"), ("dog", "NOUN")]] * 20 + [[("the", "DET")]]
    target = ["le chien"] * 20 + ["le chien"]
    links = [np.eye(2)] * 20 + [np.array([[0.9, 0.0]])]
    assert project(tagged, target, links)[-1].labels == ("DET", "NOUN")
    assert project(tagged, target, links, smoothing="none")[-1].labels == ("DET", None)
    last = project(tagged, target, links, smoothing="words")[-1]
    assert last.labels == ("DET", "NOUN")
    assert 0.5 < last.probabilities[1] < 1
    assert list(last.to_dict()) == ["words", "labels", "probabilities", "distributions"]


def test_neighbours_decide_where_spelling_cannot() -> None:
    """«x» is a noun after «d» and a verb after «p»; in the last sentences it has no link."""
    tagged = [[("the", "DET"), ("run", "NOUN")], [("they", "PRON"), ("run", "VERB")]] * 30
    target = [["d", "x"], ["p", "x"]] * 30
    links = [np.eye(2)] * 60
    tagged += [[("the", "DET")], [("they", "PRON")]]
    target += [["d", "x"], ["p", "x"]]
    links += [np.array([[1.0, 0.0]])] * 2
    found = project(tagged, target, links)
    assert [one.labels[1] for one in found[-2:]] == ["NOUN", "VERB"]


def test_one_wrong_link_does_not_beat_the_word() -> None:
    tagged = [[("dog", "NOUN"), ("of", "ADP")]] * 16
    target = [["chien", "de"]] * 15 + [["chien"]]
    links = [np.eye(2)] * 15 + [np.array([[0.0], [0.6]])]
    assert RELIABILITY < 1
    assert project(tagged, target, links)[-1].labels == ("NOUN",)
    assert project(tagged, target, links, smoothing="none")[-1].labels == ("ADP",)


def test_an_aligner_gives_the_links() -> None:
    pairs = [
        ("the house", "la maison"),
        ("the dog", "le chien"),
        ("a dog", "un chien"),
        ("a house", "une maison"),
    ]
    aligner = hiddenite.Aligner.train(pairs * 5, seed=1)
    tagged = [[(w, "NOUN" if w in ("house", "dog") else "DET") for w in e.split()] for e, _ in pairs]
    found = hiddenite.project(tagged, [f for _, f in pairs], aligner, seed=1)
    assert [one.labels for one in found] == [("DET", "NOUN")] * 4


def test_nothing_is_projected_from_nothing() -> None:
    assert project([], [], []) == []
    (one,) = project([[("a", "_")]], ["b c"], [np.ones((1, 2))])
    assert one.labels == (None, None)
    (one,) = project([[("a", "X")]], ["b"], [np.zeros((1, 1))])
    assert one.labels == (None,)
    assert one.probabilities == (0.0,)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ModelError, match="found 1 source and 2 target sentences"):
        project([[("a", "X")]], ["b", "c"], [])
    with pytest.raises(
        ModelError, match=r"sentence pair 1: link probabilities of 2 and 2 words, expected 1 and 1"
    ):
        project([[("a", "X")]], ["b"], [np.eye(2)])
    with pytest.raises(OptionError, match="expected none, words or sequence"):
        project([], [], [], smoothing="tags")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="threshold is 2"):
        project([], [], [], threshold=2)
