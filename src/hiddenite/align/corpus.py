"""The links of a corpus that a model was trained on: train and align in one go.

The averages that training collects are link probabilities of the training pairs themselves. ``threshold``
takes the links whose mean probability over both directions reaches it; ``probabilities`` takes each word's
most probable partner (or NULL) in each direction and symmetrizes; ``exact`` and ``viterbi`` ask the model for
best alignments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite.align import symmetrize as symmetrization
from hiddenite.align.aligner import BATCH, Aligner
from hiddenite.align.answers import Alignment, Question, links_above
from hiddenite.align.bitext import Block
from hiddenite.align.links import Link
from hiddenite.align.training import Training
from hiddenite.errors import ModelError, UnknownSymbolError, near_spellings
from hiddenite.results import Failure

DEFAULT_DECODER, DEFAULT_THRESHOLD = "threshold", 0.5
DECODERS = ("threshold", "probabilities", "exact", "viterbi")


@dataclass(frozen=True, slots=True)
class CorpusDecoding:
    """How links are taken from a finished training."""

    decode: str = DEFAULT_DECODER
    threshold: float = DEFAULT_THRESHOLD
    symmetrize: str = symmetrization.DEFAULT
    direction: str = "both"
    budget: float | None = None  # of exact: seconds per sentence pair

    def __post_init__(self) -> None:
        if self.decode not in DECODERS:
            raise UnknownSymbolError(
                "decoding", self.decode, near_spellings(self.decode, DECODERS) or DECODERS
            )
        if not 0 < self.threshold <= 1:
            raise ModelError(f"the threshold is {self.threshold}, expected a number above 0, at most 1")
        self.question()  # checks the rest

    def question(self) -> Question:
        """Return what to ask of a model, for the decoders that do."""
        method = self.decode if self.decode in ("exact", "viterbi") else "exact"
        return Question(method, self.direction, self.symmetrize, budget=self.budget)


def align_corpus(
    training: Training, decoding: CorpusDecoding | None = None, *, threads: int = 0
) -> Iterator[Alignment | Failure]:
    """Give the links of each training pair, in order, after the last sweep."""
    decoding = decoding or CorpusDecoding()
    training.finished()
    if decoding.decode in ("exact", "viterbi"):
        return _by_model(training, decoding.question(), threads)
    return (_by_probability(training, s, decoding) for s in range(len(training)))


def _by_model(training: Training, question: Question, threads: int) -> Iterator[Alignment | Failure]:
    aligner = Aligner.from_training(training)
    sides = [
        text.removesuffix(b"\n").split(b"\n") for text in (training.bitext.source, training.bitext.target)
    ]
    for first in range(0, len(training), BATCH):
        source, target = (b"\n".join(lines[first : first + BATCH]) + b"\n" for lines in sides)
        yield from aligner.ask_block(Block(source, target, first + 1), question, threads=threads)


def _by_probability(training: Training, sentence: int, decoding: CorpusDecoding) -> Alignment:
    forward, reverse = training.link_probabilities(sentence)
    chosen = {"forward": forward, "reverse": reverse, "both": (forward + reverse) * np.float32(0.5)}
    probabilities = chosen[decoding.direction]
    if decoding.decode == "threshold":
        links = links_above(probabilities, decoding.threshold)
    else:
        links = _most_probable(forward, reverse, decoding)
    return Alignment(links, None, None, probabilities, id=sentence + 1)


def _most_probable(
    forward: NDArray[np.float32], reverse: NDArray[np.float32], decoding: CorpusDecoding
) -> tuple[Link, ...]:
    e_to_f = [(i, j) for j, i in best_partners(forward)]
    f_to_e = best_partners(reverse.T)
    if decoding.direction == "both":
        return symmetrization.symmetrize(e_to_f, f_to_e, decoding.symmetrize)
    return tuple(sorted(e_to_f if decoding.direction == "forward" else f_to_e))


def best_partners(probabilities: NDArray[np.float32]) -> list[Link]:
    """Return (row, column) of each row's most probable column, where it beats NULL, which has the rest."""
    if probabilities.size == 0:
        return []
    best = probabilities.argmax(axis=1)
    rows = np.arange(len(best))
    wins = probabilities[rows, best] > 1.0 - probabilities.sum(axis=1)
    return list(zip(rows[wins].tolist(), best[wins].tolist(), strict=True))
