"""Training as an iterator: one sweep of all chains a turn, a checkpoint after each.

>>> training = Training(Bitext.read("en.txt", "fr.txt"), AlignerOptions(), seed=1)  # doctest: +SKIP
>>> for sweep in training: print(sweep.number, sweep.fit)  # doctest: +SKIP
>>> training.link_probabilities(0)  # doctest: +SKIP

A checkpoint holds the chains between two sweeps, and which text, options and seed it belongs to. Sweep k of a
chain draws from a stream of its own, so a training that continues from one ends with the same bits as
one that was never interrupted, with any number of threads.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenite._core import AlignmentModel, AlignmentTables, AlignmentTrainer, GibbsDirection
from hiddenite.align.bitext import Bitext
from hiddenite.align.decisions import SINGLE
from hiddenite.align.options import AlignerOptions
from hiddenite.align.shards import (
    EmStep,
    cut,
    em_step,
    gibbs_member,
    lanes_of,
    make_em,
    make_trainer,
    set_counts,
    sweep_step,
)
from hiddenite.arrays import np
from hiddenite.errors import FormatError, ModelError
from hiddenite.executor import Executor, LocalExecutor
from hiddenite.files.archive import Archive, read_archive, write_archive

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHECKPOINT = "hiddenite alignment checkpoint"
CHECKPOINT_VERSION = 2
_HINT = "delete it to begin anew, or name another file"
MAX_SEED = 2**64 - 1
_NUMBERS = {"forward": 0, "reverse": 1, "both": -1}
_LINES = 4096  # of links at a time


@dataclass(frozen=True, slots=True)
class Sweep:
    """One sweep of all chains, done."""

    number: int  # from 1
    total: int
    stage: str  # model1, hmm, fertility
    fit: float  # mean over words and chains of ln of the total weight of a word's links


class Training:
    """Gibbs chains over a parallel text; iterate to run them."""

    def __init__(
        self,
        bitext: Bitext,
        options: AlignerOptions | None = None,
        *,
        seed: int,
        threads: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        earlier: AlignmentModel | None = None,
        shards: int = 1,
        executor: Executor | None = None,
    ) -> None:
        """Read the text; continue from ``checkpoint`` if that file exists, and keep it up to date.

        The counts of an ``earlier`` model are added to those of the text, and stay in the model that results.
        ``shards`` of the text sweep at the same time, done by ``executor``: :mod:`hiddenite.align.shards`.
        """
        if not 0 <= seed <= MAX_SEED:
            raise ModelError(f"the seed is {seed}, expected 0 to 2^64 - 1")
        self.num_pairs = bitext.num_lines
        self._text = (bitext.source, bitext.target) if checkpoint is not None else None
        wanted = options or AlignerOptions()
        self.options = (wanted if earlier is None else wanted.for_new_text()).for_corpus(bitext.num_lines)
        self.seed = seed
        self._threads = threads
        self._checkpoint = checkpoint
        self._earlier = earlier
        if earlier is not None:
            self._check_earlier(earlier)
        assert self.options.chains is not None
        alone = executor is None and shards == 1
        lanes = lanes_of(self.options.chains, threads) if alone else self.options.chains
        self._trainer = make_trainer(bitext, self.options, seed, earlier, lanes)
        self._shards = cut(len(self), shards)
        self._executor = executor
        if executor is None and len(self._shards) > 1:
            self._executor = LocalExecutor(gibbs_member(bitext, self.options, seed, earlier))
        if checkpoint is not None and Path(checkpoint).exists():
            self._restore(checkpoint)

    def _check_earlier(self, earlier: AlignmentModel) -> None:
        if not earlier.has_fertilities:
            raise ModelError("the earlier model is a plain HMM, expected one with fertilities")
        for name in ("max_fertility", "max_jump"):
            if getattr(earlier.options, name) != getattr(self.options, name):
                raise ModelError(
                    f"{name} of the earlier model is {getattr(earlier.options, name)}; use the same"
                )

    def __len__(self) -> int:
        """Return the number of sentence pairs."""
        return self._trainer.num_sentences

    @property
    def num_sweeps(self) -> int:
        """Sweeps from beginning to end, of the chains that run one after the other."""
        return self._trainer.num_sweeps

    @property
    def num_sweeps_done(self) -> int:
        """Sweeps done, those before the checkpoint included."""
        return self._trainer.num_sweeps_done

    @property
    def memory_bytes(self) -> int:
        """What the chains and their tables take."""
        return self._trainer.bytes

    def _stages(self) -> list[tuple[str, int]]:
        counts = self.options.model1_sweeps, self.options.hmm_sweeps, self.options.fertility_sweeps
        return [(name, n or 0) for name, n in zip(("model1", "hmm", "fertility"), counts, strict=True)]

    def __iter__(self) -> Iterator[Sweep]:
        stages = [name for name, count in self._stages() for _ in range(count)]
        while self.num_sweeps_done < self.num_sweeps:
            if self._executor is None:
                fit = self._trainer.sweep(self._threads)
            else:
                fit = sweep_step(self._executor, self._trainer, self._shards)
            if self._checkpoint is not None:
                self._save(self._checkpoint)
            done = self.num_sweeps_done
            yield Sweep(done, self.num_sweeps, stages[(done - 1) % len(stages)], fit)

    def run(self) -> Training:
        """Do all sweeps that are left."""
        for _ in self:
            pass
        return self

    def finished(self) -> AlignmentTrainer:
        """Return the core's trainer once all sweeps are done; raises ModelError before."""
        if self.num_sweeps_done < self.num_sweeps:
            raise ModelError(
                f"{self.num_sweeps_done} of {self.num_sweeps} sweeps are done; iterate to the end"
            )
        return self._trainer

    def link_probabilities(self, sentence: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return p(link) [source, target] under the forward and the reverse model, of a training pair."""
        trainer = self.finished()
        sources, targets = trainer.lengths(sentence)
        if sources * targets == 0:
            nothing = np.zeros((sources, targets), dtype=np.float32)
            return nothing, nothing
        forward, reverse = (trainer.probabilities(sentence, d).reshape(targets, sources).T for d in (0, 1))
        return forward, reverse

    def best_threshold(self, direction: str = "both") -> float:
        """Return the probability from which on links have the greatest expected F over the text."""
        return self.finished().best_threshold(_NUMBERS[direction], SINGLE)

    def links_text(self, threshold: float | None = None, direction: str = "both") -> Iterator[bytes]:
        """Give the links that reach a threshold, :meth:`best_threshold` if None, some lines at a time."""
        trainer, d = self.finished(), _NUMBERS[direction]
        least = trainer.best_threshold(d, SINGLE) if threshold is None else threshold
        for begin in range(0, len(self), _LINES):
            yield trainer.links_text(begin, begin + _LINES, d, SINGLE, least)

    def tables(self) -> AlignmentTables:
        """Return what a model keeps, once all sweeps are done."""
        return self.finished().tables()

    # ------------------------------------------------------------- checkpoints

    def _identity(self) -> dict[str, Any]:
        assert self._text is not None
        return {
            "source": _sha256(self._text[0]),
            "target": _sha256(self._text[1]),
            "options": dataclasses.asdict(self.options),
            "seed": self.seed,
            "earlier": _digest(self._earlier),
            "shards": len(self._shards),
            "chains at once": self._trainer.num_lanes,
        }

    def _save(self, path: str | os.PathLike[str]) -> None:
        header = {"format": CHECKPOINT, "version": CHECKPOINT_VERSION, "sweeps": self.num_sweeps_done}
        arrays: dict[str, NDArray[Any]] = {}
        for chain in range(self._trainer.num_lanes):
            for d in (0, 1):
                state, prefix = self._trainer.direction(chain, d), f"{chain}.{d}."
                arrays[prefix + "links"] = state.links
                arrays[prefix + "cell_sums"] = state.cell_sums
                arrays[prefix + "fertility_sums"] = state.fertility_sums
                for n, histogram in enumerate(state.jump_sums):
                    arrays[f"{prefix}jump_sums.{n}"] = histogram
        write_archive(path, header | self._identity(), {}, arrays, compress=False)

    def _restore(self, path: str | os.PathLike[str]) -> None:
        read_archive(path, CHECKPOINT, CHECKPOINT_VERSION, _HINT, lambda archive: self._read(archive, path))

    def _read(self, archive: Archive, path: str | os.PathLike[str]) -> None:
        for name, value in self._identity().items():
            if archive.header.get(name, 1 if name == "shards" else None) != value:
                what = f"{name} text" if name in ("source", "target") else name
                raise FormatError(
                    os.fspath(path), None, f"is a checkpoint of a training with another {what}; {_HINT}"
                )
        done = archive.header.get("sweeps")
        if not isinstance(done, int) or not 0 < done <= self.num_sweeps:
            raise ValueError(f"says that {done} of {self.num_sweeps} sweeps are done")
        for chain in range(self._trainer.num_lanes):
            forward, reverse = (_read_direction(archive, f"{chain}.{d}.") for d in (0, 1))
            self._trainer.restore(chain, done, forward, reverse)


def _digest(model: AlignmentModel | None) -> str | None:
    if model is None:
        return None
    words = "\n".join(model.tables.words[0] + model.tables.words[1])
    counts = np.stack(model.tables.pair_count)
    return _sha256(words.encode() + counts.tobytes())


def _sha256(data: bytes) -> str:
    import hashlib  # noqa: PLC0415  (takes 4 MB that only checkpoints need)

    return hashlib.sha256(data).hexdigest()


def _read_direction(archive: Archive, prefix: str) -> GibbsDirection:
    return GibbsDirection(
        archive.array(prefix + "links", np.uint32),
        archive.array(prefix + "cell_sums", np.uint8),
        [archive.array(f"{prefix}jump_sums.{n}", np.float64) for n in range(3)],
        archive.array(prefix + "fertility_sums", np.float32),
    )


class HmmTraining:
    """Model 1, then the HMM, by EM; iterate to run it. Nothing is drawn, and no word has a fertility."""

    def __init__(
        self,
        bitext: Bitext,
        options: AlignerOptions | None = None,
        *,
        model1: int = 5,
        hmm: int = 5,
        threads: int = 0,
        shards: int = 1,
        executor: Executor | None = None,
    ) -> None:
        """Read the text; ``model1`` and ``hmm`` are numbers of iterations.

        An ``executor`` shares the sentences out; the result is the same.
        """
        if model1 < 0 or hmm < 1:
            raise ModelError(f"found {model1} and {hmm} iterations, expected 0 or more and 1 or more")
        self.num_pairs = bitext.num_lines
        self.options = self.options_for(bitext, options or AlignerOptions())
        self._stages = ["model1"] * model1 + ["hmm"] * hmm
        self._done = 0
        self._threads = threads
        self._em = make_em(bitext, self.options)
        self._shards = cut(self._em.num_sentences, shards)
        self._executor = executor

    @staticmethod
    def options_for(bitext: Bitext, options: AlignerOptions) -> AlignerOptions:
        """Return the options as this training uses them: a lexicon of words alone."""
        plain = dataclasses.replace(
            options, stem_weight=0.0, ending_weight=0.0, jump_words=0, string_prior=False
        )
        return plain.for_corpus(bitext.num_lines)

    @property
    def num_sweeps(self) -> int:
        """Iterations from beginning to end."""
        return len(self._stages)

    def __iter__(self) -> Iterator[Sweep]:
        while self._done < len(self._stages):
            stage = self._stages[self._done]
            fit = self._iterate(stage == "hmm")
            self._done += 1
            yield Sweep(self._done, len(self._stages), stage, fit)

    def _iterate(self, hmm: bool) -> float:
        if self._executor is None:
            return self._em.iterate(hmm, self._threads)
        before = (self._em.counts(0), self._em.counts(1)) if self._done else None
        step = EmStep(self._done, hmm, before, self._done > 0 and self._stages[self._done - 1] == "hmm")
        fit, counts = em_step(self._executor, step, self._shards)
        set_counts(self._em, counts)
        return fit

    def tables(self) -> AlignmentTables:
        """Return what a model keeps, once all iterations are done."""
        if self._done < len(self._stages):
            raise ModelError(f"{self._done} of {len(self._stages)} iterations are done; iterate to the end")
        return self._em.tables()
