"""The lines of a document, with their ends; and masks, which the streaming formats share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hiddenite.correct.documents import Passage
from hiddenite.errors import FormatError
from hiddenite.files.corpus import ChunkReader, decode_part, line_blocks

MAX_LINES = 200  # of a passage: paragraphs may be endless
MAX_DOCUMENT_BYTES = 256 << 20  # of a file that is read at once


class Line(NamedTuple):
    """A line as it is in the file, with its end."""

    text: str  # bytes that are no UTF-8 are surrogates (PEP 383), so that they can be written as they were
    number: int
    fault: str | None = None


def numbered_lines(reader: ChunkReader) -> Iterator[Line]:
    """Give the lines of a file; one that is no UTF-8 has a fault and is kept."""
    for block, first in line_blocks(reader):
        yield from _decoded(block, first, reader.name)


def _decoded(block: bytes, first: int, name: str) -> Iterator[Line]:
    number, begin = first, 0
    while begin < len(block):
        end = block.find(b"\n", begin) + 1 or len(block)
        yield _line(block[begin:end], number, name)
        number, begin = number + 1, end


def _line(content: bytes, number: int, name: str) -> Line:
    try:
        return Line(decode_part(content, name), number)
    except FormatError as error:
        return Line(content.decode(errors="surrogateescape"), number, error.message)


def whole_document(lines: Iterable[Line], name: str) -> str:
    """Return a document that must be read at once."""
    texts: list[str] = []
    size = 0
    for line in lines:
        if line.fault is not None:
            raise FormatError(name, line.number, line.fault)
        texts.append(line.text)
        size += len(line.text)
        if size > MAX_DOCUMENT_BYTES:
            raise FormatError(
                name, None, f"is larger than {MAX_DOCUMENT_BYTES >> 20} MiB; give one file a page"
            )
    return "".join(texts)


def faulty(line: Line) -> Passage:
    """Return the passage of a line that cannot be read."""
    return Passage(line.text, "", line.number, None, line.fault)


def blank(text: str) -> str:
    """Return blanks in place of all characters but line ends."""
    return re.sub(r"[^\r\n]", " ", text)


def masked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with some of its pieces blank.

    A word that is joined to a piece on either side («un*believ*able») is blank as a whole: its parts are no
    words.
    """
    characters = list(text)
    for start, end in spans:
        first, last = start, end
        if start > 0 and end < len(text) and text[start - 1].isalnum() and text[end].isalnum():
            while first > 0 and not text[first - 1].isspace():
                first -= 1
            while last < len(text) and not text[last].isspace():
                last += 1
        characters[first:last] = blank(text[first:last])
    return "".join(characters)
