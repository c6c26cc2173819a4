"""Answers of decode, sample and marginals as lines, text or JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hiddenite.cli.common import json_line
from hiddenite.jobs.batch import Outcome
from hiddenite.results import (
    Decoded,
    Failure,
    Hypothesis,
    KBest,
    Marginals,
    Sample,
    Samples,
    WordAnswer,
)

TOP_WORDS = 5  # of each position, in the marginals' text form

Result = WordAnswer | Failure


def outcome(result: Result, line: int, as_json: bool, as_text: Callable[[Any], str]) -> Outcome:
    """Return a record's line."""
    error = result.error if isinstance(result, Failure) else None
    return Outcome(_line(result, line, as_json, as_text), line, error, _is_exact(result))


def sure_outcome(
    observed: bytes, result: Result, posterior: Result, *, line: int, least: float, as_json: bool
) -> Outcome:
    """Return a record's line with words as they were observed where the best are not probable enough."""
    if isinstance(result, Failure) or isinstance(posterior, Failure):
        failure = result if isinstance(result, Failure) else posterior
        return outcome(failure, line, as_json, decoded_text)
    assert isinstance(result, Decoded)
    assert isinstance(posterior, Marginals)
    probs = [dict(slot).get(word, 0.0) for word, slot in zip(result.words, posterior.slots, strict=True)]
    pairs = zip(observed.decode().split(), result.words, probs, strict=True)
    made = [word if prob >= least else before for before, word, prob in pairs]
    if not as_json:
        return Outcome(" ".join(made) + "\n", line, None, _is_exact(result))
    record = {"id": line, "text": " ".join(made), "probabilities": probs}
    return Outcome(json_line(result.to_dict() | record), line, None, _is_exact(result))


def _is_exact(result: Result) -> bool:
    match result:
        case Decoded() | KBest():
            return result.certificate.exact
        case Samples():
            return result.exact
    return True


def _line(result: Result, line: int, as_json: bool, as_text: Callable[[Any], str]) -> str:
    """Return the record's line; a record without a name of its own has its line number."""
    if as_json:
        record = result.to_dict()
        return json_line(record | {"id": line} if record["id"] is None else record)
    return "\n" if isinstance(result, Failure) else as_text(result) + "\n"


def decoded_text(result: Decoded) -> str:
    """Return the words."""
    return " ".join(result.words)


def kbest_text(result: KBest[Hypothesis]) -> str:
    """Return a line a hypothesis, and an empty one."""
    return "\n".join(f"{h.log_weight:.6f}\t{' '.join(h.words)}" for h in result) + "\n"


def samples_text(result: Samples[Sample]) -> str:
    """Return a line a distinct draw, and an empty one."""
    return "\n".join(f"{s.count}\t{s.log_weight:.6f}\t{' '.join(s.words)}" for s in result.samples) + "\n"


def marginals_text(result: Marginals) -> str:
    """Return each position's most probable words."""
    slots = [" ".join(f"{word}:{prob:.4f}" for word, prob in slot[:TOP_WORDS]) for slot in result.slots]
    if result.spans:  # a lattice's slots are known by their nodes
        slots = [f"{a}-{b} {slot}" for (a, b), slot in zip(result.spans, slots, strict=True)]
    return "\t".join(slots)
