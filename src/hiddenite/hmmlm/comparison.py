"""A lexicalised model beside a 5-gram model of the same text, alone and interpolated, on held-out text."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite.hmmlm.histories import Histories
from hiddenite.hmmlm.interpolation import Interpolation
from hiddenite.hmmlm.lexical import LexicalTraining
from hiddenite.hmmlm.model import HMMLanguageModel
from hiddenite.ngram import NgramModel
from hiddenite.vocabulary import UNKNOWN

ORDER = 5
_PLACEHOLDER = b"\xe2\x9f\xa8unk\xe2\x9f\xa9"  # an ordinary word where the text itself says <unk>


@dataclass(frozen=True, slots=True)
class Comparison:
    """Perplexities of the held-out text."""

    model: float
    ngram: float
    both: float  # weights fitted on one half of the text are scored on the other
    weight: float  # of the model in the mixture overall

    def to_text(self) -> str:
        """Return one line for people."""
        return (
            f"held-out perplexity {self.model:.2f}; {ORDER}-gram {self.ngram:.2f}; "
            f"both {self.both:.2f} with weight {self.weight:.2f}"
        )


class PlainNgrams:
    """An n-gram model that takes ``<unk>`` in a text as the word that it is there."""

    def __init__(self, text: bytes, order: int = ORDER) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # discounts of small texts
            self.model = NgramModel.train(_plain(text).decode().split("\n"), order=order)

    def token_log_probs(self, text: bytes, threads: int = 0) -> NDArray[np.float64]:
        """ln p of each word and sentence end, line after line."""
        return np.asarray(self.model.token_log_probs(_plain(text), threads))


def _plain(text: bytes) -> bytes:
    return text.replace(UNKNOWN.encode(), _PLACEHOLDER)


def compare(training: LexicalTraining, threads: int = 0) -> Comparison:
    """Score the held-out text by all; none has counted it."""
    model = HMMLanguageModel(training.words, [training.held_out_model])
    ngrams = PlainNgrams(training.counted)
    histories = Histories(training.counted)
    lines = training.held_out.splitlines(keepends=True)
    halves = [b"".join(lines[0::2]), b"".join(lines[1::2]) or training.held_out]
    both = [Interpolation.fit([model, ngrams], half, threads, histories) for half in halves]
    scores = [one.token_log_probs(half, threads) for one, half in zip(both, halves[::-1], strict=True)]
    return Comparison(
        model.perplexity(training.held_out, threads),
        float(np.exp(-ngrams.token_log_probs(training.held_out, threads).mean())),
        float(np.exp(-np.concatenate(scores).mean())),
        float(np.mean([one.weights[0] for one in both])),
    )
