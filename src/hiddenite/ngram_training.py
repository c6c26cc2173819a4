"""How an n-gram model is trained: its options, and the vocabulary that it may be limited to."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hiddenite._core import KneserNeyTrainer, NgramSmoothing
from hiddenite.errors import FormatError, ModelError, OptionError
from hiddenite.files.corpus import ChunkReader, decode, tokenize
from hiddenite.options import check_choice

MAX_ORDER = 64
DEFAULT_MEMORY_BYTES = 2 << 30
SMOOTHINGS = {  # formulas: cpp/hiddenite/lm/estimation/smoothing.hpp
    "kneser-ney": NgramSmoothing.KNESER_NEY,
    "witten-bell": NgramSmoothing.WITTEN_BELL,
    "absolute": NgramSmoothing.ABSOLUTE,
    "good-turing": NgramSmoothing.GOOD_TURING,
    "add-k": NgramSmoothing.ADD_K,
}


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
    smoothing: str = "kneser-ney"  # or another of SMOOTHINGS
    added: float = 1.0  # add-k: what is added to each count

    def __post_init__(self) -> None:
        if not 1 <= self.order <= MAX_ORDER:
            raise OptionError("order", f"is {self.order}, expected 1 to {MAX_ORDER}")
        if self.prune and (self.prune[0] != 0 or list(self.prune) != sorted(self.prune)):
            found = ",".join(map(str, self.prune))
            raise OptionError(
                "prune", f"is {found}, expected 0 for words, then counts that never decrease (0,0,1)"
            )
        if self.memory_bytes < 1 << 20:
            raise OptionError("memory", f"is {self.memory_bytes} bytes, expected at least 1 MiB")
        check_choice("smoothing", self.smoothing, SMOOTHINGS)
        if not 0 < self.added < math.inf:
            raise OptionError("added", f"is {self.added}, expected a number above 0")

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
            SMOOTHINGS[self.smoothing],
            self.added,
        )


def _check_words(words: Iterable[str]) -> list[str]:
    if isinstance(words, str):
        raise ModelError("the vocabulary is a string, expected a collection of words")
    result = list(words)
    for word in result:
        if tokenize(word) != [word] or "\0" in word:
            raise ModelError(f"the vocabulary contains {word!r}, expected words without white space or NUL")
    return result


def count_files(path: str | os.PathLike[str]) -> list[str]:
    """Return the files of counts that a path stands for: itself, or those of a folder as Google has them.

    Such a folder holds ``1gms``, ``2gms`` and so on; ``vocab_cs`` has the words of ``vocab`` again.
    """
    name = os.fspath(path)
    if not os.path.isdir(name):
        return [name]
    found = []
    for folder in sorted(os.listdir(name)):
        if not (folder.endswith("gms") and folder.removesuffix("gms").isdecimal()):
            continue
        inside = [
            file for file in sorted(os.listdir(os.path.join(name, folder))) if not file.endswith(".idx")
        ]
        repeats = any(file.startswith("vocab.") or file == "vocab" for file in inside)
        found += [
            os.path.join(name, folder, file)
            for file in inside
            if not (repeats and file.startswith("vocab_cs"))
        ]
    if not found:
        raise FormatError(name, None, "is a folder without counts, expected files in 1gms, 2gms and so on")
    return found


def read_vocabulary(path: str | os.PathLike[str]) -> list[str]:
    """Read a vocabulary file: words separated by white space, in any number of lines."""
    with ChunkReader(path) as reader:
        try:
            text = b"".join(iter(reader, b""))
        except ValueError as error:
            raise FormatError(reader.name, None, str(error)) from None
    words = tokenize(decode(text, reader.name))
    if not words:
        raise FormatError(reader.name, None, "has no word, expected a vocabulary")
    return words
