"""Context emissions: sums against enumeration, gradients against differences, model files, choices."""

import dataclasses
import itertools
import math
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import ModelError, NgramModel, Tagger, TaggerOptions
from hiddenite._core import ContextTrainer, TagParts, tag_lattice_marginals
from hiddenite.tag import OrderTrial, choice
from hiddenite.tag.annotation import TrainingText
from hiddenite.tag.choice import _try_fold, split_folds
from hiddenite.tag.context import scaled
from hiddenite.tag.knowledge import NO_KNOWLEDGE
from hiddenite.tag.model import TaggerModel
from hiddenite.tag.training import train_model, train_words
from hiddenite.tag.transitions import train_transitions
from tests.enumeration import log_sum
from tests.strategies import examples

TAGS = ["N", "V", "D"]
SENTENCES = [
    [("The", "D"), ("dog", "N"), ("barks", "V")],
    [("A", "D"), ("cat", "N"), ("sleeps", "V")],
    [("Dogs", "N"), ("bark", "V")],
    [("The", "D"), ("bark", "N"), ("sleeps", "V")],
    [("cats", "N"), ("bark", "V"), ("the", "D"), ("dog", "N")],
] * 2
NO_TAG = 0xFFFFFFFF


def tag_model(order: int, power: float) -> NgramModel:
    return scaled(train_transitions([[t for _, t in s] for s in SENTENCES], order, "kneser-ney"), power)


# Sums over tag sequences


@examples(0.5)
@given(st.data(), st.integers(1, 4), st.sampled_from([0.5, 1.0, 2.0]))
def test_sums_are_those_of_all_sequences(data: st.DataObject, order: int, power: float) -> None:
    model = tag_model(order, power)
    ids = [model.vocabulary.id(t) for t in TAGS]
    scores = st.floats(-5, 5)
    slot = st.lists(st.tuples(st.sampled_from(ids), scores), min_size=1, max_size=3, unique_by=lambda c: c[0])
    slots = data.draw(st.lists(slot, min_size=1, max_size=4))
    names = list(model.vocabulary)
    paths = []
    for path in itertools.product(*(range(len(s)) for s in slots)):
        symbols = [names[slots[i][c][0]] for i, c in enumerate(path)]
        value = sum(slots[i][c][1] for i, c in enumerate(path))
        history = ["<s>"]
        for symbol in [*symbols, "</s>"]:
            value += max(model.log_prob(symbol, history), -30.0)
            history.append(symbol)
        paths.append((path, value))
    total = log_sum([value for _, value in paths])
    log_total, marginals = tag_lattice_marginals(model._table, slots)
    assert log_total == pytest.approx(total, abs=1e-5)  # the table is of floats
    expected = [
        sum(math.exp(v - total) for path, v in paths if path[i] == c)
        for i, s in enumerate(slots)
        for c in range(len(s))
    ]
    assert marginals == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("power", [0.5, 2.0])
def test_a_scaled_model_has_powers(power: float) -> None:
    one, other = tag_model(3, 1.0), tag_model(3, power)
    for context in (["<s>"], ["<s>", "D"], ["N", "V"], ["V", "V"]):
        for tag in [*TAGS, "</s>"]:
            assert other.log_prob(tag, context) == pytest.approx(power * one.log_prob(tag, context), abs=1e-5)


# Gradients


NO_EVIDENCE = (np.zeros(0, np.uint64), np.zeros(0, np.uint32), np.zeros(0))


def trainer(
    tags: Sequence[int], structured: bool, evidence: tuple[Any, Any, Any] = NO_EVIDENCE
) -> ContextTrainer:
    words = sorted({w for s in SENTENCES for w, _ in s})
    made = ContextTrainer(
        TagParts(3),
        words,
        np.array([words.index(w) for s in SENTENCES for w, _ in s], dtype=np.uint32),
        np.array(tags, dtype=np.uint32),
        np.array(tags, dtype=np.uint32),
        np.cumsum([0, *map(len, SENTENCES)]).astype(np.uint64),
        *evidence,
        train_words(TrainingText(SENTENCES), TaggerOptions(epochs=2)).guesser.guesser(),
        0.3,
        0.5,
        0.15,
        1.0,
        1e9,  # all tags are in the lattice: a margin's edge has no derivative
        False,
        1,
    )
    if structured:
        model = tag_model(3, 0.5)
        rows = [(i, "", math.log((i + 1) / 6), [model.vocabulary.id(t)]) for i, t in enumerate(sorted(TAGS))]
        made.set_transitions([model._table], np.zeros(len(SENTENCES), dtype=np.uint32), rows)
    return made


@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize("known", ["all", "some", "evidence"])
def test_gradients_are_those_of_differences(structured: bool, known: str) -> None:
    tags = [sorted(TAGS).index(t) for s in SENTENCES for _, t in s]
    evidence = NO_EVIDENCE
    if known != "all":
        tags[1::3] = [NO_TAG] * len(tags[1::3])
    if known == "evidence":  # of every second of them, for two of the tags
        rows = [2 if i % 6 == 1 else 0 for i in range(len(tags))]
        values = [np.log(0.7), np.log(0.2)] * (sum(rows) // 2)
        evidence = (
            np.cumsum([0, *rows]).astype(np.uint64),
            np.array([0, 2] * (sum(rows) // 2), np.uint32),
            np.array(values),
        )
    made = trainer(tags, structured, evidence)
    generator = np.random.default_rng(1)
    weights = generator.normal(0, 0.3, len(made.weights)).astype(np.float32)
    made.weights = weights
    gradient = made.gradient(structured)
    assert np.abs(gradient).max() > 0.1
    for _ in range(20):
        direction = generator.normal(0, 1, len(weights)).astype(np.float32)
        step = 1e-3
        values = []
        for sign in (1, -1):
            made.weights = (weights + np.float32(sign * step) * direction).astype(np.float32)
            values.append(made.log_likelihood(structured))
        slope = (values[0] - values[1]) / (2 * step)
        assert slope == pytest.approx(float(gradient @ direction), rel=1e-2, abs=2e-2)  # weights are floats


def test_epochs_raise_the_likelihood() -> None:
    tags = [sorted(TAGS).index(t) for s in SENTENCES for _, t in s]
    made = trainer(tags, True)
    before = made.log_likelihood(True)
    made.local_epoch(0.2)
    made.structured_epoch(0.1)
    assert made.log_likelihood(True) > before


# Taggers


def test_training_is_the_same_each_time_and_saved_whole(tmp_path: Path) -> None:
    for name in ("a", "b"):
        Tagger.train(SENTENCES, order=3).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    loaded, trained = Tagger.load(tmp_path / "a"), Tagger.train(SENTENCES, order=3)
    words = ["The", "dogs", "sleep", ",", "Zorro", "barks"]
    assert loaded.tag(words) == trained.tag(words)
    assert loaded.marginals(words) == trained.marginals(words)
    loaded.save(tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes()


def test_neighbours_tell_words_apart() -> None:
    sentences = [[("x", "A"), ("zig", "P"), ("l", "B")], [("y", "A"), ("zig", "Q"), ("r", "B")]] * 20
    tagger = Tagger.train(sentences, order=2)
    assert tagger.tag("x zig l").tags[1] == "P"
    assert tagger.tag("y zig r").tags[1] == "Q"


def test_answers_are_the_best_of_all_sequences() -> None:
    tagger = Tagger.train(SENTENCES, order=3, lexicalize=2)
    words = ["The", "dog", "bark", "sleeps", "cats"]
    model = tagger.model.transitions
    candidates = tagger.candidates(words)
    slots = [candidates.slot(i) for i in range(len(words))]
    best = -math.inf
    for path in itertools.product(*slots):
        value = sum(weight for _, weight in path)
        history = ["<s>"]
        for symbol in [*(name for name, _ in path), "</s>"]:
            value += model.log_prob(symbol, history)
            history.append(symbol)
        best = max(best, value)
    found = tagger.tag(words)
    assert found.certificate.exact
    assert found.log_weight == pytest.approx(best, abs=1e-5)


def test_order_and_settings_are_chosen_by_cross_validation() -> None:
    trials: list[OrderTrial] = []
    tagger = Tagger.train(SENTENCES, order="auto", on_trial=trials.append, lexicalize=1)
    assert list(tagger.trials) == trials
    assert len(trials) == 6
    assert {t.order for t in trials} == {2, 3}
    assert tagger.order in {2, 3}
    assert all(t.on_all for t in trials)
    best = max(t.accuracy for t in trials if t.setting.startswith("sharp") and t.on_all)
    assert any(t.order == tagger.order and t.accuracy == best for t in trials)
    again = Tagger.train(SENTENCES, order="auto", lexicalize=1)
    assert again.model.options == tagger.model.options
    with pytest.raises(ModelError, match="expected at least 10"):
        Tagger.train(SENTENCES[:9], order="auto")


def test_the_better_half_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "FEW_SENTENCES", len(SENTENCES))
    tagger = Tagger.train(SENTENCES, order="auto", lexicalize=1)
    assert [t.on_all for t in tagger.trials].count(True) in {3, 4, 5}  # smooth and its twin may go with them
    first = [t.accuracy for t in tagger.trials if not t.on_all and t.setting.startswith("sharp")]
    assert len(first) in {1, 2}


def total_weight(model: TaggerModel, gold: Sequence[object]) -> int:
    assert model.context is not None
    return round(1000 * float(np.abs(model.context.weight).sum(dtype=np.float64)))


def test_trials_that_share_a_local_stage_learn_what_a_training_learns() -> None:
    fold = split_folds(TrainingText(SENTENCES * 2), 2)[0]
    local = TaggerOptions(lexicalize=1, structured_epochs=0)
    settings = [local, dataclasses.replace(local, structured_epochs=3)]
    found = _try_fold(fold, settings, total_weight, NO_KNOWLEDGE)
    for options in settings:
        assert found[options] == total_weight(train_model(fold[0], options), [])
    assert found[settings[0]] != found[settings[1]]


def test_forms_of_unicode_are_one_word() -> None:
    composed = [[("caf\u00e9", "N"), ("d\u00e9j\u00e0", "V")]] * 4
    split = [[(unicodedata.normalize("NFD", w), t) for w, t in s] for s in composed]
    taggers = [Tagger.train(sentences, order=2) for sentences in (composed, split)]
    for tagger in taggers:
        for sentence in (composed[0], split[0]):
            words = [w for w, _ in sentence]
            found = tagger.tag(words)
            assert found.words == tuple(words)  # as they were given
            assert found == taggers[0].tag(words)
            assert tagger.known_words([words]) == [True, True]
            assert tagger.knows(words[0])
            assert tagger.marginals(words).slots == taggers[0].marginals(words).slots
    other = Tagger.train(composed, order=2, normal_form="none")
    assert not other.knows(split[0][0][0])
