"""Word clusters that induction is compared with: by exchange, and Clark's with spelling.

    python benchmarks/induce_clusters.py CORPUS ... [--case fold]        names are those of induce_runs

A. Clark (2003), *Combining distributional and morphological information for part of speech induction*: words
are moved one by one to the class of the greatest

    sum over class bigrams ln p(c' | c)  +  sum over tokens ln p(w | c)  +  sum over words ln p_c(letters)

where p_c is a model of characters, one a class. As there, exchange goes over all words, most frequent first,
until nothing moves or after so many passes. Classes begin with exchange clusters, a local optimum of the
first two terms. Spelling is scored by smoothed character bigrams of the class's words, each word counted
once.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from induce_runs import NUM_TAGS, sentences, text
from numpy.typing import NDArray

from hiddenite.induction import compare
from hiddenite.induction.text import Text

PASSES = 6
SMOOTHING = 0.5  # added to each count of a character bigram
Ints = NDArray[Any]
Floats = NDArray[Any]


def exchange(text: Text, num_classes: int) -> Ints:
    """Return each word's class by exchange for Brown's objective."""
    return text.exchange_classes(num_classes)


def clark(text: Text, num_classes: int) -> Ints:
    """Return each word's class by distribution and spelling."""
    return _Clark(text, num_classes).run()


def _h(counts: Floats) -> Floats:
    """Return n ln n."""
    counts = np.asarray(counts, dtype=float)
    return np.where(counts > 0, counts * np.log(np.maximum(counts, 1.0)), 0.0)


class _Clark:
    """Counts of classes and of their characters, and words that move."""

    def __init__(self, text: Text, num_classes: int) -> None:
        self.text, self.k = text, num_classes
        self.word_counts = text.counts()
        self.classes = exchange(text, num_classes).astype(np.int64)
        self._collect_neighbours()
        self._count()
        self._collect_spellings()

    def _collect_neighbours(self) -> None:
        """Keep the words before and after each word; -1 is a sentence end."""
        before, after = np.full(len(self.text.tokens), -1), np.full(len(self.text.tokens), -1)
        before[1:], after[:-1] = self.text.tokens[:-1], self.text.tokens[1:]
        bounds = self.text.bounds()
        before[bounds[:-1]], after[bounds[1:] - 1] = -1, -1
        order = np.argsort(self.text.tokens, kind="stable")
        self.begin = np.concatenate([[0], np.cumsum(self.word_counts)])
        self.before, self.after = before[order], after[order]

    def _class_of(self, words: Ints) -> Ints:
        return np.where(words < 0, self.k, self.classes[words])

    def _count(self) -> None:
        size = self.k + 1
        tags = np.insert(self.classes[self.text.tokens], self.text.bounds(), self.k)
        pairs = np.bincount(tags[:-1] * size + tags[1:], minlength=size * size)
        self.pairs = pairs.reshape(size, size).astype(float)
        self.sizes = np.bincount(self.classes[self.text.tokens], minlength=size).astype(float)

    def _collect_spellings(self) -> None:
        """Count the character bigrams of each word and of each class's words."""
        begin, characters = self.text.spelling()
        self.alphabet = int(characters.max()) + 2  # with the end of a word
        end, rows = self.alphabet - 1, []
        for a, b in zip(begin[:-1].tolist(), begin[1:].tolist(), strict=True):
            row = np.concatenate([[end], characters[a:b], [end]])
            rows.append(np.unique(row[:-1] * self.alphabet + row[1:], return_counts=True))
        self.bigrams = rows
        self.spelled = np.zeros((self.alphabet**2, self.k))
        for (cells, counts), c in zip(rows, self.classes.tolist(), strict=True):
            self.spelled[cells, c] += counts
        self.contexts = self.spelled.reshape(self.alphabet, self.alphabet, self.k).sum(axis=1)

    def _spelling_scores(self, word: int) -> Floats:
        cells, counts = self.bigrams[word]
        joint = np.log(self.spelled[cells] + SMOOTHING)
        given = np.log(self.contexts[cells // self.alphabet] + SMOOTHING * self.alphabet)
        return np.asarray(counts @ (joint - given))

    def _move_spelling(self, word: int, c: int, sign: int) -> None:
        cells, counts = self.bigrams[word]
        self.spelled[cells, c] += sign * counts
        np.add.at(self.contexts[:, c], cells // self.alphabet, sign * counts)

    def _neighbour_counts(self, word: int) -> tuple[Floats, Floats, float]:
        """Return how often each class stands before and after a word, and the word itself after itself."""
        part = slice(self.begin[word], self.begin[word + 1])
        before, after = self.before[part], self.after[part]
        own = float((before == word).sum())
        size = self.k + 1
        left = np.bincount(self._class_of(before[before != word]), minlength=size).astype(float)
        right = np.bincount(self._class_of(after[after != word]), minlength=size).astype(float)
        return left, right, own

    def _change(self, c: int, sign: int, near: tuple[Floats, Floats, float], n: float) -> None:
        left, right, own = near
        self.pairs[:, c] += sign * left
        self.pairs[c] += sign * right
        self.pairs[c, c] += sign * own
        self.sizes[c] += sign * n

    def _gains(self, near: tuple[Floats, Floats, float], n: float) -> Floats:
        """Return what the objective of distribution gains in each class."""
        left, right, own = near
        k, pairs = self.k, self.pairs
        columns = (_h(pairs[:, :k] + left[:, None]) - _h(pairs[:, :k])).sum(axis=0)
        rows = (_h(pairs[:k] + right) - _h(pairs[:k])).sum(axis=1)
        inside, each = np.diag(pairs)[:k], np.arange(k)
        twice = left[each] + right[each] + own
        corner = _h(inside + twice) - _h(inside + left[each]) - _h(inside + right[each]) + _h(inside)
        return np.asarray(columns + rows + corner - 2 * (_h(self.sizes[:k] + n) - _h(self.sizes[:k])))

    def run(self) -> Ints:
        """Move words until nothing moves."""
        order = np.argsort(-self.word_counts, kind="stable").tolist()
        for _ in range(PASSES):
            moved = 0
            for word in order:
                old, n = int(self.classes[word]), float(self.word_counts[word])
                near = self._neighbour_counts(word)
                self._change(old, -1, near, n)
                self._move_spelling(word, old, -1)
                new = int(np.argmax(self._gains(near, n) + self._spelling_scores(word)))
                self._change(new, 1, near, n)
                self._move_spelling(word, new, 1)
                self.classes[word] = new
                moved += new != old
            if moved == 0:
                break
        return self.classes


def main(corpora: list[str], case: str) -> None:
    """Print many-to-one and V-measure of both clusterings, with as many classes as there are gold tags."""
    for corpus in corpora:
        words = text(corpus)
        if case == "fold":
            words = words.compose().fold_case()
        gold = [[tag for _, tag in sentence] for sentence in sentences(corpus)]
        for name, cluster in (("exchange", exchange), ("Clark", clark)):
            classes = np.asarray(cluster(words, NUM_TAGS[corpus]))[words.tokens]
            found = compare(gold, words.split([str(c) for c in classes.tolist()]))
            print(f"{corpus} {name}: {100 * found.many_to_one:.1f} / {100 * found.v_measure:.1f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpora", nargs="+", metavar="CORPUS")
    parser.add_argument("--case", choices=("keep", "fold"), default="keep", help="as induction's option")
    given = parser.parse_args()
    main(given.corpora, given.case)
