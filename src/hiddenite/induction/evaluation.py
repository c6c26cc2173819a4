"""How good induced tags are, against gold ones: induced tags have no names, so they are mapped or compared.

With n(g, t) the tokens that have gold tag g and induced tag t, and n their number,

    many-to-one   (1 / n) sum over t of max over g of n(g, t): each induced tag is called what it mostly is
    one-to-one    (1 / n) max over matchings of the sum of n(g, t): each gold name is given at most once
    V-measure     2 h c / (h + c), h = 1 - H(gold | induced) / H(gold), c = 1 - H(induced | gold) / H(induced)
                  (Rosenberg & Hirschberg 2007)

The best matching is found by shortest augmenting paths with potentials, which costs the cube of the number of
tags. A mapping learnt on one text may be applied to another: :meth:`Comparison.accuracy_of`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import best_matching
from hiddenite.errors import ModelError
from hiddenite.records import equal_fields


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Gold and induced tags of the same tokens, counted together."""

    gold: tuple[str, ...]
    induced: tuple[str, ...]
    counts: NDArray[np.int64]  # [gold, induced]: n(g, t)

    def __eq__(self, other: object) -> bool:
        return equal_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def tokens(self) -> int:
        """The number of tokens, n."""
        return int(self.counts.sum())

    @property
    def many_to_one(self) -> float:
        """The share of tokens that are right if each induced tag is called what it mostly is."""
        return float(self.counts.max(axis=0).sum() / self.tokens)

    @property
    def one_to_one(self) -> float:
        """The share of tokens that are right under the best matching of names."""
        right = sum(int(self.counts[g, t]) for g, t in best_matching(self.counts.astype(np.float64)))
        return right / self.tokens

    @property
    def homogeneity(self) -> float:
        """1 - H(gold | induced) / H(gold): how far an induced tag is of one kind."""
        return _explained(self.counts)

    @property
    def completeness(self) -> float:
        """1 - H(induced | gold) / H(induced): how far a gold tag is kept together."""
        return _explained(self.counts.T)

    @property
    def v_measure(self) -> float:
        """The harmonic mean of homogeneity and completeness."""
        total = self.homogeneity + self.completeness
        return 2 * self.homogeneity * self.completeness / total if total > 0 else 0.0

    def mapping(self, *, one_to_one: bool = False) -> dict[str, str]:
        """Return the gold tag that each induced tag is called; with one_to_one some may have none."""
        if one_to_one:
            return {self.induced[t]: self.gold[g] for g, t in best_matching(self.counts.astype(np.float64))}
        best = self.counts.argmax(axis=0)
        return {name: self.gold[g] for name, g in zip(self.induced, best, strict=True)}

    def accuracy_of(self, mapping: Mapping[str, str]) -> float:
        """Return the share of right tokens under a mapping learnt elsewhere; what it lacks is wrong."""
        right = sum(
            int(self.counts[g, t])
            for t, name in enumerate(self.induced)
            for g, gold in enumerate(self.gold)
            if mapping.get(name) == gold
        )
        return right / self.tokens

    def classes(self) -> list[ClassRow]:
        """Return what each induced tag consists of, the largest first."""
        names = self.mapping()
        matched = self.mapping(one_to_one=True)
        rows = []
        for t, name in enumerate(self.induced):
            column = self.counts[:, t]
            order = np.argsort(-column, kind="stable")
            parts = tuple((self.gold[g], int(column[g])) for g in order if column[g])
            rows.append(ClassRow(name, int(column.sum()), names[name], matched.get(name), parts))
        return sorted(rows, key=lambda row: (-row.tokens, row.tag))

    def to_dict(self, tables: bool = False) -> dict[str, Any]:
        """Return the JSON object; shares are fractions."""
        record: dict[str, Any] = {
            "many_to_one": self.many_to_one,
            "one_to_one": self.one_to_one,
            "v_measure": self.v_measure,
            "homogeneity": self.homogeneity,
            "completeness": self.completeness,
            "tokens": self.tokens,
            "gold_tags": len(self.gold),
            "induced_tags": len(self.induced),
        }
        if tables:
            record["classes"] = [row.to_dict() for row in self.classes()]
        return record


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One induced tag by gold tags."""

    tag: str
    tokens: int
    many_to_one: str  # the gold tag it mostly is
    one_to_one: str | None  # the gold tag that the best matching gives it
    parts: tuple[tuple[str, int], ...]  # gold tag, tokens; most frequent first

    @property
    def purity(self) -> float:
        """The share of its most frequent gold tag."""
        return self.parts[0][1] / self.tokens

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "tag": self.tag,
            "tokens": self.tokens,
            "many_to_one": self.many_to_one,
            "one_to_one": self.one_to_one,
            "purity": self.purity,
            "parts": [list(part) for part in self.parts],
        }


def compare(gold: Iterable[Sequence[str]], induced: Iterable[Sequence[str]]) -> Comparison:
    """Count two taggings of the same sentences together; each sentence is a sequence of tags."""
    pairs: Counter[tuple[str, str]] = Counter()
    number = 0
    missing: Sequence[str] = ()
    left, right = iter(gold), iter(induced)
    for number, a in enumerate(left, 1):
        b = next(right, missing)
        if len(a) != len(b):
            raise ModelError(
                f"sentence {number} has {len(a)} gold tags and {len(b)} induced ones, expected equally many"
            )
        pairs.update(zip(a, b, strict=True))
    if any(len(extra) for extra in right):
        raise ModelError(f"there are induced tags after sentence {number}, the last with gold tags")
    if not pairs:
        raise ModelError("there is no tagged word to compare")
    return _table(pairs)


def _table(pairs: Counter[tuple[str, str]]) -> Comparison:
    gold = tuple(sorted({g for g, _ in pairs}))
    induced = tuple(sorted({t for _, t in pairs}))
    row = {g: i for i, g in enumerate(gold)}
    column = {t: i for i, t in enumerate(induced)}
    counts = np.zeros((len(gold), len(induced)), dtype=np.int64)
    for (g, t), count in pairs.items():
        counts[row[g], column[t]] = count
    return Comparison(gold, induced, counts)


def many_to_one(gold: Iterable[Sequence[str]], induced: Iterable[Sequence[str]]) -> float:
    """Return the many-to-one accuracy."""
    return compare(gold, induced).many_to_one


def one_to_one(gold: Iterable[Sequence[str]], induced: Iterable[Sequence[str]]) -> float:
    """Return the one-to-one accuracy under the best matching."""
    return compare(gold, induced).one_to_one


def v_measure(gold: Iterable[Sequence[str]], induced: Iterable[Sequence[str]]) -> float:
    """Return the V-measure."""
    return compare(gold, induced).v_measure


# -------------------------------------------------------------------- the numbers


def _explained(counts: NDArray[np.int64]) -> float:
    """1 - H(row | column) / H(row); 1 where all rows are one."""
    joint = counts / counts.sum()
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    entropy = -float(np.sum(rows * np.log(rows, where=rows > 0, out=np.zeros_like(rows))))
    if entropy <= 0.0:
        return 1.0
    given = np.divide(joint, columns, where=columns > 0, out=np.zeros_like(joint))
    logs = np.log(given, where=given > 0, out=np.zeros_like(given))
    return 1.0 + float(np.sum(joint * logs)) / entropy
