"""Names for induced classes: a mapping that a linguist makes on the page of induce report.

The file is JSON::

    {"format": "hiddenite class names", "version": 1,
     "names": {"T0": "NOUN", "T1": "NOUN", "T2": "VERB"},        two classes of one name are merged
     "words": {"T2": {"can": "AUX", "must": "AUX"}},             words that leave their class: it is split
     "run": "5f0c33a9d1b2e847",                                  which run the page shows
     "typical": {"T0": "time man way", "T1": "god house", ..}}   words that have the class in that run

A token of class t gets the name of its word there, else the name of t, else it stays t.

Another run gives the same numbers to other classes, and with the names of the first one its text would be
labelled wrongly without a sign. So the page adds ``run`` and ``typical``; who writes a mapping by hand leaves
them out, and nothing is compared. The page knows its run and asks before it opens the mapping of another one.
Tagged text does not say what run it is of, and may be new text that the exported tagger has tagged, so there
words are compared: a typical word fits if at least half of its tokens have a class that lists it (it may be
typical of two), and the mapping does not fit if fewer than half of the words do. On 1,500 sentences of
Hansard, with 12 or 30 classes, at least 79 % of the words fitted the mapping of their own run, new text
included (of a consensus: all), and at most 10 % that of another seed. With four classes it was at
least 90 % and a quarter to a half: few classes may agree by chance, and such a mapping is let through. So is
any where fewer than ten of the words occur, because a few may go either way.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hiddenite.errors import FormatError, shorten
from hiddenite.files.corpus import tokenize

FORMAT = "hiddenite class names"
VERSION = 1
NUM_TYPICAL = 10  # words of a class that a mapping lists
LEAST_WORDS = 10  # that must be found to say that a mapping does not fit
_HINT = "expected the file that the page of `hiddenite induce report` saves"


@dataclass(frozen=True, slots=True)
class ClassNames:
    """Names of classes, and of words that have another name than their class."""

    names: Mapping[str, str]
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by class
    typical: Mapping[str, Sequence[str]] = field(default_factory=dict)  # words by class; may be empty

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ClassNames:
        """Read a mapping file; raises FormatError for anything else."""
        name = os.fspath(path)
        try:
            found = json.loads(Path(path).read_bytes())
        except OSError as error:
            raise FormatError(name, None, f"cannot be read: {error.strerror}") from None
        except json.JSONDecodeError as error:
            raise FormatError(name, error.lineno, f"is not JSON ({error.msg}); {_HINT}") from None
        except (ValueError, RecursionError):
            raise FormatError(name, None, f"is not JSON; {_HINT}") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise FormatError(name, None, f"has no names of classes; {_HINT}")
        if found.get("version") != VERSION:
            raise FormatError(name, None, f"has version {found.get('version')}, expected {VERSION}")
        names = _checked(found.get("names", {}), name, "names")
        words = found.get("words", {})
        if not isinstance(words, dict):
            raise FormatError(name, None, f"has no object «words»; {_HINT}")
        parts = {tag: _checked(part, name, f"words of {tag}") for tag, part in words.items()}
        return cls(names, parts, _read_typical(found.get("typical", {}), name))

    def name_of(self, word: str, tag: str) -> str:
        """Return the name of a token."""
        return self.words.get(tag, {}).get(word) or self.names.get(tag, tag)

    def label(self, words: Sequence[str], tags: Sequence[str]) -> list[str]:
        """Return the names of a sentence's tokens."""
        return [self.name_of(word, tag) for word, tag in zip(words, tags, strict=True)]

    def knows(self, tag: str) -> bool:
        """Tell whether the mapping says anything about a class."""
        return tag in self.names or tag in self.words

    def fit(self, counts: Mapping[tuple[str, str], int]) -> Fit:
        """Compare the typical words with tagged text, of which ``counts`` has the tokens by (word, tag)."""
        homes: dict[str, set[str]] = {}
        for tag, words in self.typical.items():
            for word in words:
                homes.setdefault(word, set()).add(tag)
        total, at_home = Counter[str](), Counter[str]()
        for (word, tag), tokens in counts.items():
            if word in homes and tag in self.typical:  # another tag was put there by hand
                total[word] += tokens
                at_home[word] += tokens if tag in homes[word] else 0
        return Fit(len(total), sum(2 * at_home[word] >= total[word] for word in total))


@dataclass(frozen=True, slots=True)
class Fit:
    """How well a mapping fits tagged text."""

    words: int  # typical ones that occur
    fitting: int  # those of them that mostly have a class that lists them

    @property
    def is_refuted(self) -> bool:
        """Whether the mapping is of another run."""
        return self.words >= LEAST_WORDS and 2 * self.fitting < self.words


def _checked(found: Any, path: str, what: str) -> dict[str, str]:
    """Return an object of names; each must be one word."""
    if not isinstance(found, dict):
        raise FormatError(path, None, f"has no object «{what}»; {_HINT}")
    for key, name in found.items():
        if not _is_name(name):
            raise FormatError(
                path,
                None,
                f"gives «{shorten(key)}» the name {shorten(str(name))!r}, expected one word without spaces",
            )
    return found


def _is_name(found: Any) -> bool:
    """Tell whether it can stand in a column of tagged text; JSON can spell what is no character."""
    if not isinstance(found, str) or tokenize(found) != [found]:
        return False
    return "\0" not in found and not any("\ud800" <= c <= "\udfff" for c in found)


def _read_typical(found: Any, path: str) -> dict[str, list[str]]:
    """Return the typical words by class."""
    if not isinstance(found, dict) or not all(isinstance(words, str) for words in found.values()):
        raise FormatError(path, None, f"has no object «typical» of words separated by spaces; {_HINT}")
    return {tag: tokenize(words) for tag, words in found.items()}
