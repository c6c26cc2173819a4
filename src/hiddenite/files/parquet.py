"""Parquet tables as texts: rows of one column are lines, and lines become rows. Needs the extra ``arrow``.

Reading takes the column ``text``, or the only column of strings there is; a line end within a cell is a
blank, an empty cell an empty line. Writing makes two columns: ``record``, the number of the row from 1, and
``text``, the record as it would be written to a text file, which is JSON with ``--json``. A Parquet file
cannot be added to, so a job writes its records as JSON strings, one a line, and packs them at its end.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hiddenite.errors import FormatError, ModelError

if TYPE_CHECKING:
    from pathlib import Path

MAGIC = b"PAR1"
SUFFIX = ".parquet"
ROWS = 1 << 14  # read or written at once
_TEXT = "text"


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa  # noqa: PLC0415  (an extra)
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise ModelError("Parquet needs the extra arrow: pip install 'hiddenite[arrow]'") from None
    return pa, pq


class ParquetText(io.RawIOBase):
    """The rows of a table as the lines of a text, a few thousand in memory at a time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        arrow, parquet = _arrow()
        self._faults = (arrow.ArrowInvalid, arrow.ArrowException, OSError)
        try:
            self._file = parquet.ParquetFile(path)
        except self._faults as error:
            raise FormatError(
                os.fspath(path), None, f"is not a complete Parquet file: {_first_line(error)}"
            ) from None
        self._column = _text_column(self._file.schema_arrow, os.fspath(path))
        self._lines = self._read_lines()
        self._rest = b""

    def _read_lines(self) -> Iterator[bytes]:
        for batch in self._file.iter_batches(ROWS, columns=[self._column]):
            cells = batch.column(0).to_pylist()
            yield "".join((cell or "").replace("\n", " ") + "\n" for cell in cells).encode()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        if not self._rest:
            try:
                self._rest = next(self._lines, b"")
            except self._faults as error:
                raise OSError(_first_line(error)) from None
        data, self._rest = self._rest[: len(view)], self._rest[len(view) :]
        view[: len(data)] = data
        return len(data)


def _text_column(schema: Any, name: str) -> str:
    strings = [field.name for field in schema if str(field.type) in ("string", "large_string")]
    if _TEXT in strings:
        return _TEXT
    if len(strings) == 1:
        return str(strings[0])
    found = ", ".join(strings) or "none"
    raise FormatError(name, None, f"found the columns of strings {found}, expected one named {_TEXT}")


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0]


def pack_records(source: Path, target: Path) -> None:
    """Turn records, one JSON string a line, into a table."""
    arrow, parquet = _arrow()
    schema = arrow.schema([("record", arrow.int64()), (_TEXT, arrow.string())])
    with source.open("rb") as lines, parquet.ParquetWriter(target, schema, compression="zstd") as writer:
        first = 1
        for texts in _groups(lines):
            numbers = list(range(first, first + len(texts)))
            writer.write_table(arrow.table([numbers, texts], schema=schema))
            first += len(texts)


def _groups(lines: Any) -> Iterator[list[str]]:
    import json  # noqa: PLC0415  (only who writes tables needs it)

    texts: list[str] = []
    for line in lines:
        texts.append(json.loads(line))
        if len(texts) == ROWS:
            yield texts
            texts = []
    if texts:
        yield texts


def check_available() -> None:
    """Raise ModelError if the extra is not installed."""
    _arrow()
