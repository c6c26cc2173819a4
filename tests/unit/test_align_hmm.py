"""The plain HMM by EM, and new words under a trained model."""

import numpy as np
import pytest

from hiddenite.align import Aligner
from hiddenite.errors import ModelError

WORDS = {"the": "la", "house": "maison", "red": "rouge", "small": "petite", "door": "porte", "old": "vieille"}


def toy_corpus(count: int = 300) -> list[tuple[str, str]]:
    rng = np.random.default_rng(1)
    pairs = []
    for _ in range(count):
        words = rng.choice(list(WORDS), size=rng.integers(2, 6), replace=False)
        pairs.append((" ".join(words), " ".join(WORDS[w] for w in words)))
    return pairs


def test_em_raises_the_likelihood_and_finds_the_links() -> None:
    fits: list[float] = []
    aligner = Aligner.train_hmm(toy_corpus(), on_sweep=lambda sweep: fits.append(sweep.fit))
    for stage in (fits[:5], fits[5:]):
        assert stage == sorted(stage)
    found = aligner.align("the red door", "la rouge porte", method="hmm")
    assert found.links == ((0, 0), (1, 1), (2, 2))
    assert found.certificate is not None
    assert found.certificate.exact


def test_em_does_not_depend_on_threads() -> None:
    one, two = (Aligner.train_hmm(toy_corpus(600), threads=n) for n in (1, 2))
    pair = ("the old house", "la vieille maison")
    assert one.align(*pair).log_weight == two.align(*pair).log_weight


@pytest.mark.parametrize("estimator", ["gibbs", "em"])
def test_new_words_do_not_attract_all_links(estimator: str) -> None:
    corpus = toy_corpus()
    aligner = Aligner.train(corpus, seed=1) if estimator == "gibbs" else Aligner.train_hmm(corpus)
    found = set(aligner.align("the zyx red house", "la rouge maison").links or ())
    assert {(0, 0), (2, 1), (3, 2)} <= found
    assert not any(i == 1 for i, _ in found)


def test_fertilities_are_no_plain_hmm() -> None:
    aligner = Aligner.train(toy_corpus(50), seed=1)
    with pytest.raises(ModelError, match="plain HMM"):
        aligner.align("the door", "la porte", method="hmm")


def test_training_goes_on_from_a_model() -> None:
    """What the first text taught is kept, and helps with a second text too small to learn from."""
    first = Aligner.train(toy_corpus(), seed=1)
    second = [("the old garden", "la vieille jardin"), ("a garden", "une jardin")]
    both = Aligner.train(second, seed=1, earlier=first)
    assert both.align("the red garden", "la rouge jardin").links == ((0, 0), (1, 1), (2, 2))
    tables, before = both.model.tables, first.model.tables
    assert sum(tables.word_count[0]) == sum(before.word_count[0]) + 5
    assert sum(tables.pair_count[0]) + sum(tables.null_count[0]) == pytest.approx(
        sum(before.pair_count[0]) + sum(before.null_count[0]) + 5, rel=0.01
    )
    alone = Aligner.train(second, seed=1)
    pair = ("the old garden", "la vieille jardin")
    links = np.array([1, 2, 3], dtype=np.uint32)
    assert both.hmm(*pair).log_weight(links) > alone.hmm(*pair).log_weight(links)


def test_a_plain_hmm_is_nothing_to_go_on_from() -> None:
    with pytest.raises(ModelError, match="plain HMM"):
        Aligner.train(toy_corpus(20), seed=1, earlier=Aligner.train_hmm(toy_corpus(20)))
