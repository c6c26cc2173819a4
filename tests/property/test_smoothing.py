"""Smoothing by other formulas than Kneser-Ney's, against a model written from the definitions."""

import math
import random
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import NgramModel
from hiddenite.errors import OptionError
from hiddenite.ngram_training import SMOOTHINGS, TrainingOptions
from tests.models import train
from tests.oracle import BOS, EOS, UNK, Ngram, Sentence
from tests.strategies import corpora, examples, zipfian_corpora, zipfian_corpus

OTHERS = [name for name in SMOOTHINGS if name != "kneser-ney"]
LEAST_MASS = 1e-9  # what a context leaves at least to the words that it does not list
# Logarithms are sums of at most 6 floats of 24 bits, below 60; back-off weights are quotients of differences.
RTOL = 6 * 60 * 2**-24 + 1e-6

prunings = st.sampled_from([(), (0, 1), (0, 0, 1), (0, 0, 2, 3)])


class Oracle:
    """p(w | context) from the counts of a text."""

    def __init__(
        self,
        texts: Sequence[Sentence],
        order: int,
        smoothing: str,
        prune: Sequence[int] = (),
        added: float = 1.0,
    ) -> None:
        self.order, self.smoothing, self.prune, self.added = order, smoothing, prune, added
        self.words = sorted({UNK, EOS, *(word for text in texts for word in text)})
        self.counts: Counter[Ngram] = Counter()
        for text in texts:
            tokens = (BOS, *text, EOS)
            for end in range(2, len(tokens) + 1):
                for n in range(1, min(order, end) + 1):
                    self.counts[tokens[end - n : end]] += 1
        self.after: dict[Ngram, dict[str, int]] = {}
        for ngram, count in self.counts.items():
            self.after.setdefault(ngram[:-1], {})[ngram[-1]] = count
        self.of_order = [Counter(c for g, c in self.counts.items() if len(g) == n + 1) for n in range(order)]
        self.prob, self.share = lru_cache(None)(self._prob), lru_cache(None)(self._share)

    def _coefficient(self, count: int, n: int) -> float:
        """Katz's d(r)."""
        number, most = self.of_order[n - 1], 1 if n == 1 else 7
        if number[1] == 0:
            return 1.0
        while most and number[most + 1] == 0:
            most -= 1
        if not most or count > most or number[count] == 0:
            return 1.0
        common = (most + 1) * number[most + 1] / number[1]
        ratio = (count + 1) * number[count + 1] / (count * number[count])
        found = (ratio - common) / (1 - common) if common != 1 else 1.0
        return found if 3e-6 < found <= 1 and ratio <= 1 else 1.0

    def _share(self, count: int, context: Ngram) -> float:
        """What a word has of its own after the context."""
        counts, n = self.after[context], len(context) + 1
        total = sum(counts.values())
        if self.smoothing == "witten-bell":
            return count / (total + len(counts))
        if self.smoothing == "absolute":
            one, two = self.of_order[n - 1][1], self.of_order[n - 1][2]
            discount = one / (one + 2 * two) if one and two else 0.5
            return max(count - discount, 0.0) / total
        if self.smoothing == "add-k":
            return (count + self.added) / (total + self.added * len(self.words))
        kept = {c: self._coefficient(c, n) * c for c in set(counts.values())}
        freed = sum(c if self._is_pruned((*context, w)) else c - kept[c] for w, c in counts.items())
        return (kept[count] if count else 0.0) / (total if freed > 0 else total + 1)

    def _is_pruned(self, ngram: Ngram) -> bool:
        limits = self.prune
        return (
            len(ngram) > 1 and bool(limits) and self.counts[ngram] <= limits[min(len(ngram), len(limits)) - 1]
        )

    def _prob(self, word: str, context: Ngram) -> float:
        context = context[len(context) - self.order + 1 :] if len(context) >= self.order else context
        if not context:
            return self._unigram(word)
        if context not in self.after:
            return self.prob(word, context[1:])
        listed = {w: c for w, c in self.after[context].items() if not self._is_pruned((*context, w))}
        own = {w: self.share(c, context) for w, c in listed.items()}
        left = 1 - math.fsum(own.values())
        lower = self.prob(word, context[1:])
        if self.smoothing in ("witten-bell", "absolute"):
            return own.get(word, 0.0) + left * lower
        if word in own:
            return own[word]
        free = 1 - math.fsum(self.prob(w, context[1:]) for w in listed)
        return lower * (max(left, LEAST_MASS) / free if free > LEAST_MASS else 1.0)

    def _unigram(self, word: str) -> float:
        counts = self.after[()]
        if self.smoothing == "add-k":
            return self.share(counts.get(word, 0), ())
        own = {w: self.share(counts.get(w, 0), ()) for w in self.words}
        left = 1 - math.fsum(own.values())
        if self.smoothing != "good-turing":
            return own[word] + left / len(self.words)
        unseen = [w for w in self.words if w not in counts] or self.words
        return own[word] + (left / len(unseen) if word in unseen else 0.0)


def contexts_of(texts: Sequence[Sentence], order: int) -> set[Ngram]:
    found = {tuple([BOS, *text][:i][-order:]) for text in texts for i in range(len(text) + 2)}
    return {*found, ("unseen",), (UNK, EOS)}


def assert_equals_oracle(model: NgramModel, oracle: Oracle, texts: Sequence[Sentence]) -> None:
    assert set(model.vocabulary) - {BOS} == set(oracle.words)
    for context in contexts_of(texts, model.order):
        known = tuple(w if w in {BOS, *oracle.words} else UNK for w in context)
        found = [math.exp(model.log_prob(word, context)) for word in oracle.words]
        expected = [oracle.prob(word, known) for word in oracle.words]
        assert found == pytest.approx(expected, rel=RTOL, abs=1e-8), context
        assert math.fsum(found) == pytest.approx(1, abs=RTOL), context


@pytest.mark.parametrize("smoothing", OTHERS)
@examples(0.5)
@given(texts=corpora(), order=st.integers(1, 5), prune=prunings, added=st.sampled_from([1.0, 0.1]))
def test_small_corpora(
    smoothing: str, texts: list[Sentence], order: int, prune: Sequence[int], added: float
) -> None:
    model = train(texts, order, prune=prune, smoothing=smoothing, added=added)
    assert_equals_oracle(model, Oracle(texts, order, smoothing, prune, added), texts)


@pytest.mark.parametrize("smoothing", OTHERS)
@examples(0.05)
@given(texts=zipfian_corpora, order=st.integers(1, 4), prune=prunings)
def test_corpora_with_counts_of_counts(
    smoothing: str, texts: list[Sentence], order: int, prune: Sequence[int]
) -> None:
    model = train(texts, order, prune=prune, smoothing=smoothing)
    assert_equals_oracle(model, Oracle(texts, order, smoothing, prune), texts[:5])


def test_good_turing_discounts_are_met_in_these_tests() -> None:
    texts = zipfian_corpus(random.Random(1), 150, 300)
    oracle = Oracle(texts, 3, "good-turing")
    assert any(oracle._coefficient(c, n) < 1 for n in (2, 3) for c in range(1, 8))


def test_bad_options() -> None:
    with pytest.raises(OptionError, match="expected kneser-ney, witten-bell"):
        TrainingOptions(smoothing="kneser")
    with pytest.raises(OptionError, match="expected a number above 0"):
        TrainingOptions(smoothing="add-k", added=0.0)
