"""Outputs in parts: a folder of files, and a manifest that says which of them are complete.

The input is cut into parts of equally many records, by the text alone. The records of part 7 are written to
``part-00007.partial``; when they are all there, the file is renamed to ``part-00007`` and a line is added to
``manifest.jsonl``::

    {"part": 7, "first": 458752, "records": 65536, "bytes": 9437184, "checksum": "1c291ca3", …}

The manifest begins with a line that describes the job and ends with one of its totals. A job that goes on
keeps every part whose line, size and checksum fit, sees that the input of these parts is still the same, and
does the others: a part that was damaged or removed is done again by itself.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from hiddenite.corpus import CHUNK_BYTES
from hiddenite.errors import FormatError
from hiddenite.journal import Progress, check_identity, open_locked

MANIFEST = "manifest.jsonl"
PART_RECORDS = 1 << 16
_COMPLETE = "complete"


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """A part that is complete."""

    number: int
    first: int  # records of the input before it
    done: Progress  # of this part alone
    checksum: int  # of its file

    def to_dict(self) -> dict[str, Any]:
        """Return its line of the manifest."""
        return {
            "part": self.number,
            "first": self.first,
            "records": self.done.records,
            "bytes": self.done.written,
            "checksum": f"{self.checksum:08x}",
            "input_checksum": f"{self.done.input_checksum:08x}",
            "failures": self.done.failures,
            "uncertified": self.done.uncertified,
            "state": _COMPLETE,
        }

    @classmethod
    def from_dict(cls, line: Mapping[str, Any]) -> Part:
        """Read a line; whatever is none raises LookupError, TypeError or ValueError."""
        records, written, failures, uncertified = (
            int(line[name]) for name in ("records", "bytes", "failures", "uncertified")
        )
        done = Progress(records, written, failures, uncertified, int(line["input_checksum"], 16))
        return cls(int(line["part"]), int(line["first"]), done, int(line["checksum"], 16))


def parts_of(output: str) -> Path:
    """Return the folder where the parts of an output are: itself, or one beside the file."""
    target = Path(os.path.realpath(output))
    return target if is_folder(output) else target.with_name(f"{target.name}.parts")


def is_folder(output: str) -> bool:
    """Tell whether an output stays in parts: it ends in a slash, or is a folder."""
    return output.endswith(os.sep) or Path(output).is_dir()


def read_manifest(folder: Path) -> tuple[dict[str, object], list[Part]]:
    """Return what a manifest says of its job and the parts that it lists; nothing if there is none."""
    try:
        lines = (folder / MANIFEST).read_bytes().split(b"\n")[:-1]
    except OSError:
        return {}, []
    identity: dict[str, object] = {}
    parts = {}
    for line in lines:
        with contextlib.suppress(ValueError, LookupError, TypeError):
            record = json.loads(line)
            if "job" in record:
                identity = dict(record["job"])
            elif "part" in record:
                part = Part.from_dict(record)
                parts[part.number] = part  # one that was done again counts
    return identity, [parts[number] for number in sorted(parts)]


def part_name(number: int) -> str:
    """Return the name of a part's file."""
    return f"part-{number:05d}"


class PartedOutput:
    """A folder under construction: parts are written one after the other; ``complete`` ones stay."""

    def __init__(
        self, folder: Path, identity: Mapping[str, object], resume: bool, keep_older: bool = False
    ) -> None:
        """Open the folder; with ``keep_older``, an earlier output there is refused without ``resume``."""
        self.folder = folder
        self._keep_older = keep_older
        self._finished = False
        self.complete: dict[int, Part] = {}
        self._file: IO[bytes] | None = None
        self._now = Part(-1, 0, Progress(), 0)  # the part being written
        folder.mkdir(parents=True, exist_ok=True)
        self._manifest = open_locked(folder / MANIFEST)
        try:
            self._begin(json.loads(json.dumps(identity)), resume)
        except BaseException:
            os.close(self._manifest)
            raise

    def _begin(self, identity: dict[str, object], resume: bool) -> None:
        before, listed = read_manifest(self.folder)
        others = [name for name in os.listdir(self.folder) if name != MANIFEST]
        if others and not before:
            os.unlink(self.folder / MANIFEST)
            raise FormatError(
                str(self.folder), None, f"holds other files ({others[0]}), expected an empty folder"
            )
        if before and not resume and self._keep_older:
            raise FormatError(
                str(self.folder), None, "holds an earlier output; go on with --resume, or give another folder"
            )
        if before and resume:
            check_identity(str(self.folder), before, identity)
            self.complete = {part.number: part for part in listed if self._is_whole(part)}
        for name in others:
            if name not in {part_name(number) for number in self.complete}:
                (self.folder / name).unlink()
        self._write_manifest(identity)

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

    def _is_whole(self, part: Part) -> bool:
        """Compare a part's file with its line."""
        try:
            checksum = size = 0
            with (self.folder / part_name(part.number)).open("rb") as file:
                while piece := file.read(CHUNK_BYTES):
                    checksum = zlib.crc32(piece, checksum)
                    size += len(piece)
        except OSError:
            return False
        return (size, checksum) == (part.done.written, part.checksum)

    @property
    def kept(self) -> str | None:
        """What an early end leaves behind."""
        if not self.complete:
            return None
        return f"{len(self.complete):,} complete parts are kept in {self.folder.name}: go on with --resume"

    def append(self, number: int, first: int, text: bytes, progress: Progress) -> None:
        """Add records to part ``number``; ``progress`` counts them, with the checksum of the part's input.

        Parts come in order; the first records of a new one complete the one before.
        """
        if number != self._now.number:
            self.complete_part()
            self._file = self._partial(number).open("wb")
            self._now = Part(number, first, Progress(), 0)
        assert self._file is not None
        self._file.write(text)
        before = self._now.done
        done = Progress(
            before.records + progress.records,
            before.written + len(text),
            before.failures + progress.failures,
            before.uncertified + progress.uncertified,
            progress.input_checksum,
        )
        self._now = dataclasses.replace(self._now, done=done, checksum=zlib.crc32(text, self._now.checksum))

    def _partial(self, number: int) -> Path:
        return self.folder / f"{part_name(number)}.partial"

    def complete_part(self) -> None:
        """Give the part being written its name, and list it."""
        if self._file is None:
            return
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._file = None
        os.replace(self._partial(self._now.number), self.folder / part_name(self._now.number))
        self._note(self._now.to_dict())
        self.complete[self._now.number] = self._now

    def _note(self, line: dict[str, Any]) -> None:
        os.write(self._manifest, (json.dumps(line) + "\n").encode())
        os.fsync(self._manifest)

    def finish(self) -> Progress:
        """Complete the last part and list the totals, which are returned."""
        self.complete_part()
        total = self.total()
        totals = {"parts": len(self.complete), "records": total.records, "bytes": total.written}
        self._note({**totals, "failures": total.failures, "state": _COMPLETE})
        self._finished = True
        return total

    def total(self) -> Progress:
        """Return what all complete parts are together."""
        parts = [part.done for part in self.complete.values()]
        return Progress(
            sum(p.records for p in parts),
            sum(p.written for p in parts),
            sum(p.failures for p in parts),
            sum(p.uncertified for p in parts),
        )

    def pieces(self) -> Iterator[bytes]:
        """Give the text of all parts, in order, a piece at a time."""
        for number in sorted(self.complete):
            with (self.folder / part_name(number)).open("rb") as file:
                while piece := file.read(CHUNK_BYTES):
                    yield piece

    def remove(self) -> None:
        """Remove the folder with all that was written."""
        for name in os.listdir(self.folder):
            (self.folder / name).unlink()
        self.folder.rmdir()

    def close(self) -> None:
        """Release the files. A part that is not complete is removed, and the folder if there is no other."""
        if self._file is not None:
            self._file.close()
            self._partial(self._now.number).unlink(missing_ok=True)
        os.close(self._manifest)
        if not self._finished and not self.complete:
            self.remove()
