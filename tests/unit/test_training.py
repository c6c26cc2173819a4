"""Training: what text and which options are accepted, and what is said about the others."""

import gzip
import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hiddenite import FormatError, HiddeniteWarning, ModelError, NgramModel, TrainingOptions
from hiddenite._core import KneserNeyTrainer
from hiddenite.ngram_training import read_vocabulary
from tests.models import save, train, without_warnings

TEXT = "the cat sat\nthe dog sat on the mat\n\nthe cat\n"
SENTENCES = ["the cat sat", "the dog sat on the mat", "", "the cat"]


def train_text(tmp_path: Path, text: str | bytes, order: int = 2, name: str = "text") -> NgramModel:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with without_warnings():
        return NgramModel.train_files([path], TrainingOptions(order=order))


# Text

USABLE: dict[str, str | bytes] = {
    "as it is": TEXT,
    "no line end at the end": TEXT.removesuffix("\n"),
    "carriage returns": TEXT.replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + TEXT,
    "much space": TEXT.replace(" ", " \t \v\f "),
    "compressed": gzip.compress(TEXT.encode()),
    "compressed twice over": gzip.compress(TEXT[:20].encode()) + gzip.compress(TEXT[20:].encode()),
}


@pytest.mark.parametrize("text", USABLE.values(), ids=USABLE)
def test_usable(tmp_path: Path, text: str | bytes) -> None:
    assert save(train_text(tmp_path, text)) == save(train(SENTENCES, 2))


def test_words_sentences_and_files_give_the_same_model(tmp_path: Path) -> None:
    expected = save(train(SENTENCES, 3))
    assert save(train([sentence.split() for sentence in SENTENCES], 3)) == expected
    (tmp_path / "one").write_text("the cat sat\nthe dog sat on the mat", encoding="utf-8")
    (tmp_path / "two").write_text("\nthe cat\n", encoding="utf-8")
    with without_warnings():
        model = NgramModel.train_files([tmp_path / "one", tmp_path / "two"], TrainingOptions(order=3))
    assert save(model) == expected


REFUSED: dict[str, tuple[str | bytes, str]] = {
    "<s>": ("a b\na <s> b\n", "text:2: found the word <s>, expected none: sentence boundaries are added"),
    "</s>": ("a b\n\n\nb </s>\n", "text:4: found the word </s>, expected none"),
    "no UTF-8": ("a b\nabc é d\n".encode("latin-1"), "text:2: column 5: found a byte that is not UTF-8"),
    "half a character": ("a é".encode()[:-1], "text:1: column 3: found a byte that is not UTF-8"),
    "a surrogate": (b"a \xed\xa0\x80", "text:1: column 3: found a byte that is not UTF-8"),
    "an overlong form": (b"1234567 \xc0\xaf", "text:1: column 9: found a byte that is not UTF-8"),
    "beyond Unicode": (b"\xf4\x90\x80\x80", "text:1: column 1: found a byte that is not UTF-8"),
    "NUL": ("a b\na\0b\n", "text:2: column 2: found a NUL byte, expected text; is this a binary file?"),
    "a line beyond all measure": (
        b"a b\n" + b"x " * (9 << 20),
        "text:2: the line is longer than 16 MiB, expected text with one record a line",
    ),
    "a truncated archive": (gzip.compress(TEXT.encode())[:-1], "text:1: the archive ends early"),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        train_text(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path}/{message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", [b"", gzip.compress(b"")], ids=["plain", "compressed"])
def test_an_empty_text_is_refused(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(ModelError, match=r"text.*: the text is empty, expected at least one sentence"):
        train_text(tmp_path, text)
    with pytest.raises(ModelError, match="the text is empty"):
        NgramModel.train([])


def test_empty_sentences_are_sentences(tmp_path: Path) -> None:
    model = train_text(tmp_path, "\n\n\n", order=3)
    # </s> follows <s> three times, so c - D3+ = 1.5 of 3; one word, <s>, stands to its left, so c - D1 = 0.5
    # of 1. What is left goes to the lower order, at last to </s> and <unk> in equal parts.
    assert model.order == 2
    assert math.exp(model.log_prob("</s>")) == pytest.approx(0.75, rel=2**-23)
    assert math.exp(model.log_prob("</s>", ["<s>"])) == pytest.approx(0.5 + 0.5 * 0.75, rel=2**-23)
    assert math.exp(model.log_prob("<unk>", ["<s>"])) == pytest.approx(0.5 * 0.25, rel=2**-23)


def test_unk_in_the_text_is_the_unknown_word() -> None:
    model = train(["a <unk> b", "a <unk>"], 2)
    assert list(model.vocabulary) == ["<unk>", "<s>", "</s>", "a", "b"]
    assert model.log_prob("never-seen", ["a"]) == model.log_prob("<unk>", ["a"]) > model.log_prob("b", ["a"])


def test_an_error_of_the_caller_passes() -> None:
    def sentences() -> Iterator[str]:
        yield "a b"
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        NgramModel.train(sentences())


def test_missing_files_and_directories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="absent: cannot be opened: No such file or directory"):
        NgramModel.train_files([tmp_path / "absent"], TrainingOptions())
    with pytest.raises(FormatError, match="is a directory, expected a file"):
        NgramModel.train_files([tmp_path], TrainingOptions())


# Discounts


def test_the_fall_back_is_told_in_one_warning() -> None:
    with pytest.warns(HiddeniteWarning) as caught:
        model = NgramModel.train(SENTENCES, order=2)
    assert [str(w.message) for w in caught] == [
        "too few different counts for the Kneser-Ney discounts of order 1, 2: using 0.5, 1 and 1.5 there"
    ]
    assert caught[0].filename == __file__
    assert [(d.order, d.d1, d.d2, d.d3, d.closed_form) for d in model.discounts] == [
        (1, 0.5, 1.0, 1.5, False),
        (2, 0.5, 1.0, 1.5, False),
    ]


def test_the_closed_form_makes_no_warning() -> None:
    # Words of order 1 with counts 1, 1, 1, 2, 2, 3 and </s> with 6: n1 = 3, n2 = 2, n3 = 1, n4 = 0.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NgramModel.train(["a", "b", "c", "d d", "e e", "f f f"], order=1)
    (discount,) = model.discounts
    assert discount.closed_form
    y = 3 / (3 + 2 * 2)
    assert (discount.d1, discount.d2, discount.d3) == pytest.approx((1 - 2 * y * 2 / 3, 2 - 3 * y * 1 / 2, 3))


# Options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 0}, "order is 0, expected 1 to 64"),
        ({"order": 65}, "order is 65, expected 1 to 64"),
        ({"prune": (1,)}, "prune is 1, expected 0 for words"),
        ({"prune": (0, 2, 1)}, "prune is 0,2,1, expected 0 for words, then counts that never decrease"),
        ({"memory_bytes": 1000}, "memory is 1000 bytes, expected at least 1 MiB"),
        ({"vocabulary": ["a", "b c"]}, "the vocabulary contains 'b c', expected words without white space"),
        ({"vocabulary": ["a", ""]}, "the vocabulary contains ''"),
        ({"vocabulary": ["a\0"]}, "expected words without white space or NUL"),
        ({"vocabulary": "abc"}, "the vocabulary is a string, expected a collection of words"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        NgramModel.train(SENTENCES, **options)
    assert message in str(caught.value)


def test_the_highest_order_is_trained_and_read_again(tmp_path: Path) -> None:
    model = train([" ".join("abcdefgh" * 10)], 64)
    assert model.order == 64
    model.save(tmp_path / "m.arpa")
    assert NgramModel.load(tmp_path / "m.arpa").ngram_counts == model.ngram_counts


def test_a_vocabulary_limits_the_words() -> None:
    model = train(["a b c", "a b d"], 2, vocabulary=["a", "b", "unseen"])
    assert sorted(model.vocabulary) == sorted(["<unk>", "<s>", "</s>", "a", "b", "unseen"])
    assert model.log_prob("c", ["b"]) == model.log_prob("<unk>", ["b"]) > model.log_prob("a", ["b"])
    assert math.isfinite(model.log_prob("unseen"))


def test_rare_words_become_unknown_also_those_of_a_vocabulary() -> None:
    assert list(train(["a b c", "a b"], 2, unknown_below=2).vocabulary) == ["<unk>", "<s>", "</s>", "a", "b"]
    model = train(["a b c", "a b"], 2, unknown_below=2, vocabulary=["a", "c"])
    assert list(model.vocabulary) == ["<unk>", "<s>", "</s>", "a"]


def test_temporary_files_go_where_they_are_sent(tmp_path: Path) -> None:
    # The trainer itself, because the public interface keeps at least a megabyte in memory.
    def trainer(directory: Path) -> KneserNeyTrainer:
        chunks = iter([b"a b c d e f g\n" * 1000])
        result = KneserNeyTrainer(2, [], 0, None, 0, str(directory))
        result.add(lambda: next(chunks, b""), "text")
        return result

    table, _, sentences, tokens = trainer(tmp_path).finish()
    assert (table.order, sentences, tokens) == (2, 1000, 8000)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ModelError, match=r"no temporary file can be made in .*/absent: No such file"):
        trainer(tmp_path / "absent")


# Vocabulary files


def test_a_vocabulary_file_is_words_between_white_space(tmp_path: Path) -> None:
    path = tmp_path / "words.gz"
    path.write_bytes(gzip.compress("\ufeffa b\r\nä\n\n<unk>\n".encode()))
    assert read_vocabulary(path) == ["a", "b", "ä", "<unk>"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ": has no word, expected a vocabulary"),
        (b" \n\n", ": has no word, expected a vocabulary"),
        (b"a\nb \xff\n", ":2: column 3: found a byte that is not UTF-8"),
        (b"a\0", ":1: column 2: found a NUL byte"),
        (gzip.compress(b"a b")[:-1], ": the archive ends early"),
    ],
    ids=["empty", "blank", "not UTF-8", "NUL", "truncated archive"],
)
def test_a_bad_vocabulary_file_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "words"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        read_vocabulary(path)
    assert str(caught.value).startswith(f"{path}{message}")
