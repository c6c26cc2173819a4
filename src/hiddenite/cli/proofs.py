"""What the commands that can write proofs share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from hiddenite.cli.common import Batch
from hiddenite.options import option
from hiddenite.proof import ProofWriter, proof_output


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
