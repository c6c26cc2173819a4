"""hiddenite verify: proofs checked by code that shares nothing with the engine."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from hiddenite.cli.common import AsJson, Output, Quiet, json_line
from hiddenite.corpus import atomic_output
from hiddenite.proof import verify as verify_file


def verify(
    lm: Annotated[
        str, typer.Option("--lm", metavar="LM", help="The model's ARPA file, plain or compressed.")
    ],
    proof: Annotated[
        str, typer.Option("--proof", metavar="FILE", help="What `decode --proof` or `tag run --proof` wrote.")
    ],
    *,
    output: Output = "-",
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Check that the answers in a proof file are the best of all.

    The checker reads the ARPA file itself and recomputes every bound; it shares no code with the engine. It
    proves the search: that no other choice among the stated candidates, with the stated weights, weighs more.
    Text: a line for each record that is refused, and a summary. With --json an object for each record, and a
    summary object. Exit status 0: all are accepted; 1: one is refused, or the file is damaged, not complete
    or about another model.
    """
    accepted = refused = 0
    gap = 0.0
    with atomic_output(output) as out:
        for number, verdict in enumerate(verify_file(lm, proof), 1):
            accepted += verdict.accepted
            refused += not verdict.accepted
            if verdict.accepted:
                gap = max(gap, verdict.gap)
            if json:
                out.write(json_line(verdict.to_dict()).encode())
            elif not verdict.accepted:
                name = number if verdict.id is None else verdict.id
                out.write(f"{name}: refused: {verdict.reason}\n".encode())
        total = accepted + refused
        summary: dict[str, Any] = {"records": total, "accepted": accepted, "refused": refused}
        text = f"{accepted} of {total} proofs accepted; no answer is more than {gap:.2g} below the best\n"
        out.write((json_line(summary | {"largest_gap": gap}) if json else text).encode())
    if refused:
        if not quiet:
            print(f"hiddenite: {refused} of the proofs are refused", file=sys.stderr)
        raise typer.Exit(1)


EPILOGS = {"verify": "Example: hiddenite verify --lm corpus.arpa.gz --proof answers.proof.gz"}
