"""The states behind sentences, of a chain or a mixture of chains; ``cpp/hiddenite/chain_states.hpp``.

A member's share is its weight times the probability it gives to the words that are known.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import (
    LexicalHmm,
    SparseHmm,
    TokenText,
    best_states,
    filter_states,
    next_words,
    posterior_states,
    state_visits,
)
from hiddenite.errors import ModelError
from hiddenite.hmmlm.archive import Hmm, sparse_members
from hiddenite.hmmlm.mixing import log_weights
from hiddenite.hmmlm.results import StateDistribution, StatePath, StateUsage
from hiddenite.hmmlm.shape import NO_GROUP

Hmms = Sequence[Hmm]
Weights = Sequence[float]
WordIds = NDArray[np.uint32]
IMPOSSIBLE = "the sentence has probability zero under the model"


def shares(log_probs: Sequence[float], weights: Weights) -> NDArray[np.float64]:
    """Return p(member | words) from ln p(words | member)."""
    joint = np.asarray(log_probs) + log_weights(weights)
    total = np.logaddexp.reduce(joint)
    if total == -np.inf:
        raise ModelError(IMPOSSIBLE)
    return np.asarray(np.exp(joint - total))


def filtered(chains: Hmms, weights: Weights, ids: WordIds) -> list[StateDistribution]:
    """p(state | words so far) at each word; the members have the shares of the words up to there."""
    answers = [filter_states(chain, ids, False) for chain in chains]
    if len(chains) == 1:
        of_members = shares([answers[0][3]], weights)
        return [joined(answers, of_members, t) for t in range(len(ids))]
    prefixes = [[filter_states(chain, ids[: t + 1], False)[3] for chain in chains] for t in range(len(ids))]
    return [joined(answers, shares(log_probs, weights), t) for t, log_probs in enumerate(prefixes)]


def posterior(chains: Hmms, weights: Weights, ids: WordIds) -> list[StateDistribution]:
    """p(state | whole sentence) at each word and at its end."""
    answers = [posterior_states(chain, ids, True) for chain in chains]
    of_members = shares([answer[3] for answer in answers], weights)
    return [joined(answers, of_members, t) for t in range(len(answers[0][0]) - 1)]


def joined(answers: Sequence[Any], of_members: NDArray[np.float64], t: int) -> StateDistribution:
    """Put the members' states at a position side by side, each with its share."""
    parts = [(int(begin[t]), int(begin[t + 1]), states, values) for begin, states, values, _ in answers]
    return StateDistribution(
        np.concatenate([np.full(e - b, m, np.uint32) for m, (b, e, _, _) in enumerate(parts)]),
        np.concatenate([states[b:e] for b, e, states, _ in parts]),
        np.concatenate([s * values[b:e] for s, (b, e, _, values) in zip(of_members, parts, strict=True)]),
    )


def decode(chains: Hmms, weights: Weights, words: tuple[str, ...], ids: WordIds) -> StatePath:
    """Return the member and states that are most probable together."""
    paths = []
    for m, (chain, log_weight) in enumerate(zip(chains, log_weights(weights).tolist(), strict=True)):
        states, log_prob = best_states(chain, ids, True)
        paths.append(StatePath(words, m, tuple(states.tolist()), log_prob + log_weight))
    best = max(paths, key=lambda path: path.log_prob)
    if best.log_prob == -math.inf:
        raise ModelError(IMPOSSIBLE)
    return best


def predicted(chains: Hmms, weights: Weights, ids: WordIds) -> NDArray[np.float64]:
    """p(next word | words so far), by word id."""
    of_members = shares([filter_states(chain, ids, False)[3] for chain in chains], weights)
    tables = np.stack([next_words(chain, ids) for chain in chains])
    return np.asarray(of_members @ tables)


def usage(chains: Hmms, tokens: TokenText, threads: int) -> StateUsage:
    """Count the visits of each state and the entropies of all."""
    visits = np.concatenate([state_visits(chain, tokens, threads) for chain in chains])
    if isinstance(chains[0], LexicalHmm):  # a state has one word; its successors are too many to add up
        return StateUsage(visits, float(np.mean(visits >= 1.0)), 0.0, math.nan)
    sparse = sparse_members(chains)
    emission = np.concatenate([_emission_entropies(chain) for chain in sparse])
    transition = np.concatenate([_transition_entropies(chain) for chain in sparse])
    occupancy = float(np.mean(visits >= 1.0))
    return StateUsage(visits, occupancy, float(emission.mean()), float(transition.mean()))


def _plogp(p: NDArray[Any]) -> NDArray[np.float64]:
    q = p.astype(np.float64)
    return np.asarray(-q * np.log(np.where(q > 0, q, 1.0)))


def _emission_entropies(chain: SparseHmm) -> NDArray[np.float64]:
    begins = chain.set_begin.astype(np.int64)
    sizes = begins[1:] - begins[:-1]
    groups = np.where(chain.word_group == NO_GROUP, 0, chain.word_group)
    places = chain.members if len(chain.members) else np.arange(begins[-1]) - np.repeat(begins[:-1], sizes)
    states = np.repeat(chain.group_begin.astype(np.int64)[groups], sizes) + places
    return np.bincount(states, _plogp(chain.emission), chain.num_states).astype(np.float64)


def _transition_entropies(chain: SparseHmm) -> NDArray[np.float64]:
    begins, table = chain.group_begin.astype(np.int64), chain.transition
    result = np.zeros(chain.num_states)
    for b, e in itertools.pairwise(begins):
        at = b * chain.num_states
        for c, d in itertools.pairwise(begins):
            size = (e - b) * (d - c)
            result[b:e] += _plogp(table[at : at + size]).reshape(e - b, d - c).sum(axis=1)
            at += size
    return result
