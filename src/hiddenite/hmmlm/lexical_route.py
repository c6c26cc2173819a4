"""The lexical route of a lexicalised model: what contexts say of the next word, and how much that weighs.

With l and g of ``lexical/contexts.hpp`` in C++ the next word has the probability lambda l + gamma h,
gamma = 1 - lambda (1 - g), h being what the hidden states say. Contexts of the same length, about as frequent
and as varied, share a lambda, fitted on held-out text.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import ContextTree, JointFilter, LexicalCounts, TokenText

Floats = NDArray[np.float32]
DISCOUNTS = [0.7, 0.8, 0.85, 0.9]  # by the number of words of a context
_BINS = 32  # of the counts of contexts, by powers of two
_VARIETY = (0.15, 0.3, 0.6)  # bounds of bins: different words after a context, by all words
_STATES = (2, 4, 9)  # bounds of bins: states of a context that are kept
_LEAST = 1e-30  # of a probability, where a difference is rounded to nothing
_WEIGHT_STEPS = 30
_FIRST_WEIGHT = 0.6


class LexicalRoute:
    """Contexts, what they say of the tokens of both texts, and the weights of that route."""

    def __init__(
        self, tree: ContextTree, listed: NDArray[np.bool_], text: TokenText, held_out: TokenText
    ) -> None:
        counts = LexicalCounts(tree, listed, text, DISCOUNTS)
        self.tree, self.listed, self.table = tree, listed, counts.table()
        self._training = (*counts.leave_one_out(text), tree.token_contexts(text))
        self._held_out = (*self.table.shares(tree, held_out), tree.token_contexts(held_out))
        self._bin = _context_bins(tree.lengths, counts.totals, np.diff(self.table.begin.astype(np.int64)))
        self._weight = np.full(int(self._bin.max()) + 1, _FIRST_WEIGHT)

    def tell_apart(self, num_states: NDArray[Any]) -> None:
        """Let the weights depend on how many states each context has: few hidden states say less."""
        number = len(_STATES) + 1
        self._bin = self._bin * number + np.digitize(num_states, _STATES)
        self._weight = np.repeat(self._weight, number)

    def context_weights(self) -> Floats:
        """Return the weight of the lexical route in each context."""
        return self._weight[self._bin].astype(np.float32)

    def _route(self, shares: tuple[Floats, Floats, NDArray[np.uint32]]) -> tuple[Floats, Floats]:
        listed, left, context = shares
        weight = self._weight[self._bin[context]]
        return (weight * listed).astype(np.float32), (1 - weight * (1 - left)).astype(np.float32)

    def training_route(self) -> tuple[Floats, Floats]:
        """Return the lexical probability and the hidden share of each token, itself left out."""
        return self._route(self._training)

    def held_out_route(self) -> tuple[Floats, Floats]:
        """Return the same for the held-out text."""
        return self._route(self._held_out)

    def fit_weights(self, filtered: JointFilter) -> None:
        """Fit the weight of each bin of contexts on the held-out text, by EM."""
        self._fit(filtered.hidden.reshape(-1, len(self._held_out[0])).mean(axis=0))

    def fit_weights_again(self, log_probs: NDArray[np.float64]) -> None:
        """Fit them to what a model with these weights says of the held-out text."""
        lexical, left = self.held_out_route()
        self._fit(np.maximum(np.exp(log_probs) - lexical, _LEAST) / left)

    def _fit(self, hidden: NDArray[np.float64]) -> None:
        listed, left, context = self._held_out
        bins, number = self._bin[context], len(self._weight)
        seen = np.bincount(bins, minlength=number)
        for _ in range(_WEIGHT_STEPS):
            weight = self._weight[bins]
            by_lexical = weight * (listed + left * hidden)
            share = by_lexical / (by_lexical + (1 - weight) * hidden)
            self._weight = (np.bincount(bins, share, number) + 1) / (seen + 2)


def _context_bins(
    lengths: NDArray[Any], totals: NDArray[np.uint64], types: NDArray[Any]
) -> NDArray[np.int64]:
    """Contexts of the same length, about as frequent and as varied, share a weight."""
    total = np.maximum(totals.astype(np.float64), 1)
    size = np.where(totals > 0, np.minimum(np.floor(np.log2(total)) + 1, _BINS - 1), 0).astype(np.int64)
    variety = np.digitize(types / total, _VARIETY)
    return np.asarray((lengths.astype(np.int64) * _BINS + size) * (len(_VARIETY) + 1) + variety)
