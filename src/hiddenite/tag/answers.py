"""What a tagger answers: immutable records whose ``to_dict`` is the JSON of ``hiddenite tag``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hiddenite.results import Certificate, json_number


@dataclass(frozen=True, slots=True)
class Tagged:
    """A sentence with its best tags and the proof that they are."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    log_weight: float  # sum of ln p(tag | tags before) + ln p(word | tag), </s> included
    certificate: Certificate
    expected_errors: float | None = None  # under objective="mbr": tags wrong on average
    id: str | int | None = None

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

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"tags": list(self.tags), "log_weight": json_number(self.log_weight)}


@dataclass(frozen=True, slots=True)
class TagKBest:
    """The k best tag sequences, best first; fewer if there are fewer."""

    words: tuple[str, ...]
    sequences: tuple[TagSequence, ...]
    certificate: Certificate
    id: str | int | None = None

    def __len__(self) -> int:
        return len(self.sequences)

    def __iter__(self) -> Iterator[TagSequence]:
        return iter(self.sequences)

    def __getitem__(self, i: int) -> TagSequence:
        return self.sequences[i]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "id": self.id,
            "words": list(self.words),
            "kbest": [s.to_dict() for s in self.sequences],
            "certificate": self.certificate.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class TagSample:
    """A tag sequence and how often it was drawn."""

    tags: tuple[str, ...]
    log_weight: float
    count: int

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"tags": list(self.tags), "log_weight": json_number(self.log_weight), "count": self.count}


@dataclass(frozen=True, slots=True)
class TagSamples:
    """Independent draws from the posterior; iterates over the draws in order."""

    words: tuple[str, ...]
    samples: tuple[TagSample, ...]  # distinct, most frequent first
    draws: tuple[int, ...]  # places in ``samples``, in the order of drawing
    log_partition: float | None  # ln p(words), the sum over all tag sequences; None: too few draws to tell
    log_partition_error: float | None  # its standard error; 0 if it is exact
    exact: bool  # as many draws as were asked for
    method: str
    id: str | int | None = None

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return (self.samples[i].tags for i in self.draws)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "id": self.id,
            "words": list(self.words),
            "samples": [s.to_dict() for s in self.samples],
            "count": len(self.draws),
            "log_partition": json_number(self.log_partition),
            "log_partition_error": json_number(self.log_partition_error),
            "exact": self.exact,
            "method": self.method,
        }


@dataclass(frozen=True, slots=True)
class TagMarginals:
    """Per word, each tag's posterior probability, most probable first."""

    words: tuple[str, ...]
    slots: tuple[tuple[tuple[str, float], ...], ...]
    log_partition: float  # ln of the sum of all tag sequences' weights
    id: str | int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object; tags of probability zero are left out."""
        slots = [[[tag, prob] for tag, prob in slot if prob > 0] for slot in self.slots]
        return {
            "id": self.id,
            "words": list(self.words),
            "slots": slots,
            "log_partition": json_number(self.log_partition),
        }


TagAnswer = Tagged | TagKBest | TagSamples | TagMarginals
