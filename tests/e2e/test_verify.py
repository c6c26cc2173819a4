"""Proofs as a user makes and checks them; the checker as a sceptic runs it, as a file and nothing else."""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hiddenite.checker import ngram as checker
from tests.e2e.command import names, run, succeed
from tests.models import train

KEYS = b"843 364 22757 0\n\n2 364 753377 *\n"
TAGGED = "The\tDT\ndog\tNN\nbarks\tVBZ\n\nA\tDT\ncat\tNN\nsleeps\tVBZ\n\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model, another one, and proofs."""
    folder = tmp_path_factory.mktemp("proofs")
    sentences = ["the dog barks .", "the cat sleeps .", "a dog sleeps .", "a cat barks ."] * 3
    train(sentences, 3).save(folder / "lm.arpa.gz")
    train(sentences[:2], 3).save(folder / "other.arpa")
    succeed(
        folder, "decode", "--lm", "lm.arpa.gz", "--channel", "keypad", "--proof", "keys.proof", stdin=KEYS
    )
    return folder


def test_proofs_are_accepted(place: Path) -> None:
    done = succeed(place, "verify", "--lm", "lm.arpa.gz", "--proof", "keys.proof")
    assert done.stdout.startswith(b"3 of 3 proofs accepted; no answer is more than ")
    done = succeed(place, "verify", "--lm", "lm.arpa.gz", "--proof", "keys.proof", "--json")
    *verdicts, summary = map(json.loads, done.lines())
    assert [verdict["id"] for verdict in verdicts] == [1, 2, 3]
    assert all(verdict["accepted"] and verdict["gap"] < 1e-9 for verdict in verdicts)
    assert (summary["records"], summary["accepted"], summary["refused"]) == (3, 3, 0)


@pytest.mark.parametrize("method", ["refine", "paper", "full", "dominance"])
def test_whatever_method_found_the_answer(place: Path, tmp_path: Path, method: str) -> None:
    command: list[str | Path] = [
        "decode",
        "--lm",
        place / "lm.arpa.gz",
        "--channel",
        "keypad",
        "--method",
        method,
        "--no-end",
    ]
    done = succeed(tmp_path, *command, "--proof", "p.jsonl.gz", stdin=KEYS)
    assert done.stdout == succeed(tmp_path, *command, stdin=KEYS).stdout
    assert gzip.decompress((tmp_path / "p.jsonl.gz").read_bytes()).count(b"\n") == 1 + 3 + 1
    succeed(tmp_path, "verify", "--lm", place / "lm.arpa.gz", "--proof", "p.jsonl.gz")


def test_a_compiled_model_has_the_proofs_of_its_text(place: Path, tmp_path: Path) -> None:
    succeed(tmp_path, "lm", "compile", place / "lm.arpa.gz", "--output", "lm.bin")
    succeed(
        tmp_path, "decode", "--lm", "lm.bin", "--channel", "keypad", "--proof", "p", "-o", "out", stdin=KEYS
    )
    succeed(tmp_path, "verify", "--lm", place / "lm.arpa.gz", "--proof", "p")


def test_the_checker_needs_python_alone(place: Path, tmp_path: Path) -> None:
    script = tmp_path / "check.py"
    shutil.copy(checker.__file__, script)
    command: list[str | Path] = [
        sys.executable,
        "-I",
        "-S",
        script,
        place / "lm.arpa.gz",
        place / "keys.proof",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b"\n") == 4
    done = subprocess.run([*command[:-1], script], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 1


def test_a_changed_answer_is_refused(place: Path, tmp_path: Path) -> None:
    lines = (place / "keys.proof").read_text(encoding="utf-8").splitlines(keepends=True)
    record = json.loads(lines[1])
    assert record["words"] == ["the", "dog", "barks", "."]
    record["words"][1] = "cat"
    lines[1] = json.dumps(record) + "\n"
    (tmp_path / "lie.proof").write_text("".join(lines), encoding="utf-8")
    done = run(tmp_path, "verify", "--lm", place / "lm.arpa.gz", "--proof", "lie.proof")
    assert done.status == 1
    refused, summary = done.stdout.decode().splitlines()
    assert refused.startswith("1: refused: the words weigh -")
    assert summary.startswith("2 of 3 proofs accepted")
    assert done.stderr == "hiddenite: 1 of the proofs are refused\n"


def test_files_that_prove_nothing(place: Path, tmp_path: Path) -> None:
    text = (place / "keys.proof").read_bytes()
    files = {
        "cut": text[: len(text) // 2],
        "short": text[: text[:-1].rindex(b"\n") + 1],  # without the last line
        "empty": b"",
        "model": (place / "other.arpa").read_bytes(),
        "binary": b"\x1f\x8b\xff\xff",
        "nested": b"[" * 100_000,
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        done = run(tmp_path, "verify", "--lm", place / "lm.arpa.gz", "--proof", name)
        assert done.status == 1
        assert done.stderr.startswith(f"hiddenite: error: {name}: ")
        assert done.stderr.count("\n") == 1
    done = run(tmp_path, "verify", "--lm", place / "other.arpa", "--proof", place / "keys.proof")
    assert done.status == 1
    assert done.stderr.endswith("the proofs are about another model\n")
    for lm in ("cut", "empty", "missing", "binary"):
        done = run(tmp_path, "verify", "--lm", lm, "--proof", place / "keys.proof")
        assert done.status == 1
        assert done.stderr.startswith(f"hiddenite: error: {lm}: cannot be read as an ARPA file")


def test_records_without_an_answer_have_no_proof(place: Path, tmp_path: Path) -> None:
    slots = b'{"id": "x", "slots": [[["dog", 0]], []]}\n{"id": "y", "slots": [[["dog", 0]]]}\n'
    command: list[str | Path] = ["decode", "--lm", place / "lm.arpa.gz", "--channel", "slots", "--proof", "p"]
    done = run(tmp_path, *command, stdin=slots)
    assert done.status == 1
    done = run(tmp_path, "verify", "--lm", place / "lm.arpa.gz", "--proof", "p")
    assert done.status == 1
    assert done.stdout.decode().splitlines()[0].startswith("x: refused: there is no proof: ")
    lattice = b'{"lattice": [[0, 1, "the", 0], [1, 2, "dog", 0], [0, 2, "dogs", -9]]}\n'
    done = run(tmp_path, *command, stdin=lattice)
    assert done.status == 1
    assert done.stdout == b"the dog\n"
    assert "no proof: a proof needs positions in a row, and this is a lattice" in done.stderr


def test_options_that_exclude_each_other(place: Path, tmp_path: Path) -> None:
    command: list[str | Path] = [
        "decode",
        "--lm",
        place / "lm.arpa.gz",
        "--channel",
        "keypad",
        "--proof",
        "p",
    ]
    for other in (["-k", "2"], ["--objective", "mbr"], ["--resume", "-o", "out"], ["--ray", "local"]):
        assert run(tmp_path, *command, *other).status == 2
    assert names(tmp_path) == []


def test_tags_are_proved_too(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text(TAGGED * 10, encoding="utf-8")
    succeed(tmp_path, "tag", "train", "train.tsv", "--order", "4", "--output", "m.tagger")
    text = b"A dog sleeps\n\nThe zebra barks\n"
    plain = succeed(tmp_path, "tag", "run", "--model", "m.tagger", "--json", stdin=text).stdout
    done = succeed(tmp_path, "tag", "run", "--model", "m.tagger", "--json", "--proof", "p", stdin=text)
    for found, expected in zip(
        map(json.loads, done.lines()), map(json.loads, plain.splitlines()), strict=True
    ):
        assert found["tags"] == expected["tags"]
        assert found["log_weight"] == pytest.approx(expected["log_weight"], rel=1e-12)
    succeed(tmp_path, "tag", "export", "--model", "m.tagger", "--output", "tags.arpa")
    done = succeed(tmp_path, "verify", "--lm", "tags.arpa", "--proof", "p")
    assert done.stdout.startswith(b"3 of 3 proofs accepted")
    assert json.loads((tmp_path / "p").read_text(encoding="utf-8").splitlines()[3])["text"] == [
        "The",
        "zebra",
        "barks",
    ]
    assert run(tmp_path, "tag", "run", "--model", "m.tagger", "--proof", "p", "--marginals").status == 2
