"""Answers of a hidden Markov language model: immutable records whose ``to_dict`` is the command's JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite.records import equal_fields, json_number


@dataclass(frozen=True, slots=True, eq=False)
class StateDistribution:
    """States at one position; those not listed have probability zero."""

    member: NDArray[np.uint32]  # of the mixture
    state: NDArray[np.uint32]
    probability: NDArray[np.float64]

    def __eq__(self, other: object) -> bool:
        return equal_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    def best(self) -> tuple[int, int]:
        """Return the most probable member and state."""
        i = int(np.argmax(self.probability))
        return int(self.member[i]), int(self.state[i])


@dataclass(frozen=True, slots=True)
class StatePath:
    """The best states of a sentence."""

    words: tuple[str, ...]
    member: int
    states: tuple[int, ...]  # that of </s> last, if the model has it
    log_prob: float  # ln p(words, member, states)


@dataclass(frozen=True, slots=True)
class GeneratedSentence:
    """A sentence that satisfies the constraint."""

    words: tuple[str, ...]
    log_prob: float  # ln p(words), states summed out
    member: int
    states: tuple[int, ...]  # it was drawn with, or the best

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"words": list(self.words), "log_prob": json_number(self.log_prob)}


@dataclass(frozen=True, slots=True)
class Generated:
    """Sentences under a constraint."""

    sentences: tuple[GeneratedSentence, ...]
    log_prob: float  # ln of the probability that a sentence of the model satisfies the constraint, exactly

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "sentences": [s.to_dict() for s in self.sentences],
            "constraint_log_prob": json_number(self.log_prob),
        }


@dataclass(frozen=True, slots=True)
class Infilled:
    """Words for the gaps of a sentence."""

    words: tuple[str, ...]  # each gap filled with its most probable word
    gaps: tuple[int, ...]  # positions
    candidates: tuple[tuple[tuple[str, float], ...], ...]  # of each gap: words with p(word | the rest)
    log_prob: float  # ln of the probability of all that is given

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "words": list(self.words),
            "gaps": [
                {"position": p, "candidates": [list(c) for c in row]}
                for p, row in zip(self.gaps, self.candidates, strict=True)
            ],
            "log_prob": json_number(self.log_prob),
        }


@dataclass(frozen=True, slots=True, eq=False)
class StateUsage:
    """How a text uses the states (Chiu & Rush 2020, tables 4 and 5); entropies in nats."""

    visits: NDArray[np.float64]  # [state]: expected number
    occupancy: float  # share of the states with at least one expected visit
    emission_entropy: float  # mean over states of H(word | state)
    transition_entropy: (
        float  # mean over states of H(next state | state); NaN: not known, of a lexicalised model
    )

    def __eq__(self, other: object) -> bool:
        return equal_fields(self, other)

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "states": len(self.visits),
            "occupancy": self.occupancy,
            "emission_entropy": self.emission_entropy,
            "transition_entropy": json_number(self.transition_entropy),
        }
