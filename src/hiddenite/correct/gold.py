"""Noisy texts with their right versions, as people have them.

Two files whose lines n belong together; or one of ``noisy TAB right`` lines, in which further columns are
other right versions and are not read; or, for tokens that are normalised one by one, ``seen TAB meant`` lines
with an empty line between texts, where what is meant may be several words, or none.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from hiddenite.errors import FormatError
from hiddenite.files.corpus import ChunkReader, decode_part, line_blocks

Pair = tuple[str, str]


def read_lines(path: str) -> Iterator[tuple[str, int, str]]:
    """Give the lines of a file without their ends, their numbers, and the file's name."""
    with ChunkReader(path) as reader:
        for block, first in line_blocks(reader):
            lines = decode_part(block, reader.name).split("\n")
            if block.endswith(b"\n"):
                lines.pop()
            for number, line in enumerate(lines, first):
                yield line.removesuffix("\r"), number, reader.name


def read_pairs(noisy: str, right: str | None = None, *, tokens: bool = False) -> Iterator[Pair]:
    """Give the pairs of one file or of two."""
    if right is not None:
        yield from _joined(noisy, right)
    elif tokens:
        yield from _texts(noisy)
    else:
        for line, number, name in read_lines(noisy):
            if line:
                yield _columns(line, number, name)


def _columns(line: str, number: int, name: str) -> Pair:
    seen, tab, meant = line.partition("\t")
    if not tab:
        raise FormatError(name, number, "found no tab, expected noisy TAB right; or give two files")
    return seen, meant.partition("\t")[0]


def _joined(noisy: str, right: str) -> Iterator[Pair]:
    for seen, meant in itertools.zip_longest(read_lines(noisy), read_lines(right)):
        if seen is None or meant is None:
            ended, line = (noisy, meant[1]) if seen is None else (right, seen[1])
            raise FormatError(ended, line, "the file has no such line, expected as many as in the other file")
        yield seen[0], meant[0]


def _texts(path: str) -> Iterator[Pair]:
    """Give texts of tokens: each side joined by blanks."""
    rows: list[Pair] = []
    for line, number, name in itertools.chain(read_lines(path), [("", 0, "")]):
        if line.strip():
            rows.append(_columns(line, number, name))
        elif rows:
            yield " ".join(seen for seen, _ in rows), " ".join(meant for _, meant in rows if meant)
            rows = []


def nonempty(pairs: Iterable[Pair], name: str) -> list[Pair]:
    """Return the pairs as a list; FormatError if there is none."""
    found = list(pairs)
    if not found:
        raise FormatError(name, None, "has no pair, expected noisy TAB right lines")
    return found
