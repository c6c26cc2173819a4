"""Ctrl-C ends the work of the aligner at once, wherever it is: a signal arrives while the core works."""

import contextlib
import signal
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from hiddenite import Aligner, AlignerOptions, ModelError
from hiddenite._core import AlignTask, FertilityHmm
from hiddenite.align import Bitext, Training
from tests.alignment_oracle import make_task

DELAY = 0.3  # seconds until the signal
LATEST = 0.2  # from the signal to the exception, on an idle machine; measured in CPU time


class Rung(Exception):
    """What the signal raises."""


@contextlib.contextmanager
def alarm_after(seconds: float) -> Iterator[list[float]]:
    """Raise Rung after some CPU time; tells how much there was since."""
    rung: list[float] = []

    def ring(*_: object) -> None:
        rung.append(time.process_time())
        raise Rung

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield rung
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def assert_stops(work: Callable[[], object]) -> None:
    with alarm_after(DELAY) as rung:
        begun = time.process_time()
        with pytest.raises(Rung):
            work()
        ended = time.process_time()
    assert rung[0] - begun < DELAY + LATEST
    assert ended - rung[0] < LATEST


@pytest.fixture(scope="module")
def hard() -> FertilityHmm:
    """90 words whose alignments are all about as good."""
    rng = np.random.default_rng(1)
    width, targets = 91, 90
    return FertilityHmm(
        -rng.random((targets, width)),
        -rng.random((width, width)),
        np.zeros(width),
        -3 * rng.random((width, 6)),
    )


def without_limit(task: AlignTask) -> AlignTask:
    task.labels = 2**40
    return task


@pytest.mark.parametrize(
    "task", [make_task(), make_task(k=50), make_task(k=0, samples=10**6)], ids=["best", "ranked", "drawn"]
)
def test_searches_stop(hard: FertilityHmm, task: AlignTask) -> None:
    # Draws give up early and Gibbs sampling ends by itself: again and again, until the signal comes.
    assert_stops(lambda: [hard.align(without_limit(task)) for _ in range(100)])


def bitext() -> Bitext:
    rng = np.random.default_rng(1)
    lines = [" ".join(f"w{w}" for w in rng.integers(0, 2000, 40)) for _ in range(4000)]
    return Bitext.of(lines, lines[::-1])


def test_training_stops_and_is_not_gone_on_with() -> None:
    for _ in range(10):  # until a signal comes within a sweep, not between two
        training = Training(bitext(), AlignerOptions(chains=1), seed=1, threads=1)
        assert_stops(training.run)
        try:
            assert_stops(training.run)
        except ModelError as error:
            assert "stopped within a sweep" in str(error)  # noqa: PT017
            return
    raise AssertionError("no signal came within a sweep")


def test_the_plain_hmm_stops() -> None:
    text = bitext()
    pairs = list(zip(text.source.decode().splitlines(), text.target.decode().splitlines(), strict=True))
    assert_stops(lambda: Aligner.train_hmm(pairs, threads=1))
