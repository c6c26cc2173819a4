"""The aligner on made-up languages: what it recovers, that seeds fix every bit, and files that keep them."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from hiddenite import Aligner, AlignerOptions, FormatError, ModelError
from hiddenite._core import GibbsOptions
from hiddenite.align import Alignment, Bitext, CorpusDecoding, Question, Training, align_corpus
from hiddenite.align.corpus import DECODERS
from hiddenite.align.evaluation import score
from hiddenite.align.links import GoldLinks, Link
from hiddenite.errors import OptionError
from hiddenite.files.container import write_members
from hiddenite.results import Failure

QUICK = AlignerOptions(model1_sweeps=4, hmm_sweeps=4, fertility_sweeps=10, chains=2)


def toy_language(
    rng: np.random.Generator, num_pairs: int, num_words: int = 30
) -> tuple[list[tuple[list[str], list[str]]], list[GoldLinks]]:
    """Sentences whose translation has other words, neighbours swapped at every other place."""
    pairs, gold = [], []
    for _ in range(num_pairs):
        words = rng.choice(num_words, size=rng.integers(3, 9), replace=False)
        order = np.arange(len(words))
        for place in range(0, len(order) - 1, 2):
            if rng.random() < 0.5:
                order[[place, place + 1]] = order[[place + 1, place]]
        links = frozenset((int(i), j) for j, i in enumerate(order))
        pairs.append(([f"e{w}" for w in words], [f"{w}f" for w in words[order]]))
        gold.append(GoldLinks(links, links))
    return pairs, gold


def links_of(results: object) -> list[tuple[Link, ...]]:
    found = list(results)  # type: ignore[call-overload]
    assert not any(isinstance(one, Failure) for one in found)
    return [one.links for one in found]


@pytest.fixture
def pairs(rng: np.random.Generator) -> list[tuple[list[str], list[str]]]:
    return toy_language(rng, 60)[0]


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_permuted_language_is_recovered(rng: np.random.Generator, decoder: str) -> None:
    pairs, gold = toy_language(rng, 200)
    training = Training(Bitext.of(pairs), QUICK, seed=1).run()
    found = links_of(align_corpus(training, CorpusDecoding(decoder)))
    assert score(gold, found).aer < 0.03


@pytest.mark.parametrize("decoder", DECODERS)
def test_threads_change_nothing(pairs: list[tuple[list[str], list[str]]], decoder: str) -> None:
    results = []
    for threads in (1, 3):
        training = Training(Bitext.of(pairs), QUICK, seed=7, threads=threads).run()
        results.append(
            [one.to_dict() for one in align_corpus(training, CorpusDecoding(decoder), threads=threads)]
        )
    assert results[0] == results[1]


def saved(training: Training, path: Path) -> bytes:
    Aligner.from_training(training).save(path)
    return path.read_bytes()


@pytest.mark.parametrize("stop", [1, 6, 12, 17])
def test_a_checkpoint_goes_on_with_the_same_bits(
    tmp_path: Path, pairs: list[tuple[list[str], list[str]]], stop: int
) -> None:
    bitext, checkpoint = Bitext.of(pairs), tmp_path / "checkpoint"
    whole = Training(bitext, QUICK, seed=3).run()
    begun = Training(bitext, QUICK, seed=3, checkpoint=checkpoint)
    for sweep in begun:
        if sweep.number == stop:
            break
    resumed = Training(bitext, QUICK, seed=3, checkpoint=checkpoint)
    assert resumed.num_sweeps_done == stop
    resumed.run()
    for sentence in range(len(pairs)):
        for a, b in zip(
            whole.link_probabilities(sentence), resumed.link_probabilities(sentence), strict=True
        ):
            assert (a == b).all()
    assert saved(whole, tmp_path / "a") == saved(resumed, tmp_path / "b")


def test_a_checkpoint_of_something_else_is_refused(
    tmp_path: Path, pairs: list[tuple[list[str], list[str]]]
) -> None:
    checkpoint = tmp_path / "checkpoint"
    next(iter(Training(Bitext.of(pairs), QUICK, seed=3, checkpoint=checkpoint)))
    with pytest.raises(FormatError, match="another seed; delete it"):
        Training(Bitext.of(pairs), QUICK, seed=4, checkpoint=checkpoint)
    with pytest.raises(FormatError, match="another source text"):
        Training(Bitext.of(pairs[1:]), QUICK, seed=3, checkpoint=checkpoint)
    other = dataclasses.replace(QUICK, coupling=3.0)
    with pytest.raises(FormatError, match="another options"):
        Training(Bitext.of(pairs), other, seed=3, checkpoint=checkpoint)
    checkpoint.write_bytes(checkpoint.read_bytes()[:-200])
    with pytest.raises(FormatError, match="is cut short"):
        Training(Bitext.of(pairs), QUICK, seed=3, checkpoint=checkpoint)


def test_a_saved_model_answers_the_same(tmp_path: Path, pairs: list[tuple[list[str], list[str]]]) -> None:
    aligner = Aligner.train(pairs, seed=1, options=QUICK)
    aligner.save(tmp_path / "model")
    loaded = Aligner.load(tmp_path / "model")
    asked = [*pairs, (["new"], ["words", "1f"]), ([], ["1f"]), (["e1"], []), ([], [])]
    question = Question(marginals="samples", samples=20, seed=5)
    one, two = ([r.to_dict() for r in a.ask(asked, question)] for a in (aligner, loaded))
    assert one == two
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_a_damaged_model_is_refused(tmp_path: Path, pairs: list[tuple[list[str], list[str]]]) -> None:
    path = tmp_path / "model"
    Aligner.train(pairs, seed=1, options=QUICK).save(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(FormatError, match="train it again"):
        Aligner.load(path)
    with path.open("wb") as out:
        header = b'{"format": "hiddenite aligner", "version": 99}'
        write_members(out, [("header.json", header)], compress=False)
    with pytest.raises(FormatError, match="has version 99, expected 1"):
        Aligner.load(path)
    with pytest.raises(FormatError, match="cannot be opened"):
        Aligner.load(tmp_path / "absent")


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    pairs, _ = toy_language(np.random.default_rng(1), 60)
    return Aligner.train(pairs, seed=1, options=QUICK)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_kbest_and_samples_of_one_direction(aligner: Aligner, direction: str) -> None:
    e, f = "e1 e2 e3 e4", "2f 1f 4f 3f"
    best = aligner.align(e, f, direction=direction, k=5)  # type: ignore[arg-type]
    weights = [one.log_weight for one in best.kbest]
    assert weights == sorted(weights, reverse=True)
    assert best.links == best.kbest[0].links
    assert best.certificate is not None
    assert best.certificate.exact
    drawn = aligner.align(e, f, direction=direction, samples=400, seed=1)  # type: ignore[arg-type]
    assert drawn.sampling is not None
    assert drawn.sampling.draws == 400
    assert drawn.sampling.trials >= 400
    assert drawn.probabilities is not None
    generated = drawn.probabilities.sum(axis=0 if direction == "forward" else 1)
    assert (generated < 1 + 1e-5).all()  # NULL has the rest
    for i, j, p in drawn.to_dict()["probabilities"]:
        assert p == pytest.approx(drawn.probabilities[int(i), int(j)], abs=1e-6)


def test_both_directions_add_up(aligner: Aligner) -> None:
    e, f = "e1 e2 e3", "2f 1f 3f"
    both = aligner.align(e, f, symmetrize="union")
    one, two = (aligner.align(e, f, direction=d) for d in ("forward", "reverse"))
    assert both.log_weight == pytest.approx((one.log_weight or 0) + (two.log_weight or 0))
    assert set(both.links or ()) == set(one.links or ()) | set(two.links or ())
    viterbi = aligner.align(e, f, method="viterbi")
    assert (viterbi.log_weight or 0) <= (both.log_weight or 0) + 1e-9
    assert viterbi.certificate is not None
    assert not viterbi.certificate.exact


def test_empty_sides_have_no_links(aligner: Aligner) -> None:
    for e, f in (("", "1f"), ("e1", ""), ("", "")):
        answer = aligner.align(e, f, samples=5)
        assert answer.links == ()
        assert answer.log_weight is not None
        assert math.isfinite(answer.log_weight)


def test_texts_of_empty_sides_train() -> None:
    for pairs in ([], [("a", ""), ("", "b"), ("", "")], [("a", "b")], [("<s> a </s>", "<unk> b")] * 3):
        training = Training(Bitext.of(pairs), QUICK, seed=1).run()
        for decoder in DECODERS:
            results = list(align_corpus(training, CorpusDecoding(decoder)))
            assert len(results) == len(pairs)
            assert all(isinstance(one, Alignment) for one in results)


def test_a_bad_record_stops_no_other(aligner: Aligner) -> None:
    results = list(aligner.align_many([("e1", "1f"), ("e1\0", "1f"), ("e2", "2f")], threads=2))
    assert [isinstance(one, Failure) for one in results] == [False, True, False]
    assert [one.id for one in results] == [1, 2, 3]


def test_refused_questions() -> None:
    with pytest.raises(OptionError, match="did you mean exact"):
        Question(method="exakt")
    with pytest.raises(ModelError, match="one direction"):
        Question(k=2)
    with pytest.raises(ModelError, match="threshold"):
        Question(threshold=2.0)
    with pytest.raises(ModelError, match="coupling is 0"):
        AlignerOptions(coupling=0.0)


def test_options_are_the_cores() -> None:
    core = {name for name in dir(GibbsOptions) if not name.startswith("_")}
    ours = {field.name for field in dataclasses.fields(AlignerOptions)}
    assert ours == core | {"normalize", "string_prior", "fertilities"}


@pytest.mark.parametrize(
    ("pairs", "sweeps", "chains"),
    [
        (100_000, (1, 3, 14), 3),
        (500_000, (1, 3, 14), 1),
        (10**7, (1, 3, 14), 1),
        (250, (2, 8, 38), 9),
        (20_000, (1, 4, 22), 4),
    ],
)
def test_sweeps_follow_the_size_of_the_corpus(pairs: int, sweeps: tuple[int, ...], chains: int) -> None:
    options = AlignerOptions().for_corpus(pairs)
    assert (options.model1_sweeps, options.hmm_sweeps, options.fertility_sweeps) == sweeps
    assert options.chains == chains
    assert AlignerOptions(chains=9).for_corpus(pairs).chains == 9


def test_endings_and_jumps_of_words_are_for_the_links_of_the_text_itself() -> None:
    """A model that is kept has neither, so training for new text, or from a model, leaves them out."""
    bitext = Bitext.of([("the dog", "le chien"), ("the cat", "le chat")])
    first = Training(bitext, seed=1).run()
    kept = Aligner.from_training(first).model
    assert (first.options.ending_weight or 0) > 0
    assert (first.options.jump_words or 0) > 0
    later = Training(bitext, seed=1, earlier=kept).options
    assert (later.ending_weight, later.jump_words) == (0, 0)
    new = AlignerOptions().for_new_text().for_corpus(2)
    assert (new.ending_weight, new.jump_words) == (0, 0)
    assert AlignerOptions(jump_words=7).for_new_text().for_corpus(2).jump_words == 7
    assert AlignerOptions(ending_weight=2).for_new_text().for_corpus(2).ending_weight == 2


def test_an_ending_tells_of_words_that_were_never_seen_before(rng: np.random.Generator) -> None:
    """«-et» generates «the»: each noun is seen once, so that nothing but its ending can say so."""
    letters = list("bcdfghjklmnpqrstvwxz")

    def noun() -> str:
        return "".join(rng.choice(letters, 6))

    verbs = [(noun(), noun()) for _ in range(30)]
    pairs = [(f"the {noun()} {v}", f"{noun()}et {w}") for v, w in verbs * 2]
    pairs += [(f"{noun()} {v}", f"{noun()} {w}") for v, w in verbs * 2]

    def probability(weight: float) -> float:
        options = AlignerOptions(2, 4, 20, chains=3, ending_weight=weight, null_probability=0.02)
        training = Training(Bitext.of(pairs), options, seed=1, threads=1).run()
        return float(np.mean([training.link_probabilities(n)[1][0, 0] for n in range(60)]))

    assert probability(4.0) > probability(0.0) + 0.1


def test_a_word_that_stands_elsewhere_than_others_has_jumps_of_its_own(rng: np.random.Generator) -> None:
    """«xu» follows the next word's translation: of two «yo», only its own jumps say which it is."""
    words = [(f"n{k}", f"m{k}") for k in range(40)]

    def pair(is_clear: bool) -> tuple[str, str]:
        (a, x), (b, y), (c, z) = (words[k] for k in rng.choice(40, 3, replace=False))
        return f"{a} yo {b} {'' if is_clear else 'yo '}{c}", f"{x} {y} xu {z}"

    pairs = [pair(is_clear=n >= 60) for n in range(180)]

    def probability(jump_words: int) -> float:
        options = AlignerOptions(1, 4, 20, chains=3, jump_words=jump_words)
        training = Training(Bitext.of(pairs), options, seed=1, threads=1).run()
        return float(np.mean([training.link_probabilities(n)[0][1, 2] for n in range(60)]))

    assert probability(10) > probability(0) + 0.1
