"""Word lists: words that are right, from a file of the user's or from word frequencies.

A list of frequent words also holds frequent misspellings («recieve», «definately»). They betray themselves: a
word that is one slip away from a far more frequent one, and that no dictionary has, is left out. Neighbours
are found by deletions, as in SymSpell: two words are one slip apart only if they share a word, or a word with
one letter less. Time and memory are linear in the letters of the list.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping

from hiddenite.errors import FormatError
from hiddenite.files.corpus import ChunkReader, decode_part, line_blocks

FAR_MORE = 20.0  # times as frequent


def read_words(path: str | os.PathLike[str]) -> dict[str, float]:
    """Read words, one a line, or ``word TAB frequency``."""
    words: dict[str, float] = {}
    with ChunkReader(path) as reader:
        for block, first in line_blocks(reader):
            for number, line in enumerate(decode_part(block, reader.name).split("\n"), first):
                word, tab, frequency = line.strip("\r").partition("\t")
                if word.strip():
                    words[word.strip().lower()] = _frequency(frequency, reader.name, number) if tab else 1.0
    if not words:
        raise FormatError(os.fspath(path), None, "has no word, expected one a line")
    return words


def _frequency(text: str, name: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise FormatError(name, line, f"found the frequency '{text}', expected a positive number")
    return value


def without_misspellings(frequencies: Mapping[str, float], trusted: Collection[str]) -> dict[str, float]:
    """Return the words of a list that are trusted, or have no far more frequent neighbour."""
    least = FAR_MORE * min((f for word, f in frequencies.items() if word not in trusted), default=0.0)
    near: dict[str, float] = {}  # word with at most one letter less -> the highest frequency
    for word, frequency in frequencies.items():
        if frequency >= least:
            for shorter in (word, *_deletions(word)):
                if frequency > near.get(shorter, 0.0):
                    near[shorter] = frequency

    def is_right(word: str, frequency: float) -> bool:
        around = max(near.get(shorter, 0.0) for shorter in (word, *_deletions(word)))
        return word in trusted or around < FAR_MORE * frequency

    return {word: frequency for word, frequency in frequencies.items() if is_right(word, frequency)}


def _deletions(word: str) -> Iterator[str]:
    """Give the word with one letter less, each way; short words have too many neighbours to tell anything."""
    if len(word) > 3:
        yield from (word[:i] + word[i + 1 :] for i in range(len(word)))
