"""Consensus of chains: merging against brute force, invariances of the votes, latent classes that climb."""

import itertools
import math
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

import hiddenite
from hiddenite import HiddeniteError, InduceOptions, Induction, ModelError
from hiddenite._core import (
    agree_in_groups,
    best_matching,
    latent_classes,
    match_labels,
    merge_tags,
    most_telling,
    shared_weights,
    vote,
)
from hiddenite.induction.consensus import (
    Consensus,
    Labels,
    agreed,
    find_consensus,
    good_chains,
    medoid,
    separate_kinds,
)
from hiddenite.induction.text import Text

ATOL = 1e-8  # sums of some hundred terms x ln x below a thousand

# Merging, against all pairs by the definition


def mutual_information(tags: list[int], offsets: list[int], names: list[int], end: int) -> float:
    """n times the mutual information of neighbours, sentence ends being a symbol."""
    pairs: dict[tuple[int, int], int] = {}
    for a, b in itertools.pairwise(offsets):
        row = [end, *(names[t] for t in tags[a:b]), end]
        for pair in itertools.pairwise(row):
            pairs[pair] = pairs.get(pair, 0) + 1
    left: dict[int, int] = {}
    right: dict[int, int] = {}
    for (s, t), n in pairs.items():
        left[s] = left.get(s, 0) + n
        right[t] = right.get(t, 0) + n
    total = sum(pairs.values())
    return sum(n * math.log(n * total / (left[s] * right[t])) for (s, t), n in pairs.items())


def merge_loss(
    tags: list[int], offsets: list[int], names: list[int], pair: tuple[int, int], end: int
) -> float:
    kept, gone = pair
    merged = [kept if name == gone else name for name in names]
    before, after = (mutual_information(tags, offsets, n, end) for n in (names, merged))
    return before - after


@st.composite
def tagged_sentences(draw: st.DrawFn) -> tuple[list[int], list[int], int]:
    num_tags = draw(st.integers(1, 6))
    sentences = draw(
        st.lists(st.lists(st.integers(0, num_tags - 1), min_size=1, max_size=12), min_size=1, max_size=8)
    )
    offsets = [0, *itertools.accumulate(map(len, sentences))]
    return [t for s in sentences for t in s], offsets, num_tags


@given(tagged_sentences(), st.integers(1, 6), st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_each_merge_is_the_cheapest(
    case: tuple[list[int], list[int], int], target: int, of_kind: list[int]
) -> None:
    """Of the pairs of one kind, as long as there is any; kinds are given if they differ."""
    tags, offsets, num_tags = case
    kinds = of_kind[:num_tags]
    text = (np.array(tags, np.int32), np.array(offsets, np.int64))
    of_tag, merges = merge_tags(*text, num_tags, target, kinds if len(set(kinds)) > 1 else [])
    names = list(range(num_tags))
    left = list(range(num_tags))
    for kept, gone, loss in merges:
        pairs = list(itertools.combinations(left, 2))
        pairs = [(s, t) for s, t in pairs if kinds[s] == kinds[t]] or pairs
        losses = {pair: merge_loss(tags, offsets, names, pair, num_tags) for pair in pairs}
        assert loss == pytest.approx(losses[kept, gone], abs=ATOL)
        assert losses[kept, gone] <= min(losses.values()) + ATOL
        names = [kept if name == gone else name for name in names]
        left.remove(gone)
    assert len(left) == min(num_tags, target)
    assert of_tag.tolist() == [left.index(name) for name in names]


def test_a_merge_that_is_not_the_cheapest_is_found_out() -> None:
    """The twin: the pair after the cheapest one costs more, by more than the tolerance."""
    tags, offsets = [0, 1, 2, 0, 1, 3, 0, 2, 1], [0, 3, 6, 9]
    names = list(range(4))
    losses = sorted(merge_loss(tags, offsets, names, pair, 4) for pair in itertools.combinations(names, 2))
    assert losses[1] > losses[0] + 1e3 * ATOL


def test_merging_refuses_what_does_not_fit() -> None:
    tags, offsets = np.array([0, 3], np.int32), np.array([0, 2], np.int64)
    with pytest.raises(ModelError, match="out of range"):
        merge_tags(tags, offsets, 3, 2)
    with pytest.raises(ModelError, match="at least one tag"):
        merge_tags(tags, offsets, 4, 0)
    with pytest.raises(ModelError, match="a kind for each tag"):
        merge_tags(tags, offsets, 4, 2, [0, 1])
    with pytest.raises(ValueError, match="bounds of sentences"):
        merge_tags(tags, np.array([0, 1], np.int64), 4, 2)


# Kinds

MIXED = ["the", "dog", "7", "3-4", ",", ".", "b4", "é", "🙂", "½"]


def test_kinds_of_words() -> None:
    text = Text.of([MIXED])
    assert text.kinds().tolist() == [0, 0, 1, 1, 2, 2, 0, 0, 2, 1]


@given(
    st.lists(st.lists(st.sampled_from(MIXED), min_size=1, max_size=9), min_size=1, max_size=9),
    st.integers(1, 6),
    st.integers(0, 2**32 - 1),
)
def test_kinds_are_separated_if_there_are_classes_enough(
    sentences: list[list[str]], num_classes: int, seed: int
) -> None:
    rng, text = np.random.default_rng(seed), Text.of(sentences)
    probabilities = rng.dirichlet(np.ones(num_classes), size=len(text.words))
    classes = rng.integers(num_classes, size=len(text.words)).astype(np.int32)
    words, tokens = np.arange(len(text.words)), np.bincount(text.tokens)
    votes = rng.multinomial(3, probabilities) / 3
    agreement = float(votes[words, classes] @ tokens / tokens.sum())
    before = Consensus(classes, probabilities, votes, (0, 1, 2), agreement)
    kinds = text.kinds()
    found = separate_kinds(before, kinds, text)
    assert found.probabilities.shape == probabilities.shape
    assert found.probabilities.sum(axis=1) == pytest.approx(np.ones(len(text.words)))
    assert found.classes.min() >= 0
    assert found.classes.max() < num_classes
    together = [len(set(kinds[found.classes == c].tolist())) for c in np.unique(found.classes)]
    if len(set(kinds.tolist())) <= num_classes:
        assert max(together) == 1
    for i, j in itertools.combinations(range(len(text.words)), 2):  # a part stays together
        if kinds[i] == kinds[j] and classes[i] == classes[j]:
            assert found.classes[i] == found.classes[j]
    if len(set(kinds.tolist())) == 1:
        assert partition(found.classes) == partition(classes)
    used = np.isin(np.arange(num_classes), classes)
    own = probabilities[np.arange(len(classes)), classes]  # is of the word's class still
    assert (found.confidence >= own / probabilities[:, used].sum(axis=1) - 1e-12).all()
    # Who agreed before agrees still; a merge may bring more.
    agreed = sum(found.votes[word, found.classes[word]] for word in text.tokens) / len(text.tokens)
    assert found.agreement == pytest.approx(agreed)
    assert agreement - 1e-12 <= found.agreement <= 1.0 + 1e-12
    if len(set(kinds.tolist())) == 1:
        assert found.agreement == pytest.approx(agreement)


def test_a_run_separates_kinds() -> None:
    text = ["a dog , a cat , 3 birds .", "7 dogs and a cat .", "a bird and a dog , a cat ."] * 4
    options: dict[str, Any] = {"seed": 3, "start_iterations": 2, "iterations": 3, "chains": 3}
    run = hiddenite.induce(text, 4, **options).run()
    by_class: dict[str, set[int]] = {}
    for sentence in run.tagged():
        for word, tag in sentence:
            by_class.setdefault(tag, set()).add(0 if word.isalpha() else 1 if word.isdecimal() else 2)
    assert all(len(kinds) == 1 for kinds in by_class.values())
    assert run.export().tag(text[0]).certificate.exact
    mixed = hiddenite.induce(text, 4, kinds="mix", **options).run()
    assert mixed._chains[0].tags().tolist() == run._chains[0].tags().tolist()  # chains are the same
    assert hiddenite.induce(text, 2, **options).run().consensus().probabilities.shape[1] == 2
    with pytest.raises(HiddeniteError, match="kinds has no effect with model lex"):
        InduceOptions(tags=3, model="lex", kinds="mix").check_effects(["model", "kinds"])


# Votes and latent classes


def chains_of(rng: np.random.Generator, num_chains: int, num_items: int, num_classes: int) -> Labels:
    """Draw labels of chains that agree for the most part, in names of their own."""
    truth = rng.integers(num_classes, size=num_items)
    rows = []
    for _ in range(num_chains):
        noisy = np.where(rng.random(num_items) < 0.2, rng.integers(num_classes, size=num_items), truth)
        rows.append(rng.permutation(num_classes)[noisy])
    return np.array(rows, np.int32)


def partition(classes: NDArray[Any]) -> list[int]:
    """Return the classes numbered in the order of their first items."""
    number: dict[int, int] = {}
    return [number.setdefault(c, len(number)) for c in classes.tolist()]


def text_of(counts: NDArray[Any], rng: np.random.Generator) -> Text:
    """Draw a text whose word i occurs ``counts[i]`` times."""
    tokens = rng.permutation(np.repeat(np.arange(len(counts), dtype=np.int32), counts))
    bounds = np.unique([0, *rng.integers(len(tokens), size=len(tokens) // 9), len(tokens)])
    return Text(tuple(f"w{i}" for i in range(len(counts))), tokens, bounds.astype(np.int64))


def agree(text: Text, labels: Labels, num_classes: int, **more: Any) -> Any:
    return find_consensus(text, labels, num_classes, range(len(labels)), np.random.default_rng(1), **more)


@pytest.mark.parametrize("num_chains", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("num_classes", [1, 2, 7])
def test_names_of_tags_do_not_matter(rng: np.random.Generator, num_chains: int, num_classes: int) -> None:
    labels = chains_of(rng, num_chains, 200, num_classes)
    text = text_of(rng.integers(1, 200, size=200), rng)  # few ties
    found = agree(text, labels, num_classes)
    renamed = np.array([rng.permutation(num_classes)[row] for row in labels], np.int32)
    again = agree(text, renamed, num_classes)
    assert partition(again.classes) == partition(found.classes)
    assert again.confidence == pytest.approx(found.confidence, abs=1e-6)
    assert again.agreement == pytest.approx(found.agreement)


@pytest.mark.parametrize("num_chains", [1, 2, 3, 6])
def test_chains_that_agree_give_their_answer(rng: np.random.Generator, num_chains: int) -> None:
    one = rng.integers(9, size=300).astype(np.int32)
    labels = np.array([rng.permutation(9)[one] for _ in range(num_chains)], np.int32)
    found = agree(text_of(rng.integers(1, 50, size=300), rng), labels, 9)
    assert partition(found.classes) == partition(one)
    assert found.agreement == pytest.approx(1.0)
    assert (found.confidence > 0.9).all()
    assert found.probabilities.sum(axis=1) == pytest.approx(np.ones(300))


@pytest.mark.parametrize("num_chains", [3, 9])
def test_order_of_items_does_not_matter(rng: np.random.Generator, num_chains: int) -> None:
    labels, text = chains_of(rng, num_chains, 200, 6), text_of(rng.integers(1, 200, size=200), rng)
    order = rng.permutation(200)
    words = tuple(text.words[i] for i in order)
    other = Text(words, np.argsort(order).astype(np.int32)[text.tokens], text.begin)
    found, shuffled = agree(text, labels, 6), agree(other, labels[:, order], 6)
    assert shuffled.classes.tolist() == found.classes[order].tolist()


def test_the_consensus_is_nearer_to_the_truth_than_its_chains(rng: np.random.Generator) -> None:
    """Three chains, a fifth of each wrong: two right ones outvote the third."""
    truth = rng.integers(8, size=2000).astype(np.int32)
    noise = rng.random((3, 2000)) < 0.2
    labels = np.where(noise, rng.integers(8, size=(3, 2000)), truth).astype(np.int32)
    weights = np.ones(2000)
    found = agree(text_of(np.ones(2000, int), rng), labels, 8)
    right = (match_labels(found.classes, truth, weights, 8) == truth).mean()
    assert right > max((row == truth).mean() for row in labels) + 0.05
    sure = found.confidence > 0.95
    correct = match_labels(found.classes, truth, weights, 8) == truth
    assert correct[sure].mean() > correct[~sure].mean() + 0.1


@st.composite
def witnesses(draw: st.DrawFn) -> tuple[Labels, NDArray[np.float64], int]:
    """Labels of a few rows, some of them alike, weights that are small numbers, and the number of classes."""
    num_rows, num_classes = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    row = st.lists(st.integers(0, num_classes - 1), min_size=12, max_size=12)
    labels = draw(st.lists(row, min_size=num_rows, max_size=num_rows))
    weights = draw(st.lists(st.integers(1, 9), min_size=12, max_size=12))
    return np.array(labels, np.int32), np.array(weights, np.float64), num_classes


def shared_by_all_matchings(left: NDArray[Any], right: NDArray[Any], weights: Any, num_classes: int) -> float:
    names = (np.array(names) for names in itertools.permutations(range(num_classes)))
    return max(float(weights[name[left] == right].sum()) for name in names)


@given(witnesses())
def test_labels_are_matched_as_no_other_names_would_be(
    case: tuple[Labels, NDArray[np.float64], int],
) -> None:
    """Against all one-to-one names."""
    labels, weights, num_classes = case
    shared = np.reshape(shared_weights(labels, weights, num_classes), (len(labels), -1))
    for (i, one), (j, other) in itertools.permutations(enumerate(labels), 2):
        best = shared_by_all_matchings(one, other, weights, num_classes)
        assert shared[i, j] == best
        renamed = match_labels(one, other, weights, num_classes)
        assert weights[renamed == other].sum() == best
        assert partition(renamed) == partition(one)


def vote_as_defined(labels: Labels, weights: Any, num_classes: int, first: int) -> NDArray[Any]:
    chosen: NDArray[Any] = labels[first]
    for _ in range(3):
        votes = np.zeros((labels.shape[1], num_classes))
        for row in labels:
            renamed = match_labels(row, chosen, weights, num_classes)
            votes[np.arange(len(row)), renamed] += 1
        votes[np.arange(len(chosen)), chosen] += 0.5
        chosen = votes.argmax(axis=1).astype(np.int32)
    return chosen


@given(witnesses(), st.integers(0, 4))
def test_votes_are_counted_as_defined(case: tuple[Labels, NDArray[np.float64], int], first: int) -> None:
    labels, weights, num_classes = case
    first %= len(labels)
    found = vote(labels, weights, num_classes, first)
    assert found.tolist() == vote_as_defined(labels, weights, num_classes, first).tolist()


def climb(labels: Labels, weights: Any, first: Any, num_classes: int) -> tuple[Any, list[float]]:
    """Expectation-maximisation as it is defined: tables, then posteriors, item by item."""
    posterior = 0.1 / num_classes + 0.9 * np.eye(num_classes)[first]
    objectives: list[float] = []
    while len(objectives) < 200:
        mass = posterior * weights[:, None]
        shares = mass.sum(axis=0) + 0.01
        shares /= shares.sum()
        tables = np.full((len(labels), num_classes, num_classes), 0.01)  # [row, label, class]
        for row, own in enumerate(labels):
            np.add.at(tables[row], own, mass)
        tables /= tables.sum(axis=1, keepdims=True)
        joint = np.tile(shares, (len(weights), 1))
        for row, own in enumerate(labels):
            joint *= tables[row][own]
        posterior = joint / joint.sum(axis=1, keepdims=True)
        prior = 0.01 * (np.log(shares).sum() + np.log(tables).sum())
        objectives.append(float(weights @ np.log(joint.sum(axis=1)) + prior))
        if len(objectives) > 1 and objectives[-1] - objectives[-2] < 1e-7 * weights.sum():
            break
    return posterior, objectives


@given(witnesses(), st.integers(1, 3))
def test_latent_classes_climb_as_defined(case: tuple[Labels, NDArray[np.float64], int], threads: int) -> None:
    labels, weights, num_classes = case
    voted = vote(labels, weights, num_classes, medoid(labels, weights, num_classes))
    posterior, objectives = latent_classes(labels, weights, num_classes, voted, 200, threads)
    assert all(b >= a - 1e-9 * abs(a) for a, b in itertools.pairwise(objectives))
    wanted, climbed = climb(labels, weights, voted, num_classes)
    steps = min(len(objectives), len(climbed))  # rounding may end one of them a step sooner
    assert abs(len(objectives) - len(climbed)) <= 1
    assert objectives[:steps] == pytest.approx(climbed[:steps], rel=1e-9, abs=1e-9)
    if len(objectives) == len(climbed):
        assert posterior.reshape(wanted.shape) == pytest.approx(wanted, abs=1e-6)


def test_a_wrong_step_is_found_out() -> None:
    """The twin: doubled weights give other objectives, by more than the tolerance."""
    labels, weights = np.array([[0, 1, 1], [1, 0, 1]], np.int32), np.ones(3)
    first = np.array([0, 1, 1], np.int32)
    _, objectives = latent_classes(labels, weights, 2, first, 200)
    assert abs(climb(labels, 2 * weights, first, 2)[1][0] - objectives[0]) > 1e-3


def test_threads_and_many_items_change_nothing(rng: np.random.Generator) -> None:
    """More than a block of items, so that sums are made of parts."""
    labels, text = chains_of(rng, 9, 3000, 6), text_of(rng.integers(1, 20, size=3000), rng)
    assert agree(text, labels, 6, threads=1) == agree(text, labels, 6, threads=3)


def test_groups_say_what_they_would_say_alone(rng: np.random.Generator) -> None:
    labels, weights = chains_of(rng, 6, 300, 4), rng.integers(1, 9, size=300).astype(float)
    groups = [[0, 1, 2], [5, 3], [4], [1, 2, 3, 4, 5]]
    said = agree_in_groups(labels, weights, 4, groups, 200).reshape(len(groups), -1)
    for row, group in zip(said, groups, strict=True):
        assert row.tolist() == agreed(labels[group], weights, 4).argmax(axis=1).tolist()


def test_labels_that_do_not_fit_are_refused() -> None:
    labels, weights = np.array([[0, 1, 2]], np.int32), np.ones(3)
    with pytest.raises(ValueError, match="out of range"):
        shared_weights(labels, weights, 2)
    with pytest.raises(ValueError, match="one for each weight"):
        shared_weights(labels, np.ones(2), 3)
    with pytest.raises(ValueError, match="zero or more"):
        shared_weights(labels, np.array([1.0, -1.0, 1.0]), 3)
    with pytest.raises(ValueError, match="no such row"):
        vote(labels, weights, 3, 1)
    with pytest.raises(ValueError, match="a class for each item"):
        latent_classes(labels, weights, 3, np.array([0, 1, 3], np.int32), 9)
    with pytest.raises(ValueError, match="one for each weight"):
        most_telling(labels, weights, 3, labels[:, :2], labels[0], np.array([0, 3]))
    with pytest.raises(ValueError, match="a token is no item"):
        most_telling(labels, weights, 3, labels, np.array([3], np.int32), np.array([0, 1]))
    with pytest.raises(ValueError, match="bounds of sentences"):
        most_telling(labels, weights, 3, labels, labels[0], np.array([0, 2]))
    with pytest.raises(ValueError, match="a group is empty"):
        agree_in_groups(labels, weights, 3, [[]], 9)
    with pytest.raises(ValueError, match="no such row"):
        agree_in_groups(labels, weights, 3, [[1]], 9)
    with pytest.raises(ValueError, match="finite weights"):
        vote(labels, np.array([1.0, math.nan, 1.0]), 3, 0)
    with pytest.raises(ValueError, match="out of range"):
        vote(-labels, weights, 3, 0)
    with pytest.raises(ValueError, match="a class for each item"):
        match_labels(labels[0], np.array([0, 1], np.int32), weights, 3)
    with pytest.raises(ValueError, match="finite weights"):
        best_matching(np.array([[1.0, math.inf]]))
    with pytest.raises(ValueError, match="at most 4096"):
        shared_weights(labels, weights, 2**32)
    with pytest.raises(ValueError, match="at most 4096"):
        match_labels(labels[0], labels[0], weights, 2**32)


def test_chains_far_below_the_best_do_not_vote() -> None:
    log_joints = np.array([-1030.0, -1000.0, -1010.0])
    assert good_chains(log_joints, 0.02) == [1, 2]
    assert good_chains(log_joints, 0.0) == [1]
    assert good_chains(log_joints, 1.0) == [1, 2, 0]
    assert good_chains(np.array([-1030.0, -1000.0, -1010.0, -1020.0]), 0.0) == [1, 2]  # half of them stay
    labels = np.array([[0, 0, 0], [0, 1, 1], [0, 0, 1]], np.int32)
    random = np.random.default_rng(1)
    text = Text.of(["a b c"])
    found = find_consensus(text, labels, 2, good_chains(log_joints, 0.0), random)
    assert found.chains == (1,)
    assert partition(found.classes) == [0, 1, 1]


# The whole run

TEXT = ["the dog barks", "a cat sleeps", "", "the cat sees the dog", "dogs bark", "a dog", "bark !"]


def run_of(**options: Any) -> Induction:
    return hiddenite.induce(
        TEXT, options.pop("tags", 3), **({"seed": 1, "start_iterations": 3, "iterations": 4} | options)
    )


def test_the_default_is_a_consensus_of_24_chains() -> None:
    options = InduceOptions(tags=45)
    assert (options.model, options.chains, options.start) == ("consensus", 24, "mixed")
    assert (options.start_iterations, options.iterations) == (30, 20)
    assert (options.num_tags("start"), options.num_tags("main")) == (72, 45)
    assert InduceOptions(tags=200).num_tags("start") == 255
    assert InduceOptions(tags=15, order=6).num_tags("start") == 15  # 16^6 transitions are the most


def test_half_of_mixed_starts_are_random() -> None:
    run = run_of(chains=4)
    text, wide = run.text, run.options.num_tags("start")
    for number in range(4):
        random = np.random.default_rng([run.options.seed, number])
        drawn = random.integers(wide, size=len(text.words), dtype=np.int32)
        exchanged = text.exchange_classes(wide, np.random.default_rng([run.options.seed, number]))
        wanted = drawn if number in (0, 2) else exchanged
        assert np.asarray(run._chains[number].tags()).tolist() == wanted[text.tokens].tolist()


def test_words_of_one_tag_are_kept_word_by_word() -> None:
    run = hiddenite.induce(TEXT, 3, model="one-tag+lm", iterations=9, burn_in=2, seed=4).run()
    shares = run.word_probabilities()
    assert np.asarray(run._chains[0].state()["kept"]).size == 3 * len(run.text.words)
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(run.text.words)))
    tags = run.token_tags()
    assert shares[run.text.tokens, tags] == pytest.approx(run.confidence())
    assert run.confidence() == pytest.approx(shares.max(axis=1)[run.text.tokens])


def test_a_run_answers_by_its_consensus() -> None:
    run = run_of().run()
    agreed = run.consensus()
    assert run.token_tags().tolist() == agreed.classes[run.text.tokens].tolist()
    assert ((run.confidence() > 0) & (run.confidence() <= 1)).all()
    shares = run.tag_confidence()
    used = np.unique(run.token_tags())
    assert np.isfinite(shares[used]).all()
    assert np.isnan(np.delete(shares, used)).all()
    lexicon = run.lexicon()
    assert sum(row.types for row in lexicon) == len(run.text.words)
    names = {w: run.names[c] for w, c in zip(run.text.words, agreed.classes.tolist(), strict=True)}
    assert {w: c for w, (c,) in run.classes_of_words().items()} == names
    tagger = run.export()
    found = tagger.tag("the dog barks zzz")
    assert found.certificate.exact
    assert list(found.tags[:3]) == [names[w] for w in ("the", "dog", "barks")]
    with pytest.raises(ModelError, match="chains are not combined"):
        hiddenite.induce(TEXT, 3, model="pyp", iterations=1).consensus()


def state_of(run: Induction) -> tuple[object, ...]:
    return (
        run.tags(),
        [s.log_joint.tolist() for s in run.history],
        run.confidence().tolist(),
        run.parameters(),
    )


@pytest.mark.parametrize("stop", [1, 3, 5])
def test_a_saved_consensus_goes_on_bit_by_bit(tmp_path: Path, stop: int) -> None:
    whole = run_of().run()
    run = run_of(threads=1)
    for _ in itertools.islice(run, stop):
        pass
    assert {t for s in run.tags() for t in s} <= set(run.names)  # while there are more tags, too
    run.save(tmp_path / "run")
    again = Induction.load(tmp_path / "run")
    assert again.tags() == run.tags()
    assert state_of(again.run()) == state_of(whole)
    assert state_of(run_of(seed=2).run()) != state_of(whole)


@pytest.mark.parametrize("text", [["a"], ["a", "b", "a", "c"], ["a a a"], ["🙂 𝒳 🙂"]])
@pytest.mark.parametrize("tags", [1, 2, 30])
def test_odd_texts(text: list[str], tags: int) -> None:
    run = hiddenite.induce(text, tags, start_iterations=1, iterations=2, seed=1).run()
    assert [len(t) for t in run.tags()] == [len(s.split()) for s in text]
    assert run.export().tag(text[0] + " unseen").certificate.exact


def test_without_a_first_stage_nothing_is_merged() -> None:
    run = run_of(start_iterations=0, chains=1).run()
    assert len(run.history) == 4
    assert run.consensus().chains == (0,)
    assert ((run.confidence() > 0) & (run.confidence() <= 1.0)).all()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"model": "lex", "width": 2.0}, "width has no effect with model lex"),
        ({"model": "pyp", "tolerance": 0.5}, "tolerance has no effect with model pyp"),
        ({"chains": 1, "tolerance": 0.5}, "tolerance has no effect with one chain"),
        ({"start_iterations": 0, "width": 2.0}, "width has no effect with start_iterations 0"),
        ({"model": "pyp", "start_iterations": 3}, "start_iterations has no effect"),
        ({"model": "one-tag", "start": "mixed"}, "mixed, which needs the model consensus"),
        ({"start": "one-tag"}, "cannot start from itself"),
        ({"variant": "heads"}, "variant has no effect with model consensus"),
        ({"particles": 5}, "particles has no effect"),
        ({"width": 0.5}, "width is 0.5, expected 1 to 8"),
    ],
)
def test_options_without_effect_are_refused(options: dict[str, Any], error: str) -> None:
    with pytest.raises(HiddeniteError, match=error):
        InduceOptions(tags=3, **options)


def agreement(labels: Labels, classes: NDArray[Any], weights: Any, num_classes: int) -> float:
    """The weight on which rows agree with the classes, under their best names."""
    return sum(shared_by_all_matchings(row, classes, weights, num_classes) for row in labels)


def told(text: Text, labels: Labels, classes: NDArray[Any], weights: NDArray[Any]) -> float:
    """Nats that classes tell of the rows' labels, by the definition, and of the next word's class."""
    of_rows = 0.0
    for row in labels.tolist():
        joint: dict[tuple[int, int], float] = {}
        for c, label, weight in zip(classes.tolist(), row, weights.tolist(), strict=True):
            joint[c, label] = joint.get((c, label), 0.0) + weight
        for (c, label), n in joint.items():
            left = sum(m for (a, _), m in joint.items() if a == c)
            right = sum(m for (_, b), m in joint.items() if b == label)
            if n > 0:
                of_rows += n / weights.sum() * math.log(n * weights.sum() / (left * right))
    tags, offsets, num_classes = classes[text.tokens].tolist(), text.bounds().tolist(), int(classes.max()) + 1
    pairs = len(tags) + len(offsets) - 1
    of_next = mutual_information(tags, offsets, list(range(num_classes)), num_classes) / pairs
    return of_rows / len(labels) + of_next


@given(witnesses(), st.integers(0, 2**32 - 1))
def test_of_the_ends_of_voting_the_most_telling_one_is_taken(
    case: tuple[Labels, NDArray[np.float64], int], seed: int
) -> None:
    """Weight and nats are those of the classes, nothing is gained from there, no beginning ends better."""
    labels, weights, num_classes = case
    random = np.random.default_rng(seed)
    text = text_of(random.integers(1, 4, size=len(weights)), random)
    beginnings = random.integers(num_classes, size=(4, len(weights)), dtype=np.int32)

    def end(rows: NDArray[Any]) -> tuple[NDArray[Any], float, float]:
        return most_telling(labels, weights, num_classes, rows, text.tokens, text.bounds())

    classes, weight, nats = end(beginnings)
    assert weight == agreement(labels, classes, weights, num_classes)
    assert nats == pytest.approx(told(text, labels, classes, weights), abs=ATOL)
    again, same, _ = end(classes[None])
    assert (again.tolist(), same) == (classes.tolist(), weight)
    alone = [end(row[None]) for row in beginnings]
    for row, one in zip(beginnings, alone, strict=True):
        assert one[1] >= agreement(labels, row, weights, num_classes)
    assert nats >= max(one[2] for one in alone) - ATOL


def test_nats_are_of_neighbours_too() -> None:
    """The twin: the same classes of the same words, in another order."""
    labels, weights = np.array([[0, 1]], np.int32), np.array([2.0, 2.0])
    nats = [
        most_telling(labels, weights, 2, labels, np.array(tokens, np.int32), np.array([0, 4]))[2]
        for tokens in ([0, 1, 0, 1], [0, 0, 1, 1])
    ]
    assert nats[0] > nats[1] + 0.1


def test_many_chains_get_the_most_telling_classes_that_they_agree_on(rng: np.random.Generator) -> None:
    labels, text = rng.integers(4, size=(8, 300)).astype(np.int32), text_of(np.ones(300, int), rng)
    weights = np.ones(300)
    found = agree(text, labels, 4)
    best = told(text, labels, found.classes, weights)
    place = (text.tokens, text.bounds())
    ends = [most_telling(labels, weights, 4, row[None], *place)[2] for row in labels]
    assert best >= max(ends) - ATOL
    assert min(ends) < max(ends)  # where voting begins matters
    one_vote = vote(labels, weights, 4, 0)
    assert best > told(text, labels, one_vote, weights)  # the twin


@pytest.mark.parametrize("ordered", [0, 1])
def test_neighbours_decide_between_halves_of_the_chains(rng: np.random.Generator, ordered: int) -> None:
    """Two partitions on which as many chains agree; the text goes round the classes of one of them."""
    halves = (np.arange(400, dtype=np.int32) % 4, np.arange(400, dtype=np.int32) // 100)
    labels = np.array([rng.permutation(4)[half] for half in halves for _ in range(4)], np.int32)
    of_class = [rng.permutation(np.flatnonzero(halves[ordered] == c)) for c in range(4)]
    tokens = np.array(of_class, np.int32).T.reshape(-1)
    text = Text(tuple(f"w{i}" for i in range(400)), tokens, np.array([0, 400], np.int64))
    assert partition(agree(text, labels, 4).classes) == partition(halves[ordered])


def test_groups_are_drawn_by_the_seed_and_only_of_many_chains(rng: np.random.Generator) -> None:
    text = text_of(np.ones(300, int), rng)
    for num_chains, draws in ((7, 0), (8, 1)):
        labels = np.array([rng.integers(4, size=300) for _ in range(num_chains)], np.int32)  # no agreement
        random = np.random.default_rng(1)
        found = find_consensus(text, labels, 4, range(num_chains), random)
        assert (random.random() != np.random.default_rng(1).random()) == bool(draws)
        assert found == agree(text, labels, 4)
        assert found.probabilities.sum(axis=1) == pytest.approx(np.ones(300))


def test_labels_that_do_not_occur_need_no_match() -> None:
    labels, target = np.array([5, 5, 2, 0], np.int32), np.array([1, 1, 7, 7], np.int32)
    found = match_labels(labels, target, np.array([1.0, 1.0, 3.0, 1.0]), 9)
    assert found[:3].tolist() == [1, 1, 7]
    assert found[3] not in (1, 7)
