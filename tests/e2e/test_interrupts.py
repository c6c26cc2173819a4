"""Control-C at any moment: the command ends at once, in one line, and can be run again or continued.

``make slow`` tries twenty moments for each command, as ``benchmarks/usage.py`` does; here are a few.
"""

import os
import random
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
    interrupt,
    make_inputs,
)

MOMENTS = 2  # for each command
MANY_MOMENTS = 20


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    make_inputs(folder)
    return folder


def place(tmp_path: Path, inputs: Path) -> list[str]:
    """Make a folder with all inputs; what is written there can be told from them."""
    for path in inputs.iterdir():
        os.link(path, tmp_path / path.name)
    return names(tmp_path)


def check_once(tmp_path: Path, inputs: Path, command: str, moments: random.Random, count: int) -> None:
    before = place(tmp_path, inputs)
    late, longest = [], LAST
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


def check_continued(tmp_path: Path, inputs: Path, command: str, moments: random.Random, count: int) -> None:
    """Interrupted and continued again and again, the output is that of a run that nobody interrupted."""
    line, resume = CONTINUED[command]
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    for folder in (whole, parted):
        folder.mkdir()
        place(folder, inputs)
    succeed(whole, *line.split())
    late, longest = [], LAST
    for number in range(count):
        moment = moments.uniform(FIRST, longest)
        again = f"{line} {resume if number else ''}"
        while (found := interrupt(parted, again, moment)) is None and number == 0:
            (parted / "out").unlink()
            longest = moment = 0.8 * moment
            assert moment > FIRST, f"{command} is done before it can be interrupted"
        if found is None:
            break
        late += [(moment, found)] if found.cpu_seconds > MOST_CPU_SECONDS else []
    else:
        succeed(parted, *f"{line} {resume}".split())
    assert not late
    assert (parted / "out").read_bytes() == (whole / "out").read_bytes()


def seeded(rng: np.random.Generator) -> random.Random:
    return random.Random(int(rng.integers(2**32)))


@pytest.mark.parametrize("command", ONCE)
def test_an_interrupt_ends_a_command_at_once(
    tmp_path: Path, inputs: Path, command: str, rng: np.random.Generator
) -> None:
    check_once(tmp_path, inputs, command, seeded(rng), MOMENTS)


@pytest.mark.parametrize("command", CONTINUED)
def test_an_interrupted_command_continues_with_the_same_bytes(
    tmp_path: Path, inputs: Path, command: str, rng: np.random.Generator
) -> None:
    check_continued(tmp_path, inputs, command, seeded(rng), MOMENTS)


@pytest.mark.slow
@pytest.mark.parametrize("command", ONCE)
def test_twenty_interrupts(tmp_path: Path, inputs: Path, command: str, rng: np.random.Generator) -> None:
    check_once(tmp_path, inputs, command, seeded(rng), MANY_MOMENTS)


@pytest.mark.slow
@pytest.mark.parametrize("command", CONTINUED)
def test_twenty_interrupts_and_the_same_bytes(
    tmp_path: Path, inputs: Path, command: str, rng: np.random.Generator
) -> None:
    check_continued(tmp_path, inputs, command, seeded(rng), MANY_MOMENTS)


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
