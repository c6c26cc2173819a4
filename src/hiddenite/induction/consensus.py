"""One answer from several chains: tags matched across chains, votes, and a latent class behind each word.

A chain of a Pitman-Yor hidden Markov model ends in one of many modes, and what two chains agree on is more
often right than what either says. The tags of different chains have nothing to do with each other, so

1.  chains whose log joint is far below the best are left out, half of them at most: three that have failed
    would outvote one,
2.  the tags of each chain are matched one to one with those of the chain that agrees most with the others,
    the medoid, so that as many tokens as possible agree; then each word gets the tag that most chains vote
    for, the medoid's if none has more. Twice more the chains are matched with what was voted, and vote again;
3.  from there, expectation-maximisation fits a latent-class model (Dawid & Skene 1979): a word has one of
    K classes, and given the class each chain draws its tag independently,

        p(t_1, .., t_C) = sum_k p(k) prod_c p_c(t_c | k),

    which learns which tags of which chain to trust. A word gets its most probable class.

4.  where this ends depends on which chains there are, so with eight chains or more it is done for 96 groups,
    each half of the chains by chance, and once more for what the groups said instead of the chains. These are
    beginnings, and so is each chain: from each, chains are matched and vote for as long as they agree with
    what is voted on more and more tokens. Of these ends, on which chains agree almost alike, that one counts
    which tells most of the chains' tags and of the next word's class (``most_telling``);
5.  a class of several kinds, say of commas and of «and», which stand in like places, is divided, and for each
    part too many the two classes of one kind are merged whose merging loses least mutual information of
    neighbours (:func:`separate_kinds`).

Chains are not independent given the class, so the posterior of this model is far too sure. What a word's
confidence is made of are votes: one of each chain, matched with the consensus, and the posterior as one more,
of many chains the consensus itself.

Steps 2 to 4 are in the core (``cpp/hiddenite/induce/consensus.hpp``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import agree, agree_in_groups, match_labels, merge_tags, most_telling, shared_weights
from hiddenite.induction.text import Text
from hiddenite.records import equal_fields

MAX_STEPS = 200  # of latent classes
GROUPS, GROUP_STEPS = 96, 10  # of chains, and the most steps that their latent classes take
LEAST_GROUPED = 8  # chains

Labels = NDArray[np.int32]  # [chain, item]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Consensus:
    """What chains agree on."""

    classes: NDArray[np.int32]  # [item]: the most probable one; of the item's kind, if these are separate
    probabilities: Floats  # [item, class]: mean over the votes of the chains and of the consensus itself
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
    text: Text,
    labels: Labels,
    num_classes: int,
    chains: Sequence[int],
    random: np.random.Generator,
    *,
    threads: int = 0,
) -> Consensus:
    """Combine the labels that some chains have for the words of a text, the items."""
    tuples, inverse = np.unique(labels[list(chains)], axis=1, return_inverse=True)
    item_tuple: NDArray[np.int32] = inverse.reshape(-1).astype(np.int32)
    sizes = np.bincount(item_tuple, text.counts()).astype(np.float64)
    if len(tuples) < LEAST_GROUPED:
        posterior = agreed(tuples, sizes, num_classes, threads)
    else:
        beginnings = _beginnings(tuples, sizes, num_classes, random, threads)
        of_token = item_tuple[text.tokens]
        told = most_telling(tuples, sizes, num_classes, beginnings, of_token, text.bounds(), threads)
        posterior = np.eye(num_classes)[told[0]]
    classes = posterior.argmax(axis=1).astype(np.int32)
    matched = np.array([match_labels(row, classes, sizes, num_classes) for row in tuples])
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


def _beginnings(
    labels: Labels, weights: Floats, num_classes: int, random: np.random.Generator, threads: int
) -> Labels:
    """Return what groups of chains agree on, what was made of that first, and the chains themselves."""
    groups = [random.choice(len(labels), len(labels) // 2, replace=False).tolist() for _ in range(GROUPS)]
    said = agree_in_groups(labels, weights, num_classes, groups, GROUP_STEPS, threads).reshape(GROUPS, -1)
    of_groups = agreed(said, weights, num_classes, threads).argmax(axis=1).astype(np.int32)
    return np.vstack([of_groups[None], said, labels])


def agreed(labels: Labels, weights: Floats, num_classes: int, threads: int = 0) -> Floats:
    """Return [item, class]: how probable the classes are, by votes in the names of the medoid and beyond."""
    first = medoid(labels, weights, num_classes, threads)
    return agree(labels, weights, num_classes, first, MAX_STEPS, threads).reshape(-1, num_classes)


def _agreement(votes: Floats, classes: NDArray[np.int32], weights: Floats) -> float:
    """Return the mean share of the votes that an item's class has."""
    return float(votes[np.arange(len(classes)), classes] @ weights / weights.sum())


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


def count_votes(labels: Labels, num_classes: int) -> Floats:
    """Return [item, class]: how many chains say so."""
    votes = np.zeros((labels.shape[1], num_classes))
    for row in labels:
        votes[np.arange(len(row)), row] += 1
    return votes


def medoid(labels: Labels, weights: Floats, num_classes: int, threads: int = 0) -> int:
    """Return the row that agrees most with the others once they are matched; of equals the first."""
    shared = np.reshape(shared_weights(labels, weights, num_classes, threads), (len(labels), -1))
    return int(shared.sum(axis=0).argmax())
