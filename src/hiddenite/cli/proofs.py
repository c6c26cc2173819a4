"""What the commands that can write proofs share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from hiddenite.channel import Channel
from hiddenite.cli.common import Batch
from hiddenite.cli.infer_output import Result
from hiddenite.errors import HiddeniteError
from hiddenite.ngram import NgramModel
from hiddenite.options import option
from hiddenite.proof import ProofWriter, proof_output, prove
from hiddenite.results import Decoded, Failure, Proof


@dataclass(frozen=True, kw_only=True)
class Proofs(Batch):
    """A batch that can prove its answers."""

    proof: str | None = option(
        None,
        "Also write each answer's proof, for `hiddenite verify`.",
        metavar="FILE",
        when={"resume": (False,), "ray": (None,)},
    )


@contextlib.contextmanager
def written_proofs(path: str | None) -> Iterator[ProofWriter | None]:
    """Open a proof file if there is to be one."""
    if path is None:
        yield None
        return
    with proof_output(path) as proofs:
        yield proofs


def proof_of(model: NgramModel, channel: Channel, end: bool, text: bytes, result: Result) -> Proof | str:
    """Return the answer's proof, or why there is none."""
    if isinstance(result, Failure):
        return result.error
    assert isinstance(result, Decoded)
    try:
        proof = prove(model, channel(text.decode()), result, end=end).proof
    except HiddeniteError as error:
        return f"no proof: {error}"
    assert proof is not None
    return proof
