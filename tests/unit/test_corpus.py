"""Text in and out: chunks, compression, and outputs that are whole or absent."""

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hiddenite import FormatError, ModelError
from hiddenite.files.corpus import (
    CHUNK_BYTES,
    READ_BYTES,
    ChunkReader,
    chunk_source,
    decode,
    file_bytes,
    sentence_chunks,
    tokenize,
)
from hiddenite.files.output import atomic_output, check_writable

DECOMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}


# Reading


def read_all(path: Path) -> bytes:
    with ChunkReader(path) as reader:
        return b"".join(iter(reader, b""))


@pytest.mark.parametrize("suffix", DECOMPRESSORS)
@pytest.mark.parametrize("size", [0, 1, 5, 6, 7, READ_BYTES - 1, READ_BYTES, READ_BYTES + 1])
def test_what_is_written_is_read(tmp_path: Path, suffix: str, size: int) -> None:
    data = b"a" * size
    path = tmp_path / f"data{suffix}"
    with atomic_output(path) as out:
        out.write(data)
    assert read_all(path) == data
    assert DECOMPRESSORS[suffix](path.read_bytes()) == data


def test_bytes_read_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(b"a b c\n" * 100_000))
    reports: list[int] = []
    with ChunkReader(path, reports.append) as reader:
        assert len(b"".join(iter(reader, b""))) == 600_000
        assert reader.bytes_read == path.stat().st_size == file_bytes([path])
    assert reports == sorted(reports)
    assert reports[-1] == path.stat().st_size


def test_standard_input_is_read_and_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(b"a b")))
    monkeypatch.setattr(sys, "stdin", stdin)
    with ChunkReader("-") as reader:
        assert reader.name == "<stdin>"
        assert reader() == b"a b"
        assert reader() == b""
    assert not stdin.closed
    assert file_bytes(["-"]) is None


def test_a_process_without_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FormatError, match="<stdin>: cannot be opened: Bad file descriptor"):
        ChunkReader("-")


def test_a_file_that_cannot_be_read() -> None:
    if not Path("/proc/self/mem").exists():
        pytest.skip("needs a file that opens but cannot be read: /proc/self/mem")
    with pytest.raises(FormatError, match=r"/proc/self/mem: cannot be opened: Input/output error"):
        ChunkReader("/proc/self/mem")


def test_tokens_are_what_stands_between_ascii_space() -> None:
    assert tokenize(" a\tb\r\vc\fd\n e\u00a0f\u2003g \x85") == ["a", "b", "c", "d", "e\u00a0f\u2003g", "\x85"]
    assert tokenize("") == tokenize(" \r\n") == []


def test_decoding() -> None:
    assert decode("\ufeffä b\n".encode(), "v") == "ä b\n"
    with pytest.raises(FormatError, match=r"^v:2: column 3: found a byte that is not UTF-8"):
        decode("ä\nab".encode() + b"\xff", "v")
    with pytest.raises(FormatError, match=r"^v:1: column 2: found a NUL byte"):
        decode(b"a\0", "v")


# Sentences


def test_sentences_become_lines() -> None:
    sentences = ["a b", ["c", "d"], "", [], "e\nf", ("g",)]
    assert b"".join(sentence_chunks(sentences)) == b"a b\nc d\n\n\ne f\ng\n"
    assert list(sentence_chunks([])) == []


def test_sentences_come_in_pieces() -> None:
    read = chunk_source(sentence_chunks(["x" * 1000] * 3000))
    chunks = list(iter(read, b""))
    assert len(chunks) == 3
    assert b"".join(chunks) == (b"x" * 1000 + b"\n") * 3000
    assert read() == b""


@pytest.mark.parametrize("word", ["", "a b", "a\n", " a", "\t"])
def test_a_word_with_white_space_is_refused(word: str) -> None:
    with pytest.raises(ModelError, match="is empty or contains white space"):
        list(sentence_chunks([["good", word]]))


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(ModelError, match="'\\\\udcff', which is not Unicode text"):
        list(sentence_chunks(["a \udcff"]))


# Writing


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


class Interrupted(BaseException):
    """As a KeyboardInterrupt, which pytest would take for its own."""


def write_half(path: Path, error: type[BaseException]) -> None:
    with atomic_output(path) as out:
        out.write(b"new" * 1000)
        out.flush()
        raise error


@pytest.mark.parametrize("error", [RuntimeError, Interrupted, OSError])
@pytest.mark.parametrize("suffix", DECOMPRESSORS)
def test_an_error_leaves_the_old_file(tmp_path: Path, error: type[BaseException], suffix: str) -> None:
    path = tmp_path / f"data{suffix}"
    path.write_bytes(b"old")
    with pytest.raises(FormatError if error is OSError else error):
        write_half(path, error)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == [path.name]


def test_nothing_stands_under_the_name_before_the_end(tmp_path: Path) -> None:
    path = tmp_path / "data"
    with atomic_output(path) as out:
        out.write(b"new")
        out.flush()
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["data"]


def test_a_result_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    with atomic_output(tmp_path / "data") as out:
        out.write(b"new")
    (tmp_path / "other").write_bytes(b"")
    assert (tmp_path / "data").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    for content in (b"first", b"second"):
        with atomic_output(tmp_path / "link") as out:
            out.write(content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "target").read_bytes() == content
    assert names(tmp_path) == ["link", "target"]


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with atomic_output(path) as out:
        out.write(b"through the pipe")
    assert os.read(reading, 100) == b"through the pipe"
    os.close(reading)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


@pytest.mark.parametrize("device", ["/dev/null", "/dev/full"])
def test_a_device_stays_a_device(device: str) -> None:
    if not Path(device).is_char_device():
        pytest.skip(f"{device} is no device here")

    def write() -> None:
        with atomic_output(device) as out:
            out.write(b"x" * (2 * CHUNK_BYTES))

    if device == "/dev/full":
        with pytest.raises(FormatError, match=r"/dev/full: cannot be written: No space left on device"):
            write()
    else:
        write()
    assert Path(device).is_char_device()


def test_standard_output_is_flushed_and_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(raw, 100)))
    with atomic_output("-") as out:
        out.write(b"text")
    assert raw.getvalue() == b"text"
    sys.stdout.write("more")


def unusable_outputs(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    yield tmp_path, "Is a directory"
    yield tmp_path / "absent" / "data", "No such file or directory"
    yield tmp_path / "file" / "data", "Not a directory"


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path, reason in unusable_outputs(tmp_path):
        with pytest.raises(FormatError) as caught, atomic_output(path):
            pass
        assert str(caught.value) == f"{path}: cannot be written: {reason}"
    assert names(tmp_path) == ["file"]


def test_a_file_that_cannot_be_written_is_known_before(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("there")
    check_writable(None, "-", "/dev/null", tmp_path / "file", tmp_path / "new", tmp_path / "link", "new")
    for name, error in (
        (tmp_path, "Is a directory"),
        (tmp_path / "none" / "new", "No such file or directory"),
        (tmp_path / "file" / "new", "Not a directory"),
    ):
        with pytest.raises(FormatError, match=f"^{name}: cannot be written: {error}$"):
            check_writable("-", name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]
