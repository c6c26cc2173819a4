"""hiddenite align corpus: train on a parallel text and give its own links."""

from __future__ import annotations

from typing import Annotated

import typer

from hiddenite.align.aligner import Aligner
from hiddenite.align.bitext import Bitext
from hiddenite.align.corpus import DECODERS, DEFAULT_DECODER, DEFAULT_THRESHOLD, CorpusDecoding, align_corpus
from hiddenite.align.symmetrize import DEFAULT
from hiddenite.align.training import Training
from hiddenite.cli.align_options import (
    BUDGET,
    BudgetOption,
    Chains,
    Checkpoint,
    Direction,
    Fertilities,
    Seed,
    Settings,
    Source,
    StringPrior,
    Sweeps,
    SymmetrizeWith,
    Target,
    training_options,
    usage,
)
from hiddenite.cli.align_run import outcome
from hiddenite.cli.align_train import run_sweeps
from hiddenite.cli.batch import Block, Job, accounted, choose_seed, condensed, finish, told
from hiddenite.cli.common import AsJson, Output, Quiet, Threads, hush
from hiddenite.corpus import atomic_output
from hiddenite.journal import Progress

EPILOG = "Example: hiddenite align corpus en.txt fr.txt --seed 1 --output links.txt"


def corpus(
    source: Source,
    target: Target = None,
    *,
    output: Output = "-",
    model: Annotated[
        str | None, typer.Option("--model", metavar="MODEL", help="Write the model too, for align run.")
    ] = None,
    decode: Annotated[str, typer.Option("--decode", help=f"One of {', '.join(DECODERS)}.")] = DEFAULT_DECODER,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0.0, max=1.0, help="Of --decode threshold.")
    ] = DEFAULT_THRESHOLD,
    direction: Direction = "both",
    symmetrize: SymmetrizeWith = DEFAULT,
    budget: BudgetOption = BUDGET,
    seed: Seed = None,
    sweeps: Sweeps = None,
    chains: Chains = None,
    string_prior: StringPrior = True,
    fertilities: Fertilities = "categorical",
    settings: Settings = None,
    checkpoint: Checkpoint = None,
    threads: Threads = 0,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train on a parallel text and give its own links: train, run and symmetrize in one.

    threshold takes links whose probability, the mean of both directions', reaches --threshold; probabilities
    takes each word's most probable partner in each direction and symmetrizes; exact and viterbi take the
    model's best alignments and symmetrize.
    """
    hush(quiet)
    decoding = usage(lambda: CorpusDecoding(decode, threshold, symmetrize, direction, budget))
    options = training_options(sweeps, chains, string_prior, settings, fertilities)
    bitext = Bitext.read(source, target)
    training = Training(
        bitext, options, seed=choose_seed(seed, quiet), threads=threads, checkpoint=checkpoint
    )
    run_sweeps(training, quiet)
    if model is not None:
        Aligner.from_training(training).save(model)
    job = Job("align corpus", {}, output)
    progress = Progress()
    with atomic_output(output) as out:
        for number, result in enumerate(align_corpus(training, decoding, threads=threads)):
            block = Block(result, number, 1, b"")
            answer = condensed([outcome(result, json)], job)
            told(answer, bitext.source_name)
            progress = accounted(block, answer, progress)
            out.write(answer.text)
    finish(job, progress)
