"""Tagged text: TSV, CoNLL-U and plain lines, read and written back.

=========  =======================================================================================
plain      one sentence a line, words between white space; tags are written the same way
tsv        ``word TAB tag``, an empty line after each sentence; further columns are not looked at
conllu     ten columns; the tag is column 4 (``upos``) or 5 (``xpos``)
=========  =======================================================================================

A file read for tagging is written back in its own format. Of CoNLL-U only the tag's column changes: comments,
multiword ranges (``3-4``) and empty nodes (``5.1``) pass as they are. An empty sentence stays one. White
space inside a CoNLL-U word, which the format allows, is a no-break space to the tagger.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from hiddenite.errors import FormatError, ModelError, shorten
from hiddenite.files.corpus import ChunkReader, decode, decode_part, line_blocks, tokenize

FormatName = Literal["auto", "plain", "tsv", "conllu"]
FORMATS = ("auto", "plain", "tsv", "conllu")
COLUMNS = {"upos": 3, "xpos": 4}
NOT_ANNOTATED = "_"
_RESERVED = ("<s>", "</s>", "<unk>")  # what the transition model adds itself
_NUM_COLUMNS = 10
_NODE = re.compile(r"(?:([1-9][0-9]*)|[1-9][0-9]*-[1-9][0-9]*|[0-9]+\.[1-9][0-9]*)")
_ARCHIVES = (".gz", ".bz2", ".xz")

TaggedSentence = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Record:
    """One sentence of a file."""

    words: tuple[str, ...]
    tags: tuple[str, ...]  # as many, or none if the format has none or they were not asked for
    line: int  # the file's line that it begins at, from 1
    lines: tuple[str, ...] = ()  # as they stand in the file, without line ends; of CoNLL-U only
    more: tuple[str, ...] = ()  # the third column of TSV, empty where there is none
    fault: str | None = None  # plain text only: why the line is no sentence; it has no words then

    @property
    def id(self) -> str | int:
        """The sentence's own name, ``# sent_id = x`` in CoNLL-U; else the number of its line."""
        for line in self.lines:
            if line.startswith("# sent_id = "):
                return line.removeprefix("# sent_id = ").strip()
        return self.line

    def pairs(self) -> list[tuple[str, str]]:
        """Return words with their tags."""
        return list(zip(self.words, self.tags, strict=True))


def format_of(path: str, default: FormatName) -> FormatName:
    """Tell a format by the file's name; ``default`` where the name does not say."""
    suffixes = [s.lower() for s in PurePath(path).suffixes if s.lower() not in _ARCHIVES]
    endings: dict[str, FormatName] = {".conllu": "conllu", ".conll": "conllu", ".tsv": "tsv", ".txt": "plain"}
    return endings.get(suffixes[-1], default) if suffixes else default


def untagged(column: str) -> str:
    """Return what to say of a text whose tags are all missing."""
    others = " or ".join(name for name in COLUMNS if name != column)
    return f"has only «{NOT_ANNOTATED}» for tags; in CoNLL-U, say --column {others} if the tags are there"


def check_format(name: str) -> None:
    """Raise ModelError for a format that does not exist."""
    if name not in FORMATS:
        raise ModelError(f"the format is '{name}', expected {', '.join(FORMATS)}")


def check_column(name: str) -> None:
    """Raise ModelError for a column that does not exist."""
    if name not in COLUMNS:
        raise ModelError(f"the column is '{name}', expected {' or '.join(COLUMNS)}")


# ----------------------------------------------------------------------- read


def read_tagged(
    path: str,
    file_format: FormatName = "auto",
    column: str = "xpos",
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[Record]:
    """Give the sentences of a tagged file, TSV unless its name says CoNLL-U; ``-`` is standard input."""
    chosen = format_of(path, "tsv") if file_format == "auto" else file_format
    if chosen == "plain":
        raise FormatError(path, None, "is plain text, expected words with tags: --format tsv or conllu")
    with ChunkReader(path, on_progress) as reader:
        yield from read_records(reader, chosen, column, with_tags=True)


def read_records(
    reader: ChunkReader, file_format: FormatName, column: str = "xpos", with_tags: bool = False
) -> Iterator[Record]:
    """Give the sentences of an open file."""
    if file_format == "plain":
        yield from _read_plain(reader)
    elif file_format == "conllu":
        check_column(column)
        yield from _read_conllu(_numbered_lines(reader), reader.name, COLUMNS[column], with_tags)
    else:
        yield from _read_tsv(_numbered_lines(reader), reader.name, with_tags)


def _read_plain(reader: ChunkReader) -> Iterator[Record]:
    """Give the lines; one that is no text is a record with a fault, as others may be sentences."""
    for block, first_line in line_blocks(reader):
        lines = block.split(b"\n")
        if lines[-1] == b"":  # the end of the last line, not a line of its own
            lines.pop()
        for number, line in enumerate(lines, first_line):
            yield _plain_record(line, number, reader.name)


def _plain_record(line: bytes, number: int, name: str) -> Record:
    try:
        text = (decode if number == 1 else decode_part)(line, name)
    except FormatError as error:
        return Record((), (), number, fault=error.message)
    return Record(tuple(tokenize(text)), (), number)


def _numbered_lines(reader: ChunkReader) -> Iterator[tuple[int, str]]:
    for block, first_line in line_blocks(reader):
        try:
            text = decode(block, reader.name)
        except FormatError as error:
            bad_line = first_line + (error.line or 1) - 1
            raise FormatError(reader.name, bad_line, error.message) from None
        lines = text.split("\n")
        if lines[-1] == "":  # the end of the last line, not a line of its own
            lines.pop()
        for number, line in enumerate(lines, first_line):
            yield number, line.removesuffix("\r")


def _read_tsv(lines: Iterable[tuple[int, str]], name: str, with_tags: bool) -> Iterator[Record]:
    words: list[str] = []
    tags: list[str] = []
    more: list[str] = []
    number = 0
    for number, line in lines:
        if line == "":
            yield Record(tuple(words), tuple(tags), number - len(words), more=tuple(more))
            words, tags, more = [], [], []
            continue
        word, tab, rest = line.partition("\t")
        if with_tags and not tab and len(word.split()) == 2:
            raise FormatError(
                name,
                number,
                f"found {shorten(word)!r}: a space between word and tag, expected a tab; replace the spaces",
            )
        if tokenize(word) != [word]:
            raise FormatError(
                name, number, f"found the word {shorten(word)!r}, expected one without white space"
            )
        words.append(word)
        if with_tags:
            if not tab:
                raise FormatError(
                    name, number, f"found one column, '{shorten(word)}', expected word TAB tag; {_TSV_HINT}"
                )
            tag, _, third = rest.partition("\t")
            _check_tag(tag, name, number)
            tags.append(tag)
            more.append(third.partition("\t")[0])
    if words:
        yield Record(tuple(words), tuple(tags), number - len(words) + 1, more=tuple(more))


_TSV_HINT = "say --format conllu if it is that"


def _check_tag(tag: str, name: str, number: int) -> None:
    fault = tag_fault(tag)
    if fault:
        raise FormatError(name, number, fault)


def tag_fault(tag: str) -> str:
    """Return what is wrong with a tag, as one line; empty if nothing is."""
    if tag in _RESERVED:
        return f"found the tag {tag}, which is reserved: sentence ends are added"
    if not tag or tokenize(tag) != [tag] or "\0" in tag:
        return f"found the tag {shorten(tag)!r}, expected one without white space"
    return ""


def _read_conllu(
    lines: Iterable[tuple[int, str]], name: str, column: int, with_tags: bool
) -> Iterator[Record]:
    words: list[str] = []
    tags: list[str] = []
    kept: list[str] = []
    number = 0
    for number, line in lines:
        if not tokenize(line):
            yield Record(tuple(words), tuple(tags), number - len(kept), tuple(kept))
            words, tags, kept = [], [], []
            continue
        kept.append(line)
        if line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != _NUM_COLUMNS:
            found = "1 column" if len(fields) == 1 else f"{len(fields)} columns"
            raise FormatError(name, number, f"found {found}, expected the 10 of CoNLL-U, separated by tabs")
        node = _NODE.fullmatch(fields[0])
        if node is None:
            raise FormatError(name, number, f"found the id '{shorten(fields[0])}', expected 1, 1-2 or 1.1")
        if node[1] is None:
            continue
        if not fields[1].strip():
            raise FormatError(name, number, "found an empty word")
        words.append("\u00a0".join(tokenize(fields[1])))
        if with_tags:
            _check_tag(fields[column], name, number)
            tags.append(fields[column])
    if kept:
        yield Record(tuple(words), tuple(tags), number - len(kept) + 1, tuple(kept))


# ---------------------------------------------------------------------- write


def write_record(record: Record, tags: Sequence[str], file_format: FormatName, column: str = "xpos") -> str:
    """Return a sentence with its tags as text, its end included."""
    if file_format == "conllu":
        return _fill_column(record, tags, COLUMNS[column])
    if file_format == "tsv":
        return "".join(f"{w}\t{t}\n" for w, t in zip(record.words, tags, strict=True)) + "\n"
    return " ".join(tags) + "\n"


def _fill_column(record: Record, tags: Sequence[str], column: int) -> str:
    """Return the record's lines with the tags of its words in their column."""
    if not record.lines:
        return _new_conllu(record, tags, column)
    left = iter(tags)
    lines = []
    for line in record.lines:
        if line.startswith("#") or not line.partition("\t")[0].isdigit():
            lines.append(line)
            continue
        fields = line.split("\t")
        fields[column] = next(left)
        lines.append("\t".join(fields))
    return "\n".join([*lines, "", ""])


def _new_conllu(record: Record, tags: Sequence[str], column: int) -> str:
    """Return words that come from another format as CoNLL-U, all else unknown."""
    lines = []
    for number, (word, tag) in enumerate(zip(record.words, tags, strict=True), 1):
        fields = [str(number), word, *["_"] * (_NUM_COLUMNS - 2)]
        fields[column] = tag
        lines.append("\t".join(fields))
    return "\n".join([*lines, "", ""] if lines else ["", ""])
