"""PAGE XML: words are ``Word`` elements with their ``TextEquiv``; a file without words has those of lines.

The text of a line or region that repeats the words is changed with them. What a word was and can be is added
as further ``TextEquiv`` with a higher index; such readings of the recogniser, and those of glyphs, are read
into ``Word.readings``: evidence of what was meant.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hiddenite.correct.answers import Change
from hiddenite.correct.documents import Edit, Passage, Word
from hiddenite.correct.formats.glyphs import combine
from hiddenite.correct.formats.xml import (
    Found,
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

_HOLDERS = ("TextRegion", "TextLine", "Word", "Glyph")
_WORD = re.compile(r"\S+")

_OURS = "hiddenite"  # what an earlier correction has added is no evidence


@dataclass(slots=True)
class _Reading:
    """The content of one TextEquiv."""

    index: int
    share: float
    start: int = -1  # of its Unicode element's content
    end: int = -1


@dataclass(slots=True)
class _Holder:
    """A region, line, word or glyph."""

    kind: str
    readings: list[_Reading] = field(default_factory=list)
    words: list[Found] = field(default_factory=list)
    glyphs: list[list[tuple[str, float]]] = field(default_factory=list)
    room: int = -1  # behind its last TextEquiv

    def best(self) -> _Reading | None:
        """Return what the recogniser says: the lowest index, the first of those."""
        filled = [one for one in self.readings if one.start >= 0]
        return min(filled, key=lambda one: one.index, default=None)


def passages(document: str, name: str) -> Iterator[Passage]:
    """Give the regions of a document."""
    check_xml(document, name)
    yield from assemble(document, _words(document))


def _words(document: str) -> Iterator[Found]:
    """Give the words; those of a region when its end is known."""
    holders = [_Holder("document")]
    lines = 0
    unicode_start = -1
    for tag in tags(document):
        holder = holders[-1]
        if tag.name in _HOLDERS and tag.kind == "start" and not tag.is_empty:
            holders.append(_Holder(tag.name))
            lines += tag.name == "TextLine"
        elif tag.name in _HOLDERS and tag.kind == "end":
            holders.pop()
            _close(document, holder, holders[-1], lines)
            if tag.name == "TextRegion" and all(one.kind != "TextRegion" for one in holders):
                yield from _closed(holder.words, tag.end)
                holders[-1].words = []
        elif tag.name == "TextEquiv" and tag.kind == "start":
            found = {name: one.value for name, one in attributes(document, tag).items()}
            index = found.get("index", "")
            share = None if found.get("comments") == _OURS else found.get("conf")
            holder.readings.append(_Reading(int(index) if index.isdecimal() else 0, number(share)))
        elif tag.name == "TextEquiv" and tag.kind == "end":
            holder.room = tag.end
        elif tag.name == "Unicode" and tag.kind == "start" and not tag.is_empty:
            unicode_start = tag.end
        elif tag.name == "Unicode" and tag.kind == "end" and holder.readings:
            holder.readings[-1].start, holder.readings[-1].end = unicode_start, tag.start
    yield from _closed(holders[0].words, len(document))


def _closed(words: list[Found], end: int) -> list[Found]:
    for word in words:
        word.block = end
    return words


def _close(document: str, holder: _Holder, outer: _Holder, line: int) -> None:
    """Hand what an element holds to the one around it."""
    best = holder.best()
    if holder.kind == "Glyph":
        outer.glyphs.append([(_content(document, one), one.share) for one in _ordered(holder)])
        return
    if holder.kind == "Word":
        if best is not None and (found := _word(document, holder, best, line)) is not None:
            outer.words.append(found)
        return
    if best is not None and not holder.words:
        holder.words = [_bare(document, match, line) for match in _matches(document, best)]
    elif best is not None:
        matches = list(_matches(document, best))
        if [html.unescape(match[0]) for match in matches] == [word.text for word in holder.words]:
            for word, match in zip(holder.words, matches, strict=True):
                word.copies.append(match.span())
    outer.words += holder.words


def _matches(document: str, reading: _Reading) -> Iterator[re.Match[str]]:
    return _WORD.finditer(document, reading.start, reading.end)


def _bare(document: str, match: re.Match[str], line: int) -> Found:
    """Return a word of a line or region that has no elements for words; its lines are the text's own."""
    number = line * 1000 + document.count("\n", match.pos, match.start())
    return Found(html.unescape(match[0]), [match.span()], number, 0, [])


def _ordered(holder: _Holder) -> list[_Reading]:
    return sorted((one for one in holder.readings if one.start >= 0), key=lambda one: one.index)


def _content(document: str, reading: _Reading) -> str:
    return html.unescape(document[reading.start : reading.end]).strip()


def _word(document: str, holder: _Holder, best: _Reading, line: int) -> Found | None:
    match = re.compile(r"\s*(\S(?:.*?\S)?)\s*\Z", re.DOTALL).match(document, best.start, best.end)
    if match is None:
        return None
    text = html.unescape(match[1])
    others = [(_content(document, one), one.share) for one in _ordered(holder) if one is not best]
    found = Found(text, [match.span(1)], line * 1000, 0, [], holder.room)
    found.readings = combine(text, holder.glyphs, others)
    return found


def write_word(passage: Passage, word: Word, new: str, changes: Sequence[Change]) -> Iterator[Edit]:
    """Give the edits that write a word: its content, and what it was and can be as further TextEquiv."""
    yield from content_edits(passage.raw, word, new)
    if word.room < 0:
        return
    name = prefix(passage.raw, passage.raw.rfind("</", 0, word.room))
    old = passage.text[word.start : word.end]
    rest = [(text, share) for text, share in alternatives(old, changes) if text != new]
    first = 1 + max(map(int, re.findall(r'index\s*=\s*["\'](\d+)', _element(passage.raw, word))), default=0)
    added = "".join(
        f'<{name}TextEquiv index="{index}" conf="{share:.4f}" comments="{_OURS}">'
        f"<{name}Unicode>{quoted(text, '')}</{name}Unicode></{name}TextEquiv>"
        for index, (text, share) in enumerate(rest, first)
    )
    yield Edit(word.room, word.room, added)


def _element(raw: str, word: Word) -> str:
    """Return the part of a word's element in which its TextEquiv are."""
    start = max(raw.rfind("<Word", 0, word.runs[0][0]), raw.rfind(":Word", 0, word.runs[0][0]), 0)
    return raw[start : word.room]
