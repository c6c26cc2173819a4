"""How good links are, against gold ones (Och & Ney 2003).

With A the links found, S the sure and P the possible gold links (S within P), over all sentence pairs:
precision |A n P| / |A|, recall |A n S| / |S|, alignment error rate 1 - (|A n S| + |A n P|) / (|A| + |S|), and
F = 1 / (alpha / precision + (1 - alpha) / recall) (Fraser & Marcu 2007).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hiddenite.align.links import GoldLinks, Link
from hiddenite.errors import ModelError
from hiddenite.records import json_number

ALPHA = 0.5


@dataclass(frozen=True, slots=True)
class AlignmentScore:
    """Counts over all sentence pairs, and what follows from them."""

    sentences: int
    links: int  # |A|
    sure: int  # |S|
    possible: int  # |P|
    found_sure: int  # |A n S|
    found_possible: int  # |A n P|
    alpha: float = ALPHA

    @property
    def precision(self) -> float:
        """|A n P| / |A|."""
        return _share(self.found_possible, self.links)

    @property
    def recall(self) -> float:
        """|A n S| / |S|."""
        return _share(self.found_sure, self.sure)

    @property
    def aer(self) -> float:
        """1 - (|A n S| + |A n P|) / (|A| + |S|)."""
        return 1.0 - _share(self.found_sure + self.found_possible, self.links + self.sure)

    @property
    def f(self) -> float:
        """1 / (alpha / precision + (1 - alpha) / recall)."""
        if self.precision == 0.0 or self.recall == 0.0:
            return 0.0
        return 1.0 / (self.alpha / self.precision + (1.0 - self.alpha) / self.recall)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object; shares are fractions, null where there is nothing to share."""
        shares = {name: json_number(getattr(self, name)) for name in ("precision", "recall", "aer", "f")}
        counts = {name: getattr(self, name) for name in ("alpha", "sentences", "links", "sure", "possible")}
        return shares | counts


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def score(
    gold: Sequence[GoldLinks], found: Sequence[Iterable[Link]], *, alpha: float = ALPHA
) -> AlignmentScore:
    """Compare links with gold ones, sentence pair by sentence pair."""
    if not 0.0 <= alpha <= 1.0:
        raise ModelError(f"alpha is {alpha}, expected a number from 0 to 1")
    if len(gold) != len(found):
        raise ModelError(
            f"there are {len(gold)} gold alignments and {len(found)} to score, expected equally many"
        )
    found_sets = [set(links) for links in found]
    pairs = list(zip(gold, found_sets, strict=True))
    return AlignmentScore(
        sentences=len(gold),
        links=sum(map(len, found_sets)),
        sure=sum(len(one.sure) for one in gold),
        possible=sum(len(one.possible) for one in gold),
        found_sure=sum(len(one.sure & links) for one, links in pairs),
        found_possible=sum(len(one.possible & links) for one, links in pairs),
        alpha=alpha,
    )
