"""Model files and checkpoints: a JSON header, word lists and arrays in one container; never pickle.

``header.json`` says format, version and options; ``*.txt`` are words, one a line; ``*.npy`` are arrays; other
members are as their kind has them. Loading compares all checksums, then checks format and version, types and
sizes; what does not fit is a :class:`FormatError` that says what to do. A model whose arrays are lists of
numbers (:meth:`Archive.numbers`) is read without NumPy, which takes longer to load than such a model.
"""

from __future__ import annotations

import array
import ast
import io
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from hiddenite._core import NgramTable
from hiddenite.arrays import np
from hiddenite.errors import FormatError, HiddeniteError
from hiddenite.files.container import Members, container_kind, write_members
from hiddenite.files.output import atomic_output

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Result = TypeVar("_Result")
_Scalar = TypeVar("_Scalar", bound="np.generic")
_MAGIC = b"\x93NUMPY\x01\x00"  # of NumPy's format 1.0: two bytes of a size and the header follow
_KINDS = {"<f8": "d", "<u8": "Q"}  # NumPy's name of a type: Python's


def write_archive(
    path: str | os.PathLike[str],
    header: Mapping[str, object],
    words: Mapping[str, Sequence[str]],
    arrays: Mapping[str, NDArray[Any]],
    files: Mapping[str, bytes] | None = None,
    *,
    compress: bool = True,
) -> None:
    """Write an archive, whole or not at all."""
    with atomic_output(path) as out:
        write_members(out, _members(header, words, arrays, files or {}), compress=compress)


def _members(
    header: Mapping[str, object],
    words: Mapping[str, Sequence[str]],
    arrays: Mapping[str, NDArray[Any]],
    files: Mapping[str, bytes],
) -> Iterator[tuple[str, bytes]]:
    yield "header.json", json.dumps(header, ensure_ascii=False, indent=1).encode()
    for name, lines in words.items():
        yield f"{name}.txt", "".join(line + "\n" for line in lines).encode()
    for name, values in arrays.items():
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, np.ascontiguousarray(values), allow_pickle=False)
        yield f"{name}.npy", buffer.getvalue()
    yield from files.items()


class Archive:
    """An open archive of a known format and version."""

    def __init__(self, archive: Members, format_name: str, version: int) -> None:
        self._archive = archive
        names = archive.namelist()
        header = json.loads(archive.read("header.json")) if "header.json" in names else None
        if not isinstance(header, dict) or header.get("format") != format_name:
            raise ValueError(f"is not a {format_name}")
        if header.get("version") != version:
            raise ValueError(f"has version {header.get('version')}, expected {version}")
        self.header: dict[str, Any] = header

    def training(self) -> dict[str, Any]:
        """Return how the model was trained; empty in files that do not say."""
        return dict(self.header.get("training", {}))

    def words(self, name: str) -> list[str]:
        """Return a word list."""
        text = self._archive.read(f"{name}.txt").decode()
        if text and not text.endswith("\n"):
            raise ValueError(f"{name}.txt is cut off")
        return text.split("\n")[:-1]

    def file(self, name: str) -> bytes:
        """Return a file's content."""
        return self._archive.read(name)

    def table(self, name: str) -> NgramTable:
        """Return a compiled language model; it stays in the file."""
        return self._archive.table(name)

    def arrays(self, prefix: str) -> list[str]:
        """Return the names of the arrays that begin so, without the prefix."""
        names = (name.removesuffix(".npy") for name in self._archive.namelist() if name.endswith(".npy"))
        return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]

    def any_array(self, name: str) -> NDArray[Any]:
        """Return an array of whatever type; its reader checks it."""
        return _read_array(self._archive.read(f"{name}.npy"), name)

    def numbers(self, name: str, kind: str, size: int | None = None) -> array.array[Any]:
        """Return numbers of NumPy's kind ``<f8`` or ``<u8`` as :meth:`array` does, without loading it."""
        content = self._archive.read(f"{name}.npy")
        found, shape, begin = _header(content, name)
        if found != kind or len(shape) != 1:
            raise ValueError(f"{name}.npy has {len(shape)}-dimensional {found}, expected {kind}")
        values = array.array(_KINDS[kind])
        if values.itemsize * shape[0] != len(content) - begin:
            raise ValueError(f"{name}.npy is damaged: its array differs from its header")
        values.frombytes(content[begin:])
        if size is not None and len(values) != size:
            raise ValueError(f"{name}.npy has {len(values)} numbers, expected {size}")
        is_finite = math.isfinite(sum(values)) or all(map(math.isfinite, values))
        if not is_finite or min(values, default=0) < 0:
            raise ValueError(f"{name}.npy has a number that is not a count")
        return values

    def matrix(self, name: str, kind: type[_Scalar], dimensions: int = 2) -> NDArray[_Scalar]:
        """Return an array of numbers; none is NaN."""
        found = self.any_array(name)
        if found.dtype != kind or found.ndim != dimensions:
            raise ValueError(
                f"{name}.npy has {found.ndim}-dimensional {found.dtype}, expected {kind.__name__}"
            )
        if np.isnan(found).any():
            raise ValueError(f"{name}.npy has NaN, expected numbers")
        return found

    def array(self, name: str, kind: type[_Scalar], size: int | None = None) -> NDArray[_Scalar]:
        """Return a one-dimensional array; floats are finite and not negative, as all that is counted."""
        found = self.matrix(name, kind, 1)
        if size is not None and len(found) != size:
            raise ValueError(f"{name}.npy has {len(found)} numbers, expected {size}")
        if found.dtype.kind == "f" and not (np.isfinite(found) & (found >= 0)).all():  # type: ignore[operator]
            raise ValueError(f"{name}.npy has a number that is not a count")
        return found


def _header(content: bytes, name: str) -> tuple[str, tuple[int, ...], int]:
    """Return the type and the shape of an array, and where its numbers begin."""
    if not content.startswith(_MAGIC):  # what is written for arrays of numbers
        raise ValueError(f"{name}.npy has another version of NumPy's format, expected 1.0")
    begin = 10 + int.from_bytes(content[8:10], "little")
    header = ast.literal_eval(content[10:begin].decode("latin-1").strip())
    kind, shape = header["descr"], header["shape"]
    if (
        not isinstance(kind, str)
        or header["fortran_order"]
        or not all(type(n) is int and n >= 0 for n in shape)
    ):
        raise ValueError(f"{name}.npy is damaged: its array differs from its header")
    return kind, tuple(shape), begin


def _read_array(content: bytes, name: str) -> NDArray[Any]:
    """Read an array that fills its member; what is announced and not there is not allocated."""
    found, shape, begin = _header(content, name)
    kind, count = np.dtype(found), math.prod(shape)
    if kind.hasobject or kind.itemsize * count != len(content) - begin:
        raise ValueError(f"{name}.npy is damaged: its array differs from its header")
    return np.frombuffer(content, kind, count, begin).reshape(shape).copy()


def read_archive(
    path: str | os.PathLike[str],
    format_name: str,
    version: int,
    hint: str,
    read: Callable[[Archive], _Result],
    *,
    verify: bool = True,
) -> _Result:
    """Open an archive and read it; whatever is wrong with it is a FormatError that ends in ``hint``.

    Without ``verify`` checksums are not compared: for a file that was checked since it was last changed.
    """
    name = os.fspath(path)
    try:
        if container_kind(path) is None:
            raise FormatError(name, None, f"is no {format_name} or is cut off; {hint}")
        return read(Archive(Members(path, format_name, hint, verify=verify), format_name, version))
    except FormatError:
        raise
    except IsADirectoryError:
        raise FormatError(name, None, "is a directory, expected a file") from None
    except OSError as error:
        raise FormatError(name, None, f"cannot be opened: {error.strerror or error}") from None
    except (ValueError, HiddeniteError) as error:
        raise FormatError(name, None, f"{_first_line(error)}; {hint}") from None
    except Exception as error:  # whatever damage makes of zlib, JSON or NumPy
        found = f"{type(error).__name__}: {_first_line(error)}"
        raise FormatError(name, None, f"is damaged ({found}); {hint}") from None


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")
