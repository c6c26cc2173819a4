r"""Inline markers of a text, USFM and HTML or XML, told apart from its words.

``\nd Lord\nd*`` and ``<b>Lord</b>`` cover the word Lord: what opens and closes on the same line is an
element that covers words; everything else is a point between words: ``\v 12``, ``\p``, ``<br/>``,
comments, and whole notes (``\f … \f*``, ``\x … \x*``, ``\fe``, ``\ef``, ``\ex``), whose text is none
of the sentence's. Attributes at the end of a USFM element (``\w gnat|lemma="gnat"\w*``) belong to the
marker that closes it. The blank behind a USFM marker that does not close belongs to the marker.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hiddenite.errors import FormatError

_NOTE = r"\\(?P<note>fe|f|x|ef|ex)(?=\s).*?\\(?P=note)\*"
_MILESTONE = r"\\[a-z]+[0-9]*(?:-[se])?(?:\s[^\\]*)?\\\*"
_CHAPTER = r"\\(?:c|v|ca|va|vp|cp)\s+[0-9][^\s\\]*(?: |$)"
_CLOSE = r"(?:\|[^\\|]*)?\\\+?(?P<close>[a-z]+[0-9]*)\*"
_OPEN = r"\\\+?(?P<open>[a-z]+[0-9]*)(?: |(?=\s|\\|$))"
_TAG = (
    r"<!--.*?-->|<[!?][^>]*>"
    r"|<(?P<slash>/?)(?P<tag>[A-Za-z][\w:.-]*)(?:\"[^\"]*\"|'[^']*'|[^'\"<>])*?(?P<empty>/?)>"
)
_MARKER = re.compile("|".join((_NOTE, _MILESTONE, _CHAPTER, _CLOSE, _OPEN, _TAG)), re.DOTALL)
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_WORD = re.compile(r"\w+(?:['’.\-]\w+)*|[^\w\s]", re.UNICODE)
_BLANKS = re.compile(r"[^ \t\r\v\f\n]+")


@dataclass(frozen=True, slots=True)
class Element:
    """A marker and what it covers: characters begin … end of the text without markers."""

    opening: str
    closing: str  # empty: a point, begin = end
    begin: int
    end: int
    parent: int = -1  # place of the element around it in the list; -1: none

    @property
    def is_point(self) -> bool:
        """Whether it covers nothing by nature."""
        return self.closing == ""


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A line without its markers, and the markers, outer before inner ones, in the order of the text."""

    text: str
    elements: tuple[Element, ...]


@dataclass(slots=True)
class _Found:
    """A marker while its line is read."""

    text: str
    opens: str = ""  # name of the element that it may open
    closes: str = ""
    at: int = 0  # character of the text without markers
    partner: int = -1  # place of the marker that closes it


def strip(line: str, file: str = "<text>", number: int | None = None) -> MarkedText:
    """Take the markers out of a line; raises FormatError where tags are not nested."""
    text, markers = _split(line)
    _match(markers, file, number)
    elements: list[Element] = []
    parents: list[tuple[int, int]] = []  # place of an open element, marker that closes it
    for place, marker in enumerate(markers):
        if parents and parents[-1][1] == place:
            parents.pop()
            continue
        parent = parents[-1][0] if parents else -1
        if marker.partner < 0:
            elements.append(Element(marker.text, "", marker.at, marker.at, parent))
            continue
        closing = markers[marker.partner]
        parents.append((len(elements), marker.partner))
        elements.append(Element(marker.text, closing.text, marker.at, closing.at, parent))
    return MarkedText(text, tuple(elements))


def _split(line: str) -> tuple[str, list[_Found]]:
    """Return the text and the markers with their places."""
    markers = []
    pieces = []
    size = last = 0
    for match in _MARKER.finditer(line):
        pieces.append(line[last : match.start()])
        size += match.start() - last
        last = match.end()
        tag = match["tag"].lower() if match["tag"] else ""
        is_open = bool(tag) and not match["slash"] and not match["empty"] and tag not in _VOID
        opens = "\\" + match["open"] if match["open"] else "<" + tag if is_open else ""
        closes = "\\" + match["close"] if match["close"] else "<" + tag if match["slash"] else ""
        markers.append(_Found(match[0], opens, closes, size))
    return "".join([*pieces, line[last:]]), markers


def _match(markers: Sequence[_Found], file: str, number: int | None) -> None:
    """Find what closes what; a USFM marker that nothing closes is a point, a tag must be closed."""
    waiting: list[int] = []
    for place, marker in enumerate(markers):
        if marker.opens:
            waiting.append(place)
        if not marker.closes:
            continue
        while waiting and markers[waiting[-1]].opens != marker.closes:
            _leave(markers[waiting.pop()], marker, file, number)
        if not waiting:
            raise FormatError(
                file, number, f"found {marker.text.strip()[:40]}, which closes nothing on its line"
            )
        markers[waiting.pop()].partner = place
    for place in waiting:
        _leave(markers[place], None, file, number)


def _leave(marker: _Found, before: _Found | None, file: str, number: int | None) -> None:
    """Let a USFM marker be a point; a tag that is not closed is an error."""
    if marker.opens.startswith("<"):
        where = "at the end of its line" if before is None else f"before {before.text.strip()[:40]}"
        raise FormatError(file, number, f"found {marker.text[:40]}, which is not closed {where}; close it")


def find_words(text: str, separate: bool) -> list[tuple[int, int]]:
    """Return where words begin and end: between blanks, or with punctuation as words of its own."""
    return [match.span() for match in (_WORD if separate else _BLANKS).finditer(text)]
