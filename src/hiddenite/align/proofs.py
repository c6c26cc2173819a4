"""Proofs of best alignments as data, for those who do not trust the engine.

A proof is of one direction: the links, their weight, and a tree of cases whose leaves are multipliers
(``cpp/hiddenite/align/branching.hpp``). :mod:`hiddenite.checker.alignment` checks it with the model file and
the words alone.

A proof file is JSON lines: a header with the format and the model file's SHA-256, a record for each sentence
pair and direction, and a last line with their number.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hiddenite._core import CoreAligned, ProofTree
from hiddenite.checker.alignment import FORMAT, VERSION
from hiddenite.checker.alignment_weights import WAYS

_LEAF, _COUNT = 0, 1  # kinds of nodes


@dataclass(frozen=True, slots=True)
class AlignmentProof:
    """Why no alignment of one direction weighs more, or why that is not known."""

    direction: str  # forward: source words generate target words
    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[int, ...] = ()  # of each generated word: 0 is NULL
    log_weight: float = 0.0
    tree: tuple[dict[str, Any], ...] = ()  # each node before its two cases
    error: str | None = None  # why there is no proof

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        words = {"direction": self.direction, "source": list(self.source), "target": list(self.target)}
        if self.error is not None:
            return words | {"error": self.error}
        claim = {"links": list(self.links), "log_weight": self.log_weight}
        return words | claim | {"tree": list(self.tree)}


def read_proof(
    best: CoreAligned, tree: ProofTree | None, d: int, words: Sequence[Sequence[str]]
) -> AlignmentProof:
    """Turn the core's proof of direction d into a record."""
    source, target = (tuple(side) for side in words)
    if tree is None:
        missing = "the budget ended before the proof" if best.exact else "the alignment is not certified"
        return AlignmentProof(WAYS[d], source, target, error=missing)
    shape = len(words[1 - d]), len(words[d]) + 1
    leaves = (leaf.reshape(shape)[:, 1:].tolist() for leaf in tree.multipliers)
    nodes = tuple(_node(kind, word, value, leaves) for kind, word, value in tree.nodes.tolist())
    links = tuple(best.links[0].tolist())
    return AlignmentProof(WAYS[d], source, target, links, float(best.log_weights[0]), nodes)


def _node(kind: int, word: int, value: int, leaves: Iterator[list[list[float]]]) -> dict[str, Any]:
    if kind == _LEAF:
        return {"multipliers": [[_short(u) for u in row] for row in next(leaves)]}
    return {"word": word, "at_most": value} if kind == _COUNT else {"generated": word, "link": value}


def _short(number: float) -> float:
    """Return the same number as JSON writes it in fewer letters."""
    return int(number) if number == int(number) else number


def model_checksum(path: str | os.PathLike[str]) -> str:
    """Return what proofs say of the model file that they are about."""
    import hashlib  # noqa: PLC0415  (takes memory that only proofs need)

    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def proof_header(model: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the first line of a proof file."""
    return {"format": FORMAT, "version": VERSION, "model": model_checksum(model)}


def write_alignment_proofs(
    path: str | os.PathLike[str],
    model: str | os.PathLike[str],
    proofs: Iterable[tuple[str | int | None, AlignmentProof]],
) -> None:
    """Write proofs with their ids, whole or not at all; ``model`` is the file of their aligner."""
    from hiddenite.proof import proof_output  # noqa: PLC0415  (it knows language models too)

    with proof_output(path) as writer:
        writer.begin(proof_header(model))
        for name, proof in proofs:
            writer.add(writer.count, [(name, proof)])
