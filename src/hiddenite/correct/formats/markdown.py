"""Markdown: paragraphs in which code, links' targets, HTML, formulas and markers are masked.

Blocks that are masked as a whole: front matter, fenced and indented code, HTML blocks, definitions of links.
The rules are those of CommonMark as far as they decide what is text; where a document is not clear (a fence
without an end), masking is the safe side: what is masked stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from hiddenite.correct.documents import Passage
from hiddenite.correct.formats.lines import MAX_LINES, Line, blank, faulty, masked

_FENCE = re.compile(r" {0,3}(?:>[ \t]?|[-*+][ \t]+|\d+[.)][ \t]+)*[ \t]*(`{3,}|~{3,})([^\r\n]*)")
_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\r?\n?$")
_HTML_BLOCK = re.compile(r" {0,3}<(?:[A-Za-z/!?])")
_INDENTED = re.compile(r"(?: {4}|\t)")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]")
_INLINE = re.compile(
    r"""
      (?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)          # code spans
    | <!--.*?-->
    | </?[A-Za-z][^<>]*>                                         # tags, <https://…>
    | (?<=\])\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)   # ](target "title")
    | (?<=\])\[[^\]\n]*\]                                        # ][reference]
    | \[\^[^\]\s]+\]:?                                           # footnotes
    | ^[ ]{0,3}\[[^\]\n]+\]:[^\r\n]*                             # definitions of links
    | \$\$.+?\$\$ | (?<![\\$\w])\$(?![\s$])[^$\n]+?(?<![\s\\])\$(?!\d)   # formulas
    | \{[%{].*?[%}]\}                                            # templates
    | \{[:#.][^{}\n]*\}                                          # attributes
    | &(?:\#\d+|\#[xX][0-9a-fA-F]+|\w+);                         # entities
    | ^[ \t]*(?:>[ \t]?)+                                        # quotes
    | (?<!\w)[*_~]{1,3}(?=\S) | (?<=\S)[*_~]{1,3}(?!\w)          # emphasis,
    | (?<=\w)[*]{1,3}(?=\w) | \w+_\w[\w.]*                       # within a word; names_of_code
    | \b[a-z][a-z0-9+.-]*://[^\s<>]*
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def passages(lines: Iterable[Line]) -> Iterator[Passage]:
    """Give paragraphs and masked blocks."""
    waiting: list[Line] = []
    hidden: list[bool] = []
    blocks = _Blocks()
    for line in lines:
        if line.fault is not None:
            yield from _flush(waiting, hidden)
            waiting, hidden = [], []
            yield faulty(line)
            continue
        is_hidden = blocks.hides(line)
        is_blank = not line.text.strip()
        begins = bool(waiting) and (
            hidden[-1] != is_hidden or (not waiting[-1].text.strip() and not is_blank)
        )
        if begins or len(waiting) >= MAX_LINES:
            yield from _flush(waiting, hidden)
            waiting, hidden = [], []
        waiting.append(line)
        hidden.append(is_hidden)
    yield from _flush(waiting, hidden)


def _flush(lines: list[Line], hidden: list[bool]) -> Iterator[Passage]:
    if lines:
        raw = "".join(line.text for line in lines)
        text = blank(raw) if hidden[0] else mask_inline(raw)
        yield Passage(raw, text, lines[0].number)


def mask_inline(raw: str) -> str:
    """Return a paragraph's text with its markup blank."""
    return masked(raw, [match.span() for match in _INLINE.finditer(raw)]).replace("\ufeff", " ")


class _Blocks:
    """Which block a line is in; one line after the other."""

    def __init__(self) -> None:
        self._fence = ""  # that must end the code
        self._front = ""
        self._html = False
        self._after_blank = True
        self._in_list = False
        self._code = False  # indented

    def hides(self, line: Line) -> bool:
        """Tell whether a line is no text at all."""
        text = line.text.removeprefix("\ufeff") if line.number == 1 else line.text
        is_blank = not text.strip()
        after_blank, self._after_blank = self._after_blank, is_blank
        if self._front:
            self._front = "" if text.rstrip() == self._front else self._front
            return True
        if line.number == 1 and (front := _FRONT_MATTER.match(text)):
            self._front = front[1]
            return True
        if self._fence:
            closing = _FENCE.match(text)
            if closing and closing[1].startswith(self._fence) and not closing[2].strip():
                self._fence = ""
            return True
        if (opening := _FENCE.match(text)) and not ("`" in opening[2] and opening[1][0] == "`"):
            self._fence = opening[1]
            return True
        return self._is_html(text, is_blank) or self._is_indented_code(text, is_blank, after_blank)

    def _is_html(self, text: str, is_blank: bool) -> bool:
        """Tell whether a line is in a block of HTML, which an empty line ends."""
        is_link = re.match(r" {0,3}<[a-z][a-z0-9+.-]*:", text) is not None
        self._html = not is_blank and (self._html or (_HTML_BLOCK.match(text) is not None and not is_link))
        return self._html

    def _is_indented_code(self, text: str, is_blank: bool, after_blank: bool) -> bool:
        """Tell whether a line is indented code; within a list it is the list's text."""
        indented = _INDENTED.match(text) is not None
        if is_blank:
            return False
        if not indented:
            self._in_list = _LIST_ITEM.match(text) is not None or (self._in_list and not after_blank)
        self._code = indented and not self._in_list and (after_blank or self._code)
        return self._code
