"""ALTO XML: words are ``String`` elements; what else a word can be goes into ``ALTERNATIVE``.

``ALTERNATIVE`` of a word, and ``Variant`` of its glyphs (ALTO 4) with their confidence, are read into
``Word.readings``: evidence of what was meant.
"""

from __future__ import annotations

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
    number,
    prefix,
    quoted,
    tags,
)

_PURPOSE = "hiddenite"
_ALTERNATIVE_SHARE = 0.1  # of an ALTERNATIVE, which has no number of its own


def passages(document: str, name: str) -> Iterator[Passage]:
    """Give the text blocks of a document."""
    check_xml(document, name)
    yield from assemble(document, _words(document))


def _words(document: str) -> Iterator[Found]:
    """Give the words; those of a block when its end is known."""
    waiting: list[Found] = []
    line = depth = 0
    word: Found | None = None
    reader = _Readings()
    for tag in tags(document):
        if tag.name == "TextBlock":
            depth += {"start": not tag.is_empty, "end": -1}[tag.kind]
            if tag.kind == "end" and depth == 0:
                yield from _closed(waiting, tag.end)
                waiting = []
        elif tag.name == "TextLine" and tag.kind == "start":
            line += 1
        elif tag.name == "String" and tag.kind == "start":
            word = _string(document, tag, line)
            if word is not None:
                waiting.append(word)
        elif tag.name == "String" and word is not None:
            word.readings = reader.finish(word.text)
            word = None
        if word is not None:
            reader.see(document, tag, word)
    yield from _closed(waiting, len(document))


def _closed(words: list[Found], end: int) -> list[Found]:
    for word in words:
        word.block = end
    return words


def _string(document: str, tag: Tag, line: int) -> Found | None:
    found = attributes(document, tag)
    content = found.get("CONTENT")
    if content is None or not content.value.strip():
        return None
    room = tag.end - 2 if tag.is_empty else -1
    is_fixed = "SUBS_CONTENT" in found
    return Found(content.value, [(content.start, content.end)], line, 0, [], room, is_fixed)


class _Readings:
    """What the children of a word say; also finds the room for alternatives among them."""

    def __init__(self) -> None:
        self._words: list[tuple[str, float]] = []
        self._glyphs: list[list[tuple[str, float]]] = []
        self._in_alternative = False

    def see(self, document: str, tag: Tag, word: Found) -> None:
        """Look at one child, or at the tag of the word itself."""
        if tag.kind == "start" and tag.name in ("ALTERNATIVE", "Glyph") and word.room < 0:
            word.room = tag.start
        if tag.name == "ALTERNATIVE":
            is_open = tag.kind == "start" and not tag.is_empty
            purpose = attributes(document, tag).get("PURPOSE") if is_open else None
            ours = purpose is not None and purpose.value.startswith(_PURPOSE)  # of an earlier correction
            self._in_alternative = is_open and not ours
        elif tag.kind == "text" and self._in_alternative:
            self._words.append((document[tag.start : tag.end].strip(), _ALTERNATIVE_SHARE))
        elif tag.kind == "start" and tag.name in ("Glyph", "Variant"):
            found = attributes(document, tag)
            share = found.get("GC") or found.get("VC")
            if tag.name == "Glyph":
                self._glyphs.append([])
            if "CONTENT" in found and self._glyphs:
                self._glyphs[-1].append((found["CONTENT"].value, number(share and share.value)))

    def finish(self, text: str) -> tuple[tuple[str, float], ...]:
        """Return the other readings of the word that ends."""
        found = combine(text, self._glyphs, self._words)
        self.__init__()  # type: ignore[misc]
        return found


def write_word(passage: Passage, word: Word, new: str, changes: Sequence[Change]) -> Iterator[Edit]:
    """Give the edits that write a word: its content, and what it was and can be as ALTERNATIVE."""
    yield from content_edits(passage.raw, word, new)
    start = passage.raw.rfind("<", 0, word.runs[0][0])
    name = prefix(passage.raw, start)
    old = passage.text[word.start : word.end]
    others = "".join(
        f'<{name}ALTERNATIVE PURPOSE="{_PURPOSE} {share:.4f}">{quoted(text, "")}</{name}ALTERNATIVE>'
        for text, share in alternatives(old, changes)
        if text != new
    )
    if word.room >= 0 and passage.raw.startswith("/>", word.room):
        yield Edit(word.room, word.room + 2, f">{others}</{name}String>")
    else:
        place = word.room if word.room >= 0 else passage.raw.find(f"</{name}String", word.runs[0][1])
        yield Edit(place, place, others)
