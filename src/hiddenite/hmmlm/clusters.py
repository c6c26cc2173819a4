r"""Word classes by exchange: a local optimum of Brown's objective, the mutual information of neighbours.

>>> clustering = Clustering([b"the cat sat\nthe dog sat\n"], 2)
>>> for turn in clustering: pass
>>> sorted(clustering.result().words)
['cat', 'dog', 'sat', 'the']

``cpp/hiddenite/clusters.hpp`` has the algorithm. A file is a table, ``word TAB class TAB count``, or in
Brown's format, ``bit string TAB word TAB count``, where classes are leaves of a binary tree and a prefix is a
coarser class. Either can be read back, to train on or to continue with another text.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hiddenite._core import ExchangeClustering, WordTable, read_tokens
from hiddenite.errors import FormatError, ModelError
from hiddenite.files.corpus import ChunkReader, decode
from hiddenite.files.output import atomic_output

MAX_PASSES = 20
FORMATS = ("tsv", "brown")
_NO_CLASS = 0xFFFFFFFF
_SPECIAL = 3  # <unk>, <s> and </s>


@dataclass(frozen=True, slots=True)
class Clusters:
    """Words with their classes, most frequent first."""

    words: tuple[str, ...]
    classes: tuple[int, ...]  # of each word
    counts: tuple[int, ...]  # of each word
    paths: tuple[str, ...]  # bit string of each class; empty if there is no tree
    average_mutual_information: float | None = None  # in nats, sentence boundaries included

    @property
    def num_classes(self) -> int:
        """The number of classes."""
        return max(self.classes, default=-1) + 1

    def members(self) -> list[list[str]]:
        """Return the words of each class, most frequent first."""
        result: list[list[str]] = [[] for _ in range(self.num_classes)]
        for word, c in zip(self.words, self.classes, strict=True):
            result[c].append(word)
        return result

    def save(self, path: str | os.PathLike[str], file_format: str = "tsv") -> None:
        """Write a file, whole or not at all: ``tsv`` or ``brown``."""
        if file_format not in FORMATS:
            raise ModelError(f"found the format '{file_format}', expected {' or '.join(FORMATS)}")
        rows = zip(self.words, self.classes, self.counts, strict=True)
        with atomic_output(path) as out:
            if file_format == "tsv":
                out.write("".join(f"{word}\t{c}\t{n}\n" for word, c, n in rows).encode())
                return
            if not self.paths:
                raise ModelError("the classes have no tree, expected those of a clustering")
            lines = sorted((self.paths[c], -n, word) for word, c, n in rows)
            out.write("".join(f"{bits}\t{word}\t{-n}\n" for bits, n, word in lines).encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Clusters:
        """Read a file of either format."""
        with ChunkReader(path) as reader:
            try:
                text = decode(b"".join(iter(reader, b"")), reader.name)
            except ValueError as error:
                raise FormatError(reader.name, None, str(error)) from None
        rows = [line.split("\t") for line in text.split("\n") if line]
        for number, row in enumerate(rows, 1):
            if len(row) != 3 or not row[2].isdecimal():
                raise FormatError(
                    os.fspath(path),
                    number,
                    "expected word, class and count, or bits, word and count, by tabs",
                )
        if not rows:
            raise FormatError(os.fspath(path), None, "has no word, expected classes")
        if all(set(row[0]) <= {"0", "1"} for row in rows):
            rows = [[word, bits, count] for bits, word, count in rows]
            numbers: dict[str, int] = {bits: i for i, bits in enumerate(sorted({row[1] for row in rows}))}
        elif all(row[1].isdecimal() for row in rows):
            used = sorted({int(row[1]) for row in rows})
            numbers = {str(c): i for i, c in enumerate(used)}
            rows = [[word, str(int(c)), count] for word, c, count in rows]
        else:
            raise FormatError(os.fspath(path), None, "has classes that are neither numbers nor bit strings")
        seen: set[str] = set()
        for number, row in enumerate(rows, 1):
            if row[0] in seen:
                raise FormatError(os.fspath(path), number, f"lists the word '{row[0]}' twice")
            seen.add(row[0])
        paths = tuple(sorted(numbers)) if all(set(p) <= {"0", "1"} for p in numbers) else ()
        return cls(
            tuple(row[0] for row in rows),
            tuple(numbers[row[1]] for row in rows),
            tuple(int(row[2]) for row in rows),
            paths,
        )


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over all words, done."""

    number: int  # from 1
    moved: int  # words that changed their class
    average_mutual_information: float


class Clustering:
    """Exchange over a text; iterate to run it. It ends when no word moves, or after ``passes``."""

    def __init__(
        self,
        text: Iterable[bytes],
        clusters: int,
        *,
        start: Clusters | None = None,
        random_start: int | None = None,
        passes: int = MAX_PASSES,
        threads: int = 0,
        names: Sequence[str] = (),
    ) -> None:
        """Read the text, in pieces of whole lines; continue from the classes of ``start``, if given.

        ``random_start`` is a seed: words begin in random classes, for a local optimum that is not the usual.
        """
        if clusters < 1 or passes < 1:
            raise ModelError(f"found {clusters} clusters and {passes} passes, expected at least one")
        if isinstance(text, str | bytes):
            raise ModelError("found one text, expected a list of texts as bytes; write [text]")
        self._table = WordTable()
        pieces = list(text)
        if start is not None:
            clusters = max(clusters, start.num_classes)
            for word in start.words:
                self._table.add(word)
        joined = b"".join(p if p.endswith(b"\n") or not p else p + b"\n" for p in pieces)
        name = names[0] if len(names) == 1 else "<text>"
        self._tokens = read_tokens(joined, name, 1, self._table, grow=True)
        self._start = start
        first = np.full(len(self._table), _NO_CLASS, np.uint32)
        if start is not None:
            for word, c in zip(start.words, start.classes, strict=True):
                first[self._table.add(word)] = c
        elif random_start is not None:
            rng = np.random.default_rng(random_start)
            first[_SPECIAL:] = rng.integers(0, clusters, max(0, len(first) - _SPECIAL))
        self._core = ExchangeClustering(self._tokens, len(self._table), clusters, first)
        self._passes, self._threads, self._done = passes, threads, 0

    def __iter__(self) -> Iterator[Pass]:
        while self._done < self._passes:
            moved = self._core.exchange(self._threads)
            self._done += 1
            yield Pass(self._done, moved, self._core.average_mutual_information)
            if moved == 0:
                return

    def run(self) -> Clusters:
        """Do all passes that are left."""
        for _ in self:
            pass
        return self.result()

    def result(self) -> Clusters:
        """Return the classes as they are now; words of the start that the text lacks keep theirs."""
        classes, counts = np.array(self._core.classes), self._core.counts.astype(np.int64)
        words = self._table.words()
        if self._start is not None:
            for word, c, n in zip(self._start.words, self._start.classes, self._start.counts, strict=True):
                w = self._table.add(word)
                counts[w] += n
                if classes[w] == _NO_CLASS:
                    classes[w] = c
        kept = [w for w in np.argsort(-counts, kind="stable") if classes[w] < self._core.num_classes]
        return Clusters(
            tuple(words[w] for w in kept),
            tuple(int(classes[w]) for w in kept),
            tuple(int(counts[w]) for w in kept),
            tuple(self._core.paths()),
            self._core.average_mutual_information,
        )
