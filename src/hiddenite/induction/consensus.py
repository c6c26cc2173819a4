"""One answer from several chains: tags matched across chains, votes, and a latent class behind each word.

A chain of a Pitman-Yor hidden Markov model ends in one of many modes, and what two chains agree on is more
often right than what either says. The tags of different chains have nothing to do with each other, so

1.  chains whose log joint is far below the best are left out, half of them at most: three that have failed
    would outvote one,
2.  the tags of each chain are matched one to one with those of the chain that agrees most with the others,
    the medoid, so that as many tokens as possible agree (:func:`best_matching`); then each word gets the tag
    that most chains vote for, the medoid's if none has more. Twice more the chains are matched with what was
    voted, and vote again;
3.  from there, expectation-maximisation fits a latent-class model (Dawid & Skene 1979): a word has one of
    K classes, and given the class each chain draws its tag independently,

        p(t_1, .., t_C) = sum_k p(k) prod_c p_c(t_c | k),

    which learns which tags of which chain to trust. A word gets its most probable class.

4.  where this ends depends on which chains there are, so with eight chains or more it is done for 96 groups,
    each half of the chains by chance, and then once more for what the groups said instead of the chains;
5.  a class of several kinds, say of commas and of «and», which stand in like places, is divided, and for each
    part too many the two classes of one kind are merged whose merging loses least mutual information of
    neighbours (:func:`separate_kinds`).

Chains are not independent given the class, so the posterior of this model is far too sure. What a word's
confidence is made of are votes: one of each chain, matched with the consensus, and the posterior as one more.

Only the distinct tuples of tags matter, each with its number of tokens: some thousands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import merge_tags
from hiddenite.induction.evaluation import best_matching
from hiddenite.induction.text import Text
from hiddenite.records import equal_fields

VOTES = 3  # rounds
SMOOTHING = 0.01  # added to each count of a label table
MAX_STEPS = 200
GROUPS, GROUP_STEPS = 96, 10  # of chains, and the most steps that their latent classes take
LEAST_GROUPED = 8  # chains
LEAST_GAIN = 1e-7  # of the log likelihood, in a step, per token
DOUBT = 0.1  # of the votes, in the first step

Labels = NDArray[np.int32]  # [chain, item]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Consensus:
    """What chains agree on."""

    classes: NDArray[np.int32]  # [item]: the most probable one; of the item's kind, if these are separate
    probabilities: Floats  # [item, class]: mean over the chains' votes and the latent-class posterior
    votes: Floats  # [item, class]: share of the chains that say so
    chains: tuple[int, ...]  # those that voted
    agreement: float  # mean share of the tokens to which a chain gives their class

    def __eq__(self, other: object) -> bool:
        return equal_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def confidence(self) -> Floats:
        """The probability of each item's class."""
        return self.probabilities[np.arange(len(self.classes)), self.classes]


def find_consensus(
    labels: Labels, weights: Floats, num_classes: int, chains: Sequence[int], random: np.random.Generator
) -> Consensus:
    """Combine the labels of some chains; ``weights`` says how many tokens an item has."""
    tuples, item_tuple = np.unique(labels[list(chains)], axis=1, return_inverse=True)
    item_tuple = item_tuple.reshape(-1)
    sizes = np.bincount(item_tuple, weights).astype(np.float64)
    witnesses, shared = tuples, shared_tokens(tuples, sizes, num_classes)
    if len(chains) >= LEAST_GROUPED:
        said = []
        for _ in range(GROUPS):
            group = random.choice(len(chains), len(chains) // 2, replace=False)
            first = medoid(shared[np.ix_(group, group)])
            said.append(agree(tuples[group], sizes, num_classes, first, GROUP_STEPS).argmax(axis=1))
        witnesses = np.array(said, np.int32)
        shared = shared_tokens(witnesses, sizes, num_classes)
    posterior = agree(witnesses, sizes, num_classes, medoid(shared))
    classes = posterior.argmax(axis=1).astype(np.int32)
    matched = np.array([match(row, classes, sizes, num_classes) for row in tuples])
    votes = count_votes(matched, num_classes)
    probabilities = (posterior + votes) / (len(matched) + 1)
    votes /= len(matched)
    return Consensus(
        classes[item_tuple],
        probabilities[item_tuple],
        votes[item_tuple],
        tuple(chains),
        _agreement(votes, classes, sizes),
    )


def _agreement(votes: Floats, classes: NDArray[np.int32], weights: Floats) -> float:
    """Return the mean share of the votes that an item's class has."""
    return float(votes[np.arange(len(classes)), classes] @ weights / weights.sum())


def agree(
    labels: Labels, weights: Floats, num_classes: int, first: int, most_steps: int = MAX_STEPS
) -> Floats:
    """Return [item, class]: how probable the classes are by votes, begun with a chain, and latent classes."""
    tuples, item_tuple = np.unique(labels, axis=1, return_inverse=True)
    item_tuple = item_tuple.reshape(-1)
    sizes = np.bincount(item_tuple, weights).astype(np.float64)
    voted = vote(tuples, sizes, num_classes, first)
    if len(labels) == 1:
        return np.eye(num_classes)[voted][item_tuple]
    return latent_classes(tuples, sizes, voted, num_classes, most_steps)[-1].posterior[item_tuple]


def separate_kinds(found: Consensus, kinds: NDArray[np.int32], text: Text) -> Consensus:
    """Divide classes by the kinds of their words, then merge those of one kind to as many as before.

    Votes for a class count for its part of the word's kind; if it has none, for its largest part.
    """
    num_kinds, num_classes = int(kinds.max()) + 1, found.probabilities.shape[1]
    parts, of_word = np.unique(found.classes * num_kinds + kinds, return_inverse=True)
    of_word = of_word.reshape(-1).astype(np.int32)
    tags = of_word[text.tokens]
    of_part = np.asarray(
        merge_tags(tags, text.bounds(), len(parts), num_classes, (parts % num_kinds).tolist())[0]
    )
    target = np.full((num_classes, num_kinds), -1)  # of a class without word: none
    for part in np.argsort(np.bincount(tags, minlength=len(parts)), kind="stable").tolist():
        target[parts[part] // num_kinds] = of_part[part]  # the largest comes last
    target[parts // num_kinds, parts % num_kinds] = of_part
    probabilities, votes = np.zeros_like(found.probabilities), np.zeros_like(found.votes)
    words = np.arange(len(kinds))
    for old in np.unique(parts // num_kinds).tolist():
        probabilities[words, target[old, kinds]] += found.probabilities[:, old]
        votes[words, target[old, kinds]] += found.votes[:, old]
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    classes = of_part[of_word]
    agreement = _agreement(votes, classes, np.bincount(text.tokens, minlength=len(kinds)).astype(np.float64))
    return replace(found, classes=classes, probabilities=probabilities, votes=votes, agreement=agreement)


def good_chains(log_joints: Floats, tolerance: float) -> list[int]:
    """Return the chains whose log joint is within ``tolerance`` of the best, but at least half of them.

    The best comes first. Of an odd number the smaller half is enough.
    """
    best = log_joints.max()
    order: list[int] = np.argsort(-log_joints, kind="stable").tolist()
    good = [n for n in order if best - log_joints[n] <= tolerance * abs(best)]
    return order[: max(len(good), len(order) // 2)]


# ----------------------------------------------------------------------- votes


def vote(labels: Labels, weights: Floats, num_classes: int, first: int) -> NDArray[np.int32]:
    """Return the tag that most chains vote for; its name is that of the ``first`` chain."""
    chosen: NDArray[np.int32] = labels[first]
    for _ in range(VOTES):
        matched = np.array([match(row, chosen, weights, num_classes) for row in labels])
        votes = count_votes(matched, num_classes)
        votes[np.arange(len(chosen)), chosen] += 0.5  # of equals the one that was chosen before
        chosen = votes.argmax(axis=1).astype(np.int32)
    return chosen


def count_votes(labels: Labels, num_classes: int) -> Floats:
    """Return [item, class]: how many chains say so."""
    votes = np.zeros((labels.shape[1], num_classes))
    for row in labels:
        votes[np.arange(len(row)), row] += 1
    return votes


def shared_tokens(labels: Labels, weights: Floats, num_classes: int) -> Floats:
    """Return [chain, chain]: the weight of the items on which two chains agree once they are matched."""
    shared = np.zeros((len(labels), len(labels)))
    for i, one in enumerate(labels):
        for j in range(i + 1, len(labels)):
            table = joint_weights(labels[j], one, weights, num_classes)
            shared[i, j] = shared[j, i] = sum(table[pair] for pair in _counterparts(table))
    return shared


def medoid(shared: Floats) -> int:
    """Return the chain that agrees most with the others; of equals the first."""
    return int(shared.sum(axis=0).argmax())


def match(
    labels: NDArray[np.int32], target: NDArray[np.int32], weights: Floats, num_classes: int
) -> NDArray[np.int32]:
    """Return the labels renamed one to one, so that the weight of those that equal ``target`` is greatest."""
    names = np.full(num_classes, -1, np.int32)
    for label, name in _counterparts(joint_weights(labels, target, weights, num_classes)):
        names[label] = name
    names[names < 0] = np.setdiff1d(np.arange(num_classes), names)
    return names[labels]


def _counterparts(table: Floats) -> list[tuple[int, int]]:
    """Return the labels and their names, of all that occur."""
    rows, columns = (np.flatnonzero(table.any(axis=axis)).tolist() for axis in (1, 0))
    return [(rows[i], columns[j]) for i, j in best_matching(table[np.ix_(rows, columns)])]


def joint_weights(
    left: NDArray[np.int32], right: NDArray[np.int32], weights: Floats, num_classes: int
) -> Floats:
    """Return [left label, right label]: the weight of the items that have both."""
    cells = np.bincount(left * num_classes + right, weights, num_classes**2)
    return cells.astype(np.float64).reshape(num_classes, num_classes)


# --------------------------------------------------------------- latent classes


@dataclass(frozen=True, slots=True, eq=False)
class LatentStep:
    """One step of expectation-maximisation."""

    posterior: Floats  # [item, class]: p(class | labels of all chains)
    objective: float  # ln p(labels) + ln of the prior; rises with every step


def latent_classes(
    labels: Labels,
    weights: Floats,
    first: NDArray[np.int32],
    num_classes: int,
    most_steps: int = MAX_STEPS,
) -> list[LatentStep]:
    """Fit a latent-class model from ``first`` on; return all steps, the last of which is the answer.

    Label tables and class shares have Dirichlet priors of 1 + SMOOTHING, whose mode is taken; so no
    probability is zero, and the posterior density rises with every step.
    """
    posterior = np.full((len(first), num_classes), DOUBT / num_classes)
    posterior[np.arange(len(first)), first] += 1.0 - DOUBT
    groups = [_group(row) for row in labels]
    steps: list[LatentStep] = []
    while len(steps) < most_steps:
        steps.append(_step(groups, weights, posterior))
        posterior = steps[-1].posterior
        if len(steps) > 1:
            gain = steps[-1].objective - steps[-2].objective
            if gain < LEAST_GAIN * weights.sum():
                break
    return steps


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """The items of one chain, put together by their label: sums over a label are then sums over a slice."""

    labels: NDArray[np.int32]  # [item]
    order: NDArray[np.int64]  # items, by label
    begin: NDArray[np.int64]  # of each label that occurs, in ``order``
    found: NDArray[np.int32]  # these labels


def _group(labels: NDArray[np.int32]) -> _Groups:
    order = np.argsort(labels, kind="stable")
    found, begin = np.unique(labels[order], return_index=True)
    return _Groups(labels, order, begin, found)


def _step(chains: list[_Groups], weights: Floats, posterior: Floats) -> LatentStep:
    """Find the tables given the posterior, and the posterior given the tables."""
    num_classes = posterior.shape[1]
    mass = posterior * weights[:, None]
    shares = mass.sum(axis=0) + SMOOTHING
    log_shares = np.log(shares / shares.sum())
    logs = np.tile(log_shares, (len(posterior), 1))
    prior = SMOOTHING * log_shares.sum()
    for chain in chains:
        table = np.full((num_classes, num_classes), SMOOTHING)  # [label, class]
        table[chain.found] += np.add.reduceat(mass[chain.order], chain.begin, axis=0)
        log_table = np.log(table / table.sum(axis=0))
        logs += log_table[chain.labels]
        prior += SMOOTHING * log_table.sum()
    top = logs.max(axis=1, keepdims=True)
    scaled = np.exp(logs - top)
    totals = scaled.sum(axis=1, keepdims=True)
    evidence = float(weights @ (np.log(totals) + top)[:, 0])
    return LatentStep(scaled / totals, evidence + float(prior))
