"""Sentences under constraints, of a chain or a mixture of chains; ``cpp/hiddenite/hmm/product.hpp``.

A constraint is an automaton over words, words at fixed positions, and a range of lengths. For a mixture the
probability of the constraint is the weighted sum of the members', and a draw first takes a member by share.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import Automaton, Deadline, HmmProduct, LexicalHmm, LexicalProduct, Walk
from hiddenite.errors import BudgetExceeded, ModelError
from hiddenite.hmmlm.archive import Hmm
from hiddenite.hmmlm.automata import TokenAutomaton, everything
from hiddenite.hmmlm.constraints import Constraint, TokenVocabulary
from hiddenite.hmmlm.constraints import constraint as keywords_and_pattern
from hiddenite.hmmlm.mixing import log_weights
from hiddenite.hmmlm.states import IMPOSSIBLE, Hmms, Weights
from hiddenite.options import check_seed

FREE = 0xFFFFFFFF  # a position that any word may take
LONGEST = 2000  # words of a sentence; tables grow with it
METHODS = ("sample", "rescore", "best")


Product = HmmProduct | LexicalProduct


def product(
    chain: Hmm, automaton: Automaton, slots: list[int], window: tuple[int, int], threads: int, *, best: bool
) -> Product:
    """Return the product of an automaton with a chain; slots are fixed words, window the lengths."""
    if not isinstance(chain, LexicalHmm):
        return HmmProduct(chain, automaton, slots, *window, best, threads)
    return LexicalProduct(chain, automaton, slots, *window, best, threads)


class Question:
    """A constraint, checked against the vocabulary."""

    def __init__(
        self,
        ids: Mapping[str, int],
        *,
        keywords: Iterable[str | Sequence[str]] = (),
        pattern: str | None = None,
        constraint: Constraint | None = None,
        fixed: Mapping[int, str] | None = None,
        length: int | None = None,
        min_length: int = 0,
        max_length: int,
    ) -> None:
        if isinstance(keywords, str):
            raise ModelError("the keywords are a string, expected a list of words or phrases")
        if max_length < 0 or min_length < 0 or (length is not None and length < 0):
            raise ModelError("expected a length from 0 up")
        if max(max_length, length or 0) > LONGEST:
            raise ModelError(f"expected a length of at most {LONGEST} words")
        vocabulary = TokenVocabulary.of_words(ids)
        asked = keywords_and_pattern(keywords, pattern)
        self.automaton: TokenAutomaton = (asked if constraint is None else asked & constraint).compile(
            vocabulary
        )
        positions = fixed or {}
        last = max(positions, default=-1)
        self.longest = max_length if length is None else length
        self.shortest = max(last + 1, min_length) if length is None else length
        if min(positions, default=0) < 0 or last >= self.longest:
            raise ModelError(f"a fixed position is outside the sentence, expected 0 to {self.longest - 1}")
        if self.shortest > self.longest:
            raise ModelError(
                f"found lengths from {self.shortest} to {self.longest}, expected the smaller first"
            )
        self.slots = [FREE] * (last + 1)
        for position, word in positions.items():
            self.slots[position] = vocabulary.known(word)

    def products(self, chains: Hmms, best: bool, threads: int) -> list[Product]:
        """Return the product of the automaton with each chain."""
        core, window = self.automaton.core(), (self.shortest, self.longest)
        return [product(chain, core, self.slots, window, threads, best=best) for chain in chains]

    def log_prob(self, chains: Hmms, weights: Weights, threads: int) -> float:
        """ln of the probability of the constraint."""
        return float(np.logaddexp.reduce(_joint(self.products(chains, False, threads), weights)))


@dataclass(frozen=True, slots=True)
class Drawn:
    """Members and walks, and ln of the probability of the constraint."""

    walks: list[tuple[int, Walk]]
    log_prob: float


def _joint(products: Sequence[Product], weights: Weights) -> NDArray[np.float64]:
    return np.array([member.log_prob for member in products]) + log_weights(weights)


@contextlib.contextmanager
def time_budget(seconds: float | None) -> Iterator[None]:
    """End the work inside with BudgetExceeded when its time is over."""
    if seconds is None:
        yield
        return
    deadline = Deadline(seconds)
    try:
        with deadline:
            deadline.check()
            yield
    except TimeoutError:
        raise BudgetExceeded(
            f"the budget of {seconds:g} s ended before the sentences were drawn; raise it, or ask for fewer "
            "keywords or a smaller length",
            None,
        ) from None


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
    if method == "best" and n > 1:
        raise ModelError(f"found n = {n} with the method 'best', which gives one sentence; use 'rescore'")
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
    rng = np.random.default_rng(check_seed(seed))
    number = n if method == "sample" else max(n, candidates)
    members = rng.choice(len(chains), number, p=np.exp(joint - log_prob) / np.exp(joint - log_prob).sum())
    walks = [(int(m), products[m].draw(seed, stream)) for stream, m in enumerate(members)]
    return Drawn(walks, log_prob)


def fill(
    chains: Hmms, weights: Weights, slots: list[int], threads: int
) -> tuple[float, list[NDArray[np.float64]]]:
    """Return ln p of the fixed words and, for each free position, p(word | them) by word id."""
    core = everything(chains[0].num_words).core()
    size = len(slots)
    products = [product(chain, core, slots, (size, size), threads, best=False) for chain in chains]
    joint = _joint(products, weights)
    log_prob = float(np.logaddexp.reduce(joint))
    if not np.isfinite(log_prob):
        raise ModelError(IMPOSSIBLE)
    gaps = [t for t, word in enumerate(slots) if word == FREE]
    tables = [np.zeros(chains[0].num_words) for _ in gaps]
    for member, share in zip(products, np.exp(joint - log_prob), strict=True):
        if share > 0:
            for i, part in enumerate(member.word_probabilities(gaps)):
                tables[i] += share * part
    return log_prob, tables
