"""The confusion channel: its file, its alignments, what it draws."""

import math
from collections.abc import Hashable
from pathlib import Path

import pytest

from hiddenite.channel import Confusion, encoder_from_name
from hiddenite.errors import FormatError, ModelError
from tests.channel_oracle import unigram_model
from tests.statistics import FALSE_ALARM, chi_square_p_value

DRAWS = 100_000
TABLE = "# OCR\nrn\tm\t0.05\nm\trn\t0.01\no\t0\t0.02\n\t.\t0.001\nk\t\t0.01\n"


def write(path: Path, text: str | bytes) -> str:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


@pytest.fixture
def table(tmp_path: Path) -> str:
    return write(tmp_path / "ocr.tsv", TABLE)


def test_pieces_are_confused(table: str) -> None:
    model = unigram_model(["modern", "modem", "dog", "took", "too"])
    candidates = Confusion(model.vocabulary, table)("modem d0g too.")
    kept, of_r, of_m, of_o = 1 - 0.001, 1 - 0.001 - 0.05, 1 - 0.001 - 0.01, 1 - 0.001 - 0.02
    assert dict(candidates.slot(0)) == pytest.approx(
        {
            "modem": math.log(of_m * of_o * kept * kept * of_m * kept),
            "modern": math.log(of_m * of_o * kept * kept * 0.05 * kept),
        }
    )
    assert dict(candidates.slot(1))["dog"] == pytest.approx(math.log(kept * 0.02 * kept * kept))
    assert dict(candidates.slot(2))["took"] == pytest.approx(math.log(kept * of_o**2 * 0.01 * 0.001 * kept))
    assert of_r < kept


def test_comments_escapes_and_own_entries(tmp_path: Path) -> None:
    text = "#\t#\t0.5\n\n \t\n\\#\tH\t0.25\r\n\\\\\t|\t0.1\na\ta\t0.5\na\to\t0.1\n"
    channel = Confusion(
        unigram_model(["#", "\\", "a"]).vocabulary, write(tmp_path / "t", text), unknown=False
    )
    candidates = channel("H | # \\ a o")
    assert [candidates.words(i) for i in range(6)] == [["#"], ["\\"], ["#"], ["\\"], ["a"], ["a"]]
    assert candidates.log_weights == pytest.approx([math.log(p) for p in (0.25, 0.1, 0.75, 0.9, 0.5, 0.1)])


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a\tb\n", 1, "found 2 fields, expected three with tabs between them"),
        ("a b 0.1\n", 1, "found 1 fields"),
        ("a\tb\t0.1\tx\n", 1, "found 4 fields"),
        ("\n\na\tb\tone\n", 3, "found 'one', expected a probability above 0 and at most 1"),
        ("a\tb\t0.1x\n", 1, "found '0.1x'"),
        ("a\tb\t\n", 1, "found ''"),
        ("a\tb\t0\n", 1, "found '0'"),
        ("a\tb\t-0.1\n", 1, "found '-0.1'"),
        ("a\tb\t1.5\n", 1, "found '1.5'"),
        ("a\tb\tnan\n", 1, "found 'nan'"),
        ("a\tb\t1e999\n", 1, "found '1e999'"),
        ("\t\t0.1\n", 1, "found an entry with both sides empty"),
        ("abcd\tb\t0.1\n", 1, "found 4 intended characters, expected at most 3"),
        ("a\tbbbb\t0.1\n", 1, "found 4 seen characters, expected at most 3"),
        ("a b\tb\t0.1\n", 1, "found white space in the intended characters"),
        ("a\tb\t0.1\nb\ta\t0.1\na\tb\t0.2\n", 3, "found the entry of line 1 again"),
        ("a#\tb\t0.1\na\\#\tb\t0.1\n", 2, "found the entry of line 1 again"),
        ("a\t\\n\t0.1\n", 1, "found a single \\ in the seen characters"),
        (b"a\t\xff\t0.1\n", 1, "column 3: found a byte that is not UTF-8"),
        ("a\tb\t0.6\nab\tc\t0.5\n", 2, "add up to 1.1"),
        ("a\tb\t0.6\n\tc\t0.5\n", 1, "add up to 1.1"),
        ("\ta\t0.6\n\tb\t0.4\n", None, "no word would ever end"),
        ("# nothing\n", None, "holds no entry"),
        ("", None, "holds no entry"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str | bytes, line: int | None, message: str) -> None:
    path = write(tmp_path / "bad.tsv", text)
    with pytest.raises(FormatError) as caught:
        encoder_from_name(f"confusion:{path}")
    assert caught.value.file == path
    assert caught.value.line == line
    assert message in caught.value.message


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be opened"):
        Confusion(unigram_model(["a"]).vocabulary, tmp_path / "none.tsv")


@pytest.mark.parametrize("beam", [-1.0, math.nan])
def test_bad_beams_are_refused(table: str, beam: float) -> None:
    with pytest.raises(ModelError, match=r"beam is .*, expected at least 0"):
        Confusion(unigram_model(["a"]).vocabulary, table, beam=beam)


def test_unknown_words_follow_the_model(table: str) -> None:
    does_not = unigram_model(["word"], unknown=False)
    assert Confusion(unigram_model(["word"]).vocabulary, table)("xyz").words(0) == ["xyz"]
    assert Confusion(does_not.vocabulary, table)("xyz").words(0) == []
    assert Confusion(does_not.vocabulary, table, unknown=True)("xyz").words(0) == ["xyz"]


# Draws: "rna" with four pieces; the law by hand. A piece that does not apply is not drawn.

EXACT: dict[Hashable, float] = {"rna": 0.4 * 0.75 * 0.9, "ma": 0.5 * 0.9, "nna": 0.1 * 0.75 * 0.9}
EXACT |= {"rma": 0.4 * 0.25 * 0.9, "nma": 0.1 * 0.25 * 0.9}
EXACT |= {str(word).removesuffix("a"): p / 9 for word, p in EXACT.items()}
PIECES = "rn\tm\t0.5\nr\tn\t0.1\nn\tm\t0.25\na\t\t0.1\nax\ty\t0.3\n"


def draws(path: str) -> list[str]:
    return encoder_from_name(f"confusion:{path}").encode("rna " * DRAWS, seed=1).split()


def test_noise_follows_the_model(tmp_path: Path) -> None:
    assert math.fsum(EXACT.values()) == pytest.approx(1.0)
    assert chi_square_p_value(draws(write(tmp_path / "t", PIECES)), EXACT) > FALSE_ALARM


def test_noise_that_does_not_follow_the_model_is_seen(tmp_path: Path) -> None:
    twin = PIECES.replace("0.5", "0.48")
    assert chi_square_p_value(draws(write(tmp_path / "t", twin)), EXACT) < FALSE_ALARM


def test_inserted_pieces_are_drawn(tmp_path: Path) -> None:
    path = write(tmp_path / "t", "\t.\t0.5\n")
    words = encoder_from_name(f"confusion:{path}").encode("a " * DRAWS, seed=1).split()
    # Two places, each with a geometric number: a negative binomial law.
    law: dict[Hashable, float] = {n: (n + 1) * 0.5 ** (n + 2) for n in range(60)}
    assert chi_square_p_value([word.count(".") for word in words], law) > FALSE_ALARM
