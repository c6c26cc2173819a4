"""Links between the words of two sentences, as text.

Pharaoh: ``0-0 1-2``, source first, counted from 0, one line a sentence pair; the same for both directions.
Gold: ``i-j`` is a sure link, ``ipj`` or ``i?j`` a possible one. NAACL (``.wa``): one link a line, ``sentence
source target [S|P] [confidence]``, counted from 1; position 0 is NULL and no link. Which of the two gold
formats a file has is told by its first line that is not empty.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hiddenite.errors import FormatError
from hiddenite.files.corpus import ChunkReader, decode, line_blocks, tokenize

Link = tuple[int, int]  # source and target position, from 0
Lengths = tuple[int, int]  # words of source and target

MAX_POSITION = 9999  # a table of all cells of a sentence pair must fit into memory
_SURE, _POSSIBLE = "-", "p?"
_LINK = re.compile(r"(\d{1,9})([-p?])(\d{1,9})")
_NAACL = re.compile(r"\s*(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})(?:\s+([SP]))?(?:\s+[0-9.eE+-]+)?\s*")


@dataclass(frozen=True, slots=True)
class GoldLinks:
    """What annotators said of one sentence pair."""

    sure: frozenset[Link]
    possible: frozenset[Link]  # the sure ones too
    line: int | None = None  # where it stands


def format_links(links: Iterable[Link]) -> str:
    """Return the Pharaoh form."""
    return " ".join(f"{i}-{j}" for i, j in links)


# ---------------------------------------------------------------------- a line


def parse_links(text: str, file: str = "<links>", line: int | None = None) -> tuple[Link, ...]:
    """Read one line of Pharaoh links, in their order; a link twice counts once."""
    return tuple(dict.fromkeys(link for link, _ in _parse(text, _SURE, file, line)))


def parse_gold(text: str, file: str = "<gold>", line: int | None = None) -> GoldLinks:
    """Read one line of sure and possible links."""
    links = list(_parse(text, _SURE + _POSSIBLE, file, line))
    sure = frozenset(link for link, kind in links if kind == _SURE)
    return GoldLinks(sure, frozenset(link for link, _ in links), line)


def _parse(text: str, kinds: str, file: str, line: int | None) -> Iterator[tuple[Link, str]]:
    for word in tokenize(text):
        match = _LINK.fullmatch(word)
        if match is None or match[2] not in kinds:
            raise FormatError(file, line, f"found '{word}', expected links such as {_example(kinds)}")
        link = int(match[1]), int(match[3])
        if max(link) > MAX_POSITION:
            raise FormatError(
                file,
                line,
                f"found '{word}', expected links such as {_example(kinds)}, positions up to {MAX_POSITION}",
            )
        yield link, match[2]


def _example(kinds: str) -> str:
    return "0-0 1-2" if kinds == _SURE else "0-0 (sure) and 1p2 or 1?2 (possible)"


# ---------------------------------------------------------------------- a file


def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Give the lines of a text, plain or compressed, with their numbers."""
    with ChunkReader(path) as reader:
        for block, first_line in line_blocks(reader):
            lines = decode(block, reader.name).split("\n")
            if lines[-1] == "":
                lines.pop()
            yield from enumerate(lines, first_line)


def _name(path: str | os.PathLike[str]) -> str:
    return "<stdin>" if os.fspath(path) == "-" else os.fspath(path)


def read_links(path: str | os.PathLike[str]) -> Iterator[tuple[Link, ...]]:
    """Read Pharaoh links, one line a sentence pair."""
    for number, line in read_lines(path):
        yield parse_links(line, _name(path), number)


def read_gold(path: str | os.PathLike[str]) -> list[GoldLinks]:
    """Read gold links, in either format."""
    lines = list(read_lines(path))
    first = next((line for _, line in lines if line.strip()), "")
    if _NAACL.fullmatch(first):
        return _read_naacl(lines, _name(path))
    return [parse_gold(line, _name(path), number) for number, line in lines]


def _read_naacl(lines: Iterable[tuple[int, str]], file: str) -> list[GoldLinks]:
    sure: dict[int, set[Link]] = {}
    possible: dict[int, set[Link]] = {}
    first_line: dict[int, int] = {}
    for number, line in lines:
        if not line.strip():
            continue
        match = _NAACL.fullmatch(line)
        if match is None or int(match[1]) == 0:
            expected = "expected 'sentence source target [S|P] [confidence]', counted from 1"
            raise FormatError(file, number, f"found '{line.strip()}', {expected}")
        sentence, link = int(match[1]), (int(match[2]) - 1, int(match[3]) - 1)
        first_line.setdefault(sentence, number)
        if min(link) < 0:  # NULL
            continue
        possible.setdefault(sentence, set()).add(link)
        if match[4] != "P":
            sure.setdefault(sentence, set()).add(link)
    return [
        GoldLinks(frozenset(sure.get(s, ())), frozenset(possible.get(s, ())), first_line.get(s))
        for s in range(1, max(first_line, default=0) + 1)
    ]


def check_range(links: Iterable[Link], lengths: Lengths, file: str, line: int | None) -> None:
    """Refuse links outside their sentence pair."""
    for i, j in links:
        if i >= lengths[0] or j >= lengths[1]:
            raise FormatError(
                file,
                line,
                f"link {i}-{j} is outside its sentence pair of {lengths[0]} and {lengths[1]} words; "
                "positions are counted from 0, source first",
            )


def check_gold(gold: Sequence[GoldLinks], lengths: Sequence[Lengths], file: str) -> None:
    """Refuse gold links outside their sentence pairs."""
    for number, (one, size) in enumerate(zip(gold, lengths, strict=True), 1):
        check_range(sorted(one.possible), size, file, number if one.line is None else one.line)
