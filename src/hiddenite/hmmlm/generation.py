"""Sentences under constraints, of a chain or a mixture of chains; ``cpp/hiddenite/chain_product.hpp``.

A constraint is an automaton over words, words at fixed positions, and a range of lengths. For a mixture the
probability of the constraint is the weighted sum of the members', and a draw first takes a member by share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import HmmProduct, Walk
from hiddenite.corpus import tokenize
from hiddenite.errors import ModelError, UnknownSymbolError, near_spellings
from hiddenite.hmmlm.constraints import ANYTHING, WordAutomaton, constraint
from hiddenite.hmmlm.mixing import log_weights
from hiddenite.hmmlm.states import IMPOSSIBLE, Hmms, Weights
from hiddenite.vocabulary import SENTENCE_BEGIN, SENTENCE_END

FREE = 0xFFFFFFFF  # a position that any word may take
METHODS = ("sample", "rescore", "best")


class Question:
    """A constraint, checked against the vocabulary."""

    def __init__(
        self,
        ids: Mapping[str, int],
        *,
        keywords: Iterable[str | Sequence[str]],
        pattern: str | None,
        fixed: Mapping[int, str] | None,
        length: int | None,
        max_length: int,
    ) -> None:
        if isinstance(keywords, str):
            raise ModelError("the keywords are a string, expected a list of words or phrases")
        if max_length < 0 or (length is not None and length < 0):
            raise ModelError("expected a length from 0 up")
        self._ids = ids
        phrases = [tokenize(phrase) if isinstance(phrase, str) else list(phrase) for phrase in keywords]
        for phrase in phrases:
            for word in phrase:
                self._known(word)
        self.automaton: WordAutomaton = constraint(phrases, pattern)
        positions = fixed or {}
        last = max(positions, default=-1)
        self.longest = max_length if length is None else length
        self.shortest = last + 1 if length is None else length
        if min(positions, default=0) < 0 or last >= self.longest:
            raise ModelError(f"a fixed position is outside the sentence, expected 0 to {self.longest - 1}")
        self.slots = [FREE] * (last + 1)
        for position, word in positions.items():
            self.slots[position] = self._known(word)

    def _known(self, word: str) -> int:
        if word not in self._ids or word in (SENTENCE_BEGIN, SENTENCE_END):
            raise UnknownSymbolError("word", word, near_spellings(word, self._ids))
        return self._ids[word]

    def products(self, chains: Hmms, best: bool, threads: int) -> list[HmmProduct]:
        """Return the product of the automaton with each chain."""
        core = self.automaton.core(self._ids, len(self._ids))
        return [
            HmmProduct(chain, core, self.slots, self.shortest, self.longest, best, threads)
            for chain in chains
        ]

    def log_prob(self, chains: Hmms, weights: Weights, threads: int) -> float:
        """ln of the probability of the constraint."""
        return float(np.logaddexp.reduce(_joint(self.products(chains, False, threads), weights)))


@dataclass(frozen=True, slots=True)
class Drawn:
    """Members and walks, and ln of the probability of the constraint."""

    walks: list[tuple[int, Walk]]
    log_prob: float


def _joint(products: Sequence[HmmProduct], weights: Weights) -> NDArray[np.float64]:
    return np.array([product.log_prob for product in products]) + log_weights(weights)


def draw(
    chains: Hmms,
    weights: Weights,
    question: Question,
    *,
    n: int,
    method: str,
    candidates: int,
    seed: int,
    threads: int,
) -> Drawn:
    """Return independent draws, more of them for ``rescore``, or the best walk."""
    if method not in METHODS:
        raise ModelError(f"found the method '{method}', expected {', '.join(METHODS)}")
    if n < 1 or candidates < 1:
        raise ModelError("expected at least one sentence")
    products = question.products(chains, False, threads)
    joint = _joint(products, weights)
    log_prob = float(np.logaddexp.reduce(joint))
    if not np.isfinite(log_prob):
        raise ModelError(
            "no sentence of the model satisfies the constraint; ask for another length or other words"
        )
    if method == "best":
        maxima = question.products(chains, True, threads)
        m = int(np.argmax(_joint(maxima, weights)))
        return Drawn([(m, maxima[m].best_walk())], log_prob)
    rng = np.random.default_rng(seed)
    number = n if method == "sample" else max(n, candidates)
    members = rng.choice(len(chains), number, p=np.exp(joint - log_prob) / np.exp(joint - log_prob).sum())
    walks = [(int(m), products[m].draw(seed, stream)) for stream, m in enumerate(members)]
    return Drawn(walks, log_prob)


def fill(
    chains: Hmms, weights: Weights, slots: list[int], threads: int
) -> tuple[float, list[NDArray[np.float64]]]:
    """Return ln p of the fixed words and, for each free position, p(word | them) by word id."""
    core = ANYTHING.core({}, chains[0].num_words)
    size = len(slots)
    products = [HmmProduct(chain, core, slots, size, size, False, threads) for chain in chains]
    joint = _joint(products, weights)
    log_prob = float(np.logaddexp.reduce(joint))
    if not np.isfinite(log_prob):
        raise ModelError(IMPOSSIBLE)
    gaps = [t for t, word in enumerate(slots) if word == FREE]
    tables = [np.zeros(chains[0].num_words) for _ in gaps]
    for product, share in zip(products, np.exp(joint - log_prob), strict=True):
        if share > 0:
            for i, part in enumerate(product.word_probabilities(gaps)):
                tables[i] += share * part
    return log_prob, tables
