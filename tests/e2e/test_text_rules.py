"""The rules of text, which are those of all commands."""

import json
from pathlib import Path

import pytest

from tests.e2e.command import names, run, succeed
from tests.models import train

LINES = ["the dog barks .", "the cat sleeps ."] * 3


@pytest.fixture
def place(tmp_path: Path) -> Path:
    train(LINES, 2).save(tmp_path / "lm.arpa")
    (tmp_path / "text.txt").write_text("".join(f"{line}\n" for line in LINES))
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        "lm train text.txt --output text.txt",
        "lm score --lm lm.arpa text.txt --output text.txt",
        "lm score --lm lm.arpa text.txt --output lm.arpa",
        "encode text.txt --output ./text.txt",
        "hmmlm cluster text.txt --clusters 2 --output text.txt",
    ],
)
def test_an_output_that_is_read_is_refused(place: Path, arguments: str) -> None:
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    done = run(place, *arguments.split())
    assert done.status == 2
    assert "which is read; give another file" in done.stderr
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


def test_devices_are_the_standard_streams(place: Path) -> None:
    text = (place / "text.txt").read_bytes()
    piped = succeed(place, "lm", "score", "--lm", "lm.arpa", stdin=text).stdout
    arguments = ["lm", "score", "--lm", "lm.arpa", "/dev/stdin", "--output", "/dev/stdout"]
    assert succeed(place, *arguments, stdin=text).stdout == piped
    assert names(place) == ["lm.arpa", "text.txt"]


def test_a_byte_order_mark_is_left_out(place: Path) -> None:
    mark = b"\xef\xbb\xbf"
    record = b'{"slots": [[["the", 0]], [["dog", -1], ["cat", -1]]]}\n'
    decode = ["decode", "--lm", "lm.arpa", "--channel", "slots"]
    assert succeed(place, *decode, stdin=mark + record).stdout == succeed(place, *decode, stdin=record).stdout
    score = ["lm", "score", "--lm", "lm.arpa"]
    assert (
        succeed(place, *score, stdin=mark + b"the dog\n").stdout
        == succeed(place, *score, stdin=b"the dog\n").stdout
    )


@pytest.mark.parametrize("space", ["\u00a0", "\u2009", "\u3000", "\u0085"])
def test_a_unicode_space_is_part_of_a_word(place: Path, space: str) -> None:
    text = f"the{space}dog barks .\n".encode()
    scored = json.loads(succeed(place, "lm", "score", "--lm", "lm.arpa", stdin=text).stdout)
    assert (scored["tokens"], scored["oov"]) == (4, 1)
    (place / "gold.tsv").write_text(f"the{space}dog\tN\n\nbarks\tV\n\n")
    succeed(place, "tag", "train", "gold.tsv", "--order", "1", "--output", "model", "--quiet")
    tagged = json.loads(succeed(place, "tag", "run", "--model", "model", "--json", stdin=text).stdout)
    assert tagged["words"] == [f"the{space}dog", "barks", "."]


@pytest.mark.parametrize("command", ["lm score --lm lm.arpa", "decode --lm lm.arpa --channel typo", "encode"])
def test_a_binary_file_is_one_error(place: Path, command: str) -> None:
    data = bytes(i * i % 256 for i in range(5000)) + b"\n"
    done = run(place, *command.split(), stdin=data * 50)
    assert done.status == 1
    assert done.stderr == "hiddenite: error: <stdin>: is a binary file, expected text\n"
    assert done.stdout == b""


@pytest.mark.parametrize(
    "command",
    [
        "lm score --lm lm.arpa",
        "decode --lm lm.arpa --channel keypad",
        "marginals --lm lm.arpa --channel typo",
        "encode",
    ],
)
def test_no_records_in_are_no_records_out(place: Path, command: str) -> None:
    assert succeed(place, *command.split(), stdin=b"").stdout == b""


@pytest.mark.parametrize(
    "command",
    [
        "lm train - --output out",
        "tag train - --output out",
        "induce run --tags 2",
        "hmmlm train em - --states 2 --clusters 1 --output out",
        "align train - --output out",
    ],
)
def test_a_training_without_a_word_is_an_error(place: Path, command: str) -> None:
    done = run(place, *command.split(), "--quiet", stdin=b"")
    assert done.status == 1
    assert done.stderr.startswith("hiddenite: error: ")
    assert done.stderr.count("\n") == 1
    assert names(place) == ["lm.arpa", "text.txt"]
