"""Outputs that can be resumed."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hiddenite.errors import FormatError
from hiddenite.jobs.output import MEMBER_BYTES, open_output
from hiddenite.jobs.output_parts import MANIFEST, PROGRESS, Counts, PartedOutput

IDENTITY = {"command": "test", "seed": 3}


class Stop(Exception):
    """The end of a job that was not asked for."""


def blocks(count: int) -> list[bytes]:
    return [f"record {i}\n".encode() * (i % 5) for i in range(count)]


def write(path: Path, upto: int, resume: bool, texts: list[bytes], identity: dict[str, object]) -> int:
    """Write texts, a record each, seven a part, and stop before ``upto``; return where it began."""
    with open_output(str(path), identity, resume) as out:
        assert isinstance(out, PartedOutput)
        begin = sum(part.counts.records for part in out.complete.values())
        begin += out.begun.counts.records if out.begun else 0
        for i in range(begin, len(texts)):
            if i == upto:
                raise Stop
            out.append(i // 7, i // 7 * 7, texts[i], bytes([i]), Counts(1, len(texts[i]), i))
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
    assert names(out) == ["out.txt.parts"]
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


def folder(out: Path) -> Path:
    return out.with_name("out.txt.parts")


@pytest.mark.parametrize("upto", range(1, 20))
def test_what_was_written_after_the_last_note_is_cut_off(out: Path, upto: int) -> None:
    texts = blocks(20)
    interrupted(out, upto, texts)
    for partial in folder(out).glob("*.partial"):
        partial.write_bytes(partial.read_bytes() + b"record 8\nrec")  # killed between the file and its note
    assert write(out, -1, True, texts, IDENTITY) == upto
    assert out.read_bytes() == b"".join(texts)


@pytest.mark.parametrize("damage", ["no progress", "half a note", "lost end", "another byte"])
def test_a_part_under_way_that_is_not_sound_is_done_again(out: Path, damage: str) -> None:
    texts = blocks(20)
    interrupted(out, 12, texts)
    progress, partial = folder(out) / PROGRESS, folder(out) / "part-00001.partial"
    if damage == "no progress":
        progress.unlink()
    elif damage == "half a note":
        progress.write_bytes(progress.read_bytes()[:40])
    elif damage == "lost end":
        partial.write_bytes(partial.read_bytes()[:-1])
    else:
        partial.write_bytes(b"R" + partial.read_bytes()[1:])
    assert write(out, -1, True, texts, IDENTITY) == 7
    assert out.read_bytes() == b"".join(texts)


def stopping(self: PartedOutput) -> Iterator[bytes]:
    yield b"a piece of it"
    raise Stop


def test_a_job_that_died_while_joining_joins_again(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = blocks(20)
    with monkeypatch.context() as patched:
        patched.setattr(PartedOutput, "pieces", stopping)
        interrupted(out, -1, texts)
    assert "joined" in [path.name for path in folder(out).iterdir()]
    assert write(out, -1, True, texts, IDENTITY) == 20
    assert out.read_bytes() == b"".join(texts)
    assert names(out) == ["out.txt"]


def test_the_hint_counts_what_is_kept(out: Path) -> None:
    with pytest.raises(Stop) as stopped:
        write(out, 12, False, blocks(20), IDENTITY)
    assert stopped.value.__notes__ == ["12 records are kept in out.txt.parts; continue with --resume"]
    assert json.loads((folder(out) / MANIFEST).read_text().split("\n")[0]) == {"job": IDENTITY}


def test_another_job_is_refused(out: Path) -> None:
    interrupted(out, 7, blocks(20))
    with pytest.raises(FormatError, match="began with seed 3, now it has 4; give the same options"):
        write(out, -1, True, blocks(20), {**IDENTITY, "seed": 4})
    assert names(out) == ["out.txt.parts"]


def test_two_jobs_do_not_share_a_file(out: Path) -> None:
    with (
        open_output(str(out), IDENTITY, False),
        pytest.raises(FormatError, match="another process is writing this output"),
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
    with open_output("/dev/null", IDENTITY, False) as out:
        out.append(0, 0, b"text", b"", Counts(1, 4))
    assert Path("/dev/null").is_char_device()
