"""Samplers of the Pitman–Yor HMM on one text: sentences, exact or filtered, types, tokens, one tag a word.

Particle filters are those of Dubbin & Blunsom (2012), conditioned on the present tags as they must be to be
valid. A type's tokens are drawn whole, without resampling, as published. The one-tag sampler is ours, which
needs no fractional tables.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from induce_runs import FILES
from sms import DATA

from experiments.induction import Corpus, induced

SPEED_TAGS = (15, 45)
PARTICLES = 100
SAMPLERS: dict[str, dict[str, Any]] = {
    "sent-exact": {"model": "pyp", "sampler": "sentence"},
    "sent-25": {"model": "pyp", "sampler": "sentence-pf", "particles": 25},
    "sent-50": {"model": "pyp", "sampler": "sentence-pf", "particles": 50},
    "sent-100": {"model": "pyp", "sampler": "sentence-pf", "particles": PARTICLES},
    "type-100": {"model": "pyp", "sampler": "type", "particles": PARTICLES, "chunk": 0},
    "local": {"model": "pyp", "sampler": "local"},
    "1hmm": {"model": "one-tag"},
    "1hmm-lm": {"model": "one-tag+lm"},
}


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    sentences: int
    sweeps: int
    local_sweeps: int  # as the paper gives the local sampler more
    name: str = "wsj"  # of the text

    @property
    def corpus(self) -> Corpus:
        """The text; where it is not there, the one that always is."""
        is_there = all((DATA / "tagged" / file).exists() for file in FILES[self.name])
        return Corpus(self.name if is_there else "wsj", self.sentences)


SIZES = {
    "tiny": Size(40, 4, 6),
    "small": Size(400, 40, 100),
    "reduced": Size(400, 200, 500),
    "full": Size(1_686, 200, 500, "arabic"),  # 54,389 words; the paper's Arabic has 54,379
}
SEEDS, FULL_SEEDS = (1, 2), (1, 2, 3)
ONCE = {"type-100"}  # takes as long as all others


def sampler_run(name: str, seed: int, size: Size) -> dict[str, Any]:
    """Run one sampler with one seed."""
    sweeps = size.local_sweeps if name == "local" else size.sweeps
    found = induced(size.corpus, iterations=sweeps, seed=seed, **SAMPLERS[name])
    del found["classes"]
    return found


def speed(size: Size) -> dict[str, Any]:
    """Processor time of a sweep by the number of tags: exact sentences and the filter of 100 particles."""
    corpus = dataclasses.replace(size.corpus, limit=max(20, size.sentences // 4))
    found: dict[str, dict[int, float]] = {}
    for name in ("sent-exact", "sent-100"):
        found[name] = {}
        for tags in SPEED_TAGS:
            run = induced(corpus, num_tags=tags, iterations=5, seed=1, **SAMPLERS[name])
            found[name][tags] = run["seconds"] / run["sweeps"] / run["tokens"]
    return found


Pieces = dict[str, Callable[[Size], dict[str, Any]]]


def _pieces(seeds: Sequence[int], once: Collection[str]) -> Pieces:
    runs: Pieces = {
        f"{name}-{seed}": functools.partial(sampler_run, name, seed)
        for seed in seeds
        for name in SAMPLERS
        if seed == 1 or name not in once
    }
    return runs | {"speed": speed}


PIECES, FULL_PIECES = _pieces(SEEDS, ONCE), _pieces(FULL_SEEDS, ())
