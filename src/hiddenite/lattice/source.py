"""The text of a lattice file, and errors that name its lines."""

from __future__ import annotations

import math
import os
import re
import warnings

from hiddenite.errors import FormatError, HiddeniteWarning
from hiddenite.files.corpus import ChunkReader, decode

NULLS = frozenset({"", "!NULL", "<eps>", "<epsilon>", "*DELETE*", "NULL", "-", "ε"})
NODES = 50_000_000  # more are a slip of the pen, and would cost the memory of a small machine
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\Z")
_INFINITY = re.compile(r"[-+]?inf(inity)?\Z", re.IGNORECASE)


class Source:
    """The lines of a file; numbers of lines count from 1."""

    def __init__(self, name: str, lines: list[str]) -> None:
        self.name = name
        self.lines = lines
        self._told: set[str] = set()
        self.first_line = 1  # of the lattice that was read last,
        self.edge_lines: list[int] = []  # and of its edges

    def found(self, first_line: int, edge_lines: list[int]) -> None:
        """Note where a lattice stands, for those who find a fault in it."""
        self.first_line, self.edge_lines = first_line, edge_lines

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Source:
        """Read a file, plain or compressed; ``-`` is standard input."""
        with ChunkReader(path) as reader:
            chunks = []
            try:
                while chunk := reader():
                    chunks.append(chunk)
            except ValueError as error:
                line = b"".join(chunks).count(b"\n") + 1
                raise FormatError(reader.name, line, str(error)) from None
            text = decode(b"".join(chunks), reader.name)
        return cls(reader.name, text.replace("\r\n", "\n").split("\n"))

    def error(self, line: int | None, message: str) -> FormatError:
        """Return an error at a line."""
        return FormatError(self.name, line, message)

    def warn_once(self, line: int, what: str, message: str) -> None:
        """Say something about a line, but not again about others like it."""
        if what not in self._told:
            self._told.add(what)
            warnings.warn(f"{self.name}:{line}: {message}", HiddeniteWarning, stacklevel=2)

    # ---------------------------------------------------------------- numbers

    def number(self, line: int, text: str, what: str) -> float:
        """Read a finite number, or an infinity where that is what stands there."""
        if _NUMBER.match(text):
            value = float(text)
            if math.isinf(value):
                raise self.error(line, f"found {what} {text}, expected a number within a double's range")
            return value
        if _INFINITY.match(text):
            return -math.inf if text.startswith("-") else math.inf
        raise self.error(line, f"found {what} '{text:.40}', expected a number")

    def log_score(self, line: int, text: str, what: str) -> float:
        """Read a score: a finite number, or -inf for what is impossible."""
        value = self.number(line, text, what)
        if value == math.inf:
            raise self.error(line, f"found {what} {text}, expected a finite number or -inf")
        return value

    def finite(self, line: int, text: str, what: str) -> float:
        """Read a finite number."""
        value = self.number(line, text, what)
        if math.isinf(value):
            raise self.error(line, f"found {what} {text}, expected a finite number")
        return value

    def cost(self, line: int, text: str, what: str) -> float:
        """Read a cost, -ln; Infinity is what is impossible."""
        value = self.number(line, text, what)
        if value == -math.inf:
            raise self.error(line, f"found {what} {text}, expected a finite number or Infinity")
        return -value if value else 0.0

    def node(self, line: int, text: str) -> int:
        """Read the number of a node."""
        if not text.isascii() or not text.isdecimal():
            raise self.error(line, f"found node '{text:.40}', expected a number from 0")
        # Numbers may be left out, but not so many that a short file costs much memory.
        limit = min(NODES, 1000 + 16 * len(self.lines))
        number = int(text) if len(text) < 12 else limit
        if number >= limit:
            raise self.error(
                line,
                f"found node {text:.40} in a file of {len(self.lines):,} lines, expected "
                "nodes 0, 1, 2 and so on",
            )
        return number

    def count(self, line: int, text: str, what: str) -> int:
        """Read how many there are of something."""
        if not text.isascii() or not text.isdecimal() or len(text) > 11:
            raise self.error(line, f"found {what} '{text:.40}', expected a whole number")
        return int(text)


def plain_word(word: str) -> str:
    """Return a word, or nothing for the names of edges without a word."""
    return "" if word in NULLS else word


def format_number(value: float) -> str:
    """Return the shortest text that gives the number again."""
    return repr(float(value)).removesuffix(".0")
