r"""Constraints on sentences as finite automata over words.

``contains("new york")`` accepts sentences with that phrase anywhere; ``pattern("the (dog|cat) .* \.")`` is a
regular expression over words, for the whole sentence. Automata intersect by their product, so a list of
keywords, in any order, is the product of one automaton for each.

Patterns: words are separated by white space; ``.`` is any word, ``( ) | * + ?`` are as everywhere and act
on the word or group before them; ``[a b c]`` is one of these words, ``[^a b c]`` any other. A backslash takes
the next character as it is, so that ``\.`` is the word for a full stop.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hiddenite._core import Automaton
from hiddenite.corpus import tokenize
from hiddenite.errors import ModelError

DEAD = -1
_CORE_DEAD = 0xFFFFFFFF
_OPERATORS = frozenset("()|*+?.[]")
MAX_STATES = 4096


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

    def core(self, ids: Mapping[str, int], num_words: int) -> Automaton:
        """Return the core's automaton over word ids; words without an id are not there."""
        target = np.empty((len(self.accepts), num_words), dtype=np.uint32)
        for q, (other, edges) in enumerate(zip(self.other, self.edges, strict=True)):
            target[q] = _CORE_DEAD if other == DEAD else other
            for word, to in edges.items():
                if word in ids:
                    target[q, ids[word]] = _CORE_DEAD if to == DEAD else to
        return Automaton(0, np.array(self.accepts, dtype=bool), target.reshape(-1))


ANYTHING = WordAutomaton((True,), (0,), ({},))


def contains(phrase: str | Sequence[str]) -> WordAutomaton:
    """Accept sentences in which the words of the phrase follow one another (Knuth, Morris & Pratt 1977)."""
    words = tokenize(phrase) if isinstance(phrase, str) else list(phrase)
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


def intersect(first: WordAutomaton, second: WordAutomaton) -> WordAutomaton:
    """Accept what both accept."""
    states: dict[tuple[int, int], int] = {(0, 0): 0}
    order = [(0, 0)]

    def number(p: int, q: int) -> int:
        if DEAD in (p, q):
            return DEAD
        if (p, q) not in states:
            if len(states) == MAX_STATES:
                raise ModelError(
                    f"the constraint needs more than {MAX_STATES} automaton states; ask for less"
                )
            states[p, q] = len(order)
            order.append((p, q))
        return states[p, q]

    other: list[int] = []
    edges: list[dict[str, int]] = []
    for p, q in order:  # grows as it is walked
        other.append(number(first.other[p], second.other[q]))
        listed = sorted(first.edges[p].keys() | second.edges[q].keys())
        edges.append({word: number(first.step(p, word), second.step(q, word)) for word in listed})
    accepts = tuple(first.accepts[p] and second.accepts[q] for p, q in order)
    return WordAutomaton(accepts, tuple(other), tuple(edges))


# ------------------------------------------------------------------- patterns


@dataclass(frozen=True)
class _Symbol:
    """One word: of these, or none of these."""

    words: frozenset[str]
    negated: bool = False


class _Builder:
    """Thompson's construction: states are numbers, epsilon and word arcs are lists."""

    def __init__(self, text: str) -> None:
        self._tokens = _scan(text)
        self._text = text
        self._at = 0
        self.epsilon: list[list[int]] = []
        self.arcs: list[list[tuple[_Symbol, int]]] = []

    def state(self) -> int:
        self.epsilon.append([])
        self.arcs.append([])
        return len(self.epsilon) - 1

    def build(self) -> tuple[int, int]:
        begin, end = self._alternatives()
        if self._at < len(self._tokens):
            raise self._error(f"found '{self._tokens[self._at]}', expected the end of the pattern")
        return begin, end

    def _error(self, message: str) -> ModelError:
        return ModelError(f"the pattern '{self._text}' is wrong: {message}")

    def _peek(self) -> object:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _alternatives(self) -> tuple[int, int]:
        begin, end = self._sequence()
        while self._peek() == "|":
            self._at += 1
            other_begin, other_end = self._sequence()
            fork, join = self.state(), self.state()
            self.epsilon[fork] += [begin, other_begin]
            self.epsilon[end].append(join)
            self.epsilon[other_end].append(join)
            begin, end = fork, join
        return begin, end

    def _sequence(self) -> tuple[int, int]:
        begin = end = self.state()
        while self._peek() not in (None, "|", ")"):
            next_begin, next_end = self._repeated()
            self.epsilon[end].append(next_begin)
            end = next_end
        return begin, end

    def _repeated(self) -> tuple[int, int]:
        begin, end = self._atom()
        while self._peek() in ("*", "+", "?"):
            operator = self._tokens[self._at]
            self._at += 1
            first, last = self.state(), self.state()
            self.epsilon[first].append(begin)
            self.epsilon[end].append(last)
            if operator in ("*", "?"):
                self.epsilon[first].append(last)
            if operator in ("*", "+"):
                self.epsilon[end].append(begin)
            begin, end = first, last
        return begin, end

    def _atom(self) -> tuple[int, int]:
        token = self._peek()
        self._at += 1
        if token == "(":
            begin, end = self._alternatives()
            if self._peek() != ")":
                raise self._error("a ( is not closed")
            self._at += 1
            return begin, end
        if not isinstance(token, _Symbol):
            raise self._error(f"found '{token}', expected a word before it")
        begin, end = self.state(), self.state()
        self.arcs[begin].append((token, end))
        return begin, end


def _scan(text: str) -> list[str | _Symbol]:
    tokens: list[str | _Symbol] = []
    word = ""
    sets: list[str] | None = None  # the words of an open [
    i = 0

    def finish() -> None:
        nonlocal word
        if word and sets is not None:
            sets.append(word)
        elif word:
            tokens.append(_Symbol(frozenset([word])))
        word = ""

    while i < len(text):
        c = text[i]
        if c == "\\" and i + 1 < len(text):
            word += text[i + 1]
            i += 1
        elif c in " \t\r\n\v\f":
            finish()
        elif c == "[" and sets is None:
            finish()
            sets = []
        elif c == "]" and sets is not None:
            finish()
            negated = bool(sets) and sets[0].startswith("^")
            words = [sets[0][1:], *sets[1:]] if negated else sets
            tokens.append(_Symbol(frozenset(w for w in words if w), negated))
            sets = None
        elif c in _OPERATORS and sets is None:
            finish()
            tokens.append(_Symbol(frozenset(), negated=True) if c == "." else c)
        else:
            word += c
        i += 1
    finish()
    if sets is not None:
        raise ModelError(f"the pattern '{text}' is wrong: a [ is not closed")
    return tokens


def pattern(text: str) -> WordAutomaton:
    """Compile a regular expression over words; the subset construction."""
    builder = _Builder(text)
    begin, end = builder.build()
    named = sorted({w for arcs in builder.arcs for symbol, _ in arcs for w in symbol.words})

    def closure(states: Iterable[int]) -> frozenset[int]:
        found, queue = set(states), list(states)
        while queue:
            for to in builder.epsilon[queue.pop()]:
                if to not in found:
                    found.add(to)
                    queue.append(to)
        return frozenset(found)

    def follow(states: frozenset[int], word: str | None) -> frozenset[int]:
        """``None`` is a word that the pattern does not name."""
        return closure(
            {to for s in states for symbol, to in builder.arcs[s] if (word in symbol.words) != symbol.negated}
        )

    numbers = {closure([begin]): 0}
    order = list(numbers)

    def number(states: frozenset[int]) -> int:
        if not states:
            return DEAD
        if states not in numbers:
            if len(numbers) == MAX_STATES:
                raise ModelError(f"the pattern '{text}' needs more than {MAX_STATES} automaton states")
            numbers[states] = len(order)
            order.append(states)
        return numbers[states]

    other: list[int] = []
    edges: list[dict[str, int]] = []
    for states in order:  # grows as it is walked
        other.append(number(follow(states, None)))
        edges.append({word: number(follow(states, word)) for word in named})
    return WordAutomaton(tuple(end in states for states in order), tuple(other), tuple(edges))


def constraint(keywords: Iterable[str | Sequence[str]] = (), expression: str | None = None) -> WordAutomaton:
    """Return the automaton of all keywords, in any order, and the pattern."""
    automata = [contains(phrase) for phrase in keywords]
    if expression is not None:
        automata.append(pattern(expression))
    return functools.reduce(intersect, automata, ANYTHING)
