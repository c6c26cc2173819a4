"""Outputs in parts: what a manifest says, what is kept, what is done again."""

import contextlib
import json
import zlib
from importlib import metadata
from pathlib import Path

import pytest

from hiddenite.cli import with_address
from hiddenite.errors import FormatError, ModelError
from hiddenite.jobs.batch import Block, _missing, _numbered
from hiddenite.jobs.output_parts import MANIFEST, PART_RECORDS, Counts, PartedOutput, read_manifest
from hiddenite.jobs.ray import _check_version

JOB = {"command": "decode", "seed": "1"}
TEXTS = {0: [b"a\n", b"b\n"], 1: [b"c\n"], 2: [b"d\n"]}


def write(folder: Path, numbers: list[int], resume: bool = False, finish: bool = True) -> PartedOutput:
    """Write these parts, each text a record, and leave the output as an end at that moment would."""
    with contextlib.closing(PartedOutput(folder, JOB, resume)) as out:
        for number in numbers:
            for text in TEXTS[number]:
                out.append(number, 10 * number, text, text, Counts(1, len(text)))
        if finish:
            out.finish()
        else:
            out.complete_part()
    return out


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_manifest_lists_each_part(tmp_path: Path) -> None:
    write(tmp_path / "out", [0, 1])
    job, first, second, total = (
        json.loads(line) for line in (tmp_path / "out" / MANIFEST).read_text().splitlines()
    )
    assert job == {"job": JOB}
    assert first == {
        "part": 0,
        "first": 0,
        "records": 2,
        "bytes": 4,
        "checksum": f"{zlib.crc32(b''.join(TEXTS[0])):08x}",
        "input_checksum": f"{zlib.crc32(b''.join(TEXTS[0])):08x}",
        "failures": 0,
        "uncertified": 0,
    }
    assert (second["part"], second["records"]) == (1, 1)
    assert total == {"parts": 2, "records": 3, "failures": 0}
    assert names(tmp_path / "out") == [MANIFEST, "part-00000", "part-00001"]


def test_what_is_whole_is_kept_and_the_rest_is_done_again(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write(folder, [0, 1, 2], finish=False)
    with (folder / MANIFEST).open("ab") as manifest:
        manifest.write(b'{"part": 3, "first": 9, "rec')  # cut off
    (folder / "part-00001").write_bytes(b"x\n")
    (folder / "part-00004.partial").write_bytes(b"half")
    with contextlib.closing(PartedOutput(folder, JOB, resume=True)) as out:
        assert sorted(out.complete) == [0, 2]
        assert out.keep() == "3 records are kept in out; continue with --resume"
        assert names(folder) == [MANIFEST, "part-00000", "part-00002"]
    out = write(folder, [1], resume=True)
    assert b"".join(out.pieces()) == b"a\nb\nc\nd\n"
    assert sorted(read_manifest(folder)[1]) == [0, 1, 2]


def test_refused_folders(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write(folder, [0])
    with pytest.raises(FormatError, match="began with seed '1', now it has '2'"):
        PartedOutput(folder, JOB | {"seed": "2"}, resume=True)
    with pytest.raises(FormatError, match="contains an earlier output"):
        PartedOutput(folder, JOB, resume=False, keep_older=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(FormatError, match=r"contains letter.txt; expected an empty folder"):
        PartedOutput(tmp_path / "mine", JOB, resume=True)
    assert names(tmp_path / "mine") == ["letter.txt"]
    open_one = PartedOutput(folder, JOB, resume=True)
    with pytest.raises(FormatError, match="another process is writing this output"):
        PartedOutput(folder, JOB, resume=True)
    open_one.close()
    PartedOutput(tmp_path / "empty", JOB, resume=False).close()
    assert not (tmp_path / "empty").exists()


def test_blocks_of_complete_parts_must_be_the_same(tmp_path: Path) -> None:
    size = PART_RECORDS // 2
    blocks = [Block(n, n * size, size, bytes([n])) for n in range(5)]
    numbered = list(_numbered(blocks))
    assert [block.part for block in numbered] == [0, 0, 1, 1, 2]
    with contextlib.closing(PartedOutput(tmp_path / "out", JOB, resume=False)) as out:
        out.append(1, 2 * size, b"x", bytes([2, 3]), Counts(2 * size, 1))
        out.complete_part()
        out.append(2, 4 * size, b"y", bytes([4]), Counts(size, 1))
        out.keep()
        assert [block.item for block in _missing(numbered, out, "in")] == [0, 1]
        more = [*numbered, Block(5, 5 * size, size, b"5", part=2)]
        assert [block.item for block in _missing(more, out, "in")] == [0, 1, 5]
        with pytest.raises(FormatError, match="it has no record 65,537 any more"):
            list(_missing(numbered[:2], out, "in"))
        numbered[3] = Block(3, 3 * size, size, b"other", part=1)
        with pytest.raises(FormatError, match="records 65,537 to 131,072 differ"):
            list(_missing(numbered, out, "in"))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ([], []),
        (["decode", "--ray"], ["decode", "--ray=local"]),
        (["decode", "--ray", "keys.txt"], ["decode", "--ray=local", "keys.txt"]),
        (["decode", "--ray", "--json"], ["decode", "--ray=local", "--json"]),
        (["decode", "--ray", "auto", "x"], ["decode", "--ray", "auto", "x"]),
        (["decode", "--ray", "10.0.0.1:6379"], ["decode", "--ray", "10.0.0.1:6379"]),
        (["decode", "--ray", "ray://head:10001"], ["decode", "--ray", "ray://head:10001"]),
        (["decode", "--ray=host:1", "--ray", "./a:1"], ["decode", "--ray=host:1", "--ray=local", "./a:1"]),
    ],
)
def test_an_address_may_be_left_out(given: list[str], meant: list[str]) -> None:
    assert with_address(given) == meant


def test_machines_of_another_version_do_not_answer() -> None:
    _check_version(metadata.version("hiddenite"))
    with pytest.raises(ModelError, match=r"expected 0\.0\.0 as on the driver; install that"):
        _check_version("0.0.0")
