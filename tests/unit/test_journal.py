"""Outputs that can be gone on with."""

import gzip
from pathlib import Path

import pytest

from hiddenite.errors import FormatError
from hiddenite.journal import MEMBER_BYTES, Progress, resumable_output

IDENTITY = {"command": "test", "seed": 3}


class Stop(Exception):
    """The end of a job that was not asked for."""


def blocks(count: int) -> list[bytes]:
    return [f"record {i}\n".encode() * (i % 5) for i in range(count)]


def write(path: Path, upto: int, resume: bool, texts: list[bytes], identity: dict[str, object]) -> int:
    """Write blocks as a job does and stop before block ``upto``; returns where it began."""
    with resumable_output(str(path), identity, resume) as out:
        begin = out.done.records
        if out.done.finished:
            return begin
        for i in range(begin, len(texts)):
            if i == upto:
                raise Stop
            out.append(texts[i], Progress(records=i + 1, failures=i))
    return begin


def interrupted(path: Path, upto: int, texts: list[bytes], resume: bool = False) -> None:
    with pytest.raises(Stop):
        write(path, upto, resume, texts, IDENTITY)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.txt"


def names(out: Path) -> list[str]:
    return sorted(path.name for path in out.parent.iterdir())


def test_a_job_goes_on_where_it_was_ended(out: Path) -> None:
    texts = blocks(20)
    interrupted(out, 7, texts)
    assert names(out) == ["out.txt.partial", "out.txt.partial.journal"]
    interrupted(out, 12, texts, resume=True)
    assert write(out, -1, True, texts, IDENTITY) == 12
    assert out.read_bytes() == b"".join(texts)
    assert names(out) == ["out.txt"]


def test_without_resume_a_job_begins_anew(out: Path) -> None:
    out.write_bytes(b"older")
    interrupted(out, 7, blocks(20))
    assert out.read_bytes() == b"older"
    assert write(out, -1, False, blocks(9), IDENTITY) == 0
    assert out.read_bytes() == b"".join(blocks(9))
    assert names(out) == ["out.txt"]


def test_nothing_complete_leaves_nothing(out: Path) -> None:
    interrupted(out, 0, blocks(3))
    assert names(out) == []


@pytest.mark.parametrize("cut", range(0, 64, 7))
def test_what_was_written_after_the_last_note_is_cut_off(out: Path, cut: int) -> None:
    texts = blocks(20)
    interrupted(out, 8, texts)
    partial, journal = (out.with_name(f"out.txt.partial{end}") for end in ("", ".journal"))
    partial.write_bytes(partial.read_bytes() + b"record 8\nrec")  # killed between the file and its note,
    notes = bytearray(journal.read_bytes())
    notes[64 + cut : 128] = bytes(64 - cut)  # or within the note: the odd ones are at the second place
    journal.write_bytes(notes)
    assert write(out, -1, True, texts, IDENTITY) in (7, 8)
    assert out.read_bytes() == b"".join(texts)


def test_a_file_that_lost_its_end_is_begun_anew(out: Path) -> None:
    texts = blocks(20)
    interrupted(out, 8, texts)
    out.with_name("out.txt.partial").write_bytes(b"")
    assert write(out, -1, True, texts, IDENTITY) in (0, 1)  # block 0 is empty
    assert out.read_bytes() == b"".join(texts)


def test_a_job_that_died_after_renaming_is_done(out: Path) -> None:
    texts = blocks(20)
    interrupted(out, 19, texts)
    journal = out.with_name("out.txt.partial.journal")
    before = journal.read_bytes()
    write(out, -1, True, texts, IDENTITY)
    journal.write_bytes(before)  # not finished, and no file: begins anew
    assert write(out, -1, True, texts, IDENTITY) == 0
    assert out.read_bytes() == b"".join(texts)
    assert names(out) == ["out.txt"]


def test_another_job_is_refused(out: Path) -> None:
    interrupted(out, 7, blocks(20))
    with pytest.raises(FormatError, match="was begun with seed 3, found 4; give the same options"):
        write(out, -1, True, blocks(20), {**IDENTITY, "seed": 4})
    assert names(out) == ["out.txt.partial", "out.txt.partial.journal"]


def test_two_jobs_do_not_share_a_file(out: Path) -> None:
    with (
        resumable_output(str(out), IDENTITY, False),
        pytest.raises(FormatError, match="is being written by another process"),
    ):
        write(out, -1, False, blocks(2), IDENTITY)
    assert names(out) == ["out.txt"]


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz"])
def test_a_compressed_output_is_the_same_after_an_end(tmp_path: Path, suffix: str) -> None:
    texts = [bytes([i % 251]) * (MEMBER_BYTES // 3) for i in range(20)]
    whole, ended = (tmp_path / f"{name}.{suffix}" for name in ("whole", "ended"))
    write(whole, -1, False, texts, IDENTITY)
    for upto in (5, 6, 14):
        interrupted(ended, upto, texts, resume=True)
    write(ended, -1, True, texts, IDENTITY)
    assert ended.read_bytes() == whole.read_bytes()
    if suffix == "gz":
        assert gzip.decompress(ended.read_bytes()) == b"".join(texts)


def test_an_empty_archive_is_an_archive(tmp_path: Path) -> None:
    write(tmp_path / "x.gz", -1, False, [], IDENTITY)
    assert (tmp_path / "x.gz").stat().st_size > 0
    assert gzip.decompress((tmp_path / "x.gz").read_bytes()) == b""


def test_a_device_is_written_as_it_is() -> None:
    with resumable_output("/dev/null", IDENTITY, False) as out:
        out.append(b"text", Progress(records=1))
    assert Path("/dev/null").is_char_device()
