"""Small lexicalised models, and the dense hidden Markov model that each denotes, in plain Python."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import ContextTree, HmmShape, LexicalHmm, LexicalTable, SparseHmm, keep_all
from hiddenite.hmmlm.shape import brown_shape

WORDS = ["<unk>", "<s>", "</s>", "a", "b", "c"]
BEGIN, END = 1, 2
EMITTED = [0, 2, 3, 4, 5]


def random_chain(rng: np.random.Generator, states: int) -> SparseHmm:
    classes = [int(c) for c in rng.integers(0, 2, len(WORDS))]
    classes[BEGIN] = classes[END] = -1
    classes[0], classes[3] = 0, 1  # no class without a word
    shape = brown_shape(classes, 2 * states)
    z = shape.num_states
    initial, transition = rng.dirichlet(np.ones(z)), rng.dirichlet(np.ones(z), z).astype(np.float32)
    begins = shape.group_begin.astype(int)
    blocks = [
        transition[b:e, c:d].ravel()
        for b, e in itertools.pairwise(begins)
        for c, d in itertools.pairwise(begins)
    ]
    return SparseHmm(shape, initial, np.concatenate(blocks), random_emissions(rng, shape))


def random_emissions(rng: np.random.Generator, shape: HmmShape) -> NDArray[np.float64]:
    begins, groups = shape.set_begin.astype(int), shape.word_group
    values = rng.random(begins[-1]) + 0.05
    for g in set(groups[EMITTED].tolist()):
        words = [w for w in EMITTED if groups[w] == g]
        total = sum(values[begins[w] : begins[w + 1]] for w in words)
        for w in words:
            values[begins[w] : begins[w + 1]] /= total
    return np.asarray(values)


def random_table(rng: np.random.Generator, size: int, ends: bool) -> LexicalTable:
    begin, words, probabilities = [0], [], []
    back_off = np.ones(size, np.float32)
    for x in range(size):
        listed = sorted(rng.choice(EMITTED, rng.integers(0, 4), replace=False).tolist())
        shares = rng.dirichlet(np.ones(len(listed) + 1))
        if ends:
            listed, shares = ([END], np.array([0.99, 0.01])) if x >= len(WORDS) else ([], np.ones(1))
        words += listed
        probabilities += shares[:-1].tolist()
        back_off[x] = 1 - sum(shares[:-1])
        begin.append(len(words))
    return LexicalTable(
        np.array(begin, np.uint64), np.array(words, np.uint32), np.array(probabilities, np.float32), back_off
    )


FEW = ((3, 4), (6, 5), (BEGIN, 3), (4, 4))  # a b, a b c, <s> a, b b
MOST = ((3, 3), (3, 4), (3, 5))  # each word but <unk> after a
MANY = ((3, 0), (3, 3), (3, 4), (3, 5), (8, 0), (8, 3), (8, 4), (8, 5))  # each word after a, and after a b


def random_model(
    seed: int, chains: int, truncated: bool, longer: tuple[tuple[int, int], ...] = FEW, ends: bool = False
) -> LexicalHmm:
    """Contexts of several words: their prefixes and last words; with or without states left out.

    ``ends``: after such a context the sentence nearly always ends.
    """
    rng = np.random.default_rng(seed)
    tree = ContextTree(len(WORDS), *(np.array(column, np.uint32) for column in zip(*longer, strict=True)))
    members = [random_chain(rng, 2) for _ in range(chains)]
    kept = keep_all(members, tree)
    begin, places = kept.begin.astype(int), kept.places.reshape(-1, chains)
    if truncated:
        chosen = []
        for b, e in itertools.pairwise(begin):
            size = rng.integers(1, e - b + 1) if e > b else 0
            chosen.append(np.sort(rng.choice(np.arange(b, e), size, replace=False)))
        begin = np.concatenate([[0], np.cumsum([len(c) for c in chosen])])
        places = places[np.concatenate(chosen).astype(int)]
    weights = rng.dirichlet(np.ones(chains)).tolist()
    lexical = np.full(tree.size, 0.99, np.float32) if ends else rng.random(tree.size).astype(np.float32)
    states = begin.astype(np.uint64), np.ascontiguousarray(places.ravel())
    return LexicalHmm(tree, random_table(rng, tree.size, ends), lexical, members, weights, *states)


class Denoted:
    """The same model by its formulas, in plain Python: p(word, state' | state) of every pair of states."""

    def __init__(self, model: LexicalHmm) -> None:
        self.model, self.tree = model, model.contexts
        self.begin = model.state_begin.astype(int)
        self.places = model.places.reshape(-1, model.num_chains).astype(int)
        self.context = np.repeat(np.arange(self.tree.size), np.diff(self.begin))
        self.start = self.begin[BEGIN]
        size = model.num_states
        self.step = {w: np.zeros((size, size)) for w in EMITTED}
        for s in range(size):
            if self.context[s] != END:
                for w in EMITTED:
                    self._fill(s, w)

    def _lexical(self, words: list[int], w: int) -> tuple[float, float]:
        """l and g by the definition: from the shortest suffix that is a context to the longest."""
        table, listed, left = self.model.table, 0.0, 1.0
        known = {tuple(self.tree.words(x)): x for x in range(self.tree.size)}
        for k in range(1, len(words) + 1):
            x = known.get(tuple(words[-k:]))
            if x is None:
                continue
            b, e = int(table.begin[x]), int(table.begin[x + 1])
            own = dict(zip(table.word[b:e].tolist(), table.probability[b:e].tolist(), strict=True))
            back_off = float(table.back_off[x])
            listed, left = own.get(w, 0.0) + back_off * listed, back_off * left
        return listed, left

    def _fill(self, s: int, w: int) -> None:
        x = int(self.context[s])
        words = self.tree.words(x)
        known = {tuple(self.tree.words(y)): y for y in range(self.tree.size)}
        new = next(tuple([*words, w][-k:]) for k in range(4, 0, -1) if tuple([*words, w][-k:]) in known)
        to = known[new]
        listed, left = self._lexical(words, w)
        weight = float(self.model.lexical_weight[x])
        hidden, entered = 0.0, np.ones(self.begin[to + 1] - self.begin[to])
        for m in range(self.model.num_chains):
            products = self._products(m, s, w)
            hidden += self.model.chain_weight[m] * products.sum()
            entered *= products[self.places[self.begin[to] : self.begin[to + 1], m]]
        p = weight * listed + (1 - weight * (1 - left)) * hidden
        self.step[w][s, self.begin[to] : self.begin[to + 1]] = p * entered / entered.sum()

    def _products(self, m: int, s: int, w: int) -> NDArray[np.float64]:
        """A(z, z') E(z', w) over the states of the word's class."""
        chain, x = self.model.chain(m), int(self.context[s])
        groups, begins = chain.group_begin.astype(int), chain.set_begin.astype(int)
        h = int(chain.word_group[w])
        columns = slice(groups[h], groups[h + 1])
        row = chain.initial[columns].astype(np.float32).astype(float)  # as the core keeps them
        if x != BEGIN:
            g = int(chain.word_group[self.tree.words(x)[-1]])
            at = groups[g] * chain.num_states + (groups[g + 1] - groups[g]) * groups[h]
            width = groups[h + 1] - groups[h]
            at += self.places[s, m] * width
            row = chain.transition[at : at + width].astype(float)
        return np.asarray(row * chain.emission[begins[w] : begins[w + 1]])

    def forward(self, words: list[int]) -> NDArray[np.float64]:
        alpha = np.zeros(self.model.num_states)
        alpha[self.start] = 1.0
        for w in words:
            alpha = alpha @ self.step[w]
        return alpha

    def best(self, words: list[int]) -> float:
        """p of the words with their best states."""
        alpha = np.zeros(self.model.num_states)
        alpha[self.start] = 1.0
        for w in words:
            alpha = (alpha[:, None] * self.step[w]).max(0)
        return float(alpha.max())

    def joint(self, words: list[int], states: list[int]) -> float:
        """p(words, states)."""
        p, before = 1.0, self.start
        for w, s in zip(words, states, strict=True):
            p, before = p * self.step[w][before, s], s
        return float(p)

    def backward(self, words: list[int]) -> NDArray[np.float64]:
        beta = np.ones(self.model.num_states)
        for w in reversed(words):
            beta = self.step[w] @ beta
        return beta
