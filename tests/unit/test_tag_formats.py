"""Tagged text in and out."""

from pathlib import Path

import pytest

from hiddenite import FormatError
from hiddenite.files.corpus import ChunkReader
from hiddenite.tag.formats import FormatName, Record, format_of, read_records, read_tagged, write_record

TINY = Path(__file__).resolve().parents[1] / "data" / "tags" / "tiny.conllu"


def records(
    directory: Path, content: str | bytes, file_format: FormatName, tags: bool = True
) -> list[Record]:
    path = directory / "file"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with ChunkReader(path) as reader:
        return list(read_records(reader, file_format, with_tags=tags))


def complaint(directory: Path, content: str | bytes, file_format: FormatName) -> str:
    with pytest.raises(FormatError) as caught:
        records(directory, content, file_format)
    return str(caught.value).replace(str(directory), "")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x.conllu", "conllu"),
        ("x.conllu.gz", "conllu"),
        ("x.tsv.xz", "tsv"),
        ("x.txt", "plain"),
        ("x", "tsv"),
        ("-", "tsv"),
    ],
)
def test_the_name_tells_the_format(name: str, expected: str) -> None:
    assert format_of(name, "tsv") == expected


def test_tsv(tmp_path: Path) -> None:
    found = records(tmp_path, "the\tD\ndog\tN\textra\n\n\nit\tP\n", "tsv")
    assert [(r.words, r.tags, r.line) for r in found] == [
        (("the", "dog"), ("D", "N"), 1),
        ((), (), 4),
        (("it",), ("P",), 5),
    ]
    assert "".join(write_record(r, r.tags, "tsv") for r in found) == "the\tD\ndog\tN\n\n\nit\tP\n\n"


def test_words_alone_may_have_no_tag(tmp_path: Path) -> None:
    assert [r.words for r in records(tmp_path, "the\ndog\tN\r\n", "tsv", tags=False)] == [("the", "dog")]


def test_plain_text_keeps_empty_lines(tmp_path: Path) -> None:
    found = records(tmp_path, " the  dog \n\nit\n", "plain")
    assert [(r.words, r.line) for r in found] == [(("the", "dog"), 1), ((), 2), (("it",), 3)]
    assert "".join(write_record(r, ["T"] * len(r.words), "plain") for r in found) == "T T\n\nT\n"


@pytest.mark.parametrize("column", ["upos", "xpos"])
def test_conllu_is_filled_and_otherwise_left_alone(column: str) -> None:
    found = list(read_tagged(str(TINY), column=column))
    assert [r.id for r in found] == ["one", "two"]
    assert found[0].words == ("The", "dog", "'s", "barks", ".")
    assert found[0].tags[:2] == (("DET", "NOUN") if column == "upos" else ("DT", "NN"))
    text = TINY.read_text(encoding="utf-8")
    assert "".join(write_record(r, r.tags, "conllu", column) for r in found) == text
    marked = "".join(write_record(r, ["X"] * len(r.tags), "conllu", column) for r in found)
    assert marked.count("\tX\t") == 9
    assert "2-3\tdog's\t_\t_\t_" in marked
    assert "3.1\tempty\t_\tVERB\tVB" in marked


def test_conllu_from_other_formats() -> None:
    text = write_record(Record(("a", "b"), (), 1), ["X", "Y"], "conllu", "upos")
    assert text == "1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n2\tb\t_\tY\t_\t_\t_\t_\t_\t_\n\n"
    assert write_record(Record((), (), 1), [], "conllu", "upos") == "\n"


def test_space_in_a_conllu_word(tmp_path: Path) -> None:
    line = "1\t10 000\t_\tNUM\tCD\t_\t_\t_\t_\t_\n\n"
    (found,) = records(tmp_path, line, "conllu")
    assert found.words == ("10\u00a0000",)
    assert write_record(found, ["CD"], "conllu") == line


@pytest.mark.parametrize(
    ("content", "file_format", "expected"),
    [
        ("the\tD\ndog\n", "tsv", "/file:2: found one column, 'dog', expected word TAB tag"),
        ("the\t\n", "tsv", "/file:1: found the tag '', expected one without white space"),
        ("the\t<s>\n", "tsv", "/file:1: found the tag <s>, which is reserved"),
        ("the dog\tD\n", "tsv", "/file:1: found the word 'the dog', expected one without white space"),
        ("\n\tD\n", "tsv", "/file:2: found the word '', expected"),
        ("a b " * 99, "tsv", f"/file:1: found the word '{'a b ' * 10}…', expected one"),
        ("the\tD" + " N" * 99, "tsv", f"/file:1: found the tag 'D{' N' * 19} …', expected one"),
        ("the dog", "conllu", "/file:1: found 1 column, expected the 10 of CoNLL-U"),
        (b"the\tD\n\xff\tN\n", "tsv", "/file:2: column 1: found a byte that is not UTF-8"),
        (b"the\tD\nx\0\tN\n", "tsv", "/file:2: column 2: found a NUL byte"),
        ("1\tthe\tD\n", "conllu", "/file:1: found 3 columns, expected the 10 of CoNLL-U"),
        ("x" + "\t_" * 9 + "\n", "conllu", "/file:1: found the id 'x', expected 1, 1-2 or 1.1"),
        ("1\t" + "\t_" * 8 + "\n", "conllu", "/file:1: found an empty word"),
        ("# c\n1\ta\t_\t_\t\t_\t_\t_\t_\t_\n", "conllu", "/file:2: found the tag ''"),
    ],
)
def test_errors_name_the_line(
    tmp_path: Path, content: str | bytes, file_format: FormatName, expected: str
) -> None:
    assert complaint(tmp_path, content, file_format).startswith(expected)


def test_plain_text_has_no_tags(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("the dog\n", encoding="utf-8")
    with pytest.raises(FormatError, match="is plain text, expected words with tags"):
        list(read_tagged(str(tmp_path / "x.txt")))
