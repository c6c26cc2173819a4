"""Parallel text: two files whose lines n belong together, or one file of ``source ||| target`` lines."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from hiddenite.errors import FormatError, ModelError
from hiddenite.files.corpus import ChunkReader, Sentence, each_sentence, line_blocks, sentence_text

SEPARATOR = b"|||"
Path = str | os.PathLike[str]
_PIECE = 1 << 17  # bytes that are normalised at a time: str.lower takes twelve times as many
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Bitext:
    """Both sides as UTF-8 text with equally many lines, and what to call them in errors."""

    source: bytes
    target: bytes
    source_name: str = "<source>"
    target_name: str = "<target>"

    @property
    def num_lines(self) -> int:
        """Number of sentence pairs."""
        return self.source.count(b"\n")

    def normalized(self) -> Bitext:
        """Return the text as the aligner learns from it: see :func:`normalize_text`."""
        return Bitext(
            normalize_text(self.source), normalize_text(self.target), self.source_name, self.target_name
        )

    @classmethod
    def of(cls, source: Iterable[object], target: Iterable[Sentence] | None = None) -> Bitext:
        """Take sentences: two sequences, or one of pairs."""
        given = zip(*map(check_pair, source), strict=True) if target is None else (source, target)
        sides = [list(each_sentence(side)) for side in given] or [[], []]  # type: ignore[arg-type]
        if len(sides[0]) != len(sides[1]):
            raise ModelError(
                f"found {len(sides[0])} source and {len(sides[1])} target sentences, expected equally many"
            )
        return cls(sentence_text(sides[0]), sentence_text(sides[1]))

    @classmethod
    def read(cls, source: Path, target: Path | None = None) -> Bitext:
        """Read two files, or one of ``|||`` lines."""
        names = [_name(source), _name(source if target is None else target)]
        if target is not None:
            _check_inputs(source, target)
            sides = [_read_lines(source), _read_lines(target)]
            counts = [side.count(b"\n") for side in sides]
            if counts[0] != counts[1]:
                raise _unequal(names[0], counts[0], names[1], counts[1])
            return cls(sides[0], sides[1], *names)
        blocks = list(bitext_blocks(source))
        for block in blocks:
            block.check(names[0])
        return cls(b"".join(b.source for b in blocks), b"".join(b.target for b in blocks), *names)


def normalize_text(text: bytes) -> bytes:
    """Return lower-case text in Unicode's composed form (NFC).

    Words and lines stay as many as they were. What is no UTF-8 stays as it is, for others to refuse.
    """
    parts, begin = [], 0
    while begin < len(text):
        end = text.find(b"\n", begin + _PIECE) + 1 or len(text)
        parts.append(_normalize(text[begin:end]))
        begin = end
    return b"".join(parts)


def _normalize(text: bytes) -> bytes:
    if text.isascii():
        return text.lower()
    try:
        return unicodedata.normalize("NFC", text.decode().lower()).encode()
    except UnicodeDecodeError:
        return text


def normalize_word(word: str) -> str:
    """Return a word as the aligner learns it."""
    return normalize_text(word.encode()).decode()


def check_pair(pair: object) -> tuple[Sentence, Sentence]:
    """Return a pair of sentences; raises ModelError for anything else."""
    if isinstance(pair, str) or not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ModelError(f"found {pair!r:.60}, expected pairs (source sentence, target sentence)")
    return pair[0], pair[1]


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of both sides."""

    source: bytes
    target: bytes
    first_line: int
    faults: Mapping[int, str] = field(default_factory=dict)  # number of a line that is no pair -> what it is

    def check(self, name: str) -> None:
        """Raise FormatError for the first line that is no pair."""
        for line, fault in self.faults.items():
            raise FormatError(name, line, fault)


def _name(path: Path) -> str:
    return "<stdin>" if os.fspath(path) == "-" else os.fspath(path)


def bitext_blocks(
    source: Path,
    target: Path | None = None,
    max_lines: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[Block]:
    """Give whole lines of both sides, at most ``max_lines`` at a time, in constant memory.

    ``on_progress`` gets the bytes of the source file that were read.
    """
    if target is None:
        yield from _separated_blocks(source, max_lines, on_progress)
    else:
        _check_inputs(source, target)
        with ChunkReader(source, on_progress) as e, ChunkReader(target) as f:
            yield from _zipped_blocks(_Lines(e), _Lines(f), max_lines or 4096)


def _check_inputs(source: Path, target: Path) -> None:
    if os.fspath(source) == os.fspath(target) == "-":
        raise ModelError("both sides are standard input; give one as a file, or one text of ||| lines")


def _read_lines(path: Path) -> bytes:
    """Return a file's whole lines; not line by line, which takes several times the text's memory."""
    with ChunkReader(path) as reader:
        text = b"".join(block for block, _ in line_blocks(reader)).removeprefix(_BOM)
    return text if text.endswith(b"\n") or not text else text + b"\n"


def _unequal(source: str, source_lines: int, target: str, target_lines: int) -> FormatError:
    return FormatError(
        target,
        None,
        f"found {target_lines} lines, expected {source_lines}, as many as {source} has: "
        "line n of one translates line n of the other",
    )


def _separated_blocks(
    path: Path, max_lines: int | None, on_progress: Callable[[int], None] | None
) -> Iterator[Block]:
    with ChunkReader(path, on_progress) as reader:
        for text, first_line in line_blocks(reader, max_lines):
            sides: tuple[list[bytes], list[bytes]] = ([], [])
            faults = {}
            for number, line in enumerate(_split(text, first_line), first_line):
                parts = line.split(SEPARATOR)
                if len(parts) != 2:
                    found = "no" if len(parts) == 1 else str(len(parts) - 1)
                    faults[number] = f"found {found} '|||', expected 'source ||| target'"
                    parts = [line, b""]
                for side, part in zip(sides, parts, strict=True):
                    side.append(part)
            yield Block(_join(sides[0]), _join(sides[1]), first_line, faults)


def _split(text: bytes, first_line: int) -> list[bytes]:
    """Return the lines without their ends; a byte order mark is no part of the text."""
    if first_line == 1:
        text = text.removeprefix(_BOM)
    lines = text.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return lines


def _join(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


class _Lines:
    """A file's lines, taken so many at a time."""

    def __init__(self, reader: ChunkReader) -> None:
        self.name = reader.name
        self.taken = 0
        self._blocks = line_blocks(reader)
        self._waiting: list[bytes] = []

    def take(self, count: int) -> list[bytes]:
        """Return the next lines, fewer at the end of the file."""
        while len(self._waiting) < count and (block := next(self._blocks, None)) is not None:
            self._waiting += _split(*block)
        lines, self._waiting = self._waiting[:count], self._waiting[count:]
        self.taken += len(lines)
        return lines

    def count_rest(self) -> int:
        """Return the number of lines of the whole file."""
        while self.take(4096):
            pass
        return self.taken


def _zipped_blocks(source: _Lines, target: _Lines, max_lines: int) -> Iterator[Block]:
    while True:
        first_line = source.taken + 1
        e, f = source.take(max_lines), target.take(max_lines)
        if len(e) != len(f):
            raise _unequal(source.name, source.count_rest(), target.name, target.count_rest())
        if not e:
            return
        yield Block(_join(e), _join(f), first_line)
