"""The links of a corpus that a model was trained on: train and align in one go.

The averages that training collects are link probabilities of the training pairs themselves. ``threshold``
takes the links whose probability (:mod:`hiddenite.align.decisions`) reaches it. Without a number it is the
one of the greatest expected F over the text: F = 2 (expected right links) / (links taken + expected links in
all), which needs no gold links. ``probabilities`` takes each word's most probable partner (or NULL) in each
direction and symmetrizes; ``exact`` and ``viterbi`` ask the model for best alignments.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hiddenite.align import symmetrize as symmetrization
from hiddenite.align.aligner import BATCH, Aligner
from hiddenite.align.answers import DIRECTIONS, Alignment, Question, links_above, read_answer
from hiddenite.align.decisions import link_probabilities
from hiddenite.align.links import Link
from hiddenite.align.training import Training
from hiddenite.arrays import np
from hiddenite.options import Options, option
from hiddenite.results import Failure

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEFAULT_DECODER = "threshold"
DECODERS = ("threshold", "probabilities", "exact", "viterbi")


@dataclass(frozen=True)
class CorpusDecoding(Options):
    """How links are taken from a finished training."""

    decode: str = option(DEFAULT_DECODER, "How links are taken from the training.", choices=DECODERS)
    threshold: float | None = option(
        None,
        "Least probability of a link; that of the greatest expected F if not given.",
        least=1e-9,
        most=1,
        when={"decode": ("threshold",)},
    )
    symmetrize: str = option(
        symmetrization.DEFAULT, "How both directions become one.", choices=tuple(symmetrization.METHODS)
    )
    direction: str = option("both", "Of the alignments.", choices=tuple(DIRECTIONS))
    budget: float | None = option(None, "Seconds per sentence pair, of exact.", least=0)

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
    if decoding.decode == "threshold" and decoding.threshold is None:
        decoding = dataclasses.replace(decoding, threshold=training.best_threshold(decoding.direction))
    return (_by_probability(training, s, decoding) for s in range(len(training)))


def _by_model(training: Training, question: Question, threads: int) -> Iterator[Alignment | Failure]:
    """Ask for best alignments by the ids that the words have in training: the text is not read again."""
    model, task = Aligner.from_training(training).model, question.task()
    for first in range(0, len(training), BATCH):
        last = min(first + BATCH, len(training))
        answers = model.align_trained(training.finished(), task, first, last, threads)
        for number, answer in enumerate(answers, first + 1):
            yield read_answer(answer, question, number)


def _by_probability(training: Training, sentence: int, decoding: CorpusDecoding) -> Alignment:
    forward, reverse = training.link_probabilities(sentence)
    chosen = {"forward": [forward], "reverse": [reverse], "both": [forward, reverse]}
    probabilities = link_probabilities(chosen[decoding.direction])
    if decoding.threshold is not None:
        links = links_above(probabilities, decoding.threshold)
    else:
        links = _most_probable(forward, reverse, decoding)
    return Alignment(links, None, None, probabilities, id=sentence + 1)


def _most_probable(
    forward: NDArray[np.float32], reverse: NDArray[np.float32], decoding: CorpusDecoding
) -> tuple[Link, ...]:
    e_to_f = [(i, j) for j, i in best_partners(forward.T)]
    f_to_e = best_partners(reverse)
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
