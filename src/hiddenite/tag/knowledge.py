"""What is known of words beside tagged text: the classes that a raw text puts them into, and a dictionary.

Words that occur between the same words are put into one class (exchange clustering,
``cpp/hiddenite/hmm/clusters.hpp``), at several granularities: coarse classes for rare words, fine ones where
there is enough text. A class is a feature of the word and a feature of its neighbours, so that a word that no
tagged text has is still met as one of its class.

A dictionary lists the tags of words. They are features in the same way; a ``hard`` one also rules out all
other tags, except those that the word has in tagged text.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import ExchangeClustering, WordAttributes, WordTable, read_tokens
from hiddenite.errors import FormatError, ModelError
from hiddenite.files.corpus import ChunkReader, decode, tokenize
from hiddenite.tag.annotation import Dictionary
from hiddenite.tag.formats import TaggedSentence, tag_fault

GRANULARITIES = (16, 64, 256)
PASSES = 8
_NO_CLASS = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, eq=False)
class NumberTable:
    """Words with numbers. Word i has ``numbers[begin[i]:begin[i + 1]]``."""

    words: tuple[str, ...]
    begin: NDArray[np.uint64]
    numbers: NDArray[np.uint32]

    @classmethod
    def of(cls, rows: Mapping[str, Sequence[int]]) -> NumberTable:
        """Make a table; words without numbers are left out."""
        words = sorted(word for word, numbers in rows.items() if len(numbers))
        flat = [n for word in words for n in rows[word]]
        begin = np.cumsum([0, *(len(rows[word]) for word in words)]).astype(np.uint64)
        return cls(tuple(words), begin, np.array(flat, dtype=np.uint32))

    def attributes(self) -> WordAttributes:
        """Return the core's form."""
        return WordAttributes(list(self.words), self.begin, self.numbers)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of words."""

    classes: Mapping[str, Sequence[int]] | None = None  # numbers of the classes of each word
    dictionary: Dictionary | None = None
    is_hard: bool = False

    def attributes(self, tags: Sequence[str]) -> NumberTable | None:
        """Return what becomes features: classes, the dictionary's tags, and which are listed together."""
        if not self.classes and not self.dictionary:
            return None
        rows: defaultdict[str, list[int]] = defaultdict(list)
        for word, numbers in (self.classes or {}).items():
            rows[word] += numbers
        used = 1 + max((n for row in rows.values() for n in row), default=-1)
        tag_ids = {tag: used + i for i, tag in enumerate(tags)}
        sets: dict[tuple[int, ...], int] = {}
        for word, listed in sorted((self.dictionary or {}).items()):
            known = tuple(sorted(tag_ids[tag] for tag in set(listed) if tag in tag_ids))
            if known:
                rows[word] += [*known, sets.setdefault(known, used + len(tags) + len(sets))]
        return NumberTable.of(rows)

    def allowed(self, tags: Sequence[str], counted: Iterable[TaggedSentence]) -> NumberTable | None:
        """Return the tags that words may have, None if all may have all."""
        if not self.dictionary or not self.is_hard:
            return None
        tag_ids = {tag: i for i, tag in enumerate(tags)}
        rows = {
            word: {tag_ids[tag] for tag in listed if tag in tag_ids}
            for word, listed in self.dictionary.items()
        }
        for sentence in counted:
            for word, tag in sentence:
                row = rows.get(word) or rows.get(word.lower())
                if row and tag in tag_ids:
                    row.add(tag_ids[tag])
        return NumberTable.of({word: sorted(row) for word, row in rows.items()})


NO_KNOWLEDGE = Knowledge()


def word_classes(
    text: Iterable[Sequence[str]], granularities: Sequence[int] = GRANULARITIES, threads: int = 0
) -> dict[str, list[int]]:
    """Return the classes of the words of a raw text, numbered through all granularities."""
    joined = "\n".join(" ".join(words) for words in text).encode()
    table = WordTable()
    tokens = read_tokens(joined, "<raw text>", 1, table, grow=True)
    words = table.words()
    rows: dict[str, list[int]] = {word: [] for word in words[_SPECIAL:]}
    first = 0
    for size in granularities:
        classes = min(size, max(len(words) - _SPECIAL, 1))
        start = np.full(len(words), _NO_CLASS, np.uint32)
        clustering = ExchangeClustering(tokens, len(words), classes, start)
        for _ in range(PASSES):
            if clustering.exchange(threads) == 0:
                break
        for i, number in enumerate(clustering.classes.tolist()):
            if words[i] in rows and number < classes:
                rows[words[i]].append(first + number)
        first += classes
    return rows


_SPECIAL = 3  # <unk>, <s> and </s>


def read_dictionary(path: str, normal_form: str = "NFC") -> dict[str, tuple[str, ...]]:
    """Read a dictionary: ``word TAB tags``, the tags by white space; words in a Unicode form."""
    with ChunkReader(path) as reader:
        text = decode(b"".join(iter(reader, b"")), reader.name)
    result: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not tokenize(line):
            continue
        word, tab, rest = line.partition("\t")
        word = unicodedata.normalize("NFC", word) if normal_form == "NFC" else word
        tags = tuple(tokenize(rest))
        if not tab or not tags or tokenize(word) != [word]:
            raise FormatError(path, number, f"found {line[:40]!r}, expected word TAB tags, tags by blanks")
        fault = next(filter(None, map(tag_fault, tags)), "")
        if fault:
            raise FormatError(path, number, fault)
        if word in result:
            raise FormatError(path, number, f"found «{word}» twice; each word may appear once")
        result[word] = tags
    if not result:
        raise ModelError(f"{path}: has no word, expected word TAB tags")
    return result
