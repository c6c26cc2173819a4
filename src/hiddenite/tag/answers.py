"""What a tagger answers: immutable records whose ``to_dict`` is the JSON of ``hiddenite tag``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hiddenite.records import json_number
from hiddenite.results import Certificate, KBest, Marginals, Proof, Samples


@dataclass(frozen=True, slots=True)
class Tagged:
    """A sentence with its best tags and the proof that they are."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    log_weight: float  # sum of ln p(tag | tags before) + ln p(word | tag), </s> included
    certificate: Certificate
    expected_errors: float | None = None  # under objective="mbr": tags wrong on average
    id: str | int | None = None
    proof: Proof | None = None  # if it was asked for; not part of the JSON

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return zip(self.words, self.tags, strict=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        record: dict[str, Any] = {
            "id": self.id,
            "words": list(self.words),
            "tags": list(self.tags),
            "log_weight": json_number(self.log_weight),
        }
        if self.expected_errors is not None:
            record["expected_errors"] = self.expected_errors
        return record | {"certificate": self.certificate.to_dict()}


@dataclass(frozen=True, slots=True)
class TagSequence:
    """Tags of a sentence and their log weight."""

    tags: tuple[str, ...]
    log_weight: float

    @property
    def items(self) -> tuple[str, ...]:
        """The tags."""
        return self.tags

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"tags": list(self.tags), "log_weight": json_number(self.log_weight)}


@dataclass(frozen=True, slots=True)
class TagSample:
    """A tag sequence and how often it was drawn."""

    tags: tuple[str, ...]
    log_weight: float
    count: int

    @property
    def items(self) -> tuple[str, ...]:
        """The tags."""
        return self.tags

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"tags": list(self.tags), "log_weight": json_number(self.log_weight), "count": self.count}


TagAnswer = Tagged | KBest[TagSequence] | Samples[TagSample] | Marginals
