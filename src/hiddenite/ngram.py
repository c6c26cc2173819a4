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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hiddenite._core import (
    COMPILED_MAGIC,
    LEAST_LOG10,
    Engine,
    KneserNeyTrainer,
    NgramTable,
    open_compiled,
    read_arpa,
    write_arpa,
    write_compiled,
)
from hiddenite._core import fingerprint as core_fingerprint
from hiddenite.corpus import (
    ChunkReader,
    Sentence,
    atomic_output,
    chunk_source,
    decode,
    sentence_chunks,
    sentence_text,
    tokenize,
)
from hiddenite.errors import FormatError, HiddeniteWarning, ModelError
from hiddenite.results import Discount, SentenceScores
from hiddenite.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_ORDER = 64
DEFAULT_MEMORY_BYTES = 2 << 30
Progress = Callable[[int], None]


def _temporary_directory() -> str:
    from tempfile import gettempdir  # noqa: PLC0415  (brings modules that using a model does not need)

    return gettempdir()


@dataclass(frozen=True)
class TrainingOptions:
    """How to estimate a model; see :meth:`NgramModel.train`."""

    order: int = 5
    prune: Sequence[int] = ()  # [n - 1]: n-grams of order n seen at most so often are left out
    unknown_below: int = 0  # words seen less often become <unk>
    vocabulary: Iterable[str] | None = None  # all other words become <unk>
    memory_bytes: int = DEFAULT_MEMORY_BYTES  # text beyond this goes to sorted runs on disk
    temporary_directory: str = field(default_factory=_temporary_directory)

    def __post_init__(self) -> None:
        if not 1 <= self.order <= MAX_ORDER:
            raise ModelError(f"the order is {self.order}, expected 1 to {MAX_ORDER}")
        if self.prune and (self.prune[0] != 0 or list(self.prune) != sorted(self.prune)):
            found = ",".join(map(str, self.prune))
            raise ModelError(
                f"the pruning thresholds are {found}, expected 0 for words, then never smaller ones (0,0,1)"
            )
        if self.memory_bytes < 1 << 20:
            raise ModelError(f"the memory is {self.memory_bytes} bytes, expected at least 1 MiB")

    def trainer(self) -> KneserNeyTrainer:
        """Return an empty trainer with these options."""
        words = None if self.vocabulary is None else _check_words(self.vocabulary)
        return KneserNeyTrainer(
            self.order,
            list(self.prune),
            self.unknown_below,
            words,
            self.memory_bytes,
            self.temporary_directory,
        )


def _check_words(words: Iterable[str]) -> list[str]:
    if isinstance(words, str):
        raise ModelError("the vocabulary is a string, expected a collection of words")
    result = list(words)
    for word in result:
        if tokenize(word) != [word] or "\0" in word:
            raise ModelError(f"the vocabulary holds {word!r}, expected words without white space or NUL")
    return result


class NgramModel:
    """A back-off language model; immutable, and safe to share between threads."""

    def __init__(self, table: NgramTable, discounts: Sequence[Discount] = ()) -> None:
        self._table = table
        self.discounts = tuple(discounts)
        self.vocabulary = Vocabulary(table)

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

        ``on_progress`` is told how many bytes of all files have been read.
        """
        trainer = options.trainer()
        done = 0

        def report(bytes_read: int) -> None:
            if on_progress is not None:
                on_progress(done + bytes_read)

        for path in paths:
            with ChunkReader(path, report) as reader:
                trainer.add(reader, reader.name)
                done += reader.bytes_read
        return cls.from_trainer(trainer)

    @classmethod
    def from_trainer(cls, trainer: KneserNeyTrainer, runs: Sequence[str] | None = None) -> NgramModel:
        """Estimate from what a trainer was given; ``runs`` are files of shards counted elsewhere."""
        table, rows, _, _ = trainer.finish(None if runs is None else list(runs))
        discounts = [Discount(n, *row) for n, row in enumerate(rows, 1)]
        fallen_back = [str(d.order) for d in discounts if not d.closed_form]
        if fallen_back:
            warnings.warn(
                f"too few different counts for the Kneser-Ney discounts of order {', '.join(fallen_back)}: "
                "using 0.5, 1 and 1.5 there",
                HiddeniteWarning,
                stacklevel=3,
            )
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
        with ChunkReader(path) as reader:
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
        if os.fspath(path).endswith((".gz", ".bz2", ".xz")):
            raise ModelError(f"{os.fspath(path)} would be compressed; a compiled model is mapped as it is")
        with atomic_output(path) as out:
            write_compiled(self._table, out.write, index)

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

    def score(self, sentences: Iterable[Sentence], threads: int = 0) -> SentenceScores:
        """Score sentences: strings, split at white space, or sequences of words. ``threads=0``: all cores."""
        return self.score_text(sentence_text(sentences), threads=threads)

    def score_text(
        self, text: bytes, threads: int = 0, name: str = "<sentences>", first_line: int = 1
    ) -> SentenceScores:
        """Score UTF-8 text, one sentence a line; ``name`` and ``first_line`` place its errors."""
        return SentenceScores(*self._table.score_text(text, threads, name, first_line))

    def token_log_probs(self, text: bytes, threads: int = 0) -> NDArray[np.float64]:
        """ln p(word | before), for each word and ``</s>``, line after line; on one thread."""
        del threads
        return self._table.token_log_probs(text, "<sentences>", 1)


def _is_compiled(path: str | os.PathLike[str]) -> bool:
    if not os.path.isfile(path):  # a pipe can be read only once
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(COMPILED_MAGIC)) == COMPILED_MAGIC
    except OSError:
        return False


def read_vocabulary(path: str | os.PathLike[str]) -> list[str]:
    """Read a vocabulary file: words separated by white space, in any number of lines."""
    with ChunkReader(path) as reader:
        try:
            text = b"".join(iter(reader, b""))
        except ValueError as error:
            raise FormatError(reader.name, None, str(error)) from None
    words = tokenize(decode(text, reader.name))
    if not words:
        raise FormatError(reader.name, None, "holds no word, expected a vocabulary")
    return words
