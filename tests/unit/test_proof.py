"""Proofs from Python, and what the checker promises of itself."""

import ast
import bz2
import gzip
import lzma
import sys
from pathlib import Path

import pytest

from hiddenite import BudgetExceeded, Candidates, FormatError, ModelError, NgramModel, decode
from hiddenite.checker import ngram as checker
from hiddenite.proof import prove, verify, write_proofs
from tests.models import load, save, train

TEXT = ["a b cc a", "b b a cc", "cc a b", "a a cc b a", "b cc cc a b", "a cc"] * 4
MAX_LINES = 300


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return train(TEXT, 4)


def candidates(model: NgramModel, scale: float = 1.0, length: int = 6) -> Candidates:
    slot = [("a", -0.1 * scale), ("b", -0.2 * scale), ("cc", -0.3 * scale), ("new", -1.5 * scale)]
    return Candidates.from_slots(model.vocabulary, [slot] * length, id="r")


def test_a_proof_and_its_file(model: NgramModel, tmp_path: Path) -> None:
    model.save(tmp_path / "lm.arpa")
    answer = decode(model, candidates(model), proof=True)
    assert answer.proof is not None
    assert (answer.proof.words, answer.proof.log_weight) == (answer.words, answer.log_weight)
    assert "proof" not in answer.to_dict()
    write_proofs(tmp_path / "p.gz", model, [answer, answer.proof])
    verdicts = list(verify(tmp_path / "lm.arpa", tmp_path / "p.gz"))
    assert [(verdict.id, verdict.accepted) for verdict in verdicts] == [("r", True)] * 2
    with pytest.raises(ModelError, match="answer 1 has no proof"):
        write_proofs(tmp_path / "q", model, [decode(model, candidates(model))])
    assert not (tmp_path / "q").exists()


@pytest.mark.parametrize("scale", [1e-6, 1e3, 1e8, 1e12])
def test_weights_of_any_size(model: NgramModel, scale: float) -> None:
    proof = decode(model, candidates(model, scale), method="refine", proof=True).proof
    assert proof is not None
    text = checker.Model(save(model).splitlines(keepends=True))
    assert checker.Record(text, proof.to_dict()).check() < 1e-9


def test_long_texts(model: NgramModel) -> None:
    proof = decode(model, candidates(model, length=400), proof=True).proof
    assert proof is not None
    text = checker.Model(save(model).splitlines(keepends=True))
    assert checker.Record(text, proof.to_dict()).check() < 1e-8


def test_what_has_no_proof(model: NgramModel) -> None:
    known = candidates(model, length=12)
    answer = decode(model, known)
    with pytest.raises(BudgetExceeded, match=r"no proof within 0 refinements, \d+ states") as error:
        prove(model, known, answer, refinements=0)
    assert error.value.partial == answer
    with pytest.raises(BudgetExceeded, match="not certified"):
        decode(model, known, method="refine", budget=0.0, proof=True)
    with pytest.raises(ModelError, match="objective"):
        decode(model, known, objective="mbr", proof=True)
    lattice = Candidates.from_lattice(
        model.vocabulary, [(0, 1, "a", 0.0), (1, 2, "b", 0.0), (0, 2, "b", 0.0)]
    )
    with pytest.raises(ModelError, match="lattice"):
        decode(model, lattice, proof=True)


def test_an_answer_that_is_not_the_best_has_none(model: NgramModel) -> None:
    known = candidates(model)
    best = decode(model, known)
    worse = decode(model, Candidates.from_slots(model.vocabulary, [[("new", 0.0)]] * 6))
    assert best.words != worse.words
    with pytest.raises(ModelError, match="another one weighs more"):
        prove(model, known, worse)


def test_a_model_in_another_file_has_the_same_name(model: NgramModel, tmp_path: Path) -> None:
    model.compile(tmp_path / "lm.bin")
    assert NgramModel.load(tmp_path / "lm.bin").fingerprint == model.fingerprint
    text = save(model)
    for name, pack in (("a.gz", gzip.compress), ("a.bz2", bz2.compress), ("a.xz", lzma.compress)):
        (tmp_path / name).write_bytes(pack(text))
        assert checker.Model(checker.read_lines(str(tmp_path / name))).checksum() == model.fingerprint
    assert train(TEXT[1:], 4).fingerprint != model.fingerprint


def test_names_of_long_n_grams() -> None:
    """Lines of every length, from one block of the hash to several."""
    words = ["w" * n for n in range(1, 140, 3)]
    model = train([" ".join(words), " ".join(reversed(words))], 3)
    assert checker.Model(save(model).splitlines(keepends=True)).checksum() == model.fingerprint


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "A preamble\n\\data\\\nngram 1=1\n\n\\1-grams:\n-1 x\n\n\\end\\\n" + text,
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\t", "  "),
        lambda text: text.replace("<unk>", "<UNK>"),
        lambda text: text.replace("ngram 1=", "ngram 1 = "),
    ],
    ids=["preamble", "bom", "crlf", "blanks", "UNK", "counts"],
)
def test_files_of_other_habits(model: NgramModel, change: object) -> None:
    assert callable(change)
    text = change(save(model).decode())
    assert load(text).fingerprint == model.fingerprint
    assert checker.Model(text.encode().splitlines(keepends=True)).checksum() == model.fingerprint


def test_no_arpa_file(tmp_path: Path) -> None:
    for text in (
        b"",
        b"hello\n",
        b"\\data\\\nngram 1=1\n\\1-grams:\n-1 a\n",
        b"\\data\\\n\\1-grams:\n-1 a\n\\end\\\n",
    ):
        (tmp_path / "lm").write_bytes(text)
        with pytest.raises(FormatError, match="cannot be read as an ARPA file"):
            next(verify(tmp_path / "lm", tmp_path / "proof"))


# The checker shares nothing


def imported(text: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found


def test_the_checker_is_small_and_alone() -> None:
    text = Path(checker.__file__).read_text(encoding="utf-8")
    assert text.count("\n") <= MAX_LINES
    assert imported(text) <= sys.stdlib_module_names


def test_a_helping_hand_is_seen() -> None:
    assert not imported("import json\nfrom hiddenite.ngram import NgramModel\n") <= sys.stdlib_module_names
