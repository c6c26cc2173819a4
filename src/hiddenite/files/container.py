"""Named members in the container of compiled models: the form of all model files that are no n-gram table.

The arrays of the container (``cpp/hiddenite/container.hpp``) are called 0, 1, 2, …; the one called ``index``
is JSON and says for each of them its name and, if it is deflated, its size::

    [["header.json", null], ["words.txt", 18234], …]

Opening compares the checksums of header, directory and every member: such models are read as a whole anyway.
A file that was cut, flipped in any bit, made by another version or by something else is a
:class:`FormatError` of one line.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Iterable
from typing import IO

from hiddenite._core import COMPILED_MAGIC, Container, NgramTable, open_compiled_member, write_container
from hiddenite.errors import FormatError

KIND = "archive"
_INDEX = "index"


def container_kind(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of a container by its first bytes, None if the file is no container."""
    with open(path, "rb") as file:
        head = file.read(24)
    return head[16:].rstrip(b"\0").decode("ascii", "replace") if head.startswith(COMPILED_MAGIC) else None


def write_members(out: IO[bytes], members: Iterable[tuple[str, bytes]], *, compress: bool) -> None:
    """Write members, deflated where that makes them smaller."""
    index: list[tuple[str, int | None]] = []
    contents = []
    for name, content in members:
        packed = zlib.compress(content, 6) if compress else content
        deflated = len(packed) < len(content)
        index.append((name, len(content) if deflated else None))
        contents.append(packed if deflated else content)
    listed = [(_INDEX, json.dumps(index, ensure_ascii=False).encode())]
    write_container(KIND, listed + [(str(n), content) for n, content in enumerate(contents)], out.write)


class Members:
    """The members of an open container."""

    def __init__(self, path: str | os.PathLike[str], noun: str, advice: str, *, verify: bool = True) -> None:
        """Open a file and compare its checksums; errors call it a ``noun`` and end with the ``advice``."""
        with open(path, "rb") as file:
            mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._name, self._advice = os.fspath(path), advice
        self._container = Container(mapping, KIND, self._name, noun, advice)
        if verify:
            self._container.verify()
        self._place = {}
        for place, (name, size) in enumerate(json.loads(self._container.member(_INDEX))):
            if size is not None and not (isinstance(size, int) and size >= 0):
                raise ValueError(f"the index says {size!r} bytes")
            self._place[str(name)] = (str(place), size)

    def namelist(self) -> list[str]:
        """Return the names of the members."""
        return list(self._place)

    def read(self, name: str) -> bytes:
        """Return a member's content; KeyError if there is none."""
        place, size = self._place[name]
        content = self._container.member(place)
        if size is None:
            return content
        content = zlib.decompressobj().decompress(content, size + 1)  # no more, whatever is packed there
        if len(content) != size:
            raise FormatError(
                self._name, None, f"'{name}' has another size than the index says; {self._advice}"
            )
        return content

    def table(self, name: str) -> NgramTable:
        """Return the compiled language model that a member is; it stays in the file."""
        place, size = self._place[name]
        if size is not None:
            raise FormatError(self._name, None, f"'{name}' is deflated, expected it as it is; {self._advice}")
        return open_compiled_member(self._container, place, self._name)
