"""From a text to what is left of it when punctuation, capitals, diacritics or blanks are missing.

Restoring is the inverse: a restored text, folded, is the text that was seen.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field

from hiddenite.errors import OptionError, near_spellings

WHAT = ("punctuation", "case", "diacritics", "spaces", "events")


def parse_what(text: str) -> tuple[str, ...]:
    """Read what is missing: names of :data:`WHAT`, separated by commas."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in WHAT:
            near = near_spellings(name, WHAT)
            hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(WHAT)}"
            raise OptionError("what", f"has '{name}'; {hint}")
    if not names:
        raise OptionError("what", f"is empty, expected some of {', '.join(WHAT)}")
    return tuple(name for name in WHAT if name in names)


@dataclass(frozen=True)
class Folding:
    """What is missing; ``events`` are the words that leave nothing behind."""

    what: tuple[str, ...]
    events: Collection[str] = field(default=frozenset())

    def is_event(self, word: str) -> bool:
        """Whether the word leaves nothing behind."""
        return word in self.events

    def text(self, text: str) -> str:
        """Return a text without capitals and diacritics, if those are missing."""
        if "case" in self.what:
            text = text.lower()
        if "diacritics" in self.what and not text.isascii():
            parts = unicodedata.normalize("NFD", text)
            bare = "".join(c for c in parts if not unicodedata.combining(c))
            text = unicodedata.normalize("NFC", bare)
        return text

    def word(self, word: str) -> str:
        """Return what is seen of a word that is no event; a word of marks alone stays."""
        return self.text(word) or word

    def line(self, line: str) -> str:
        """Return what is seen of a line."""
        seen = [self.word(word) for word in line.split() if not self.is_event(word)]
        return ("" if "spaces" in self.what else " ").join(seen)


def is_punctuation(word: str) -> bool:
    """Whether a word has neither letters nor digits."""
    return all(unicodedata.category(c)[0] in "PS" for c in word)
