"""The lattice itself: nodes, edges with words and scores, and what is true of every one.

A lattice is an acyclic graph. A path leads from the start to one of the final nodes; an edge carries a word,
no word at all (``""``: epsilon), or several words with blanks between them. Scores are natural logarithms,
kept apart by their source, because a new language model replaces the old one's and leaves the acoustic ones.
How much each counts is said by :class:`Scales`, which files may give in their header.

Nodes have any numbers from 0; :meth:`Lattice.order` finds an order in which edges lead upwards.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hiddenite.errors import ModelError


class Edge(NamedTuple):
    """An edge and its scores, natural logarithms as the recogniser gave them."""

    start: int
    end: int
    word: str  # "": none; several words have blanks between them
    acoustic: float = 0.0
    language: float = 0.0  # of the recogniser's own language model
    pronunciation: float = 0.0
    alignment: str = ""  # Kaldi's transition ids, as they were written


class Final(NamedTuple):
    """The scores of paths that end at a node."""

    acoustic: float = 0.0
    language: float = 0.0


@dataclass(frozen=True, slots=True)
class Scales:
    """What scores are multiplied with, and what each word adds."""

    acoustic: float = 1.0
    language: float = 1.0
    pronunciation: float = 1.0
    word_penalty: float = 0.0  # natural logarithm, added for each word; negative numbers make texts shorter

    def __post_init__(self) -> None:
        for one in dataclasses.fields(self):
            value = getattr(self, one.name)
            if not math.isfinite(value):
                raise ModelError(f"{one.name} is {value}, expected a finite number")


@dataclass(frozen=True, slots=True)
class Lattice:
    """An acyclic graph of words with scores."""

    edges: Sequence[Edge]
    finals: Mapping[int, Final]
    start: int = 0
    id: str | int | None = None
    times: Mapping[int, float] = field(default_factory=dict)  # node: seconds from the beginning
    scales: Scales = Scales()
    num_nodes: int = 0  # at least one more than the highest number that edges mention

    def __post_init__(self) -> None:
        mentioned = [self.start, *self.finals]
        most = max((max(edge.start, edge.end) for edge in self.edges), default=0)
        least = min((min(edge.start, edge.end) for edge in self.edges), default=0)
        if min(least, *mentioned) < 0:
            raise ModelError(f"a node has the number {min(least, *mentioned)}, expected 0 or more")
        object.__setattr__(self, "num_nodes", max(self.num_nodes, most + 1, max(mentioned) + 1))

    def __repr__(self) -> str:
        name = "" if self.id is None else f" {self.id}"
        return f"<Lattice{name}: {self.num_nodes:,} nodes, {len(self.edges):,} edges>"

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[int, int, str, float]], id: str | int | None = None) -> Lattice:
        """Make a lattice of (from, to, word, natural-log weight); the highest node is the end."""
        made = [Edge(int(start), int(end), word, float(weight)) for start, end, word, weight in edges]
        last = max((edge.end for edge in made), default=0)
        return cls(made, {last: Final()}, id=id)

    def with_edges(self, edges: Sequence[Edge]) -> Lattice:
        """Return the same nodes with other edges."""
        return dataclasses.replace(self, edges=edges)

    # ------------------------------------------------------------------ order

    def order(self) -> list[int]:
        """Return the nodes so that edges lead onwards; ModelError, with an edge of it, for a cycle."""
        waiting = [0] * self.num_nodes
        leaving: list[list[int]] = [[] for _ in range(self.num_nodes)]
        for edge in self.edges:
            waiting[edge.end] += 1
            leaving[edge.start].append(edge.end)
        ready = [node for node, count in enumerate(waiting) if count == 0]
        done: list[int] = []
        while ready:
            node = ready.pop()
            done.append(node)
            for end in leaving[node]:
                waiting[end] -= 1
                if waiting[end] == 0:
                    ready.append(end)
        if len(done) < self.num_nodes:
            raise CycleError(self._edge_of_cycle(waiting))
        return done

    def _edge_of_cycle(self, waiting: Sequence[int]) -> int:
        """Return the place of an edge on a cycle, among nodes that wait for each other."""
        before: dict[int, int] = {}
        for place, edge in enumerate(self.edges):
            if waiting[edge.end] and waiting[edge.start]:
                before[edge.end] = place
        node = next(iter(before))
        seen: set[int] = set()
        while node not in seen:  # backwards: every node that waits has one before it that waits too
            seen.add(node)
            node = self.edges[before[node]].start
        return before[node]

    def trimmed(self) -> Lattice:
        """Return the lattice without nodes and edges that are on no path; nodes are numbered anew."""
        useful = _reached(self.edges, [self.start], forward=True) & _reached(
            self.edges, self.finals, forward=False
        )
        if self.start not in useful:
            raise NoPathError
        place = {node: number for number, node in enumerate(n for n in self.order() if n in useful)}
        edges = [
            edge._replace(start=place[edge.start], end=place[edge.end])
            for edge in self.edges
            if edge.start in place and edge.end in place
        ]
        return dataclasses.replace(
            self,
            edges=edges,
            finals={place[node]: final for node, final in self.finals.items() if node in place},
            start=place[self.start],
            times={place[node]: time for node, time in self.times.items() if node in place},
            num_nodes=len(place),
        )

    def num_paths(self) -> int:
        """Return how many paths there are, those that differ by an edge alone included."""
        leaving: list[list[int]] = [[] for _ in range(self.num_nodes)]
        for edge in self.edges:
            leaving[edge.start].append(edge.end)
        ways = [0] * self.num_nodes
        for node in reversed(self.order()):
            ways[node] = (node in self.finals) + sum(ways[end] for end in leaving[node])
        return ways[self.start]


class CycleError(ModelError):
    """A graph that is no lattice."""

    def __init__(self, edge: int) -> None:
        super().__init__(edge)
        self.edge = edge  # its place among the edges

    def __str__(self) -> str:
        return "the edges make a cycle, expected an acyclic graph"


class NoPathError(ModelError):
    """A lattice that offers nothing."""

    def __str__(self) -> str:
        return "no path leads from the start to an end"


def _reached(edges: Iterable[Edge], first: Iterable[int], *, forward: bool) -> set[int]:
    """Return the nodes that lie on ways from some nodes, or on ways to them."""
    following: dict[int, list[int]] = {}
    for edge in edges:
        here, there = (edge.start, edge.end) if forward else (edge.end, edge.start)
        following.setdefault(here, []).append(there)
    seen = set(first)
    waiting = list(seen)
    while waiting:
        for node in following.get(waiting.pop(), ()):
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return seen
