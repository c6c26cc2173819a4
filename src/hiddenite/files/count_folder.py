"""Counts of n-grams as Google publishes them: a folder with one folder for each order.

    1gms/vocab.gz, 2gms/2gm-0000.gz, 2gms/2gm-0001.gz …     n-gram, tab, count; sorted; <S>, </S> and <UNK>

All n-grams are held in memory to be sorted. The folder is made under another name and renamed when it is
whole. ``lm train --counts FOLDER`` reads it.
"""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Iterator
from types import TracebackType

from hiddenite.errors import FormatError
from hiddenite.files.output import writing_errors

LINES = 10_000_000  # a file, as Google's have
_NAMES = {b"<s>": b"<S>", b"</s>": b"</S>", b"<unk>": b"<UNK>"}


class CountFolder:
    """A folder that is being written: ``write`` takes lines of n-gram TAB count, in pieces of any length."""

    def __init__(self, path: str, lines: int = LINES) -> None:
        self._path = path
        self._lines = lines
        self._begun = b""  # of a line
        self._orders: dict[int, list[tuple[bytes, bytes]]] = {}  # n-grams and counts

    def __enter__(self) -> CountFolder:
        if os.path.exists(self._path):
            raise FormatError(self._path, None, "is there already; name a new folder")
        return self

    def write(self, piece: bytes) -> int:
        """Take some lines."""
        *lines, self._begun = (self._begun + piece).split(b"\n")
        for line in lines:
            ngram, _, count = line.rpartition(b"\t")
            words = [_NAMES.get(word, word) for word in ngram.split(b" ")]
            self._orders.setdefault(len(words), []).append((b" ".join(words), count))
        return len(piece)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            return
        unfinished = f"{self._path}.{os.getpid()}.tmp"
        try:
            with writing_errors(self._path):
                for order, rows in self._orders.items():
                    folder = os.path.join(unfinished, f"{order}gms")
                    os.makedirs(folder)
                    rows.sort()
                    for name, part in self._files(order, rows):
                        with gzip.open(os.path.join(folder, name), "wb") as out:
                            out.writelines(b"%b\t%b\n" % row for row in part)
                os.rename(unfinished, self._path)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def _files(
        self, order: int, rows: list[tuple[bytes, bytes]]
    ) -> Iterator[tuple[str, list[tuple[bytes, bytes]]]]:
        if order == 1:
            yield "vocab.gz", rows
            return
        for number, first in enumerate(range(0, len(rows), self._lines)):
            yield f"{order}gm-{number:04}.gz", rows[first : first + self._lines]
