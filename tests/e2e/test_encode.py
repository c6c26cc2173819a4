"""hiddenite encode as a user runs it."""

import re
import subprocess
from pathlib import Path

import pytest

from hiddenite.channel import encoder_from_name
from hiddenite.cli.encode import COMMANDS
from tests.e2e import command
from tests.e2e.command import HIDDENITE, Done, names


def run(*arguments: str | Path, text: str | bytes = "") -> Done:
    given = text.encode() if isinstance(text, str) else text
    return command.run(Path.cwd(), "encode", *arguments, stdin=given)


def test_text_becomes_keys_line_by_line() -> None:
    done = run("--channel", "keypad", text="The dog,\tbarks !\n\n  \nÉté 42\nno newline")
    assert done.status == 0
    assert done.stdout == b"843 3640 22757 0\n\n\n383 42\n66 6395463\n"
    assert done.stderr == ""


def test_noise_is_that_of_the_library_and_names_its_seed() -> None:
    text = "many messages are sent\n" * 3
    done = run("--noise", "--seed", "5", "--ambiguity", "2", text=text)
    assert done.stdout == encoder_from_name("keypad", 2.0).encode_text(text.encode(), 5, "<text>")
    assert done.stderr == "hiddenite: seed 5\n"
    assert run("--noise", "--seed", "5", "--ambiguity", "2", "--quiet", text=text).stderr == ""
    assert run("--noise", "--seed", "6", "--ambiguity", "2", text=text).stdout != done.stdout


def test_a_seed_that_was_not_given_can_be_used_again() -> None:
    text = "many messages are sent\n" * 20
    done = run("--noise", "--ambiguity", "1", text=text)
    match = re.fullmatch(r"hiddenite: seed (\d+)\n", done.stderr)
    assert match
    again = run("--noise", "--ambiguity", "1", "--seed", match[1], text=text)
    assert again.stdout == done.stdout


def test_files_in_and_out(tmp_path: Path) -> None:
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("a dog\n", encoding="utf-8")
    assert run(source, "--output", target).status == 0
    assert target.read_text(encoding="utf-8") == "2 364\n"


def test_a_failure_leaves_the_old_output(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old", encoding="utf-8")
    done = run("--output", target, text=b"a dog\n\xc3\xa9 \xff\n")
    assert done.status == 1
    assert done.stderr.startswith("hiddenite: error: <stdin>:2: column 3: found a byte that is not UTF-8")
    assert target.read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == ["out.txt"]


def test_other_channels_encode_too(tmp_path: Path) -> None:
    table = tmp_path / "ocr.tsv"
    table.write_text("rn\tm\t1\n", encoding="utf-8")
    noisy = run("--channel", f"confusion:{table}", "--noise", "--seed", "1", text="modern\n")
    assert noisy.stdout == b"modem\n"
    assert run("--channel", "typo", text="a  dog\n").stdout == b"a dog\n"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--channel", "kepad"], 1, "error: unknown channel 'kepad'; did you mean keypad?"),
        (["--channel", "slots"], 1, "error: the channel slots cannot encode text"),
        (
            ["--channel", "typo", "--noise", "--ambiguity", "3"],
            2,
            "has no effect with --channel typo",
        ),
        (["--channel", "confusion:/nowhere"], 1, "error: /nowhere: cannot be opened"),
        (["/nowhere"], 1, "error: /nowhere: cannot be opened"),
        (["--ambiguity", "-1"], 2, "--ambiguity"),
        (["--ambiguity", "nan"], 2, "--ambiguity"),
        (["--seed", "1"], 2, "--seed has no effect without --noise"),
        (["--noise", "--seed", "-1"], 2, "--seed"),
    ],
)
def test_mistakes_are_told(arguments: list[str], status: int, message: str) -> None:
    done = run(*arguments, text="a\n")
    assert done.status == status
    assert message in done.stderr


def test_the_example_of_the_help_runs() -> None:
    example = COMMANDS["encode"][2].replace("hiddenite", HIDDENITE)
    done = subprocess.run(example, shell=True, capture_output=True, check=False, text=True)
    assert done.returncode == 0
    assert re.fullmatch(r"\d{3} \d{3} \d{5}\n", done.stdout)
    assert "Example: " in run("--help").stdout.decode()
