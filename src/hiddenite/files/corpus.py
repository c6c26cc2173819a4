"""Text in and out: files in pieces, compressed or not, and outputs that are whole or absent.

Compression is told by a file's first bytes when reading, as is a Parquet table, and by its name when writing.
Text is UTF-8; a byte order mark at its beginning is left out. Words are what stands between ASCII white
space: a no-break space or another Unicode space is part of a word.
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import errno
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, BinaryIO, cast

from hiddenite.errors import FormatError, ModelError
from hiddenite.files.parquet import MAGIC as PARQUET_MAGIC
from hiddenite.files.parquet import ParquetText

CHUNK_BYTES = 1 << 20
READ_BYTES = 1 << 18  # of a file at once; a job holds a few such pieces
BLOCK_BYTES = 4 << 20  # a block of lines ends when it has so many
MAX_LINE_BYTES = 16 << 20  # what is longer is no text; the C++ reader has the same limit
_LOOKED_AT, _MOST_NULS = 8192, 3  # first bytes, and NULs among them that a text may have by mistake
_SPACE = re.compile(r"[ \t\r\v\f\n]+")
_STDIN = _STDOUT = "-"

Sentence = str | bytes | Sequence[str]


def tokenize(line: str) -> list[str]:
    """Return the words of a line: what stands between ASCII white space."""
    return [word for word in _SPACE.split(line) if word]


def decode(text: bytes, name: str) -> str:
    """Return UTF-8 text without a byte order mark; an error names line and column."""
    return decode_part(text, name).removeprefix("\ufeff")


def decode_part(text: bytes, name: str) -> str:
    """Do the same with what need not be the beginning of a file."""
    try:
        decoded, bad = text.decode(), text.find(b"\0")
    except UnicodeDecodeError as error:
        decoded, bad = "", error.start
    if bad < 0:
        return decoded
    line = text.count(b"\n", 0, bad) + 1
    column = bad - text.rfind(b"\n", 0, bad)
    if text[bad] == 0:
        what, remedy = "a NUL byte", "if it is UTF-16, convert it with iconv"
    else:
        what, remedy = "a byte that is not UTF-8", "convert it with iconv"
    raise FormatError(name, line, f"column {column}: found {what}, expected UTF-8 text; {remedy}")


def input_name(path: str | os.PathLike[str]) -> str:
    """Return what a message calls an input."""
    return "<stdin>" if os.fspath(path) == _STDIN else os.fspath(path)


class ChunkReader:
    """A file as a callable that gives bytes, empty at the end; ``-`` is standard input.

    ``bytes_read`` counts the file's own bytes, before decompression, for progress. A byte order mark is left
    out unless the text is to be written again as it was (``keeps_mark``). A Parquet file gives the text of
    its rows, another binary file is refused; a reader of models looks itself, with ``is_text=False``.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        on_progress: Callable[[int], None] | None = None,
        is_text: bool = True,
        *,
        keeps_mark: bool = False,
    ) -> None:
        self.name = input_name(path)
        self._on_progress = on_progress
        self._is_text = is_text
        self._is_first = True
        self._mark = b"" if keeps_mark else codecs.BOM_UTF8
        try:
            self._counted = _Counted(_open(path))
        except IsADirectoryError:
            raise FormatError(self.name, None, "is a directory, expected a file") from None
        except OSError as error:
            raise FormatError(self.name, None, f"cannot be opened: {error.strerror or error}") from None
        if is_text and self._counted.head.startswith(PARQUET_MAGIC) and os.path.isfile(path):
            self._stream: IO[bytes] = io.BufferedReader(ParquetText(path), READ_BYTES)
        else:
            self._stream = _decompressed(self._counted)

    def __call__(self) -> bytes:
        try:
            chunk = self._stream.read(READ_BYTES)
        except EOFError:
            raise ValueError(
                "the archive ends early, expected a complete file; fetch or pack it again"
            ) from None
        except (OSError, zlib.error, lzma.LZMAError) as error:
            raise ValueError(f"the file cannot be read: {error}") from None
        if self._on_progress is not None:
            self._on_progress(self._counted.bytes_read)
        if self._is_first:
            self._is_first = False
            if self._is_text and chunk[:_LOOKED_AT].count(0) > _MOST_NULS:
                raise FormatError(self.name, None, "is a binary file, expected text")
            chunk = chunk.removeprefix(self._mark)
        return chunk

    @property
    def bytes_read(self) -> int:
        """Bytes of the file read so far."""
        return self._counted.bytes_read

    def __enter__(self) -> ChunkReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._counted.close()


def _open(path: str | os.PathLike[str]) -> BinaryIO:
    if os.fspath(path) != _STDIN:
        return open(path, "rb", buffering=READ_BYTES)
    if sys.stdin is None:  # a process may be started without one
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return cast(BinaryIO, sys.stdin.buffer)


class _Counted(io.RawIOBase):
    """Counts what is read from a file, and lets its first bytes be looked at."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._head = raw.read(6)
        self.head = self._head
        self.bytes_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        data = self._head or self._raw.read(len(view))
        data, self._head = data[: len(view)], data[len(view) :]
        view[: len(data)] = data
        self.bytes_read += len(data)
        return len(data)

    def close(self) -> None:
        if sys.stdin is None or self._raw is not sys.stdin.buffer:
            self._raw.close()
        super().close()


def _decompressed(counted: _Counted) -> IO[bytes]:
    stream = io.BufferedReader(counted, READ_BYTES)
    if counted.head.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.GzipFile(fileobj=stream))
    if counted.head.startswith(b"BZh"):
        return bz2.BZ2File(stream)
    if counted.head.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMAFile(stream)
    return stream


def line_blocks(reader: ChunkReader, max_lines: int | None = None) -> Iterator[tuple[bytes, int]]:
    """Give whole lines, a chunk or ``max_lines`` at a time, and the number of the first line.

    With ``max_lines`` the blocks depend on the text alone, however it arrives: so many lines, fewer if they
    are very long, and the rest in the last one.
    """
    if max_lines is not None:
        yield from _equal_blocks(line_blocks(reader), max_lines)
        return
    carry, first_line = b"", 1
    while True:
        try:
            chunk = reader()
        except ValueError as error:
            raise FormatError(reader.name, first_line + carry.count(b"\n"), str(error)) from None
        carry += chunk
        cut = len(carry) if not chunk else carry.rfind(b"\n") + 1
        if len(carry) - cut > MAX_LINE_BYTES:
            line = first_line + carry.count(b"\n")
            fault = "the line is longer than 16 MiB, expected one record a line; break it"
            raise FormatError(reader.name, line, fault)
        if cut:
            block, carry = carry[:cut], carry[cut:]
            yield block, first_line
            first_line += block.count(b"\n")
        if not chunk:
            return


def _equal_blocks(blocks: Iterator[tuple[bytes, int]], size: int) -> Iterator[tuple[bytes, int]]:
    waiting: list[bytes] = []
    num_bytes, first_line = 0, 1
    for text, _ in blocks:
        for line in _lines(text):
            waiting.append(line)
            num_bytes += len(line)
            if len(waiting) == size or num_bytes >= BLOCK_BYTES:
                yield b"".join(waiting), first_line
                first_line += len(waiting)
                waiting, num_bytes = [], 0
    if waiting:
        yield b"".join(waiting), first_line


def _lines(block: bytes) -> Iterator[bytes]:
    """Give lines with their ends, which are line feeds only, as in the core; one in memory at a time."""
    begin = 0
    while begin < len(block):
        end = block.find(b"\n", begin) + 1 or len(block)
        yield block[begin:end]
        begin = end


def file_bytes(paths: Iterable[str | os.PathLike[str]]) -> int | None:
    """Return the size of all files together, None if one is a stream."""
    total = 0
    for path in paths:
        if os.fspath(path) == _STDIN or not os.path.isfile(path):
            return None
        total += os.path.getsize(path)
    return total


def each_sentence(sentences: Iterable[Sentence]) -> Iterator[str | list[str]]:
    """Give sentences as text or as lists of words; they may be bytes, or cells of an Arrow column."""
    if isinstance(sentences, str | bytes):
        raise ModelError(f"found the text {sentences[:40]!r}, expected a list of sentences; write [sentence]")
    for place, sentence in enumerate(sentences, 1):
        if not isinstance(sentence, str):
            sentence = sentence.as_py() if hasattr(sentence, "as_py") else sentence  # noqa: PLW2901
            if sentence is None or isinstance(sentence, int | float):
                raise ModelError(f"sentence {place} is {sentence!r}, expected text or a list of words")
        if isinstance(sentence, bytes):
            yield decode_part(sentence, f"sentence {place}")
        else:
            yield sentence if isinstance(sentence, str) else list(sentence)


def sentence_words(sentence: Sentence) -> list[str]:
    """Return the words of one sentence: text is split at white space."""
    (found,) = each_sentence([sentence])
    return tokenize(found) if isinstance(found, str) else found


def sentence_chunks(sentences: Iterable[Sentence]) -> Iterator[bytes]:
    """Give sentences as UTF-8 text, one a line, in pieces."""
    lines: list[str] = []
    size = 0
    for sentence in each_sentence(sentences):
        line = sentence if isinstance(sentence, str) else _join(sentence)
        if "\n" in line:
            line = line.replace("\n", " ")
        lines.append(line)
        size += len(line) + 1
        if size >= CHUNK_BYTES:
            yield _encode(lines)
            lines, size = [], 0
    if lines:
        yield _encode(lines)


def sentence_text(sentences: Iterable[Sentence]) -> bytes:
    """Return sentences as UTF-8 text, one a line; a list of strings goes the short way."""
    if isinstance(sentences, list):
        with contextlib.suppress(TypeError):  # sequences of words
            if sentences and "\n" not in "".join(sentences):
                return _encode(sentences)
    return b"".join(sentence_chunks(sentences))


def as_text(text: bytes | Iterable[Sentence]) -> bytes:
    """Return UTF-8 text with one sentence a line, from such text or from sentences."""
    return text if isinstance(text, bytes) else sentence_text(text)


def _encode(lines: list[str]) -> bytes:
    try:
        return ("\n".join(lines) + "\n").encode()
    except UnicodeEncodeError as error:
        found = error.object[error.start]
        raise ModelError(f"a sentence contains {found!r}, which is not Unicode text") from None


def _join(words: Sequence[str]) -> str:
    try:
        line = " ".join(words)
    except TypeError as error:
        raise ModelError(f"found {words!r:.60}, expected words that are strings: {error}") from None
    if tokenize(line) != list(words):
        bad = next(w for w in words if tokenize(w) != [w])
        raise ModelError(f"the word {bad!r} is empty or contains white space; words are separated by it")
    return line


def chunk_source(chunks: Iterator[bytes]) -> Callable[[], bytes]:
    """Turn an iterator of chunks into a callable that gives them, then empty bytes."""
    return lambda: next(chunks, b"")
