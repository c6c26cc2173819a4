"""What a page about a tagger shows: accuracy, confusions in context, calibration, the least sure sentences.

By the exact posterior a tag of probability p is wrong with probability 1 - p; a sentence is expected to have
as many errors as these add up to. Sentences are ordered by expected errors per word to be read (a few words
are added to the length, as for suggestions), the worst first: there the tagger knows least, or the text is
odd. Examples of a confusion are those of which the tagger was surest: there it has learnt something wrong, or
the gold tag is wrong.

A learning curve is accuracy on the same text after training on a half, a quarter, … of the training text: if
the last step still gains, more annotation will. It costs about two trainings.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hiddenite.tag.annotation import LabelledSentence
from hiddenite.tag.evaluation import Judged, TagScore, Tally, judge, score
from hiddenite.tag.formats import NOT_ANNOTATED, Record, TaggedSentence
from hiddenite.tag.options import TaggerOptions
from hiddenite.tag.suggestion import READING
from hiddenite.tag.tagger import Tagger

CONTEXT = 6  # words on each side of an example
CURVE_POINTS = 6
LEAST_CURVE = 10  # sentences


@dataclass(frozen=True, slots=True)
class ReportWord:
    """A word with its tag."""

    word: str
    tag: str
    gold: str  # ``_`` if there is none
    known: bool  # seen in training
    p: float  # of the tag
    other: tuple[str, float] | None  # the most probable tag beside it

    @property
    def is_wrong(self) -> bool:
        """Whether a gold tag says so."""
        return self.gold not in (self.tag, NOT_ANNOTATED)


@dataclass(frozen=True, slots=True)
class ReportSentence:
    """A sentence with its tags."""

    id: str | int
    words: tuple[ReportWord, ...]

    @property
    def expected_errors(self) -> float:
        """Sum of 1 - p."""
        return sum(1 - word.p for word in self.words)

    @property
    def doubt(self) -> float:
        """Expected errors per word to be read."""
        return self.expected_errors / (len(self.words) + READING)

    @property
    def num_wrong(self) -> int:
        """Wrong tags."""
        return sum(word.is_wrong for word in self.words)


@dataclass(frozen=True, slots=True)
class Example:
    """A wrong tag in its context."""

    id: str | int  # of the sentence
    left: tuple[str, ...]
    word: ReportWord
    right: tuple[str, ...]
    gold_p: float  # of the gold tag


@dataclass(frozen=True, slots=True)
class Confusion:
    """Words that should have one tag and got another."""

    gold: str
    found: str
    tokens: int
    examples: tuple[Example, ...]  # the surest first


@dataclass(frozen=True, slots=True)
class TagCounts:
    """How well one tag is found."""

    tag: str
    gold: int  # tokens that should have it
    found: int  # tokens that got it
    right: int  # both
    taken_for: str | None  # the tag that its tokens got most often instead


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Accuracy after training on some of the text."""

    sentences: int
    tokens: int
    accuracy: float
    unknown: float | None  # of words that this part does not have; None if there is none


@dataclass(frozen=True, slots=True)
class TagReport:
    """All that the page shows."""

    score: TagScore
    num_sentences: int  # with and without gold tags
    num_words: int
    expected_errors: float  # in all of them
    tags: tuple[TagCounts, ...]  # frequent ones first
    confusions: tuple[Confusion, ...]
    sentences: tuple[ReportSentence, ...]  # the least certain first
    curve: tuple[CurvePoint, ...] = ()  # small parts first; none if it was not asked for
    has_knowledge: bool = False  # classes or a dictionary, which the curve has not


def make_report(
    tagger: Tagger,
    records: Iterable[Record],
    *,
    most_sentences: int = 200,
    most_confusions: int = 30,
    most_examples: int = 5,
    curve: Iterable[CurvePoint] = (),
    threads: int = 0,
) -> TagReport:
    """Tag a text with gold tags and look at the answers; only what is shown is kept."""
    tally = Tally(tagger.tags)
    tags: Counter[tuple[str, str]] = Counter()
    examples: defaultdict[tuple[str, str], list[tuple[float, int, int, Example]]] = defaultdict(list)
    worst: list[tuple[float, int, ReportSentence]] = []
    number, words, errors = 0, 0, 0.0
    one, two = itertools.tee(record for record in records if record.words)
    judged = judge(tagger, (record.pairs() for record in two), threads=threads)
    for number, (record, found) in enumerate(zip(one, judged, strict=True), 1):
        tally.add(found)
        sentence = _sentence(record, found)
        words += len(sentence.words)
        errors += sentence.expected_errors
        tags.update((word.gold, word.tag) for word in sentence.words if word.gold != NOT_ANNOTATED)
        _push(worst, (sentence.doubt, -number, sentence), most_sentences)
        for place, example in _examples(sentence, found):
            pair = example.word.gold, example.word.tag
            _push(examples[pair], (example.word.p, -number, -place, example), most_examples)
    result = tally.score()
    return TagReport(
        result,
        number,
        words,
        errors,
        tuple(_tag_counts(tags)),
        tuple(
            Confusion(gold, tag, n, tuple(_sorted(examples[gold, tag])))
            for gold, tag, n in result.confusions[:most_confusions]
        ),
        tuple(_sorted(worst)),
        tuple(curve),
        tagger.model.attributes is not None or tagger.model.allowed is not None,
    )


def _push(heap: list, item: tuple, most: int) -> None:  # type: ignore[type-arg]
    (heapq.heappush if len(heap) < most else heapq.heappushpop)(heap, item)


def _sorted(heap: list) -> Iterator:  # type: ignore[type-arg]
    return (one[-1] for one in sorted(heap, key=lambda x: x[:-1], reverse=True))


def _sentence(record: Record, found: Judged) -> ReportSentence:
    assert found.posterior is not None
    rows = zip(record.words, found.answer.tags, found.gold, found.known, found.posterior.slots, strict=True)
    return ReportSentence(record.id, tuple(itertools.starmap(_word, rows)))


def _word(word: str, tag: str, gold: str, known: bool, slot: Sequence[tuple[str, float]]) -> ReportWord:
    p = dict(slot)[tag]
    others = [pair for pair in slot if pair[0] != tag]
    return ReportWord(
        word, tag, gold, known, min(p, 1.0), max(others, key=lambda pair: pair[1], default=None)
    )


def _examples(sentence: ReportSentence, found: Judged) -> Iterator[tuple[int, Example]]:
    """Give the wrong tags of a sentence with their places."""
    assert found.posterior is not None
    texts = [word.word for word in sentence.words]
    for i, word in enumerate(sentence.words):
        if word.is_wrong:
            left, right = tuple(texts[max(i - CONTEXT, 0) : i]), tuple(texts[i + 1 : i + 1 + CONTEXT])
            gold_p = dict(found.posterior.slots[i]).get(word.gold, 0.0)
            yield i, Example(sentence.id, left, word, right, gold_p)


def _tag_counts(pairs: Counter[tuple[str, str]]) -> list[TagCounts]:
    gold: Counter[str] = Counter()
    found: Counter[str] = Counter()
    instead: dict[str, tuple[int, str]] = {}
    for (should, is_), n in sorted(pairs.items()):
        gold[should] += n
        found[is_] += n
        if should != is_ and n > instead.get(should, (0, ""))[0]:
            instead[should] = n, is_
    tags = sorted(gold | found, key=lambda tag: (-gold[tag], tag))
    return [
        TagCounts(tag, gold[tag], found[tag], pairs[tag, tag], instead.get(tag, (0, None))[1]) for tag in tags
    ]


def learning_curve(
    train: Sequence[LabelledSentence],
    gold: Sequence[TaggedSentence],
    options: TaggerOptions,
    threads: int = 0,
) -> Iterator[CurvePoint]:
    """Give the accuracy after training on ever larger parts of a text, each spread over the whole of it."""
    sizes = [len(train) >> n for n in reversed(range(CURVE_POINTS))]
    for size in sizes:
        if size < LEAST_CURVE and size != len(train):
            continue
        part = [train[i * len(train) // size] for i in range(size)]
        found = score(Tagger.train_with(part, options), gold, calibration=False, threads=threads)
        if found.accuracy is not None:
            yield CurvePoint(size, sum(map(len, part)), found.accuracy, found.unknown)
