r"""Regular expressions over words or over characters, as automata.

Over words: words are separated by white space; ``.`` is any word, ``( ) | * + ?`` are as everywhere and act
on the word or group before them; ``[a b c]`` is one of these words, ``[^a b c]`` any other. A backslash takes
the next character as it is, so that ``\.`` is the word for a full stop.

Over characters: as in most tools. ``.`` is any character, ``[a-z]`` and ``[^0-9]`` are sets, ``\d``, ``\w``
and ``\s`` are the ASCII digits, word characters and white space, ``{2}``, ``{2,}`` and ``{2,5}`` repeat. The
whole text must match.
"""

from __future__ import annotations

import string
from collections.abc import Iterable
from dataclasses import dataclass

from hiddenite.errors import ModelError
from hiddenite.hmmlm.automata import DEAD, MAX_STATES
from hiddenite.hmmlm.word_automata import WordAutomaton

_OPERATORS = frozenset("()|*+?.[]")
_MOST_REPEATS = 200
_SETS = {
    "d": frozenset(string.digits),
    "w": frozenset(string.ascii_letters + string.digits + "_"),
    "s": frozenset(" \t\n\r\v\f"),
}


@dataclass(frozen=True)
class _Symbol:
    """One word: of these, or none of these."""

    words: frozenset[str]
    negated: bool = False


class _Builder:
    """Thompson's construction: states are numbers, epsilon and word arcs are lists."""

    def __init__(self, text: str, tokens: list[str | _Symbol | tuple[int, int | None]]) -> None:
        self._tokens = tokens
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
        first_token = self._at
        begin, end = self._atom()
        while True:
            operator = self._peek()
            if isinstance(operator, tuple):
                begin, end = self._counted(first_token, *operator)
                continue
            if operator not in ("*", "+", "?"):
                return begin, end
            self._at += 1
            first, last = self.state(), self.state()
            self.epsilon[first].append(begin)
            self.epsilon[end].append(last)
            if operator in ("*", "?"):
                self.epsilon[first].append(last)
            if operator in ("*", "+"):
                self.epsilon[end].append(begin)
            begin, end = first, last

    def _counted(self, first_token: int, least: int, most: int | None) -> tuple[int, int]:
        """Write the atom down as often as it may stand; it is parsed again each time."""
        if isinstance(self._tokens[self._at - 1], tuple) or self._tokens[self._at - 1] in ("*", "+", "?"):
            raise self._error("two repetitions follow one another; use a group")
        if most is not None and most < least:
            raise self._error(f"found {{{least},{most}}}, expected the smaller number first")
        if max(least, most or 0) > _MOST_REPEATS:
            raise self._error(f"repeats more than {_MOST_REPEATS} times")
        after = self._at + 1
        begin = end = self.state()
        stop = self.state()
        for turn in range(least + 1 if most is None else most):
            self._at = first_token
            next_begin, next_end = self._atom()
            if turn >= least:
                self.epsilon[end].append(stop)
            self.epsilon[end].append(next_begin)
            if most is None and turn == least:
                self.epsilon[next_end].append(next_begin)
            end = next_end
        self.epsilon[end].append(stop)
        self._at = after
        return begin, stop

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


def _scan(text: str) -> list[str | _Symbol | tuple[int, int | None]]:
    tokens: list[str | _Symbol | tuple[int, int | None]] = []
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


def _scan_characters(text: str) -> list[str | _Symbol | tuple[int, int | None]]:
    tokens: list[str | _Symbol | tuple[int, int | None]] = []
    i = 0
    while i < len(text):
        c = text[i]
        if c == "[":
            symbol, i = _character_set(text, i + 1)
            tokens.append(symbol)
            continue
        if c == "{":
            bounds, i = _bounds(text, i)
            tokens.append(bounds)
            continue
        if c == "\\":
            symbol, i = _escaped(text, i)
            tokens.append(symbol)
            continue
        if c == ".":
            tokens.append(_Symbol(frozenset(), negated=True))
        else:
            tokens.append(c if c in _OPERATORS else _Symbol(frozenset(c)))
        i += 1
    return tokens


def _escaped(text: str, i: int) -> tuple[_Symbol, int]:
    """Read a backslash and what follows."""
    if i + 1 == len(text):
        raise ModelError(f"the pattern '{text}' is wrong: it ends with a backslash")
    c = text[i + 1]
    known = {"n": "\n", "t": "\t"}
    if c.lower() in _SETS:
        return _Symbol(_SETS[c.lower()], negated=c.isupper()), i + 2
    return _Symbol(frozenset(known.get(c, c))), i + 2


def _character_set(text: str, i: int) -> tuple[_Symbol, int]:
    """Read what follows a [, up to its ]."""
    negated = text[i : i + 1] == "^"
    i += negated
    found: set[str] = set()
    while i < len(text) and text[i] != "]":
        if text[i] == "\\":
            symbol, i = _escaped(text, i)
            if symbol.negated:
                raise ModelError(f"the pattern '{text}' is wrong: a negated class inside [ ]")
            found |= symbol.words
            continue
        if text[i + 1 : i + 2] == "-" and text[i + 2 : i + 3] not in ("", "]"):
            found |= {chr(c) for c in range(ord(text[i]), ord(text[i + 2]) + 1)}
            i += 3
            continue
        found.add(text[i])
        i += 1
    if i == len(text):
        raise ModelError(f"the pattern '{text}' is wrong: a [ is not closed")
    return _Symbol(frozenset(found), negated), i + 1


def _bounds(text: str, i: int) -> tuple[tuple[int, int | None], int]:
    """Read {m}, {m,} or {m,n}."""
    end = text.find("}", i)
    least, comma, most = text[i + 1 : end].partition(",")
    if end < 0 or not least.isdecimal() or (most and not most.isdecimal()):
        raise ModelError(f"the pattern '{text}' is wrong: expected numbers between {{ and }}, as in {{2,5}}")
    return (int(least), (int(most) if most else None) if comma else int(least)), end + 1


def pattern(text: str) -> WordAutomaton:
    """Compile a regular expression over words."""
    return _compile(text, _scan(text))


def text_pattern(text: str) -> WordAutomaton:
    """Compile a regular expression over characters: the automaton's words are single characters."""
    return _compile(text, _scan_characters(text))


def _compile(text: str, tokens: list[str | _Symbol | tuple[int, int | None]]) -> WordAutomaton:
    """Thompson's construction, then the subset construction."""
    builder = _Builder(text, tokens)
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
