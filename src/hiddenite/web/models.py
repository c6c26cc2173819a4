"""What is served: the models that are loaded, examples to begin with, and the limits of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hiddenite.align.aligner import Aligner
from hiddenite.channel import Encoder, Keypad, Typo, TypoRates
from hiddenite.correct.corrector import Corrector
from hiddenite.ngram import NgramModel
from hiddenite.tag.tagger import Tagger


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may cost, and how many there may be. ``schema`` bounds what a request may hold."""

    body_bytes: int = 65_536
    body_seconds: float = 5.0  # for the body to arrive
    candidates: int = 2_000  # a position; a channel keeps the best of them
    quick_seconds: float = 0.1  # of work, before a request makes room for others
    seconds: float = 2.0  # of work, when it begins again
    wait_seconds: float = 2.0  # in line, at most
    steps: int = 2_000  # of a search that is watched
    states: int = 4_000  # of a search by refinement; one takes 8 bytes a candidate: 64 MB in all
    workers: int = 2  # quick requests at work at the same time
    waiting: int = 256  # requests in line behind them
    streams: int = 4  # searches that are watched at the same time


class SupportsToDict(Protocol):
    """A result."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""


class Generator(Protocol):
    """What the page asks of an HMM language model."""

    def generate(
        self,
        n: int = 1,
        *,
        length: int | None = None,
        max_length: int = 60,
        keywords: Sequence[str] = (),
        method: str = "sample",
        seed: int = 1,
        threads: int = 0,
    ) -> SupportsToDict:
        """Return sentences that hold the keywords, and the probability that a sentence does."""


@dataclass(frozen=True)
class Models:
    """The loaded models; a question about one that is None is refused."""

    lm: NgramModel | None = None
    tagger: Tagger | None = None
    aligner: Aligner | None = None
    generator: Generator | None = None
    corrector: Corrector | None = None
    names: Mapping[str, str] = field(default_factory=dict)  # what each is, in a few words
    examples: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # to begin with
    limits: Limits = Limits()
    files: Mapping[str, str] = field(default_factory=dict)  # where each is, for commands that ask the same

    _channels: dict[tuple[str, int], Keypad | Typo] = field(default_factory=dict, init=False, repr=False)

    def channel(self, name: str, noise: int) -> Keypad | Typo:
        """Return the channel at a level of noise; there are 22, each made once and kept.

        Level n of the keypad is k = 4096 / 2^n, of the keyboard 1 + 2 n errors in 100 keys.
        """
        if (name, noise) not in self._channels:
            self._channels[name, noise] = self._make_channel(name, noise)
        return self._channels[name, noise]

    def slips(self, noise: int) -> Encoder:
        """Return what makes slips at a level of noise, as the keyboard of that level expects them."""
        return Encoder(TypoRates(error_rate=0.01 + 0.02 * noise).model())

    def _make_channel(self, name: str, noise: int) -> Keypad | Typo:
        assert self.lm is not None
        keep = self.limits.candidates
        if name == "keypad":
            return Keypad(self.lm.vocabulary, 4096.0 / 2**noise, keep)
        return Typo(self.lm.vocabulary, rates=TypoRates(error_rate=0.01 + 0.02 * noise), keep=keep)
