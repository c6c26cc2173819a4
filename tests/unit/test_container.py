"""Model files: a cut, flipped or foreign one is refused with one line; older ones are read."""

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pytest

import hiddenite
from hiddenite._core import write_container
from hiddenite.align.aligner import Aligner
from hiddenite.errors import FormatError
from hiddenite.files.archive import Archive
from hiddenite.files.container import Members, write_members
from hiddenite.hmmlm import HMMLanguageModel
from hiddenite.induction.induction import Induction, induce
from hiddenite.tag.tagger import Tagger
from tests.archives import members_of
from tests.models import train
from tests.property.test_aligner import QUICK

SENTENCES = ["the dog barks", "a cat sleeps", "the cat barks", "a dog sleeps"]


class Kind(NamedTuple):
    """A kind of model file."""

    make: Callable[[], Any]
    load: Callable[[Path], Any]


def _tagger() -> Tagger:
    tagged = [[(word, "DNV"[i]) for i, word in enumerate(line.split())] for line in SENTENCES]
    return Tagger.train(tagged * 3, order=2)


KINDS = {
    "tagger": Kind(_tagger, Tagger.load),
    "aligner": Kind(lambda: Aligner.train(SENTENCES, SENTENCES, seed=1, options=QUICK), Aligner.load),
    "induction": Kind(
        lambda: induce(SENTENCES, 3, model="one-tag", iterations=2, seed=1).run(), Induction.load
    ),
    "hmmlm": Kind(
        lambda: HMMLanguageModel.train(SENTENCES * 3, states=4, clusters=2, epochs=1, seed=1),
        HMMLanguageModel.load,
    ),
}


@pytest.fixture(scope="module", params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


@pytest.fixture(scope="module")
def file(kind: Kind, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kind.make().save(path)
    return path


def refusal(load: Callable[[Path], Any], path: Path) -> str:
    with pytest.raises(FormatError) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    assert "; expected a file that `hiddenite " in message
    return message


def test_every_flipped_bit_of_header_and_directory_is_found(kind: Kind, file: Path, tmp_path: Path) -> None:
    content = bytearray(file.read_bytes())
    num_members = int.from_bytes(content[12:16], "little")
    bad = tmp_path / "bad"
    for bit in range(8 * (64 + 32 * num_members)):
        content[bit // 8] ^= 1 << bit % 8
        bad.write_bytes(content)
        refusal(kind.load, bad)
        content[bit // 8] ^= 1 << bit % 8


def test_damage_anywhere_is_found(kind: Kind, file: Path, tmp_path: Path, rng: np.random.Generator) -> None:
    content = file.read_bytes()
    members = members_of(file)
    bad = tmp_path / "bad"
    for _ in range(60):
        damaged = bytearray(content)
        damaged[rng.integers(len(content))] ^= 1 << rng.integers(8)
        bad.write_bytes(damaged)
        try:
            kind.load(bad)
        except FormatError:
            refusal(kind.load, bad)
        else:  # in the zeros between two members
            assert members_of(bad) == members
    for size in rng.integers(len(content), size=20).tolist():
        bad.write_bytes(content[:size])
        refusal(kind.load, bad)
    bad.write_bytes(content + b"\0")
    assert "cut short or damaged" in refusal(kind.load, bad)


def test_foreign_files_are_refused(kind: Kind, file: Path, tmp_path: Path) -> None:
    compiled = tmp_path / "lm.hlm"
    train(SENTENCES, 2).compile(compiled)
    assert "of the kind 'ngram', expected 'archive'" in refusal(kind.load, compiled)
    newer = bytearray(file.read_bytes())
    newer[8] = 9
    (tmp_path / "newer").write_bytes(newer)
    assert "of version 9, expected version 1" in refusal(kind.load, tmp_path / "newer")
    for other in KINDS.values():
        if other != kind:
            with pytest.raises(FormatError, match="is not a hiddenite "):
                other.load(file)
    (tmp_path / "text").write_text("no model\n")
    assert "is no hiddenite" in refusal(kind.load, tmp_path / "text")
    with pytest.raises(FormatError, match="found a file of the kind 'archive', expected 'ngram'"):
        hiddenite.NgramModel.load(file)


def test_members_are_deflated_where_it_helps(tmp_path: Path) -> None:
    members = [("zeros", bytes(100_000)), ("short", b"x"), ("empty", b""), ("ü/long name.txt", b"text")]
    for compress, most in ((True, 2000), (False, 102_000)):
        out = io.BytesIO()
        write_members(out, members, compress=compress)
        path = tmp_path / str(compress)
        path.write_bytes(out.getvalue())
        assert path.stat().st_size < most
        read = Members(path, "model", "expected a model")
        assert [(name, read.read(name)) for name in read.namelist()] == members
        with pytest.raises(KeyError):
            read.read("absent")


def test_a_kind_with_a_line_end_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "model"
    with path.open("wb") as out:
        write_container("ngra\n", [("facts", b"x")], out.write)
    with pytest.raises(FormatError, match=r"the kind 'ngra\?', expected 'ngram'"):
        hiddenite.NgramModel.load(path)


# Found by the fuzzer: the file ends within the padding of its directory, and an empty array would follow it.
ENDS_IN_PADDING = bytes.fromhex(
    "89484c4d0d0a1a0a010000000100000061726368697665006400000000000000"
    "000000005b5d0800000000000000000000000000000000120277fcc6b2d47e1f"
    "0000000000000000000000000000000100000000000000000000000000000000"
    "00000000"
)


def test_a_file_that_ends_in_its_padding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(ENDS_IN_PADDING)
    with pytest.raises(FormatError, match="announces more than the file holds; expected a model"):
        Members(path, "model", "expected a model")


# ---------------------------------------------------- numbers without NumPy


def written(array: "np.ndarray[Any, Any]") -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, array, allow_pickle=False)
    return out.getvalue()


class OneMember:
    """What an archive reads: a header and one array, as bytes."""

    def __init__(self, content: bytes) -> None:
        self.members = {"header.json": b'{"format": "f", "version": 1}', "x.npy": content}

    def namelist(self) -> list[str]:
        return list(self.members)

    def read(self, name: str) -> bytes:
        return self.members[name]


def both_ways(content: bytes, kind: str, size: int | None = None) -> list[list[float] | None]:
    """The numbers as they are read with and without NumPy; None: refused."""
    archive = Archive(cast("Members", OneMember(content)), "f", 1)
    answers: list[list[float] | None] = []
    for read in (
        lambda: archive.array("x", np.dtype(kind).type, size),
        lambda: archive.numbers("x", kind, size),
    ):
        try:
            answers.append(read().tolist())
        except (ValueError, SyntaxError, KeyError, TypeError):
            answers.append(None)
    return answers


GOOD = [
    np.array([0.0, 0.5, 1e300, 1e308, 1.7e308]),  # their sum is no number
    np.array([1, 2**64 - 1], np.uint64),
    np.zeros(0),
    np.zeros(0, np.uint64),
]
BAD = [
    np.array([1.0, np.nan]),
    np.array([np.inf]),
    np.array([1.0, -0.5]),
    np.zeros((2, 3)),
    np.array([1, 2], np.int64),
    np.array([1.0, 2.0], ">f8"),
    np.array([1.0], np.float32),
]


def test_numbers_are_read_alike_with_and_without_numpy() -> None:
    for array in GOOD:
        kind = f"<{array.dtype.kind}8"
        assert both_ways(written(array), kind) == [array.tolist()] * 2
        assert both_ways(written(array), kind, len(array)) == [array.tolist()] * 2
        assert both_ways(written(array), kind, len(array) + 1) == [None, None]
    for array in BAD:
        assert both_ways(written(array), "<f8") == [None, None]


def test_damaged_numbers_are_refused_with_and_without_numpy() -> None:
    content = written(np.arange(5.0))
    damaged = [content[:-1], content + b"\0", content[:40], b"", content.replace(b"(5,)", b"(6,)")]
    damaged += [content.replace(b"False", b"True "), content.replace(b"\x93NUMPY\x01", b"\x93NUMPY\x02")]
    damaged += [content.replace(b"'shape'", b"'shade'"), content.replace(b"(5,)", b"-5, ")]
    for one in damaged:
        assert both_ways(one, "<f8") == [None, None]
