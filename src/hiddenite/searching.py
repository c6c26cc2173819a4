"""A search that is watched turn by turn: the core's stepper as an iterator of steps.

Batch runs exhaust the same stepper in the core, so what is seen here is what they do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hiddenite._core import Decoder, LatticeSearch, Strategy
from hiddenite.errors import UnknownSymbolError, near_spellings
from hiddenite.query import STRATEGIES
from hiddenite.results import Step
from hiddenite.vocabulary import Vocabulary

WATCHED = ("refine", "paper")


def refining(method: str, strategy: str) -> tuple[Strategy, bool]:
    """Return the core's name of a strategy, and whether the method is ``paper``; check both."""
    if strategy not in STRATEGIES:
        raise UnknownSymbolError("strategy", strategy, near_spellings(strategy, STRATEGIES))
    if method not in WATCHED:
        raise UnknownSymbolError("method", method, near_spellings(method, WATCHED))
    return STRATEGIES[strategy], method == "paper"


class Search(Iterator[Step]):
    """A search that is watched turn by turn; see :func:`hiddenite.search`."""

    def __init__(
        self,
        decoder: Decoder | LatticeSearch,
        words: Callable[[Sequence[int]], tuple[str, ...]],
        vocabulary: Vocabulary,
    ) -> None:
        self._decoder = decoder
        self._words = words  # of a path of the core
        self._vocabulary = vocabulary
        self.done = False  # the last path is proved to be the best of all

    def __next__(self) -> Step:
        if self.done:
            raise StopIteration
        step = self._decoder.step()
        self.done = step.done
        trial = step.trial
        return Step(self._words(trial.path), trial.log_q, trial.log_p, step.upper, step.lower, step.states)

    def contexts(self, position: int) -> list[tuple[str, ...]]:
        """Return what the bound's states before a position know: the words that the history ends in.

        The number of positions stands for ``</s>``; of a lattice, the position is a node. A search begins
        with one state each, which knows nothing; contexts of several words are where it had to look closer.
        """
        return [tuple(self._vocabulary[w] for w in words) for words, _ in self._decoder.states(position)]
