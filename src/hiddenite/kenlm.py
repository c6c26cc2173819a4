"""KenLM's names and log10 scores: ``import hiddenite.kenlm as kenlm`` ports a program.

New programs are better served by :class:`hiddenite.NgramModel`, whose logarithms are natural.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from hiddenite._core import Scorer, State
from hiddenite.ngram import NgramModel

__all__ = ["LanguageModel", "Model", "State"]


class Model:
    """A language model file: ARPA text, plain or compressed, or one that hiddenite compiled."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.model = NgramModel.load(path)
        self.order = self.model.order
        self._scorer = Scorer(self.model._table)
        self.BaseScore = self._scorer.base_log10_score  # kept, because looking it up for each word takes time

    def __contains__(self, word: str) -> bool:
        return word in self.model

    def score(self, sentence: str | bytes, bos: bool = True, eos: bool = True) -> float:
        """Return log10 p of a sentence."""
        return self._scorer.score(sentence, bos, eos, True)

    def full_scores(
        self, sentence: str | bytes, bos: bool = True, eos: bool = True
    ) -> Iterator[tuple[float, int, bool]]:
        """Yield for each word log10 p, the length of the n-gram that gave it, and whether it is OOV."""
        return iter(self._scorer.full_scores(sentence, bos, eos, True))

    def perplexity(self, sentence: str | bytes) -> float:
        """Return the perplexity of a sentence, ``</s>`` included."""
        return self.model.perplexity(sentence)

    def BeginSentenceWrite(self, state: State) -> None:
        """Make ``state`` that after ``<s>``."""
        state.assign(self._scorer.begin_state())

    def NullContextWrite(self, state: State) -> None:
        """Make ``state`` that without any word before."""
        state.assign(State())


LanguageModel = Model
