"""hiddenite hmmlm train lexical: states that are word contexts with hidden states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hiddenite.cli.command import command
from hiddenite.cli.common import OutputFile, Threads, random_seed, say
from hiddenite.cli.interrupts import AGAIN, impatient
from hiddenite.cli.progress import progress
from hiddenite.hmmlm.comparison import compare
from hiddenite.hmmlm.lexical import LexicalTraining
from hiddenite.hmmlm.model import HMMLanguageModel
from hiddenite.hmmlm.options import MAX_SEED, LexicalOptions
from hiddenite.hmmlm.training import read_text
from hiddenite.options import MISSING, argument, option, same


@dataclass(frozen=True, kw_only=True)
class LexicalCommandOptions(OutputFile, Threads):
    """The options of hmmlm train lexical."""

    text: str = argument(MISSING, "Text, one sentence a line; - is stdin.", "TEXT")
    valid: str | None = option(None, "Held-out text; every twentieth sentence if not given.", metavar="TEXT")
    preset: str = same(LexicalOptions, "preset")
    states: int | None = same(LexicalOptions, "states")
    seed: int | None = option(None, "Seed; drawn and shown if not given.", least=0, most=MAX_SEED)


def train_lexical(options: LexicalCommandOptions) -> None:
    """Train a lexicalised model: its states know the last words, and hidden states beside them.

    Prints the perplexity of the held-out text: of the model, of a 5-gram model, and of both interpolated.
    """
    options.hush()
    seed = random_seed() if options.seed is None else options.seed
    say(f"seed {seed}", options.quiet)
    training = LexicalTraining(
        read_text(options.text),
        LexicalOptions(preset=options.preset, states=options.states),
        seed=seed,
        valid=None if options.valid is None else read_text(options.valid),
        threads=options.threads,
        names=("<stdin>" if options.text == "-" else options.text, options.valid or "<held out>"),
    )
    run_stages(training, options.quiet)
    model = HMMLanguageModel.from_training(training)
    say(compare(training, options.threads).to_text(), options.quiet)
    model.save(options.output)


def run_stages(training: LexicalTraining, quiet: bool) -> None:
    """Do all steps of a training and show them."""
    with progress("training", training.num_stages, quiet) as report, impatient(lambda: AGAIN):
        for stage in training:
            shown = "" if stage.valid_perplexity is None else f", held out {stage.valid_perplexity:.2f}"
            report(stage.number, f"step {stage.number}/{stage.total}, {stage.what}{shown}")


def add_to(app: Any) -> None:
    """Add the command to those of hmmlm train."""
    example = "hiddenite hmmlm train lexical corpus.txt --preset fast --seed 1 --output corpus.hmm"
    command(app, "lexical", LexicalCommandOptions, example=example)(train_lexical)
