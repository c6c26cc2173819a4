"""The restorer: text in, text out with what was missing, each line with its proof."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hiddenite._core import Answer, RestorationChannel, Status, TaskKind
from hiddenite.errors import ModelError, OptionError
from hiddenite.files.corpus import Sentence, each_sentence
from hiddenite.ngram import NgramModel
from hiddenite.query import Budget, Query, certificate_of
from hiddenite.records import json_number
from hiddenite.restore.folding import Folding
from hiddenite.results import Certificate, Failure, Hypothesis, KBest

# Of rare words: small letters, a capital, capitals alone, anything else.
KINDS = ("<small>", "<title>", "<upper>", "<mixed>")
LONGEST_UNKNOWN = 12
UNKNOWN_COST = 3.2580965380214821  # ln 26


@dataclass(frozen=True, slots=True)
class Entry:
    """A word that a form can stand for."""

    form: str  # as it is seen; empty: an event
    spelling: str  # as it is written
    word: str  # of the language model
    log_weight: float


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored line."""

    text: str
    log_weight: float  # of the words and events under the model
    certificate: Certificate
    tokens: tuple[tuple[str, float], ...] = ()  # words and events with their probabilities, if asked for

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        record: dict[str, Any] = {
            "text": self.text,
            "log_weight": json_number(self.log_weight),
            "certificate": self.certificate.to_dict(),
        }
        if self.tokens:
            record["tokens"] = [[word, prob] for word, prob in self.tokens]
        return record


class Restorer:
    """A language model over words and events, and what each form that is seen can stand for."""

    def __init__(
        self,
        lm: NgramModel,
        folding: Folding,
        entries: Sequence[Entry],
        kinds: Sequence[tuple[str, float]],
        max_events: int = 1,
    ) -> None:
        if not 0 <= max_events <= 8:
            raise OptionError("max_events", f"is {max_events}, expected 0 to 8")
        self.lm = lm
        self.folding = folding
        self.entries = tuple(entries)
        self.kinds = tuple(kinds)
        self.max_events = max_events

    def __repr__(self) -> str:
        return f"<Restorer of {', '.join(self.folding.what)}, {len(self.entries):,} words and events>"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Restorer:
        """Read a model file."""
        from hiddenite.restore.archive import read_restorer  # noqa: PLC0415  (archive knows this class)

        return read_restorer(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file, whole or not at all."""
        from hiddenite.restore.archive import write_restorer  # noqa: PLC0415

        write_restorer(path, self)

    # -------------------------------------------------------------- ask

    def restore(self, line: str) -> Restored:
        """Restore one line: the best text, proved."""
        found = next(self.restore_many([line]))
        if isinstance(found, Failure):
            raise ModelError(found.error)
        return found

    def restore_many(
        self, lines: Iterable[Sentence], threads: int = 0, budget: Budget | float | None = None
    ) -> Iterator[Restored | Failure]:
        """Restore lines, in order; what is wrong with one is a :class:`Failure`."""
        query = Query(TaskKind.DECODE, budget=Budget.of(budget))
        for answer in self._ask(_texts(lines), query, threads):
            if answer.status != Status.DONE:
                failed = query.result(answer)
                assert isinstance(failed, Failure)
                yield failed
            else:  # the nodes of the lattice, dozens a word, are nobody's business
                yield Restored(" ".join(answer.words[0]), answer.log_weights[0], certificate_of(answer))

    def kbest(self, line: str, k: int) -> list[tuple[str, float]]:
        """Return the k best texts of a line with their log weights."""
        (found,) = self.kbest_many([line], k, 1)
        if isinstance(found, Failure):
            raise ModelError(found.error)
        return [(" ".join(one.words), one.log_weight) for one in found.hypotheses]

    def kbest_many(
        self, lines: Iterable[Sentence], k: int, threads: int = 0
    ) -> Iterator[KBest[Hypothesis] | Failure]:
        """Give the k best texts of lines, in order, proved; what is wrong with one is a :class:`Failure`."""
        query = Query(TaskKind.KBEST, count=k)
        for answer in self._ask(_texts(lines), query, threads):
            found = query.result(answer)
            assert isinstance(found, KBest | Failure)
            yield found

    def probabilities(self, lines: Iterable[Sentence], threads: int = 0) -> Iterator[Posterior | Failure]:
        """Give for each line what stands at each place, with probabilities; not where blanks are missing."""
        if "spaces" in self.folding.what:
            raise ModelError(
                "the model restores blanks, so words have no fixed places; ask for the best text"
            )
        query = Query(TaskKind.MARGINALS)
        texts = _texts(lines)
        for line, answer in zip(texts, self._ask(texts, query, threads), strict=True):
            if answer.status != Status.DONE:
                yield Failure(answer.error, None, None)
            else:
                words = [word for word in line.split() if not self.folding.is_event(word)]
                yield _posterior(answer, words, self._num_events + 1)

    def seen(self, line: str) -> str:
        """Return the line as the model sees it: folded, its events dropped."""
        return self.folding.line(line)

    def _ask(self, lines: Sequence[str], query: Query, threads: int) -> list[Answer]:
        text = "\n".join(map(self.seen, lines)) + "\n"
        return self.lm.engine.answer_lines(self._channel, text.encode(), query.task(), 0, threads)

    @property
    def _num_events(self) -> int:
        return self.max_events if self.folding.events else 0

    @functools.cached_property
    def _channel(self) -> RestorationChannel:
        import numpy as np  # noqa: PLC0415

        words = self.lm.vocabulary
        known = [entry for entry in self.entries if entry.word in words or entry.word == "<unk>"]
        letters = {kind: place for place, kind in enumerate(KINDS[:3])}
        return RestorationChannel(
            self.lm._table,
            [entry.form for entry in known],
            [entry.spelling for entry in known],
            np.array([words.id(entry.word) for entry in known], np.uint32),
            np.array([entry.log_weight for entry in known], np.float64),
            [(words.id(kind), weight, letters.get(kind, 0)) for kind, weight in self.kinds],
            self._num_events,
            "spaces" in self.folding.what,
            LONGEST_UNKNOWN,
            UNKNOWN_COST,
        )


def _texts(lines: Iterable[Sentence]) -> list[str]:
    """Return lines as text, each on one line; they may be lists of words, bytes, cells of a column."""
    given = (line if isinstance(line, str) else " ".join(line) for line in each_sentence(lines))
    return [line.replace("\n", " ") for line in given]


@dataclass(frozen=True, slots=True)
class Posterior:
    """What stands at each place of a line: the words that were seen, and the gaps around them."""

    seen: tuple[str, ...]  # as they were given
    words: tuple[tuple[tuple[str, float], ...], ...]  # [word]: spellings with probabilities, best first
    events: tuple[tuple[tuple[str, float], ...], ...]  # [gap]: the first is before the first word

    def tokens(self, min_probability: float = 0.5) -> list[tuple[str, float]]:
        """Return the line: events of at least that probability, and words changed only if one has it."""
        result = [self.events[0][0]] if _is_sure(self.events[0], min_probability) else []
        for seen, word, event in zip(self.seen, self.words, self.events[1:], strict=True):
            result.append(word[0] if word[0][1] >= min_probability else _as_seen(seen, word))
            if _is_sure(event, min_probability):
                result.append(event[0])
        return result


def _is_sure(event: Sequence[tuple[str, float]], least: float) -> bool:
    return bool(event) and event[0][1] >= least


def _as_seen(seen: str, word: Sequence[tuple[str, float]]) -> tuple[str, float]:
    return seen, dict(word).get(seen, 0.0)


def _posterior(answer: Answer, seen: list[str], joints: int) -> Posterior:
    """Add up what the slots of a lattice say of each place; a word occurs once for each number of events."""
    words: list[dict[str, float]] = [{} for _ in seen]
    events: list[dict[str, float]] = [{} for _ in range(len(seen) + 1)]
    spans = answer.spans or [(i, i + 1) for i in range(len(seen))]
    for (begin, end), names, probs in zip(spans, answer.slot_words, answer.marginals, strict=False):
        place = begin // joints
        into = events[place] if end // joints == place else words[place]
        for name, prob in zip(names, probs, strict=True):
            into[name] = into.get(name, 0.0) + prob
    ordered = [[tuple(sorted(one.items(), key=lambda p: -p[1])) for one in part] for part in (words, events)]
    return Posterior(tuple(seen), tuple(ordered[0]), tuple(ordered[1]))
