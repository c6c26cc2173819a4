"""A corrector whose changes are known: it replaces words by a table, and does nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hiddenite.correct.answers import Alternative, Change, Correction
from hiddenite.results import Certificate

TABLE = {
    "teh": "the",
    "shephrd": "shepherd",
    "shal": "shall",
    "wnat": "want",
    "infact": "in fact",
    "some thing": "something",
    "exam-\nple": "example",
}
PROBABILITY = 0.97
CERTIFICATE = Certificate(True, -1.0, -1.0, "dominance", 0, 3)


class Replacer:
    """Has the methods of a Corrector."""

    def __init__(self, table: Mapping[str, str] = TABLE) -> None:
        self._table = {re.sub(r"\s+", " ", old): new for old, new in table.items()}
        words = sorted(self._table, key=len, reverse=True)
        pattern = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in words)
        self._pattern = re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)

    def changes(self, text: str) -> tuple[Change, ...]:
        return tuple(self._change(match) for match in self._pattern.finditer(text))

    def _change(self, match: re.Match[str]) -> Change:
        new = self._table[re.sub(r"\s+", " ", match[0].lower())]
        new = new.capitalize() if match[0][0].isupper() else new
        others = (Alternative(match[0], 0.02), Alternative("tea", 0.01))
        return Change(match.start(), match.end(), match[0], new, PROBABILITY, 0.99, others)

    def correct(self, text: str, **_: Any) -> Correction:
        changes = self.changes(text)
        corrected, done = "", 0
        for one in changes:
            corrected += text[done : one.start] + one.new
            done = one.end
        return Correction(corrected + text[done:], changes, CERTIFICATE)

    def correct_many(self, texts: Iterable[str], **_: Any) -> Iterator[Correction]:
        return map(self.correct, texts)

    def sample(self, text: str, count: int, seed: int) -> list[tuple[str, int]]:
        return [(self.correct(text).text, count - seed % 2), (text, seed % 2)]
