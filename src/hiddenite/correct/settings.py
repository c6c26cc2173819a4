"""How a corrector decides: rates of errors, limits of the search, thresholds, and the map to probabilities.

``kind`` says what the errors are like: ``typing`` (slips of the hand and of spelling), ``ocr`` (a machine's),
``normalise`` (spellings that were chosen: chat, tweets). It sets the defaults; learning replaces the rates by
what was counted.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from hiddenite._core import SlipKind
from hiddenite.errors import ModelError, UnknownSymbolError, near_spellings

KINDS = ("typing", "ocr", "normalise")


@dataclass(frozen=True, slots=True)
class Rates:
    """How often things go wrong; each is a probability."""

    word: float = 0.03  # a word is wrong
    capital: float = 0.006  # a capitalised word inside a sentence is wrong
    split: float = 0.001  # two words are written as one
    merge: float = 0.001  # a word is written as two
    hyphen: float = 0.5  # a hyphen before white space is no part of the word
    glue: float = 0.001  # punctuation stands inside a word
    spurious: float = 0.001  # a short token stands for nothing

    def to_list(self) -> list[float]:
        """Return the rates as the core wants them."""
        return list(asdict(self).values())


@dataclass(frozen=True, slots=True)
class Calibration:
    """From exact marginals to probabilities that can be trusted.

    p = 1 / (1 + exp(-(offset + slope logit(posterior) + known [the word as seen is a known one])))
    """

    offset: float = 0.0
    slope: float = 1.0
    known: float = 0.0

    def __call__(self, posterior: float, was_known: bool) -> float:
        """Return the probability that a change is right."""
        x = logit(posterior)
        z = self.offset + self.slope * x + (self.known if was_known else 0.0)
        return 1 / (1 + math.exp(-z)) if z > -700 else 0.0


def logit(p: float) -> float:
    """Return ln(p / (1 - p)), with p kept a little away from 0 and 1."""
    p = min(max(p, 1e-6), 1 - 1e-6)
    return math.log(p / (1 - p))


@dataclass(frozen=True, slots=True)
class Settings:
    """All numbers of a corrector."""

    kind: str = "typing"
    rates: Rates = Rates()
    memory_weight: float = 5.0  # K: learnt pairs count against so many; 0: they are not remembered
    map_power: float = 0.0  # of normalisation: lambda
    keep: int = 17  # candidates of a word, itself included
    least_unknown: float = (
        -16.0
    )  # ln p_edit below which no candidate is looked for; the word as seen is unknown
    least_known: float = -10.0  # ... or known
    beam: float = 10.0  # candidates score at most so much less than the best
    max_prefixes: int = 50  # prefixes of words that a search opens, half as many for known words
    num_alike: int = 100  # words that share pairs of letters and are weighed first
    trusts_list: bool = True  # rare words of the model that the word list lacks are unknown
    rare_below: int = 12
    threshold: float = 0.5  # least probability of a change
    careful_threshold: float = 0.9
    known_threshold: float = 0.9  # of words that are right by themselves; learning and tuning set it
    calibration: Calibration = Calibration()

    @property
    def slip_kind(self) -> SlipKind:
        """The kind of errors within words."""
        return SlipKind.OCR if self.kind == "ocr" else SlipKind.TYPING

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Settings:
        """Return what :meth:`to_dict` gave."""
        given = dict(fields)
        given["rates"] = Rates(**given["rates"])
        given["calibration"] = Calibration(**given["calibration"])
        return cls(**given)


def default_settings(kind: str) -> Settings:
    """Return the settings of a kind before anything was learnt."""
    if kind not in KINDS:
        raise UnknownSymbolError("kind", kind, near_spellings(kind, KINDS) or KINDS)
    if kind == "ocr":
        rates = Rates(word=0.1, capital=0.05, split=0.004, merge=0.004, hyphen=0.7, glue=0.01, spurious=0.01)
        plain = Settings("ocr", rates, memory_weight=0.0, trusts_list=False)
        return replace(plain, known_threshold=0.8, least_unknown=-20.0)
    if kind == "normalise":
        return Settings(
            "normalise", map_power=3.0, threshold=0.7, careful_threshold=0.95, known_threshold=0.7
        )
    return Settings()


def check_probability(name: str, value: object) -> None:
    """Raise ModelError for what is no probability."""
    if not (isinstance(value, int | float) and 0 <= value <= 1):
        raise ModelError(f"{name} is {value}, expected a probability from 0 to 1")
