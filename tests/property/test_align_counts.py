"""What training counts, against plain loops: partners, expected links, the best threshold, files."""

import dataclasses
import itertools
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from hiddenite import AlignerOptions
from hiddenite._core import spelling_likeness
from hiddenite.align import Aligner, Bitext, CorpusDecoding, Training, align_corpus
from hiddenite.align.answers import Alignment
from hiddenite.align.decisions import combine
from hiddenite.align.links import format_links
from hiddenite.align.outputs import files_of

QUICK = AlignerOptions(model1_sweeps=2, hmm_sweeps=2, fertility_sweeps=6, chains=2)
WORDS = (
    ["the", "house", "houses", "dog", "old", "maison", "a"],
    ["la", "maison", "maisons", "chien", "a", "old"],
)
sides = [st.lists(st.sampled_from(words), max_size=6) for words in WORDS]
texts = st.lists(st.tuples(*sides), min_size=1, max_size=8)


@settings(max_examples=60)
@given(texts)
def test_partners_and_likeness_are_those_of_all_meetings(pairs: list[tuple[list[str], list[str]]]) -> None:
    tables = Training(Bitext.of(pairs), QUICK, seed=1).run().tables()
    met = {(e, f) for source, target in pairs for e in source for f in target}
    for side in (0, 1):
        for n, word in enumerate(tables.words[side]):
            partners = {pair[1 - side] for pair in met if pair[side] == word}
            assert tables.partners[side][n] == len(partners)
            alike = sum(spelling_likeness(*((word, o) if side == 0 else (o, word))) for o in partners)
            assert tables.likeness[side][n] == pytest.approx(alike, abs=1e-5)


def jumps_inside(links: np.ndarray, lengths: list[int], most: int) -> np.ndarray:
    """Count the jumps of one direction's links; those of 0 are u times the others."""
    counts, later = np.zeros(2 * most + 1), 0
    begins = np.cumsum([0, *lengths])
    for begin, end in itertools.pairwise(begins):
        linked = [int(i) for i in links[begin:end] if i > 0]
        later += len(linked) - len(set(linked))
        for last, i in itertools.pairwise(linked):
            counts[np.clip(i - last, -most, most) + most] += 1
    stays = counts[most]
    counts[most] = 0
    counts[most] = counts.sum() * stays / later if later else 0
    return counts


@settings(max_examples=40)
@given(texts, st.integers(0, 9))
def test_words_of_one_unit_are_charged_once(pairs: list[tuple[list[str], list[str]]], seed: int) -> None:
    options = dataclasses.replace(QUICK, fertility_sweeps=2, chains=1)  # one sweep is collected
    training = Training(Bitext.of(pairs), options, seed=seed, threads=1)
    sweeps = iter(training)
    while training.num_sweeps_done < training.num_sweeps - 1:
        next(sweeps)
    before = [training._trainer.direction(0, d).links.copy() for d in (0, 1)]
    next(sweeps)
    for d in (0, 1):
        expected = jumps_inside(before[d], [len(pair[1 - d]) for pair in pairs], options.max_jump)
        assert np.allclose(training._trainer.direction(0, d).jump_sums[1], expected, atol=1e-9)


@settings(max_examples=40)
@given(texts)
def test_expected_links_add_up_to_the_words(pairs: list[tuple[list[str], list[str]]]) -> None:
    training = Training(Bitext.of(pairs), QUICK, seed=1).run()
    tables = training.tables()
    for d in (0, 1):
        words = sum(len(pair[1 - d]) for pair in pairs)
        # Sums of whole units of 1 / 10922, cut at each of 6 sweeps; pairs below 0.005 are dropped.
        slack = 0.01 + 0.001 * sum(len(e) * len(f) for e, f in pairs) + 0.005 * 49
        assert tables.pair_count[d].sum() + tables.null_count[d].sum() == pytest.approx(words, abs=slack)
    for n, (source, target) in enumerate(pairs):
        forward, reverse = training.link_probabilities(n)
        assert forward.shape == reverse.shape == (len(source), len(target))
        assert (forward.sum(axis=0) <= 1 + 1e-3).all()
        assert (reverse.sum(axis=1) <= 1 + 1e-3).all()


@settings(max_examples=40)
@given(texts)
def test_the_threshold_has_the_greatest_expected_f(pairs: list[tuple[list[str], list[str]]]) -> None:
    training = Training(Bitext.of(pairs), QUICK, seed=1).run()
    p = np.concatenate([combine(training.link_probabilities(n)).ravel() for n in range(len(pairs))])

    def expected_f(threshold: float) -> float:
        taken = p[p >= threshold]
        return float(2 * taken.sum() / max(len(taken) + p.sum(), 1e-12))

    best = max(expected_f(t) for t in np.arange(0.01, 1.0, 0.001))
    # Bins of a thousandth: a probability on the edge of one may fall on either side of it.
    near = max(expected_f(training.best_threshold() + step) for step in (-1e-4, 0, 1e-4))
    assert near >= best - 2e-3
    assert 0.01 <= training.best_threshold() < 1


def test_text_of_links_is_that_of_the_records() -> None:
    pairs = [("the old house", "la maison old"), ("", "la"), ("the dog", "chien"), ("a", "")] * 3
    training = Training(Bitext.of(pairs), QUICK, seed=1).run()
    for direction in ("both", "forward", "reverse"):
        for threshold in (None, 0.2):
            text = b"".join(training.links_text(threshold, direction)).decode()
            decoding = CorpusDecoding("threshold", threshold=threshold, direction=direction)
            records = [one for one in align_corpus(training, decoding) if isinstance(one, Alignment)]
            assert text == "".join(format_links(one.links or ()) + "\n" for one in records)


def test_one_training_writes_all(tmp_path: Path) -> None:
    pairs = [("the house", "la maison"), ("the dog", "le chien"), ("", "la"), ("a house", "une maison")] * 4
    training = Training(Bitext.of(pairs), QUICK, seed=1).run()
    aligner = Aligner.from_training(training)
    lines = {name: list(make()) for name, make in files_of(training, aligner, "union").items()}
    for name in ("forward", "reverse", "symmetrized", "probabilities", "scores"):
        assert len(lines[name]) == len(pairs), name
    for f, r, both in zip(lines["forward"], lines["reverse"], lines["symmetrized"], strict=True):
        assert set(f.split()) | set(r.split()) == set(both.split())
    for number, line in enumerate(lines["probabilities"]):
        p = combine(training.link_probabilities(number))
        found = dict(cell.split(":") for cell in line.split())
        assert {cell: f"{p[tuple(map(int, cell.split('-')))]:.4f}" for cell in found} == found
        assert len(found) == int((p >= 0.01).sum())
    assert (
        lines["scores"][2] == f"{lines['scores'][2].split(chr(9))[0]}\t\n"
    )  # an empty source generates nothing back
    first = lines["scores"][0].split("\t")
    for reverse in (False, True):
        hmm = aligner.hmm(*pairs[0], reverse=reverse)
        assert float(first[reverse]) <= 0
        assert hmm.num_targets == 2
    words = {line.split("\t")[0] for line in lines["write_lexicon"]}
    assert words <= {"the", "house", "dog", "a"}
    for line in lines["write_fertilities"]:
        assert sum(map(float, line.split("\t")[2:])) == pytest.approx(1, abs=1e-3)


def test_small_units_average_to_the_same(rng: np.random.Generator) -> None:
    """More chains make coarser units; the cut evens out over the sweeps, so sums stay near one."""
    pairs = [("the old house", "la maison old"), ("the dog", "chien la")] * 5
    many = dataclasses.replace(QUICK, chains=int(rng.integers(20, 30)))
    training = Training(Bitext.of(pairs), many, seed=1).run()
    forward, _ = training.link_probabilities(0)
    null = 1 - forward.sum(axis=0)
    assert (null > -0.01).all()
