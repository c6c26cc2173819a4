"""hiddenite verify: proofs checked by code that shares nothing with the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hiddenite.cli.common import Json, Output, json_line, say
from hiddenite.errors import OptionError
from hiddenite.files.output import atomic_output
from hiddenite.options import MISSING, option
from hiddenite.proof import verify as verify_file
from hiddenite.proof import verify_alignments


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(Output, Json):
    """The options of verify."""

    proof: str = option(MISSING, "What `decode`, `tag run` or `align run --proof` wrote.", metavar="FILE")
    lm: str | None = option(
        None, "The model's ARPA file, plain or compressed.", metavar="LM", when={"model": (None,)}
    )
    model: str | None = option(None, "Of alignments: what `align train` wrote.", metavar="MODEL")


def verify(options: VerifyOptions) -> int:
    """Check that the answers in a proof file are the best of all.

    The checker reads the model's file itself and recomputes every bound; it shares no code with the engine.
    It proves the search: that no other choice among the stated candidates, with the stated weights, weighs
    more; or that no other alignment of the stated words does.
    Text: a line for each record that is refused, and a summary. With --json an object for each record, and a
    summary object. Exit status 0: all are accepted; 1: one is refused, or the file is damaged, not complete
    or about another model.
    """
    lm, model, proof = options.lm, options.model, options.proof
    if lm is None and model is None:
        raise OptionError("lm", "or --model is needed: the model that the proofs are about")
    accepted = refused = 0
    gap = 0.0
    with atomic_output(options.output) as out:
        verdicts = verify_alignments(model, proof) if model is not None else verify_file(lm or "", proof)
        for number, verdict in enumerate(verdicts, 1):
            accepted += verdict.accepted
            refused += not verdict.accepted
            if verdict.accepted:
                gap = max(gap, verdict.gap)
            if options.json:
                out.write(json_line(verdict.to_dict()).encode())
            elif not verdict.accepted:
                name = number if verdict.id is None else verdict.id
                out.write(f"{name}: refused: {verdict.reason}\n".encode())
        total = accepted + refused
        summary: dict[str, Any] = {"records": total, "accepted": accepted, "refused": refused}
        text = f"{accepted} of {total} proofs accepted; no answer is more than {gap:.2g} below the best\n"
        out.write((json_line(summary | {"largest_gap": gap}) if options.json else text).encode())
    if refused:
        say(f"{refused} of the proofs are refused", options.quiet)
    return int(refused > 0)


_EXAMPLE = "hiddenite verify --lm corpus.arpa.gz --proof answers.proof.gz"
COMMANDS = {"verify": (verify, VerifyOptions, _EXAMPLE)}
