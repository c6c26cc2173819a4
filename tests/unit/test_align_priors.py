"""What is known before training: dictionaries, priors in eflomal's format, and text as it is normalised."""

from pathlib import Path

import numpy as np
import pytest

from hiddenite import AlignerOptions, FormatError
from hiddenite.align import Aligner, Bitext, Training
from hiddenite.align.bitext import normalize_text
from hiddenite.align.priors import Priors

OPTIONS = AlignerOptions(model1_sweeps=4, hmm_sweeps=4, fertility_sweeps=10, chains=2)
# Two words that always meet two others: nothing but a dictionary says which is which.
TWINS = [("red car", "x y"), ("car red", "y x"), ("red car", "y x"), ("car red", "x y")] * 6


def probability(prior: Priors | None, pair: tuple[int, int]) -> float:
    earlier = None if prior is None else prior.model(OPTIONS)
    training = Training(Bitext.of(TWINS), OPTIONS, seed=1, earlier=earlier).run()
    return float(np.mean([p[pair] for p in training.link_probabilities(0)]))


@pytest.mark.parametrize("words", [("red\tx\n", (0, 0)), ("red\ty\t1\n", (0, 1)), ("RED\ty\t1\n", (0, 1))])
def test_a_dictionary_decides_what_the_text_leaves_open(
    tmp_path: Path, words: tuple[str, tuple[int, int]]
) -> None:
    (tmp_path / "lexicon").write_text(
        words[0].replace("\n", "0\n") if words[0].count("\t") == 2 else words[0] * 10
    )
    prior = Priors()
    prior.add_lexicon(tmp_path / "lexicon")
    assert probability(prior, words[1]) > 0.9


def test_priors_of_eflomal_are_counts(tmp_path: Path) -> None:
    (tmp_path / "priors").write_text(
        "LEX\tred\tx\t10\nFERF\tred\t2\t5\nFERR\tx\t1\t5\nHMMF\t1\t3\nHMMR\t-2\t4\n"
    )
    prior = Priors()
    prior.add_eflomal(tmp_path / "priors")
    tables = prior.model(OPTIONS).tables
    assert tables.words == [["red"], ["x"]]
    assert [counts.tolist() for counts in tables.pair_count] == [[10], [10]]
    assert tables.fertility[0][2] == 5
    most = OPTIONS.max_jump
    assert [tables.jumps(d)[1][most + jump] for d, jump in ((0, 1), (1, -2))] == [3, 4]
    assert probability(prior, (0, 0)) > 0.9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("red\n", "expected word TAB word"),
        ("red\tx\tmany\n", "expected a count"),
        ("red\tx\t-1\n", "expected a count"),
    ],
)
def test_bad_dictionaries_are_refused_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "lexicon").write_text("a\tb\n" + text)
    with pytest.raises(FormatError, match=message) as found:
        Priors().add_lexicon(tmp_path / "lexicon")
    assert found.value.line == 2


def test_bad_priors_are_refused_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "priors").write_text("LEX\ta\tb\t1\nLEX\ta\tb\n")
    with pytest.raises(FormatError, match="expected LEX") as found:
        Priors().add_eflomal(tmp_path / "priors")
    assert found.value.line == 2


def test_text_is_normalised_piece_by_piece_and_keeps_its_words() -> None:
    text = "\n".join(["The HOUSE É e\u0301 Straße ἘΝ"] * 40_000).encode() + b"\n"
    found = normalize_text(text)
    assert found.count(b"\n") == 40_000
    assert found.split(b"\n")[39_999].decode() == "the house é é straße ἐν"
    assert len(found.split()) == len(text.split())
    assert normalize_text(b"\xff A") == b"\xff A"


def test_models_see_text_as_it_was_learnt() -> None:
    pairs = [("The house", "La maison"), ("the dog", "le chien"), ("a house", "une Maison")] * 5
    aligner = Aligner.train(pairs, seed=1, options=OPTIONS)
    assert aligner.align("THE HOUSE", "la MAISON").links == aligner.align("the house", "la maison").links
    one, two = aligner.hmm("The", "La"), aligner.hmm("the", "la")
    assert one.log_weight(np.array([1], np.uint32)) == two.log_weight(np.array([1], np.uint32))
    as_written = AlignerOptions(normalize=False, chains=1, model1_sweeps=2, hmm_sweeps=2, fertility_sweeps=4)
    assert "The" in Aligner.train(pairs, seed=1, options=as_written).model.tables.words[0]
