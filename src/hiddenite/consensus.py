"""Word errors of a lattice: confusion networks, the words of least expected errors, the nearest path.

A confusion network (mesh) gives each word of the lattice a slot, so that along every path the slots ascend; a
path has at most one word in a slot. So the probability of a word in a slot is the sum of the exact posteriors
of its edges, and what is missing to one is the probability of no word there. Slots are laid along a pivot,
the words of the best path: a word stands in the slot of the pivot's word that it replaces where the lattice
is nearest to the pivot, and in slots between where it is additional.

Words of least expected errors (minimum Bayes risk). Slots align every path with the pivot W in one way, and
no alignment has fewer errors than Levenshtein's distance:

    E errors(W) <= sum over slots of (1 - p(what W has in the slot))                        an upper bound
    E errors(V) >= sum over i, j of x_ij d(i, j)   for all V, if sum_j x_ij <= p_i          a lower bound
    E errors(V) >= (E |n - |W|| + sum over words w of E |c(w) - c_W(w)|) / 2                another one
                   for all V of n words, c(w) of them being w

The second holds because x (d(V, i) + d(V, j)) >= x d(i, j) for any two sequences i, j of the lattice. Where
one sequence has half of all weight the two meet, if all sequences are listed. The third holds because V has
as many errors as it has words too many or too few, whichever are more; it looks at all sequences, so it is
the one that counts in lattices of many. Where every doubt is between words at one place, it meets the first.
Of the few best sequences E errors(W) itself is then computed, by a dynamic program over the columns of
Levenshtein's tables (``cpp/hiddenite/lattice/word_errors.hpp``). What is left between the bounds is searched
through, sequence by sequence (:mod:`hiddenite.error_bounds`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hiddenite._core import SILENT, error_matrix, expected_errors
from hiddenite.error_bounds import ErrorSearch
from hiddenite.rescoring import Rescored
from hiddenite.results import Certificate, Decoded

SEQUENCES = 200  # that the bounds of expected errors look at
PREFIXES = 20_000  # opened to find them
NEAREST = 2  # sequences whose expected errors are computed, and the consensus
ROWS = 100_000  # pairs of a state and a column of distances that this may look at, for each,
LEAST_SHARE = 1e-7  # if they weigh so much; the others count as all wrong
SMALL = 5_000  # states: of so few all pairs are looked at, as where the bounds are nearly equal
MOST_ROWS = 1_000_000  # of these
ROUNDS = 10  # a consensus becomes the pivot of the next mesh at most so often
ROUNDING = 1e-12  # a probability that is smaller is what sums have lost
TIGHT = 1e-8  # bounds this near are equal: sums of some hundred probabilities

Slot = tuple[tuple[str, float], ...]
_Key = tuple[int, int]  # the pivot's word, and how many slots behind it


@dataclass(frozen=True, slots=True)
class Mesh:
    """A confusion network: slots of words with their probabilities, most probable first."""

    slots: tuple[Slot, ...]  # a word "" is no word; the probabilities of a slot sum to one
    id: str | int | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The most probable word of each slot."""
        return tuple(slot[0][0] for slot in self.slots if slot[0][0])

    @property
    def expected_errors(self) -> float:
        """At most so many words of these are wrong, on average."""
        return sum(1.0 - slot[0][1] for slot in self.slots)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"id": self.id, "slots": [[[word, prob] for word, prob in slot] for slot in self.slots]}


def mesh(rescored: Rescored, pivot: Sequence[str] | None = None, min_probability: float = 0.0) -> Mesh:
    """Return the confusion network of a lattice along a pivot, by default the words of the best path.

    Words less probable than ``min_probability`` become no word.
    """
    words = rescored.best().words if pivot is None else tuple(pivot)
    slots = []
    for _, probs in sorted(_slots(rescored, words).items()):
        row = {w: min(prob, 1.0) for w, prob in probs.items() if prob >= min_probability and prob > 0.0}
        missing = 1.0 - sum(row.values())
        row[""] = missing if missing > ROUNDING else 0.0
        ranked = sorted(row.items(), key=lambda pair: (-pair[1], pair[0]))
        if len(ranked) > 1:
            slots.append(tuple(pair for pair in ranked if pair[1] > 0.0))
    return Mesh(tuple(slots), rescored.lattice.id)


def _slots(rescored: Rescored, pivot: Sequence[str]) -> dict[_Key, dict[str, float]]:
    """Return the probabilities of words in slots; (i, 0) is the slot of the pivot's word i."""
    columns = rescored.columns
    number = {word: label for label, word in enumerate(rescored.words)}
    sequence = [number.get(word, len(number)) for word in pivot]
    _, before = columns.graph().nearest_path(columns.label, sequence)
    slots: dict[_Key, dict[str, float]] = {(i, 0): {} for i in range(len(pivot))}
    last: list[_Key | None] = [
        None
    ] * columns.num_nodes  # the last slot that a path to the node can have used
    last[columns.start] = (-1, 0)
    rows = zip(columns.start_of, columns.end_of, columns.label, rescored.core.posteriors(), strict=True)
    for start, end, label, prob in rows:
        used = last[start]
        if used is None or prob == 0.0:
            continue
        if label != SILENT:
            used = _place(used, before[start], before[end], label, sequence)
            word = rescored.words[label]
            slot = slots.setdefault(used, {})
            slot[word] = slot.get(word, 0.0) + prob
        known = last[end]
        last[end] = used if known is None else max(known, used)
    return slots


def _place(used: _Key, before: int, after: int, label: int, sequence: Sequence[int]) -> _Key:
    """Return a word's slot: beyond those used before it, by preference that of its equal in the pivot."""
    equal = next((i for i in range(before, after) if sequence[i] == label and (i, 0) > used), None)
    wanted = (equal, 0) if equal is not None else (after - 1, 0) if after > before else (before - 1, 1)
    return wanted if wanted > used else (used[0], used[1] + 1)


# ---------------------------------------------------------------- least errors


def least_errors(
    rescored: Rescored, sequences: int = SEQUENCES, prefixes: int = PREFIXES, seconds: float = math.inf
) -> Decoded:
    """Return words with few expected errors, and bounds of the least that any words have.

    The search for better words ends after some work, or some ``seconds`` if that is sooner.
    ``certificate.exact`` is whether the bounds meet; else ``lower`` <= the least <= ``upper``, the words' own
    expected errors being at most ``upper``.
    """
    labels = rescored.labels
    rows, complete, _ = rescored.core.rank(labels, sequences, True, prefixes)
    total = rescored.log_partition
    listed = [tuple(rescored.words[i] for i in row[0]) for row in rows]
    probs = [math.exp(min(row[2] - total, 0.0)) for row in rows]
    words, upper = _consensus(rescored, listed[0] if listed else rescored.best().words)
    number = {word: label for label, word in enumerate(rescored.words)}
    coded = [list(row[0]) for row in rows] + [[number[word] for word in words]]
    matrix = error_matrix(coded)
    size = len(coded)
    rest = max(1.0 - sum(probs), 0.0)
    is_all = complete and len(rows) < sequences
    if is_all:
        rest = 0.0
    longest = _longest(rescored)
    listed_errors = [sum(p * matrix[i * size + j] for j, p in enumerate(probs)) for i in range(size)]
    bounds = [known + rest * max(longest, len(one)) for known, one in zip(listed_errors, coded, strict=True)]
    bounds[-1] = min(bounds[-1], upper)
    if rest:  # else all is known
        for i in {size - 1, *sorted(range(size), key=listed_errors.__getitem__)[:NEAREST]}:
            bounds[i] = min(bounds[i], _own_errors(rescored, coded[i], longest, LEAST_SHARE))
    chosen = size - 1
    for i in range(size - 1):
        if bounds[i] < bounds[chosen] - TIGHT:
            chosen = i
    search = ErrorSearch(rescored, coded[chosen], longest)
    matched = _matched(probs, matrix, size)
    if matched < search.upper - TIGHT:
        search.run(seconds)
    words = tuple(rescored.words[label] for label in search.known)
    upper = min(search.upper, bounds[chosen]) if search.known == coded[chosen] else search.upper
    lower = min(max(matched, search.lower), upper)
    upper, lower = _outward(rescored, upper, lower)
    exact = upper - lower <= TIGHT * (1.0 + upper)
    proof = Certificate(exact, upper, lower, "full", 0, rescored.core.num_states, "expected_errors")
    weight = rescored.core.total_of(labels, [number[word] for word in words])
    return Decoded(words, weight, proof, rescored.lattice.id, expected_errors=upper)


def _own_errors(rescored: Rescored, sequence: list[int], longest: int, least_share: float) -> float:
    """Return the expected errors of a sequence, what was left out being all wrong; inf: too much work."""
    share = least_share if rescored.core.num_states > SMALL else 0.0
    found = expected_errors(rescored.core, rescored.labels, sequence, ROWS if share else MOST_ROWS, share)
    return math.inf if found is None else found[0] + found[1] * max(longest, len(sequence))


def _outward(rescored: Rescored, upper: float, lower: float) -> tuple[float, float]:
    """Return bounds of expected errors, moved by what rounding can have done to the probabilities.

    An error of the share e in each probability is one of e times the expected number of words in their sum.
    """
    share = 2 * rescored.error_bound  # that of the sequences, and that of the total
    longest = _longest(rescored)
    if share * (1 + longest) <= TIGHT:
        return upper, lower
    more = share * (1 + longest)
    return min(upper + more, max(upper, 2.0 * longest)), max(lower - more, 0.0) + 0.0


def _consensus(rescored: Rescored, pivot: tuple[str, ...]) -> tuple[tuple[str, ...], float]:
    """Return words and an upper bound of their expected errors; each mesh's consensus is the next pivot."""
    best, upper = pivot, _pivot_errors(_slots(rescored, pivot), pivot)
    words = pivot
    for _ in range(ROUNDS):
        words = mesh(rescored, words).words
        bound = _pivot_errors(_slots(rescored, words), words)
        if bound >= upper - TIGHT:
            break
        best, upper = words, bound
    return best, upper


def _pivot_errors(slots: dict[_Key, dict[str, float]], pivot: Sequence[str]) -> float:
    errors = 0.0
    for (i, behind), probs in slots.items():
        errors += sum(probs.values()) if behind or i < 0 else 1.0 - probs.get(pivot[i], 0.0)
    return max(errors, 0.0)


def _longest(rescored: Rescored) -> int:
    """Return the most words that a path has."""
    columns = rescored.columns
    most = [-1] * columns.num_nodes
    most[columns.start] = 0
    for start, end, label in zip(columns.start_of, columns.end_of, columns.label, strict=True):
        if most[start] >= 0:
            most[end] = max(most[end], most[start] + (label != SILENT))
    return max(most)


def _matched(probs: Sequence[float], matrix: Sequence[int], size: int) -> float:
    """Return a lower bound of the least expected errors: weights of sequences matched with each other.

    Once with what is left of the first sequence given to the others first, once by distance alone.
    """
    pairs = [(i, j) for i in range(len(probs)) for j in range(i)]
    pairs.sort(key=lambda pair: -matrix[pair[0] * size + pair[1]])
    star_first = sorted(pairs, key=lambda pair: pair[1] != 0)
    return max(_match(probs, matrix, size, order) for order in (pairs, star_first))


def _match(
    probs: Sequence[float], matrix: Sequence[int], size: int, pairs: Sequence[tuple[int, int]]
) -> float:
    left = list(probs)
    bound = 0.0
    for i, j in pairs:
        share = min(left[i], left[j])
        if share > 0.0:
            bound += share * matrix[i * size + j]
            left[i] -= share
            left[j] -= share
    return bound


def nearest_errors(rescored: Rescored, reference: Sequence[str]) -> int:
    """Return the word errors of the path that comes nearest to a text (the oracle's)."""
    columns = rescored.columns
    number = {word: label for label, word in enumerate(rescored.words)}
    sequence = [number.get(word, len(number)) for word in reference]
    return columns.graph().nearest_path(columns.label, sequence)[0]
