"""Jobs that are ended in the middle, by signals, by bad records and by full disks."""

import contextlib
import gzip
import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.command import HIDDENITE, environment, names, run, start, succeed
from tests.models import train
from tests.shared import machine_speed

SENTENCES = ["the dog barks .", "the cat sleeps .", "a dog sleeps .", "the dog and the cat bark !"] * 2
KEYS = ["843 364 22757 0", "843 228 753377 0", "2 364 753377 0", "843 364 263 843 228 2275 0", ""]


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lm") / "corpus.hlm"
    train(SENTENCES, 3).compile(path)
    return path


def write_keys(path: Path, count: int) -> Path:
    path.write_text("".join(KEYS[i * i % len(KEYS)] + "\n" for i in range(count)))
    return path


def job(lm: Path, keys: Path, output: str) -> list[str | Path]:
    return ["decode", "--lm", lm, "--channel", "keypad", "--json", keys, "--output", output, "--threads", "2"]


def notes(directory: Path, output: str) -> bytes:
    """What a job has noted of its progress."""
    folder = directory / f"{output}.parts"
    found = b""
    for name in ("manifest.jsonl", "progress.json"):
        with contextlib.suppress(FileNotFoundError):
            found += (folder / name).read_bytes()
    return found if b"part" in found else b""


def kill_soon_after_progress(
    directory: Path, arguments: Sequence[str | Path], output: str, wait: float
) -> bool:
    """Run a job and kill it a moment after it has written something; False if it was faster."""
    nothing_new = {b"", notes(directory, output)}
    process = start(directory, arguments)
    while process.poll() is None and notes(directory, output) in nothing_new:
        time.sleep(0.001)
    time.sleep(wait)
    process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL


def kill_often(
    directory: Path, lm: Path, rng: np.random.Generator, *, kills: int, records: int, suffix: str = ""
) -> None:
    keys = write_keys(directory / "keys.txt", records)
    succeed(directory, *job(lm, keys, f"whole.json{suffix}"))
    arguments = [*job(lm, keys, f"killed.json{suffix}"), "--resume"]
    killed = 0
    for _ in range(kills):
        killed += kill_soon_after_progress(directory, arguments, f"killed.json{suffix}", rng.uniform(0, 0.03))
    assert killed > 0
    succeed(directory, *arguments)
    killed_bytes = (directory / f"killed.json{suffix}").read_bytes()
    assert killed_bytes == (directory / f"whole.json{suffix}").read_bytes()
    assert names(directory) == sorted(["keys.txt", f"killed.json{suffix}", f"whole.json{suffix}"])
    text = gzip.decompress(killed_bytes) if suffix else killed_bytes
    assert [json.loads(line)["id"] for line in text.splitlines()] == list(range(1, records + 1))


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_killed_job_goes_on(tmp_path: Path, lm: Path, rng: np.random.Generator, suffix: str) -> None:
    kill_often(tmp_path, lm, rng, kills=3, records=20_000, suffix=suffix)


@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")])
def test_a_signal_ends_a_job_with_a_hint(tmp_path: Path, lm: Path, number: signal.Signals, word: str) -> None:
    keys = write_keys(tmp_path / "keys.txt", 200_000)
    (tmp_path / "out.json").write_bytes(b"older\n")
    process = start(tmp_path, job(lm, keys, "out.json"))
    while not notes(tmp_path, "out.json"):
        time.sleep(0.01)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    message = stderr.decode()
    assert message.startswith(f"hiddenite: {word}; ")
    assert message.endswith(" records are kept in out.json.parts; continue with --resume\n")
    assert message.count("\n") == 1
    assert (tmp_path / "out.json").read_bytes() == b"older\n"


def test_a_full_disk_leaves_the_previous_output(tmp_path: Path, lm: Path) -> None:
    keys = write_keys(tmp_path / "keys.txt", 5000)
    (tmp_path / "out.json").write_bytes(b"older\n")
    arguments = job(lm, keys, "out.json")
    done = subprocess.run(
        [HIDDENITE, *map(str, arguments)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)),
    )
    assert done.returncode == 1
    message = done.stderr.decode()
    assert message.startswith("hiddenite: error: out.json: cannot be written: File too large; ")
    assert message.endswith("continue with --resume\n")
    assert message.count("\n") == 1
    assert (tmp_path / "out.json").read_bytes() == b"older\n"
    succeed(tmp_path, *arguments, "--resume")
    succeed(tmp_path, *job(lm, keys, "again.json"))
    assert (tmp_path / "out.json").read_bytes() == (tmp_path / "again.json").read_bytes()


def leave_partial(directory: Path, lm: Path, arguments: Sequence[str | Path], output: str) -> None:
    assert kill_soon_after_progress(directory, arguments, output, 0.0)
    assert f"{output}.parts" in names(directory)


def test_resume_needs_the_same_job(tmp_path: Path, lm: Path) -> None:
    keys = write_keys(tmp_path / "keys.txt", 200_000)
    arguments = job(lm, keys, "out.json")
    leave_partial(tmp_path, lm, arguments, "out.json")
    other = run(tmp_path, *arguments, "--resume", "--keep", "1")
    assert other.status == 1
    assert "this job began with keep" in other.stderr
    keys.write_text("2\n" + keys.read_text())
    other = run(tmp_path, *arguments, "--resume")
    assert other.status == 1
    assert "has changed since this job began" in other.stderr
    assert run(tmp_path, *arguments[:-4], "--resume").status == 2  # standard output


def test_a_resumed_sample_keeps_its_seed(tmp_path: Path, lm: Path) -> None:
    keys = write_keys(tmp_path / "keys.txt", 50_000)
    arguments: list[str | Path] = ["sample", "--lm", lm, "--channel", "keypad", keys, "--output", "out.txt"]
    leave_partial(tmp_path, lm, arguments, "out.txt")
    done = run(tmp_path, *arguments, "--resume")
    assert done.status == 0
    seed = done.stderr.split("seed ")[1].split()[0]
    run(tmp_path, *arguments[:-1], "again.txt", "--seed", seed)
    assert (tmp_path / "out.txt").read_bytes() == (tmp_path / "again.txt").read_bytes()


SLOTS = [b'{"slots": [[["the", 0]]]}', b"bad", b'{"slots": [[["a", 0]]]}', b"worse", b'{"slots": []}']


@pytest.mark.parametrize(
    ("policy", "stdout", "summary"),
    [
        ("record", b"the\n\na\n\n\n", "2 of the records could not be answered"),
        ("skip", b"the\na\n\n", "2 of the records were skipped"),
        ("stop", b"the\n", "error: <stdin>:2: "),
    ],
)
def test_on_error(tmp_path: Path, lm: Path, policy: str, stdout: bytes, summary: str) -> None:
    arguments = ("decode", "--lm", lm, "--channel", "slots", "--on-error", policy)
    done = run(tmp_path, *arguments, stdin=b"\n".join(SLOTS) + b"\n")
    assert done.status == 1
    assert done.stdout == stdout
    assert summary in done.stderr.splitlines()[-1]
    assert run(tmp_path, *arguments[:-1], "ignore").status == 2


def test_scores_of_what_is_no_sentence(tmp_path: Path, lm: Path) -> None:
    text = b"the dog\n</s>\nthe\xff cat\na cat\n"
    done = run(tmp_path, "lm", "score", "--lm", lm, "--on-error", "record", stdin=text)
    assert done.status == 1
    rows = [json.loads(line) for line in done.lines()]
    assert ["error" in row for row in rows] == [False, True, True, False]
    done = run(tmp_path, "lm", "score", "--lm", lm, "--on-error", "skip", stdin=text)
    assert [json.loads(line) for line in done.lines()] == [rows[0], rows[3]]


def test_compiled_models_on_the_command_line(tmp_path: Path) -> None:
    train(SENTENCES, 3).save(tmp_path / "lm.arpa.gz")
    succeed(tmp_path, "lm", "compile", "lm.arpa.gz", "--output", "lm.hlm")
    text = b"the dog barks .\na zebra\n"
    for arguments in (["lm", "score", "--lm"], ["decode", "--channel", "typo", "--json", "--lm"]):
        one, two = (succeed(tmp_path, *arguments, name, stdin=text) for name in ("lm.arpa.gz", "lm.hlm"))
        assert one.stdout == two.stdout
    assert json.loads(succeed(tmp_path, "lm", "info", "--verify", "--json", "lm.hlm").stdout)["compiled"]
    data = bytearray((tmp_path / "lm.hlm").read_bytes())
    data[-100] ^= 1
    (tmp_path / "lm.hlm").write_bytes(data)
    done = run(tmp_path, "lm", "info", "--verify", "lm.hlm")
    assert done.status == 1
    assert done.stderr.startswith("hiddenite: error: lm.hlm: the checksum of ")
    assert done.stderr.count("\n") == 1


def test_a_folder_holds_the_output_in_parts(tmp_path: Path, lm: Path) -> None:
    keys = write_keys(tmp_path / "keys.txt", 70_000)
    succeed(tmp_path, *job(lm, keys, "whole.json"))
    succeed(tmp_path, *job(lm, keys, "parts/"))
    assert names(tmp_path / "parts") == ["manifest.jsonl", "part-00000", "part-00001"]
    parts = [tmp_path / "parts" / f"part-0000{n}" for n in range(2)]
    whole = (tmp_path / "whole.json").read_bytes()
    assert b"".join(part.read_bytes() for part in parts) == whole
    again = run(tmp_path, *job(lm, keys, "parts"))
    assert again.status == 1
    assert "contains an earlier output; add --resume" in again.stderr
    before = parts[0].stat().st_mtime_ns
    parts[1].unlink()
    succeed(tmp_path, *job(lm, keys, "parts"), "--resume")
    assert b"".join(part.read_bytes() for part in parts) == whole
    assert parts[0].stat().st_mtime_ns == before
    keys.write_text("2\n" + keys.read_text())
    other = run(tmp_path, *job(lm, keys, "parts"), "--resume")
    assert other.status == 1
    assert (
        "has changed since this job began (records 1 to 65,536 differ); start again without --resume\n"
        in other.stderr
    )


def test_an_error_that_ends_a_job_in_parts(tmp_path: Path, lm: Path) -> None:
    keys = tmp_path / "keys.txt"
    keys.write_text("843 364\nnonsense!\n")
    done = run(tmp_path, *job(lm, keys, "parts/"), "--on-error", "stop")
    assert done.status == 1
    assert done.stderr.startswith(f"hiddenite: error: {keys}:2: ")
    assert done.stderr.count("\n") == 1
    assert names(tmp_path) == ["keys.txt"]


# Threads


def cpu_seconds_by_thread(process: subprocess.Popen[bytes]) -> dict[str, float]:
    """The processor time that each thread of a running process has had; the last look before it ends."""
    found: dict[str, float] = {}
    while process.poll() is None:
        for task in Path(f"/proc/{process.pid}/task").glob("*"):
            try:
                fields = (task / "stat").read_text().rpartition(") ")[2].split()
            except OSError:  # gone meanwhile
                continue
            found[task.name] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        time.sleep(0.005)
    return found


@pytest.mark.parametrize("threads", [1, 2])
def test_no_more_threads_work_than_asked_for(tmp_path: Path, lm: Path, threads: int) -> None:
    keys = tmp_path / "keys.txt"
    keys.write_text(
        "843 364 22757 0 843 364 263 843 228 2275 0 2 364 753377 0 843 228 753377 0\n"
        * round(15_000 * machine_speed())
    )
    arguments: list[str | Path] = ["sample", "--lm", lm, "--channel", "keypad", "-n", "20", "--seed", "1"]
    arguments += ["--json", keys, "--output", "out", "--threads", str(threads), "--quiet"]
    process = start(tmp_path, arguments)
    seconds = cpu_seconds_by_thread(process)
    assert process.wait() == 0
    process.communicate()
    # The first block is answered by as many threads alone; the others rest from then on.
    working = [s for s in seconds.values() if s > 0.1 * max(seconds.values())]
    assert len(working) <= threads, seconds
    assert len(seconds) <= 2 * threads - 1, seconds
    assert sum(working) > 1, "too fast to be measured"
