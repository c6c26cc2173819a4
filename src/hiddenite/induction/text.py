"""A text as the sampler wants it: words as numbers, sentences as bounds, words as characters."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import ExchangeClustering, WordTable, read_tokens
from hiddenite.errors import ModelError
from hiddenite.files.corpus import Sentence, each_sentence, tokenize

_NO_CLASS = 0xFFFFFFFF  # of the core
_EXCHANGE_PASSES = 20
MAX_WORD = 1_000  # characters; what they cost grows faster than they do


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Numbered words. Sentence i has ``tokens[begin[i]:begin[i + 1]]``, perhaps none."""

    words: tuple[str, ...]  # in the order of their first tokens
    tokens: NDArray[np.int32]
    begin: NDArray[np.int64]

    @classmethod
    def of(cls, sentences: Iterable[Sentence]) -> Text:
        """Number the words of sentences: strings, split at white space, or sequences of words."""
        number: dict[str, int] = {}
        tokens: list[int] = []
        begin = [0]
        for sentence in each_sentence(sentences):
            for word in tokenize(sentence) if isinstance(sentence, str) else sentence:
                place = number.get(word)
                if place is None:
                    _check(word)
                    place = number[word] = len(number)
                tokens.append(place)
            begin.append(len(tokens))
        if not tokens:
            raise ModelError("there is no word to learn from, expected sentences of words")
        return cls(tuple(number), np.array(tokens, dtype=np.int32), np.array(begin, dtype=np.int64))

    @property
    def num_sentences(self) -> int:
        """Empty ones included."""
        return len(self.begin) - 1

    def bounds(self) -> NDArray[np.int64]:
        """Return the bounds of the sentences that have words."""
        return np.unique(self.begin)

    def counts(self) -> NDArray[np.int64]:
        """Return how often each word occurs."""
        return np.bincount(self.tokens, minlength=len(self.words))

    def kinds(self) -> NDArray[np.int32]:
        """Return the kind of each word: 0 has a letter, 1 a digit and no letter, 2 neither."""
        kinds = (
            0 if any(map(str.isalpha, word)) else 1 if any(map(str.isalnum, word)) else 2
            for word in self.words
        )
        return np.fromiter(kinds, np.int32, len(self.words))

    def characters(self) -> tuple[str, ...]:
        """Return all characters, in order."""
        return tuple(sorted(set("".join(self.words))))

    def spelling(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return bounds and numbers of each word's characters."""
        number = {c: i for i, c in enumerate(self.characters())}
        begin = np.cumsum([0, *map(len, self.words)], dtype=np.int64)
        return begin, np.array([number[c] for word in self.words for c in word], dtype=np.int32)

    def split(self, tags: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the tags of all tokens sentence by sentence."""
        bounds = self.begin.tolist()
        return [tuple(tags[a:b]) for a, b in itertools.pairwise(bounds)]

    def sentences(self) -> list[list[str]]:
        """Return the words sentence by sentence."""
        words = [self.words[i] for i in self.tokens.tolist()]
        bounds = self.begin.tolist()
        return [words[a:b] for a, b in itertools.pairwise(bounds)]

    def compose(self) -> Text:
        """Return the text in Unicode's form NFC, in which one word has one spelling; itself if it is."""
        number: dict[str, int] = {}
        of_word = [number.setdefault(normalize("NFC", word), i) for i, word in enumerate(self.words)]
        if tuple(number) == self.words:
            return self
        spelled = dict(zip(number.values(), number, strict=True))
        words = tuple(spelled.get(i, word) for i, word in enumerate(self.words))
        tokens = np.array(of_word, np.int64)[self.tokens]
        return Text(words, self.tokens, self.begin)._renumbered(tokens)

    def fold_case(self) -> Text:
        """Return the text with words in lower case where a capital says nothing, if they are known so.

        At the beginning of a sentence, and behind a token without letter and digit, a capital may be due to
        the place. There a word is taken for the one with a small first letter, if elsewhere that one is more
        frequent: "The" for "the", but neither "Paris", nor "May" in "in May".
        """
        is_mark = np.array([not any(map(str.isalnum, word)) for word in self.words])
        is_open = np.zeros(len(self.tokens), dtype=bool)
        is_open[self.bounds()[:-1]] = True
        is_open[1:] |= is_mark[self.tokens[:-1]]
        counts = np.bincount(self.tokens[~is_open], minlength=len(self.words))
        number = {word: i for i, word in enumerate(self.words)}
        small = np.array([number.get(word[0].lower() + word[1:], i) for word, i in number.items()])
        folded = np.where(counts[small] > counts, small, np.arange(len(small)))
        return self._renumbered(np.where(is_open, folded[self.tokens], self.tokens))

    def _renumbered(self, tokens: NDArray[np.int64]) -> Text:
        """Return the text with other tokens, and the words that are left in the order of their first ones."""
        left, first, place = np.unique(tokens, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        words = tuple(self.words[i] for i in left[order].tolist())
        return Text(words, rank[place.reshape(-1)], self.begin)

    def share_of_other(self, other: Text) -> float:
        """Return the share of the tokens that are other words in ``other``, which has as many tokens."""
        number = {word: i for i, word in enumerate(other.words)}
        as_other = np.array([number.get(word, -1) for word in self.words])
        return float((as_other[self.tokens] != other.tokens).mean())

    def exchange_classes(
        self, num_classes: int, random: np.random.Generator | None = None
    ) -> NDArray[np.int32]:
        """Return a class for each word, by exchange for Brown's objective; from random classes if asked."""
        numbers = list(map(str, range(len(self.words))))  # no word can be taken for a special one
        lines = [" ".join(numbers[i] for i in self.tokens[a:b]) for a, b in itertools.pairwise(self.begin)]
        table = WordTable()
        tokens = read_tokens("\n".join([*lines, ""]).encode(), "<text>", 1, table, grow=True)
        start = np.full(len(table), _NO_CLASS, np.uint32)
        if random is not None:
            is_word = np.array([word.isdecimal() for word in table.words()])
            start[is_word] = random.integers(num_classes, size=int(is_word.sum()), dtype=np.uint32)
        core = ExchangeClustering(tokens, len(table), num_classes, start)
        for _ in range(_EXCHANGE_PASSES):
            if core.exchange(0) == 0:
                break
        classes = np.zeros(len(self.words), np.int32)
        for number, found in zip(table.words(), core.classes.tolist(), strict=True):
            if number.isdecimal():
                classes[int(number)] = found
        return classes

    def digest(self) -> str:
        """Return what tells this text from others."""
        hashed = hashlib.sha256("\n".join(self.words).encode())
        hashed.update(self.tokens.tobytes())
        hashed.update(self.begin.tobytes())
        return hashed.hexdigest()


def long_word_fault(words: Sequence[str]) -> str | None:
    """Return what is wrong with the first word that is too long to be spelled; None if none is."""
    word = next((word for word in words if len(word) > MAX_WORD), None)
    if word is None:
        return None
    return (
        f"the word '{word[:20]}…' has {len(word):,} characters, expected at most {MAX_WORD:,}; "
        "words are separated by white space"
    )


def _check(word: str) -> None:
    if (fault := long_word_fault([word])) is not None:
        raise ModelError(fault)
    if tokenize(word) != [word] or "\0" in word:
        raise ModelError(f"the word {word!r} is empty or contains white space; words are separated by it")
    try:
        word.encode()
    except UnicodeEncodeError:
        raise ModelError(f"the word {word!r} is not Unicode text") from None
