"""The Hansards as benchmarks take them: training text with the test sentences in front."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hiddenite.align import Aligner, Bitext, Training
from hiddenite.align.evaluation import score
from hiddenite.align.links import GoldLinks, Link, read_gold

PREFIX = 4  # letters of a word in the "prefixes" texts
Pair = tuple[str, str]


@dataclass(frozen=True)
class Size:
    """How much to measure."""

    pairs: int | None  # training pairs; None: all
    sentences: int
    runs: int  # seeds a mean is taken over
    sweeps: int  # of the Gibbs chains that the sampler is compared with


@functools.cache
def directory() -> Path:
    """Return where the text lies."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("HIDDENITE_DATA", beside)) / "align" / "hansards"


@functools.cache
def pairs(part: str) -> list[Pair]:
    """Return the sentence pairs of train, dev or test."""
    sides = [
        (directory() / f"{part}.{code}").read_text(encoding="utf-8").split("\n")[:-1] for code in ("en", "fr")
    ]
    return list(zip(*sides, strict=True))


@functools.cache
def gold(part: str = "test") -> list[GoldLinks]:
    """Return the gold links of dev or test."""
    return read_gold(directory() / f"{part}.gold")


def text(num_pairs: int | None, part: str = "test") -> list[Pair]:
    """Return the sentences of dev or test and so many training pairs behind them."""
    return pairs(part) + pairs("train")[:num_pairs]


def prefixes(text: Iterable[Pair]) -> list[Pair]:
    """Cut all words to their first letters."""
    return [tuple(" ".join(w[:PREFIX] for w in side.split()) for side in pair) for pair in text]  # type: ignore[misc]


@functools.cache
def trained(num_pairs: int | None, seed: int = 1) -> Training:
    """Return a finished training."""
    return Training(Bitext.of(text(num_pairs)), seed=seed, threads=1).run()


@functools.cache
def aligner(num_pairs: int | None, seed: int = 1) -> Aligner:
    """Return what that training learnt."""
    return Aligner.from_training(trained(num_pairs, seed))


def error_rate(links: Sequence[Iterable[Link]], part: str = "test") -> float:
    """Return the alignment error rate in percent; the sentences with gold links come first."""
    return 100 * score(gold(part), links[: len(gold(part))]).aer
