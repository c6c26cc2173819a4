"""The contract of `hiddenite hmmlm` (DESIGN.md, section 5)."""

import json
import math
import shlex
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hiddenite
from hiddenite.cli.hmmlm import _phrases
from hiddenite.hmmlm import Clusters, Interpolation
from hiddenite.hmmlm.guide import Guide, GuideModel, guided_sample
from tests.e2e.command import names, run, start, succeed
from tests.models import train as train_ngrams

LINES = [
    "the quick brown fox jumps over the lazy dog",
    "the lazy dog sleeps under the old tree",
    "the old tree stands over the quiet house",
    "a quick fox sleeps under the quiet tree",
    "the dog barks and the fox runs over the hill",
    "the quiet house stands under the old hill",
]
TEXT = "".join(line + "\n" for line in LINES * 5).encode()
HELD_OUT = b"the old dog sleeps\n\nthe zebra runs over the hill\n"
TRAIN = "hmmlm train em corpus.txt --states 16 --clusters 4 --epochs 4 --seed 1 --quiet"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("hmmlm")
    (directory / "corpus.txt").write_bytes(TEXT)
    succeed(directory, *TRAIN.split(), "--output", "corpus.hmm")
    return directory


@pytest.fixture
def directory(tmp_path: Path, trained: Path) -> Path:
    (tmp_path / "corpus.txt").write_bytes(TEXT)
    (tmp_path / "heldout.txt").write_bytes(HELD_OUT)
    (tmp_path / "corpus.hmm").write_bytes((trained / "corpus.hmm").read_bytes())
    return tmp_path


def records(stdout: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stdout.splitlines()]


# cluster


def test_cluster_writes_both_formats(directory: Path) -> None:
    for file_format in ("tsv", "brown"):
        succeed(
            directory,
            *f"hmmlm cluster corpus.txt --clusters 4 --format {file_format} --output c.{file_format}".split(),
        )
    rows = [line.split("\t") for line in (directory / "c.tsv").read_text().splitlines()]
    assert {row[1] for row in rows} == {"0", "1", "2", "3"}
    assert rows[0][0] == "the"
    assert int(rows[0][2]) == TEXT.split().count(b"the")
    brown = [line.split("\t") for line in (directory / "c.brown").read_text().splitlines()]
    assert all(set(row[0]) <= {"0", "1"} for row in brown)
    assert sorted(row[1] for row in brown) == sorted(row[0] for row in rows)


def test_cluster_goes_on_from_a_file(directory: Path) -> None:
    succeed(directory, *["hmmlm", "cluster", "corpus.txt", "--clusters", "4", "--output", "c.tsv"])
    (directory / "more.txt").write_bytes(TEXT + b"the brand new zebra runs\n")
    arguments = "--clusters 4 --start c.tsv --output d.tsv"
    succeed(directory, "hmmlm", "cluster", "more.txt", *arguments.split())
    assert set(Clusters.load(directory / "c.tsv").words) < set(Clusters.load(directory / "d.tsv").words)


def test_cluster_reads_stdin_and_writes_stdout(directory: Path) -> None:
    done = succeed(directory, *["hmmlm", "cluster", "-", "--clusters", "2", "--output", "-"], stdin=TEXT)
    assert len(done.lines()) == len(set(TEXT.split()))


# train


def test_train_writes_the_model_that_the_library_trains(directory: Path) -> None:
    model = hiddenite.HMMLanguageModel.train(LINES * 5, 16, 4, seed=1, epochs=4)
    model.save(directory / "library.hmm")
    assert (directory / "library.hmm").read_bytes() == (directory / "corpus.hmm").read_bytes()


def test_train_with_clusters_validation_and_members(directory: Path) -> None:
    succeed(directory, *["hmmlm", "cluster", "corpus.txt", "--clusters", "4", "--output", "c.tsv"])
    arguments = "--states 12 --clusters c.tsv --valid heldout.txt --members 2 --epochs 3 --folds 3 --seed 7"
    done = run(directory, "hmmlm", "train", "em", "corpus.txt", *arguments.split(), "--output", "m.hmm")
    assert (done.status, done.stderr) == (0, "hiddenite: seed 7\n")
    model = hiddenite.HMMLanguageModel.load(directory / "m.hmm")
    assert len(model.members) == 2
    assert sum(model.weights) == pytest.approx(1.0)


def test_train_with_uniform_sets(directory: Path) -> None:
    arguments = "--states 12 --clusters 4 --sets uniform --states-per-word 5 --epochs 3 --seed 7 --quiet"
    succeed(directory, "hmmlm", "train", "em", "corpus.txt", *arguments.split(), "--output", "m.hmm")
    model = hiddenite.HMMLanguageModel.load(directory / "m.hmm")
    assert set(np.diff(model.chains[0].set_begin.astype(int))) == {0, 1, 5}


def test_an_interrupted_training_goes_on_with_the_same_bits(directory: Path) -> None:
    text = TEXT * 40  # slow enough to be interrupted
    (directory / "long.txt").write_bytes(text)
    options = "--states 64 --clusters 4 --epochs 40 --seed 3 --checkpoint at.ckpt"
    long = ["hmmlm", "train", "em", "long.txt", *options.split()]
    process = start(directory, [*long, "--output", "long.hmm"])
    deadline = time.monotonic() + 60
    while not (directory / "at.ckpt").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    if process.returncode == 130:
        assert "at.ckpt; continue with --seed 3" in stderr.decode()
        assert not (directory / "long.hmm").exists()
    assert not [name for name in names(directory) if name.startswith(".")]
    succeed(directory, *long, "--quiet", "--output", "long.hmm")
    succeed(
        directory, *[a for a in long if a not in ("--checkpoint", "at.ckpt")], "--quiet", "-o", "again.hmm"
    )
    assert (directory / "again.hmm").read_bytes() == (directory / "long.hmm").read_bytes()


def test_a_checkpoint_of_another_training_is_refused(directory: Path) -> None:
    succeed(directory, *TRAIN.split(), "--checkpoint", "at.ckpt", "--output", "m.hmm")
    done = run(
        directory, *TRAIN.replace("--seed 1", "--seed 2").split(), "--checkpoint", "at.ckpt", "-o", "n.hmm"
    )
    assert done.status == 1
    assert "is a checkpoint of a training with another seed" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("--states 4 --clusters 8", 2, "expected at most the 4 states: one for each cluster"),
        (
            "--states 4 --clusters 2 --sets uniform --states-per-word 5",
            2,
            "--states-per-word is 5, expected at most all 4 states",
        ),
        ("--states 8 --clusters missing.tsv", 1, "missing.tsv: cannot be opened"),
        ("--states 8 --clusters few.tsv", 1, "the clusters lack 17 words of the text"),
        ("--states 8 --clusters bad.tsv", 1, "bad.tsv:1: expected word, class and count"),
    ],
    ids=["few-states", "large-sets", "no-clusters", "missing-words", "bad-clusters"],
)
def test_bad_training_input(directory: Path, arguments: str, status: int, message: str) -> None:
    (directory / "few.tsv").write_text("the\t0\t9\nfox\t1\t2\ndog\t1\t2\n")
    (directory / "bad.tsv").write_text("the 0 9\n")
    done = run(
        directory,
        "hmmlm",
        "train",
        "em",
        "corpus.txt",
        *arguments.split(),
        "--seed",
        "1",
        "-q",
        "-o",
        "m.hmm",
    )
    assert done.status == status
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr
    assert not (directory / "m.hmm").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("corpus.txt --output m.hmm", "expected em, gradient, neural"),
        ("neurla corpus.txt --output m.hmm", "did you mean 'neural'?"),
        ("em corpus.txt --dropout state --output m.hmm", "No such option: --dropout"),
        ("gradient corpus.txt --members 2 --output m.hmm", "No such option: --members"),
    ],
)
def test_each_method_has_options_of_its_own(directory: Path, arguments: str, message: str) -> None:
    done = run(directory, "hmmlm", "train", *arguments.split())
    assert done.status == 2
    assert message in done.stderr


def test_an_empty_text_is_refused(directory: Path) -> None:
    (directory / "empty.txt").write_bytes(b"\n\n")
    done = run(directory, *TRAIN.replace("corpus.txt", "empty.txt").split(), "-o", "m.hmm")
    assert (done.status, done.stderr.count("\n")) == (1, 1)
    assert "empty.txt: has no word" in done.stderr


# score


def test_score_gives_a_record_per_sentence(directory: Path) -> None:
    done = succeed(directory, "hmmlm", "score", "--model", "corpus.hmm", "heldout.txt")
    found = records(done.stdout)
    assert [r["tokens"] for r in found] == [5, 1, 7]
    assert [r["oov"] for r in found] == [0, 0, 1]
    model = hiddenite.HMMLanguageModel.load(directory / "corpus.hmm")
    expected = model.score_text(HELD_OUT)
    assert [r["log_prob"] for r in found] == expected.log_prob.tolist()


def test_score_summary(directory: Path) -> None:
    done = succeed(directory, "hmmlm", "score", "--model", "corpus.hmm", "--summary", "heldout.txt")
    (found,) = records(done.stdout)
    assert list(found) == ["sentences", "tokens", "oov", "log_prob", "perplexity", "perplexity_without_oov"]
    assert found["perplexity"] == pytest.approx(math.exp(-found["log_prob"] / found["tokens"]))
    assert found["perplexity_without_oov"] < found["perplexity"]


def test_score_interpolates_with_an_ngram_model(directory: Path) -> None:
    ngrams = train_ngrams(LINES * 5, 3)
    ngrams.save(directory / "corpus.arpa")
    arguments = "--lm corpus.arpa --valid heldout.txt --summary --quiet heldout.txt"
    done = succeed(directory, "hmmlm", "score", "--model", "corpus.hmm", *arguments.split())
    model = hiddenite.HMMLanguageModel.load(directory / "corpus.hmm")
    loaded = hiddenite.NgramModel.load(directory / "corpus.arpa")
    both = Interpolation.fit([model, loaded], HELD_OUT)
    assert records(done.stdout)[0]["perplexity"] == pytest.approx(both.perplexity(HELD_OUT))
    alone = [math.exp(-float(m.token_log_probs(HELD_OUT).mean())) for m in (model, loaded)]
    assert both.perplexity(HELD_OUT) <= min(alone) + 1e-6
    assert loaded.token_log_probs(HELD_OUT).sum() == pytest.approx(loaded.score_text(HELD_OUT).log_prob.sum())


@pytest.mark.parametrize("damage", ["text", "cut", "other"])
def test_a_file_that_is_no_model_is_refused(directory: Path, damage: str) -> None:
    content = (directory / "corpus.hmm").read_bytes()
    broken = {
        "text": b"hello\n",
        "cut": content[: len(content) // 2],
        "other": content.replace(b"hmmlm", b"lmhmm"),
    }
    (directory / "bad.hmm").write_bytes(broken[damage])
    done = run(directory, "hmmlm", "score", "--model", "bad.hmm", "heldout.txt")
    assert (done.status, done.stderr.count("\n")) == (1, 1)
    assert "bad.hmm: " in done.stderr


# generate


def test_generate_obeys_keywords_and_length(directory: Path) -> None:
    arguments = ["--keywords", "dog tree", "--length", "8", "-n", "5", "--seed", "1"]
    done = run(directory, "hmmlm", "generate", "--model", "corpus.hmm", *arguments)
    assert (done.status, done.stderr) == (0, "hiddenite: seed 1\n")
    assert len(done.lines()) == 5
    for line in done.lines():
        assert len(line.split()) == 8
        assert {b"dog", b"tree"} <= set(line.split())


def test_generate_obeys_patterns_and_phrases(directory: Path) -> None:
    arguments = [
        "--pattern",
        "the (dog|fox) .*",
        "--keywords",
        "the hill,old",
        "-n",
        "3",
        "--seed",
        "1",
        "--json",
    ]
    done = succeed(directory, "hmmlm", "generate", "--model", "corpus.hmm", *arguments, "--quiet")
    for record in records(done.stdout):
        assert set(record) == {"words", "log_prob", "constraint_log_prob"}
        sentence = " ".join(record["words"])
        assert sentence.startswith(("the dog", "the fox"))
        assert "the hill" in sentence
        assert "old" in record["words"]
        assert record["log_prob"] <= record["constraint_log_prob"] < 0


@pytest.mark.parametrize("method", ["rescore", "best"])
def test_generate_with_other_methods(directory: Path, method: str) -> None:
    seed = "" if method == "best" else "--seed 1"
    arguments = f"--keywords fox --length 6 --method {method} {seed} --quiet".split()
    done = succeed(directory, "hmmlm", "generate", "--model", "corpus.hmm", *arguments)
    assert b"fox" in done.stdout


def test_generate_the_best_of_a_lexicalised_model(directory: Path) -> None:
    train = [
        "hmmlm",
        "train",
        "lexical",
        "corpus.txt",
        "--preset",
        "fast",
        "--seed",
        "1",
        "--output",
        "lexical.hmm",
        "--quiet",
    ]
    succeed(directory, *train)
    arguments = ["--keywords", "fox", "--length", "6", "--method", "best", "--json", "--quiet"]
    done = succeed(directory, "hmmlm", "generate", "--model", "lexical.hmm", *arguments)
    (record,) = records(done.stdout)
    assert "fox" in record["words"]
    assert len(record["words"]) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--keywords", "dgo"], "unknown word 'dgo'; did you mean dog"),
        (
            ["--keywords", "dog tree fox", "--length", "2"],
            "no sentence of the model satisfies the constraint",
        ),
        (["--pattern", "(the dog"], "a ( is not closed"),
        (["--pattern", "* dog"], "found '*', expected a word before it"),
        (["--pattern", "[a b"], "a [ is not closed"),
    ],
    ids=["unknown", "impossible", "parenthesis", "star", "bracket"],
)
def test_bad_constraints(directory: Path, arguments: list[str], message: str) -> None:
    done = run(directory, "hmmlm", "generate", "--model", "corpus.hmm", *arguments, "--quiet", "--seed", "1")
    assert (done.status, done.stderr.count("\n")) == (1, 1)
    assert message in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--keywords", ","], "--keywords has no word: ','"),
        (["--keywords", "dog", "--budget", "0"], "the budget of 0 s ended before the sentences were drawn"),
        (["--length", "2001"], "expected 0 to 2000"),
    ],
)
def test_what_cannot_be_generated_is_said(directory: Path, arguments: list[str], message: str) -> None:
    done = run(directory, "hmmlm", "generate", "--model", "corpus.hmm", *arguments, "--seed", "1")
    assert done.status in (1, 2)
    assert message in done.stderr
    assert done.stdout == b""


# distill


def test_distilled_tokens_guide(directory: Path) -> None:
    rows = [[7, 5, 6, 0], [5, 5, 6, 7], [6, 7, 0, 9]] * 20
    (directory / "ids.jsonl").write_text("".join(f"{row}\n" for row in rows))
    distill = "hmmlm distill --samples ids.jsonl --end 0 --states 6 --clusters 3 --epochs 4 --seed 1"
    done = run(directory, *distill.split(), "--valid", "ids.jsonl", "--output", "ids.hmm")
    assert done.status == 0, done.stderr
    assert "ids.jsonl: 20 of 60 samples have no end; they count as whole sentences" in done.stderr
    model = hiddenite.HMMLanguageModel.load(directory / "ids.hmm")
    assert sorted(model.words[3:]) == ["5", "6", "7"]
    texts = [None, None, None, None, None, b" five", b" six", b" seven", b" eight"]
    guide = Guide(GuideModel.of_tokens(model, texts, end=0), ["six seven"], max_length=6)
    rng = np.random.default_rng(1)
    for _ in range(20):
        tokens = guided_sample(guide, lambda _: np.zeros(len(texts)), rng)
        assert "6, 7" in str(tokens)


def test_training_says_what_is_too_small(directory: Path) -> None:
    (directory / "one.txt").write_text("a a a\na a\n")
    (directory / "empty.txt").write_text("")
    train = "hmmlm train em one.txt --clusters 4 --seed 1 --output one.hmm"
    done = run(directory, *train.split(), "--states", "64")
    assert done.status == 0
    assert "the text has 5 tokens, so the model gets 5 states" in done.stderr
    assert hiddenite.HMMLanguageModel.load(directory / "one.hmm").num_states == 6
    failed = run(directory, *train.split(), "--states", "4", "--valid", "empty.txt", "--quiet")
    assert (failed.status, failed.stderr.count("\n")) == (1, 1)
    assert "empty.txt: has no word, expected held-out text" in failed.stderr


# help and files


@pytest.mark.parametrize("command", ["cluster", "train em", "score", "generate", "distill"])
def test_examples_of_the_help_run(directory: Path, command: str) -> None:
    np.save(directory / "ids.npy", np.arange(60).reshape(12, 5) % 7)
    shown = succeed(directory, "hmmlm", *command.split(), "--help").stdout.decode()
    example = next(line for line in shown.splitlines() if "Example:" in line)
    words = shlex.split(example.partition("Example: hiddenite ")[2])
    assert run(directory, *words).status == 0


def test_arrays_of_other_tools(directory: Path) -> None:
    model = hiddenite.HMMLanguageModel.load(directory / "corpus.hmm")
    expected = model.perplexity(TEXT)
    for dense in (False, True):
        model.export_npz(directory / "m.npz", dense=dense)
        again = hiddenite.HMMLanguageModel.import_npz(directory / "m.npz")
        assert again.perplexity(TEXT) == pytest.approx(expected, rel=1e-6)
    np.savez(directory / "bad.npz", initial=np.ones(2), transition=np.ones((2, 2)), emission=np.ones((2, 3)))
    with pytest.raises(hiddenite.FormatError, match="does not add up to 1"):
        hiddenite.HMMLanguageModel.import_npz(directory / "bad.npz")
    np.savez(directory / "x.npz", initial=[1.0], transition=[[1.0]], emission=[[0.25, 0.75]])
    coin = hiddenite.HMMLanguageModel.import_npz(directory / "x.npz")
    assert coin.score([["w1", "w0", "w1"]])[0].log_prob == pytest.approx(math.log(0.75 * 0.25 * 0.75))


def test_demo_runs(directory: Path) -> None:
    done = succeed(directory, "demo", "hmmlm")
    assert b"A hidden Markov model with" in done.stdout


def test_a_comma_is_a_keyword_after_a_backslash() -> None:
    assert _phrases("dog tree") == ["dog", "tree"]
    assert _phrases("new york, dog") == ["new york", " dog"]
    assert _phrases(r"\, dog") == [",", "dog"]
    assert _phrases(r"the \, dog, cat") == ["the , dog", " cat"]
