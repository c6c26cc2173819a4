"""Control-C at any moment: the command ends at once, in one line, and can be run again or continued.

``make slow`` tries twenty moments for each command, as ``benchmarks/usage.py`` does; here is one, within the
first second; what is run to its end has a smaller text.
"""

import functools
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.command import names, succeed
from tests.interrupts import (
    AGAIN,
    CONTINUED,
    FIRST,
    LAST,
    MOST_CPU_SECONDS,
    ONCE,
    SHORT_PART,
    interrupt,
    make_inputs,
)
from tests.shared import made_once

MANY_MOMENTS = 20
SOON = 1.2  # seconds of processor time


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    make = functools.partial(make_inputs, part=SHORT_PART)
    return made_once(tmp_path_factory, worker_id, "inputs", make)


@pytest.fixture(scope="module")
def long_inputs(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    return made_once(tmp_path_factory, worker_id, "long-inputs", make_inputs)


def place(tmp_path: Path, inputs: Path) -> list[str]:
    """Make a folder with all inputs; what is written there can be told from them."""
    for path in inputs.iterdir():
        os.link(path, tmp_path / path.name)
    return names(tmp_path)


def check_once(tmp_path: Path, inputs: Path, command: str, moments: random.Random, count: int = 1) -> None:
    before = place(tmp_path, inputs)
    late, longest = [], SOON if count == 1 else LAST
    for _ in range(count):
        moment = moments.uniform(FIRST, longest)
        while (found := interrupt(tmp_path, ONCE[command], moment)) is None:
            (tmp_path / "out").unlink()
            longest = moment = 0.8 * moment
            assert moment > FIRST, f"{command} is done before it can be interrupted"
        assert AGAIN in found.message
        assert names(tmp_path) == before
        late += [(moment, found)] if found.cpu_seconds > MOST_CPU_SECONDS else []
    assert not late


def check_continued(
    tmp_path: Path, inputs: Path, command: str, moments: random.Random, count: int = 1
) -> None:
    """Interrupted and continued again and again, the output is that of a run that nobody interrupted."""
    line, resume = CONTINUED[command]
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    for folder in (whole, parted):
        folder.mkdir()
        place(folder, inputs)
    succeed(whole, *line.split())
    late, longest = [], SOON if count == 1 else LAST
    for number in range(count):
        moment = moments.uniform(FIRST, longest)
        again = f"{line} {resume if number else ''}"
        while (found := interrupt(parted, again, moment)) is None and number == 0:
            (parted / "out").unlink()
            forget(parted / "state")  # it says that all is done
            longest = moment = 0.8 * moment
            assert moment > FIRST, f"{command} is done before it can be interrupted"
        if found is None:
            break
        late += [(moment, found)] if found.cpu_seconds > MOST_CPU_SECONDS else []
    else:
        succeed(parted, *f"{line} {resume}".split())
    assert not late
    assert (parted / "out").read_bytes() == (whole / "out").read_bytes()


def forget(checkpoint: Path) -> None:
    """Remove a checkpoint, which is a file or a folder."""
    if checkpoint.is_dir():
        shutil.rmtree(checkpoint)
    checkpoint.unlink(missing_ok=True)


def seeded(rng: np.random.Generator) -> random.Random:
    return random.Random(int(rng.integers(2**32)))


@pytest.mark.parametrize("command", ONCE)
def test_an_interrupt_ends_a_command_at_once(
    tmp_path: Path, inputs: Path, command: str, rng: np.random.Generator
) -> None:
    check_once(tmp_path, inputs, command, seeded(rng))


@pytest.mark.parametrize("command", CONTINUED)
def test_an_interrupted_command_continues_with_the_same_bytes(
    tmp_path: Path, inputs: Path, command: str, rng: np.random.Generator
) -> None:
    check_continued(tmp_path, inputs, command, seeded(rng))


@pytest.mark.slow
@pytest.mark.parametrize("command", ONCE)
def test_twenty_interrupts(tmp_path: Path, long_inputs: Path, command: str, rng: np.random.Generator) -> None:
    check_once(tmp_path, long_inputs, command, seeded(rng), MANY_MOMENTS)


@pytest.mark.slow
@pytest.mark.parametrize("command", CONTINUED)
def test_twenty_interrupts_and_the_same_bytes(
    tmp_path: Path, long_inputs: Path, command: str, rng: np.random.Generator
) -> None:
    check_continued(tmp_path, long_inputs, command, seeded(rng), MANY_MOMENTS)


DROPPED = """
import os, signal, time
from hiddenite.cli.interrupts import Interrupted, watch_signals
class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
watch_signals()
try:
    Finalized()
    time.sleep(60)
except Interrupted:
    print("answered")
"""


def test_an_interrupt_within_a_finalizer_is_not_lost() -> None:
    """Exceptions of finalizers and of the collector's callbacks go nowhere; the signal is tried again."""
    command = [sys.executable, "-c", DROPPED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    assert (done.stdout, done.stderr) == ("answered\n", "")
