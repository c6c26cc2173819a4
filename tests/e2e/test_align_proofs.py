"""Proofs of alignments as a user makes and checks them; the checker without the engine."""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hiddenite.checker import alignment as checker
from tests.alignment_models import random_aligner
from tests.e2e.command import run, succeed

TEXT = (
    "house dog old ||| maison chien arbre un\n ||| \na tree ||| \nnew words été ||| étés jamais vu\n".encode()
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alignments")
    for seed, name in ((1, "m.model"), (2, "other.model")):
        random_aligner(seed).save(folder / name)
    links = succeed(folder, "align", "run", "--model", "m.model", "--proof", "p.jsonl", stdin=TEXT).stdout
    best = succeed(folder, "align", "run", "--model", "m.model", "--method", "exact", stdin=TEXT)
    assert links == best.stdout
    return folder


def test_proofs_are_accepted(place: Path, tmp_path: Path) -> None:
    done = succeed(place, "verify", "--model", "m.model", "--proof", "p.jsonl")
    assert done.stdout.startswith(b"8 of 8 proofs accepted; no answer is more than ")
    done = succeed(place, "verify", "--model", "m.model", "--proof", "p.jsonl", "--json")
    *verdicts, summary = map(json.loads, done.lines())
    assert [verdict["id"] for verdict in verdicts][:3] == ["1 forward", "1 reverse", "2 forward"]
    assert all(verdict["accepted"] and verdict["gap"] < 1e-8 for verdict in verdicts)
    assert summary["refused"] == 0
    packed: list[str | Path] = ["align", "run", "--model", place / "m.model", "--proof", "p.gz"]
    succeed(tmp_path, *packed, "--direction", "reverse", "--threads", "2", stdin=TEXT)
    assert gzip.decompress((tmp_path / "p.gz").read_bytes()).count(b"\n") == 1 + 4 + 1
    succeed(tmp_path, "verify", "--model", place / "m.model", "--proof", "p.gz")


def test_the_checker_needs_python_alone(place: Path, tmp_path: Path) -> None:
    """Its folder, copied: there is no engine to import."""
    folder = tmp_path / "hiddenite" / "checker"
    shutil.copytree(Path(checker.__file__).parent, folder)
    command: list[str | Path] = [sys.executable, "-S", "-m", "hiddenite.checker.alignment", place / "m.model"]
    done = subprocess.run([*command, place / "p.jsonl"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b"\n") == 9
    wrong = place.joinpath("p.jsonl").read_bytes().replace(b'"maison"', b'"arbre"')
    (tmp_path / "wrong").write_bytes(wrong)
    done = subprocess.run([*command, tmp_path / "wrong"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 1


def test_what_is_not_proved_is_refused(place: Path, tmp_path: Path) -> None:
    other = run(tmp_path, "verify", "--model", place / "other.model", "--proof", place / "p.jsonl")
    assert other.status == 1
    assert "about another model" in other.stderr
    lines = place.joinpath("p.jsonl").read_bytes().splitlines(keepends=True)
    record = json.loads(lines[1])
    record["links"][0] = 0 if record["links"][0] else 1
    (tmp_path / "p").write_bytes(b"".join([lines[0], json.dumps(record).encode() + b"\n", *lines[2:]]))
    done = run(tmp_path, "verify", "--model", place / "m.model", "--proof", "p")
    assert done.status == 1
    assert done.stdout.startswith(b"1 forward: refused: the links weigh ")
    assert b"7 of 8 proofs accepted" in done.stdout
    (tmp_path / "p").write_bytes(b"".join(lines[:-1]))
    done = run(tmp_path, "verify", "--model", place / "m.model", "--proof", "p")
    assert done.status == 1
    assert "its last line says" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (
            ["align", "run", "--model", "m.model", "--proof", "x", "--threshold", "0.5"],
            2,
            "--proof proves one best alignment",
        ),
        (["align", "run", "--model", "m.model", "--proof", "x", "--method", "viterbi"], 2, "viterbi"),
        (
            ["align", "run", "--model", "m.model", "--proof", "x", "-k", "2", "--direction", "forward"],
            2,
            "--proof proves one best alignment",
        ),
        (["align", "run", "--model", "m.model", "--proof", "x", "--resume", "-o", "y"], 2, "--resume"),
        (["verify", "--proof", "p.jsonl"], 2, "--lm or --model is needed"),
        (["verify", "--proof", "p.jsonl", "--lm", "a", "--model", "b"], 2, "--lm has no effect with --model"),
        (["verify", "--proof", "p.jsonl", "--model", "p.jsonl"], 1, "cannot be read as an alignment model"),
        (["verify", "--proof", "p.jsonl", "--model", "absent"], 1, "cannot be opened"),
    ],
)
def test_bad_use_is_one_line(place: Path, arguments: list[str], status: int, message: str) -> None:
    done = run(place, *arguments, stdin=TEXT)
    assert done.status == status, done.stderr
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not (place / "x").exists()


def test_a_proof_that_was_not_finished_is_said_to_be_missing(place: Path, tmp_path: Path) -> None:
    words = " ".join(["house", "dog", "a", "old"] * 20) + " ||| " + " ".join(["un", "chien", "arbre"] * 25)
    arguments = ("align", "run", "--model", place / "m.model", "--proof", "p", "--budget", "0.001")
    done = run(tmp_path, *arguments, stdin=words.encode() + b"\n")
    assert done.status == 1
    assert "no proof, forward: " in done.stderr
    assert len(done.stdout.split()) > 0  # the links are given all the same
    checked = run(tmp_path, "verify", "--model", place / "m.model", "--proof", "p")
    assert checked.status == 1
    assert b"1 forward: refused: there is no proof: " in checked.stdout
