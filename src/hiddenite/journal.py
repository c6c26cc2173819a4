"""Outputs that can be gone on with: a file under construction and a journal of how far it is complete.

A job writes ``OUTPUT.partial`` and, after each block of records, notes in ``OUTPUT.partial.journal`` how many
records of the input and bytes of the file are done. At the end the file is renamed to ``OUTPUT``; until then
an older ``OUTPUT`` stays as it was. A job that is killed, at any moment, leaves both files behind; the next
one cuts the file back to the last note and goes on after that record. The result is the same, byte for byte.

A note is 64 bytes with a checksum, written to one of two places in turn, so a note that was cut off leaves
the one before. A third place holds the last note whose bytes were forced to the disk, for a loss of power.
Compressed outputs are written as one archive member per megabyte of text, and noted after each member:
members written one after the other are one archive to every tool. A ``.parquet`` output is packed at the end.
"""

from __future__ import annotations

import bz2
import contextlib
import dataclasses
import fcntl
import gzip
import json
import lzma
import os
import struct
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from hiddenite.corpus import writing_errors
from hiddenite.errors import FormatError
from hiddenite.parquet import SUFFIX as PARQUET
from hiddenite.parquet import check_available, pack_records

MEMBER_BYTES = 1 << 20  # of text in one member of a compressed output
SYNC_SECONDS = 5.0
_NOTE = struct.Struct("<8Q")
_SYNCED = 2  # the place of the last note that the disk has
_IDENTITY_OFFSET = 4 * _NOTE.size
_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda text: gzip.compress(text, 6, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Progress:
    """How far a job has come."""

    records: int = 0  # of the input, answered
    written: int = 0  # bytes of the output
    failures: int = 0
    uncertified: int = 0
    input_checksum: int = 0  # of what was read of the input
    finished: bool = False


class Output(Protocol):
    """Where a job's records go."""

    done: Progress  # where to begin

    @property
    def kept(self) -> str | None:
        """What to tell the user if the job ends early."""

    def append(self, text: bytes, progress: Progress) -> None:
        """Add the text of some records; ``progress`` counts them (``written`` is not looked at)."""

    def show(self, text: bytes) -> None:
        """Show records of a block that ends in an error; a file to go on with is left as it is."""


class _Stream:
    """Standard output, a pipe or a device: nothing to go on with."""

    def __init__(self, write: Callable[[bytes], object], flush: Callable[[], object]) -> None:
        self.done = Progress()
        self._write = write
        self._flush = flush

    @property
    def kept(self) -> str | None:
        return None

    def append(self, text: bytes, progress: Progress) -> None:
        self.show(text)
        self.done = progress

    def show(self, text: bytes) -> None:
        self._write(text)
        self._flush()


@contextlib.contextmanager
def resumable_output(path: str, identity: Mapping[str, object], resume: bool) -> Iterator[Output]:
    """Open ``path`` for a job that ``identity`` describes; ``-``, pipes and devices are written as they are.

    If the job fails before a record is complete, nothing stays behind. ``resume`` goes on with what an
    earlier job left; it must have had the same identity.
    """
    target = Path(os.path.realpath(path))
    with writing_errors(path):
        if path == "-":
            if sys.stdout is None:
                raise OSError(9, os.strerror(9))
            yield _Stream(sys.stdout.buffer.write, sys.stdout.buffer.flush)
        elif target.exists() and not target.is_file():
            with target.open("wb") as raw:
                yield _Stream(raw.write, raw.flush)
        else:
            with contextlib.closing(_Partial(target, json.loads(json.dumps(identity)), resume)) as partial:
                yield partial
                partial.finish()


def read_identity(path: str) -> dict[str, object]:
    """Return what the journal beside ``path`` says of its job; empty if there is none."""
    try:
        raw = _journal_of(Path(os.path.realpath(path))).read_bytes()[_IDENTITY_OFFSET:]
        identity = json.loads(raw)
    except (OSError, ValueError):
        return {}
    return identity if isinstance(identity, dict) else {}


def check_identity(name: str, before: Mapping[str, object], now: Mapping[str, object]) -> None:
    """Raise FormatError if a job is another than the one that began to write ``name``."""
    for key in now.keys() | before.keys():
        if now.get(key) != before.get(key):
            raise FormatError(
                name,
                None,
                f"was begun with {key} {before.get(key)!r}, found {now.get(key)!r}; "
                "give the same options, or leave out --resume to begin anew",
            )


def _partial_of(target: Path) -> Path:
    return target.with_name(f"{target.name}.partial")


def _journal_of(target: Path) -> Path:
    return target.with_name(f"{target.name}.partial.journal")


# ---------------------------------------------------------------------- notes


def _pack_note(sequence: int, p: Progress) -> bytes:
    numbers = (sequence, p.records, p.written, p.failures, p.uncertified, p.input_checksum, p.finished)
    body = struct.pack("<7Q", *numbers)
    return body + struct.pack("<Q", zlib.crc32(body))


def _read_notes(raw: bytes) -> list[tuple[int, Progress]]:
    """Return the notes that are whole."""
    notes = []
    for place in range(_SYNCED + 1):
        note = raw[place * _NOTE.size : (place + 1) * _NOTE.size]
        if len(note) < _NOTE.size:
            continue
        sequence, records, written, failures, uncertified, read, finished, check = _NOTE.unpack(note)
        if sequence and check == zlib.crc32(note[:-8]):
            progress = Progress(records, written, failures, uncertified, read, bool(finished))
            notes.append((sequence, progress))
    return notes


class _Partial:
    """A file under construction with its journal."""

    def __init__(self, target: Path, identity: dict[str, object], resume: bool) -> None:
        self._target = self._checked(target)
        self._path, self._journal_path = _partial_of(target), _journal_of(target)
        self._pack = _PACKERS.get(target.suffix)
        self._waiting = bytearray()  # text of a member that is not full,
        self._behind = Progress()  # and how far it goes
        self._sequence = 0
        self._last_sync = time.monotonic()
        self.done = Progress()
        if resume and self._was_renamed():
            self.done = dataclasses.replace(_latest(self._notes()), finished=True)
            self._file = self._journal = -1
            return
        self._file = open_locked(self._path)
        try:
            self._begin(identity, resume)
        except BaseException:
            self._close_files()
            raise

    def _begin(self, identity: dict[str, object], resume: bool) -> None:
        size = os.fstat(self._file).st_size
        notes = [(n, p) for n, p in self._notes() if p.written <= size] if resume else []
        if notes:
            check_identity(str(self._path), read_identity(str(self._target)), identity)
            self._sequence, self.done = max(notes, key=lambda note: note[0])
            self._journal = os.open(self._journal_path, os.O_RDWR)
        else:
            head = bytes(_IDENTITY_OFFSET) + json.dumps(identity, ensure_ascii=False).encode()
            self._journal = os.open(self._journal_path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
            os.pwrite(self._journal, head, 0)
        os.ftruncate(self._file, self.done.written)
        os.lseek(self._file, self.done.written, os.SEEK_SET)

    def _was_renamed(self) -> bool:
        """Tell whether the earlier job was done but for removing its journal."""
        notes = self._notes()
        return bool(notes) and _latest(notes).finished and not self._path.exists() and self._target.exists()

    @staticmethod
    def _checked(target: Path) -> Path:
        if target.suffix == PARQUET:
            check_available()
        return target

    def _notes(self) -> list[tuple[int, Progress]]:
        try:
            return _read_notes(self._journal_path.read_bytes())
        except FileNotFoundError:
            return []

    @property
    def kept(self) -> str | None:
        """What an early end leaves behind."""
        if self.done.records == 0:
            return None
        return f"{self.done.records:,} records are kept in {self._path.name}: go on with --resume"

    def append(self, text: bytes, progress: Progress) -> None:
        if self._pack is None:
            self._write(text, progress)
            return
        self._waiting += text
        self._behind = progress
        if len(self._waiting) >= MEMBER_BYTES:
            self._write_member()

    def show(self, text: bytes) -> None:
        pass

    def _write_member(self) -> None:
        assert self._pack is not None
        text, self._waiting = bytes(self._waiting), bytearray()
        self._write(self._pack(text), self._behind)

    def _write(self, data: bytes, progress: Progress) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._file, view) :]
        self._note(dataclasses.replace(progress, written=self.done.written + len(data)))

    def _note(self, progress: Progress) -> None:
        self._sequence += 1
        self.done = progress
        note = _pack_note(self._sequence, progress)
        os.pwrite(self._journal, note, self._sequence % 2 * _NOTE.size)
        if time.monotonic() - self._last_sync > SYNC_SECONDS:
            os.fsync(self._file)
            os.pwrite(self._journal, note, _SYNCED * _NOTE.size)
            os.fsync(self._journal)
            self._last_sync = time.monotonic()

    def finish(self) -> None:
        """Give the complete file its name."""
        if not self.done.finished:
            if self._waiting:
                self._write_member()
            elif self._pack is not None and self.done.written == 0:
                self._write(self._pack(b""), self.done)  # an empty archive is not an empty file
            os.fsync(self._file)
            self._note(dataclasses.replace(self.done, finished=True))
        if self._file >= 0:
            self._give_name()
        self._journal_path.unlink(missing_ok=True)

    def _give_name(self) -> None:
        if self._target.suffix == PARQUET:
            packed = self._path.with_name(f"{self._path.name}.packed")
            try:
                pack_records(self._path, packed)
                os.replace(packed, self._target)
            finally:
                packed.unlink(missing_ok=True)
            self._path.unlink()
        else:
            os.replace(self._path, self._target)

    def close(self) -> None:
        """Release the files; if no record is complete, remove them."""
        if self._file >= 0 and not self.done.finished and self.done.records == 0:
            self._journal_path.unlink(missing_ok=True)
            self._path.unlink(missing_ok=True)
        self._close_files()

    def _close_files(self) -> None:
        for descriptor in (self._file, getattr(self, "_journal", -1)):
            if descriptor >= 0:
                os.close(descriptor)
        self._file = self._journal = -1


def _latest(notes: list[tuple[int, Progress]]) -> Progress:
    return max(notes, key=lambda note: note[0])[1]


def open_locked(path: Path) -> int:
    """Open a file that no other process is writing."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(path, descriptor):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            raise FormatError(
                str(path), None, "is being written by another process; wait for its end"
            ) from None
        os.close(descriptor)  # the other process has just renamed it


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.stat(path).st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False
