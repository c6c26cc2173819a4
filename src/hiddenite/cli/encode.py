"""hiddenite encode: text to observations, for trying the channels out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from hiddenite.channel import AMBIGUITY, MAP_NUMBERS, encoder_from_name
from hiddenite.cli.common import Output, random_seed, say
from hiddenite.cli.progress import progress
from hiddenite.errors import OptionError
from hiddenite.files.corpus import ChunkReader, file_bytes, line_blocks
from hiddenite.files.output import atomic_output
from hiddenite.options import argument, option


@dataclass(frozen=True, kw_only=True)
class EncodeOptions(Output):
    """The options of encode."""

    text: str = argument("-", "Text, one message a line.", "[TEXT]")
    channel: str = option("keypad", "keypad, typo, confusion:FILE or map:FILE.", metavar="CHANNEL")
    noise: bool = option(False, "Draw errors from the channel's own model.")
    seed: int | None = option(
        None,
        "Seed of the noise; drawn and shown if not given.",
        least=0,
        most=2**64 - 1,
        when={"noise": (True,)},
    )
    ambiguity: float | None = option(
        None,
        f"The constant k of the keypad, {AMBIGUITY:g} if not given; smaller is noisier.",
        least=0,
        when={"channel": ("keypad",), "noise": (True,)},
    )
    map_numbers: str = option("probabilities", "What the numbers of a map are.", choices=tuple(MAP_NUMBERS))
    map_joiner: str | None = option(
        None, "What joins the words of a map's alternatives of several words.", metavar="TEXT"
    )

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse what only a map uses."""
        super().check_effects(given)
        kind = self.channel.partition(":")[0]
        for name in ("map_numbers", "map_joiner"):
            if name in given and kind != "map":
                raise OptionError(name, f"has no effect with --channel {kind}; it needs map:FILE")


def encode(options: EncodeOptions) -> None:
    """Turn text into what a channel would show: key presses, typed text with slips, misread text.

    One line in, one line out; empty lines stay empty. Without --noise, what a perfect writer produces. With
    it, line l draws from stream l of the seed: its errors do not depend on the other lines.
    """
    encoder = encoder_from_name(options.channel, options.ambiguity, options.map_numbers, options.map_joiner)
    seed = None
    if options.noise:
        seed = random_seed() if options.seed is None else options.seed
        say(f"seed {seed}", options.quiet)
    with (
        progress("encoding", file_bytes([options.text]), options.quiet) as report,
        ChunkReader(options.text, report) as reader,
        atomic_output(options.output) as out,
    ):
        for lines, first_line in line_blocks(reader):
            out.write(encoder.encode_text(lines, seed, reader.name, first_line))


_EXAMPLE = "echo 'the dog barks' | hiddenite encode --channel keypad --noise --seed 1"
COMMANDS = {"encode": (encode, EncodeOptions, _EXAMPLE)}
