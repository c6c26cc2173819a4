"""Model files and checkpoints: a JSON header, word lists and arrays in one container; never pickle.

``header.json`` says format, version and options; ``*.txt`` are words, one a line; ``*.npy`` are arrays; other
members are as their kind has them. Loading compares all checksums, then checks format and version, types and
sizes; what does not fit is a :class:`FormatError` that says what to do.
"""

from __future__ import annotations

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
    for name, array in arrays.items():
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
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

    def matrix(self, name: str, kind: type[_Scalar], dimensions: int = 2) -> NDArray[_Scalar]:
        """Return an array of numbers; none is NaN."""
        array = self.any_array(name)
        if array.dtype != kind or array.ndim != dimensions:
            raise ValueError(
                f"{name}.npy has {array.ndim}-dimensional {array.dtype}, expected {kind.__name__}"
            )
        if np.isnan(array).any():
            raise ValueError(f"{name}.npy has NaN, expected numbers")
        return array

    def array(self, name: str, kind: type[_Scalar], size: int | None = None) -> NDArray[_Scalar]:
        """Return a one-dimensional array; floats are finite and not negative, as all that is counted."""
        array = self.matrix(name, kind, 1)
        if size is not None and len(array) != size:
            raise ValueError(f"{name}.npy has {len(array)} numbers, expected {size}")
        if array.dtype.kind == "f" and not (np.isfinite(array) & (array >= 0)).all():  # type: ignore[operator]
            raise ValueError(f"{name}.npy has a number that is not a count")
        return array


def _read_array(content: bytes, name: str) -> NDArray[Any]:
    """Read an array that fills its member; what is announced and not there is not allocated."""
    file = io.BytesIO(content)
    if np.lib.format.read_magic(file) != (1, 0):  # what is written for arrays of numbers
        raise ValueError(f"{name}.npy has another version of NumPy's format, expected 1.0")
    shape, in_columns, kind = np.lib.format.read_array_header_1_0(file)
    count = math.prod(shape)
    if kind.hasobject or in_columns or kind.itemsize * count != len(content) - file.tell():
        raise ValueError(f"{name}.npy is damaged: its array differs from its header")
    return np.frombuffer(content, kind, count, file.tell()).reshape(shape).copy()


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
