"""What the least expected word errors of a lattice cannot be below.

A sequence V of n words, c(w) of them being w, has at least as many errors against a path W as it has words
too many or too few, whichever are more. Over all paths:

    E errors(V) >= ( E |n - |W|| + sum over words w of E |c(w) - c_W(w)| ) / 2                      counted

The right side depends on the bag of V's words alone, is convex in each c(w), and its least value over all
bags is found by taking the n cheapest words. But it does not know where words stand: a word too many here
and one too few there are one error to it. So where it leaves a gap to the errors of the best sequence known,
every bag below those errors is looked at, and every order of its words that is not ruled out:

    if x stands i times before y in V, and y once, a path with y once, x i' times before and j' times after it
    loses a match more than the bags say wherever min(c, i' + j') > min(i, i') + min(c - i, j')

which adds the share of such paths to the bound; pairs of different words add up. What is left are sequences
with the same words in nearly the same order; their own expected errors are bounded from below by following
the paths of largest share (``cpp/hiddenite/lattice/path_shares.hpp``). The least of all these is a lower
bound of the errors of any words, and a proof where it reaches those of the sequence known. Words that no
path has make nothing better, so bags need none.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hiddenite._core import SILENT, PathShares
from hiddenite.rescoring import Rescored

MOST_BAGS = 20_000
SHARES = 1e-6  # arcs of a smaller share are left out of orders and distances
TRIES = ((True, 1e-4), (True, 1e-6), (False, 1e-9))  # so do columns of distances; whether arcs do too
WHOLE = 1e-13  # columns of a smaller share are left out of what is called a sequence's own errors
MOST_ROWS = 10_000_000  # pairs of a state and a column, of a try
WORK = 10_000_000  # of all tries
ORDER = 100  # what an order of a bag counts as
AROUND = 4  # x before and after y: 0, 1, 2, 3 or more
NEGLIGIBLE = 1e-11  # words of a smaller share count as never there: that costs so much each

_Bag = tuple[tuple[int, int], ...]  # (label, count), counts above 0


@dataclass(frozen=True, slots=True)
class CountBound:
    """The bound by counted words, of every bag and of the best."""

    phi: dict[int, tuple[float, ...]]  # [label][c]: E |c - c_W|, up to the most that a path has
    lengths: tuple[float, ...]  # [n]: the share of paths of n words

    @classmethod
    def of(cls, rescored: Rescored, shares: PathShares) -> CountBound:
        """Count the words of all paths."""
        expected: Counter[int] = Counter()
        for label, prob in zip(rescored.labels, rescored.core.posteriors(), strict=True):
            if label != SILENT and prob > 0.0:
                expected[label] += prob  # type: ignore[assignment]
        phi = {}
        for label, mean in expected.items():
            if mean < NEGLIGIBLE:
                continue
            found = shares.counts(label)
            phi[label] = tuple(
                sum(share * abs(c - k) for k, share in enumerate(found)) for c in range(len(found))
            )
        return cls(phi, tuple(rescored.core.length_shares(rescored.labels)))

    def of_length(self, n: int) -> float:
        """E |n - |W||."""
        return sum(share * abs(n - length) for length, share in enumerate(self.lengths))

    def steps(self) -> list[float]:
        """What one more copy of a word adds, over all words and copies, least first."""
        return sorted(b - a for row in self.phi.values() for a, b in itertools.pairwise(row))

    def least(self, n: int, steps: Sequence[float]) -> float:
        """Return the bound of the best bag of n words."""
        copies = sum(steps[:n]) + max(n - len(steps), 0)
        return (sum(row[0] for row in self.phi.values()) + copies + self.of_length(n)) / 2

    def value(self) -> float:
        """No words have fewer expected errors."""
        steps = self.steps()  # beyond the longest path it rises
        return min(self.least(n, steps) for n in range(len(self.lengths)))

    def bags(self, below: float, most: int) -> list[tuple[float, _Bag]] | None:
        """Return all bags whose bound is below a number, with their bounds; None: they are too many.

        Words may be more than those of any path: abcdef is one error from each path that lacks one letter.
        """
        steps = self.steps()
        found: list[tuple[float, _Bag]] = []
        for n in itertools.count():
            least = self.least(n, steps)
            if least < below:
                found += itertools.islice(self._bags_of(n, steps, least, below), most + 1 - len(found))
            elif n >= len(self.lengths):  # from here on it rises
                return found
            if len(found) > most:
                return None
        raise AssertionError

    def _bags_of(
        self, n: int, steps: Sequence[float], least: float, below: float
    ) -> Iterator[tuple[float, _Bag]]:
        """Give the bags of n words, by their excess over the best: reduced costs of a Lagrangian."""
        price = -1.0 if n == 0 else steps[n - 1] if n <= len(steps) else 1.0
        rows = []
        fixed: list[tuple[int, int]] = []
        room = 2 * (below - least)
        for label, row in self.phi.items():
            beyond = (row[-1] + c for c in range(1, n + 2 - len(row)))  # more copies than any path has
            reduced = [value - price * c for c, value in enumerate((*row[: n + 1], *beyond))]
            lowest = min(reduced)
            choices = sorted((r - lowest, c) for c, r in enumerate(reduced) if r - lowest < room)
            if len(choices) == 1:
                if choices[0][1]:
                    fixed.append((label, choices[0][1]))
            else:
                rows.append((label, choices))
        rows.sort(key=lambda one: one[1][1][0])
        left = n - sum(c for _, c in fixed)
        most = [0] * (len(rows) + 1)
        for i in range(len(rows) - 1, -1, -1):
            most[i] = most[i + 1] + max(c for _, c in rows[i][1])
        stack: list[tuple[int, int, float, tuple[tuple[int, int], ...]]] = [(0, left, 0.0, ())]
        while stack:
            i, words, excess, chosen = stack.pop()
            if i == len(rows):
                if words == 0:
                    yield least + excess / 2, (*fixed, *chosen)
                continue
            label, choices = rows[i]
            for more, c in choices:
                if c <= words <= c + most[i + 1] and excess + more < room:
                    stack.append((i + 1, words - c, excess + more, (*chosen, (label, c)) if c else chosen))


class Orders:
    """Which orders of a bag's words can be below a number of errors."""

    def __init__(self, shares: PathShares) -> None:
        self._shares = shares
        self._tables: dict[tuple[int, int], list[float]] = {}

    def loss(self, x: int, before: int, of: int, y: int) -> float:
        """Return the share of paths that lose a match if ``before`` of x's copies stand before y."""
        table = self._tables.get((x, y))
        if table is None:
            table = self._tables[x, y] = self._shares.around(x, y, AROUND)
        lost = 0.0
        for place, share in enumerate(table):
            i, j = divmod(place, AROUND)
            if i < AROUND - 1 and j < AROUND - 1 and min(of, i + j) > min(before, i) + min(of - before, j):
                lost += share
        return lost

    def sequences(self, bag: _Bag, bound: float, below: float) -> Iterator[tuple[float, list[int]]]:
        """Give the orders whose bound is below a number, each with its bound."""
        counts = dict(bag)
        stack: list[tuple[list[int], tuple[tuple[float, int, int], ...]]] = [([], ())]
        size = sum(counts.values())
        while stack:
            words, losses = stack.pop()
            value = bound + _disjoint(losses)
            if value >= below:
                continue
            if len(words) == size:
                yield value, words
                continue
            placed = Counter(words)
            for y, count in bag:
                if placed[y] == count:
                    continue
                more = losses
                if count == 1:
                    rows = ((self.loss(x, placed[x], c, y), x, y) for x, c in bag if x != y)
                    more = (*losses, *(row for row in rows if row[0] > 0.0))
                if bound + max((loss for loss, _, _ in more), default=0.0) < below:
                    stack.append(([*words, y], more))


def _disjoint(losses: Sequence[tuple[float, int, int]]) -> float:
    """Return the sum of losses of pairs that have no word in common, largest first."""
    used: set[int] = set()
    total = 0.0
    for loss, x, y in sorted(losses, reverse=True):
        if x not in used and y not in used:
            used |= {x, y}
            total += loss
    return total


class ErrorSearch:
    """The search for fewer expected errors than those of a known sequence: it ends in a proof or a gap."""

    def __init__(self, rescored: Rescored, known: list[int], longest: int) -> None:
        self.known = known
        self._longest = longest  # words of a path
        self._full = PathShares(rescored.core, rescored.labels, 0.0)
        self._some = PathShares(rescored.core, rescored.labels, SHARES)
        self._orders = Orders(self._some)
        self._work = 0  # pairs of a state and a column that were looked at
        self._least, self.upper = self._own_errors(known, math.inf)  # what those of `known` are between
        self.counted = CountBound.of(rescored, self._full)
        self.lower = self.counted.value()  # no words have fewer
        self._limit = math.inf  # words that were not looked at have no fewer than this

    def _own_errors(self, words: list[int], enough: float, columns: float = WHOLE) -> tuple[float, float]:
        """Return what the expected errors of some words are between."""
        least, left_out, rows = self._full.errors(words, columns, enough, MOST_ROWS)
        self._work += rows
        return least, least + left_out * max(self._longest, len(words))

    def run(self, seconds: float = math.inf, work: int = WORK) -> None:
        """Raise ``lower``, and lower ``upper`` where a better sequence is met, until they are one."""
        end = time.monotonic() + seconds
        ticket = itertools.count()
        queue: list[tuple[float, int, _Bag | list[int], int]]
        queue = [(bound, next(ticket), bag, 0) for bound, bag in self._bags()]
        heapq.heapify(queue)
        while queue and queue[0][0] < self.upper and self._work < work and time.monotonic() < end:
            bound, _, what, tries = heapq.heappop(queue)
            self.lower = max(self.lower, min(bound, self._limit))
            if isinstance(what, tuple):
                for value, words in self._orders.sequences(what, bound, self.upper):
                    self._work += ORDER
                    if words != self.known:
                        heapq.heappush(queue, (value, next(ticket), words, 0))
                    if self._work >= work:  # the other orders were not seen
                        self._limit = min(self._limit, bound)
                        break
            else:
                value = max(bound, self._look_at(what, tries))
                if value < self.upper:
                    heapq.heappush(queue, (value, next(ticket), what, tries + 1))
        others = min(queue[0][0] if queue else math.inf, self._limit)
        if others >= self.upper > self._least:  # all that is open is what was left out of its own errors
            self._least, self.upper = self._own_errors(self.known, math.inf, 0.0)
        self.lower = min(max(self.lower, min(others, self._least)), self.upper)

    def _look_at(self, words: list[int], tries: int) -> float:
        """Return what the expected errors of some words are not below, closer with each try."""
        if tries < len(TRIES):
            some, columns = TRIES[tries]
            shares = self._some if some else self._full
            least, _, rows = shares.errors(words, columns, self.upper, MOST_ROWS)
            self._work += rows
            return least
        least, most = self._own_errors(words, self.upper)
        if most < self.upper:
            self.known, self._least, self.upper = words, least, most
        elif least < self.upper:  # nobody knows which is better
            self._limit = min(self._limit, least)
        return math.inf

    def _bags(self) -> list[tuple[float, _Bag]]:
        """Return bags that may have fewer errors; all others have the limit's at least."""
        for share in (1.0, 0.6, 0.35, 0.2, 0.1):
            self._limit = self.lower + share * (self.upper - self.lower)
            bags = self.counted.bags(self._limit, MOST_BAGS)
            if bags is not None:
                return bags
        self._limit = self.lower
        return []
