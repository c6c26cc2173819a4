"""Which sentences to annotate next: those that teach the tagger most for the annotator's time.

By the exact posteriors p_i(t) the tagger expects to be wrong at word i with probability
u_i = 1 - max_t p_i(t). Correcting one occurrence of a word teaches about the others, so that a sentence is
worth the expected errors of all occurrences, in the whole raw text, of the words that it has:

    gain(sentence) = sum over its different words w of U(w) h^n(w),    U(w) = sum of u over all w in the text,

where n(w) counts the sentences already chosen that have w and h is one half: what is asked once is half
known. Sentences are taken one by one, the largest gain per word first (a few words are added to the length,
as reading takes time). Gains only fall, so that old ones are bounds and few are computed anew.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hiddenite._core import TaskKind
from hiddenite.query import Query
from hiddenite.results import Marginals
from hiddenite.tag.tagger import Tagger

HALF = 0.5  # h
READING = 4.0  # words that reading any sentence costs


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A sentence to annotate."""

    number: int  # of the sentence in the text, from 0
    words: tuple[str, ...]
    tags: tuple[str, ...]  # each word's most probable one
    probabilities: tuple[float, ...]  # of those
    gain: float  # see above, when it was chosen

    @property
    def expected_errors(self) -> float:
        """Sum over the words of 1 - p."""
        return sum(1 - p for p in self.probabilities)


def suggest(
    tagger: Tagger, text: Sequence[Sequence[str]], count: int, threads: int = 0
) -> Iterator[Suggestion]:
    """Give the sentences whose annotation helps most, the best first."""
    answers = [
        (number, answer)
        for number, answer in enumerate(
            tagger.answer_many(map(list, text), Query(TaskKind.MARGINALS), threads)
        )
        if isinstance(answer, Marginals) and answer.words
    ]
    best = {n: [max(slot, key=lambda pair: pair[1]) for slot in answer.slots] for n, answer in answers}
    words = {n: tuple(answer.words or ()) for n, answer in answers}
    errors: defaultdict[str, float] = defaultdict(float)
    for n, row in best.items():
        for word, (_, p) in zip(words[n], row, strict=True):
            errors[word] += 1 - p
    for n, gain in _greedy(words, errors, count):
        tags, probabilities = zip(*best[n], strict=True)
        yield Suggestion(n, words[n], tags, probabilities, gain)


def _greedy(
    words: dict[int, tuple[str, ...]], errors: dict[str, float], count: int
) -> Iterator[tuple[int, float]]:
    """Give sentences and gains; a sentence whose old gain is the largest is looked at again, then taken."""
    asked: Counter[str] = Counter()
    chosen: set[tuple[str, ...]] = set()

    def gain(n: int) -> float:
        total = sum(errors[w] * HALF ** asked[w] for w in sorted(set(words[n])))
        return total / (len(words[n]) + READING)

    heap = [(-gain(n), n) for n in words]
    heapq.heapify(heap)
    while heap and len(chosen) < count:
        old, n = heapq.heappop(heap)
        now = gain(n)
        if heap and now < -heap[0][0] and now < -old:
            heapq.heappush(heap, (-now, n))
            continue
        if words[n] in chosen:
            continue
        chosen.add(words[n])
        asked.update(set(words[n]))
        yield n, now * (len(words[n]) + READING)
