"""hiddenite verify: proofs checked by code that shares nothing with the engine."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from hiddenite.cli.common import AsJson, Output, Quiet, json_line
from hiddenite.corpus import atomic_output
from hiddenite.proof import verify as verify_file
from hiddenite.proof import verify_alignments


def verify(
    proof: Annotated[
        str,
        typer.Option(
            "--proof", metavar="FILE", help="What `decode`, `tag run` or `align run --proof` wrote."
        ),
    ],
    *,
    lm: Annotated[
        str | None, typer.Option("--lm", metavar="LM", help="The model's ARPA file, plain or compressed.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="MODEL", help="Of alignments: what `align train` wrote.")
    ] = None,
    output: Output = "-",
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Check that the answers in a proof file are the best of all.

    The checker reads the model's file itself and recomputes every bound; it shares no code with the engine.
    It proves the search: that no other choice among the stated candidates, with the stated weights, weighs
    more; or that no other alignment of the stated words does.
    Text: a line for each record that is refused, and a summary. With --json an object for each record, and a
    summary object. Exit status 0: all are accepted; 1: one is refused, or the file is damaged, not complete
    or about another model.
    """
    if (lm is None) == (model is None):
        raise typer.BadParameter("give --lm or --model, whichever the proofs are about")
    accepted = refused = 0
    gap = 0.0
    with atomic_output(output) as out:
        verdicts = verify_alignments(model, proof) if model is not None else verify_file(lm or "", proof)
        for number, verdict in enumerate(verdicts, 1):
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
