"""The align commands as a user runs them."""

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import names, run, succeed

PAIRS = [
    ("the house", "la maison"),
    ("the dog", "le chien"),
    ("a dog sleeps", "un chien dort"),
    ("the house sleeps", "la maison dort"),
    ("a house", "une maison"),
    ("the dog sleeps", "le chien dort"),
] * 5
SWEEPS = ("--sweeps", "5,5,10", "--chains", "1", "--quiet")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("align")
    (directory / "en.txt").write_text("".join(e + "\n" for e, _ in PAIRS), encoding="utf-8")
    (directory / "fr.txt").write_text("".join(f + "\n" for _, f in PAIRS), encoding="utf-8")
    (directory / "both.txt").write_text("".join(f"{e} ||| {f}\n" for e, f in PAIRS), encoding="utf-8")
    done = run(directory, "align", "train", "en.txt", "fr.txt", "--seed", "1", *SWEEPS, "-o", "m.model")
    assert done.status == 0, done.stderr
    assert done.stderr == ""
    return directory


def test_train_then_run(texts: Path) -> None:
    done = succeed(texts, "align", "run", "--model", "m.model", "en.txt", "fr.txt")
    assert done.lines()[0] == b"0-0 1-1"
    assert len(done.lines()) == len(PAIRS)
    assert succeed(texts, "align", "run", "--model", "m.model", "both.txt").stdout == done.stdout
    both = (texts / "both.txt").read_bytes()
    for arguments in (["-"], []):
        assert (
            succeed(texts, "align", "run", "--model", "m.model", *arguments, stdin=both).stdout == done.stdout
        )
    packed = texts / "en.txt.gz"
    packed.write_bytes(gzip.compress((texts / "en.txt").read_bytes()))
    assert succeed(texts, "align", "run", "--model", "m.model", packed, "fr.txt").stdout == done.stdout


def test_json_record(texts: Path) -> None:
    exact: tuple[str, ...] = ("align", "run", "--model", "m.model", "--json", "--method", "exact")
    done = succeed(texts, *exact, stdin=b"the dog ||| le chien\n")
    answer = json.loads(done.stdout)
    assert list(answer) == ["id", "links", "log_weight", "certificate", "probabilities"]
    assert answer["id"] == 1
    assert answer["links"] == [[0, 0], [1, 1]]
    assert answer["certificate"]["exact"]
    assert answer["certificate"]["upper"] == answer["log_weight"]
    arguments = ("align", "run", "--model", "m.model", "--json", "--marginals", "samples", "--seed", "2")
    seeded = run(texts, *arguments, stdin=b"the dog ||| le chien\n")
    assert "seed 2" in seeded.stderr
    cells = {(i, j): p for i, j, p in json.loads(seeded.stdout)["probabilities"]}
    assert cells[1, 1] > 0.5


def test_odd_records_keep_their_lines(texts: Path) -> None:
    records = b" ||| \nthe ||| \n ||| la\ndog ||| chien\nnever seen ||| jamais vu encore\n"
    done = succeed(texts, "align", "run", "--model", "m.model", stdin=records)
    lines = done.stdout.split(b"\n")
    assert lines[:4] == [b"", b"", b"", b"0-0"]
    assert len(lines) == 6
    bad = run(
        texts, "align", "run", "--model", "m.model", stdin=b"dog ||| chien\n\xff ||| x\ndog ||| chien\n"
    )
    assert bad.status == 1
    assert bad.stdout == b"0-0\n\n0-0\n"
    assert "<stdin>:2" in bad.stderr


@pytest.mark.parametrize(
    ("policy", "stdout"), [("record", b"0-0\n\n\n0-0\n"), ("skip", b"0-0\n0-0\n"), ("stop", b"0-0\n")]
)
def test_a_line_that_is_no_pair_is_a_record_without_an_answer(
    texts: Path, policy: str, stdout: bytes
) -> None:
    lines = b"dog ||| chien\ndog chien\na ||| b ||| c\ndog ||| chien\n"
    done = run(texts, "align", "run", "--model", "m.model", "--on-error", policy, stdin=lines)
    assert done.status == 1
    assert done.stdout == stdout
    assert "<stdin>:2: found no '|||', expected 'source ||| target'" in done.stderr


def test_a_long_sentence_reports_its_gap(texts: Path) -> None:
    record = b"the dog " * 60 + b"||| " + b"le chien " * 60 + b"\n"
    exact: list[str | Path] = ["align", "run", "--model", "m.model", "--json", "--method", "exact"]
    done = succeed(texts, *exact, "--budget", "0.1", stdin=record)
    certificate = json.loads(done.stdout)["certificate"]
    assert certificate["gap"] >= 0
    states: list[str | Path] = ["align", "run", "--model", "m.model", "--json", "--max-states", "50"]
    certificate = json.loads(succeed(texts, *states, "--budget", "1000", stdin=record).stdout)["certificate"]
    assert certificate["gap"] >= 0
    thousand = b"the dog " * 500 + b"||| " + b"le chien " * 500 + b"\n"
    done = succeed(texts, "align", "run", "--model", "m.model", "--method", "viterbi", stdin=thousand)
    assert len(done.stdout.split()) > 500
    without_proof = run(
        texts, "align", "run", "--model", "m.model", "--method", "viterbi", "--exact", stdin=b"a ||| un\n"
    )
    assert without_proof.status == 3


def test_links_by_probability_are_the_default(texts: Path) -> None:
    record = b"the dog ||| le chien\n"
    plain: tuple[str, ...] = ("align", "run", "--model", "m.model", "--json")
    answer = json.loads(succeed(texts, *plain, stdin=record).stdout)
    assert answer["links"] == [[0, 0], [1, 1]]
    assert answer["certificate"]["method"] == "samples"
    assert answer["log_weight"] is None
    assert 0.01 <= answer["certificate"]["threshold"] < 1
    assert succeed(texts, *plain, stdin=record).stdout == succeed(texts, *plain, stdin=record).stdout
    for options in (["--exact"], ["--max-states", "50"], ["--symmetrize", "union"], ["--method", "exact"]):
        best = json.loads(succeed(texts, *plain, *options, stdin=record).stdout)
        assert best["certificate"]["exact"], options
        assert best["log_weight"] is not None, options


def test_kbest_text(texts: Path) -> None:
    arguments = ("align", "run", "--model", "m.model", "-k", "3", "--direction", "forward")
    done = succeed(texts, *arguments, stdin=b"the dog ||| le chien\n")
    rows = [line.split(b"\t") for line in done.lines()[:3]]
    assert [float(row[0]) for row in rows] == sorted((float(row[0]) for row in rows), reverse=True)
    assert rows[0][1] == b"0-0 1-1"


@pytest.mark.parametrize("decode", ["threshold", "probabilities", "exact", "viterbi"])
def test_corpus_is_repeatable(texts: Path, tmp_path: Path, decode: str) -> None:
    arguments = ("align", "corpus", "--seed", "1", *SWEEPS, "--decode", decode)
    one = succeed(texts, *arguments, "en.txt", "fr.txt", "--threads", "1")
    two = succeed(texts, *arguments, "both.txt", "--threads", "2", "-o", tmp_path / "links")
    assert two.stdout == b""
    assert (tmp_path / "links").read_bytes() == one.stdout
    assert one.lines()[0] == b"0-0 1-1"


def test_a_checkpoint_is_gone_on_from(texts: Path, tmp_path: Path) -> None:
    arguments = ("align", "train", "en.txt", "fr.txt", "--seed", "1", *SWEEPS)
    succeed(texts, *arguments, "-o", tmp_path / "a", "--checkpoint", tmp_path / "c")
    succeed(texts, *arguments, "-o", tmp_path / "b", "--checkpoint", tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (texts / "m.model").read_bytes()
    other = run(
        texts, *arguments, "--set", "coupling=3", "-o", tmp_path / "d", "--checkpoint", tmp_path / "c"
    )
    assert other.status == 1
    assert "another options" in other.stderr
    assert names(tmp_path) == ["a", "b", "c"]


def test_symmetrize_and_score(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("0-0 1-1\n0-0\n\n", encoding="utf-8")
    (tmp_path / "r").write_text("0-0 2-1\n1-1\n\n", encoding="utf-8")
    done = succeed(tmp_path, "align", "symmetrize", "--method", "intersection", "f", "r")
    assert done.stdout == b"0-0\n\n\n"
    (tmp_path / "gold").write_text("0-0 1p1\n0-0\n\n", encoding="utf-8")
    done = succeed(tmp_path, "align", "score", "gold", "f")
    result = json.loads(done.stdout)
    assert result["precision"] == result["recall"] == 1.0
    assert result["aer"] == 0.0
    (tmp_path / "e").write_text("a b\nc\n\n", encoding="utf-8")
    succeed(tmp_path, "align", "score", "gold", "f", "--source", "e", "--target", "e")
    (tmp_path / "e").write_text("a b\n\n\n", encoding="utf-8")
    outside = run(tmp_path, "align", "score", "gold", "f", "--source", "e", "--target", "e")
    assert outside.status == 1
    assert "gold:2: link 0-0 is outside" in outside.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["train", "en.txt", "short.txt", "-o", "x", "--seed", "1"], 1, "found 2 lines, expected 30"),
        (["train", "absent.txt", "fr.txt", "-o", "x", "--seed", "1"], 1, "absent.txt: cannot be opened"),
        (["train", "en.txt", "bad.txt", "-o", "x", "--seed", "1"], 1, "bad.txt:2: "),
        (["train", "en.txt", "-o", "x", "--seed", "1"], 1, "en.txt:1: found no '|||'"),
        (["train", "-", "-", "-o", "x", "--seed", "1"], 1, "both sides are standard input"),
        (["train", "en.txt", "fr.txt", "-o", "x", "--sweeps", "1,2"], 2, "three counts"),
        (["train", "en.txt", "fr.txt", "-o", "x", "--set", "couplin=1"], 2, "coupling"),
        (["train", "en.txt", "fr.txt", "-o", "x", "--set", "coupling=x"], 2, "number"),
        (["run", "--model", "en.txt", "both.txt"], 1, "train it again"),
        (["run", "--model", "m.model", "--method", "hmmm", "both.txt"], 2, "did you mean hmm?"),
        (["run", "--model", "m.model", "-k", "2", "both.txt"], 2, "it needs --direction forward or reverse"),
        (
            ["corpus", "both.txt", "--decode", "best"],
            2,
            "probabilities, exact or viterbi",
        ),
        (["symmetrize", "en.txt", "fr.txt"], 1, "en.txt:1: found 'the'"),
        (["score", "links.txt", "two.txt"], 1, "found 2 lines, expected 1"),
    ],
)
def test_bad_input_is_one_line(texts: Path, arguments: list[str], status: int, message: str) -> None:
    (texts / "short.txt").write_bytes(b"la maison\nle chien\n")
    (texts / "bad.txt").write_bytes(b"la maison\n\xff\n" + b"x\n" * 28)
    (texts / "links.txt").write_bytes(b"0-0\n")
    (texts / "two.txt").write_bytes(b"0-0\n0-0\n")
    done = run(texts, "align", *arguments)
    assert done.status == status, done.stderr
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not (texts / "x").exists()


def test_help_shows_an_example(tmp_path: Path) -> None:
    for command in ("train", "run", "corpus", "symmetrize", "score"):
        assert (
            f"Example: hiddenite align {command}"
            in succeed(tmp_path, "align", command, "--help").stdout.decode()
        )


def test_demo_writes_a_page(tmp_path: Path) -> None:
    done = succeed(tmp_path, "demo", "align", "--html", "page.html")
    assert b"Aligned" in done.stdout
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in page
    assert not any(word in page for word in ("http://", "https://", "<script", "<link", "@import"))
    assert page.count("<figure>") >= 2


def test_the_plain_hmm(texts: Path) -> None:
    succeed(texts, "align", "train", "en.txt", "fr.txt", "--estimator", "em", "-o", "hmm.model")
    done = succeed(
        texts, "align", "run", "--model", "hmm.model", "--method", "hmm", "--json", "en.txt", "fr.txt"
    )
    assert json.loads(done.lines()[0])["certificate"]["exact"]
    refused = run(texts, "align", "run", "--model", "m.model", "--method", "hmm", "en.txt", "fr.txt")
    assert refused.status == 1
    assert "expected a plain HMM" in refused.stderr


def test_nothing_to_learn_from(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    done = run(tmp_path, "align", "train", "empty", "empty", "--seed", "1", "-o", "m.model")
    assert done.status == 1
    assert "empty: has no line" in done.stderr


def test_train_goes_on_from_a_model(texts: Path) -> None:
    succeed(
        texts,
        "align",
        "train",
        "en.txt",
        "fr.txt",
        "--seed",
        "2",
        *SWEEPS,
        "--from",
        "m.model",
        "-o",
        "m2.model",
    )
    done = succeed(texts, "align", "run", "--model", "m2.model", stdin=b"the dog ||| le chien\n")
    assert done.lines() == [b"0-0 1-1"]


# ------------------------------------------------------- nothing is said that is not known


@pytest.fixture(scope="module")
def long_pair(texts: Path) -> bytes:
    """73 words that no bound tells much about."""
    words = {side: sorted({w for pair in PAIRS for w in pair[side].split()}) for side in (0, 1)}
    e, f = (" ".join(words[side][(7 * n * n) % len(words[side])] for n in range(73)) for side in (0, 1))
    return f"{e} ||| {f}\n".encode()


def threshold(texts: Path, record: bytes, *options: str | Path) -> tuple[int, dict[str, Any], float]:
    begun = time.monotonic()
    arguments = (
        "align",
        "run",
        "--model",
        "m.model",
        "--threshold",
        "0.5",
        "--seed",
        "1",
        "--json",
        "--quiet",
    )
    done = run(texts, *arguments, *options, stdin=record)
    return done.status, json.loads(done.stdout), time.monotonic() - begun


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("budget", ["0", "0.05"])
def test_links_without_draws_are_not_known(texts: Path, long_pair: bytes, budget: str, exact: bool) -> None:
    record = long_pair if budget != "0" else b"the dog ||| le chien\n"
    status, answer, _ = threshold(texts, record, "--budget", budget, *(["--exact"] if exact else []))
    assert status == (3 if exact else 0)
    if answer["sampling"]["sweeps"] > 0:
        assert answer["certificate"]["method"] == "gibbs"
        assert answer["certificate"]["standard_error"] > 0
        assert answer["links"] is not None
    elif answer["sampling"]["draws"] == 0:
        assert answer["links"] is None
        assert answer["probabilities"] is None
        assert answer["certificate"]["undecided"] is None
    assert answer["log_weight"] is None  # it would be that of another question's answer
    assert not answer["certificate"]["exact"]
    assert answer["certificate"]["draws"] == answer["sampling"]["draws"]


def test_an_empty_line_of_links_is_not_silent(texts: Path) -> None:
    arguments = ("align", "run", "--model", "m.model", "--threshold", "0.5", "--seed", "1", "--budget", "0")
    done = run(texts, *arguments, stdin=b"the dog ||| le chien\n")
    assert (done.status, done.stdout) == (1, b"\n")
    assert "1: no links: the budget ended before the first trial; raise --budget" in done.stderr


def test_a_pair_without_draws_ends(texts: Path, long_pair: bytes) -> None:
    status, answer, seconds = threshold(texts, long_pair, "--budget", "1e9")
    assert status == 0
    assert seconds < 60
    if answer["sampling"]["draws"] < answer["sampling"]["asked"]:
        assert f"within {answer['sampling']['trials']} trials" in answer["certificate"]["note"]
    assert answer["certificate"]["method"] == ("gibbs" if answer["sampling"]["sweeps"] else "samples")


def test_decided_links_are_certified(texts: Path) -> None:
    status, answer, _ = threshold(texts, b"the dog ||| le chien\n", "--exact", "--samples", "2000")
    assert status == 0
    assert answer["links"] == [[0, 0], [1, 1]]
    certificate = answer["certificate"]
    assert certificate["exact"]
    assert certificate["draws"] == 2000
    assert certificate["undecided"] == 0
    assert certificate["gap"] == 0
    assert 0 < certificate["standard_error"] < 0.02
    few = threshold(texts, b"the dog ||| le chien\n", "--exact", "--samples", "3")
    assert few[0] == 3
    assert few[1]["certificate"]["undecided"] > 0


def test_samples_that_were_not_drawn_are_not_certified(texts: Path) -> None:
    arguments = (
        "align",
        "run",
        "--model",
        "m.model",
        "--json",
        "--quiet",
        "--marginals",
        "samples",
        "--seed",
        "1",
    )
    record = b"the dog ||| le chien\n"
    assert run(texts, *arguments, "--exact", stdin=record).status == 0
    late = run(texts, *arguments, "--exact", "--budget", "0", stdin=record)
    assert late.status == 3
    answer = json.loads(late.stdout)
    assert answer["probabilities"] is None
    assert answer["links"] is not None
    assert answer["sampling"]["note"] == "the budget ended before the first trial"


@pytest.mark.parametrize(
    "options",
    [["-k", "50", "--direction", "forward"], ["--marginals", "samples"], ["--threshold", "0.5"], []],
)
def test_a_budget_is_of_the_whole_record(texts: Path, long_pair: bytes, options: list[str]) -> None:
    """Best alignments, ranks and draws of both directions share it; a process starts within two seconds."""
    begun = time.monotonic()
    seed = ["--seed", "1"] if {"--marginals", "--threshold"} & {*options} else []
    arguments = ["align", "run", "--model", "m.model", "--json", "--quiet", *seed, *options]
    spent = []
    for budget in ("0.01", "1.0"):
        begun = time.monotonic()
        assert run(texts, *arguments, "--budget", budget, stdin=long_pair).status == 0
        spent.append(time.monotonic() - begun)
    assert spent[1] < spent[0] + 1.0 + 1.0


def test_the_published_algorithm_needs_an_iteration(texts: Path) -> None:
    for options in (["--iterations", "0"], ["--scale", "nan"], ["--threshold", "0.5"]):
        arguments = ("align", "run", "--model", "m.model", "--method", "paper", *options)
        assert run(texts, *arguments, stdin=b"the dog ||| le chien\n").status == 2
