"""Documents: files of any format as passages, and passages back into files, byte for byte.

A format (:mod:`hiddenite.correct.formats`) cuts a document into passages. A passage keeps all characters of
its part of the document (``raw``; all passages joined are the document) and says what is to be read in it
(``text``). There are two kinds:

- *masked*: ``text`` is as long as ``raw``, and what must not change (markup, code, timings) is blank there.
  A change whose old words are not in ``raw`` at the same place touches the mask and is dropped.
- *words* (OCR files): ``text`` is made of the words of elements or attributes, and ``words`` says where each
  is in ``raw``. A changed word is written in place, escaped as its surroundings want; nothing is serialised
  anew.

No change adds or removes a line end: where a word goes on in the next line («exam-», «ple»), the corrected
word stands in the first line and the line end after it. So line n of the output is line n of the input.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hiddenite.correct.answers import Change

_LINE_END = re.compile(r"\r\n|\r|\n")


class Edit(NamedTuple):
    """A piece of ``raw`` that is replaced."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Word:
    """A word of an OCR file."""

    start: int  # in the passage's text
    end: int
    runs: tuple[tuple[int, int], ...]  # its content in ``raw``, still escaped; most have one run
    copies: tuple[tuple[int, int], ...] = ()  # the same word where the file repeats it, as text of its line
    room: int = -1  # where the format has room for alternatives, in ``raw``; -1: nowhere
    is_fixed: bool = False  # a part of a word that the file itself knows to be hyphenated
    readings: tuple[tuple[str, float], ...] = ()  # what else the recogniser read, with shares


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document that is corrected on its own."""

    raw: str
    text: str
    line: int = 1  # of the document, where ``raw`` begins
    words: tuple[Word, ...] | None = None  # None: masked
    fault: str | None = None  # why it cannot be read; it stays as it is

    def seen(self) -> list[tuple[int, int, tuple[tuple[str, float], ...]]]:
        """Return the words that the recogniser was not sure of."""
        return [(word.start, word.end, word.readings) for word in self.words or () if word.readings]


Writer = Callable[
    [Passage, Word, str, Sequence[Change]], Iterable[Edit]
]  # of a format: how a word is written


def usable_changes(passage: Passage, changes: Iterable[Change]) -> list[Change]:
    """Return the changes that the document can take."""
    if passage.words is None:
        return [one for one in changes if _fits_mask(passage, one)]
    return [one for one in changes if _spread(passage.words, one) is not None]


def _fits_mask(passage: Passage, change: Change) -> bool:
    """Tell whether a change touches text alone and leaves all line ends."""
    is_text = passage.raw[change.start : change.end] == passage.text[change.start : change.end]
    return is_text and _text_edit(passage.raw, change) is not None


def apply_changes(passage: Passage, changes: Iterable[Change], write: Writer | None = None) -> str:
    """Return ``raw`` with the changes; ``write`` is that of the passage's format."""
    fitting = usable_changes(passage, changes)
    if not fitting:
        return passage.raw
    if passage.words is None:
        edits = [edit for one in fitting if (edit := _text_edit(passage.raw, one)) is not None]
    else:
        assert write is not None
        edits = _word_edits(passage, fitting, write)
    return splice(passage.raw, edits)


def splice(raw: str, edits: Iterable[Edit]) -> str:
    """Return a text with some of its pieces replaced; insertions at one place keep their order."""
    pieces, done = [], 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        pieces += [raw[done : edit.start], edit.new]
        done = edit.end
    return "".join([*pieces, raw[done:]])


def _text_edit(raw: str, change: Change) -> Edit | None:
    """Return the edit of a change; line ends within it move behind it. None if a line would be empty."""
    ends = _LINE_END.findall(raw, change.start, change.end)
    missing = ends[len(_LINE_END.findall(change.new)) :]
    if not missing:
        return Edit(change.start, change.end, change.new)
    end = change.end
    while raw.startswith((" ", "\t"), end):
        end += 1
    if end == len(raw) or raw.startswith(("\r", "\n"), end):
        return None
    return Edit(change.start, end, change.new + "".join(missing))


# ----------------------------------------------------------------- words in place


def _spread(words: Sequence[Word], change: Change) -> list[tuple[Word, str]] | None:
    """Return the new content of each word that a change touches; None: the words cannot take it.

    A change of several words gives each of them one word where the numbers agree. If there are fewer new
    words, the first word takes them all and the others become empty, but only words of one line: ``text`` has
    a line end between words of different lines.
    """
    first = bisect.bisect_right([word.end for word in words], change.start)
    touched = [word for word in words[first:] if word.start < change.end]
    if not touched or any(word.is_fixed for word in touched):
        return None
    if len(touched) == 1:
        word = touched[0]
        if change.start < word.start or change.end > word.end:
            return None
        return [(word, change.new)]
    if change.start != touched[0].start or change.end != touched[-1].end:
        return None
    parts = change.new.split()
    if len(parts) == len(touched):
        return list(zip(touched, parts, strict=True))
    if "\n" in change.old or not parts:
        return None
    return [(touched[0], change.new), *((word, "") for word in touched[1:])]


def _word_edits(passage: Passage, changes: Iterable[Change], write: Writer) -> list[Edit]:
    """Return the edits of all words that change; two changes of one word make one new content."""
    assert passage.words is not None
    contents: dict[Word, str] = {}
    reasons: dict[Word, list[Change]] = {}
    for change in sorted(changes, key=lambda one: -one.start):  # from behind: offsets in front stay right
        for word, new in _spread(passage.words, change) or ():
            whole = contents.get(word, passage.text[word.start : word.end])
            begin = max(change.start, word.start) - word.start
            end = min(change.end, word.end) - word.start
            contents[word] = whole[:begin] + new + whole[end:]
            reasons.setdefault(word, []).insert(0, change)
    return [edit for word, new in contents.items() for edit in write(passage, word, new, reasons[word])]


# ------------------------------------------------------------------------ places


def raw_place(passage: Passage, offset: int) -> int:
    """Return where a character of ``text`` is in ``raw``."""
    if passage.words is None:
        return offset
    place = bisect.bisect_right([word.start for word in passage.words], offset) - 1
    if place < 0:
        return 0
    word = passage.words[place]
    return min(word.runs[0][0] + offset - word.start, word.runs[-1][1])


def line_and_column(passage: Passage, offset: int) -> tuple[int, int]:
    """Return line and column, from 1, of a character of ``text`` in the document."""
    before = passage.raw[: raw_place(passage, offset)]
    return passage.line + before.count("\n"), len(before) - (before.rfind("\n") + 1) + 1
