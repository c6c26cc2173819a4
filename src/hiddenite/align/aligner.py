"""The word aligner: both directions' fertility HMMs, trained together, asked together.

>>> aligner = Aligner.train([("the house", "la maison"), ("the dog", "le chien")], seed=1)  # doctest: +SKIP
>>> aligner.align("the house", "la maison").links  # doctest: +SKIP
((0, 0), (1, 1))

A model is expected counts (``cpp/hiddenite/align/model.hpp``); unknown words are aligned by the spelling
of their stems and by position. The model file is an archive: ``hiddenite.files.archive``.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hiddenite._core import AlignmentModel, AlignmentTables, FertilityHmm
from hiddenite.align.answers import (
    DEFAULT_SAMPLES,
    MODELS_OWN,
    Alignment,
    DirectionName,
    MethodName,
    Question,
    read_answer,
)
from hiddenite.align.bitext import Bitext, Block, check_pair, normalize_text, normalize_word
from hiddenite.align.fertilities import smooth
from hiddenite.align.options import AlignerOptions
from hiddenite.align.symmetrize import DEFAULT as DEFAULT_SYMMETRIZATION
from hiddenite.align.training import HmmTraining, Sweep, Training
from hiddenite.arrays import np
from hiddenite.errors import BudgetExceeded, ModelError
from hiddenite.files.archive import Archive, read_archive, write_archive
from hiddenite.files.corpus import Sentence, sentence_text, sentence_words, tokenize
from hiddenite.results import Certificate, Failure

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = "hiddenite aligner"
VERSION = 1
BATCH = 64  # sentence pairs a call to the core; what an interrupt waits for
_HINT = "expected a file that `hiddenite align train` wrote; train it again"
_JUMPS = ("start", "inner", "end")
_PER_WORD = {"word_count": "uint32", "partners": "uint32", "likeness": "float32"}


class Aligner:
    """A trained alignment model, immutable; made by :meth:`train`, :meth:`train_files` or :meth:`load`."""

    def __init__(
        self, model: AlignmentModel, options: AlignerOptions, training: Mapping[str, Any] | None = None
    ) -> None:
        self._model = model
        self.options = options
        self.training = dict(training or {})  # estimator, seed and size of the text

    def __repr__(self) -> str:
        source, target = (len(words) for words in self._model.tables.words)
        return f"<Aligner {source:,} source words, {target:,} target words>"

    # ----------------------------------------------------------------- train

    @classmethod
    def train(
        cls,
        source: Iterable[object],
        target: Iterable[Sentence] | None = None,
        *,
        seed: int,
        options: AlignerOptions | None = None,
        threads: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        earlier: Aligner | None = None,
        on_sweep: Callable[[Sweep], None] | None = None,
    ) -> Aligner:
        """Train on sentences: two sequences, or one of (source, target) pairs.

        A sentence is a string of words separated by white space, or a sequence of words. ``checkpoint`` is a
        file to keep up to date after each sweep, continued if it exists. With an ``earlier`` aligner
        what it has learnt counts as if its text had been aligned before this one, and is kept. To look at
        each sweep, or at the link probabilities of the training pairs themselves, use :class:`Training`.
        """
        bitext = Bitext.of(source, target)
        model = None if earlier is None else earlier.model
        options = (options or AlignerOptions()).for_new_text()
        training = Training(bitext, options, seed=seed, threads=threads, checkpoint=checkpoint, earlier=model)
        return cls._finish(training, on_sweep)

    @classmethod
    def train_files(
        cls,
        source: str | os.PathLike[str],
        target: str | os.PathLike[str] | None = None,
        *,
        seed: int,
        options: AlignerOptions | None = None,
        threads: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        earlier: Aligner | None = None,
        on_sweep: Callable[[Sweep], None] | None = None,
    ) -> Aligner:
        """Train on two files, or on one of ``source ||| target`` lines; see :meth:`train`."""
        bitext = Bitext.read(source, target)
        model = None if earlier is None else earlier.model
        options = (options or AlignerOptions()).for_new_text()
        training = Training(bitext, options, seed=seed, threads=threads, checkpoint=checkpoint, earlier=model)
        return cls._finish(training, on_sweep)

    @classmethod
    def train_hmm(
        cls,
        source: Iterable[object],
        target: Iterable[Sentence] | None = None,
        *,
        model1: int = 5,
        hmm: int = 5,
        options: AlignerOptions | None = None,
        threads: int = 0,
        on_sweep: Callable[[Sweep], None] | None = None,
    ) -> Aligner:
        """Train the plain HMM by EM, after Model 1: a model without fertilities, for comparison."""
        bitext = Bitext.of(source, target)
        return cls._finish(HmmTraining(bitext, options, model1=model1, hmm=hmm, threads=threads), on_sweep)

    @classmethod
    def _finish(cls, training: Training | HmmTraining, on_sweep: Callable[[Sweep], None] | None) -> Aligner:
        for sweep in training:
            if on_sweep is not None:
                on_sweep(sweep)
        return cls.from_training(training)

    @classmethod
    def from_training(cls, training: Training | HmmTraining) -> Aligner:
        """Keep what a finished training has learnt."""
        tables = training.tables()
        options = training.options
        forward, reverse = (
            smooth(options.fertilities, words, table, options.max_fertility)
            for words, table in zip(tables.words, tables.fertility, strict=True)
        )
        tables.fertility = forward, reverse
        model = AlignmentModel(tables, training.options.core(), training.options.string_prior)
        about: dict[str, Any] = {"estimator": "em", "sentence_pairs": training.num_pairs}
        if isinstance(training, Training):
            about |= {"estimator": "gibbs", "seed": training.seed, "threshold": training.best_threshold()}
        return cls(model, training.options, about)

    @property
    def threshold(self) -> float:
        """The least probability of a link that had the greatest expected F over the training text."""
        return float(self.training.get("threshold", 0.5))

    @property
    def model(self) -> AlignmentModel:
        """The core's model, for :class:`Training` to continue from."""
        return self._model

    # ------------------------------------------------------------------- ask

    def align(
        self,
        source: Sentence,
        target: Sentence,
        *,
        method: MethodName = "exact",
        direction: DirectionName = "both",
        symmetrize: str = DEFAULT_SYMMETRIZATION,
        k: int = 1,
        samples: int = 0,
        marginals: str | None = None,
        threshold: float | None = None,
        budget: float | None = None,
        seed: int = 0,
        require_exact: bool = False,
        proof: bool = False,
    ) -> Alignment:
        """Align one sentence pair.

        ``samples=n`` adds link probabilities from n exact draws, ``marginals="hmm"`` those of the chain
        without fertilities; ``threshold`` takes links by probability. A ``budget`` in seconds that ends first
        returns the best so far and how far off it can be; with ``require_exact`` whatever is not proved
        raises :class:`BudgetExceeded`. ``proof`` adds proofs of the best alignments that others can check:
        :mod:`hiddenite.align.proofs`.
        """
        question = Question(
            method,
            direction,
            symmetrize,
            k,
            "samples" if samples and marginals is None else marginals,
            samples or DEFAULT_SAMPLES,
            threshold,
            budget,
            seed,
            proof=proof,
        )
        result = next(self.ask([(source, target)], question, threads=1))
        if isinstance(result, Failure):
            raise ModelError(result.error)
        if require_exact and not result.exact:
            raise BudgetExceeded(_what_is_missing(result), result)
        return dataclasses.replace(result, id=None)

    def align_many(
        self, pairs: Iterable[tuple[Sentence, Sentence]], *, threads: int = 0, **options: Any
    ) -> Iterator[Alignment | Failure]:
        """Align many pairs, in input order and constant memory; ``options`` are the fields of Question."""
        return self.ask(pairs, Question(**options), threads=threads)

    def ask(
        self, pairs: Iterable[tuple[Sentence, Sentence]], question: Question, *, threads: int = 0
    ) -> Iterator[Alignment | Failure]:
        """Ask the same of many pairs; what is wrong with one is its Failure and stops no other."""
        records = map(check_pair, pairs)
        first = 1
        while batch := list(itertools.islice(records, BATCH)):
            source, target = (sentence_text(side) for side in zip(*batch, strict=True))
            yield from self.ask_block(Block(source, target, first), question, threads=threads)
            first += len(batch)

    def ask_block(
        self, block: Block, question: Question, *, threads: int = 0
    ) -> Iterator[Alignment | Failure]:
        """Ask the same of the lines of a text; a record's id is its line number."""
        if question.method == "hmm" and self._model.has_fertilities:
            raise ModelError("the model has fertilities, expected a plain HMM; train one with --estimator em")
        if question.threshold == MODELS_OWN:
            question = dataclasses.replace(question, threshold=self.threshold)
        if self.options.normalize:
            sides = normalize_text(block.source), normalize_text(block.target)
            block = dataclasses.replace(block, source=sides[0], target=sides[1])
        answers = self._model.align_lines(
            block.source, block.target, question.task(), block.first_line - 1, threads
        )
        texts = zip(block.source.split(b"\n"), block.target.split(b"\n"), strict=True)
        for n, (one, sides) in enumerate(zip(answers, texts, strict=False), block.first_line):
            fault = block.faults.get(n)
            words = [tokenize(side.decode()) for side in sides] if question.proof and not one.error else ()
            yield read_answer(one, question, n, words) if fault is None else Failure(fault, id=n)

    def hmm(self, source: Sentence, target: Sentence, *, reverse: bool = False) -> FertilityHmm:
        """Return the weights of one sentence pair in one direction."""
        return self._model.hmm(int(reverse), *self._as_learnt(source, target))

    def unknown(self, source: Sentence, target: Sentence) -> tuple[list[str], list[str]]:
        """Return the words of each side that the training text lacks: place and spelling alone link them."""
        words, learnt = map(sentence_words, (source, target)), self._as_learnt(source, target)
        first, second = (
            [word for word, form in zip(side, forms, strict=True) if form not in known]
            for side, forms, known in zip(words, learnt, self._known, strict=True)
        )
        return first, second

    def _as_learnt(self, source: Sentence, target: Sentence) -> list[list[str]]:
        words = [sentence_words(s) for s in (source, target)]
        if self.options.normalize:
            words = [[normalize_word(word) for word in side] for side in words]
        return words

    @functools.cached_property
    def _known(self) -> list[frozenset[str]]:
        return [frozenset(side) for side in self._model.tables.words]

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all."""
        tables = self._model.tables
        header = {
            "format": FORMAT,
            "version": VERSION,
            "options": dataclasses.asdict(self.options),
            "training": self.training,
        }
        words: dict[str, list[str]] = {}
        arrays: dict[str, NDArray[Any]] = {
            "pair_source": tables.pair_source,
            "pair_target": tables.pair_target,
        }
        for d, name in enumerate(("source", "target")):
            words[f"words.{name}"] = tables.words[d]
            for field in _PER_WORD:
                arrays[f"{field}.{name}"] = getattr(tables, field)[d]
        for d, name in enumerate(("forward", "reverse")):
            for field in ("pair_count", "null_count", "fertility"):
                arrays[f"{field}.{name}"] = getattr(tables, field)[d]
            for which, histogram in zip(_JUMPS, tables.jumps(d), strict=True):
                arrays[f"jumps.{which}.{name}"] = histogram
        write_archive(path, header, words, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Aligner:
        """Read a model file; raises FormatError for anything else."""
        return read_archive(path, FORMAT, VERSION, _HINT, cls._read)

    @classmethod
    def _read(cls, archive: Archive) -> Aligner:
        options = AlignerOptions.from_dict(archive.header["options"])
        tables = AlignmentTables()
        words = [archive.words(f"words.{name}") for name in ("source", "target")]
        for side in words:
            if len(set(side)) != len(side) or any(tokenize(word) != [word] for word in side):
                raise ValueError("has a word twice, or an empty word")
        tables.words = words
        sizes = [len(side) for side in words]
        for field, kind in _PER_WORD.items():
            sides = zip(("source", "target"), sizes, strict=True)
            setattr(
                tables, field, tuple(archive.array(f"{field}.{s}", getattr(np, kind), n) for s, n in sides)
            )
        tables.pair_source = archive.array("pair_source", np.uint32)
        num_pairs = len(tables.pair_source)
        tables.pair_target = archive.array("pair_target", np.uint32, num_pairs)
        width = options.max_fertility + 1
        for field, expected in (
            ("pair_count", (num_pairs, num_pairs)),
            ("null_count", (sizes[1], sizes[0])),
            ("fertility", (sizes[0] * width, sizes[1] * width)),
        ):
            rows = zip(("forward", "reverse"), expected, strict=True)
            setattr(tables, field, tuple(archive.array(f"{field}.{d}", np.float32, n) for d, n in rows))
        for d, name in enumerate(("forward", "reverse")):
            tables.set_jumps(d, *(archive.array(f"jumps.{which}.{name}", np.float64) for which in _JUMPS))
        model = AlignmentModel(tables, options.core(), options.string_prior)
        return cls(model, options, archive.training())


def _what_is_missing(result: Alignment) -> str:
    if isinstance(result.certificate, Certificate) and not result.certificate.exact:
        return f"the budget ended before the proof; the answer may be {result.certificate.gap:.4g} off"
    if result.sampling is not None and result.sampling.note is not None:
        return f"{result.sampling.note}; raise the budget, or ask for marginals='hmm'"
    return "the draws do not decide all links; ask for more samples"
