"""Alignment models of random counts, and proofs by another hand: what a leaf of a proof allows."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hiddenite import Aligner, AlignerOptions
from hiddenite._core import AlignmentModel, AlignmentTables
from tests.alignment_oracle import Problem

_T = TypeVar("_T")

VOCABULARIES = (
    ["house", "houses", "dog", "a", "été", "old", "tree"],
    ["housing", "maison", "chien", "dog", "étés", "un", "arbre"],
)


def _two(make: Callable[[int], _T]) -> tuple[_T, _T]:
    """Of both sides or directions."""
    return make(0), make(1)


def random_aligner(seed: int, *, fertile: bool = True) -> Aligner:
    """Draw counts as unlike a trained model's as can be: alignments hide behind one another."""
    rng = np.random.default_rng(seed)
    options = AlignerOptions(
        max_fertility=int(rng.integers(1, 5)),
        max_jump=int(rng.integers(1, 5)),
        string_prior=bool(rng.integers(2)),
        stem_weight=float(rng.choice([0.0, 5.0])),
        null_probability=float(rng.choice([0.05, 0.3, 0.7])),
        uniform_jump=float(rng.choice([0.02, 0.5])),
    ).for_corpus(100)
    sizes = [len(words) for words in VOCABULARIES]
    width = options.max_fertility + 1

    def counts(*shape: int) -> NDArray[np.float32]:
        drawn = np.where(rng.random(shape) < 0.4, 0, rng.exponential(10.0, shape))
        return np.asarray(drawn, dtype=np.float32)

    tables = AlignmentTables()
    tables.words = [list(words) for words in VOCABULARIES]
    tables.word_count = _two(lambda side: rng.integers(1, 50, sizes[side], dtype=np.uint32))
    tables.partners = _two(lambda side: rng.integers(0, 7, sizes[side], dtype=np.uint32))
    tables.likeness = _two(lambda side: counts(sizes[side]))
    pairs = [p for p in itertools.product(*map(range, sizes)) if rng.random() < 0.7]
    tables.pair_source, tables.pair_target = _two(lambda s: np.array([p[s] for p in pairs], dtype=np.uint32))
    tables.pair_count = _two(lambda _: counts(len(pairs)))
    tables.null_count = _two(lambda d: counts(sizes[1 - d]))
    tables.fertility = _two(lambda d: counts(sizes[d] * width) * np.float32(fertile))
    for d in range(2):
        tables.set_jumps(d, *(counts(2 * options.max_jump + 1).astype(np.float64) for _ in range(3)))
    return Aligner(AlignmentModel(tables, options.core(), options.string_prior), options)


# ------------------------------------------------------ what a proof allows, in NumPy


def leaf_bound(
    problem: Problem,
    multipliers: NDArray[np.float64],
    counts: Sequence[tuple[int, int]],
    cells: Sequence[set[int]],
) -> float:
    """Return the most that links of a case weigh, as far as a leaf's multipliers tell."""
    targets, width = problem.emission.shape
    before = np.full(width, -np.inf)
    before[0] = 0.0
    for j in range(targets):
        emit = np.full(width, -np.inf)
        for i in cells[j]:
            emit[i] = problem.emission[j, i] + (multipliers[j, i - 1] if i else 0.0)
        now = before + emit[0]
        for i in range(1, width):
            now[i] = max(now[i], (before + problem.jump[:, i]).max() + emit[i])
        before = now
    total = float((before + problem.end).max())
    for i in range(1, width):
        prices = np.sort([multipliers[j, i - 1] for j in range(targets) if i in cells[j]])
        low, high = counts[i - 1]
        values = [problem.fertility[i, c] - prices[:c].sum() for c in range(low, min(high, len(prices)) + 1)]
        total += max(values, default=-np.inf)
    return total


def tree_bound(problem: Problem, tree: Sequence[dict[str, Any]]) -> float:
    """Return the most that a proof allows: infinity if it leaves a case out."""
    targets, width = problem.emission.shape
    first = [(0, problem.fertility.shape[1] - 1)] * (width - 1), [set(range(width)) for _ in range(targets)]
    cases: list[tuple[list[tuple[int, int]], list[set[int]]]] = [first]
    worst = -np.inf
    for node in tree:
        if not cases:
            return np.inf
        counts, cells = cases.pop()
        if "multipliers" in node:
            table = np.array(node["multipliers"], dtype=np.float64).reshape(targets, width - 1)
            worst = max(worst, leaf_bound(problem, table, counts, cells))
        elif "word" in node:
            i, most = node["word"] - 1, node["at_most"]
            for part in (
                (max(counts[i][0], most + 1), counts[i][1]),
                (counts[i][0], min(counts[i][1], most)),
            ):
                cases.append(([*counts[:i], part, *counts[i + 1 :]], cells))
        else:
            j, link = node["generated"] - 1, {node["link"]}
            for kept in (cells[j] - link, cells[j] & link):
                cases.append((counts, [*cells[:j], kept, *cells[j + 1 :]]))
    return np.inf if cases else float(worst)
