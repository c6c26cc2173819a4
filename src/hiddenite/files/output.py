"""Files that are written whole or not at all.

An output is written under another name and renamed when all went well, so that an error or an interrupt
leaves what was there before. The name's ending says whether it is compressed.
"""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import lzma
import os
import sys
from collections.abc import Iterator
from typing import IO, cast

from hiddenite.errors import FormatError
from hiddenite.files.corpus import CHUNK_BYTES

_STDOUT = "-"


@contextlib.contextmanager
def atomic_output(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open ``path`` for writing under a temporary name, renamed when all went well.

    ``.gz``, ``.bz2`` and ``.xz`` are compressed; ``-`` is standard output. On any error, an interrupt
    included, the temporary file is removed and an older ``path`` stays as it was. A path that is no regular
    file (a device, a pipe) is written as it is, because renaming would replace it.
    """
    name = os.fspath(path)
    with writing_errors(name):
        if name == _STDOUT:
            with _standard_output() as out:
                yield out
        else:
            with _replacing(name) as raw, _compressed(raw, name) as out:
                yield out


def check_writable(*paths: str | os.PathLike[str] | None) -> None:
    """Raise FormatError at once if a file cannot be written: what is to go into it may take hours."""
    for name in (os.fspath(path) for path in paths if path is not None):
        with writing_errors(name):
            fault = 0 if name == _STDOUT else _writing_fault(os.path.realpath(name))
            if fault:
                raise OSError(fault, os.strerror(fault))


def _writing_fault(target: str) -> int:
    """Return the number of the error that writing would meet, as far as can be seen; 0 if none."""
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        return errno.EISDIR
    if not os.path.isdir(folder):
        return errno.ENOTDIR if os.path.exists(folder) else errno.ENOENT
    is_replaced = os.path.isfile(target) or not os.path.exists(target)
    return 0 if os.access(folder if is_replaced else target, os.W_OK) else errno.EACCES


@contextlib.contextmanager
def writing_errors(name: str) -> Iterator[None]:
    """Turn what the system says against writing into an error that names the file."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has seen enough
    except OSError as error:
        place = "<stdout>" if name == _STDOUT else name
        failure = FormatError(place, None, f"cannot be written: {error.strerror or error}")
        for note in getattr(error, "__notes__", ()):
            failure.add_note(note)
        raise failure from None


@contextlib.contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    if sys.stdout is None:  # a process may be started without one
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


@contextlib.contextmanager
def _replacing(path: str) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of ``path`` at the end."""
    target = os.path.realpath(path)  # a link stays a link
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as raw:
            yield raw
        return
    from tempfile import mkstemp  # noqa: PLC0415  (brings modules that reading does not need)

    folder, name = os.path.split(target)
    descriptor, temporary = mkstemp(prefix=f".{name}.", dir=folder)
    try:
        with os.fdopen(descriptor, "wb", buffering=CHUNK_BYTES) as raw:
            yield raw
        _give_default_mode(temporary)
        os.replace(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _compressed(raw: IO[bytes], name: str) -> contextlib.AbstractContextManager[IO[bytes]]:
    if name.endswith(".gz"):
        return cast(IO[bytes], gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0))
    if name.endswith(".bz2"):
        return bz2.BZ2File(raw, "wb")
    if name.endswith(".xz"):
        return lzma.LZMAFile(raw, "wb")
    return contextlib.nullcontext(raw)


def _give_default_mode(path: str) -> None:
    """Undo mkstemp's private mode: a result is as readable as any file the user makes."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(path, 0o666 & ~mask)
