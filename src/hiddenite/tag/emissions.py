"""What a tagger learns about words: the lexicon, the guesser of unseen words, the hidden symbols.

The lexicon is counts c(w, t). The guesser gives p(t | w) for words that were never seen, learned from those
that were seen rarely, which resemble them most:

``suffix``
    TnT's (Brants 2000, section 2.3). For the word's last i letters s_i, with relative frequencies f,

        p(t | s_i) = (f(t | s_i) + theta p(t | s_(i-1))) / (1 + theta),      below s_0: f(t),

    where theta is the standard deviation of the f(t) and s_0, the ending of no letter, stands for all words
    of the class. Classes (capitalised or not; or shapes, see ``cpp/hiddenite/word_features.hpp``) have tables
    of their own. An unseen word takes the longest ending that is listed.
``log-linear``
    Endings, beginnings, capitals, digits, hyphens and patterns together in one multinomial logistic
    regression; ``cpp/hiddenite/guesser.hpp``.

``spelling``
    Of induced taggers, which know p(word | tag) itself: each tag spells words by character bigrams of its
    own. Nothing is trained here; :mod:`hiddenite.induction.export` makes the tables.

How counts and guess make p(word | tag) is told in ``cpp/hiddenite/tag_channel.hpp``. The hidden symbols of
the most frequent words are pairs of tag and word, so that the transitions see those words: ``IN␟of``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import LogLinearGuesser, SpellingGuesser, SuffixGuesser, lower_case
from hiddenite.tag.formats import TaggedSentence

SEPARATOR = "␟"  # between the tag and the word of a symbol

Example = tuple[str, bool, dict[int, int]]  # a word, whether it begins its sentence, counts of tags


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """How often each word had each tag. Word i has ``tag[begin[i]:begin[i + 1]]``."""

    words: tuple[str, ...]
    begin: NDArray[np.uint64]
    tag: NDArray[np.uint32]
    count: NDArray[np.uint32]

    @classmethod
    def count_words(cls, sentences: Iterable[TaggedSentence], tag_ids: Mapping[str, int]) -> Lexicon:
        """Count words with their tags; those whose tag is none, ``_``, are left out."""
        pairs = Counter(pair for sentence in sentences for pair in sentence if pair[1] in tag_ids)
        by_word: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for (word, tag), count in pairs.items():
            by_word[word].append((tag_ids[tag], count))
        words = sorted(by_word)
        rows = [sorted(by_word[word]) for word in words]
        begin = np.cumsum([0, *map(len, rows)]).astype(np.uint64)
        flat = np.array([pair for row in rows for pair in row], dtype=np.uint32).reshape(-1, 2)
        return cls(tuple(words), begin, flat[:, 0].copy(), flat[:, 1].copy())

    def tag_counts(self, num_tags: int) -> NDArray[np.float64]:
        """Return how often each tag was seen."""
        return np.bincount(self.tag, weights=self.count, minlength=num_tags).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class EmissionTable:
    """ln p(word | tag) of the words that were seen. Word i has ``tag[begin[i]:begin[i + 1]]``, no others."""

    words: tuple[str, ...]
    begin: NDArray[np.uint64]
    tag: NDArray[np.uint32]
    log_prob: NDArray[np.float64]


# -------------------------------------------------------------- hidden symbols


def frequent_words(sentences: Sequence[TaggedSentence], number: int) -> frozenset[str]:
    """Return the most frequent words in lower case; the earlier in the alphabet among equals.

    At most half of the words: the others' symbols, the tags alone, are what unseen words have.
    """
    counts = Counter(word for sentence in sentences for word, _ in sentence)
    lowered: Counter[str] = Counter()
    for word, count in counts.items():
        lowered[lower_case(word)] += count
    del lowered["<unk>"]  # no word to the core
    number = min(number, len(lowered) // 2)
    return frozenset(sorted(lowered, key=lambda w: (-lowered[w], w))[:number])


class Symbols:
    """The hidden symbols of tagged words: the tag, or the tag and the word for words that have their own."""

    def __init__(self, own: frozenset[str]) -> None:
        self._own = own
        self._lowered: dict[str, str] = {}  # the word's part of the symbol, empty for most words

    def own_word(self, word: str) -> str:
        """Return the word in lower case if it has symbols of its own, else nothing."""
        lowered = self._lowered.get(word)
        if lowered is None:
            lowered = lower_case(word)
            lowered = self._lowered[word] = lowered if lowered in self._own else ""
        return lowered

    def symbol(self, word: str, tag: str) -> str:
        """Return the hidden symbol of a word with a tag."""
        own = self.own_word(word)
        return f"{tag}{SEPARATOR}{own}" if own else tag


def split_symbol(symbol: str) -> tuple[str, str]:
    """Return the tag and the word, empty if there is none."""
    tag, _, word = symbol.partition(SEPARATOR)
    return tag, word


# -------------------------------------------------------------------- guessers


def rare_examples(
    sentences: Sequence[TaggedSentence], tag_ids: Mapping[str, int], rare: int
) -> list[Example]:
    """Return the words seen at most ``rare`` times; all words if there is none."""
    frequency = Counter(word for sentence in sentences for word, _ in sentence)
    chosen: defaultdict[tuple[str, bool], Counter[int]] = defaultdict(Counter)
    limit = rare if min(frequency.values(), default=0) <= rare else max(frequency.values())
    for sentence in sentences:
        for i, (word, tag) in enumerate(sentence):
            if frequency[word] <= limit and tag in tag_ids:
                chosen[word, i == 0][tag_ids[tag]] += 1
    return [(word, is_first, dict(counts)) for (word, is_first), counts in sorted(chosen.items())]


@dataclass(frozen=True, slots=True, eq=False)
class SuffixTable:
    """Endings with their interpolated distributions."""

    endings: tuple[str, ...]  # the first character is the class
    log_probs: NDArray[np.float32]  # [ending, tag]: ln p(t | ending)
    prior: NDArray[np.float64]  # [tag]: ln f(t)
    max_length: int
    shapes: bool

    def guesser(self) -> SuffixGuesser:
        """Return the core's form."""
        return SuffixGuesser(
            len(self.prior),
            list(self.endings),
            self.log_probs.ravel().astype(np.float64),
            self.prior,
            self.max_length,
            self.shapes,
        )


def suffix_table(
    examples: Sequence[Example],
    tag_probs: NDArray[np.float64],
    max_length: int,
    shapes: bool = False,
    theta: float | None = None,
) -> SuffixTable:
    """Estimate TnT's distributions of endings; ``tag_probs`` are the f(t)."""
    if theta is None:
        theta = float(np.std(tag_probs, ddof=1)) if len(tag_probs) > 1 else 0.0
    row_of: dict[str, int] = {}
    rows: list[int] = []
    tags: list[int] = []
    counts: list[int] = []
    for word, is_first, tag_counts in examples:
        kind = SuffixGuesser.class_of(word, is_first, shapes)
        for length in range(min(max_length, len(word)) + 1):
            row = row_of.setdefault(kind + word[len(word) - length :], len(row_of))
            rows += [row] * len(tag_counts)
            tags += tag_counts.keys()
            counts += tag_counts.values()
    probs = np.zeros((len(row_of), len(tag_probs)))
    np.add.at(probs, (rows, tags), counts)
    probs /= probs.sum(axis=1, keepdims=True)
    _interpolate(probs, row_of, tag_probs, theta, max_length)
    with np.errstate(divide="ignore"):
        log_probs = np.log(probs).astype(np.float32)
        return SuffixTable(tuple(row_of), log_probs, np.log(tag_probs), max_length, shapes)


def _interpolate(
    probs: NDArray[np.float64],
    row_of: Mapping[str, int],
    tag_probs: NDArray[np.float64],
    theta: float,
    max_length: int,
) -> None:
    """Mix each ending's frequencies with the distribution of the ending shorter by one, shortest first."""
    by_length: list[list[tuple[int, int]]] = [[] for _ in range(max_length + 1)]
    for ending, row in row_of.items():
        length = len(ending) - 1
        by_length[length].append((row, row_of[ending[0] + ending[2:]] if length else -1))
    for length, pairs in enumerate(by_length):
        if pairs:
            here, shorter = map(list, zip(*pairs, strict=True))
            lower = probs[shorter] if length else tag_probs
            probs[here] = (probs[here] + theta * lower) / (1 + theta)


@dataclass(frozen=True, slots=True, eq=False)
class FeatureTable:
    """Features with their weights."""

    features: tuple[str, ...]
    weights: NDArray[np.float32]  # [feature, tag]

    def guesser(self) -> LogLinearGuesser:
        """Return the core's form."""
        return LogLinearGuesser(self.weights.shape[1], list(self.features), self.weights.ravel())


def feature_table(
    examples: Sequence[Example], num_tags: int, *, epochs: int, rate: float, penalty: float, seed: int
) -> FeatureTable:
    """Train the log-linear guesser."""
    rows = [
        (word, is_first, [(t, float(c)) for t, c in sorted(counts.items())])
        for word, is_first, counts in examples
    ]
    trained = LogLinearGuesser.train(num_tags, rows, epochs, rate, penalty, 2, seed)
    features = tuple(trained.features)
    return FeatureTable(features, trained.weights.reshape(len(features), num_tags))


@dataclass(frozen=True, slots=True, eq=False)
class SpellingTable:
    """How each tag spells words that were never seen; the formula is in ``cpp/hiddenite/guesser.hpp``.

    p_t(c' | c) = excess[c c', t] + back_off[c, t] lower[c', t], and start[t] p_t(word) is p(word | t).
    """

    characters: tuple[str, ...]
    start: NDArray[np.float64]  # [tag]
    lower: NDArray[np.float64]  # [character, END, any other one; tag]
    back_off: NDArray[np.float64]  # [character, BEGIN, any other one; tag]
    before: NDArray[np.uint32]  # [pair]: number of the character; BEGIN is as many as there are
    after: NDArray[np.uint32]  # [pair]: END is as many as there are
    excess: NDArray[np.float64]  # [pair, tag]

    def guesser(self) -> SpellingGuesser:
        """Return the core's form."""
        return SpellingGuesser(
            list(self.characters),
            self.start,
            self.lower.ravel(),
            self.back_off.ravel(),
            self.before,
            self.after,
            self.excess.ravel(),
        )
