"""What a page about induced classes shows: typical and dubious words, sentences, similar classes, confidence.

A class's typical words are those of most tokens, weighted by the probability of the class; its dubious ones
are those of most tokens that may belong elsewhere. Two classes are as similar as their neighbours are:

    similarity = 1 - (JS(left neighbours) + JS(right neighbours)) / 2,

JS being the Jensen-Shannon divergence in bits, which is 0 for classes that stand in the same places and 1 for
classes that never do.

A digest of text and tags says which run it is, for names that are given to its classes.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite.induction.state import InductionState

SURE = 0.9  # a word of this probability or more is not dubious
DIGEST_LETTERS = 16
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClassWord:
    """A word of a class."""

    word: str
    tokens: int  # that have the class
    probability: float  # of the class
    other: str  # the next probable class
    other_probability: float


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A token in its sentence."""

    sentence: int  # from 1
    left: tuple[str, ...]
    word: str
    right: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClassReport:
    """An induced class."""

    tag: str
    tokens: int
    types: int
    confidence: float  # mean probability over its tokens
    typical: tuple[ClassWord, ...]
    dubious: tuple[ClassWord, ...]
    occurrences: tuple[Occurrence, ...]
    similar: tuple[tuple[str, float], ...]  # class, similarity; the most similar first
    others: tuple[ClassWord, ...] = ()  # all words that are not among the typical ones


@dataclass(frozen=True, slots=True)
class InductionReport:
    """The classes of a run, the largest first."""

    classes: tuple[ClassReport, ...]
    tokens: int
    types: int
    sentences: int
    confidence: float
    run: str  # the same for the same tags of the same text, and only then


def make_report(
    run: InductionState, *, most_words: int = 60, most_sentences: int = 8, context: int = 8
) -> InductionReport:
    """Describe the classes of a run."""
    tags, probabilities = run.token_tags(), run.word_probabilities()
    confidence, similarity = run.confidence(), neighbour_similarity(run, tags)
    classes = []
    for tag in np.argsort(-np.bincount(tags, minlength=run.options.tags), kind="stable").tolist():
        places = np.flatnonzero(tags == tag)
        if not len(places):
            continue
        words, counts = np.unique(run.text.tokens[places], return_counts=True)
        mine = probabilities[words, tag]
        ranked = words[np.argsort(-counts * mine, kind="stable")]
        doubt = np.where(mine < SURE, counts * (1 - mine), 0.0)
        doubtful = words[[i for i in np.argsort(-doubt, kind="stable")[:most_words] if doubt[i] > 0]]
        number = dict(zip(words.tolist(), counts.tolist(), strict=True))
        typical, others, dubious = (
            tuple(_word(run, probabilities, w, tag, number[w]) for w in part.tolist())
            for part in (ranked[:most_words], ranked[most_words:], doubtful)
        )
        classes.append(
            ClassReport(
                run.names[tag],
                len(places),
                len(words),
                float(confidence[places].mean()),
                typical,
                dubious,
                tuple(_occurrences(run, places, ranked[:most_sentences], context)),
                _most_similar(run, similarity, tag, tags),
                others,
            )
        )
    text = run.text
    sizes = (len(text.tokens), len(text.words), text.num_sentences)
    return InductionReport(tuple(classes), *sizes, float(confidence.mean()), run_digest(run, tags))


def run_digest(run: InductionState, tags: NDArray[np.int32]) -> str:
    """Return what tells the classes of a run from those of others."""
    hashed = hashlib.sha256(run.text.digest().encode())
    hashed.update(tags.astype("<i4").tobytes())
    return hashed.hexdigest()[:DIGEST_LETTERS]


def _word(run: InductionState, probabilities: Floats, word: int, tag: int, count: int) -> ClassWord:
    row = probabilities[word].copy()
    mine, row[tag] = float(row[tag]), -1.0
    other = int(row.argmax()) if len(row) > 1 else tag
    return ClassWord(run.text.words[word], count, mine, run.names[other], max(0.0, float(row[other])))


def _occurrences(
    run: InductionState, places: NDArray[np.int64], words: NDArray[np.int32], context: int
) -> list[Occurrence]:
    """Return the middle one of each word's tokens, with some words around it."""
    text, found = run.text, []
    for word in words.tolist():
        of_word = places[text.tokens[places] == word]
        place = int(of_word[len(of_word) // 2])
        sentence = int(np.searchsorted(text.begin, place, side="right")) - 1
        begin, end = int(text.begin[sentence]), int(text.begin[sentence + 1])
        left = [text.words[i] for i in text.tokens[max(begin, place - context) : place].tolist()]
        right = [text.words[i] for i in text.tokens[place + 1 : min(end, place + 1 + context)].tolist()]
        found.append(Occurrence(sentence + 1, tuple(left), text.words[word], tuple(right)))
    return found


# ---------------------------------------------------------------- similarity


def neighbour_similarity(run: InductionState, tags: NDArray[np.int32]) -> Floats:
    """Return [class, class]: how alike their neighbours are, from 0 to 1."""
    ends = run.options.tags  # one more symbol
    bounds = run.text.bounds()
    padded = np.insert(tags, bounds, ends)
    size = ends + 1
    pairs = np.bincount(padded[:-1] * size + padded[1:], minlength=size * size).reshape(size, size)
    right, left = _distributions(pairs[:ends]), _distributions(pairs.T[:ends])
    found = np.zeros((ends, ends))
    for tag in range(ends):
        found[tag] = 1 - (_divergences(right, tag) + _divergences(left, tag)) / 2
    return found


def _distributions(counts: NDArray[np.int64]) -> Floats:
    totals = counts.sum(axis=1, keepdims=True)
    return np.asarray(counts / np.maximum(totals, 1))


def _divergences(rows: Floats, tag: int) -> Floats:
    """Return the Jensen-Shannon divergence of one row from all, in bits."""
    middle = (rows + rows[tag]) / 2
    ratios = np.divide(rows, middle, where=rows > 0, out=np.ones_like(rows))
    mine = np.divide(rows[tag], middle, where=rows[tag] > 0, out=np.ones_like(rows))
    return np.asarray((rows * np.log2(ratios) + rows[tag] * np.log2(mine)).sum(axis=1) / 2)


def _most_similar(
    run: InductionState, similarity: Floats, tag: int, tags: NDArray[np.int32]
) -> tuple[tuple[str, float], ...]:
    used = np.unique(tags)
    order = used[np.argsort(-similarity[tag, used], kind="stable")]
    return tuple((run.names[t], float(similarity[tag, t])) for t in order.tolist() if t != tag)[:4]
