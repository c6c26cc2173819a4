"""Names for induced classes: a mapping that a linguist makes on the page of induce report.

The file is JSON::

    {"format": "hiddenite class names", "version": 1,
     "names": {"T0": "NOUN", "T1": "NOUN", "T2": "VERB"},        two classes of one name are merged
     "words": {"T2": {"can": "AUX", "must": "AUX"}}}             words that leave their class: it is split

A token of class t gets the name of its word there, else the name of t, else it stays t.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hiddenite.errors import FormatError
from hiddenite.files.corpus import tokenize

FORMAT = "hiddenite class names"
VERSION = 1
_HINT = "expected the file that the page of `hiddenite induce report` saves"


@dataclass(frozen=True, slots=True)
class ClassNames:
    """Names of classes, and of words that have another name than their class."""

    names: Mapping[str, str]
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by class

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
        return cls(names, {tag: _checked(part, name, f"words of {tag}") for tag, part in words.items()})

    def name_of(self, word: str, tag: str) -> str:
        """Return the name of a token."""
        return self.words.get(tag, {}).get(word) or self.names.get(tag, tag)

    def label(self, words: Sequence[str], tags: Sequence[str]) -> list[str]:
        """Return the names of a sentence's tokens."""
        return [self.name_of(word, tag) for word, tag in zip(words, tags, strict=True)]

    def knows(self, tag: str) -> bool:
        """Tell whether the mapping says anything about a class."""
        return tag in self.names or tag in self.words


def _checked(found: Any, path: str, what: str) -> dict[str, str]:
    """Return an object of names; each must be one word."""
    if not isinstance(found, dict):
        raise FormatError(path, None, f"has no object «{what}»; {_HINT}")
    for key, name in found.items():
        if not isinstance(name, str) or tokenize(name) != [name]:
            raise FormatError(
                path, None, f"gives «{key}» the name {name!r}, expected one word without spaces"
            )
    return found
