"""hiddenite lattice: recognisers' files in, answers and other tools' files out."""

import gzip
import json
from pathlib import Path

import pytest

from tests.e2e.command import run, succeed

SLF = """VERSION=1.0
UTTERANCE=u
lmscale=2
N=3 L=4
I=0 t=0
I=1 t=0.25
I=2 t=0.75
J=0 S=0 E=1 W=the a=-1
J=1 S=0 E=1 W=a a=-3
J=2 S=1 E=2 W=dog a=-1
J=3 S=1 E=2 W=log a=-9
"""
KALDI = "u\n0 1 5 1 1.5,10\n0 1 6 2 1,11\n1 2 7 3 2,20\n2 0.5,0\n\n"
TEXT = b"the dog barks\na dog sleeps\nthe log burns\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("lattices")
    (place / "l.slf").write_text(SLF)
    (place / "l.slf.gz").write_bytes(gzip.compress(SLF.encode()))
    (place / "l.kaldi").write_text(KALDI)
    (place / "words.txt").write_text("<eps> 0\nthe 1\na 2\ndog 3\n")
    (place / "text").write_bytes(TEXT)
    succeed(place, "lm", "train", "text", "--order", "2", "--output", "lm.arpa", "--quiet")
    lines = (place / "lm.arpa").read_text().splitlines(keepends=True)
    count = int(lines[1].partition("=")[2])
    lines[1] = f"ngram 1={count - 1}\n"
    (place / "bare.arpa").write_text("".join(line for line in lines if "<unk>" not in line))
    return place


def test_the_beam_is_in_the_weights_that_decode_prints(folder: Path) -> None:
    ranked = succeed(folder, "lattice", "decode", "l.slf", "-k", "4").stdout.decode().split("\n")[:4]
    weights = {line.split("\t")[1]: float(line.split("\t")[0]) for line in ranked}
    assert weights == {"the dog": -2, "a dog": -4, "the log": -10, "a log": -12}
    for beam, left in ((1.9, {"the", "dog"}), (2.1, {"the", "a", "dog"}), (8.1, {"the", "a", "dog", "log"})):
        done = succeed(folder, "lattice", "prune", "l.slf", "--beam", str(beam), "--to", "json")
        assert {edge[2] for edge in json.loads(done.stdout)["lattice"]} == left


def test_probabilities_are_tempered_and_beams_are_not(folder: Path) -> None:
    done = run(folder, "lattice", "prune", "l.slf", "--beam", "2", "--temperature", "3")
    assert (done.status, done.stdout) == (2, b"")
    assert "--temperature has no effect on --beam" in done.stderr
    narrow = succeed(folder, "lattice", "prune", "l.slf", "--min-probability", "0.2", "--to", "json").stdout
    assert {edge[2] for edge in json.loads(narrow)["lattice"]} == {"the", "a", "dog"}  # 0.27 at lmscale 2


def test_label_numbers_under_a_model_are_pointed_out(folder: Path) -> None:
    done = run(folder, "lattice", "decode", "l.kaldi", "--lm", "lm.arpa")
    assert done.status == 0
    assert "all words are numbers that the model does not know; --symbols FILE" in done.stderr
    told = succeed(folder, "lattice", "decode", "l.kaldi", "--lm", "lm.arpa", "--symbols", "words.txt")
    assert told.stdout == b"the dog\n"
    succeed(folder, "lattice", "decode", "l.kaldi")  # without a model the numbers are what was asked for


def test_a_dead_end_names_the_word_and_what_helps(folder: Path) -> None:
    (folder / "oov.slf").write_text(SLF.replace("W=dog", "W=dogg").replace("W=log", "W=dugg"))
    done = run(folder, "lattice", "decode", "oov.slf", "--lm", "bare.arpa", "--quiet")
    assert done.status == 1
    assert "'dogg', 'dugg'" in done.stderr
    assert "--unk-log10 -5" in done.stderr
    helped = succeed(folder, "lattice", "decode", "oov.slf", "--lm", "bare.arpa", "--unk-log10", "-5")
    assert helped.stdout == b"the dogg\n"


def test_compressed_files_and_pipes_say_the_same(folder: Path) -> None:
    plain = succeed(folder, "lattice", "posteriors", "l.slf", "--lm", "lm.arpa").stdout
    assert succeed(folder, "lattice", "posteriors", "l.slf.gz", "--lm", "lm.arpa").stdout == plain
    piped = succeed(folder, "lattice", "posteriors", "-", "--lm", "lm.arpa", stdin=SLF.encode())
    assert piped.stdout == plain


@pytest.mark.parametrize("to", ["slf", "kaldi", "kaldi-compact", "openfst", "pfsg", "mesh", "json"])
def test_what_is_converted_decodes_the_same(folder: Path, to: str) -> None:
    (folder / f"out.{to}").write_bytes(succeed(folder, "lattice", "convert", "l.slf", "--to", to).stdout)
    form = "openfst-acceptor" if to == "openfst" else to
    ask = ("lattice", "decode", "--lm", "lm.arpa", "--lm-weight", "2", "-k", "4", "--json")
    again = json.loads(succeed(folder, *ask, f"out.{to}", "--format", form).stdout)["kbest"]
    first = json.loads(succeed(folder, *ask, "l.slf").stdout)["kbest"]
    assert [row["words"] for row in again] == [row["words"] for row in first]
    rounding = 1e-3 if to == "pfsg" else 1e-9  # a PFSG has whole numbers, 10000.5 ln p
    weights = [row["log_weight"] for row in first]
    assert [row["log_weight"] for row in again] == pytest.approx(weights, abs=rounding)


def test_words_with_times_and_lists(folder: Path) -> None:
    ctm = succeed(folder, "lattice", "decode", "l.slf", "--to", "ctm").stdout.decode().splitlines()
    assert [line.split()[:5] for line in ctm] == [
        ["u", "1", "0.000", "0.250", "the"],
        ["u", "1", "0.250", "0.500", "dog"],
    ]
    (folder / "list").write_bytes(
        succeed(folder, "lattice", "decode", "l.slf", "--to", "nbest", "-k", "4").stdout
    )
    assert succeed(folder, "lattice", "decode", "list").stdout == b"the dog\n"


def test_what_is_no_lattice_is_one_line(folder: Path) -> None:
    done = run(folder, "lattice", "decode", "text")
    assert done.status == 1
    assert done.stderr.startswith(
        "hiddenite: error: text:1: the format is not clear; say which with --format"
    )
    assert done.stderr.count("\n") == 1


def test_every_method_gives_the_same_words_with_a_proof(folder: Path) -> None:
    answers = []
    for method in ("auto", "dominance", "full", "refine", "paper"):
        best = succeed(folder, "lattice", "decode", "l.slf", "--lm", "lm.arpa", "--method", method, "--json")
        found = json.loads(best.stdout)
        assert found["certificate"]["exact"]
        assert found["certificate"]["method"] == ("dominance" if method == "auto" else method)
        ranked = succeed(
            folder, "lattice", "decode", "l.slf", "--lm", "lm.arpa", "--method", method, "-k", "4"
        )
        answers.append((found["words"], found["log_weight"], ranked.stdout))
    assert all(answer == answers[0] for answer in answers)


def test_a_budget_says_what_it_leaves_open(folder: Path) -> None:
    asked = ("lattice", "decode", "l.slf", "--lm", "lm.arpa", "--max-states", "1")
    found = json.loads(succeed(folder, *asked, "--json").stdout)["certificate"]
    assert not found["exact"]
    assert found["gap"] > 0
    assert run(folder, *asked, "--exact").status == 3
    late = ("lattice", "decode", "l.slf", "--lm", "lm.arpa", "--budget", "0")
    assert run(folder, *late, "--exact").status == 3
    assert "the budget ended" in run(folder, *late, "--to", "ctm").stderr  # its probabilities need all paths


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--method", "refine"], "one model"),
        (["--method", "paper", "--lm", "lm.arpa", "--mix-lm", "lm.arpa"], "one model"),
        (["--method", "refine", "--lm", "lm.arpa", "--distinct", "sum"], "not sums"),
        (["--budget", "1", "--lm", "lm.arpa", "-k", "3"], "no effect"),
        (["--method", "sparse", "--lm", "lm.arpa"], "sparse"),
    ],
)
def test_methods_that_have_no_meaning_are_refused(folder: Path, options: list[str], why: str) -> None:
    done = run(folder, "lattice", "decode", "l.slf", *options)
    assert done.status == 2
    assert why in done.stderr
