"""The contract of `hiddenite lm` (DESIGN.md, section 5)."""

import gzip
import json
import math
import shlex
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import hiddenite
from hiddenite import NgramModel
from tests.e2e.command import HIDDENITE, environment, names, run, start, succeed
from tests.models import train

TEXT = b"the cat sat\nthe dog sat on the mat\n\nthe cat saw the dog\n"
HELD_OUT = b"the dog saw the cat\n\nthe horse\n"


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return train(TEXT.decode().splitlines(), 3)


@pytest.fixture
def directory(tmp_path: Path, model: NgramModel) -> Path:
    """A user's directory: text, held-out text, models."""
    (tmp_path / "corpus.txt").write_bytes(TEXT)
    (tmp_path / "heldout.txt").write_bytes(HELD_OUT)
    model.save(tmp_path / "corpus.arpa")
    model.save(tmp_path / "corpus.arpa.gz")
    return tmp_path


def records(stdout: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stdout.splitlines()]


# train


def test_train_writes_the_model_that_the_library_trains(directory: Path) -> None:
    expected = (directory / "corpus.arpa").read_bytes()
    done = run(directory, "lm", "train", "corpus.txt", "--order", "3", "--output", "new.arpa")
    assert (done.status, done.stdout) == (0, b"")
    assert done.stderr.startswith("hiddenite: warning: too few different counts for the Kneser-Ney discounts")
    assert done.stderr.count("\n") == 1
    assert (directory / "new.arpa").read_bytes() == expected


def test_train_reads_stdin_and_writes_stdout(directory: Path) -> None:
    done = succeed(directory, "lm", "train", "-", "-o", "-", "--order", "3", "--quiet", stdin=TEXT)
    assert done.stdout == (directory / "corpus.arpa").read_bytes()


def test_train_with_all_options(directory: Path) -> None:
    (directory / "words.txt").write_text("the cat dog sat saw unseen\n", encoding="utf-8")
    (directory / "more.txt.gz").write_bytes(gzip.compress(HELD_OUT))
    arguments = (
        "--order 4 --prune 0,0,1 --vocabulary words.txt --unk-below 2 --memory 1M --temporary . --quiet"
    )
    succeed(directory, "lm", "train", "corpus.txt", "more.txt.gz", *arguments.split(), "-o", "new.arpa.xz")
    expected = train(
        (TEXT + HELD_OUT).decode().splitlines(),
        4,
        prune=(0, 0, 1),
        vocabulary=["the", "cat", "dog", "sat", "saw", "unseen"],
        unknown_below=2,
    )
    expected.save(directory / "expected.arpa.xz")
    assert (directory / "new.arpa.xz").read_bytes() == (directory / "expected.arpa.xz").read_bytes()


def test_train_replaces_an_older_model_only_when_it_succeeds(directory: Path) -> None:
    before = names(directory)
    (directory / "bad.txt").write_bytes(b"fine\n<s> not fine\n")
    old = (directory / "corpus.arpa").read_bytes()
    done = run(directory, "lm", "train", "bad.txt", "-o", "corpus.arpa")
    assert done.status == 1
    assert done.stderr == (
        "hiddenite: error: bad.txt:2: found the word <s>, expected none: "
        "sentence boundaries are added to each line; remove it\n"
    )
    assert (directory / "corpus.arpa").read_bytes() == old
    assert names(directory) == sorted([*before, "bad.txt"])


# score


def test_score_gives_one_record_a_line(directory: Path, model: NgramModel) -> None:
    done = succeed(directory, "lm", "score", "--lm", "corpus.arpa", stdin=HELD_OUT)
    expected = model.score(HELD_OUT.decode().splitlines())
    assert records(done.stdout) == [score.to_dict() for score in expected]
    assert [list(record) for record in records(done.stdout)] == [["log_prob", "tokens", "oov"]] * 3
    assert [record["oov"] for record in records(done.stdout)] == [0, 0, 1]


def test_score_from_a_file_to_a_file_in_json(directory: Path) -> None:
    piped = succeed(directory, "lm", "score", "--lm", "corpus.arpa.gz", stdin=HELD_OUT)
    done = succeed(directory, "lm", "score", "--lm", "corpus.arpa.gz", "heldout.txt", "-o", "scores")
    assert done.stdout == b""
    assert (directory / "scores").read_bytes() == piped.stdout


def test_score_summary(directory: Path, model: NgramModel) -> None:
    done = succeed(directory, "lm", "score", "--lm", "corpus.arpa", "heldout.txt", "--summary")
    (record,) = records(done.stdout)
    assert list(record) == ["sentences", "tokens", "oov", "log_prob", "perplexity", "perplexity_without_oov"]
    assert record == model.score(HELD_OUT.decode().splitlines()).summary().to_dict()


def test_score_of_nothing_and_of_empty_lines(directory: Path, model: NgramModel) -> None:
    assert succeed(directory, "lm", "score", "--lm", "corpus.arpa").stdout == b""
    (record,) = records(succeed(directory, "lm", "score", "--lm", "corpus.arpa", "--summary").stdout)
    assert record == {
        "sentences": 0,
        "tokens": 0,
        "oov": 0,
        "log_prob": 0.0,
        "perplexity": None,
        "perplexity_without_oov": None,
    }
    done = succeed(directory, "lm", "score", "--lm", "corpus.arpa", stdin=b"\n \n\r\n")
    empty = {"log_prob": model.log_prob("</s>", ["<s>"]), "tokens": 1, "oov": 0}
    assert records(done.stdout) == [empty] * 3


def test_score_is_the_same_for_any_number_of_threads(directory: Path) -> None:
    text = (TEXT + HELD_OUT) * 2000  # several pieces for each thread
    arguments = ["lm", "score", "--lm", "corpus.arpa", "--threads"]
    one = succeed(directory, *arguments, "1", stdin=text)
    assert len(one.lines()) == 7 * 2000
    assert succeed(directory, *arguments, "2", stdin=text).stdout == one.stdout


def test_score_across_the_blocks_in_which_text_is_read(directory: Path, model: NgramModel) -> None:
    line = b"the cat sat on the mat and saw the dog "
    text = (line * 50 + b"\n") * 2000 + b"</s>\n"  # four megabytes, read in blocks of one
    done = run(directory, "lm", "score", "--lm", "corpus.arpa", stdin=text)
    assert done.status == 1
    assert done.stderr.startswith("hiddenite: error: <stdin>:2001: found the word </s>")
    expected = model.score([(line * 50).decode()])[0].to_dict()
    assert set(map(json.dumps, records(done.stdout))) == {json.dumps(expected)}


def test_score_without_unk(directory: Path) -> None:
    (directory / "closed.arpa").write_text(
        "\\data\\\nngram 1=3\n\\1-grams:\n-99 <s>\n-1 </s>\n-1 the\n\\end\\\n", encoding="utf-8"
    )
    done = run(directory, "lm", "score", "--lm", "closed.arpa", stdin=b"the horse\n")
    assert done.status == 0
    assert done.stderr == (
        "hiddenite: warning: closed.arpa: lists no <unk>: "
        "words outside its vocabulary have probability zero\n"
    )
    assert records(done.stdout) == [{"log_prob": None, "tokens": 3, "oov": 1}]
    arguments = ["lm", "score", "--lm", "closed.arpa", "--unk-log10", "-4"]
    (record,) = records(succeed(directory, *arguments, stdin=b"the horse\n").stdout)
    assert record["log_prob"] == pytest.approx(-6 * math.log(10), rel=2**-22)  # three floats
    assert run(directory, "lm", "score", "--lm", "closed.arpa", "--quiet", stdin=b"the\n").stderr == ""


# maximize and info


def test_maximize_adds_two_columns(directory: Path, model: NgramModel) -> None:
    succeed(directory, "lm", "maximize", "corpus.arpa", "--output", "corpus.max.arpa")
    plain = (directory / "corpus.arpa").read_text(encoding="utf-8").splitlines()
    wide = (directory / "corpus.max.arpa").read_text(encoding="utf-8").splitlines()
    assert len(plain) == len(wide)
    for short, long in zip(plain, wide, strict=True):
        if "\t" not in short:
            assert long == short
            continue
        assert long.startswith(short + "\t")
        columns = long.split("\t")
        assert len(columns) == len(short.split("\t")) + 2
        *context, word = columns[1].split(" ")
        expected = model.max_log_prob(word, context)
        found = float(columns[-2]) * math.log(10) if columns[-2] != "-99" else -math.inf
        assert found == pytest.approx(expected, rel=2**-23)  # nine digits of a float


def test_info(directory: Path, model: NgramModel) -> None:
    done = succeed(directory, "lm", "info", "corpus.arpa.gz")
    assert b"order            3\n" in done.stdout
    (record,) = records(succeed(directory, "lm", "info", "corpus.arpa.gz", "--json").stdout)
    assert record["order"] == 3
    assert record["vocabulary"] == len(model.vocabulary)
    assert record["ngrams"] == list(model.ngram_counts)
    assert record["unknown_words"] is True
    assert record["memory_bytes"] == NgramModel.load(directory / "corpus.arpa.gz").memory_bytes


# Errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("lm score --lm absent.arpa", "absent.arpa: cannot be opened: No such file or directory"),
        ("lm info .", ".: is a directory, expected a file"),
        ("lm info corpus.txt", "corpus.txt:4: found no line '\\data\\', expected an ARPA file"),
        ("lm score --lm corpus.arpa absent.txt", "absent.txt: cannot be opened: No such file or directory"),
        (
            "lm maximize corpus.arpa -o absent/m.arpa",
            "absent/m.arpa: cannot be written: No such file or dire",
        ),
        (
            "lm train corpus.txt absent.txt -o m.arpa",
            "absent.txt: cannot be opened: No such file or directory",
        ),
        ("lm train /dev/null -o m.arpa", "/dev/null: the text is empty, expected at least one sentence"),
        ("lm train corpus.txt -o m.arpa --vocabulary absent", "absent: cannot be opened: No such file"),
    ],
)
def test_an_error_is_one_line_and_status_1(directory: Path, arguments: str, message: str) -> None:
    before = names(directory)
    done = run(directory, *arguments.split())
    assert done.status == 1
    assert done.stdout == b""
    assert done.stderr.startswith(f"hiddenite: error: {message}")
    assert done.stderr.count("\n") == 1
    assert names(directory) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("lm score", "Missing option '--lm'"),
        ("lm train corpus.txt", "Missing option '--output'"),
        ("lm train -o m.arpa", "TEXT is missing"),
        ("lm train corpus.txt -o m.arpa --order 0", "--order is 0, expected 1 to 64"),
        ("lm train corpus.txt -o m.arpa --prune 0,x", "--prune is '0,x', expected counts such as 0,0,1"),
        ("lm train corpus.txt -o m.arpa --prune 1", "expected 0 for words"),
        ("lm train corpus.txt -o m.arpa --memory 2Q", "--memory is '2Q', expected a size such as 500M or 2G"),
        ("lm train corpus.txt -o m.arpa --memory 1K", "expected at least 1 MiB"),
        ("lm score --lm corpus.arpa --unk-log10 1", "--unk-log10 is 1.0, expected at most 0"),
        ("lm score --lm corpus.arpa --threads -1", "--threads is -1, expected 0 to 4096"),
        ("lm scrore", "no such command 'scrore'; did you mean 'score'?"),
        ("--no-such-option", "No such option"),
    ],
)
def test_a_usage_error_is_status_2(directory: Path, arguments: str, message: str) -> None:
    before = names(directory)
    done = run(directory, *arguments.split())
    assert done.status == 2
    assert done.stdout == b""
    assert done.stderr.startswith("hiddenite: error: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert names(directory) == before


def test_a_process_without_stdin_or_stdout(directory: Path) -> None:
    closed_stdin = f"{shlex.quote(HIDDENITE)} lm score --lm corpus.arpa <&-"
    closed_stdout = f"{shlex.quote(HIDDENITE)} lm score --lm corpus.arpa heldout.txt >&-"
    for line, stream in ((closed_stdin, "<stdin>: cannot be opened"), (closed_stdout, "<stdout>: cannot be")):
        done = subprocess.run(
            line, shell=True, cwd=directory, env=environment(), capture_output=True, check=False
        )
        assert done.returncode == 1
        assert done.stderr.decode().startswith(f"hiddenite: error: {stream}")
        assert done.stderr.count(b"\n") == 1


def test_a_reader_that_has_seen_enough(directory: Path) -> None:
    (directory / "long.txt").write_bytes(TEXT * 20_000)
    process = start(directory, ["lm", "score", "--lm", "corpus.arpa", "long.txt"])
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b'{"log_prob"')
    process.stdout.close()
    process.stdout = None
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert stderr == b""


# Interrupts


def interrupted(process: subprocess.Popen[bytes], close_stdin: bool) -> None:
    """Send control-C and see the command end as it should."""
    if close_stdin:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 130, stderr
    assert stdout == b""
    assert stderr.decode() == "hiddenite: interrupted; no output was changed, run the command again\n"


# Enough to be busy with for a second after it has been read.
BIG_TEXT = b"".join(
    b"w%d w%d w%d w%d w%d\n" % (i % 7919, i % 101, i % 997, i % 13, i) for i in range(200_000)
)


@pytest.mark.parametrize("phase", ["reading", "estimating"])
def test_an_interrupt_leaves_nothing_behind(directory: Path, phase: str) -> None:
    before = names(directory)
    old = (directory / "corpus.arpa").read_bytes()
    process = start(directory, ["lm", "train", "-", "--order", "6", "-o", "corpus.arpa", "--temporary", "."])
    assert process.stdin is not None
    process.stdin.write(BIG_TEXT)  # returns when all but a pipe's buffer has been read
    process.stdin.flush()
    interrupted(process, close_stdin=phase == "estimating")
    assert (directory / "corpus.arpa").read_bytes() == old
    assert names(directory) == before


# Help


def help_of(directory: Path, *command: str) -> str:
    return succeed(directory, *command, "--help").stdout.decode()


COMMANDS = ["lm train", "lm score", "lm maximize", "lm info", ""]  # the last one runs the demo


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_that_runs(directory: Path, command: str) -> None:
    text = help_of(directory, *command.split())
    (example,) = [line.split("Example: ")[1] for line in text.splitlines() if "Example: " in line]
    program, *arguments = shlex.split(example)
    assert program == "hiddenite"
    assert arguments[: len(command.split())] == command.split()
    done = run(directory, *arguments)
    assert done.status == 0, done.stderr
    output = directory / arguments[arguments.index("--output") + 1] if "--output" in arguments else None
    assert done.stdout if output is None else output.exists()


def test_help_tells_the_memory(directory: Path) -> None:
    assert "MB per million" in help_of(directory, "lm", "train")


def test_the_bare_command_shows_its_help(directory: Path) -> None:
    done = run(directory)
    assert done.status in (0, 2)  # as typer's versions have it
    assert {"Usage:", "lm", "demo", "decode"} <= set((done.stdout.decode() + done.stderr).split())
    assert "Traceback" not in done.stderr


def test_help_names_the_commands(directory: Path) -> None:
    assert {"train", "score", "maximize", "info"} <= set(help_of(directory, "lm").split())
    assert {"lm", "demo"} <= set(help_of(directory).split())


def test_version(directory: Path) -> None:
    assert succeed(directory, "--version").stdout.decode() == f"hiddenite {hiddenite.__version__}\n"


def test_the_command_is_installed() -> None:
    assert shutil.which(HIDDENITE)


def test_counts_as_google_has_them(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"the dog barks\nthe cat sleeps\na dog sleeps\n")
    refused = run(tmp_path, "lm", "count", "text", "--google")
    assert (refused.status, refused.stdout) == (2, b"")
    assert "--google needs --output FOLDER" in refused.stderr
    succeed(tmp_path, "lm", "count", "text", "--order", "2", "--google", "--output", "counts", "--quiet")
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("counts/*/*")) == [
        "counts/1gms/vocab.gz",
        "counts/2gms/2gm-0000.gz",
    ]
    ask = ("lm", "train", "--order", "2", "--quiet", "--output")
    succeed(tmp_path, *ask, "text.arpa", "text")
    succeed(tmp_path, *ask, "counts.arpa", "--counts", "counts")
    scores = [
        succeed(tmp_path, "lm", "score", "--lm", f"{name}.arpa", "text").stdout for name in ("text", "counts")
    ]
    assert scores[0] == scores[1]
