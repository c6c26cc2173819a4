"""Plain text of any script as words and sentences, every piece with its place.

Words follow the Unicode rules of word boundaries (UAX #29): letters and digits with the signs above, below
and after them, joined by an apostrophe, a point or a colon between letters and by a point or a comma between
digits; a run of Katakana; one ideograph or one Hiragana letter. Any other character that is no white space is
a piece of its own, equal marks in a row are one. Addresses and smileys stay whole. Scripts that write no
blanks between words and have no rule of their own (Thai, Lao, Khmer) give one piece for each stretch.

How far a treebank cuts words is the treebank's choice, so that a :class:`Segmenter` that knows words follows
them: it keeps what they contain (``well-known``, ``Mr.``), and cuts what they have only in parts (``do n't``,
``l' homme``).
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

MAX_SENTENCE = 150  # words; longer ones are cut, so that none is too long to decode
_ENDS = frozenset((".", "!", "?", "…", "..", "...", "。", "！", "？", "؟", "۔", "।", "॥", "።", "։", "᙮"))
_WIDE_ENDS = frozenset("。！？।॥")  # no blank follows
_CLOSING = frozenset("\"'”’)]»」』）")
_TITLES = frozenset(
    (
        "mr",
        "mrs",
        "ms",
        "dr",
        "st",
        "jr",
        "sr",
        "prof",
        "rev",
        "hon",
        "no",
        "vs",
        "capt",
        "col",
        "gen",
        "sergt",
    )
)
# Where there are characters that join; elsewhere are ideographs, syllables, old scripts, private characters.
_JOINING = (
    (0x300, 0x3100),
    (0xA600, 0xAC00),
    (0xFB00, 0xFE30),
    (0x10000, 0x12000),
    (0x13400, 0x13500),
    (0x16A00, 0x17000),
    (0x1B000, 0x1F000),
)
_LONGEST = 40  # characters of a word that is looked up in parts


class Place(Protocol):
    """Whatever knows where it is."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


class Span(NamedTuple):
    """A piece of a text."""

    start: int
    end: int


@functools.cache
def joiners() -> str:
    """Return the characters that belong to the one before them, as a class of a regular expression."""
    every = [c for block in _JOINING for c in range(*block)]
    kinds = map(unicodedata.category, map(chr, every))
    found = [c for c, kind in zip(every, kinds, strict=True) if kind[0] == "M"]
    ranges: list[list[int]] = []
    for c in [*found, 0x200C, 0x200D]:  # the joiners of Indic and Arabic scripts
        if ranges and ranges[-1][1] == c - 1:
            ranges[-1][1] = c
        else:
            ranges.append([c, c])
    return "[" + "".join(f"\\U{a:08x}-\\U{b:08x}" for a, b in ranges) + "]"


@functools.cache
def _pattern() -> re.Pattern[str]:
    sign = joiners()
    single = "[\u3041-\u3096\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]"
    katakana = "[\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]"
    letter = rf"(?:(?!{single}|{katakana})[^\W\d]{sign}*)"
    word = rf"{letter}(?:{letter}|\d{sign}*|['’.:·‧](?={letter}))*"
    return re.compile(
        r"(?:https?|ftp)://[^\s<>\"]*[\w/]|www\.[^\s<>\"]*[\w/]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
        r"|(?<![\w@])@\w+|(?<![\w#&])#\w+|(?<!\w)[:;=]['-]?[()DPp](?!\w)"
        rf"|\d(?:{sign}|\d|[.,'’](?=\d))*(?:{letter}|\d)*|{word}|{katakana}+{sign}*|{single}{sign}*"
        rf"|([^\w\s])\1+|\S{sign}*",
    )


def words(text: str) -> list[Span]:
    """Return the words of a text; every character that is not white space is in one."""
    return [Span(*found.span()) for found in _pattern().finditer(text)]


def is_mark(piece: str) -> bool:
    """Return whether a piece of a text is punctuation alone."""
    return all(unicodedata.category(c)[0] == "P" for c in piece)


class Segmenter:
    """Words as a treebank has them: those that are known are kept, or decide where others are cut."""

    def __init__(self, known: Collection[str] = ()) -> None:
        self._known = known if isinstance(known, frozenset) else frozenset(known)
        inner = sum("-" in word.strip("-") for word in self._known)
        self._keeps_hyphens = 200 * inner > len(self._known)  # some treebanks do, others cut

    def words(self, text: str) -> list[Span]:
        """Return the words of a text."""
        return list(self._cut(text, self._joined(text, words(text))))

    def _joined(self, text: str, spans: list[Span]) -> Iterator[Span]:
        """Give words with the marks that belong to them: abbreviations, compounds."""
        i = 0
        while i < len(spans):
            start, end = spans[i]
            i += 1
            while i + 1 < len(spans) and self._is_compound(text, end, spans[i], spans[i + 1]):
                end = spans[i + 1].end
                i += 2
            if i < len(spans) and text[end : spans[i].end] == "." and text[start : end + 1] in self._known:
                end += 1
                i += 1
            yield Span(start, end)

    def _is_compound(self, text: str, end: int, hyphen: Span, after: Span) -> bool:
        return (
            self._keeps_hyphens
            and text[hyphen.start : hyphen.end] in ("-", "‐")
            and hyphen.start == end
            and after.start == hyphen.end
            and text[end - 1].isalnum()
            and text[after.start].isalnum()
        )

    def _cut(self, text: str, spans: Iterable[Span]) -> Iterator[Span]:
        """Give words in parts where the parts are known and the whole is not."""
        for start, end in spans:
            word = text[start:end]
            place = self._place(word) if "'" in word or "’" in word else 0
            if place:
                yield Span(start, start + place)
            yield Span(start + place, end)

    def _place(self, word: str) -> int:
        """Return where a word with an apostrophe is cut; 0: nowhere."""
        if word in self._known or word.lower() in self._known or len(word) > _LONGEST:
            return 0
        normal = word.replace("’", "'")
        places = [i for i in range(1, len(word)) if "'" in normal[max(i - 3, 0) : i + 3]]
        for lower in (False, True):
            for i in places:
                if (
                    "'" in normal[i:]
                    and self._knows(normal[i:], lower)
                    and (self._knows(word[:i], lower) or i > 2)
                ):
                    return i
                if normal[i - 1] == "'" and self._knows(normal[:i], lower):
                    return i
        return 0

    def _knows(self, word: str, lower: bool) -> bool:
        return (word.lower() if lower else word) in self._known


def sentences(text: str, spans: Sequence[Place], longest: int = MAX_SENTENCE) -> Iterator[tuple[int, int]]:
    """Yield the ranges of words that are sentences.

    A sentence ends behind a full stop and the like, where white space and no small letter follow; at an
    empty line; and after so many words that it cannot be one.
    """
    begin = 0
    is_over = is_wide = False
    for i, span in enumerate(spans):
        if i > begin and (i - begin >= longest or _breaks_before(text, spans, i, is_over, is_wide)):
            yield begin, i
            begin, is_over, is_wide = i, False, False
        piece = text[span.start : span.end]
        if piece in _ENDS or piece[:1] in _WIDE_ENDS:
            is_over = not (piece == "." and i > begin and _abbreviates(text, spans[i - 1]))
            is_wide = piece[:1] in _WIDE_ENDS
        elif piece not in _CLOSING:
            is_over = is_wide = False
    if begin < len(spans):
        yield begin, len(spans)


def _breaks_before(text: str, spans: Sequence[Place], i: int, is_over: bool, is_wide: bool) -> bool:
    gap = text[spans[i - 1].end : spans[i].start]
    if gap.count("\n") > 1:
        return True
    first = text[spans[i].start]
    if is_wide:
        return first not in _CLOSING
    return is_over and bool(gap) and not first.islower()


def _abbreviates(text: str, before: Place) -> bool:
    word = text[before.start : before.end]
    return word.lower() in _TITLES or (len(word) == 1 and word.isupper() and word != "I")
