"""What decode and tag run share about --proof."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Annotated

import typer

from hiddenite._core import TaskKind
from hiddenite.inference import Query
from hiddenite.proof import ProofWriter, proof_output

ProofOption = Annotated[
    str | None,
    typer.Option("--proof", metavar="FILE", help="Also write each answer's proof, for `hiddenite verify`."),
]


def check_proof_options(proof: str | None, query: Query, *, resume: bool, ray: str | None) -> None:
    """A usage error if proofs are asked of something that has none."""
    if proof is None:
        return
    if query.kind != TaskKind.DECODE:
        raise typer.BadParameter("it is for the most probable answer alone", param_hint="--proof")
    if resume or ray is not None:
        raise typer.BadParameter("it excludes --resume and --ray", param_hint="--proof")


@contextlib.contextmanager
def written_proofs(path: str | None) -> Iterator[ProofWriter | None]:
    """Open a proof file if there is to be one; it stays when the job ends with records that failed."""
    if path is None:
        yield None
        return
    leaving: typer.Exit | None = None
    with proof_output(path) as proofs:
        try:
            yield proofs
        except typer.Exit as error:
            leaving = error
    if leaving is not None:
        raise leaving
