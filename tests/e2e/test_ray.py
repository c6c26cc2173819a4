"""The batch commands on a local Ray cluster; needs the extra ray."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.e2e.command import run, start, succeed
from tests.e2e.test_batch import SENTENCES, write_keys
from tests.models import train

pytest.importorskip("ray")


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lm") / "corpus.hlm"
    train(SENTENCES, 3).compile(path)
    return path


def job(lm: Path, output: str) -> list[str | Path]:
    return ["decode", "--lm", lm, "--channel", "keypad", "--json", "keys.txt", "--output", output]


def workers_of(driver: int) -> list[int]:
    """The processes that answer: those named after the actor, among the descendants of the driver."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdecimal() and b"ray::_Worker" in (process / "cmdline").read_bytes():
                environment = (process / "environ").read_bytes()
                if f"HIDDENITE_TEST={driver}".encode() in environment:
                    found.append(int(process.name))
        except OSError:
            continue
    return found


def test_the_output_is_that_of_one_machine(tmp_path: Path, lm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the processes is killed in the middle; it is replaced and nothing is lost or doubled."""
    write_keys(tmp_path / "keys.txt", 60_000)
    succeed(tmp_path, *job(lm, "threads.json"))
    monkeypatch.setenv("HIDDENITE_TEST", str(os.getpid()))
    process = start(tmp_path, [*job(lm, "ray.json"), "--ray", "local"])
    partial = tmp_path / "ray.json.partial"
    while process.poll() is None and not (partial.exists() and partial.stat().st_size):
        time.sleep(0.01)
    victims = workers_of(os.getpid())
    assert victims
    os.kill(victims[0], signal.SIGKILL)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr
    assert (tmp_path / "ray.json").read_bytes() == (tmp_path / "threads.json").read_bytes()


def test_errors_are_those_of_one_machine(tmp_path: Path) -> None:
    done = run(tmp_path, "lm", "score", "--lm", "missing.arpa", "--ray", "127.0.0.1:1", stdin=b"a\n")
    assert done.status == 1
    assert "cannot be reached" in done.stderr.splitlines()[-1]
