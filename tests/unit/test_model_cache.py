"""Files that a machine of a cluster was sent: kept once, and used only if they are what was sent."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from hiddenite.errors import ModelError
from hiddenite.jobs.model_cache import SentFile, local_path, receive

CONTENT = b"a model, or what else is sent"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's temporary folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def sent(tmp_path: Path) -> SentFile:
    """A file that this machine does not see."""
    model = tmp_path / "lm.hlm"
    model.write_bytes(CONTENT)
    result = SentFile(str(model), put=bytes)
    model.unlink()
    return result


class Network:
    """Gives what was sent and counts how often."""

    fetched = 0

    def __call__(self, content: bytes) -> bytes:
        self.fetched += 1
        return content


def own_folder(temporary: Path) -> Path:
    return temporary / f"hiddenite-{os.getuid()}"


def test_the_very_file_is_used_where_it_is(tmp_path: Path, temporary: Path) -> None:
    model = tmp_path / "lm.hlm"
    model.write_bytes(CONTENT)
    sent = SentFile(str(model), put=bytes)
    assert sent.find(Network()) == str(model)
    os.utime(model, ns=(1, 1))  # another file of that name and size
    assert Path(sent.find(Network())).parent == own_folder(temporary)


def test_a_file_that_the_driver_lacks_fails_there_as_it_would_here(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent")
    assert SentFile(absent, put=bytes).find(Network()) == absent


def test_the_first_process_writes_a_copy_for_all(temporary: Path, sent: SentFile) -> None:
    network = Network()
    copy = Path(sent.find(network))
    assert (copy.suffix, copy.read_bytes()) == (".hlm", CONTENT)
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert sent.find(network) == str(copy)
    assert network.fetched == 1
    assert os.listdir(copy.parent) == [copy.name]
    receive([sent], network)
    assert local_path(sent.path) == str(copy)
    assert local_path("another") == "another"


def test_an_empty_file_is_sent_too(tmp_path: Path, temporary: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    sent = SentFile(str(tmp_path / "empty"), put=bytes)
    (tmp_path / "empty").unlink()
    assert Path(sent.find(Network())).read_bytes() == b""


@pytest.mark.parametrize(
    "damage", [lambda c: c[:-1], lambda c: c + b" ", lambda c: b"A" + c[1:], lambda c: b""]
)
def test_a_copy_that_was_damaged_is_written_again(
    temporary: Path, sent: SentFile, damage: Callable[[bytes], bytes]
) -> None:
    network = Network()
    copy = Path(sent.find(network))
    status = copy.stat()
    copy.write_bytes(damage(CONTENT))
    os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert sent.find(network) == str(copy)
    assert copy.read_bytes() == CONTENT
    assert network.fetched == 2


def test_what_changes_on_its_way_is_not_used(temporary: Path, sent: SentFile) -> None:
    with pytest.raises(
        ModelError, match=r"lm\.hlm was changed while it was sent to .*; run the command again"
    ):
        sent.find(lambda content: b"other" + content)
    assert os.listdir(own_folder(temporary)) == []


def test_a_folder_that_others_can_write_to_is_refused(
    temporary: Path, sent: SentFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = own_folder(temporary)
    own.mkdir()
    own.chmod(0o770)
    advice = r"expected a folder of your own with mode 700; remove it, or set TMPDIR to another place"
    with pytest.raises(ModelError, match=rf"has mode 770, {advice}"):
        sent.find(Network())
    own.rmdir()
    (temporary / "elsewhere").mkdir(0o700)
    own.symlink_to(temporary / "elsewhere")
    with pytest.raises(ModelError, match=rf"is not a folder, {advice}"):
        sent.find(Network())
    own.unlink()
    me = os.getuid()
    own.mkdir(0o700)
    monkeypatch.setattr(os, "getuid", lambda: me + 1)
    own.rename(own_folder(temporary))
    with pytest.raises(ModelError, match=rf"belongs to another user, {advice}"):
        sent.find(Network())


def test_a_copy_that_cannot_be_kept_is_one_line(
    temporary: Path, sent: SentFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelError, match=r"no copy of .*lm\.hlm can be kept: No space left on device$"):
        sent.find(Network())
    assert os.listdir(own_folder(temporary)) == []
