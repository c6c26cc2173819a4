"""A plain Gibbs chain over the links of one sentence pair: what exact answers are held against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hiddenite._core import FertilityHmm


def gibbs(
    hmm: FertilityHmm, links: Sequence[int], rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Redraw one link at a time for ever; after each sweep the links, and what each was drawn from."""
    now = np.array(links, dtype=np.uint32)
    given = np.zeros((hmm.num_targets, hmm.num_sources + 1))
    weights = np.empty(hmm.num_sources + 1)
    while True:
        for j in range(hmm.num_targets):
            for i in range(hmm.num_sources + 1):
                now[j] = i
                weights[i] = hmm.log_weight(now)
            given[j] = np.exp(weights - weights.max())
            given[j] /= given[j].sum()
            now[j] = int(rng.choice(len(weights), p=given[j]))
        yield now, given
