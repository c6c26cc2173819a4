"""What a corrector answers: immutable records whose ``to_dict`` is the JSON of ``hiddenite correct``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hiddenite.results import Certificate


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another reading of the same words."""

    text: str
    probability: float

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"text": self.text, "probability": self.probability}


@dataclass(frozen=True, slots=True)
class Change:
    """Words that change."""

    start: int  # characters of the text
    end: int
    old: str
    new: str
    probability: float  # calibrated
    posterior: float  # the marginal, right to 1e-6
    alternatives: tuple[Alternative, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "start": self.start,
            "end": self.end,
            "old": self.old,
            "new": self.new,
            "probability": self.probability,
            "posterior": self.posterior,
            "alternatives": [one.to_dict() for one in self.alternatives],
        }


@dataclass(frozen=True, slots=True)
class Correction:
    """A text with its changes applied; everything else is as it was."""

    text: str
    changes: tuple[Change, ...]
    certificate: Certificate  # of the best reading, before improbable changes were taken back

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "text": self.text,
            "changes": [one.to_dict() for one in self.changes],
            "certificate": self.certificate.to_dict(),
        }
