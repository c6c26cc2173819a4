"""What training can be told; ``cpp/hiddenite/align/gibbs.hpp`` has the formulas and the defaults.

The number of sweeps and of chains is chosen from the size of the corpus unless it is given: small corpora mix
slowly and cost little, so they get more of both.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

from hiddenite._core import GibbsOptions
from hiddenite.align.fertilities import check_name
from hiddenite.errors import ModelError

_CORE = GibbsOptions()
_MEDIUM = 100_000  # sentence pairs that get as many sweeps as the core's defaults have
_SWEEPS = {"model1_sweeps": (4, 25), "hmm_sweeps": (4, 25), "fertility_sweeps": (16, 100)}  # least, most
_MOST_CHAINS = 3
_LARGEST_FERTILITY = 250
_SIZES = ("model1_sweeps", "hmm_sweeps", "fertility_sweeps", "chains")


@dataclass(frozen=True, slots=True)
class AlignerOptions:
    """How an aligner is trained."""

    model1_sweeps: int | None = None  # sweeps with the lexicon alone; None: by the size of the corpus
    hmm_sweeps: int | None = None  # with jumps
    fertility_sweeps: int | None = None  # with fertilities; the second half is averaged
    chains: int | None = None  # independent runs whose results are averaged
    string_prior: bool = True  # words spelt alike are likelier translations
    fertilities: str = "categorical"  # how histograms are smoothed: see hiddenite.align.fertilities
    coupling: float = _CORE.coupling  # weight of a link that the other direction has too
    lexicon_prior: float = _CORE.lexicon_prior
    stem_weight: float = _CORE.stem_weight  # of the lexicon of 4-letter stems
    stem_prior: float = _CORE.stem_prior
    null_probability: float = _CORE.null_probability
    null_prior: float = _CORE.null_prior
    fertility_weight: float = _CORE.fertility_weight  # of all words' fertilities in a word's own
    max_fertility: int = _CORE.max_fertility
    max_jump: int = _CORE.max_jump
    uniform_jump: float = _CORE.uniform_jump
    diagonal: float = _CORE.diagonal  # how close to the diagonal the first links are

    def __post_init__(self) -> None:
        check_name(self.fertilities)
        for name, value in dataclasses.asdict(self).items():
            if value is not None and not isinstance(value, bool | str) and not math.isfinite(value):
                raise ModelError(f"{name} is {value}, expected a finite number")
        for name in ("model1_sweeps", "hmm_sweeps"):
            _require(self, name, 0, 100_000)
        _require(self, "fertility_sweeps", 2, 100_000)
        _require(self, "chains", 1, 1000)
        _require(self, "max_fertility", 1, _LARGEST_FERTILITY)
        _require(self, "max_jump", 1, 100_000)
        for name in ("lexicon_prior", "stem_prior", "null_prior"):
            _require(self, name, 1e-300, 1e6)
        for name in ("stem_weight", "fertility_weight", "diagonal"):
            _require(self, name, 0.0, 1e6)
        _require(self, "coupling", 1e-6, 1e6)
        _require(self, "null_probability", 1e-6, 1 - 1e-6)
        _require(self, "uniform_jump", 1e-6, 1.0)

    def for_corpus(self, num_pairs: int) -> AlignerOptions:
        """Fill in what depends on the number of sentence pairs."""
        ratio = _MEDIUM / max(num_pairs, 1)
        chosen = {
            name: round(min(max(getattr(_CORE, name) * ratio**0.3, low), high))
            for name, (low, high) in _SWEEPS.items()
        }
        chosen["chains"] = round(min(max(math.sqrt(ratio), 1), _MOST_CHAINS))
        given = {name: getattr(self, name) for name in chosen if getattr(self, name) is not None}
        return dataclasses.replace(self, **(chosen | given))

    def core(self) -> GibbsOptions:
        """Return the core's form; what depends on the corpus must be filled in."""
        options = GibbsOptions()
        for name, value in dataclasses.asdict(self).items():
            if name not in ("chains", "string_prior", "fertilities"):
                assert value is not None, name
                setattr(options, name, value)
        return options

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> AlignerOptions:
        """Take what ``dataclasses.asdict`` gave; raises TypeError or ModelError for anything else."""
        for field in dataclasses.fields(cls):
            value = fields.get(field.name)
            wanted = type(field.default) if field.name not in _SIZES else int
            if isinstance(value, int) and wanted is float and not isinstance(value, bool):
                value = float(value)
            if type(value) is not wanted:
                raise TypeError(f"{field.name} is {value!r}, expected {wanted.__name__}")
        return cls(**fields)


def _require(options: AlignerOptions, name: str, low: float, high: float) -> None:
    value = getattr(options, name)
    if value is not None and not low <= value <= high:
        raise ModelError(f"{name} is {value}, expected {low:g} to {high:g}")
