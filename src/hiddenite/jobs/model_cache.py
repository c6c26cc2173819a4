"""Files of the driver on the other machines of a cluster: sent once, kept, and checked before use.

A machine that has the very file (the same path, size and time) uses it. The others keep a copy in a folder
of the user's own::

    /tmp/hiddenite-1000/                 mode 700; a folder of another user, or open to others, is refused
        4cf5…e2.hlm                      named by the SHA-256 of its content

A copy is written under a temporary name and renamed, so it is whole or absent, and no process trusts it for
its name: each compares size and SHA-256 before its first use, which is a second for two gigabytes, and a copy
that has been damaged since is written again.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable
from typing import Any

from hiddenite.errors import ModelError
from hiddenite.jobs.system import fault_of_owner, user_name

_PIECE_BYTES = 1 << 20
_copies: dict[str, str] = {}  # in a process of a cluster: path of the driver's file -> path here


def local_path(path: str) -> str:
    """Return where this machine has the file that the driver calls ``path``."""
    return _copies.get(path, path)


def receive(files: Iterable[SentFile], get: Callable[[Any], Any]) -> None:
    """Let :func:`local_path` know where this machine has these files; ``get`` fetches what is missing."""
    _copies.update({file.path: file.find(get) for file in files})


class SentFile:
    """A file of the driver; with ``put``, its content is there for machines that do not see it."""

    def __init__(self, path: str, put: Callable[[Any], Any] | None) -> None:
        self.path = path
        self._state = _state_of(path)
        self._content: list[Any] = []  # a reference, which is fetched only if it is needed
        self._digest = ""
        if put is not None and self._state is not None:
            import numpy as np  # noqa: PLC0415  (arrays are sent without being copied)

            content = np.asarray(np.memmap(path, np.uint8, "r")) if self._state[0] else np.empty(0, np.uint8)
            self._digest = _sha256([content])
            self._content = [put(content)]

    def find(self, get: Callable[[Any], Any]) -> str:
        """Return a path of this machine with that content; a process that finds no sound copy writes one."""
        if not self._content or self._state is None or _state_of(self.path) == self._state:
            return self.path
        try:
            copy = os.path.join(_own_folder(), self._digest + os.path.splitext(self.path)[1])
            if not self._is_sound(copy):
                self._write(get(self._content[0]), copy)
        except OSError as error:
            reason = error.strerror or error
            raise ModelError(f"{_place()}: no copy of {self.path} can be kept: {reason}") from None
        return copy

    def _is_sound(self, copy: str) -> bool:
        """Compare a copy with what was sent: first the size, then the content."""
        assert self._state is not None
        try:
            with open(copy, "rb") as file:
                if os.fstat(file.fileno()).st_size != self._state[0]:
                    return False
                return _sha256(iter(lambda: file.read(_PIECE_BYTES), b"")) == self._digest
        except FileNotFoundError:
            return False

    def _write(self, content: Any, copy: str) -> None:
        from tempfile import mkstemp  # noqa: PLC0415  (only here)

        if _sha256([content]) != self._digest:
            raise ModelError(
                f"{self.path} was changed while it was sent to {_place()}; run the command again"
            )
        descriptor, temporary = mkstemp(dir=os.path.dirname(copy))
        try:
            with os.fdopen(descriptor, "wb") as out:
                out.write(content)
                out.flush()
                os.fsync(out.fileno())
            os.replace(temporary, copy)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)


def _own_folder() -> str:
    """Return the folder of this user's copies; ModelError if somebody else could write to it."""
    from tempfile import gettempdir  # noqa: PLC0415  (only here)

    folder = os.path.join(gettempdir(), f"hiddenite-{user_name()}")
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    status = os.lstat(folder)  # not what a link points to
    if not stat.S_ISDIR(status.st_mode):
        found = "is not a folder"
    elif (fault := fault_of_owner(status)) is not None:
        found = fault
    else:
        return folder
    raise ModelError(
        f"{_place()}: {folder} {found}, expected a folder of your own with mode 700; "
        "remove it, or set TMPDIR to another place"
    )


def _sha256(pieces: Iterable[Any]) -> str:
    import hashlib  # noqa: PLC0415  (only here)

    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _state_of(path: str) -> tuple[int, int] | None:
    """Return what tells a file from another of the same name, the size first; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _place() -> str:
    """Return the name of this machine."""
    return os.uname().nodename
