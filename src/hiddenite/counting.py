"""N-gram models of texts that are counted in shards, on other machines or one after the other.

The text is cut into shards of whole lines. Twice each shard is sent to whoever counts: first for its words,
from which the vocabulary follows, then for its n-gram windows over that vocabulary, sorted, each once with
its count. The sorted runs are kept on disk and merged by the estimator as those of one machine are; the model
is the same to the bit. What the driver holds is the vocabulary and the distinct n-grams of the model.
"""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hiddenite._core import count_windows
from hiddenite.errors import FormatError, ModelError
from hiddenite.files.corpus import ChunkReader, chunk_source, file_bytes, line_blocks
from hiddenite.ngram import NgramModel
from hiddenite.ngram_training import TrainingOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Words = tuple[list[str], NDArray[np.uint64], int, int]

LEAST_SHARD = 8 << 20  # bytes of text
MOST_SHARDS = 200  # by the size of the files; compressed ones give more


@dataclasses.dataclass(frozen=True, slots=True)
class TextShard:
    """Whole lines of a text."""

    text: bytes
    name: str
    first_line: int

    def source(self) -> Callable[[], bytes]:
        """Return the lines as the core reads them."""
        return chunk_source(iter([self.text]))


class Ask(Protocol):
    """Gives shards with their answers, in order; ``make(*shared)`` is what answers."""

    def __call__(
        self,
        make: Callable[..., Callable[[TextShard], Any]],
        shared: Sequence[Any],
        shards: Iterator[TextShard],
    ) -> Iterator[tuple[TextShard, Any]]:
        """Ask."""


def ask_here(
    make: Callable[..., Callable[[TextShard], Any]], shared: Sequence[Any], shards: Iterator[TextShard]
) -> Iterator[tuple[TextShard, Any]]:
    """Answer here, one shard after the other."""
    answer = make(*shared)
    return ((shard, answer(shard)) for shard in shards)


def cut_text(paths: Sequence[str], shard_bytes: int | None = None) -> Iterator[TextShard]:
    """Give the lines of all files in shards, one in memory at a time."""
    size = shard_bytes or max(LEAST_SHARD, (file_bytes(paths) or 0) // MOST_SHARDS)
    for path in paths:
        with ChunkReader(path) as reader:
            waiting: list[bytes] = []
            first = 1
            for text, _ in line_blocks(reader):
                waiting.append(text)
                if sum(map(len, waiting)) >= size:
                    shard = TextShard(b"".join(waiting), reader.name, first)
                    yield shard
                    first += shard.text.count(b"\n")
                    waiting = []
            if waiting:
                yield TextShard(b"".join(waiting), reader.name, first)


def count_words(options: TrainingOptions) -> Callable[[TextShard], Words]:
    """Return what finds the words of a shard."""

    def answer(shard: TextShard) -> Words:
        trainer = dataclasses.replace(
            options, memory_bytes=max(options.memory_bytes, 64 * len(shard.text))
        ).trainer()
        try:
            trainer.add(shard.source(), shard.name)
        except FormatError as error:
            line = None if error.line is None else error.line + shard.first_line - 1
            raise FormatError(error.file, line, error.message) from None
        return trainer.word_counts()

    return answer


def count_shard(words: list[str], order: int) -> Callable[[TextShard], bytes]:
    """Return what makes the sorted run of a shard."""
    return lambda shard: count_windows(shard.source(), shard.name, words, order)


def train_shards(
    paths: Sequence[str], options: TrainingOptions, ask: Ask, shard_bytes: int | None = None
) -> NgramModel:
    """Estimate the model of text files, as :meth:`NgramModel.train_files` does."""
    if any(os.fspath(path) == "-" for path in paths):
        raise ModelError("standard input can be read once only, expected files that can be read twice")
    trainer = options.trainer()
    for _, counts in ask(count_words, (options,), cut_text(paths, shard_bytes)):
        trainer.add_words(*counts)
    words = trainer.fix_vocabulary()
    with tempfile.TemporaryDirectory(prefix="hiddenite-", dir=options.temporary_directory) as folder:
        runs = []
        shared = (words, options.order)
        for number, (_, run) in enumerate(ask(count_shard, shared, cut_text(paths, shard_bytes))):
            runs.append(Path(folder, f"run-{number}"))
            runs[-1].write_bytes(run)
        return NgramModel.from_trainer(trainer, [str(run) for run in runs])
