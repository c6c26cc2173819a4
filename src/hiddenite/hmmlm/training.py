"""Training by expectation-maximisation as an iterator: one epoch a turn, checkpoints in between.

>>> training = Training(["the cat sat"] * 8, HMMOptions(states=4, clusters=2, epochs=2, folds=2), seed=1)
>>> [epoch.number for epoch in training]
[1, 2]

A checkpoint holds the expected counts between two epochs, and which text, options and seed it belongs to: a
training that continues from it ends with the same bits as one that was never interrupted.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import (
    BilinearOptions,
    HmmEm,
    HmmShape,
    LogBilinear,
    SparseHmm,
    TokenText,
    WordTable,
    read_tokens,
)
from hiddenite.errors import FormatError, ModelError
from hiddenite.files.archive import Archive, read_archive, write_archive
from hiddenite.files.corpus import ChunkReader, Sentence, as_text
from hiddenite.hmmlm.clusters import Clustering, Clusters
from hiddenite.hmmlm.mixing import fit_weights, sentence_sums
from hiddenite.hmmlm.options import AFTERWARDS, MAX_SEED, HMMOptions, Smoothing
from hiddenite.hmmlm.shape import brown_shape, uniform_shape, word_classes
from hiddenite.hmmlm.targets import Targets

CHECKPOINT = "hiddenite hmmlm checkpoint"
CHECKPOINT_VERSION = 1
_HINT = "delete it to begin anew, or name another file"
_STEP = 2.0  # between pseudo-counts that are tried
_LEAST_GAIN = 1e-4  # in nats per token
FIRST_PASSES, MORE_PASSES = 12, 6  # over the states, in the first and in later log-bilinear rounds
BILINEAR_RATE = 0.06
BILINEAR_WEIGHTS = (
    400.0,
    200.0,
    800.0,
)  # pseudo-counts of log-bilinear transitions; the first is the default


@dataclass(frozen=True, slots=True)
class Epoch:
    """One epoch of one member, done."""

    number: int  # from 1, over all members
    total: int
    member: int  # from 1
    log_prob: float  # ln p per token of the training text, as each fold was met
    valid_perplexity: float | None  # of the member alone, if there is a validation text


def read_text(path: str | os.PathLike[str]) -> bytes:
    """Read a whole text, plain or compressed; ``-`` is standard input."""
    with ChunkReader(path) as reader:
        try:
            return b"".join(iter(reader, b""))
        except ValueError as error:
            raise FormatError(reader.name, None, str(error)) from None


class Training:
    """Members of a model, one after the other; iterate to run it."""

    def __init__(
        self,
        corpus: bytes | Iterable[Sentence],
        options: HMMOptions | None = None,
        *,
        seed: int,
        valid: bytes | Iterable[Sentence] | None = None,
        clusters: Clusters | None = None,
        threads: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 5,
        names: tuple[str, str] = ("<corpus>", "<valid>"),
        targets: Targets | None = None,
    ) -> None:
        """Read the text and cluster its words; continue from ``checkpoint`` if that file exists.

        ``clusters`` are taken as they are; without them the words are clustered here. Words of ``valid`` that
        the text lacks count as ``<unk>``. ``targets`` are for texts of token ids that a model drew.
        """
        if not 0 <= seed <= MAX_SEED:
            raise ModelError(f"the seed is {seed}, expected 0 to 2^64 - 1")
        self.options = options or HMMOptions()
        self.seed = seed
        self._threads, self._checkpoint, self._every = threads, checkpoint, max(1, checkpoint_every)
        text = as_text(corpus)
        self._digest = hashlib.sha256(text).hexdigest()
        self._table = WordTable()
        self._tokens = read_tokens(text, names[0], 1, self._table, grow=True)
        if not len(self._tokens.tokens):
            raise FormatError(names[0], None, "has no word, expected text to train on")
        self._valid: TokenText | None = None
        if valid is not None:
            self._valid = read_tokens(as_text(valid), names[1], 1, self._table, grow=False)
            if not len(self._valid.tokens):
                raise FormatError(names[1], None, "has no word, expected held-out text")
        self.options = self.options.reduced(len(self._tokens.tokens))
        self._text, self._are_given = text, clusters is not None
        self.clusters = clusters
        if self.options.sets == "brown":
            self.clusters = clusters or Clustering([text], self.options.clusters, threads=threads).run()
        self._targets = targets
        self._finished: list[SparseHmm] = []
        self._smoothing: list[Smoothing] = []
        self._em = self._begin_member()
        if checkpoint is not None and Path(checkpoint).exists():
            self._restore(checkpoint)

    # ------------------------------------------------------------------- run

    @property
    def num_epochs(self) -> int:
        """Epochs from beginning to end."""
        return self.options.epochs * self.options.members

    @property
    def num_epochs_done(self) -> int:
        """Epochs done, those before the checkpoint included."""
        return len(self._finished) * self.options.epochs + (0 if self._is_done else self._em.iterations_done)

    @property
    def _is_done(self) -> bool:
        return len(self._finished) == self.options.members

    def _member_seed(self) -> int:
        return (self.seed + len(self._finished)) % (MAX_SEED + 1)

    def _begin_member(self) -> HmmEm:
        soft = None if self._targets is None else self._targets.core(self._table.words())
        return HmmEm(self._tokens, self._shape(), self.options.core(), self._member_seed(), soft)

    def _shape(self) -> HmmShape:
        if self.options.sets == "uniform":
            rng = np.random.default_rng([self._member_seed() & 0xFFFFFFFF, self._member_seed() >> 32])
            return uniform_shape(len(self._table), self.options.states, self.options.set_size, rng)
        clusters = self._member_clusters()
        counts = self._tokens.counts(len(self._table)).tolist()
        classes = word_classes(self._table.words(), clusters.words, clusters.classes, counts)
        return brown_shape(classes, self.options.states)

    def _member_clusters(self) -> Clusters:
        """Return given clusters for all members; else each has its own, and they make different mistakes."""
        assert self.clusters is not None
        if self._are_given or not self._finished:
            return self.clusters
        seed = self._member_seed()
        return Clustering([self._text], self.options.clusters, random_start=seed, threads=self._threads).run()

    def __iter__(self) -> Iterator[Epoch]:
        while not self._is_done:
            log_prob = self._em.iterate(self._threads) / max(1, self._em.num_tokens)
            if not math.isfinite(log_prob):
                raise ModelError(f"the likelihood is {log_prob} in epoch {self.num_epochs_done}")
            number, member = self.num_epochs_done, len(self._finished) + 1
            last = self._em.iterations_done == self.options.epochs
            perplexity = (
                self._finish_member() if last else self._perplexity(self.options.afterwards or AFTERWARDS)
            )
            if self._checkpoint is not None and (number % self._every == 0 or last):
                self._save(self._checkpoint)
            yield Epoch(number, self.num_epochs, member, log_prob, perplexity)

    def run(self) -> Training:
        """Do all epochs that are left."""
        for _ in self:
            pass
        return self

    def _perplexity(self, smoothing: Smoothing) -> float | None:
        if self._valid is None:
            return None
        return self._evaluate(self._em.chain(smoothing.core(), self._threads))

    def _evaluate(self, chain: SparseHmm) -> float:
        assert self._valid is not None
        log_probs = chain.token_log_probs(self._valid, self._threads)
        return math.exp(-float(np.mean(log_probs))) if len(log_probs) else math.nan

    def _finish_member(self) -> float | None:
        smoothing = self.options.afterwards or (AFTERWARDS if self._valid is None else self._choose())
        chain = self._em.chain(smoothing.core(), self._threads)
        if self.options.rounds:
            chain = self._bilinear(smoothing, chain)
        self._finished.append(chain)
        self._smoothing.append(smoothing)
        if not self._is_done:
            self._em = self._begin_member()
        return None if self._valid is None else self._evaluate(chain)

    def _bilinear(self, smoothing: Smoothing, best: SparseHmm) -> SparseHmm:
        """Fit log-bilinear transitions to the counts, count again under them, and so on.

        With a validation text, returns the chain that explains it best, whatever the round and the weight.
        """
        options = BilinearOptions()
        options.rate = BILINEAR_RATE
        model = LogBilinear(self._em, options, self._member_seed())
        least = math.inf if self._valid is None else self._evaluate(best)
        for turn in range(self.options.rounds):
            model.fit(self._em, MORE_PASSES if turn else FIRST_PASSES, self._threads)
            usual = model.chain(self._em, smoothing.core(), BILINEAR_WEIGHTS[0], self._threads)
            for weight in BILINEAR_WEIGHTS if self._valid is not None else ():
                chain = model.chain(self._em, smoothing.core(), weight, self._threads)
                if (perplexity := self._evaluate(chain)) < least:
                    best, least = chain, perplexity
            if self._valid is None:
                best = usual
            if turn + 1 < self.options.rounds:
                self._em.iterate_under(usual, self._threads)
        return best

    def _choose(self) -> Smoothing:
        """Try larger and smaller pseudo-counts one after the other while the validation text gains."""
        best = AFTERWARDS
        least = math.log(self._perplexity(best) or math.inf)
        improved = True
        while improved:
            improved = False
            for name in ("cluster", "state", "emission", "group"):
                for factor in (_STEP, 1 / _STEP):
                    while True:
                        candidate = dataclasses.replace(best, **{name: getattr(best, name) * factor})
                        value = math.log(self._perplexity(candidate) or math.inf)
                        if value >= least - _LEAST_GAIN:
                            break
                        best, least, improved = candidate, value, True
        return best

    # ---------------------------------------------------------------- results

    @property
    def words(self) -> list[str]:
        """The vocabulary, special words first."""
        return self._table.words()

    def description(self) -> dict[str, Any]:
        """Return what the model's file says of its training."""
        size = {"sentences": self._tokens.num_sentences, "tokens": len(self._tokens.tokens)}
        return {"method": "em", "seed": self.seed, "options": dataclasses.asdict(self.options), **size}

    @property
    def smoothing(self) -> tuple[Smoothing, ...]:
        """The pseudo-counts of each finished member."""
        return tuple(self._smoothing)

    def chains(self) -> list[SparseHmm]:
        """Return the members once all epochs are done."""
        if not self._is_done:
            raise ModelError(
                f"{self.num_epochs_done} of {self.num_epochs} epochs are done; iterate to the end"
            )
        return self._finished

    def weights(self) -> list[float]:
        """Return the members' weights: fitted on the validation text, equal without one."""
        chains = self.chains()
        if self._valid is None or len(chains) == 1:
            return [1 / len(chains)] * len(chains)
        columns = [_sentence_sums(c.token_log_probs(self._valid, self._threads), self._valid) for c in chains]
        return [float(w) for w in fit_weights(np.stack(columns))]

    # ------------------------------------------------------------ checkpoints

    def _identity(self) -> dict[str, Any]:
        kept = None if self.clusters is None else [self.clusters.words, self.clusters.classes]
        return {
            "text": self._digest,
            "options": dataclasses.asdict(self.options),
            "seed": self.seed,
            "clusters": hashlib.sha256(repr(kept).encode()).hexdigest(),
            "targets": None if self._targets is None else self._targets.digest,
        }

    def _save(self, path: str | os.PathLike[str]) -> None:
        header = {"format": CHECKPOINT, "version": CHECKPOINT_VERSION, "finished": len(self._finished)}
        keeps_counts = not self._is_done or self.options.members == 1  # a single chain can be extended
        header["epochs"] = self._em.iterations_done if keeps_counts else 0
        header["smoothing"] = [dataclasses.asdict(s) for s in self._smoothing]
        arrays: dict[str, NDArray[Any]] = {}
        for m, chain in enumerate(self._finished):
            for name in ("initial", "transition", "emission"):
                arrays[f"{m}.{name}"] = getattr(chain, name)
        for f in range(self._em.num_folds if header["epochs"] else 0):
            names = ("pairs", "first", "emissions")
            arrays |= {f"fold{f}.{name}": a for name, a in zip(names, self._em.fold(f), strict=True)}
        write_archive(path, header | self._identity(), {}, arrays, compress=False)

    def _restore(self, path: str | os.PathLike[str]) -> None:
        read_archive(path, CHECKPOINT, CHECKPOINT_VERSION, _HINT, lambda archive: self._read(archive, path))

    def _extends(self, before: Any) -> bool:
        """Whether options differ from those of a checkpoint in nothing but more epochs, of one chain."""
        mine = dataclasses.asdict(self.options)
        if not isinstance(before, dict) or self.options.members > 1 or self.options.rounds:
            return False
        return before | {"epochs": 0} == mine | {"epochs": 0} and before["epochs"] < mine["epochs"]

    def _read(self, archive: Archive, path: str | os.PathLike[str]) -> None:
        extends = self._extends(archive.header.get("options"))
        for name, value in self._identity().items():
            if archive.header.get(name) != value and not (name == "options" and extends):
                raise FormatError(
                    os.fspath(path), None, f"is a checkpoint of a training with another {name}; {_HINT}"
                )
        for m in range(0 if extends else int(archive.header["finished"])):
            shape = self._shape()
            initial = archive.array(f"{m}.initial", np.float64)
            transition = archive.array(f"{m}.transition", np.float32)
            chain = SparseHmm(shape, initial, transition, archive.array(f"{m}.emission", np.float64))
            self._finished.append(chain)
            self._smoothing.append(Smoothing(**archive.header["smoothing"][m]))
        if self._is_done:
            return
        self._em = self._begin_member()
        if archive.header["epochs"]:
            folds = [
                [archive.array(f"fold{f}.{name}", np.float32) for f in range(self._em.num_folds)]
                for name in ("pairs", "first", "emissions")
            ]
            self._em.restore(int(archive.header["epochs"]), *folds)


def _sentence_sums(log_probs: NDArray[np.float64], text: TokenText) -> NDArray[np.float64]:
    """Add up the tokens of each sentence, its end included."""
    return sentence_sums(log_probs, text.begin.astype(np.int64) + np.arange(text.num_sentences + 1))
