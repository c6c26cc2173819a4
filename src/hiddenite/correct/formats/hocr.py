"""hOCR: HTML in which words are elements of the class ``ocrx_word``.

What a word was and can be goes into its ``title``, as the properties ``x_original`` and ``x_alternatives``.
Glyphs (``ocrx_cinfo``) with their confidence, and other readings nested in them as Tesseract writes them
(``lstm_choice_mode``), are read into ``Word.readings``: evidence of what was meant.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from hiddenite.correct.answers import Change
from hiddenite.correct.documents import Edit, Passage, Word
from hiddenite.correct.formats.glyphs import combine
from hiddenite.correct.formats.xml import (
    Found,
    Tag,
    alternatives,
    assemble,
    attributes,
    check_xml,
    content_edits,
    line_of,
    number,
    quoted,
    tags,
)
from hiddenite.errors import FormatError

_BLOCKS = ("ocr_par", "ocr_carea", "ocr_page")  # the innermost that the file has is used
_LINES = ("ocr_line", "ocrx_line", "ocr_header", "ocr_caption", "ocr_textfloat")
_CONFIDENCE = re.compile(r"\bx_confs?\s+([\d.]+)")


def passages(document: str, name: str) -> Iterator[Passage]:
    """Give the paragraphs of a document."""
    if document.removeprefix("\ufeff").lstrip().startswith("<?xml"):
        check_xml(document, name)
    yield from assemble(document, _Scan(document, name).words())


class _Scan:
    """One walk over the tags."""

    def __init__(self, document: str, name: str) -> None:
        self._document = document
        self._name = name
        self._block = next((kind for kind in _BLOCKS if re.search(rf"\b{kind}\b", document)), "")
        self._open: list[tuple[str, str, int]] = []  # name, class, offset
        self._waiting: list[Found] = []
        self._word: Found | None = None
        self._room = -1
        self._glyphs: list[list[tuple[str, float]]] = []
        self._lines = 0

    def words(self) -> Iterator[Found]:
        """Give the words; those of a block when its end is known."""
        for tag in tags(self._document):
            if tag.kind == "text":
                self._see_text(tag)
            elif tag.kind == "start" and not tag.is_empty:
                self._begin(tag)
            elif tag.kind == "end" and self._end(tag) == self._block:
                yield from self._closed(tag.end)
        if self._word is not None:
            place = next(offset for _, kind, offset in self._open if kind == "ocrx_word")
            line = line_of(self._document, place)
            raise FormatError(self._name, line, "found an ocrx_word without its end, expected the end tag")
        yield from self._closed(len(self._document))

    def _closed(self, end: int) -> list[Found]:
        found, self._waiting = self._waiting, []
        for word in found:
            word.block = end
        return found

    def _begin(self, tag: Tag) -> None:
        found = attributes(self._document, tag)
        classes = found["class"].value.split() if "class" in found else []
        kind = next((one for one in classes if one.startswith("ocr")), "")
        self._open.append((tag.name, kind, tag.start))
        if kind in _LINES:
            self._lines += 1
        elif kind == "ocrx_word" and self._word is None:
            room = found["title"].end if "title" in found else -1
            self._word = Found("", [], self._lines, 0, [], room)
            self._glyphs = []
        elif kind == "ocrx_cinfo" and self._word is not None:
            confidence = _CONFIDENCE.search(found["title"].value if "title" in found else "")
            self._glyphs.append([("", number(confidence and confidence[1]))])

    def _end(self, tag: Tag) -> str:
        """Close the innermost open element of that name; return its class."""
        place = next((i for i in reversed(range(len(self._open))) if self._open[i][0] == tag.name), None)
        if place is None:
            return ""
        kind = self._open[place][1]
        del self._open[place:]
        if kind == "ocrx_word" and self._word is not None:
            if self._word.runs:
                self._word.readings = combine(self._word.text, self._glyphs)
                self._waiting.append(self._word)
            self._word = None
        return kind

    def _see_text(self, tag: Tag) -> None:
        if self._word is None:
            return
        content = self._document[tag.start : tag.end]
        if not content.strip():
            return
        start = tag.start + len(content) - len(content.lstrip())
        end = tag.start + len(content.rstrip())
        text = html.unescape(content.strip())
        depth = sum(kind == "ocrx_cinfo" for _, kind, _ in self._open)
        if depth and self._glyphs:
            share = self._glyphs[-1][0][1]
            if depth == 1:
                self._glyphs[-1][0] = (text, share)
            elif len(self._glyphs) > 1:  # another reading, nested in the glyph before
                self._glyphs.pop()
                self._glyphs[-1].append((text, share))
                return
        self._word.text += text
        self._word.runs.append((start, end))


def write_word(passage: Passage, word: Word, new: str, changes: Sequence[Change]) -> Iterator[Edit]:
    """Give the edits that write a word: its content, and what it was and can be in its title."""
    yield from content_edits(passage.raw, word, new)
    if word.room < 0:
        return
    (old, share), *others = alternatives(passage.text[word.start : word.end], changes)
    properties = f'; x_original "{_plain(old)}" {share:.4f}'
    rest = " ".join(f'"{_plain(text)}" {chance:.4f}' for text, chance in others if text != new)
    if rest:
        properties += f"; x_alternatives {rest}"
    yield Edit(word.room, word.room, properties.replace('"', "&quot;"))


def _plain(text: str) -> str:
    return quoted(text.replace('"', "”").replace(";", ","))
