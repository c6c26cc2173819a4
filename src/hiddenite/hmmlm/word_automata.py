"""Finite automata over words, or over whatever strings: which are told apart, and where all others lead.

``contains("new york")`` accepts sentences with that phrase anywhere. :mod:`hiddenite.hmmlm.constraints` puts
such automata together; here are the pieces that need no vocabulary.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hiddenite.errors import ModelError
from hiddenite.files.corpus import sentence_words
from hiddenite.hmmlm.automata import DEAD, MAX_STATES


@dataclass(frozen=True)
class WordAutomaton:
    """Deterministic: other[q] is where words go that edges[q] does not list; DEAD is nowhere."""

    accepts: tuple[bool, ...]
    other: tuple[int, ...]
    edges: tuple[dict[str, int], ...]

    def step(self, state: int, word: str) -> int:
        """Return the next state."""
        return DEAD if state == DEAD else self.edges[state].get(word, self.other[state])

    def matches(self, words: Iterable[str]) -> bool:
        """Whether the sentence is accepted."""
        state = functools.reduce(self.step, words, 0)
        return state != DEAD and self.accepts[state]

    @property
    def words(self) -> frozenset[str]:
        """The words that are told apart."""
        return frozenset(word for edges in self.edges for word in edges)


OTHER = "<other>"  # the label of all words that a state does not list
ANYTHING = WordAutomaton((True,), (0,), ({},))


def contains(phrase: str | Sequence[str]) -> WordAutomaton:
    """Accept sentences in which the words of the phrase follow one another (Knuth, Morris & Pratt 1977)."""
    words = sentence_words(phrase)
    if not words:
        raise ModelError("a keyword is empty, expected a word or several")
    last = len(words)
    edges: list[dict[str, int]] = []
    for matched in range(last):
        row = {}
        for word in set(words):
            seen = [*words[:matched], word]
            row[word] = next(n for n in range(len(seen), -1, -1) if n == 0 or seen[-n:] == words[:n])
        edges.append({word: to for word, to in row.items() if to})
    return WordAutomaton((False,) * last + (True,), (0,) * last + (last,), (*edges, {}))


def positions(fixed: Mapping[int, str]) -> WordAutomaton:
    """Accept sentences with these words at these positions, counted from 0."""
    if min(fixed, default=0) < 0:
        raise ModelError("a fixed position is below 0, expected positions from 0 up")
    last = max(fixed, default=-1) + 1
    if last >= MAX_STATES:
        raise ModelError(f"a fixed position is {last - 1}, expected at most {MAX_STATES - 2}")
    edges: list[dict[str, int]] = [{fixed[t]: t + 1} if t in fixed else {} for t in range(last)]
    other = [DEAD if t in fixed else t + 1 for t in range(last)]
    return WordAutomaton((*(False for _ in range(last)), True), (*other, last), (*edges, {}))


def word_count(least: int, most: int | None) -> WordAutomaton:
    """Accept sentences of so many words."""
    size = (least if most is None else most) + 1
    if least < 0 or size <= least or size > MAX_STATES:
        raise ModelError(
            f"found {least} to {most} words, expected numbers from 0 to {MAX_STATES - 1}, the smaller first"
        )
    accepts = tuple(n >= least for n in range(size))
    return WordAutomaton(accepts, (*range(1, size), size - 1 if most is None else DEAD), ({},) * size)


def from_openfst(text: str) -> WordAutomaton:
    """Read a deterministic acceptor in OpenFst's text form: ``from to word`` lines and ``final`` lines.

    The first line's state is the start. The label ``<other>`` stands for all words that the state does not
    list. A third label or a weight is refused: this is no transducer.
    """
    numbers: dict[str, int] = {}
    edges: list[dict[str, int]] = []
    finals: set[int] = set()

    def number(name: str) -> int:
        if name not in numbers:
            numbers[name] = len(edges)
            edges.append({})
        return numbers[name]

    for line_number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if len(fields) == 1:
            finals.add(number(fields[0]))
        elif len(fields) == 3 or (len(fields) == 4 and fields[2] == fields[3]):
            source, to, word = number(fields[0]), number(fields[1]), fields[2]
            if word in ("<eps>", "<epsilon>"):
                raise ModelError(f"line {line_number}: an epsilon arc; determinise the automaton first")
            if edges[source].setdefault(word, to) != to:
                raise ModelError(
                    f"line {line_number}: state {fields[0]} has two arcs for '{word}'; determinise it first"
                )
        elif fields:
            raise ModelError(
                f"line {line_number}: found {len(fields)} fields, expected 'from to word' or 'final'"
            )
    if not edges:
        raise ModelError("the automaton is empty, expected 'from to word' lines")
    other = tuple(row.pop(OTHER, DEAD) for row in edges)
    return WordAutomaton(tuple(q in finals for q in range(len(edges))), other, tuple(edges))
