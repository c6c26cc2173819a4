"""A folder of output parts, and the manifest that says which of them are complete.

The input is cut into parts of equally many records, by the text alone. The records of part 7 are written to
``part-00007.partial``; when they are all there, the file is renamed to ``part-00007`` and a line is added to
``manifest.jsonl``::

    {"part": 7, "first": 458752, "records": 65536, "bytes": 9437184, "checksum": "1c291ca3", …}

The manifest begins with a line that describes the job and ends with one of its totals. How far the part under
way has come is in ``progress.json``, a line of the same form. A job that is resumed keeps every part whose
line, size and checksum fit, keeps the beginning of the part under way, sees that the input of all these is
still the same, and does the rest. The result is the same, byte for byte.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import time
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from hiddenite.errors import FormatError
from hiddenite.files.corpus import CHUNK_BYTES
from hiddenite.jobs.system import lock_exclusively

MANIFEST = "manifest.jsonl"
PROGRESS = "progress.json"
PART_RECORDS = 1 << 16
NOTE_SECONDS = 0.05  # between two notes of progress


@dataclasses.dataclass(frozen=True, slots=True)
class Counts:
    """What became of some records."""

    records: int = 0
    written: int = 0  # bytes of the output
    failures: int = 0
    uncertified: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            *(a + b for a, b in zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True))
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """A part of the output, complete or under way."""

    number: int
    first: int  # records of the input before it
    counts: Counts = Counts()
    checksum: int = 0  # of what is written,
    input_checksum: int = 0  # and of what was read

    def to_dict(self) -> dict[str, Any]:
        """Return its line of the manifest."""
        return {
            "part": self.number,
            "first": self.first,
            "records": self.counts.records,
            "bytes": self.counts.written,
            "checksum": f"{self.checksum:08x}",
            "input_checksum": f"{self.input_checksum:08x}",
            "failures": self.counts.failures,
            "uncertified": self.counts.uncertified,
        }

    @classmethod
    def from_dict(cls, line: Mapping[str, Any]) -> Part:
        """Read a line; whatever is none raises LookupError, TypeError or ValueError."""
        numbers = (int(line[name]) for name in ("records", "bytes", "failures", "uncertified"))
        checksums = (int(line[name], 16) for name in ("checksum", "input_checksum"))
        return cls(int(line["part"]), int(line["first"]), Counts(*numbers), *checksums)

    def extended(self, text: bytes, source: bytes, counts: Counts) -> Part:
        """Return the part with more records: their text, what they were read from, what became of them."""
        return dataclasses.replace(
            self,
            counts=self.counts + counts,
            checksum=zlib.crc32(text, self.checksum),
            input_checksum=zlib.crc32(source, self.input_checksum),
        )


def read_manifest(folder: Path) -> tuple[dict[str, object], dict[int, Part]]:
    """Return what a manifest says of its job and the parts that it lists; nothing if there is none."""
    try:
        lines = (folder / MANIFEST).read_bytes().split(b"\n")[:-1]
    except OSError:
        return {}, {}
    identity: dict[str, object] = {}
    parts = {}
    for line in lines:
        with contextlib.suppress(ValueError, LookupError, TypeError):
            record = json.loads(line)
            if "job" in record:
                identity = dict(record["job"])
            elif "part" in record:
                parts[record["part"]] = Part.from_dict(record)  # of one that was done again, the last line
    return identity, parts


def part_name(number: int) -> str:
    """Return the name of a part's file."""
    return f"part-{number:05d}"


class PartedOutput:
    """A folder under construction. Parts are written one after the other; ``complete`` ones stay."""

    def __init__(
        self, folder: Path, identity: Mapping[str, object], resume: bool, keep_older: bool = False
    ) -> None:
        """Open the folder; with ``keep_older``, an earlier output there is refused without ``resume``."""
        self.folder = folder
        self.complete: dict[int, Part] = {}
        self.begun: Part | None = None  # what is noted of the part under way, at first by an earlier job
        self._now: Part | None = None  # the part being written
        self._file: IO[bytes] | None = None
        self._noted = 0.0  # when
        self._finished = False
        self.has_grown = False  # by this job
        folder.mkdir(parents=True, exist_ok=True)
        self._manifest = open_locked(folder / MANIFEST)
        try:
            self._begin(json.loads(json.dumps(identity)), resume, keep_older)
        except BaseException:
            os.close(self._manifest)
            raise

    def _begin(self, identity: dict[str, object], resume: bool, keep_older: bool) -> None:
        before, listed = read_manifest(self.folder)
        others = [name for name in os.listdir(self.folder) if name != MANIFEST]
        if others and not before:
            os.unlink(self.folder / MANIFEST)
            raise FormatError(str(self.folder), None, f"contains {others[0]}; expected an empty folder")
        if before and not resume and keep_older:
            raise FormatError(
                str(self.folder), None, "contains an earlier output; add --resume, or give another folder"
            )
        if before and resume:
            check_identity(str(self.folder), before, identity)
            names = {number: part_name(number) for number in listed}
            self.complete = {n: part for n, part in listed.items() if self._is_whole(part, names[n])}
            self.begun = self._read_begun()
        kept = {part_name(number) for number in self.complete}
        if self.begun is not None:
            kept |= {f"{part_name(self.begun.number)}.partial", PROGRESS}
        for name in others:
            if name not in kept:
                (self.folder / name).unlink()
        self._write_manifest(identity)

    def _read_begun(self) -> Part | None:
        """Return the part that was under way, as far as it is known to be sound."""
        try:
            part = Part.from_dict(json.loads((self.folder / PROGRESS).read_bytes()))
        except (OSError, ValueError, LookupError, TypeError):
            return None
        sound = part.number not in self.complete and self._is_whole(part, f"{part_name(part.number)}.partial")
        return part if sound and part.counts.records else None

    def _is_whole(self, part: Part, name: str) -> bool:
        """Tell whether a file begins with what its line describes."""
        left, checksum = part.counts.written, 0
        try:
            with (self.folder / name).open("rb") as file:
                while left and (piece := file.read(min(CHUNK_BYTES, left))):
                    checksum = zlib.crc32(piece, checksum)
                    left -= len(piece)
                exact = name.endswith(".partial") or not file.read(1)
        except OSError:
            return False
        return exact and left == 0 and checksum == part.checksum

    def _write_manifest(self, identity: dict[str, object]) -> None:
        """Begin the manifest with what stays; until it is renamed, the one before holds."""
        lines = [{"job": identity}, *(part.to_dict() for _, part in sorted(self.complete.items()))]
        fresh = self.folder / f"{MANIFEST}.new"
        fresh.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
        descriptor = open_locked(fresh)
        os.lseek(descriptor, 0, os.SEEK_END)
        os.fsync(descriptor)
        os.replace(fresh, self.folder / MANIFEST)
        os.close(self._manifest)
        self._manifest = descriptor

    @property
    def total(self) -> Counts:
        """What all complete parts are together."""
        return sum((part.counts for part in self.complete.values()), Counts())

    def keep(self) -> str | None:
        """Note how far the output is, for the job ends early; return what to tell the user."""
        if self._file is not None:
            with contextlib.suppress(OSError):  # a full disk: what was noted before holds
                self._note_progress()
        records = self._num_kept()
        return (
            f"{records:,} records are kept in {self.folder.name}; continue with --resume" if records else None
        )

    def _num_kept(self) -> int:
        return self.total.records + (self.begun.counts.records if self.begun else 0)

    def append(self, part: int, first: int, text: bytes, source: bytes, counts: Counts) -> None:
        """Add records. Parts come in order: the first records of a new one complete the one before."""
        if self._now is None or part != self._now.number:
            if self.begun is None or part != self.begun.number:
                self.complete_part()
            self._open(part, first)
        assert self._now is not None
        assert self._file is not None
        self._file.write(text)
        self._now = self._now.extended(text, source, counts)
        self.has_grown = True
        if time.monotonic() - self._noted > NOTE_SECONDS:
            self._note_progress()

    def _open(self, number: int, first: int) -> None:
        path = self._partial(number)
        if self.begun is not None and self.begun.number == number:
            self._now = self.begun
            self._file = path.open("r+b")
            self._file.truncate(self._now.counts.written)
            self._file.seek(0, os.SEEK_END)
        else:
            self._now = Part(number, first)
            self._file = path.open("wb")

    def _partial(self, number: int) -> Path:
        return self.folder / f"{part_name(number)}.partial"

    def _note_progress(self) -> None:
        assert self._now is not None
        assert self._file is not None
        self._file.flush()
        fresh = self.folder / f"{PROGRESS}.new"
        fresh.write_bytes(json.dumps(self._now.to_dict()).encode())
        os.replace(fresh, self.folder / PROGRESS)
        self.begun = self._now
        self._noted = time.monotonic()

    def complete_part(self) -> None:
        """Give the part under way its name, and list it."""
        if self._file is None and self.begun is not None:  # an earlier job wrote all of it
            self._open(self.begun.number, self.begun.first)
        if self._file is None or self._now is None:
            return
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._file = None
        os.replace(self._partial(self._now.number), self.folder / part_name(self._now.number))
        self._list(self._now.to_dict())
        self.complete[self._now.number] = self._now
        self._now = self.begun = None
        (self.folder / PROGRESS).unlink(missing_ok=True)

    def _list(self, line: dict[str, Any]) -> None:
        os.write(self._manifest, (json.dumps(line) + "\n").encode())
        os.fsync(self._manifest)

    def finish(self) -> None:
        """Complete the last part and list the totals."""
        self.complete_part()
        total = self.total
        self._list({"parts": len(self.complete), "records": total.records, "failures": total.failures})
        self._finished = True

    def pieces(self, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """Give the text of all parts, in order, ``size`` bytes at a time."""
        waiting = b""
        for number in sorted(self.complete):
            with (self.folder / part_name(number)).open("rb") as file:
                while piece := file.read(size - len(waiting)):
                    waiting += piece
                    if len(waiting) == size:
                        yield waiting
                        waiting = b""
        if waiting:
            yield waiting

    def remove(self) -> None:
        """Remove the folder with all that was written."""
        for name in os.listdir(self.folder):
            (self.folder / name).unlink()
        self.folder.rmdir()

    def close(self) -> None:
        """Release the files; an output without a record is removed."""
        if self._file is not None:
            self.keep()
            with contextlib.suppress(OSError):
                self._file.close()
        os.close(self._manifest)
        if not self._finished and self._num_kept() == 0:
            self.remove()


def check_identity(name: str, before: Mapping[str, object], now: Mapping[str, object]) -> None:
    """Raise FormatError if a job is another than the one that began to write ``name``."""
    for key in sorted(now.keys() | before.keys()):
        if now.get(key) != before.get(key):
            raise FormatError(
                name,
                None,
                f"this job began with {key} {before.get(key)!r}, now it has {now.get(key)!r}; "
                "give the same options, or start again without --resume",
            )


def open_locked(path: Path) -> int:
    """Open a file that no other process is writing."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            lock_exclusively(descriptor)
            if os.stat(path).st_ino == os.fstat(descriptor).st_ino:
                return descriptor
        except FileNotFoundError:
            pass  # another process has just removed it
        except BlockingIOError:
            os.close(descriptor)
            raise FormatError(
                str(path), None, "another process is writing this output; wait for it"
            ) from None
        os.close(descriptor)
