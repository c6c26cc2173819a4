"""OCR files as they are written: tags, attributes and texts with their offsets, and words put in place.

A parser would give a tree, and a tree would have to be written anew: other quotes, other blanks, other
entities. So the document is read by a scanner that says where everything is. Whether XML is well-formed is
Expat's question, asked before; HTML need not be.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from xml.parsers import expat

from hiddenite.correct.answers import Change
from hiddenite.correct.documents import Edit, Passage, Word
from hiddenite.errors import FormatError

MAX_ALTERNATIVES = 5
_VOID = ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
_TOKEN = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<![A-Za-z](?:[^<>\[]|\[.*?\])*>"
    r"|</(?P<end>[\w:.-]+)\s*>"
    r"""|<(?P<start>[A-Za-z_][\w:.-]*)(?P<rest>(?:[^<>"']|"[^"]*"|'[^']*')*)>""",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_ENCODING = re.compile(r"""<\?xml[^>]*\bencoding\s*=\s*["']([^"']+)["']""")


class Attribute(NamedTuple):
    """A value as it is meant, and where it is in the document, still escaped."""

    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Tag:
    """A start tag, an end tag, or a text between tags."""

    kind: str  # start, end, text
    name: str  # without prefix
    start: int
    end: int
    is_empty: bool = False  # <name/>


def check_xml(document: str, name: str) -> None:
    """Raise FormatError with the line where a document is no XML."""
    found = _ENCODING.match(document.removeprefix("\ufeff"))
    if found and found[1].lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
        raise FormatError(name, 1, f"found the encoding {found[1]}, expected UTF-8; convert it with iconv")
    try:
        expat.ParserCreate().Parse(document.encode(), True)
    except expat.ExpatError as error:
        is_end = error.code == expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]
        what = "the end of the document" if is_end else expat.ErrorString(error.code)
        raise FormatError(
            name, error.lineno, f"column {error.offset + 1}: found {what}, expected well-formed XML"
        ) from None


def tags(document: str) -> Iterator[Tag]:
    """Give tags and texts in order; comments, declarations and CDATA are passed over."""
    done = 0
    for match in _TOKEN.finditer(document):
        if match.start() > done:
            yield Tag("text", "", done, match.start())
        done = match.end()
        if match["end"]:
            yield Tag("end", _local(match["end"]), match.start(), done)
        elif match["start"]:
            name = _local(match["start"])
            is_empty = match["rest"].endswith("/") or name.lower() in _VOID
            yield Tag("start", name, match.start(), done, is_empty)


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def prefix(document: str, tag_start: int) -> str:
    """Return the prefix of a tag's name, with its colon."""
    found = re.compile(r"</?([\w.-]+:)?").match(document, tag_start)
    return (found and found[1]) or ""


def attributes(document: str, tag: Tag) -> dict[str, Attribute]:
    """Return the attributes of a start tag."""
    found = {}
    for match in _ATTRIBUTE.finditer(document, tag.start, tag.end):
        group = 2 if match[2] is not None else 3
        found[_local(match[1])] = Attribute(html.unescape(match[group]), *match.span(group))
    return found


def line_of(document: str, offset: int) -> int:
    """Return the number of the line where an offset is."""
    return document.count("\n", 0, offset) + 1


def number(text: str | None) -> float:
    """Return a confidence, NaN if there is none."""
    try:
        return float(text or "nan")
    except ValueError:
        return float("nan")


# ------------------------------------------------------------------- into passages


@dataclass(slots=True)
class Found:
    """A word as a format's reader finds it; offsets in the document."""

    text: str
    runs: list[tuple[int, int]]
    line: int  # any number that words of a line share
    block: int  # where its block ends; words of a block share it
    copies: list[tuple[int, int]]
    room: int = -1
    is_fixed: bool = False
    readings: tuple[tuple[str, float], ...] = ()


def assemble(document: str, words: Iterable[Found]) -> Iterator[Passage]:
    """Give a passage for each block of words, and one for what follows the last; together the document."""
    done, line = 0, 1
    for end, group in itertools.groupby(words, lambda word: word.block):
        raw = document[done:end]
        yield _passage(raw, line, done, list(group))
        done, line = end, line + raw.count("\n")
    if done < len(document):
        yield Passage(document[done:], "", line, ())


def _passage(raw: str, line: int, offset: int, found: Sequence[Found]) -> Passage:
    text, words = "", []
    for before, word in zip([None, *found], found, strict=False):
        if before is not None:
            text += " " if before.line == word.line else "\n"
        words.append(
            Word(
                len(text),
                len(text) + len(word.text),
                _shifted(word.runs, offset),
                _shifted(word.copies, offset),
                word.room if word.room < 0 else word.room - offset,
                word.is_fixed,
                word.readings,
            )
        )
        text += word.text
    return Passage(raw, text, line, tuple(words))


def _shifted(spans: Iterable[tuple[int, int]], offset: int) -> tuple[tuple[int, int], ...]:
    return tuple((start - offset, end - offset) for start, end in spans)


# ------------------------------------------------------------------- and back


def content_edits(raw: str, word: Word, new: str) -> Iterator[Edit]:
    """Give the edits that put a new content in place of a word's; characters that have runs keep them."""
    runs = word.runs
    each = list(new) if len(runs) == len(new) > 1 else [new, *[""] * (len(runs) - 1)]
    for (start, end), content in [*zip(runs, each, strict=True), *((copy, new) for copy in word.copies)]:
        yield Edit(start, end, quoted(content, raw[start - 1]))


def quoted(text: str, quote: str = '"') -> str:
    """Return a text as it may stand between tags, and within the quotes around it if there are any."""
    escaped = html.escape(text, quote=False)
    return escaped.replace('"', "&quot;").replace("'", "&apos;") if quote in ('"', "'") else escaped


def alternatives(old: str, changes: Sequence[Change]) -> list[tuple[str, float]]:
    """Return what else a word can be, with probabilities, the old word first: what a format has room for."""
    found = {one.text: one.probability for change in changes for one in change.alternatives}
    share = found.pop(old, 0.0)  # a word that is not listed is hardly possible
    others = sorted(found.items(), key=lambda item: -item[1])[: MAX_ALTERNATIVES - 1]
    single = len(changes) == 1 and changes[0].old == old
    return [(old, share), *(others if single else ())]
