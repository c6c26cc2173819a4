"""How good restored text is, against the text as it should be.

Both texts are read as words at places of the folded characters, and events between them, so that the same
counts serve whatever was missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hiddenite.restore.folding import Folding


@dataclass(frozen=True, slots=True)
class RestorationScore:
    """Counts of a restored text against the right one."""

    words: int  # of the right text
    right_words: int  # at the same place and spelled the same
    found_words: int  # of the restored text
    right_spans: int  # at the same place, whatever the spelling
    events: int
    found_events: int
    right_events: int

    @property
    def event_f1(self) -> float:
        """Harmonic mean of precision and recall of events at their places."""
        return _f1(self.right_events, self.events, self.found_events)

    @property
    def span_f1(self) -> float:
        """The same of the places of words: segmentation."""
        return _f1(self.right_spans, self.words, self.found_words)

    @property
    def word_accuracy(self) -> float:
        """Share of the right text's words that are restored as they should be."""
        return self.right_words / self.words if self.words else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "words": self.words,
            "events": self.events,
            "word_accuracy": self.word_accuracy,
            "segmentation_f1": self.span_f1,
            "event_f1": self.event_f1,
            "event_precision": self.right_events / self.found_events if self.found_events else 1.0,
            "event_recall": self.right_events / self.events if self.events else 1.0,
        }


def _f1(right: int, wanted: int, found: int) -> float:
    return 2 * right / (wanted + found) if wanted + found else 1.0


def evaluate(folding: Folding, right: Iterable[str], restored: Iterable[str]) -> RestorationScore:
    """Compare restored lines with the right ones."""
    totals = [0] * 7
    for wanted, found in zip(right, restored, strict=True):
        gold_words, gold_events = _places(folding, wanted)
        own_words, own_events = _places(folding, found)
        both = gold_words.keys() & own_words.keys()
        counts = (
            len(gold_words),
            sum(gold_words[span] == own_words[span] for span in both),
            len(own_words),
            len(both),
            gold_events.total(),
            own_events.total(),
            (gold_events & own_events).total(),
        )
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
    return RestorationScore(*totals)


def _places(folding: Folding, line: str) -> tuple[dict[tuple[int, int], str], Counter[tuple[int, str]]]:
    """Return words by their spans of folded characters, and events by the character they stand before."""
    words: dict[tuple[int, int], str] = {}
    events: Counter[tuple[int, str]] = Counter()
    place = 0
    for token in line.split():
        if folding.is_event(token):
            events[place, token] += 1
            continue
        end = place + len(folding.word(token))
        words[place, end] = token
        place = end
    return words, events
