"""hiddenite align train: both directions' models, by Gibbs sampling or EM, here or on a cluster."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from hiddenite.align.aligner import Aligner
from hiddenite.align.bitext import Bitext
from hiddenite.align.options import AlignerOptions
from hiddenite.align.shards import em_member, gibbs_member
from hiddenite.align.training import HmmTraining, Training
from hiddenite.cli.align_options import (
    Chains,
    Checkpoint,
    Fertilities,
    Seed,
    Settings,
    Source,
    StringPrior,
    Sweeps,
    Target,
    training_options,
)
from hiddenite.cli.batch import Ray, choose_seed
from hiddenite.cli.common import Output, Quiet, Threads, hush
from hiddenite.copies import here
from hiddenite.distributed import Cluster
from hiddenite.errors import FormatError

EPILOG = "Example: hiddenite align train en.txt fr.txt --seed 1 --output en-fr.model"


def train(
    source: Source,
    target: Target = None,
    *,
    output: Output,
    seed: Seed = None,
    sweeps: Sweeps = None,
    chains: Chains = None,
    string_prior: StringPrior = True,
    fertilities: Fertilities = "categorical",
    settings: Settings = None,
    checkpoint: Checkpoint = None,
    earlier: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="MODEL", help="Go on from this model with more text; it stays as it is."
        ),
    ] = None,
    estimator: Annotated[
        str,
        typer.Option("--estimator", help="gibbs, or em: the plain HMM, 5 iterations each (--sweeps A,B,0)."),
    ] = "gibbs",
    shards: Annotated[
        int,
        typer.Option(
            "--shards",
            min=1,
            help="gibbs: parts of the text that sweep at the same time; above 1 an approximation.",
        ),
    ] = 1,
    ray: Ray = None,
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Train both directions' alignment models together and write them as one file.

    Line n of SRC translates line n of TGT; words are separated by white space. The same seed gives the same
    file for any number of threads, also after an interruption if there is a --checkpoint. Chains run in
    parallel. On a cluster (--ray) chains and shards do; em gives the same model there, gibbs the same for
    the same seed and --shards.
    """
    hush(quiet)
    options = training_options(sweeps, chains, string_prior, settings, fertilities)
    training: Training | HmmTraining
    bitext = Bitext.read(source, target)
    if bitext.num_lines == 0:
        raise FormatError(bitext.source_name, None, "holds no line, expected sentences of a parallel text")
    if estimator not in ("gibbs", "em"):
        raise typer.BadParameter(f"found '{estimator}', expected gibbs or em", param_hint="--estimator")
    with contextlib.ExitStack() as stack:
        cluster = None if ray is None else stack.enter_context(Cluster(ray, threads))
        if estimator == "em":
            if checkpoint is not None or earlier is not None or shards > 1:
                raise typer.BadParameter(
                    "em takes minutes and begins anew; leave out --checkpoint, --from and --shards"
                )
            training = _em_training(bitext, options, threads, cluster)
        else:
            training = _gibbs_training(
                bitext,
                options,
                seed=choose_seed(seed, quiet),
                threads=threads,
                checkpoint=checkpoint,
                earlier=earlier,
                shards=shards,
                cluster=cluster,
            )
        run_sweeps(training, quiet)
    Aligner.from_training(training).save(output)


def _em_training(
    bitext: Bitext, options: AlignerOptions, threads: int, cluster: Cluster | None
) -> HmmTraining:
    model1, hmm = (5 if n is None else n for n in (options.model1_sweeps, options.hmm_sweeps))
    if cluster is None:
        return HmmTraining(bitext, options, model1=model1, hmm=hmm, threads=threads)
    chosen = HmmTraining.options_for(bitext, options)
    crew = cluster.pool(em_member, shared=(bitext, chosen))
    return HmmTraining(bitext, options, model1=model1, hmm=hmm, shards=len(cluster), crew=crew)


def _gibbs_training(
    bitext: Bitext,
    options: AlignerOptions,
    *,
    seed: int,
    threads: int,
    checkpoint: str | None,
    earlier: str | None,
    shards: int,
    cluster: Cluster | None,
) -> Training:
    crew = None
    if cluster is not None:
        shared = (bitext, options.for_corpus(bitext.num_lines), seed, earlier)
        crew = cluster.pool(_gibbs_member, shared=shared, files=() if earlier is None else (earlier,))
    return Training(
        bitext,
        options,
        seed=seed,
        threads=threads,
        checkpoint=checkpoint,
        earlier=None if earlier is None else Aligner.load(earlier).model,
        shards=shards,
        crew=crew,
    )


def _gibbs_member(
    bitext: Bitext, options: AlignerOptions, seed: int, earlier: str | None
) -> Callable[..., object]:
    """Return what sweeps in a process of a cluster; it reads the earlier model there."""
    model = None if earlier is None else Aligner.load(here(earlier)).model
    return gibbs_member(bitext, options, seed, model)


def run_sweeps(training: Training | HmmTraining, quiet: bool) -> None:
    """Run all sweeps, showing sweep and fit on a terminal."""
    with contextlib.ExitStack() as stack:
        progress = task = None
        if not quiet and sys.stderr.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[fit]}"))
            progress = stack.enter_context(
                Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
            )
            task = progress.add_task("training", total=training.num_sweeps, fit="")
        for sweep in training:
            if progress is not None and task is not None:
                fit = f"sweep {sweep.number}/{sweep.total}  fit {sweep.fit:.4f}"
                progress.update(task, completed=sweep.number, description=sweep.stage, fit=fit)
