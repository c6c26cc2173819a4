"""Finite automata over token ids, as arrays: combined, complemented, minimised.

Tokens that no state tells apart share a class, so a table has a column for each class and not for each of
50,000 tokens. Every constraint becomes one of these in the end (:mod:`hiddenite.hmmlm.constraints`), and the
core walks it beside a chain (``cpp/hiddenite/hmm/guide/automaton.hpp``).

All combinations are one: *at least k of n*. All of them is k = n, any of them k = 1, and none of them is the
complement. States are pairs that can be reached, and a combination that is decided becomes one state at once.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import Automaton
from hiddenite.errors import ModelError

DEAD = -1
_CORE_DEAD = 0xFFFFFFFF
MAX_STATES = 4096

Table = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class TokenAutomaton:
    """Deterministic; state 0 is the start."""

    accepts: NDArray[np.bool_]  # [state]
    class_of: NDArray[np.int32]  # [token]
    target: Table  # [state, class]: the next state, or DEAD

    @property
    def num_states(self) -> int:
        """States, the dead one not counted."""
        return len(self.accepts)

    def step(self, state: int, token: int) -> int:
        """Return the next state."""
        return DEAD if state == DEAD else int(self.target[state, self.class_of[token]])

    def matches(self, tokens: Iterable[int]) -> bool:
        """Whether the sequence is accepted."""
        state = functools.reduce(self.step, tokens, 0)
        return state != DEAD and bool(self.accepts[state])

    def core(self) -> Automaton:
        """Return the automaton of the core."""
        target = np.where(self.target == DEAD, _CORE_DEAD, self.target.astype(np.int64)).astype(np.uint32)
        return Automaton(0, self.accepts, self.class_of.astype(np.uint32), target.reshape(-1))

    def renumbered(self, tokens: NDArray[np.int64]) -> TokenAutomaton:
        """Return the same over other ids: new id i is the old id tokens[i]."""
        return TokenAutomaton(self.accepts, self.class_of[tokens], self.target)

    def complement(self) -> TokenAutomaton:
        """Accept what this one does not accept."""
        sink = self.num_states
        target = np.where(self.target == DEAD, sink, self.target)
        loops = np.full((1, target.shape[1]), sink, np.int32)
        return TokenAutomaton(
            np.append(~self.accepts, True), self.class_of, np.vstack([target, loops]).astype(np.int32)
        ).minimised()

    def minimised(self) -> TokenAutomaton:
        """Return the smallest automaton of the same language with the fewest classes (Moore 1956)."""
        live = _useful(self.accepts, self.target)
        target = np.where((self.target == DEAD) | ~live[self.target], self.num_states, self.target)
        target = np.vstack([target, np.full((1, target.shape[1]), self.num_states)])  # the dead state is last
        block = np.append(self.accepts.astype(np.int64) + 1, 0) * np.append(live, True)
        while True:
            rows = np.hstack([block[:, None], block[target]])
            finer = _row_numbers(rows)
            if len(np.unique(finer)) == len(np.unique(block)):
                break
            block = finer
        return _quotient(self, target, block)


def _row_numbers(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number equal rows alike."""
    packed = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))
    return np.unique(packed.reshape(-1), return_inverse=True)[1].reshape(-1).astype(np.int64)


def _useful(accepts: NDArray[np.bool_], target: Table) -> NDArray[np.bool_]:
    """Tell the states from which an accepting one can be reached."""
    live = accepts.copy()
    while True:
        grown = live | ((target != DEAD) & live[target]).any(axis=1)
        if (grown == live).all():
            return live
        live = grown


def _quotient(
    automaton: TokenAutomaton, target: NDArray[np.int64], block: NDArray[np.int64]
) -> TokenAutomaton:
    """One state for each block that the start reaches; the block of the last row is dead."""
    dead = block[-1]
    if block[0] == dead:  # nothing is accepted
        empty = np.full((1, 1), DEAD, np.int32)
        return TokenAutomaton(np.zeros(1, bool), np.zeros_like(automaton.class_of), empty)
    members = {int(b): i for i, b in reversed(list(enumerate(block.tolist())))}
    order = [int(block[0])]
    numbers = {order[0]: 0}
    rows = []
    for b in order:  # grows as it is walked
        to = block[target[members[b]]]
        for found in dict.fromkeys(to.tolist()):
            if found != dead and found not in numbers:
                numbers[found] = len(order)
                order.append(found)
        rows.append(to)
    renumber = np.full(int(block.max()) + 1, DEAD, np.int32)
    for b, number in numbers.items():
        renumber[b] = number
    table = renumber[np.stack(rows)]
    classes = _row_numbers(table.T.astype(np.int64))
    first = np.unique(classes, return_index=True)[1]
    accepts = np.append(automaton.accepts, False)[[members[b] for b in order]]
    return TokenAutomaton(
        accepts, classes[automaton.class_of].astype(np.int32), np.ascontiguousarray(table[:, first])
    )


def everything(num_tokens: int) -> TokenAutomaton:
    """Accept every sequence."""
    return TokenAutomaton(np.ones(1, bool), np.zeros(num_tokens, np.int32), np.zeros((1, 1), np.int32))


def from_columns(accepts: Sequence[bool] | NDArray[np.bool_], columns: Table) -> TokenAutomaton:
    """Make an automaton from the table [state, token]; tokens with equal columns share a class."""
    classes = _row_numbers(columns.T.astype(np.int64))
    first = np.unique(classes, return_index=True)[1]
    return TokenAutomaton(
        np.asarray(accepts, bool), classes.astype(np.int32), np.ascontiguousarray(columns[:, first], np.int32)
    )


def at_least(k: int, automata: Sequence[TokenAutomaton]) -> TokenAutomaton:
    """Accept what k or more of the automata accept; minimised."""
    if not 0 <= k <= len(automata):
        raise ModelError(f"found at least {k} of {len(automata)} constraints, expected 0 to {len(automata)}")
    small = [automaton.minimised() for automaton in automata]
    if k == 0 or not small:
        return everything(len(automata[0].class_of))
    return _Product(k, small).run().minimised()


class _Product:
    """Reachable tuples of states. A part that accepts whatever follows is SURE."""

    SURE = -2

    def __init__(self, k: int, automata: Sequence[TokenAutomaton]) -> None:
        self._k = k
        joint = np.stack([a.class_of for a in automata], axis=1).astype(np.int64)
        self._class_of = _row_numbers(joint)
        representatives = np.unique(self._class_of, return_index=True)[1]
        self._accepts = [a.accepts for a in automata]
        self._tables = [self._with_sure(a)[:, a.class_of[representatives]].astype(np.int64) for a in automata]

    @classmethod
    def _with_sure(cls, automaton: TokenAutomaton) -> Table:
        everywhere = automaton.accepts & (automaton.target == np.arange(automaton.num_states)[:, None]).all(1)
        mark = np.append(np.where(everywhere, cls.SURE, np.arange(automaton.num_states)), DEAD)
        return mark[automaton.target].astype(np.int32)  # DEAD, -1, reads the last

    def _decided(self, state: tuple[int, ...]) -> int | None:
        if sum(part == self.SURE for part in state) >= self._k:
            return self.SURE
        return DEAD if sum(part != DEAD for part in state) < self._k else None

    def _accepting(self, state: tuple[int, ...]) -> bool:
        return (
            sum(
                p == self.SURE or (p != DEAD and bool(a[p]))
                for p, a in zip(state, self._accepts, strict=True)
            )
            >= self._k
        )

    def _row(self, state: tuple[int, ...], num_classes: int) -> NDArray[np.int64]:
        """Where each class leads: [class, part]."""
        return np.stack(
            [
                table[part] if part >= 0 else np.full(num_classes, part)
                for part, table in zip(state, self._tables, strict=True)
            ],
            axis=1,
        )

    def run(self) -> TokenAutomaton:
        start = tuple(
            self.SURE if a[0] and (t[0] == self.SURE).all() else 0
            for a, t in zip(self._accepts, self._tables, strict=True)
        )
        num_classes = self._tables[0].shape[1]
        numbers: dict[tuple[int, ...], int] = {start: 0}
        order = [start]
        sure = None
        rows = []
        for state in order:  # grows as it is walked
            row = np.empty(num_classes, np.int32)
            to = self._row(state, num_classes)
            kinds = _row_numbers(to)
            for kind, first in enumerate(np.unique(kinds, return_index=True)[1].tolist()):
                found = tuple(to[first].tolist())
                decided = self._decided(found)
                if decided == self.SURE:
                    sure = found if sure is None else sure
                    found = sure
                if decided != DEAD and found not in numbers:
                    if len(numbers) == MAX_STATES:
                        raise ModelError(
                            f"the constraint needs more than {MAX_STATES} automaton states; ask for less"
                        )
                    numbers[found] = len(order)
                    order.append(found)
                row[kinds == kind] = DEAD if decided == DEAD else numbers[found]
            rows.append(row)
        accepts = np.array([self._accepting(state) for state in order])
        return TokenAutomaton(accepts, self._class_of.astype(np.int32), np.stack(rows))
