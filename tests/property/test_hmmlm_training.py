"""Clusters and training: objectives recomputed, likelihood that never falls, any number of threads."""

import itertools
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hiddenite._core import BilinearOptions, EmOptions, HmmEm, LogBilinear, WordTable, read_tokens
from hiddenite.errors import FormatError
from hiddenite.hmmlm.clusters import Clustering, Clusters
from hiddenite.hmmlm.options import HMMOptions, Smoothing
from hiddenite.hmmlm.training import Training
from tests.hmm_oracle import END, oracle, random_shape

words = st.sampled_from(["a", "b", "c", "d", "e", "f", "g"])
texts = st.lists(st.lists(words, max_size=6), min_size=1, max_size=12).filter(any)


def encode(sentences: list[list[str]]) -> bytes:
    return "".join(" ".join(s) + "\n" for s in sentences).encode()


def mutual_information(sentences: list[list[str]], classes: dict[str, int]) -> float:
    """sum p(c, d) ln p(c, d) / p(c) p(d) over neighbours, the boundary being a class of its own."""
    pairs: Counter[tuple[int, int]] = Counter()
    for sentence in sentences:
        padded = [-1, *(classes[w] for w in sentence), -1]
        pairs.update(itertools.pairwise(padded))
    total = sum(pairs.values())
    left: Counter[int] = Counter()
    right: Counter[int] = Counter()
    for (c, d), n in pairs.items():
        left[c] += n
        right[d] += n
    return math.fsum(n / total * math.log(n * total / (left[c] * right[d])) for (c, d), n in pairs.items())


# Clusters


@given(texts, st.integers(1, 5))
def test_information_is_what_the_definition_says(sentences: list[list[str]], number: int) -> None:
    clustering = Clustering([encode(sentences)], number)
    before = -math.inf
    for turn in clustering:
        classes = dict(zip(clustering.result().words, clustering.result().classes, strict=True))
        found = turn.average_mutual_information
        assert found == pytest.approx(mutual_information(sentences, classes), abs=1e-9)
        assert found >= before - 1e-9 or turn.number == 1
        before = found


@given(texts, st.integers(1, 5))
def test_no_single_exchange_improves_the_result(sentences: list[list[str]], number: int) -> None:
    result = Clustering([encode(sentences)], number, passes=50).run()
    classes = dict(zip(result.words, result.classes, strict=True))
    best = mutual_information(sentences, classes)
    for word, c in itertools.product(classes, range(result.num_classes)):
        assert mutual_information(sentences, classes | {word: c}) <= best + 1e-6


@given(texts, st.integers(1, 9))
def test_paths_are_a_binary_tree(sentences: list[list[str]], number: int) -> None:
    result = Clustering([encode(sentences)], number).run()
    assert len(set(result.paths)) == len(result.paths)
    assert not any(a != b and b.startswith(a) for a in result.paths for b in result.paths)
    if result.paths:
        assert math.fsum(2.0 ** -len(p) for p in result.paths) == pytest.approx(1.0)


def zipf_text(rng: np.random.Generator, lines: int = 400, types: int = 500) -> bytes:
    draws = np.minimum(rng.zipf(1.3, size=(lines, 12)), types)
    return "".join(" ".join(f"w{x}" for x in row) + "\n" for row in draws).encode()


def test_clusters_do_not_depend_on_threads(rng: np.random.Generator) -> None:
    text = zipf_text(rng)
    one, four = (Clustering([text], 20, threads=t).run() for t in (1, 4))
    assert one == four


def test_clustering_goes_on_with_new_text(rng: np.random.Generator) -> None:
    old, new = zipf_text(rng), zipf_text(rng) + b"brand new\n"
    start = Clustering([old], 10).run()
    result = Clustering([old + new], 10, start=start).run()
    assert set(start.words) <= set(result.words)
    assert {"brand", "new"} <= set(result.words)
    fresh = Clustering([b"brand new\n"], 10, start=start, passes=1).run()
    kept = dict(zip(fresh.words, fresh.classes, strict=True))
    assert all(kept[w] == c for w, c in zip(start.words, start.classes, strict=True))


def test_more_clusters_than_words() -> None:
    result = Clustering([b"a b c\n"], 1000).run()
    assert sorted(result.classes) == [0, 1, 2]


# Training

NOTHING = Smoothing(0.0, 0.0, 0.0, 0.0)


def plain_em(text: bytes, kind: str, seed: int) -> HmmEm:
    table = WordTable()
    tokens = read_tokens(text, "text", 1, table, True)
    shape = random_shape(np.random.default_rng(seed), kind, 4, len(table) - 3)
    options = EmOptions()
    options.folds, options.cross_validated, options.smoothing = 1, False, NOTHING.core()
    return HmmEm(tokens, shape, options, seed)


@settings(max_examples=40)
@given(texts, st.sampled_from(["brown", "uniform", "dense"]), st.integers(0, 1000))
def test_plain_em_never_loses_likelihood(sentences: list[list[str]], kind: str, seed: int) -> None:
    training = plain_em(encode(sentences), kind, seed)
    log_probs = [training.iterate(1) for _ in range(6)]
    tokens = training.num_tokens
    for before, after in itertools.pairwise(log_probs):
        assert after >= before - 1e-5 * tokens  # floats


@settings(max_examples=25)
@given(
    st.lists(st.lists(words, max_size=3), min_size=1, max_size=3).filter(any),
    st.sampled_from(["brown", "uniform", "dense"]),
)
def test_counts_are_expectations(sentences: list[list[str]], kind: str) -> None:
    """One turn under a given chain: the counts are sums over all state sequences."""
    text = encode(sentences)
    training = plain_em(text, kind, 3)
    training.iterate(1)
    chain = training.chain(Smoothing(1.0, 1.0, 1.0, 1.0).core(), 1)
    training.iterate_under(chain, 1)
    o = oracle(chain)
    table = WordTable()
    tokens = read_tokens(text, "text", 1, table, True)
    first, pairs = np.zeros(chain.num_states), 0.0
    for s in range(tokens.num_sentences):
        ids = [*tokens.tokens[int(tokens.begin[s]) : int(tokens.begin[s + 1])].tolist(), END]
        paths = dict(o.paths(ids))
        for states, p in paths.items():
            first[states[0]] += p / math.fsum(paths.values())
        pairs += len(ids) - 1
    found_pairs, found_first, found_emissions = training.fold(0)
    assert np.allclose(found_first, first, atol=1e-5)
    assert found_pairs.sum() == pytest.approx(pairs, abs=1e-4)
    assert found_emissions.sum() == pytest.approx(training.num_tokens, abs=1e-3)


@pytest.mark.parametrize("sets", ["brown", "uniform"])
def test_smoothed_chains_are_distributions(rng: np.random.Generator, sets: str) -> None:
    options = HMMOptions(states=24, clusters=6, epochs=3, folds=3, sets=sets)
    chain = Training(zipf_text(rng, 60, 30), options, seed=1).run().chains()[0]
    o = oracle(chain)
    assert np.allclose(o.transition.sum(axis=1), 1, atol=1e-5)
    assert np.allclose(o.emission.sum(axis=1), 1, atol=1e-9)
    assert o.initial.sum() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("sets", ["brown", "uniform"])
def test_training_does_not_depend_on_threads(rng: np.random.Generator, sets: str) -> None:
    text = zipf_text(rng, 100, 50)
    options = HMMOptions(states=32, clusters=4, epochs=3, folds=3, sets=sets)
    one, four = (Training(text, options, seed=5, threads=t).run().chains()[0] for t in (1, 4))
    for name in ("initial", "transition", "emission"):
        assert (getattr(one, name) == getattr(four, name)).all()


def test_members_differ_and_weights_are_fitted(rng: np.random.Generator) -> None:
    text = zipf_text(rng, 100, 50)
    options = HMMOptions(states=16, clusters=4, epochs=2, folds=2, members=2)
    training = Training(text, options, seed=5, valid=text).run()
    first, second = training.chains()
    assert (first.transition != second.transition).any()
    assert sum(training.weights()) == pytest.approx(1.0)


def test_clusters_are_read_back(rng: np.random.Generator, tmp_path: object) -> None:
    clusters = Clustering([zipf_text(rng)], 12).run()
    for file_format in ("tsv", "brown"):
        path = f"{tmp_path}/{file_format}.txt"
        clusters.save(path, file_format)
        loaded = Clusters.load(path)
        assert {frozenset(m) for m in loaded.members()} == {frozenset(m) for m in clusters.members()}


def test_log_bilinear_transitions_are_distributions_for_any_threads(rng: np.random.Generator) -> None:
    text = zipf_text(rng, 100, 50)
    options = HMMOptions(states=32, clusters=4, epochs=3, folds=3, rounds=2)
    one, four = (Training(text, options, seed=5, threads=t).run().chains()[0] for t in (1, 4))
    assert (one.transition == four.transition).all()
    o = oracle(one)
    # All but </s>, which nothing follows.
    assert np.allclose(o.transition.sum(axis=1), 1, atol=1e-4)


def test_log_bilinear_transitions_fit_better_pass_by_pass(rng: np.random.Generator) -> None:
    training = plain_em(zipf_text(rng, 100, 50), "brown", 1)
    for _ in range(3):
        training.iterate(1)
    options = BilinearOptions()
    options.dropout = 0.0
    model = LogBilinear(training, options, 1)
    fits = [model.fit(training, 5, 1) for _ in range(4)]
    assert fits == sorted(fits)


def test_a_finished_checkpoint_can_be_extended(tmp_path: Path) -> None:
    lines = ["the cat sat on the mat", "a dog saw the cat", "the dog ran"] * 8

    def trained(epochs: int, checkpoint: Path | None) -> Training:
        options = HMMOptions(states=6, clusters=3, epochs=epochs, folds=2)
        return Training(lines, options, seed=1, threads=1, checkpoint=checkpoint).run()

    trained(2, tmp_path / "at")
    extended, whole = trained(4, tmp_path / "at"), trained(4, None)
    assert extended.chains()[0].transition.tolist() == whole.chains()[0].transition.tolist()
    with pytest.raises(FormatError, match="another options"):
        trained(3, tmp_path / "at")  # fewer epochs than it has


def test_members_have_clusters_of_their_own_unless_these_are_given() -> None:
    lines = [f"{a} {b} {c}" for a in "abcd" for b in "efgh" for c in "ijkl"]
    options = HMMOptions(states=8, clusters=4, epochs=1, folds=2, members=3)
    groups = [chain.word_group.tolist() for chain in Training(lines, options, seed=1).run().chains()]
    assert len({tuple(row) for row in groups}) > 1
    clusters = Clustering(["\n".join(lines).encode()], 4).run()
    given_ones = Training(lines, options, seed=1, clusters=clusters).run().chains()
    assert len({tuple(chain.word_group.tolist()) for chain in given_ones}) == 1
