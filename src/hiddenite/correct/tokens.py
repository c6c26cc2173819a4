"""Words of raw text with their places: tokens, sentence ends, case patterns, and what must not change.

A text is cut into tokens without losing a character: every character that is not white space belongs to one
token, and a token knows where it is. Words are letters with apostrophes inside; a hyphenated compound is
three tokens, so that its parts can be looked at one by one. All other characters are marks of their own,
except in numbers and in what :class:`Protect` names, which stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from hiddenite.segments import joiners

_LETTER = r"[^\W\d_]"
_SIGNS = joiners()  # above and below letters
_FILES = (
    "txt|md|csv|tsv|json|xml|html?|ya?ml|toml|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|zip|gz|py|js|cpp|log"
)
_PATTERNS = (
    ("url", r"(?:https?|ftp|file)://[^\s<>\"]+|www\.[^\s<>\"]+|\b[\w-]+\.(?:com|org|net|edu|gov|io)\b(?:/\S*)?"),
    ("address", r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    ("name", r"(?<![\w@])@\w+"),
    ("tag", r"(?<![\w#&])#\w+"),
    (
        "code",
        r"`[^`\n]+`|</?[A-Za-z][^<>\n]*>|\w*_\w+|[\w.]*\w\((?!(?:e?s|ies)\))"
        rf"|[\w.-]*\w\.(?:{_FILES})\b"
        r"|(?<!\w)\.?(?:[\w.-]*/){2,}[\w.-]*|(?<!\S)--?[a-z][\w-]*=\S*",
    ),
    ("number", r"\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th|s|%|am|pm)?(?![^\W_])"),
    ("mixed", r"(?=\w*\d)\w+"),
    ("word", rf"(?:{_LETTER}{_SIGNS}*)+(?:['’](?:{_LETTER})+)*"),
    ("mark", r"\.{2,}|-{2,}|[^\w\s]|_"),
)  # fmt: skip
_TOKEN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS))


class Token(NamedTuple):
    """A piece of a text."""

    start: int
    end: int
    kind: str  # word, mark, number, mixed, url, address, name, tag, code


@dataclass(frozen=True, slots=True)
class Protect:
    """What never changes."""

    numbers: bool = True
    urls: bool = True
    addresses: bool = True
    names: bool = True  # @name
    tags: bool = True  # #tag
    code: bool = True
    inner_capitals: bool = True  # MacDonald, iPhone

    def covers(self, kind: str) -> bool:
        """Return whether tokens of a kind stay as they are."""
        return {
            "number": self.numbers,
            "url": self.urls,
            "address": self.addresses,
            "name": self.names,
            "tag": self.tags,
            "code": self.code,
        }.get(kind, False)


PROTECT_ALL = Protect()


def tokens(text: str, protect: Protect = PROTECT_ALL) -> list[Token]:
    """Return the tokens of a text in order; what is not protected is cut into words and marks."""
    return list(_cut(text, protect))


def _cut(text: str, rules: Protect) -> Iterator[Token]:
    place = 0
    while (found := _TOKEN.search(text, place)) is not None:
        kind = found.lastgroup or "mark"
        start, end = found.span()
        if kind == "url":
            end = start + len(found.group().rstrip(".,;:!?)'\""))
        place = end
        is_special = kind not in ("word", "mark", "number", "mixed")
        if is_special and not rules.covers(kind):
            for piece in _PLAIN.finditer(text, start, end):
                yield Token(*piece.span(), piece.lastgroup or "mark")
            continue
        yield Token(start, end, kind)


_PLAIN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS[5:]))


def has_inner_capitals(word: str) -> bool:
    """Return whether capitals and small letters are mixed behind the first letter, as in iPhone."""
    return not (word.islower() or word.isupper() or word[1:].islower())


def with_case(word: str, pattern: str) -> str:
    """Return a lower-case word with the case of a pattern: all capitals, a first capital, or none."""
    letters = [c for c in pattern if c.isalpha()]
    num_capitals = sum(c.isupper() for c in letters)
    if num_capitals > 1 and 2 * num_capitals > len(letters):
        return word.upper()
    if letters and letters[0].isupper():
        return _capitalised(word)
    return word


def _capitalised(word: str) -> str:
    for i, c in enumerate(word):
        if c.isalpha():
            return word[:i] + c.upper() + word[i + 1 :]
    return word
