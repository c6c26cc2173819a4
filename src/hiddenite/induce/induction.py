"""Part-of-speech induction as an iterator: one sweep of all chains a turn.

>>> run = induce(["the dog barks", "a cat sleeps"], tags=3, model="one-tag+lm", seed=1)  # doctest: +SKIP
>>> for sweep in run: print(sweep.index, sweep.log_joint)  # doctest: +SKIP
>>> run.tags()[0]  # doctest: +SKIP
('T2', 'T0', 'T1')

A run may begin with a stage of its own, a one-tag model whose tags the lexicon model starts from. Chains are
independent, each draws from a stream of its own, and they meet only to be compared, so neither the number of
threads nor an interruption changes a bit of the result.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import itertools
import os
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import InductionChain
from hiddenite.corpus import Sentence
from hiddenite.crew import Crew
from hiddenite.errors import FormatError, ModelError
from hiddenite.induce.chains import (
    NUMBERS,
    ChainStep,
    ChainSweep,
    Parameters,
    Stage,
    is_kept,
    make_chain,
    sweep_chain,
)
from hiddenite.induce.diagnostics import Diagnostics, effective_sample_size, r_hat
from hiddenite.induce.export import ChainCounts, chain_counts, make_tagger
from hiddenite.induce.lexicon import AmbiguityClass, ClassTally
from hiddenite.induce.options import InduceOptions
from hiddenite.induce.text import Text
from hiddenite.tag.tagger import Tagger

CHECKPOINT_FILE = "run.induction"  # in the checkpoint's folder
CHECKPOINT_SECONDS = 60.0  # between two writings of the checkpoint
STEPS = 10  # in which a crew does a stage


@dataclass(frozen=True, slots=True)
class Sweep:
    """One sweep of all chains, done; numbers without a chain are those of the best."""

    index: int  # from 1, in its stage
    total: int  # of its stage
    stage: Stage  # start: the one-tag run before; its log joint is that of another model
    log_joint: float  # ln p(words, tags, tables, classes | parameters)
    moved: float  # share of the tokens whose tag changed
    parameters: Parameters  # (a, b) by level
    log_joints: tuple[float, ...]  # by chain
    accepted: float  # share of proposals
    effective_size: float  # particles: mean effective sample size of a block
    seconds: float


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
    ``checkpoint`` is a folder to keep the run in, and to go on from if it holds one.
    """
    clusters = None if isinstance(start, str) else start
    chosen = InduceOptions(tags=tags, start=start if isinstance(start, str) else "clusters", **options)
    return Induction(Text.of(corpus), chosen, threads=threads, clusters=clusters, checkpoint=checkpoint)


class Induction:
    """Chains over a text; iterate to run them."""

    def __init__(
        self,
        text: Text,
        options: InduceOptions,
        *,
        threads: int = 0,
        clusters: Mapping[str, int] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        crew: Crew | None = None,
    ) -> None:
        """Set up the chains; go on from the checkpoint if the folder holds one.

        A ``crew`` sweeps the chains somewhere else, with the same result: :mod:`hiddenite.induce.chains`.
        """
        if (clusters is None) == (options.start == "clusters"):
            raise ModelError("the start is clusters, expected a mapping from words to clusters with it")
        self.text = text
        self.options = options
        self.names = tuple(f"T{i}" for i in range(options.tags))
        self.history: list[Sweeps] = []
        self.stage: Stage = "start" if options.start_iterations and options.start == "one-tag" else "main"
        self._threads = threads or os.cpu_count() or 1
        self._crew = crew
        self._word_counts = text.counts()
        self._kept_totals = np.zeros(options.chains)  # of the log joint
        self._class_tallies = [ClassTally() for _ in range(options.chains)]
        self._checkpoint = None if checkpoint is None else Path(checkpoint)
        self._saved_at, self._num_saved = time.monotonic(), 0
        if not self._resume():
            first = [self._first_tags(chain, clusters) for chain in range(options.chains)]
            self._chains = self._make(first)

    def _first_tags(self, chain: int, clusters: Mapping[str, int] | None) -> NDArray[np.int32]:
        """Draw or look up the tags that a chain starts from."""
        options, text = self.options, self.text
        random = np.random.default_rng([options.seed, chain])
        if options.start == "random" and options.family != "one-tag":
            return random.integers(options.tags, size=len(text.tokens), dtype=np.int32)
        if options.start == "exchange":
            return text.exchange_classes(options.tags)[text.tokens]
        of_word = random.integers(options.tags, size=len(text.words), dtype=np.int32)
        for i, word in enumerate(text.words if clusters else ()):
            cluster = clusters.get(word, of_word[i]) if clusters else 0
            if not 0 <= cluster < options.tags:
                raise ModelError(
                    f"the cluster of '{word}' is {cluster}, expected 0 to {options.tags - 1}: as many as tags"
                )
            of_word[i] = cluster
        return of_word[text.tokens]

    def _make(self, first: Sequence[NDArray[np.int32]]) -> list[InductionChain]:
        """Return the chains of the present stage."""
        return [make_chain(self.text, self.options, self.stage, tags, n) for n, tags in enumerate(first)]

    # -------------------------------------------------------------------- run

    @property
    def num_chains(self) -> int:
        """Independent chains."""
        return self.options.chains

    def num_sweeps(self, stage: Stage) -> int:
        """Sweeps that a stage has."""
        if stage == "start":
            return self.options.start_iterations or 0 if self.options.start == "one-tag" else 0
        return self.options.iterations

    def num_done(self, stage: Stage) -> int:
        """Sweeps of a stage that are done."""
        num_start = min(self.num_sweeps("start"), len(self.history))
        return num_start if stage == "start" else len(self.history) - num_start

    def _num_left(self) -> int:
        return self.num_sweeps("start") + self.options.iterations - len(self.history)

    @property
    def is_finished(self) -> bool:
        """Whether all sweeps are done."""
        return self._num_left() == 0

    def __iter__(self) -> Generator[Sweep]:
        """Sweep to the end. Whoever stops before, by an interrupt or by leaving the loop, keeps what is done.

        Sweeps run and are recorded in a thread of their own, where no interrupt can come between the two.
        """
        sweep: concurrent.futures.Future[None] | None = None
        workers = min(self._threads, self.num_chains)
        with _pool(workers) as pool, _pool(1) as conductor:
            try:
                while self._num_left() > 0:
                    sweep = conductor.submit(self._sweep, pool)
                    sweep.result()
                    is_due = time.monotonic() - self._saved_at > CHECKPOINT_SECONDS
                    if is_due or self._num_left() == 0 or self._crew is not None:
                        self._write_checkpoint()
                    yield self.last_sweep()
            finally:
                if sweep is not None and sweep.exception() is None:  # waits for it
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
            first = [chain.tags() for chain in self._chains]
            self.stage = "main"
            self._chains = self._make(first)
        begun = time.perf_counter()
        if self._crew is not None:
            self._sweep_elsewhere(self._crew, begun)
            return
        keep = is_kept(self.options, self.stage, self.num_done(self.stage) + 1)
        swept = [
            pool.submit(sweep_chain, chain, tally if keep else None, self._word_counts)
            for chain, tally in zip(self._chains, self._class_tallies, strict=True)
        ]
        self._record([future.result() for future in swept], time.perf_counter() - begun)

    def _sweep_elsewhere(self, crew: Crew, begun: float) -> None:
        """Let a crew do some sweeps of all chains; their states come back, so nobody is needed to go on."""
        first = self.num_done(self.stage)
        left = self.num_sweeps(self.stage) - first
        count = min(left, max(1, self.num_sweeps(self.stage) // STEPS))
        tasks = [(number, chain.state()) for number, chain in enumerate(self._chains)]
        answers = crew.step(ChainStep(self.stage, first, count), tasks)
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

    def last_sweep(self) -> Sweep:
        """Return the last sweep as a record."""
        if not self.history:
            raise ModelError("no sweep is done; iterate over the induction")
        last, best = self.history[-1], self.best_chain
        return Sweep(
            self.num_done(last.stage),
            self.num_sweeps(last.stage),
            last.stage,
            float(last.log_joint[best]),
            float(last.moved[best]),
            last.parameters[best],
            tuple(last.log_joint.tolist()),
            float(last.accepted[best]),
            float(last.effective_size[best]),
            last.seconds,
        )

    # ----------------------------------------------------------------- results

    def log_joints(self, stage: Stage = "main") -> NDArray[np.float64]:
        """Return [chain, sweep]: the log joint after each sweep of a stage."""
        rows = [sweeps.log_joint for sweeps in self.history if sweeps.stage == stage]
        return np.array(rows).reshape(-1, self.num_chains).T

    def _kept(self) -> NDArray[np.float64]:
        """Return the log joints of the kept sweeps; of the later half if none is kept yet."""
        stage = self.history[-1].stage if self.history else self.stage
        values = self.log_joints(stage)
        assert self.options.burn_in is not None
        kept = values[:, self.options.burn_in :] if stage == "main" else values[:, :0]
        return kept if kept.shape[1] else values[:, values.shape[1] // 2 :]

    @property
    def best_chain(self) -> int:
        """The chain of the highest mean log joint over the kept sweeps; in the last one if none is kept."""
        if self._class_tallies[0].samples > 0:
            return int(np.argmax(self._kept_totals))
        return int(np.argmax(self.history[-1].log_joint)) if self.history else 0

    def diagnostics(self) -> Diagnostics:
        """Return R-hat and effective sample size of the log joint over the kept sweeps."""
        kept = self._kept()
        means = tuple(kept.mean(axis=1).tolist()) if kept.shape[1] else ()
        return Diagnostics(
            self.num_chains,
            kept.shape[1],
            r_hat(kept),
            effective_sample_size(kept),
            self.best_chain,
            means,
        )

    def token_tags(self) -> NDArray[np.int32]:
        """Return each token's most frequent tag among the best chain's kept samples; now, if none is kept."""
        chain = self._chains[self.best_chain]
        kept = self.stage == "main" and self._class_tallies[self.best_chain].samples > 0
        return np.asarray(chain.max_marginal()[0] if kept else chain.tags())

    def tags(self) -> list[tuple[str, ...]]:
        """Return the tags sentence by sentence: the maximum of each token's marginal."""
        return self.text.split([self.names[t] for t in self.token_tags().tolist()])

    def tagged(self) -> list[list[tuple[str, str]]]:
        """Return the sentences with their tags."""
        pairs = zip(self.text.sentences(), self.tags(), strict=True)
        return [list(zip(words, tags, strict=True)) for words, tags in pairs]

    def lexicon(self) -> list[AmbiguityClass]:
        """Return the ambiguity classes, those of most words first.

        Of a model without lexicon they are the tags in use. Posterior means are over the best chain's kept
        samples, or of the present state if none is kept.
        """
        chain, tally = self._chains[self.best_chain], self._class_tallies[self.best_chain]
        if tally.samples == 0 or self.stage == "start":
            tally = ClassTally()
            tally.add(*chain.classes(), self._word_counts)
        return tally.lexicon(chain.classes(), self._word_counts, self.text.words, self.names)

    def classes_of_words(self) -> dict[str, tuple[str, ...]]:
        """Return each word's ambiguity class in the best chain's present state."""
        begin, tag = (x.tolist() for x in self._chains[self.best_chain].classes())
        bounds = itertools.pairwise(begin)
        return {
            word: tuple(self.names[t] for t in tag[a:b])
            for word, (a, b) in zip(self.text.words, bounds, strict=True)
        }

    def parameters(self) -> Parameters:
        """Return the best chain's (a, b) by level."""
        return dict(self._chains[self.best_chain].hyperparameters())

    def counts(self) -> ChainCounts:
        """Return what the best chain's present state counts."""
        return chain_counts(self._chains[self.best_chain], self.options)

    def export(self) -> Tagger:
        """Return a tagger with the predictive probabilities of the best chain's present state."""
        if self.stage != "main":
            raise ModelError("the run is still in the stage before the model; iterate on")
        return make_tagger(self.counts(), self.names, self.text.words, self.text.characters())

    # ------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole run; :meth:`load` gives it back, to be asked or gone on with."""
        from hiddenite.induce.archive import write_run  # noqa: PLC0415  (it reads what is defined here)

        write_run(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, threads: int = 0) -> Induction:
        """Read a run from its file or from a checkpoint's folder; raises FormatError for anything else."""
        from hiddenite.induce.archive import read_run  # noqa: PLC0415

        return read_run(Path(path, CHECKPOINT_FILE) if Path(path).is_dir() else path, threads)

    @property
    def _checkpoint_file(self) -> Path:
        assert self._checkpoint is not None
        return self._checkpoint / CHECKPOINT_FILE

    def _write_checkpoint(self) -> None:
        """Bring the checkpoint up to date, if there is to be one."""
        if self._checkpoint is None or self._num_saved == len(self.history):
            return
        try:
            self._checkpoint.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FormatError(str(self._checkpoint), None, f"cannot be made: {error.strerror}") from None
        self.save(self._checkpoint_file)
        self._saved_at, self._num_saved = time.monotonic(), len(self.history)

    def _resume(self) -> bool:
        from hiddenite.induce.archive import resume_run  # noqa: PLC0415

        if self._checkpoint is None or not self._checkpoint_file.exists():
            return False
        resume_run(self, self._checkpoint_file)
        self._num_saved = len(self.history)
        return True


# ---------------------------------------------------------------------- pieces


def _pool(workers: int) -> concurrent.futures.ThreadPoolExecutor:
    return concurrent.futures.ThreadPoolExecutor(workers)


@dataclass(frozen=True, slots=True, eq=False)
class Sweeps:
    """One sweep of all chains; arrays are by chain."""

    stage: Stage
    log_joint: NDArray[np.float64]
    moved: NDArray[np.float64]
    accepted: NDArray[np.float64]
    effective_size: NDArray[np.float64]
    seconds: float
    parameters: list[Parameters]
