"""From what the core says of sentences to changes of a text."""

from __future__ import annotations

import math
from collections.abc import Iterable

from hiddenite._core import SentenceCorrection
from hiddenite.correct.answers import Change
from hiddenite.correct.tokens import with_case
from hiddenite.results import Certificate


def cased(words: list[str], old: str) -> str:
    """Return words with the case of what they replace."""
    first = with_case(words[0], old)
    is_upper = len(old) > 1 and old.isupper()
    return " ".join([first, *(word.upper() if is_upper else word for word in words[1:])])


def apply_changes(text: str, changes: Iterable[Change]) -> str:
    """Return a text with changes applied; they do not overlap."""
    pieces = []
    place = 0
    for change in sorted(changes, key=lambda c: c.start):
        pieces += [text[place : change.start], change.new]
        place = change.end
    return "".join([*pieces, text[place:]])


def certificate(answers: list[SentenceCorrection]) -> Certificate:
    """Return the sum over the sentences: each is decoded on its own.

    It is about the best reading, of which improbable changes are then taken back.
    """
    return Certificate(
        all(a.exact for a in answers),
        math.fsum(a.upper for a in answers),
        math.fsum(a.lower for a in answers),
        "dominance",
        0,
        sum(a.states for a in answers),
        objective="best_reading",
        left_out=max((a.left_out for a in answers), default=-math.inf),
    )
