"""How good a tagger is: accuracy by kind of word, confusions, and whether its probabilities can be trusted.

Calibration compares the posterior probability of each tag given with how often such tags are right. With the
tokens in bins by that probability,

    expected calibration error = sum over bins of (tokens in the bin / tokens) |accuracy - mean probability|.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hiddenite._core import TaskKind
from hiddenite.errors import ModelError
from hiddenite.query import Query
from hiddenite.results import Failure, Marginals
from hiddenite.tag.answers import TagAnswer, Tagged
from hiddenite.tag.formats import NOT_ANNOTATED, TaggedSentence
from hiddenite.tag.tagger import Objective, Tagger, kind_of

NUM_BINS = 20
_CHUNK = 512  # sentences in memory at once


@dataclass(frozen=True, slots=True)
class Bin:
    """Tokens whose tag has a posterior probability in a range."""

    tokens: int
    right: int
    total_probability: float

    @property
    def accuracy(self) -> float:
        """right / tokens."""
        return self.right / self.tokens

    @property
    def probability(self) -> float:
        """Their mean."""
        return self.total_probability / self.tokens


@dataclass(frozen=True, slots=True)
class TagScore:
    """A tagger's output against gold tags."""

    tokens: int
    right: int
    known_tokens: int  # of words seen in training
    known_right: int
    sentences: int  # that have gold tags
    sentences_right: int
    unseen_tags: int  # tokens whose gold tag was never seen in training
    certified: int  # sentences whose answer is proved
    confusions: tuple[tuple[str, str, int], ...]  # gold, found, tokens; most frequent first
    bins: tuple[Bin, ...]  # by probability, empty ones left out; none if it was not asked for

    @property
    def accuracy(self) -> float | None:
        """Right tokens among all, None if there is none."""
        return _share(self.right, self.tokens)

    @property
    def known(self) -> float | None:
        """Right tokens among those of known words."""
        return _share(self.known_right, self.known_tokens)

    @property
    def unknown(self) -> float | None:
        """Right tokens among those of unknown words."""
        return _share(self.right - self.known_right, self.tokens - self.known_tokens)

    @property
    def sentence(self) -> float | None:
        """Sentences without an error."""
        return _share(self.sentences_right, self.sentences)

    @property
    def calibration_error(self) -> float | None:
        """Expected calibration error, None if it was not asked for."""
        tokens = sum(b.tokens for b in self.bins)
        return _share(sum(abs(b.right - b.total_probability) for b in self.bins), tokens)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object; shares are fractions, null where there is nothing to share."""
        return {
            "accuracy": self.accuracy,
            "known": self.known,
            "unknown": self.unknown,
            "sentence": self.sentence,
            "tokens": self.tokens,
            "unknown_tokens": self.tokens - self.known_tokens,
            "sentences": self.sentences,
            "certified": self.certified,
            "unseen_tags": self.unseen_tags,
            "calibration_error": self.calibration_error,
            "confusions": [list(row) for row in self.confusions],
        }


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence: the answer beside the gold tags."""

    answer: Tagged
    gold: tuple[str, ...]  # ``_`` where there is none
    known: tuple[bool, ...]  # whether the word was seen in training
    posterior: Marginals | None  # None if it was not asked for

    @property
    def probabilities(self) -> list[float]:
        """The posterior probability of each tag given; none if the posterior was not asked for."""
        if self.posterior is None:
            return []
        return [dict(slot)[tag] for slot, tag in zip(self.posterior.slots, self.answer.tags, strict=True)]


def score(
    tagger: Tagger,
    gold: Iterable[TaggedSentence],
    *,
    objective: Objective = "map",
    calibration: bool = True,
    threads: int = 0,
) -> TagScore:
    """Tag the words of ``gold`` and compare; ``calibration`` takes their marginals too.

    Words whose gold tag is ``_`` are not compared.
    """
    tally = Tally(tagger.tags)
    for one in judge(tagger, gold, objective=objective, calibration=calibration, threads=threads):
        tally.add(one)
    return tally.score()


def judge(
    tagger: Tagger,
    gold: Iterable[TaggedSentence],
    *,
    objective: Objective = "map",
    calibration: bool = True,
    threads: int = 0,
) -> Iterator[Judged]:
    """Give the answers beside the gold tags, for the sentences that have words."""
    sentences = (sentence for sentence in gold if len(sentence) > 0)
    while chunk := list(itertools.islice(sentences, _CHUNK)):
        words = [[word for word, _ in sentence] for sentence in chunk]
        known = iter(tagger.known_words(words))
        found = tagger.answer_many(words, Query(kind_of(objective)), threads)
        posteriors: Iterable[TagAnswer | Failure | None] = itertools.repeat(None, len(chunk))
        if calibration:
            posteriors = tagger.answer_many(words, Query(TaskKind.MARGINALS), threads)
        for sentence, answer, posterior in zip(chunk, found, posteriors, strict=True):
            if not isinstance(answer, Tagged):
                raise ModelError(answer.error if isinstance(answer, Failure) else "no tags")
            yield Judged(
                answer,
                tuple(tag for _, tag in sentence),
                tuple(itertools.islice(known, len(sentence))),
                posterior if isinstance(posterior, Marginals) else None,
            )


class Tally:
    """Counts of what was right."""

    def __init__(self, tags: Iterable[str]) -> None:
        self._tags = frozenset(tags)
        self._count: Counter[str] = Counter()
        self._confusions: Counter[tuple[str, str]] = Counter()
        self._bins = [[0, 0, 0.0] for _ in range(NUM_BINS)]

    def add(self, one: Judged) -> None:
        """Count a sentence, unless none of its words has a gold tag."""
        rows = [
            (tag, gold, known)
            for tag, gold, known in zip(one.answer.tags, one.gold, one.known, strict=True)
            if gold != NOT_ANNOTATED
        ]
        if not rows:
            return
        count = self._count
        count["tokens"] += len(rows)
        count["right"] += sum(tag == gold for tag, gold, _ in rows)
        count["known_tokens"] += sum(known for _, _, known in rows)
        count["known_right"] += sum(tag == gold and known for tag, gold, known in rows)
        count["sentences"] += 1
        count["sentences_right"] += all(tag == gold for tag, gold, _ in rows)
        count["unseen_tags"] += sum(gold not in self._tags for _, gold, _ in rows)
        count["certified"] += one.answer.certificate.exact
        self._confusions.update((gold, tag) for tag, gold, _ in rows if tag != gold)
        for p, tag, gold in zip(one.probabilities, one.answer.tags, one.gold, strict=False):  # none: no p
            if gold != NOT_ANNOTATED:
                row = self._bins[min(int(p * NUM_BINS), NUM_BINS - 1)]
                row[0] += 1
                row[1] += tag == gold
                row[2] += p

    def score(self) -> TagScore:
        """Return what was counted."""
        names = (
            "tokens",
            "right",
            "known_tokens",
            "known_right",
            "sentences",
            "sentences_right",
            "unseen_tags",
            "certified",
        )
        pairs = sorted(self._confusions.items(), key=lambda item: (-item[1], item[0]))
        return TagScore(
            **{name: self._count[name] for name in names},
            confusions=tuple((gold, found, n) for (gold, found), n in pairs),
            bins=tuple(Bin(int(n), int(r), p) for n, r, p in self._bins if n),
        )


def plot_reliability(tag_score: TagScore, path: str) -> None:
    """Draw accuracy over posterior probability and save it; needs matplotlib."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  (an optional extra)
    except ImportError:
        raise ModelError("a plot needs matplotlib: pip install 'hiddenite[plot]'") from None
    figure = Figure(figsize=(4.4, 4.4))
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    upper.plot([0, 1], [0, 1], ":", color="grey", label="as it should be")
    x = [b.probability for b in tag_score.bins]
    upper.plot(x, [b.accuracy for b in tag_score.bins], "o-", label="measured")
    upper.set(ylabel="share of right tags", xlim=(0, 1), ylim=(0, 1))
    upper.legend(frameon=False, loc="upper left")
    error = tag_score.calibration_error
    upper.set_title("" if error is None else f"expected calibration error {100 * error:.2f} %")
    lower.bar(x, [b.tokens for b in tag_score.bins], width=0.03)
    lower.set(xlabel="posterior probability of the tag given", ylabel="tokens", yscale="log")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
