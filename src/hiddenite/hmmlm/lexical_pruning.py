"""Which states of a lexicalised model to keep, by how the model uses them once others are gone.

The first choice goes by the visits of all states together. With states left out the rest are visited
differently: a state that shared its visits with one that is gone takes them over. So twice as many states as
wanted are kept first, their visits are counted under that model, some go, and so on. On the validation
text of the Penn Treebank that takes away a third of what leaving states out costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_STEP = 2**0.25  # smaller steps are slower and hardly better
VISITS_POWER = -0.3  # as in joint_filter.cpp: visits n of a context count as n^0.7


def pruning_steps(most: int) -> list[int]:
    """Return how many states are kept, turn after turn; ``most`` in the end."""
    return [round(most * _STEP**step) for step in range(4, -1, -1)]


def most_visited(
    begin: NDArray[np.uint64], visits: NDArray[np.float64], most: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return where each context's states begin then, and which stay: one a context, and ``most`` in all.

    ``begin`` has the first state of each context, and the end.
    """
    first = begin.astype(np.int64)
    sizes = np.diff(first)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    totals = np.bincount(owner, visits, len(sizes))
    score: NDArray[Any] = visits * np.maximum(1.0, totals[owner]) ** VISITS_POWER
    by_context = np.lexsort((-score, owner))
    score[by_context[first[:-1][sizes > 0]]] = np.inf
    kept = np.sort(np.argsort(-score, kind="stable")[: max(most, int((sizes > 0).sum()))])
    left = np.bincount(owner[kept], minlength=len(sizes))
    return np.concatenate([[0], np.cumsum(left)]).astype(np.uint64), kept
