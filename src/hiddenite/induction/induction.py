"""Part-of-speech induction as an iterator: one sweep of all chains a turn.

>>> run = induce(["the dog barks", "a cat sleeps"], tags=3, seed=1)  # doctest: +SKIP
>>> for sweep in run: print(sweep.index, sweep.log_joint)  # doctest: +SKIP
>>> run.tags()[0]  # doctest: +SKIP
('T2', 'T0', 'T1')

A run may begin with a stage of its own: a one-tag model whose tags the lexicon model starts from, or, of
consensus, more tags than wanted, which are then merged. Chains are independent, each draws from a stream of
its own, and they meet only when they are asked for an answer, so neither the number of threads nor an
interruption changes a bit of the result.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import InductionChain, SweepRecord, cancel_calls
from hiddenite.errors import FormatError, ModelError
from hiddenite.executor import Executor
from hiddenite.files.corpus import Sentence
from hiddenite.files.output import check_writable
from hiddenite.induction.chains import (
    NUMBERS,
    ChainStep,
    ChainSweep,
    is_kept,
    make_chain,
    merged_tags,
    note_sweep,
)
from hiddenite.induction.options import InduceOptions, Stage
from hiddenite.induction.state import InductionState, Sweep, Sweeps
from hiddenite.induction.text import Text

CHECKPOINT_FILE = "run.induction"  # in the checkpoint's folder
CHECKPOINT_SECONDS = 60.0  # between two writings of the checkpoint
_NO_RUN_HINT = "expected a folder that `hiddenite induce run --checkpoint` wrote"
QUICK_SECONDS = 0.2  # that writing it may take when somebody waits for the end
STEPS = 10  # in which an executor does a stage


def induce(
    corpus: Iterable[Sentence],
    tags: int,
    *,
    start: str | Mapping[str, int] = "",
    threads: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Induction:
    """Return an induction of ``tags`` tags, to be iterated over.

    ``corpus`` are sentences: strings, split at white space, or sequences of words. ``options`` are the fields
    of :class:`InduceOptions`. ``start`` may be a mapping from words to clusters, numbered below ``tags``.
    ``checkpoint`` is a folder to keep the run in, and to continue from if it has one.
    """
    clusters = None if isinstance(start, str) else start
    chosen = InduceOptions(tags=tags, start=start if isinstance(start, str) else "clusters", **options)
    return Induction(Text.of(corpus), chosen, threads=threads, clusters=clusters, checkpoint=checkpoint)


class Induction(InductionState):
    """Chains over a text; iterate to run them."""

    def __init__(
        self,
        text: Text,
        options: InduceOptions,
        *,
        threads: int = 0,
        clusters: Mapping[str, int] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        executor: Executor | None = None,
    ) -> None:
        """Set up the chains; continue from the checkpoint if the folder has one.

        An ``executor`` sweeps the chains elsewhere, with the same result (:mod:`hiddenite.induction.chains`).
        """
        if (clusters is None) == (options.start == "clusters"):
            raise ModelError("the start is clusters, expected a mapping from words to clusters with it")
        self._set_up(text, options, threads, checkpoint, executor)
        if not self._resume():
            with _pool(self._threads) as pool:
                numbers = range(options.num_chains)
                first = list(pool.map(lambda chain: self._first_tags(chain, clusters), numbers))
            self._chains = self._make(self.stage, first)

    def _set_up(
        self,
        text: Text,
        options: InduceOptions,
        threads: int,
        checkpoint: str | os.PathLike[str] | None = None,
        executor: Executor | None = None,
    ) -> None:
        super().__init__(text, options)
        self._threads = threads or os.cpu_count() or 1
        self._executor = executor
        self._checkpoint = None if checkpoint is None else Path(checkpoint)
        self._writing_seconds = 0.0  # the last time
        self._saved_at, self._num_saved = time.monotonic(), 0

    @classmethod
    def without_chains(cls, text: Text, options: InduceOptions, threads: int) -> Induction:
        """Return a run whose chains are still to be put there: they need no first tags."""
        run = cls.__new__(cls)
        run._set_up(text, options, threads)
        return run

    def _first_tags(self, chain: int, clusters: Mapping[str, int] | None) -> NDArray[np.int32]:
        """Draw or look up the tags that a chain starts from."""
        options, text = self.options, self._learnt
        random = np.random.default_rng([options.seed, chain])
        tags = options.num_tags(self.stage)
        if options.start == "random" and options.family != "one-tag":
            return random.integers(tags, size=len(text.tokens), dtype=np.int32)
        if options.start == "exchange":
            return text.exchange_classes(tags)[text.tokens]
        if options.start == "mixed" and chain % 2 == 1:
            return text.exchange_classes(tags, random)[text.tokens]
        of_word = random.integers(tags, size=len(text.words), dtype=np.int32)
        for word, cluster in _given_clusters(self.text, text, clusters or {}, options.tags):
            of_word[word] = cluster
        return of_word[text.tokens]

    def _make(self, stage: Stage, first: Sequence[NDArray[np.int32]]) -> list[InductionChain]:
        """Return the chains of a stage."""
        return [make_chain(self._learnt, self.options, stage, tags, n) for n, tags in enumerate(first)]

    # -------------------------------------------------------------------- run

    def _num_left(self) -> int:
        return self.num_sweeps("start") + self.num_sweeps("main") - len(self.history)

    @property
    def is_finished(self) -> bool:
        """Whether all sweeps are done."""
        return self._num_left() == 0

    def __iter__(self) -> Generator[Sweep]:
        """Sweep to the end. Whoever stops before, by an interrupt or by leaving the loop, keeps what is done.

        Sweeps run and are recorded in a thread of their own, where no interrupt can come between the two. An
        interrupt ends the sweep that is under way as if it had not begun. Then the checkpoint is brought up
        to date, unless that takes long: it is never much older than a minute.
        """
        sweep: concurrent.futures.Future[None] | None = None
        workers = min(self._threads, self.num_chains)
        with _pool(workers) as pool, _pool(1) as conductor:
            try:
                while self._num_left() > 0:
                    sweep = conductor.submit(self._sweep, pool)
                    sweep.result()
                    is_due = self._num_saved == 0 or time.monotonic() - self._saved_at > CHECKPOINT_SECONDS
                    if is_due or self._num_left() == 0 or self._executor is not None:
                        self._write_checkpoint()
                    yield self.last_sweep()
            except BaseException:
                if sweep is not None and not sweep.done():  # an interrupt
                    cancel_calls()
                raise
            finally:
                failed = None if sweep is None else sweep.exception()  # waits for it
                if not isinstance(failed, Exception) and self._writing_seconds < QUICK_SECONDS:
                    self._write_checkpoint()

    def run(self) -> Induction:
        """Do all sweeps that are left."""
        with contextlib.closing(iter(self)) as sweeps:
            for _ in sweeps:
                pass
        return self

    def _sweep(self, pool: concurrent.futures.Executor) -> None:
        """Sweep all chains and take note of it."""
        if self.stage == "start" and self.num_done("start") >= self.num_sweeps("start"):
            first = [merged_tags(self._learnt, self.options, chain.tags()) for chain in self._chains]
            self._chains, self.stage = self._make("main", first), "main"
        begun = time.perf_counter()
        if self._executor is not None:
            self._sweep_elsewhere(self._executor, begun)
            return
        keep = is_kept(self.options, self.stage, self.num_done(self.stage) + 1)
        records = self._swept_together(pool)
        noted = [
            pool.submit(note_sweep, chain, record, tally if keep else None, self._word_counts)
            for chain, record, tally in zip(self._chains, records, self._class_tallies, strict=True)
        ]
        self._record([future.result() for future in noted], time.perf_counter() - begun)

    def _swept_together(self, pool: concurrent.futures.Executor) -> list[SweepRecord]:
        """Sweep all chains; if one is interrupted, none has been swept."""
        swept = [pool.submit(chain.sweep) for chain in self._chains]
        concurrent.futures.wait(swept)
        if any(future.exception() is not None for future in swept):
            for chain in self._chains:
                chain.undo_sweep()
        return [future.result() for future in swept]

    def _sweep_elsewhere(self, executor: Executor, begun: float) -> None:
        """Let an executor do some sweeps of all chains; their states come back with the answer."""
        first = self.num_done(self.stage)
        left = self.num_sweeps(self.stage) - first
        count = min(left, max(1, self.num_sweeps(self.stage) // STEPS))
        tasks = [(number, chain.state()) for number, chain in enumerate(self._chains)]
        answers = executor.step(ChainStep(self.stage, first, count), tasks)
        for chain, tally, answer in zip(self._chains, self._class_tallies, answers, strict=True):
            chain.restore(answer.state)
            tally.merge(answer.tally)
        seconds = (time.perf_counter() - begun) / count
        for n in range(count):
            self._record([answer.swept[n] for answer in answers], seconds)

    def _record(self, swept: Sequence[ChainSweep], seconds: float) -> None:
        """Take note of a sweep of all chains."""
        columns = {name: np.array([chain.numbers[name] for chain in swept]) for name in NUMBERS}
        parameters = [chain.parameters for chain in swept]
        self.history.append(Sweeps(self.stage, seconds=seconds, parameters=parameters, **columns))
        if is_kept(self.options, self.stage, self.num_done(self.stage)):
            self._kept_totals += columns["log_joint"]

    # ------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole run; :meth:`load` gives it back, to ask or to continue."""
        from hiddenite.induction.archive import write_run  # noqa: PLC0415  (it reads what is defined here)

        write_run(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, threads: int = 0) -> Induction:
        """Read a run from its file or from a checkpoint's folder; raises FormatError for anything else."""
        from hiddenite.induction.archive import read_run  # noqa: PLC0415

        file = Path(path, CHECKPOINT_FILE) if Path(path).is_dir() else Path(path)
        if not file.exists():
            found = "has no run in it" if Path(path).is_dir() else "does not exist"
            raise FormatError(os.fspath(path), None, f"{found}; {_NO_RUN_HINT}")
        return read_run(file, threads)

    @property
    def _checkpoint_file(self) -> Path:
        assert self._checkpoint is not None
        return self._checkpoint / CHECKPOINT_FILE

    def _write_checkpoint(self) -> None:
        """Bring the checkpoint up to date, if there is to be one."""
        if self._checkpoint is None or self._num_saved == len(self.history):
            return
        self._prepare_checkpoint(self._checkpoint)  # somebody may have removed it meanwhile
        begun = time.monotonic()
        self.save(self._checkpoint_file)
        self._saved_at, self._num_saved = time.monotonic(), len(self.history)
        self._writing_seconds = self._saved_at - begun

    def _resume(self) -> bool:
        from hiddenite.induction.archive import resume_run  # noqa: PLC0415

        if self._checkpoint is None:
            return False
        if self._checkpoint.is_file():
            raise FormatError(str(self._checkpoint), None, "is a file, expected a folder to keep the run in")
        resumes = self._checkpoint_file.exists()
        if resumes:
            is_same = resume_run(self, self._checkpoint_file)
            self._num_saved = len(self.history) if is_same else 0  # written anew
        if not self.is_finished:
            self._prepare_checkpoint(self._checkpoint)
        return resumes

    def _prepare_checkpoint(self, folder: Path) -> None:
        """Find out before the first sweep, not after it, that the run cannot be kept."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FormatError(str(folder), None, f"cannot be made: {error.strerror}") from None
        check_writable(self._checkpoint_file)


def _pool(workers: int) -> concurrent.futures.ThreadPoolExecutor:
    return concurrent.futures.ThreadPoolExecutor(workers)


def _given_clusters(
    text: Text, learnt: Text, clusters: Mapping[str, int], num_tags: int
) -> Iterator[tuple[int, int]]:
    """Give the numbers of learnt words with their clusters, or with those of words that became them."""
    _, first = np.unique(text.tokens, return_index=True)
    became = learnt.tokens[first].tolist()
    for is_own in (False, True):  # own ones last, and so they count
        for word, number in zip(text.words, became, strict=True):
            if (cluster := clusters.get(word)) is None or (word == learnt.words[number]) != is_own:
                continue
            if not 0 <= cluster < num_tags:
                raise ModelError(
                    f"the cluster of '{word}' is {cluster}, expected 0 to {num_tags - 1}: as many as tags"
                )
            yield number, cluster
