"""Commands on a Ray cluster of two nodes; needs the extra ray."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.command import environment, names, run, start, succeed
from tests.e2e.test_batch import SENTENCES, write_keys
from tests.models import train

pytest.importorskip("ray")


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lm") / "corpus.hlm"
    train(SENTENCES, 3).compile(path)
    return path


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster of two nodes; its processes can be told by the environment."""
    marked = {**environment(), "HIDDENITE_TEST": str(os.getpid())}
    arguments = [sys.executable, "-m", "tests.ray_cluster"]
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        arguments, cwd=root, env=marked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address
        yield address
        process.communicate(timeout=60)


def decode(lm: Path, output: str) -> list[str | Path]:
    return ["decode", "--lm", lm, "--channel", "keypad", "--json", "keys.txt", "--output", output]


def workers() -> list[int]:
    """The processes that answer, of the cluster that this test has started."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            answers = process.name.isdecimal() and b"ray::_Worker" in (process / "cmdline").read_bytes()
            if answers and f"HIDDENITE_TEST={os.getpid()}".encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


def test_a_lost_process_is_replaced(tmp_path: Path, lm: Path, cluster: str) -> None:
    """One of two is killed in the middle; nothing is lost or doubled, and the file is that of threads."""
    write_keys(tmp_path / "keys.txt", 60_000)
    succeed(tmp_path, *decode(lm, "threads.json"))
    process = start(tmp_path, [*decode(lm, "ray.json"), "--ray", cluster])
    begun = tmp_path / "ray.json.parts" / "part-00000.partial"
    victims: list[int] = []
    while process.poll() is None and not (len(victims) == 2 and begun.exists() and begun.stat().st_size):
        time.sleep(0.005)
        victims = workers()
    assert process.poll() is None
    os.kill(victims[0], signal.SIGKILL)
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr
    assert (tmp_path / "ray.json").read_bytes() == (tmp_path / "threads.json").read_bytes()
    assert names(tmp_path) == ["keys.txt", "ray.json", "threads.json"]


@pytest.mark.slow
def test_a_killed_driver_goes_on_part_by_part(tmp_path: Path, lm: Path, cluster: str) -> None:
    """What is complete is not done again, a part that was damaged is; threads finish what a cluster began."""
    write_keys(tmp_path / "keys.txt", 100_000)
    succeed(tmp_path, *decode(lm, "threads.json"))
    process = start(tmp_path, [*decode(lm, "out/"), "--ray", cluster])
    first = tmp_path / "out" / "part-00000"
    while process.poll() is None and not first.exists():
        time.sleep(0.005)
    time.sleep(0.05)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    written = first.stat().st_mtime_ns
    succeed(tmp_path, *decode(lm, "out/"), "--resume")
    assert first.stat().st_mtime_ns == written
    parts = sorted((tmp_path / "out").glob("part-*"))
    assert [part.name for part in parts] == ["part-00000", "part-00001"]
    whole = (tmp_path / "threads.json").read_bytes()
    assert b"".join(part.read_bytes() for part in parts) == whole
    parts[1].write_bytes(parts[1].read_bytes()[:-1])
    done = run(tmp_path, *decode(lm, "out/"), "--resume", "--ray", cluster)
    assert done.status == 0, done.stderr
    assert b"".join(part.read_bytes() for part in parts) == whole
    assert first.stat().st_mtime_ns == written


def test_without_an_address_a_cluster_is_started(tmp_path: Path, lm: Path) -> None:
    write_keys(tmp_path / "keys.txt", 300)
    expected = succeed(tmp_path, "lm", "score", "--lm", lm, "keys.txt").stdout
    done = run(tmp_path, "lm", "score", "--lm", lm, "--threads", "1", "--ray", "keys.txt")
    assert done.status == 0, done.stderr
    assert done.stdout == expected


def test_errors_are_those_of_one_machine(tmp_path: Path, cluster: str) -> None:
    for address, message in (
        ("127.0.0.1:1", "cannot be reached"),
        (cluster, "missing.arpa: cannot be opened"),
    ):
        done = run(tmp_path, "lm", "score", "--lm", "missing.arpa", "--ray", address, stdin=b"a\n")
        assert done.status == 1
        assert message in done.stderr.splitlines()[-1]


def test_records_without_an_answer(tmp_path: Path, lm: Path, cluster: str) -> None:
    """Errors are told and counted as without a cluster, and the exit status is the same."""
    (tmp_path / "keys.txt").write_text("843 364\nnonsense!\n843 228\n")
    here = run(tmp_path, *decode(lm, "threads.json"))
    there = run(tmp_path, *decode(lm, "ray.json"), "--ray", cluster)
    assert (there.status, there.stderr) == (here.status, here.stderr)
    assert here.status == 1
    assert (tmp_path / "ray.json").read_bytes() == (tmp_path / "threads.json").read_bytes()
    assert "error" in json.loads((tmp_path / "ray.json").read_text().splitlines()[1])


def test_trainings_give_the_model_of_one_machine(tmp_path: Path, cluster: str) -> None:
    """Counted shards, chains of an induction, E-steps and sweeps over shards."""
    (tmp_path / "en").write_text("the dog\na cat\nthe cat sleeps\na dog sleeps\n" * 5)
    (tmp_path / "fr").write_text("le chien\nun chat\nle chat dort\nun chien dort\n" * 5)
    ray = ["--ray", cluster, "-q"]
    for name, arguments in {
        "lm": ["lm", "train", "en", "fr", "--order", "3", "-q", "--output"],
        "em": ["align", "train", "en", "fr", "--estimator", "em", "-q", "--output"],
        "gibbs": ["align", "train", "en", "fr", "--seed", "1", "--shards", "2", "-q", "--output"],
        "tags": [
            "induce",
            "run",
            "en",
            "--tags",
            "3",
            "--chains",
            "2",
            "-n",
            "12",
            "--seed",
            "1",
            "-q",
            "-o",
        ],
    }.items():
        succeed(tmp_path, *arguments, f"{name}.here")
        done = run(tmp_path, *arguments, f"{name}.there", *ray)
        assert done.status == 0, done.stderr
        assert (tmp_path / f"{name}.there").read_bytes() == (tmp_path / f"{name}.here").read_bytes(), name
