"""The options of training; ``cpp/hiddenite/align/gibbs.hpp`` has the formulas and the defaults.

The number of sweeps and of chains is chosen from the size of the corpus unless it is given. What is spent is
what other aligners cost: about 9,600 / pairs^0.45 sweeps in all, beyond 250,000 pairs fewer. A second chain,
which begins elsewhere and ends in another of the ways to explain the text, is worth more than a longer first
one, until chains are too short to settle: at equal cost three chains of 25 sweeps beat two of 37 and four of
18 (100,000 pairs). So the number of chains and their length both grow with the root of what is spent. One
sweep of a chain in 25 is with the lexicon alone: the first links, drawn by how often words meet, are as good
as what more of them give.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

from hiddenite._core import GibbsOptions
from hiddenite.align.fertilities import ESTIMATORS
from hiddenite.options import Options, option

_CORE = GibbsOptions()
_ALL_SWEEPS, _POWER = 9_600, 0.45  # times 1 / pairs^power: what is spent
_SHARES = {"model1_sweeps": 0.04, "hmm_sweeps": 0.16, "fertility_sweeps": 0.8}
_MOST_SENTENCES = 9_000_000  # all sweeps together, of texts that leave a chain long enough
_CHAIN = 7  # sweeps of a chain for each chain there is
_SHORTEST, _LONGEST = 17, 48  # sweeps of a chain
_MOST_CHAINS = 9
_LARGEST_FERTILITY = 250
_MOST_JUMP_WORDS = 10_000
_TYPES = {
    "model1_sweeps": int,
    "hmm_sweeps": int,
    "fertility_sweeps": int,
    "chains": int,
    "ending_weight": float,
    "jump_words": int,
}


_SWEEP = {"least": 0, "most": 100_000}
_PRIOR = {"least": 1e-300, "most": 1e6}
_WEIGHT = {"least": 0, "most": 1e6}


@dataclass(frozen=True)
class AlignerOptions(Options):
    """How an aligner is trained."""

    model1_sweeps: int | None = option(None, "With the lexicon alone; by the corpus' size if None.", **_SWEEP)
    hmm_sweeps: int | None = option(None, "With jumps.", **_SWEEP)
    fertility_sweeps: int | None = option(
        None, "With fertilities; the second half is averaged.", least=2, most=100_000
    )
    chains: int | None = option(None, "Independent runs to average.", least=1, most=1000)
    normalize: bool = option(True, "Learn from the text in lower case and in Unicode's composed form.")
    string_prior: bool = option(True, "Words spelt alike are likelier translations.")
    fertilities: str = option("categorical", "How fertilities are smoothed.", choices=tuple(ESTIMATORS))
    coupling: float = option(
        _CORE.coupling, "Weight of a link that the other direction has too.", least=1e-6, most=1e6
    )
    lexicon_prior: float = option(_CORE.lexicon_prior, "Of a pair of words.", **_PRIOR)
    stem_weight: float = option(_CORE.stem_weight, "Of the lexicon of 4-letter stems.", **_WEIGHT)
    stem_prior: float = option(_CORE.stem_prior, "Of a pair of stems.", **_PRIOR)
    ending_weight: float | None = option(
        None,
        f"Of the lexicon of endings, in training; if None, {_CORE.ending_weight:g} for the links of the text "
        "itself, 0 for a model of new text.",
        **_WEIGHT,
    )
    ending_prior: float = option(_CORE.ending_prior, "Of a word's frequency in that lexicon.", **_PRIOR)
    null_probability: float = option(_CORE.null_probability, "Of NULL.", least=1e-6, most=1 - 1e-6)
    null_prior: float = option(_CORE.null_prior, "Of a pair with NULL.", **_PRIOR)
    fertility_weight: float = option(
        _CORE.fertility_weight, "Of all words' fertilities in a word's own.", **_WEIGHT
    )
    max_fertility: int = option(_CORE.max_fertility, "Largest fertility.", least=1, most=_LARGEST_FERTILITY)
    max_jump: int = option(_CORE.max_jump, "Longest jump that is told apart.", least=1, most=100_000)
    uniform_jump: float = option(_CORE.uniform_jump, "Share of jumps to anywhere.", least=1e-6, most=1)
    jump_words: int | None = option(
        None,
        f"Frequent words with jumps of their own, in training; if None, {_CORE.jump_words} for the links of "
        "the text itself, 0 for a model of new text.",
        least=0,
        most=_MOST_JUMP_WORDS,
    )
    jump_weight: float = option(_CORE.jump_weight, "Of all words' jumps in such a word's own.", **_WEIGHT)
    diagonal: float = option(_CORE.diagonal, "How close to the diagonal the first links are.", **_WEIGHT)

    def for_new_text(self) -> AlignerOptions:
        """Leave out what a model that is kept does not have: endings and words' jumps, unless asked for."""
        return dataclasses.replace(
            self, ending_weight=self.ending_weight or 0.0, jump_words=self.jump_words or 0
        )

    def for_corpus(self, num_pairs: int) -> AlignerOptions:
        """Fill in what depends on the number of sentence pairs, and what links of the text itself need."""
        pairs = max(num_pairs, 1)
        spent = min(_ALL_SWEEPS / pairs**_POWER, _MOST_SENTENCES / pairs)
        chains = max(1, min(round(math.sqrt(spent / _CHAIN)), int(spent / _SHORTEST), _MOST_CHAINS))
        length = min(max(spent / chains, _SHORTEST), _LONGEST)
        chosen: dict[str, Any] = {name: max(1, round(share * length)) for name, share in _SHARES.items()}
        chosen |= {"chains": chains}
        chosen |= {name: getattr(_CORE, name) for name in ("ending_weight", "jump_words")}
        given = {name: getattr(self, name) for name in chosen if getattr(self, name) is not None}
        return dataclasses.replace(self, **(chosen | given))

    def core(self) -> GibbsOptions:
        """Return the core's form; what depends on the corpus must be filled in."""
        options = GibbsOptions()
        for name, value in dataclasses.asdict(self).items():
            if name not in ("normalize", "string_prior", "fertilities"):
                assert value is not None, name
                setattr(options, name, value)
        return options

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> AlignerOptions:
        """Take what ``dataclasses.asdict`` gave; raises TypeError or ModelError for anything else."""
        # Models of earlier versions learnt from the text as it was, and knew no endings and no words' jumps.
        endings = {"ending_weight": 0.0, "ending_prior": 1.0}
        jumps = {"jump_words": 0, "jump_weight": _CORE.jump_weight}
        fields = {"normalize": False, **endings, **jumps, **fields}
        for field in dataclasses.fields(cls):
            value = fields.get(field.name)
            wanted = _TYPES.get(field.name, type(field.default))
            if isinstance(value, int) and wanted is float and not isinstance(value, bool):
                value = float(value)
            if type(value) is not wanted:
                raise TypeError(f"{field.name} is {value!r}, expected {wanted.__name__}")
        return cls(**fields)
