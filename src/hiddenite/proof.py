"""Proofs as data: why an answer is the best of all, for those who do not trust the engine.

:func:`prove` takes an answer, whatever method found it, and returns it with its proof
(``cpp/hiddenite/exact/witness.hpp``); :func:`write_proofs` puts proofs in a file; :func:`verify` checks it
with :mod:`hiddenite.checker.ngram`, which knows the ARPA file and the proof and shares no code with the
engine. A proof is about the search: that no other choice among the stated candidates, with the stated
weights, weighs more under the model. Whether these are what the channel should give is not part of it.

A proof file is JSON lines: a header with the format and the model's fingerprint, a record per answer, and a
last line with their number.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, Protocol

from hiddenite._core import prove as core_prove
from hiddenite.candidates import Candidates
from hiddenite.errors import BudgetExceeded, FormatError, ModelError
from hiddenite.files.output import atomic_output
from hiddenite.ngram import NgramModel
from hiddenite.results import Decoded, Proof

MAX_REFINEMENTS = 100_000  # of one proof; a message of ten words takes about fifty
_UNLIMITED = 2**64 - 1


def prove(
    lm: NgramModel,
    candidates: Candidates,
    answer: Decoded,
    *,
    end: bool = True,
    seconds: float = math.inf,
    refinements: int = MAX_REFINEMENTS,
) -> Decoded:
    """Return the answer with its proof; raises BudgetExceeded if that takes too long.

    The answer must be one of ``decode`` for the same model and candidates, and certified.
    """
    if not answer.certificate.exact:
        raise BudgetExceeded("the answer is not certified, so there is nothing to prove", answer)
    ids = [lm.vocabulary.id(word) for word in answer.words]
    complete, positions, done, states = core_prove(
        lm._table, candidates.reading, ids, end, seconds, refinements, _UNLIMITED
    )
    if not complete:
        raise BudgetExceeded(f"no proof within {done:,} refinements, {states:,} states", answer)
    word = lm.vocabulary.__getitem__
    proof = Proof(
        answer.words,
        answer.log_weight,
        end,
        tuple(tuple(candidates.slot(i)) for i in range(len(candidates))),
        tuple(
            tuple((" ".join(map(word, known)), c, upper) for known, c, upper in rows) for rows in positions
        ),
        done,
        answer.id,
    )
    return dataclasses.replace(answer, proof=proof)


# -------------------------------------------------------------------- writing


class _Record(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


class ProofWriter:
    """Writes the records of a proof file in order, whichever thread has them first."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._waiting: dict[int, list[bytes]] = {}  # by the number of records before
        self.count = 0

    def begin(self, header: dict[str, Any]) -> None:
        """Write the header: the format, and the model that all records are about."""
        self._out.write(_line(header))

    def add(self, first: int, records: Sequence[tuple[str | int | None, _Record | str]]) -> None:
        """Take records, before which ``first`` stand: the id, and the proof or why there is none."""
        lines = [_line(_record(name, proof)) for name, proof in records]
        with self._lock:
            if lines:
                self._waiting[first] = lines
            while ready := self._waiting.pop(self.count, None):
                self._out.write(b"".join(ready))
                self.count += len(ready)

    def finish(self) -> None:
        """Write the line that says that the file is complete."""
        self._out.write(_line({"records": self.count}))


def header_of(lm: NgramModel) -> dict[str, Any]:
    """Return the header of proofs under a language model."""
    from hiddenite.checker import ngram as checker  # noqa: PLC0415  (who asks for no proof needs no checker)

    return {"format": checker.FORMAT, "version": checker.VERSION, "model": lm.fingerprint}


def _record(name: str | int | None, proof: _Record | str) -> dict[str, Any]:
    return {"id": name, "error": proof} if isinstance(proof, str) else proof.to_dict() | {"id": name}


def _line(record: dict[str, Any]) -> bytes:
    return (json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n").encode()


@contextlib.contextmanager
def proof_output(path: str | os.PathLike[str]) -> Iterator[ProofWriter]:
    """Open a proof file, written whole or not at all, compressed by its name."""
    with atomic_output(path) as out:
        writer = ProofWriter(out)
        yield writer
        writer.finish()


def write_proofs(path: str | os.PathLike[str], lm: NgramModel, answers: Iterable[Decoded | Proof]) -> None:
    """Write the proofs of answers (``decode(..., proof=True)``) under one model."""
    with proof_output(path) as writer:
        writer.begin(header_of(lm))
        for answer in answers:
            proof = answer.proof if isinstance(answer, Decoded) else answer
            if proof is None:
                raise ModelError(f"answer {writer.count + 1} has no proof; decode it with proof=True")
            writer.add(writer.count, [(proof.id, proof)])


# ------------------------------------------------------------------- checking


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checker says of one record."""

    id: str | int | None
    accepted: bool
    gap: float  # how far the optimum can lie above the answer: rounding; infinite if it is not accepted
    reason: str = ""  # why it is not accepted

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        gap = self.gap if self.accepted else None
        return {"id": self.id, "accepted": self.accepted, "gap": gap, "reason": self.reason or None}


def verify(lm: str | os.PathLike[str], proof: str | os.PathLike[str]) -> Iterator[Verdict]:
    """Check a proof file against the ARPA file of its model; give a verdict for each record.

    A file that is damaged, not complete or about another model is a FormatError, after the verdicts before.
    """
    from hiddenite.checker import ngram as checker  # noqa: PLC0415  (who asks for no proof needs no checker)

    try:
        model = checker.Model(checker.read_lines(os.fspath(lm)))
    except (checker.Refused, OSError, EOFError, ValueError, LookupError, AttributeError) as error:
        raise FormatError(os.fspath(lm), None, f"cannot be read as an ARPA file: {error}") from None
    name = os.fspath(proof)
    yield from _verdicts(name, checker.check_lines(model, checker.read_lines(name)))


def verify_alignments(model: str | os.PathLike[str], proof: str | os.PathLike[str]) -> Iterator[Verdict]:
    """Do the same with proofs of alignments and the file of their model."""
    from hiddenite.checker import alignment as checker  # noqa: PLC0415  (who asks for no proof needs no checker)

    try:
        read = checker.read_model(os.fspath(model))
    except OSError as error:
        raise FormatError(os.fspath(model), None, f"cannot be opened: {error.strerror or error}") from None
    except Exception as error:  # whatever damage makes of it
        raise FormatError(
            os.fspath(model), None, f"cannot be read as an alignment model: {error!r}"
        ) from None
    name = os.fspath(proof)
    yield from _verdicts(name, checker.check_lines(read, checker.read_lines(name)))


def _verdicts(name: str, results: Iterator[tuple[Any, float, str]]) -> Iterator[Verdict]:
    last = next(results)  # the last of all is about the file
    for result in results:
        record, gap, reason = last
        yield Verdict(record, not reason, gap, reason)
        last = result
    if fault := last[2]:
        raise FormatError(name, None, fault)
