"""N-gram language models: train, read, score, maximise.

The model is interpolated modified Kneser-Ney as KenLM's lmplz estimates it, or any ARPA file. Inner loops are
in C++; see ``cpp/hiddenite/ngram.hpp`` for the table and the max-backoff bound.
"""

from __future__ import annotations

import functools
import math
import mmap
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, overload

from hiddenite._core import (
    COMPILED_MAGIC,
    LEAST_LOG10,
    Engine,
    KneserNeyTrainer,
    NgramTable,
    Scorer,
    State,
    open_compiled,
    read_arpa,
    write_arpa,
    write_compact,
    write_compiled,
)
from hiddenite._core import fingerprint as core_fingerprint
from hiddenite.errors import FormatError, HiddeniteWarning, ModelError
from hiddenite.files.corpus import (
    ChunkReader,
    Sentence,
    chunk_source,
    sentence_chunks,
    sentence_text,
)
from hiddenite.files.output import atomic_output
from hiddenite.ngram_training import TrainingOptions, count_files
from hiddenite.scores import Discount, SentenceScores, missing_discounts
from hiddenite.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Progress = Callable[[int], None]


class BaseScore(Protocol):
    """A function of a state and a word; see :attr:`NgramModel.base_score`."""

    @overload
    def __call__(self, state: State, word: str | bytes, out: State, /) -> float: ...
    @overload
    def __call__(self, state: State, word: str | bytes, /) -> tuple[float, State]: ...


class NgramModel:
    """A back-off language model; immutable, and safe to share between threads."""

    def __init__(self, table: NgramTable, discounts: Sequence[Discount] = ()) -> None:
        self._table = table
        self.discounts = tuple(discounts)
        self.vocabulary = Vocabulary(table)

    def __repr__(self) -> str:
        return f"<NgramModel order={self.order}, {sum(self.ngram_counts):,} n-grams>"

    # ------------------------------------------------------------- make

    @classmethod
    def train(cls, sentences: Iterable[Sentence], order: int = 5, **options: object) -> NgramModel:
        """Estimate a model from sentences: strings, split at white space, or sequences of words.

        ``options`` are the fields of :class:`TrainingOptions`. Where the closed-form discounts do not exist
        (small texts, tags, characters), the order uses 0.5, 1 and 1.5, with a warning.
        """
        trainer = TrainingOptions(order=order, **options).trainer()  # type: ignore[arg-type]
        trainer.add(chunk_source(sentence_chunks(sentences)), "<sentences>")
        return cls.from_trainer(trainer)

    @classmethod
    def train_files(
        cls,
        paths: Iterable[str | os.PathLike[str]],
        options: TrainingOptions,
        on_progress: Progress | None = None,
    ) -> NgramModel:
        """Estimate a model from text files, one sentence a line; ``-`` is standard input.

        ``on_progress`` gets how many bytes of all files have been read.
        """
        trainer = options.trainer()
        done = 0
        names = []

        def report(bytes_read: int) -> None:
            if on_progress is not None:
                on_progress(done + bytes_read)

        for path in paths:
            with ChunkReader(path, report) as reader:
                trainer.add(reader, reader.name)
                done += reader.bytes_read
                names.append(reader.name)
        try:
            return cls.from_trainer(trainer)
        except ModelError as error:
            if not str(error).startswith("the text is empty"):
                raise
            raise ModelError(f"{', '.join(names)}: {error}") from None

    @classmethod
    def train_counts(cls, path: str | os.PathLike[str], options: TrainingOptions) -> NgramModel:
        """Estimate a model from counts of n-grams: a file as ``lm count`` and SRILM write it, or a folder.

        The model of complete counts is that of the text. Counts without the rare n-grams need a smoothing
        other than Kneser-Ney.
        """
        trainer = options.trainer()
        for file in count_files(path):
            with ChunkReader(file) as reader:
                trainer.add_counts(reader, reader.name)
        return cls.from_trainer(trainer)

    @classmethod
    def from_trainer(cls, trainer: KneserNeyTrainer, runs: Sequence[str] | None = None) -> NgramModel:
        """Estimate from what a trainer was given; ``runs`` are files of shards counted elsewhere."""
        table, rows, _, _ = trainer.finish(None if runs is None else list(runs))
        discounts = [Discount(n, *row) for n, row in enumerate(rows, 1)]
        if note := missing_discounts(discounts):
            warnings.warn(note, HiddeniteWarning, stacklevel=3)
        return cls(table, discounts)

    @classmethod
    def load(cls, path: str | os.PathLike[str], unknown_log10: float | None = None) -> NgramModel:
        """Read an ARPA or MAX-ARPA file, plain or compressed, or open a compiled model.

        A compiled model (:meth:`compile`) is told by its first bytes. It is mapped into memory, not read.

        ``unknown_log10`` is log10 p of ``<unk>`` for a file that lists none; -99 and -inf stand for zero, as
        in the file. Without it such a file gives unknown words probability zero, with a warning.
        """
        if unknown_log10 is not None and not (
            LEAST_LOG10 <= unknown_log10 <= 0 or unknown_log10 == -math.inf
        ):
            raise ModelError(
                f"log10 p(<unk>) is {unknown_log10}, expected {LEAST_LOG10} to 0, or -inf for zero"
            )
        if _is_compiled(path):
            return cls._open(path, unknown_log10)
        with ChunkReader(path, is_text=False) as reader:
            table, notes, _ = read_arpa(reader, reader.name, unknown_log10)
        for note in notes:
            warnings.warn(note, HiddeniteWarning, stacklevel=2)
        return cls(table)

    @classmethod
    def _open(cls, path: str | os.PathLike[str], unknown_log10: float | None) -> NgramModel:
        name = os.fspath(path)
        try:
            with open(path, "rb") as file:
                mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise FormatError(name, None, f"cannot be mapped into memory: {error}") from None
        table = open_compiled(mapping, name)
        if not table.unknown_is_listed:
            if unknown_log10 is not None:
                raise ModelError(
                    f"{name} is compiled; give log10 p(<unk>) when it is compiled from its ARPA file"
                )
            note = f"{name}: lists no <unk>: words outside its vocabulary have probability zero"
            warnings.warn(note, HiddeniteWarning, stacklevel=3)
        return cls(table)

    def compile(self, path: str | os.PathLike[str], index: bool = True) -> None:
        """Write a file that :meth:`load` maps into memory: opened at once, shared by all processes.

        ``index`` keeps what inference builds on first use too, about two thirds of the file.
        """
        _refuse_compression(path)
        with atomic_output(path) as out:
            write_compiled(self._table, out.write, index)

    def compact(self, path: str | os.PathLike[str]) -> None:
        """Write a small file that :meth:`load` reads: what the ARPA file says, in a quarter of its size.

        Numbers of which an order has at most 65,536 different ones (:func:`~hiddenite.ngram_tools.quantize`)
        take a byte or two each, others four; none is changed.
        """
        _refuse_compression(path)
        with atomic_output(path) as out:
            write_compact(self._table, out.write)

    def save(self, path: str | os.PathLike[str], max_columns: bool = False) -> None:
        """Write an ARPA file, compressed by the name's ending; loading it gives the same model.

        ``max_columns`` adds log10 mf and log10 mb to each line (MAX-ARPA).
        """
        with atomic_output(path) as out:
            write_arpa(self._table, out.write, max_columns)

    # -------------------------------------------------------------- ask

    @property
    def is_compiled(self) -> bool:
        """Whether the model is a mapped file."""
        return self._table.is_compiled

    def verify(self) -> None:
        """Read all of a compiled model and compare its checksums; FormatError if one differs."""
        self._table.verify()

    @functools.cached_property
    def fingerprint(self) -> str:
        """The name of what the model says, the same for all files of it; computed when it is first asked."""
        return core_fingerprint(self._table)

    @functools.cached_property
    def engine(self) -> Engine:
        """The core's exact inference under this model; builds its index when it is first asked."""
        return Engine(self._table)

    @property
    def order(self) -> int:
        """The longest n-grams have so many words."""
        return self._table.order

    @property
    def ngram_counts(self) -> tuple[int, ...]:
        """Number of n-grams per order."""
        return tuple(self._table.ngram_counts)

    @property
    def memory_bytes(self) -> int:
        """Size of the table, max columns and vocabulary included."""
        return self._table.num_bytes

    @property
    def knows_unknown(self) -> bool:
        """Whether words outside the vocabulary have a probability."""
        return self._table.unknown_is_listed

    def log_prob(self, word: str, context: Sequence[str] = ()) -> float:
        """ln p(word | context); the last ``order`` - 1 words of the context count, ``<s>`` may begin it."""
        return self._table.conditional(self.vocabulary.id(word), self._ids(context))

    def max_log_prob(self, word: str, context: Sequence[str] = ()) -> float:
        """The maximum of :meth:`log_prob` over ``context`` and all longer contexts that end in it."""
        return self._table.max_conditional(self.vocabulary.id(word), self._ids(context))

    def _ids(self, context: Sequence[str]) -> list[int]:
        if isinstance(context, str):
            raise ModelError("the context is a string, expected a sequence of words")
        return [self.vocabulary.id(word) for word in context[-self.order :]]

    # ---------------------------------------------------- in KenLM's shape

    @overload
    def score(  # type: ignore[overload-overlap]
        self, sentences: str | bytes, bos: bool = True, eos: bool = True, *, log10: bool = False
    ) -> float: ...
    @overload
    def score(self, sentences: Iterable[Sentence], *, threads: int = 0) -> SentenceScores: ...
    def score(
        self,
        sentences: str | bytes | Iterable[Sentence],
        bos: bool = True,
        eos: bool = True,
        *,
        log10: bool = False,
        threads: int = 0,
    ) -> float | SentenceScores:
        """Return ln p of one sentence, a string; of an iterable of sentences, all their scores.

        ``bos``: the sentence follows ``<s>``; ``eos``: ``</s>`` follows it. ``log10`` gives log10 p. A list
        holds strings, split at white space, or sequences of words; ``threads=0`` uses all cores.
        """
        if isinstance(sentences, str | bytes):
            return self._scorer.score(sentences, bos, eos, log10)
        if not bos or not eos or log10:
            raise ModelError("bos, eos and log10 are for one sentence, a string; found a list of sentences")
        return self.score_text(sentence_text(sentences), threads=threads)

    def full_scores(
        self, sentence: str | bytes, bos: bool = True, eos: bool = True, *, log10: bool = False
    ) -> Iterator[tuple[float, int, bool]]:
        """Yield for each word ln p, the length of the n-gram that gave it, and whether it is OOV."""
        return iter(self._scorer.full_scores(sentence, bos, eos, log10))

    def perplexity(self, sentences: str | bytes | Iterable[Sentence]) -> float:
        """exp of minus the mean ln p per token, ``</s>`` included; of a sentence or of many."""
        one = [sentences] if isinstance(sentences, str | bytes) else sentences
        return self.score(one).summary().perplexity

    def __contains__(self, word: object) -> bool:
        return word in self.vocabulary

    def begin_state(self) -> State:
        """Return the state at the beginning of a sentence, after ``<s>``."""
        return self._scorer.begin_state()

    def null_state(self) -> State:
        """Return the state without any word before."""
        return State()

    @functools.cached_property
    def base_score(self) -> BaseScore:
        """The score of one word: ``base_score(state, word)`` gives (ln p, the state after the word).

        ``base_score(state, word, out)`` makes ``out`` the state after the word, as KenLM's BaseScore does,
        and gives ln p alone.
        """
        return self._scorer.base_score

    @functools.cached_property
    def _scorer(self) -> Scorer:
        return Scorer(self._table)

    # ----------------------------------------------------------- many at once

    def score_text(
        self, text: bytes, threads: int = 0, name: str = "<sentences>", first_line: int = 1
    ) -> SentenceScores:
        """Score UTF-8 text, one sentence a line; ``name`` and ``first_line`` place its errors."""
        return SentenceScores.of(*self._table.score_text(text, threads, name, first_line))

    def token_log_probs(self, text: bytes, threads: int = 0) -> NDArray[np.float64]:
        """ln p(word | before), for each word and ``</s>``, line after line; on one thread."""
        del threads
        return self._table.token_log_probs(text, "<sentences>", 1)


def _refuse_compression(path: str | os.PathLike[str]) -> None:
    if os.fspath(path).endswith((".gz", ".bz2", ".xz")):
        raise ModelError(f"{os.fspath(path)} would be compressed; a compiled model is mapped as it is")


def _is_compiled(path: str | os.PathLike[str]) -> bool:
    if not os.path.isfile(path):  # a pipe can be read only once
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(COMPILED_MAGIC)) == COMPILED_MAGIC
    except OSError:
        return False
