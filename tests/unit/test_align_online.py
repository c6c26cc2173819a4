"""An aligner that learns pair by pair: its counts against those of a model made of the same links."""

import time
from pathlib import Path

import numpy as np
import pytest

from hiddenite import AlignerOptions
from hiddenite.align import Aligner, OnlineAligner

OPTIONS = AlignerOptions(model1_sweeps=4, hmm_sweeps=4, fertility_sweeps=10, chains=2)
PAIRS = [
    ("the house", "la maison"),
    ("the dog", "le chien"),
    ("a house", "une maison"),
    ("a dog", "un chien"),
] * 4


@pytest.fixture
def aligner() -> Aligner:
    return Aligner.train(PAIRS, seed=1, options=OPTIONS)


def test_a_learnt_model_is_that_of_its_tables(tmp_path: Path, aligner: Aligner) -> None:
    """Sums that the model keeps beside its counts are those that a fresh model makes of the same counts."""
    online = OnlineAligner(aligner)
    for pair in [
        ("the red house", "la maison rouge"),
        ("red dog", "chien rouge"),
        ("", "la"),
        ("the the", "le le la"),
    ]:
        online.learn(*pair)
    online.save(tmp_path / "model")
    loaded = Aligner.load(tmp_path / "model")
    for pair in [("the red dog", "le chien rouge"), ("new house", "nouvelle maison"), ("a b", "c")]:
        for reverse in (False, True):
            one, two = (a.hmm(*pair, reverse=reverse).weights() for a in (online.aligner(), loaded))
            for a, b in zip(one, two, strict=True):
                assert np.allclose(a, b, atol=1e-9)  # a few dozen additions of numbers below 100


def test_learning_counts_each_link_once(aligner: Aligner) -> None:
    before = aligner.model.tables
    online = OnlineAligner(aligner)
    answer = online.learn("the house", "la maison")
    assert answer.links == ((0, 0), (1, 1))
    after = online.aligner().model.tables
    for d in (0, 1):
        grown = after.pair_count[d].sum() + after.null_count[d].sum()
        assert grown - before.pair_count[d].sum() - before.null_count[d].sum() == pytest.approx(2, abs=1e-3)
        assert after.fertility[d].sum() - before.fertility[d].sum() == pytest.approx(2, abs=1e-3)
    assert (
        aligner.model.tables.word_count[0].sum() == before.word_count[0].sum()
    )  # the first one is as it was


def test_new_words_are_learnt(aligner: Aligner) -> None:
    online = OnlineAligner(aligner)
    for _ in range(3):
        online.learn("the zyx", "la qwv")
    e_to_f = online.aligner().hmm("zyx", "qwv").weights()[0].reshape(1, 2)[0, 1]
    assert e_to_f > aligner.hmm("zyx", "qwv").weights()[0].reshape(1, 2)[0, 1] + 1


def test_a_pair_takes_a_millisecond(aligner: Aligner) -> None:
    online = OnlineAligner(aligner)
    begun = time.process_time()
    for _ in range(100):
        online.learn("the dog the house a dog a house", "le chien la maison un chien une maison")
    assert (time.process_time() - begun) / 100 < 0.005  # a millisecond on a machine of its own
