"""hiddenite encode: text to observations, for trying the channels out."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hiddenite.channel import AMBIGUITY, encoder_from_name
from hiddenite.cli.common import Output, Quiet, byte_progress, random_seed
from hiddenite.corpus import ChunkReader, atomic_output, file_bytes, line_blocks

MAX_SEED = (1 << 64) - 1
EPILOGS = {"encode": "Example: echo 'the dog barks' | hiddenite encode --channel keypad --noise --seed 1"}


def encode(
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="Text, one message a line.")] = "-",
    *,
    channel: Annotated[
        str, typer.Option("--channel", metavar="CHANNEL", help="keypad, typo or confusion:FILE.")
    ] = "keypad",
    noise: Annotated[bool, typer.Option("--noise", help="Draw errors from the channel's own model.")] = False,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=(1 << 64) - 1, help="Seed of the noise; by default a new one, shown."),
    ] = None,
    ambiguity: Annotated[
        float | None,
        typer.Option(
            metavar="K", min=0.0, help=f"The keypad's k: less is noisier. {AMBIGUITY:g} if it is not given."
        ),
    ] = None,
    output: Output = "-",
    quiet: Quiet = False,
) -> None:
    """Turn text into what a channel would show: key presses, typed text with slips, misread text.

    One line in, one line out; empty lines stay empty. Without --noise, what a perfect writer produces. With
    it, line l draws from stream l of the seed: its errors do not depend on the other lines.
    """
    if seed is not None and not noise:
        raise typer.BadParameter("a seed has no effect without --noise", param_hint="--seed")
    encoder = encoder_from_name(channel, ambiguity)
    chosen = (random_seed() if seed is None else seed) if noise else None
    if noise and not quiet:
        print(f"hiddenite: seed {chosen}", file=sys.stderr)
    with (
        byte_progress("encoding", file_bytes([text]), quiet) as report,
        ChunkReader(text, report) as reader,
        atomic_output(output) as out,
    ):
        for lines, first_line in line_blocks(reader):
            out.write(encoder.encode_text(lines, chosen, reader.name, first_line))
