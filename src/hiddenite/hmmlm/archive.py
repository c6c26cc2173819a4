"""The file of a hidden Markov language model: chains of a mixture, or one lexicalised model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import LexicalHmm, SparseHmm
from hiddenite.errors import ModelError
from hiddenite.files.archive import Archive, read_archive, write_archive
from hiddenite.hmmlm.arrays import chain_arrays, read_chain
from hiddenite.hmmlm.lexical_arrays import lexical_arrays, read_lexical

_Model = TypeVar("_Model")

FORMAT = "hiddenite hmmlm"
VERSION = 1
_HINT = "expected a file that `hiddenite hmmlm train` wrote; train it again"

Hmm = SparseHmm | LexicalHmm


@dataclass(frozen=True, slots=True)
class Parts:
    """What a file holds."""

    words: Sequence[str]
    members: Sequence[Hmm]
    weights: Sequence[float]
    training: Mapping[str, Any]


def check_members(members: Sequence[Hmm], num_words: int) -> None:
    """Refuse chains that do not go together."""
    if not members or any(chain.num_words != num_words for chain in members):
        raise ModelError("a chain has another number of words than the list of words")
    if len(members) > 1 and any(isinstance(chain, LexicalHmm) for chain in members):
        raise ModelError("a lexicalised model is no member of a mixture; expected it alone")


def sparse_members(members: Sequence[Hmm]) -> list[SparseHmm]:
    """Return the chains of a model that has no contexts; raises ModelError for a lexicalised one."""
    chains = [chain for chain in members if isinstance(chain, SparseHmm)]
    if len(chains) < len(members):
        raise ModelError("the model is lexicalised; expected one of `hmmlm train em`, gradient or neural")
    return chains


def save_model(path: str | os.PathLike[str], parts: Parts) -> None:
    """Write a model file, whole or not at all."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "weights": list(parts.weights),
        "has_end": parts.members[0].has_end,
        "training": dict(parts.training),
    }
    arrays: dict[str, NDArray[Any]] = {}
    for m, chain in enumerate(parts.members):
        if isinstance(chain, LexicalHmm):
            arrays |= {f"lexical.{name}": array for name, array in lexical_arrays(chain).items()}
        else:
            arrays |= {f"{m}.{name}": array for name, array in chain_arrays(chain).items()}
    write_archive(path, header, {"words": parts.words}, arrays, compress=False)


def load_model(path: str | os.PathLike[str], make: Callable[[Parts], _Model]) -> _Model:
    """Make a model of what a file holds; raises FormatError for anything else."""
    return read_archive(path, FORMAT, VERSION, _HINT, lambda archive: make(_read(archive)))


def _read(archive: Archive) -> Parts:
    weights, words = archive.header["weights"], archive.words("words")
    members: list[Hmm] = []
    if archive.arrays("lexical."):
        members.append(read_lexical(lambda name, kind: archive.array(f"lexical.{name}", kind), len(words)))
    else:
        for m in range(len(weights)):
            members.append(read_chain(_of_member(archive, m), bool(archive.header["has_end"])))
    return Parts(words, members, weights, archive.training())


def _of_member(archive: Archive, m: int) -> Any:
    def array(name: str, kind: type[np.generic]) -> NDArray[Any]:
        return archive.array(f"{m}.{name}", kind)

    return array
