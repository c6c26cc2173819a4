r"""Constraints on sentences, to be combined: keywords, phrases, patterns, positions, counts.

>>> from hiddenite.hmmlm import constraints as c
>>> wanted = c.all_of("dog", c.any_of("cat", "mouse")) & ~c.keyword("new york") & c.words(5, 12)

A constraint is a description; compiled for a vocabulary it is a finite automaton over token ids, minimised. A
vocabulary is a list of words, or of subword tokens with their texts: then constraints on words become
constraints on text, and all tokenisations of a text count alike (:mod:`hiddenite.hmmlm.subwords`).

For patterns over words and over characters see :mod:`hiddenite.hmmlm.patterns`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite.errors import ModelError, UnknownSymbolError, near_spellings
from hiddenite.files.corpus import sentence_words
from hiddenite.hmmlm import automata, patterns, subwords, word_automata
from hiddenite.hmmlm.automata import TokenAutomaton
from hiddenite.hmmlm.word_automata import WordAutomaton
from hiddenite.vocabulary import SENTENCE_BEGIN, SENTENCE_END, UNKNOWN

_MARKS = (UNKNOWN, SENTENCE_BEGIN, SENTENCE_END)


@dataclass(frozen=True, eq=False)
class TokenVocabulary:
    """What constraints are compiled for: words, or the texts of subword tokens."""

    texts: tuple[bytes | None, ...]  # [token]
    words: Mapping[str, int] | None = None  # ids of words, if tokens are words
    separators: str = subwords.SEPARATORS  # of words in texts

    @staticmethod
    def of_words(ids: Mapping[str, int]) -> TokenVocabulary:
        """Return the vocabulary of a model of words; a sentence's text has a space before each word."""
        texts = tuple(None if word in _MARKS else b" " + word.encode() for word in ids)
        return TokenVocabulary(texts, ids, subwords.SPACES)

    def __len__(self) -> int:
        return len(self.texts)

    def known(self, word: str) -> int:
        """Return the id of a word that may be asked for."""
        assert self.words is not None
        if word not in self.words or word in (SENTENCE_BEGIN, SENTENCE_END):
            raise UnknownSymbolError("word", word, near_spellings(word, self.words))
        return self.words[word]

    @functools.cached_property
    def texts_only(self) -> TokenAutomaton:
        """Accept the token sequences that are text."""
        return subwords.token_automaton(patterns.text_pattern(".*"), self.texts)

    def compile_words(self, automaton: WordAutomaton) -> TokenAutomaton:
        """Return the automaton over tokens of one over words."""
        if self.words is None:
            return self.compile_text(subwords.words_as_text(automaton, self.separators))
        listed = sorted(automaton.words)
        class_of = np.zeros(len(self), np.int32)
        for place, word in enumerate(listed, 1):
            class_of[self.known(word)] = place
        target = [
            [other, *(edges.get(word, other) for word in listed)]
            for other, edges in zip(automaton.other, automaton.edges, strict=True)
        ]
        return TokenAutomaton(np.array(automaton.accepts), class_of, np.array(target, np.int32)).minimised()

    def compile_text(self, automaton: WordAutomaton) -> TokenAutomaton:
        """Return the automaton over tokens of one over characters."""
        if self.words is None:
            return subwords.token_automaton(automaton, self.texts)
        # Nobody knows the letters of an unknown word: it leads nowhere.
        return subwords.token_automaton(subwords.after_space(automaton), self.texts)


class Constraint:
    """A set of sentences. ``a & b``, ``a | b`` and ``~a`` are constraints too."""

    def compile(self, vocabulary: TokenVocabulary) -> TokenAutomaton:
        """Return the minimal automaton over the tokens of a vocabulary; a mark is never accepted."""
        automaton = self._compiled(vocabulary)
        return (
            automaton
            if vocabulary.words is not None
            else automata.at_least(2, [automaton, vocabulary.texts_only])
        )

    def _compiled(self, vocabulary: TokenVocabulary) -> TokenAutomaton:
        raise NotImplementedError

    def __and__(self, other: Constraint | str) -> Constraint:
        return all_of(self, other)

    def __or__(self, other: Constraint | str) -> Constraint:
        return any_of(self, other)

    def __invert__(self) -> Constraint:
        return _Not(self)


@dataclass(frozen=True)
class _Words(Constraint):
    automaton: WordAutomaton

    def _compiled(self, vocabulary: TokenVocabulary) -> TokenAutomaton:
        return vocabulary.compile_words(self.automaton)


@dataclass(frozen=True)
class _Text(Constraint):
    automaton: WordAutomaton

    def _compiled(self, vocabulary: TokenVocabulary) -> TokenAutomaton:
        return vocabulary.compile_text(self.automaton)


@dataclass(frozen=True)
class _Tokens(Constraint):
    automaton: TokenAutomaton

    def _compiled(self, vocabulary: TokenVocabulary) -> TokenAutomaton:
        if len(self.automaton.class_of) != len(vocabulary):
            raise ModelError(
                f"the automaton has {len(self.automaton.class_of)} tokens, the vocabulary {len(vocabulary)}"
            )
        return self.automaton.minimised()


@dataclass(frozen=True)
class _AtLeast(Constraint):
    number: int
    parts: tuple[Constraint, ...]

    def _compiled(self, vocabulary: TokenVocabulary) -> TokenAutomaton:
        if not self.parts:
            return automata.everything(len(vocabulary))
        return automata.at_least(self.number, [part._compiled(vocabulary) for part in self.parts])


@dataclass(frozen=True)
class _Not(Constraint):
    part: Constraint

    def _compiled(self, vocabulary: TokenVocabulary) -> TokenAutomaton:
        return self.part._compiled(vocabulary).complement()


def _constraint(given: Constraint | str | Sequence[str]) -> Constraint:
    return given if isinstance(given, Constraint) else keyword(given)


def keyword(phrase: str | Sequence[str]) -> Constraint:
    """Contain a word, or the words of a phrase one after the other."""
    return _Words(word_automata.contains(phrase))


def at_least(k: int, *parts: Constraint | str) -> Constraint:
    """Satisfy k or more of the parts; a string is a keyword."""
    if not 0 <= k <= len(parts):
        raise ModelError(f"found at least {k} of {len(parts)} constraints, expected 0 to {len(parts)}")
    return _AtLeast(k, tuple(_constraint(part) for part in parts))


def all_of(*parts: Constraint | str) -> Constraint:
    """Satisfy all of the parts, in any order."""
    return at_least(len(parts), *parts)


def any_of(*parts: Constraint | str) -> Constraint:
    """Satisfy one or more of the parts."""
    return at_least(min(1, len(parts)), *parts)


def none_of(*parts: Constraint | str) -> Constraint:
    """Satisfy none of the parts."""
    return ~any_of(*parts) if parts else all_of()


def pattern(expression: str) -> Constraint:
    r"""Match a regular expression over words: ``the (dog|cat) .* \.``."""
    return _Words(patterns.pattern(expression))


def text(expression: str) -> Constraint:
    r"""Match a regular expression over characters: ``[A-Z].*\.``; words are one space apart."""
    return _Text(patterns.text_pattern(expression))


def at(fixed: Mapping[int, str]) -> Constraint:
    """Have these words at these positions, counted from 0."""
    return _Words(word_automata.positions(fixed))


def template(sentence: str | Sequence[str], gap: str = "___") -> Constraint:
    """Be this sentence, with any word in place of each gap."""
    given = sentence_words(sentence)
    fixed = {position: word for position, word in enumerate(given) if word != gap}
    return at(fixed) & words(len(given), len(given))


def words(least: int = 0, most: int | None = None) -> Constraint:
    """Have so many words; with subword tokens, words and not tokens."""
    return _Words(word_automata.word_count(least, most))


def openfst(acceptor: str) -> Constraint:
    """Be accepted by a deterministic acceptor over words in OpenFst's text form."""
    return _Words(word_automata.from_openfst(acceptor))


def arrays(accepts: NDArray[np.bool_], target: NDArray[np.int32]) -> Constraint:
    """Be accepted by an automaton over token ids: target[state, token], -1 for nowhere; it starts at 0."""
    table = np.asarray(target, np.int32)
    if table.ndim != 2 or len(table) != len(accepts) or not len(table):
        raise ModelError(
            f"found arrays of shape {np.shape(accepts)} and {table.shape}, expected Q and Q x tokens"
        )
    if table.min(initial=0) < -1 or table.max(initial=0) >= len(table):
        raise ModelError(f"a state of the automaton is not between -1 and {len(table) - 1}")
    return _Tokens(automata.from_columns(np.asarray(accepts, bool), table))


def constraint(keywords: Iterable[str | Sequence[str]] = (), expression: str | None = None) -> Constraint:
    """Contain all keywords, in any order, and match the pattern."""
    parts = [keyword(phrase) for phrase in keywords]
    return functools.reduce(
        lambda one, two: one & two, [pattern(expression)] if expression is not None else [], all_of(*parts)
    )
