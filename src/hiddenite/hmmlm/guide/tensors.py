"""Arrays in files of other tools, read row by row: ``.safetensors`` and ``.npz``.

A safetensors file is eight bytes with the length of a JSON header, the header (for each array its type, its
shape and where its bytes are), and the bytes. Nothing in it is code.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import struct
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hiddenite.errors import FormatError
from hiddenite.files.output import atomic_output

_TYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": np.uint16}
_MOST_HEADER = 100_000_000
_HINT = "expected a .safetensors or .npz file with the arrays of a hidden Markov model"


class TensorFile:
    """Arrays of a file, by name; rows are read when they are asked for."""

    def __init__(self, file: IO[bytes], entries: Mapping[str, tuple[str, tuple[int, ...], int]]) -> None:
        self._file = file
        self._entries = entries  # type, shape and the first byte
        self.shapes = {name: shape for name, (_, shape, _) in entries.items()}

    def rows(self, name: str, begin: int, end: int) -> NDArray[np.float32]:
        """Return some rows of an array as floats; one of one dimension has one row."""
        kind, shape, at = self._entries[name]
        width = shape[-1]
        dtype = np.dtype(_TYPES[kind]).newbyteorder("<")
        self._file.seek(at + begin * width * dtype.itemsize)
        data = self._file.read((end - begin) * width * dtype.itemsize)
        values = np.frombuffer(data, dtype).reshape(end - begin, width)
        if kind == "BF16":
            return (values.astype(np.uint32) << 16).view(np.float32)
        return values.astype(np.float32, copy=False)


class _ArchiveTensors(TensorFile):
    """Arrays of an ``.npz``; one at a time is loaded, whole."""

    def __init__(self, arrays: Any) -> None:
        self._arrays = arrays
        self._name, self._array = "", np.empty(0)
        self.shapes = {}
        for name in arrays.files:
            with arrays.zip.open(f"{name}.npy") as member:
                version = np.lib.format.read_magic(member)
                read = (
                    np.lib.format.read_array_header_1_0
                    if version == (1, 0)
                    else np.lib.format.read_array_header_2_0
                )
                self.shapes[name] = tuple(read(member)[0])

    def rows(self, name: str, begin: int, end: int) -> NDArray[np.float32]:
        if name != self._name:
            self._array = np.empty(0)
            self._name, self._array = name, self._arrays[name]
        whole = self._array.reshape(1, -1) if self._array.ndim == 1 else self._array
        return whole[begin:end].astype(np.float32, copy=False)


@contextlib.contextmanager
def open_tensors(path: str | os.PathLike[str]) -> Iterator[TensorFile]:
    """Open a file of arrays; what is no such file raises FormatError."""
    name = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            begin = file.read(8)
            if begin[:4] == b"PK\x03\x04":
                with np.load(path, allow_pickle=False) as arrays:
                    yield _ArchiveTensors(arrays)
                return
            yield TensorFile(file, _entries(file, begin, os.fstat(file.fileno()).st_size))
    except OSError as error:
        raise FormatError(name, None, f"cannot be read: {error.strerror or error}; {_HINT}") from None
    except (ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile, struct.error) as error:
        raise FormatError(name, None, f"{error!s:.120}; {_HINT}") from None


def _entries(file: IO[bytes], begin: bytes, size: int) -> dict[str, tuple[str, tuple[int, ...], int]]:
    (length,) = struct.unpack("<Q", begin)
    if length > min(size, _MOST_HEADER):
        raise ValueError("has no header of arrays")
    entries = {}
    for name, entry in json.loads(file.read(length)).items():
        if name == "__metadata__":
            continue
        kind, shape = entry["dtype"], tuple(int(n) for n in entry["shape"])
        first, last = entry["data_offsets"]
        if kind not in _TYPES:
            continue
        if last - first != math.prod(shape) * np.dtype(_TYPES[kind]).itemsize or 8 + length + last > size:
            raise ValueError(f"is damaged: the array {name} does not fit into the file")
        entries[name] = (kind, shape, 8 + length + first)
    return entries


def write_safetensors(
    path: str | os.PathLike[str], arrays: Mapping[str, NDArray[np.float32]], metadata: Mapping[str, str]
) -> None:
    """Write arrays of floats, whole or not at all."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    at = 0
    for name, array in arrays.items():
        size = array.size * 4
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with atomic_output(path) as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            out.write(np.ascontiguousarray(array, "<f4").tobytes())
