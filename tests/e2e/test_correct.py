"""The command correct as a user runs it: text in, text out, and what happens to bad input."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.e2e.command import Done, names, run, succeed

SENTENCES = [
    "the lord is my shepherd , i shall not want .",
    "the shepherd gives his life for the sheep .",
    "the sheep follow the shepherd over the hill .",
    "i shall not want the old house on the hill .",
    "the old house stands under the quiet hill .",
    "my sheep want the quiet house , the lord said .",
]
NOISY = b"Teh lord, is my  shephrd.\r\n\tI shal not want!  \n\nteh shep follow\n"
CLEAN = b"The lord, is my  shepherd.\r\n\tI shall not want!  \n\nthe sheep follow\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("correct")
    (place / "text.txt").write_text("".join(f"{line}\n" for line in SENTENCES * 5))
    assert run(place, "lm", "train", "text.txt", "--order", "3", "--output", "lm.arpa", "-q").status == 0
    (place / "noisy.txt").write_bytes(NOISY)
    return place


def correct(folder: Path, *arguments: str, stdin: bytes = NOISY) -> Done:
    return run(folder, "correct", "--lm", "lm.arpa", *arguments, stdin=stdin)


def test_all_but_the_words_comes_back(folder: Path) -> None:
    for arguments in ((), ("noisy.txt",), ("-",), ("noisy.txt", "--threads", "1"), ("run", "noisy.txt")):
        done = run(folder, "correct", *arguments, "--lm", "lm.arpa", stdin=NOISY)
        assert (done.status, done.stderr) == (0, "")
        assert done.stdout == CLEAN


def test_changes_json_diff_and_page_agree(folder: Path) -> None:
    rows = [line.split(b"\t") for line in correct(folder, "--changes").lines()]
    assert [row[:3] for row in rows] == [
        [b"1:1", b"Teh", b"The"],
        [b"1:18", b"shephrd", b"shepherd"],
        [b"2:4", b"shal", b"shall"],
        [b"4:1", b"teh", b"the"],
        [b"4:5", b"shep", b"sheep"],
    ]
    records = [json.loads(line) for line in correct(folder, "--json").lines()]
    assert [record["text"] for record in records] == CLEAN.decode().replace("\r", "").splitlines()
    found = [f"{one['probability']:.3f}" for record in records for one in record["changes"]]
    assert found == [row[3].decode() for row in rows]
    assert all(record["certificate"]["exact"] for record in records)
    diff = correct(folder, "--diff").stdout.splitlines(keepends=True)
    assert b"".join(line[1:] for line in diff[3:] if line[:1] in b" +") == CLEAN
    page = correct(folder, "noisy.txt", "--html").stdout.decode()
    assert page.count('<mark class="') - 3 == len(rows)  # three are the legend


def test_probability_thresholds(folder: Path) -> None:
    assert correct(folder, "--min-probability", "1").stdout.count(b"\n") == NOISY.count(b"\n")
    assert len(correct(folder, "--changes", "--min-probability", "0").lines()) >= 5
    careful = correct(folder, "--changes", "--careful").lines()
    assert all(float(line.split(b"\t")[3]) >= 0.5 for line in careful)
    done = correct(folder, "--careful", "--min-probability", "0.5")
    assert done.status == 2
    assert "--careful has no effect with --min-probability" in done.stderr


def test_samples_are_whole_texts(folder: Path) -> None:
    done = correct(folder, "--samples", "20", "--seed", "3", "--json")
    records = [json.loads(line) for line in done.lines()]
    assert [sum(one["count"] for one in record["samples"]) for record in records] == [20, 20, 20, 20]
    assert records[0]["samples"][0]["text"] == "The lord, is my  shepherd."
    again = correct(folder, "--samples", "20", "--seed", "3", "--json", "--threads", "1")
    assert again.stdout == done.stdout
    text = correct(folder, "--samples", "2", "--seed", "3", "--quiet")
    assert text.stdout.split(b"\n\n")[0].startswith((b"2\t", b"1\t"))
    assert correct(folder, "--seed", "3").status == 2


def test_samples_refuse_thresholds_and_obey_protection(folder: Path) -> None:
    draw = ("--samples", "2", "--seed", "1", "--quiet")
    for arguments in (("--min-probability", "0.5"), ("--careful",)):
        done = correct(folder, *draw, *arguments)
        assert done.status == 2
        assert "has no effect with --samples" in done.stderr
    protected = correct(folder, *draw, stdin=b"@shephrd\n")
    assert protected.stdout == b"2\t@shephrd\n\n"
    assert b"@shepherd" in correct(folder, *draw, "--unprotect", "names", stdin=b"@shephrd\n").stdout


def test_any_seed_draws(folder: Path) -> None:
    for seed in (0, 2**32, 2**63 - 1):
        assert correct(folder, "--samples", "2", "--seed", str(seed), "--quiet").status == 0


def test_formats_by_name_and_by_option(folder: Path) -> None:
    content = b"Teh `teh` shephrd\n"
    (folder / "a.md").write_bytes(content)
    assert correct(folder, "a.md").stdout == b"The `teh` shepherd\n"
    cue = b"1\n00:00:01,000 --> 00:00:02,000\n<i>Teh shephrd</i>\n"
    assert correct(folder, stdin=cue).stdout == cue.replace(b"Teh shephrd", b"The shepherd")
    assert correct(folder, "--format", "hocr", stdin=b"<p>teh</p>").stdout == b"<p>teh</p>"
    done = correct(folder, "a.md", "--paragraphs")
    assert (done.status, done.stdout) == (2, b"")
    assert "--paragraphs needs plain text; a.md is markdown" in done.stderr


def test_outputs_are_whole_and_can_be_resumed(folder: Path, tmp_path: Path) -> None:
    big = NOISY * 300
    (tmp_path / "big.txt").write_bytes(big)
    lm = ("--lm", folder / "lm.arpa")
    succeed(tmp_path, "correct", "big.txt", *lm, "--output", "out.txt", "--quiet")
    assert (tmp_path / "out.txt").read_bytes() == CLEAN * 300
    succeed(tmp_path, "correct", "big.txt", *lm, "--output", "parts/", "--quiet")
    succeed(tmp_path, "correct", "big.txt", *lm, "--output", "parts/", "--quiet", "--resume")
    done = run(tmp_path, "correct", "big.txt", *lm, "--output", "big.txt")
    assert done.status == 2
    assert (tmp_path / "big.txt").read_bytes() == big


def test_parquet_in_and_out(folder: Path, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"text": ["teh lord", "", "my shephrd"]}), tmp_path / "in.parquet")
    lm = ("--lm", folder / "lm.arpa")
    succeed(tmp_path, "correct", "in.parquet", *lm, "--output", "out.parquet", "--quiet")
    found = parquet.read_table(tmp_path / "out.parquet").to_pydict()
    assert found == {"record": [1, 2, 3], "text": ["the lord", "", "my shepherd"]}
    assert run(tmp_path, "correct", "in.parquet", *lm, "--html", "--output", "x.parquet").status == 2


def test_learn_tune_and_evaluate(folder: Path, tmp_path: Path) -> None:
    pairs = "teh lord\tthe lord\nmy shephrd\tmy shepherd\nthe hil\tthe hill\nthe sheep\tthe sheep\n" * 5
    (tmp_path / "pairs.tsv").write_text(pairs)
    lm = folder / "lm.arpa"
    done = run(
        tmp_path, "correct", "learn", "pairs.tsv", "--lm", lm, "--tune", "pairs.tsv", "-o", "m.corrector"
    )
    assert done.status == 0
    assert "learnt from 20 pairs" in done.stderr
    assert "tuned on 20 pairs" in done.stderr
    assert run(tmp_path, "correct", "--model", "m.corrector", stdin=b"Teh hil").stdout == b"The hill"
    more = ("correct", "learn", "pairs.tsv", "--unpaired", "--from", "m.corrector", "-o", "n.corrector", "-q")
    assert run(tmp_path, *more).status == 0
    text = succeed(tmp_path, "correct", "evaluate", "pairs.tsv", "--model", "m.corrector").stdout.decode()
    assert re.search(r"^F1, F0.5 +100.0 %, 100.0 %$", text, re.MULTILINE)
    record = json.loads(
        succeed(tmp_path, "correct", "evaluate", "pairs.tsv", "--model", "m.corrector", "--json").stdout
    )
    assert record["f1"] == 1
    for name, content in (("a.txt", "teh\nlord\n"), ("b.txt", "the\n")):
        (tmp_path / name).write_text(content)
    done = run(tmp_path, "correct", "learn", "a.txt", "b.txt", "--lm", lm, "-o", "x")
    assert done.stderr.splitlines()[-1] == (
        "hiddenite: error: b.txt:2: the file has no such line, expected as many as in the other file"
    )
    assert "x" not in names(tmp_path)


def test_help_and_near_spellings(folder: Path) -> None:
    text = run(folder, "correct", "--help").stdout.decode()
    assert text.startswith("Usage: hiddenite correct [OPTIONS] [FILE]")
    assert "correct learn" in text
    assert "correct evaluate" in text
    done = run(folder, "correct", "lern", "noisy.txt")
    assert (done.status, "did you mean 'learn'?" in done.stderr) == (2, True)
    done = run(folder, "correct", "absent.txt", "--lm", "lm.arpa")
    assert (done.status, done.stderr) == (
        1,
        "hiddenite: error: absent.txt: cannot be opened: No such file or directory\n",
    )
    assert "expected numbers" in run(folder, "correct", "--unprotect", "numbrs", stdin=b"").stderr


def test_words_of_the_user_stay(folder: Path) -> None:
    assert correct(folder, stdin=b"the shephrd").stdout == b"the shepherd"
    (folder / "words.txt").write_text("shephrd\n")
    assert correct(folder, "--words", "words.txt", stdin=b"the shephrd").stdout == b"the shephrd"
    (folder / "bad.txt").write_text("a\tx\n")
    done = correct(folder, "--words", "bad.txt")
    assert done.stderr == "hiddenite: error: bad.txt:1: found the frequency 'x', expected a positive number\n"


# -------------------------------------------------------------------- bad input


def test_lines_that_are_no_text_stay(folder: Path) -> None:
    done = correct(folder, stdin=b"teh lord\nteh \xff\xfe lord\nteh lord")
    assert done.stdout == b"the lord\nteh \xff\xfe lord\nthe lord"
    assert done.status == 1
    assert done.stderr.splitlines() == [
        "hiddenite: error: <stdin>:2: column 5: found a byte that is not UTF-8, expected UTF-8 text; "
        "convert it with iconv",
        "hiddenite: 1 of the records could not be answered",
    ]


def test_binary_input_is_one_line(folder: Path) -> None:
    done = correct(folder, stdin=os.urandom(1000) + bytes(1000))
    assert (done.status, done.stdout) == (1, b"")
    assert done.stderr == "hiddenite: error: <stdin>: is a binary file, expected text\n"


def test_empty_input_gives_empty_output(folder: Path) -> None:
    for form in ((), ("--changes",), ("--json",), ("--diff",)):
        done = correct(folder, *form, stdin=b"")
        assert (done.status, done.stdout, done.stderr) == (0, b"", "")


def test_an_endless_line_is_one_line(folder: Path, tmp_path: Path) -> None:
    with (tmp_path / "long.txt").open("wb") as out:
        for _ in range(100):
            out.write(b"teh lord " * 116_509)
    done = run(tmp_path, "correct", "long.txt", "--lm", folder / "lm.arpa", "--output", "out.txt")
    assert done.status == 1
    assert done.stderr.count("\n") == 1
    assert "long.txt:1: the line is longer than 16 MiB" in done.stderr
    assert names(tmp_path) == ["long.txt"]


def test_broken_xml_is_one_line_with_its_place(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "page.xml").write_text('<?xml version="1.0"?>\n<alto>\n<TextBlock>\n</alto>\n')
    done = run(tmp_path, "correct", "page.xml", "--lm", folder / "lm.arpa", "--output", "out.xml")
    assert done.status == 1
    assert done.stderr == (
        "hiddenite: error: page.xml:4: column 3: found mismatched tag, expected well-formed XML\n"
    )
    assert names(tmp_path) == ["page.xml"]


SCRIPTS = "\ufeff\u202ethe שלום \U0001f600\U0001f1e9\U0001f1ea السلام\n".encode()


@pytest.mark.parametrize(
    "content",
    [
        b"a" * 100_000 + b"\n",
        SCRIPTS,
        b"\x01\x02 the \x1b[0m lord \r\r\n\n\r",
        b"the\tlord\x0b\x0cis \xc2\xa0my\xe2\x80\xa8shepherd",
        b"if (a<b) { return x_y[0]; } // the lord\n\tmake -j4 CFLAGS=-O2\n",
    ],
    ids=["word", "scripts", "controls", "spaces", "code"],
)
def test_odd_text_comes_back(folder: Path, content: bytes) -> None:
    done = correct(folder, "--careful", stdin=content)
    assert (done.status, done.stdout) == (0, content)
