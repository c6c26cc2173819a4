"""Small hidden Markov models by brute force: every state sequence and every sentence is written down."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import HmmShape, SparseHmm
from hiddenite.hmmlm.arrays import dense_emission, dense_transition
from hiddenite.hmmlm.shape import brown_shape, dense_shape, uniform_shape

END = 2
FIRST_WORD = 3


@dataclass(frozen=True)
class Oracle:
    """A chain as dense matrices; words are ids."""

    chain: SparseHmm
    initial: NDArray[np.float64]
    transition: NDArray[np.float64]
    emission: NDArray[np.float64]

    @property
    def words(self) -> list[int]:
        """All words but the ends of sentences."""
        return [w for w in range(self.emission.shape[1]) if w not in (1, END) and self.emission[:, w].any()]

    def joint(self, words: Sequence[int], states: Sequence[int]) -> float:
        """p(words, states)."""
        p = 1.0
        for t, (w, z) in enumerate(zip(words, states, strict=True)):
            p *= (self.initial[z] if t == 0 else self.transition[states[t - 1], z]) * self.emission[z, w]
        return float(p)

    def paths(self, words: Sequence[int]) -> Iterator[tuple[tuple[int, ...], float]]:
        """All state sequences of positive probability."""
        support = [np.flatnonzero(self.emission[:, w]).tolist() for w in words]
        for states in itertools.product(*support):
            if (p := self.joint(words, states)) > 0:
                yield states, p

    def probability(self, words: Sequence[int]) -> float:
        """p(words)."""
        return math.fsum(p for _, p in self.paths(words))

    def sentences(
        self, lengths: Sequence[int], accept: Callable[[tuple[int, ...]], bool]
    ) -> dict[tuple[int, ...], float]:
        """p of all accepted sentences of these lengths, the end included if there is one."""
        end = (END,) if self.chain.has_end else ()
        return {
            words: self.probability((*words, *end))
            for n in lengths
            for words in itertools.product(self.words, repeat=n)
            if accept(words)
        }


def oracle(chain: SparseHmm) -> Oracle:
    return Oracle(chain, chain.initial, dense_transition(chain).astype(np.float64), dense_emission(chain))


def random_shape(rng: np.random.Generator, kind: str, states: int, words: int) -> HmmShape:
    """Words 3 and up are ordinary; <unk> is one too."""
    total = FIRST_WORD + words
    if kind == "brown":
        groups = min(2, states)
        classes = [int(c) for c in rng.integers(groups, size=total)]
        classes[0], classes[1], classes[FIRST_WORD] = 0, -1, groups - 1
        return brown_shape(classes, states)
    if kind == "uniform":
        return uniform_shape(total, states, max(1, states // 2), rng)
    return dense_shape(total, states, kind == "dense")


KINDS = ("brown", "uniform", "dense", "endless")


def random_chain(
    rng: np.random.Generator, kind: str, states: int, words: int, zeros: float = 0.0
) -> SparseHmm:
    """A chain with random probabilities, some of them zero."""
    shape = random_shape(rng, kind, states, words)
    z = shape.num_states

    def weights(*size: int) -> NDArray[np.float64]:
        values = rng.exponential(size=size) * (rng.random(size) >= zeros)
        values[..., 0] += 1e-3  # no row is empty
        return np.asarray(values)

    initial = weights(z)
    transition = weights(z, z)
    transition /= transition.sum(axis=1, keepdims=True)
    # The core keeps blocks: rows of a group by columns of a group.
    begins = shape.group_begin.astype(int)
    blocks = [
        transition[a:b, c:d].reshape(-1)
        for a, b in itertools.pairwise(begins)
        for c, d in itertools.pairwise(begins)
    ]
    emission = rng.exponential(size=int(shape.set_begin[-1])) + 1e-3
    ones = SparseHmm(
        shape, initial / initial.sum(), np.concatenate(blocks).astype(np.float32), emission / emission.sum()
    )
    sums = dense_emission(ones).sum(axis=1)
    sets = shape.set_begin.astype(int)
    scaled = emission / emission.sum()
    for w in range(shape.num_words):
        if sets[w] == sets[w + 1]:
            continue
        places = (
            shape.members[sets[w] : sets[w + 1]] if len(shape.members) else np.arange(sets[w + 1] - sets[w])
        )
        scaled[sets[w] : sets[w + 1]] /= sums[begins[shape.word_group[w]] + places]
    return SparseHmm(shape, initial / initial.sum(), np.concatenate(blocks).astype(np.float32), scaled)
