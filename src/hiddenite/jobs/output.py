"""Where a job's records go: a file or a folder that can be resumed, or a stream.

Files and folders are written in parts (:mod:`hiddenite.jobs.output_parts`). A folder stays in parts. For a
file they are in ``FILE.parts`` until the end; then they are joined, compressed if the name says so, renamed
to ``FILE``, and the folder is removed. Until then an older ``FILE`` stays as it was. Standard output, pipes
and devices are written as they are.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

from hiddenite.errors import HiddeniteError
from hiddenite.files.output import writing_errors
from hiddenite.files.parquet import SUFFIX as PARQUET
from hiddenite.files.parquet import check_available, pack_records
from hiddenite.jobs.output_parts import Counts, PartedOutput

MEMBER_BYTES = 1 << 20  # of text in one member of a compressed output
_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda text: gzip.compress(text, 6, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


class Stream:
    """Standard output, a pipe or a device: nothing to resume."""

    def __init__(self, write: Callable[[bytes], object], flush: Callable[[], object]) -> None:
        self.total = Counts()
        self._write = write
        self._flush = flush

    def append(self, part: int, first: int, text: bytes, source: bytes, counts: Counts) -> None:
        del part, first, source
        self._write(text)
        self._flush()
        self.total += counts


@contextlib.contextmanager
def open_output(path: str, identity: Mapping[str, object], resume: bool) -> Iterator[Stream | PartedOutput]:
    """Open ``path`` for a job that ``identity`` describes.

    If the job fails before a record is complete, nothing stays behind. ``resume`` continues what an earlier
    job left; it must have had the same identity.
    """
    target = Path(os.path.realpath(path))
    with writing_errors(path):
        if path == "-":
            if sys.stdout is None:
                raise OSError(9, os.strerror(9))
            yield Stream(sys.stdout.buffer.write, sys.stdout.buffer.flush)
        elif target.exists() and not (target.is_file() or target.is_dir()):
            with target.open("wb") as raw:
                yield Stream(raw.write, raw.flush)
        else:
            if target.suffix == PARQUET:
                check_available()
            stays = is_folder(path)
            out = PartedOutput(parts_of(path), identity, resume, stays)
            with contextlib.closing(out), _hint_on_error(out):
                yield out
                out.finish()
                if not stays:
                    join_parts(out, target)


@contextlib.contextmanager
def _hint_on_error(out: PartedOutput) -> Iterator[None]:
    """Say with an error what it leaves behind."""
    try:
        yield
    except BaseException as error:
        hint = out.keep()
        if hint is not None and (out.has_grown or not isinstance(error, HiddeniteError)):
            error.add_note(hint)
        raise


def parts_of(output: str) -> Path:
    """Return the folder where the parts of an output are: itself, or one beside the file."""
    target = Path(os.path.realpath(output))
    return target if is_folder(output) else target.with_name(f"{target.name}.parts")


def is_folder(output: str) -> bool:
    """Tell whether an output stays in parts: it ends in a slash, or is a folder."""
    return output.endswith(os.sep) or Path(output).is_dir()


def join_parts(parts: PartedOutput, target: Path) -> None:
    """Make one file of all parts, and remove them."""
    joined = parts.folder / "joined"
    pack = _PACKERS.get(target.suffix)
    with joined.open("wb") as out:
        _write_all(out, parts.pieces() if pack is None else map(pack, parts.pieces(MEMBER_BYTES)))
        if pack is not None and out.tell() == 0:
            out.write(pack(b""))  # an empty archive is not an empty file
        out.flush()
        os.fsync(out.fileno())
    if target.suffix == PARQUET:
        packed = joined.with_name("packed")
        pack_records(joined, packed)
        joined = packed
    os.replace(joined, target)
    parts.remove()


def _write_all(out: IO[bytes], pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        out.write(piece)
