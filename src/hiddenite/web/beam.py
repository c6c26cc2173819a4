"""Beam search over the same target, for comparison: what most decoders do, and where they go wrong.

Position by position, each kept hypothesis is extended by every candidate that is within ``WINDOW`` of its
slot's best, and the ``width`` best extensions are kept. The result's weight is true; that it is the best is a
hope.
Cost: positions × width × candidates calls of ``log_prob``.
"""

from __future__ import annotations

import heapq
import math

from hiddenite.channel import Candidates
from hiddenite.errors import EmptySupportError
from hiddenite.ngram import NgramModel
from hiddenite.results import Hypothesis
from hiddenite.vocabulary import SENTENCE_BEGIN, SENTENCE_END

WINDOW = 12.0  # nats of channel weight behind the best candidate
MOST = 300  # candidates a position, the best by channel weight


def beam_search(lm: NgramModel, candidates: Candidates, width: int) -> Hypothesis:
    """Return the best hypothesis that survives."""
    kept: list[tuple[float, tuple[str, ...]]] = [(0.0, (SENTENCE_BEGIN,))]
    for position in range(len(candidates)):
        slot = _promising(candidates, position)
        extended = [
            (weight + lm.log_prob(word, words) + channel_weight, (*words, word))
            for weight, words in kept
            for word, channel_weight in slot
        ]
        kept = [h for h in heapq.nlargest(width, extended) if h[0] > -math.inf]
        if not kept:
            raise EmptySupportError(position, f"position {position + 1}: no hypothesis of the beam survives")
    ended = [(weight + lm.log_prob(SENTENCE_END, words), words) for weight, words in kept]
    weight, words = max(ended)
    if weight == -math.inf:
        raise EmptySupportError(len(candidates), "no hypothesis of the beam can end")
    return Hypothesis(words[1:], weight)


def _promising(candidates: Candidates, position: int) -> list[tuple[str, float]]:
    slot = heapq.nlargest(MOST, candidates.slot(position), key=lambda pair: pair[1])
    return [pair for pair in slot if pair[1] >= slot[0][1] - WINDOW]
