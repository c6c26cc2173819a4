"""File formats of ``hiddenite correct``: which one a file has, and its passages.

===========  ============================================================  =====================
plain        text of any kind, a line a passage                            streams
markdown     code, links, HTML and front matter are masked                 streams
srt, vtt     subtitles: numbers, times, tags and notes are masked          streams
hocr         HTML of OCR engines, words in ``ocrx_word``                   the whole file at once
alto         ALTO XML, words in ``String``                                 the whole file at once
page         PAGE XML, words in ``Word``, or lines in ``TextLine``         the whole file at once
===========  ============================================================  =====================

A format is told by the beginning of a file, then by its name. ``docs/howto/ocr.md`` shows what becomes of OCR
files.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator

from hiddenite.correct.documents import Passage, Writer
from hiddenite.correct.formats import alto, hocr, markdown, page, plain, subtitles
from hiddenite.correct.formats.lines import Line, numbered_lines, whole_document
from hiddenite.files.corpus import ChunkReader

FORMATS = ("auto", "plain", "markdown", "hocr", "alto", "page", "srt", "vtt")
LOOKED_AT = 4096  # characters at the beginning
_SUFFIXES = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".hocr": "hocr",
    ".srt": "srt",
    ".vtt": "vtt",
}
_PACKED = (".gz", ".bz2", ".xz")
_XML_READERS = {"hocr": hocr.passages, "alto": alto.passages, "page": page.passages}
WRITERS: dict[str, Writer] = {"hocr": hocr.write_word, "alto": alto.write_word, "page": page.write_word}


def recognise(name: str, head: str) -> str:
    """Return the format of a file by its first characters and its name."""
    head = head.removeprefix("\ufeff").lstrip()
    if head.startswith("<"):
        if re.search(r"<(\w+:)?alto[\s>]", head):
            return "alto"
        if re.search(r"<(\w+:)?PcGts[\s>]", head):
            return "page"
        if re.search(r"""class\s*=\s*["']ocr""", head) or "ocr-system" in head:
            return "hocr"
    if re.match(r"WEBVTT(?![^ \t\r\n])", head):
        return "vtt"
    if re.match(r"\d+[ \t]*\r?\n" + subtitles.SRT_TIMES, head):
        return "srt"
    base, suffix = os.path.splitext(name.lower())
    return _SUFFIXES.get(os.path.splitext(base)[1] if suffix in _PACKED else suffix, "plain")


def read_passages(
    reader: ChunkReader, form: str = "auto", *, paragraphs: bool = False
) -> tuple[str, Iterator[Passage]]:
    """Return the format of a file and its passages; ``paragraphs`` joins the lines of plain text."""
    lines = numbered_lines(reader)
    if form == "auto":
        first = _head(lines)
        form = recognise(reader.name, "".join(line.text for line in first)[:LOOKED_AT])
        lines = itertools.chain(first, lines)
    if form in _XML_READERS:
        return form, _XML_READERS[form](whole_document(lines, reader.name), reader.name)
    if form == "plain":
        return form, plain.paragraphs(lines) if paragraphs else plain.passages(lines)
    if form == "markdown":
        return form, markdown.passages(lines)
    return form, subtitles.passages(lines, form)


def _head(lines: Iterator[Line]) -> list[Line]:
    """Take as many lines as tell the format; one that begins no markup is enough."""
    found: list[Line] = []
    size = 0
    for line in lines:
        found.append(line)
        size += len(line.text)
        is_blank = not line.text.strip("\ufeff \t\r\n")
        is_markup = found[0].text.lstrip("\ufeff \t").startswith("<")
        if size >= LOOKED_AT or not (is_markup or is_blank or len(found) == 1):
            break
    return found
