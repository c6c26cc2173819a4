"""Trainings over shards: what an executor does is what one machine does."""

import dataclasses
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hiddenite.align.aligner import Aligner
from hiddenite.align.bitext import Bitext
from hiddenite.align.options import AlignerOptions
from hiddenite.align.shards import cut, em_member, gibbs_member
from hiddenite.align.training import HmmTraining, Training
from hiddenite.counting import ask_here, cut_text, train_shards
from hiddenite.errors import FormatError, ModelError
from hiddenite.executor import LocalExecutor
from hiddenite.induction.chains import chain_member
from hiddenite.induction.induction import Induction
from hiddenite.induction.options import InduceOptions
from hiddenite.induction.text import Text
from hiddenite.ngram import NgramModel
from hiddenite.ngram_training import TrainingOptions
from tests.property.test_aligner import QUICK, toy_language


class ForgetfulExecutor:
    """Makes each task's member anew, as if all had been lost, and begins with the last task."""

    def __init__(self, make: Any, *shared: Any) -> None:
        self._make, self._shared = make, shared

    def step(self, question: Any, tasks: Sequence[Any]) -> list[Any]:
        return [self._make(*self._shared)(question, task) for task in reversed(tasks)][::-1]


@pytest.fixture(scope="module")
def bitext() -> Bitext:
    pairs, _ = toy_language(np.random.default_rng(1), 40)
    return Bitext.of(pairs)


def saved(training: Training | HmmTraining, path: Path) -> bytes:
    for _ in training:
        pass
    Aligner.from_training(training).save(path)
    return path.read_bytes()


def test_sentences_are_shared_out() -> None:
    for sentences, count in ((0, 3), (1, 3), (10, 3), (7, 7)):
        shards = cut(sentences, count)
        assert [shard.number for shard in shards] == list(range(len(shards)))
        assert [s for shard in shards for s in range(shard.begin, shard.end)] == list(range(sentences))
        assert len(shards) == max(1, min(sentences, count))


@pytest.mark.parametrize("shards", [1, 3])
def test_em_over_shards_is_em(tmp_path: Path, bitext: Bitext, shards: int) -> None:
    options = HmmTraining.options_for(bitext, AlignerOptions())
    alone = HmmTraining(bitext, model1=2, hmm=3)
    executor = ForgetfulExecutor(em_member, bitext, options)
    shared = HmmTraining(bitext, model1=2, hmm=3, shards=shards, executor=executor)
    for one, two in zip(alone, shared, strict=True):
        assert two.fit == pytest.approx(one.fit, rel=1e-12)  # sums of the same terms in another order
    assert saved(alone, tmp_path / "a") == saved(shared, tmp_path / "b")


def test_gibbs_with_one_shard_is_gibbs(tmp_path: Path, bitext: Bitext) -> None:
    options = dataclasses.replace(QUICK, chains=2)
    executor = ForgetfulExecutor(gibbs_member, bitext, options.for_corpus(bitext.num_lines), 7)
    alone = Training(bitext, options, seed=7, threads=options.chains or 1)
    shared = Training(bitext, options, seed=7, executor=executor)
    for one, two in zip(alone, shared, strict=True):
        assert two.fit == one.fit
    assert saved(alone, tmp_path / "a") == saved(shared, tmp_path / "b")
    for a, b in zip(alone.link_probabilities(3), shared.link_probabilities(3), strict=True):
        assert (a == b).all()


def test_gibbs_over_shards_is_the_same_for_every_crew(tmp_path: Path, bitext: Bitext) -> None:
    """Also after an interruption; and it is a sampler of its own, not that of one shard."""
    executor = ForgetfulExecutor(gibbs_member, bitext, QUICK.for_corpus(bitext.num_lines), 7)
    local = saved(Training(bitext, QUICK, seed=7, shards=3), tmp_path / "a")
    assert saved(Training(bitext, QUICK, seed=7, shards=3, executor=executor), tmp_path / "b") == local
    fits = [next(iter(Training(bitext, QUICK, seed=7, shards=n))).fit for n in (1, 3)]
    assert fits[0] != fits[1]
    checkpoint = tmp_path / "checkpoint"
    for sweep in Training(bitext, QUICK, seed=7, shards=3, checkpoint=checkpoint):
        if sweep.number == sweep.total - 2:
            break
    again = Training(bitext, QUICK, seed=7, shards=3, checkpoint=checkpoint, executor=executor)
    assert again.num_sweeps_done > 0
    assert saved(again, tmp_path / "d") == local
    with pytest.raises(FormatError, match="another shards"):
        Training(bitext, QUICK, seed=7, checkpoint=checkpoint)


def test_gibbs_over_shards_finds_the_links(bitext: Bitext) -> None:
    """Three shards know the words of a toy language as well as one does."""
    found = []
    for shards in (1, 3):
        training = Training(bitext, QUICK, seed=1, shards=shards).run()
        diagonal = [training.link_probabilities(s)[0] for s in range(len(training))]
        found.append(np.mean([p.max(axis=1).mean() for p in diagonal]))
    assert found[1] == pytest.approx(found[0], abs=0.05)


@pytest.mark.parametrize("model", ["lex+lm", "consensus"])
def test_chains_of_an_induction_elsewhere(model: str) -> None:
    text = Text.of(["the dog barks", "a cat sleeps", "the cat barks", "a dog sleeps"] * 3)
    options = InduceOptions(tags=3, model=model, iterations=23, chains=2, seed=5, start_iterations=4)
    alone = Induction(text, options).run()
    executor = ForgetfulExecutor(chain_member, text, options)
    shared = Induction(text, options, executor=executor).run()
    assert (shared.log_joints() == alone.log_joints()).all()
    assert (shared.log_joints("start") == alone.log_joints("start")).all()
    assert shared.tags() == alone.tags()
    assert shared.lexicon() == alone.lexicon()
    assert shared.best_chain == alone.best_chain
    for one, two in zip(alone._chains, shared._chains, strict=True):
        for name, array in one.state().items():
            assert np.array_equal(np.asarray(array), np.asarray(two.state()[name])), name


@pytest.mark.parametrize(
    "options",
    [
        TrainingOptions(order=3),
        TrainingOptions(order=4, prune=(0, 0, 1), unknown_below=2),
        TrainingOptions(order=2, vocabulary=("the", "dog", "zebra")),
    ],
    ids=["plain", "pruned", "vocabulary"],
)
def test_counted_shards_give_the_same_model(
    tmp_path: Path, options: TrainingOptions, rng: np.random.Generator
) -> None:
    words = ["the", "dog", "a", "cat", "sleeps", "barks", "and", "naïve", "."]
    paths = []
    for n in range(2):
        lines = [" ".join(rng.choice(words, rng.integers(0, 9))) for _ in range(60)]
        paths.append(str(tmp_path / f"{n}.txt"))
        Path(paths[n]).write_text("\n".join(lines) + ("\n" if n == 0 else ""), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        NgramModel.train_files(paths, options).save(tmp_path / "whole.arpa")
        for shard_bytes in (1, 300, 1 << 20):
            train_shards(paths, options, ask_here, shard_bytes).save(tmp_path / "shards.arpa")
            assert (tmp_path / "shards.arpa").read_bytes() == (tmp_path / "whole.arpa").read_bytes()
    assert len(list(cut_text(paths, 300))) >= 2


def test_errors_in_shards_have_their_line(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("a b\n" * 400_000 + "a <s> b\n")  # beyond the first chunk
    assert len(list(cut_text([str(path)], 1000))) > 1
    with pytest.raises(FormatError, match=r"text.txt:400001: found the word <s>"):
        train_shards([str(path)], TrainingOptions(order=2), ask_here, 1000)
    with pytest.raises(ModelError, match="read twice"):
        train_shards(["-"], TrainingOptions(order=2), ask_here)


def test_a_local_crew_answers_in_order() -> None:
    assert LocalExecutor(lambda question, task: question + task).step(1, [2, 3]) == [3, 4]
