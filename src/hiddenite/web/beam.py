"""Beam search over the same target, for comparison: what most decoders do, and where they go wrong.

Position by position (in a lattice: node by node), each kept hypothesis is extended by every candidate that is
within ``WINDOW`` of its slot's best, and the ``width`` best extensions are kept. The result's weight is true;
nothing proves that it is the best.
Cost: positions × width × candidates calls of ``log_prob``.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence

from hiddenite._core import Deadline
from hiddenite.candidates import Candidates
from hiddenite.errors import EmptySupportError
from hiddenite.ngram import NgramModel
from hiddenite.results import Hypothesis
from hiddenite.vocabulary import SENTENCE_BEGIN, SENTENCE_END

WINDOW = 12.0  # nats of channel weight behind the best candidate
MOST = 300  # candidates a position, the best by channel weight


def beam_search(
    lm: NgramModel, candidates: Candidates, width: int, deadline: Deadline | None = None
) -> Hypothesis:
    """Return the best hypothesis that survives; raise TimeoutError where the deadline comes first."""
    spans = candidates.spans or [(i, i + 1) for i in range(len(candidates))]
    last = max((end for _, end in spans), default=0)
    kept: defaultdict[int, list[tuple[float, tuple[str, ...]]]] = defaultdict(list)
    kept[0] = [(0.0, (SENTENCE_BEGIN,))]
    for start, positions in itertools.groupby(
        sorted(range(len(spans)), key=spans.__getitem__), _start(spans)
    ):
        best = heapq.nlargest(width, kept.pop(start, []))
        for position in positions:
            slot = _promising(candidates, position)
            for weight, words in best:
                if deadline is not None:
                    deadline.check()
                extended = (
                    (weight + lm.log_prob(word, words) + channel_weight, (*words, word))
                    for word, channel_weight in slot
                )
                kept[spans[position][1]] += [h for h in extended if h[0] > -math.inf]
        if not any(kept.values()):
            raise EmptySupportError(start + 1, f"position {start + 1}: no hypothesis of the beam survives")
    best = heapq.nlargest(width, kept[last])
    ended = [(weight + lm.log_prob(SENTENCE_END, words), words) for weight, words in best]
    weight, words = max(ended, default=(-math.inf, ()))
    if weight == -math.inf:
        raise EmptySupportError(len(candidates) + 1, "no hypothesis of the beam can end")
    return Hypothesis(words[1:], weight)


def _start(spans: Sequence[tuple[int, int]]) -> Callable[[int], int]:
    return lambda position: spans[position][0]


def _promising(candidates: Candidates, position: int) -> list[tuple[str, float]]:
    slot = heapq.nlargest(MOST, candidates.slot(position), key=lambda pair: pair[1])
    return [pair for pair in slot if pair[1] >= slot[0][1] - WINDOW]
