"""hiddenite align train: both directions' models, by Gibbs sampling or EM, here or on a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from hiddenite.align.aligner import Aligner
from hiddenite.align.bitext import Bitext
from hiddenite.align.options import AlignerOptions
from hiddenite.align.shards import em_member, gibbs_member
from hiddenite.align.training import HmmTraining, Training
from hiddenite.cli.align_options import TRAINING, Bitexts, TrainingChoices, known_before
from hiddenite.cli.common import OutputFile, Ray, Threads
from hiddenite.cli.progress import progress
from hiddenite.errors import FormatError
from hiddenite.jobs.batch import choose_seed
from hiddenite.jobs.model_cache import local_path
from hiddenite.jobs.ray import Cluster
from hiddenite.options import option, same

_GIBBS = {"section": TRAINING, "when": {"estimator": ("gibbs",)}}


@dataclass(frozen=True, kw_only=True)
class TrainOptions(Bitexts, TrainingChoices, OutputFile, Threads, Ray):
    """The options of align train."""

    estimator: str = option(
        "gibbs",
        "gibbs, or em: the plain HMM, 5 iterations each (--sweeps A,B,0).",
        choices=("gibbs", "em"),
        section=TRAINING,
    )
    seed: int | None = same(TrainingChoices, "seed", **_GIBBS)
    chains: int | None = same(TrainingChoices, "chains", **_GIBBS)
    checkpoint: str | None = same(TrainingChoices, "checkpoint", **_GIBBS)
    earlier: str | None = same(TrainingChoices, "earlier", **_GIBBS)
    lexicon: str | None = same(TrainingChoices, "lexicon", **_GIBBS)
    priors: str | None = same(TrainingChoices, "priors", **_GIBBS)
    shards: int = option(
        1, "Parts of the text that sweep at the same time; above 1 an approximation.", least=1, **_GIBBS
    )


def train(options: TrainOptions) -> None:
    """Train both directions' alignment models together and write them as one file.

    Line n of SRC translates line n of TGT; words are separated by white space. The same seed gives the same
    file for any number of threads, also after an interruption if there is a --checkpoint. Chains run in
    parallel. On a cluster (--ray) chains and shards do; em gives the same model there, gibbs the same for
    the same seed and --shards.
    """
    options.hush()
    chosen = options.aligner_options().for_new_text()
    bitext = Bitext.read(options.source, options.target)
    if bitext.num_lines == 0:
        raise FormatError(bitext.source_name, None, "has no line, expected sentences of a parallel text")
    with contextlib.ExitStack() as stack:
        cluster = None if options.ray is None else stack.enter_context(Cluster(options.ray, options.threads))
        training: Training | HmmTraining
        if options.estimator == "em":
            training = _em_training(bitext, chosen, options.threads, cluster)
        else:
            training = _gibbs_training(
                bitext,
                chosen,
                seed=choose_seed(options.seed, options.quiet),
                threads=options.threads,
                checkpoint=options.checkpoint,
                before=options.files_before(),
                shards=options.shards,
                cluster=cluster,
            )
        run_sweeps(training, options.quiet)
    Aligner.from_training(training).save(options.output)


def _em_training(
    bitext: Bitext, options: AlignerOptions, threads: int, cluster: Cluster | None
) -> HmmTraining:
    model1, hmm = (5 if n is None else n for n in (options.model1_sweeps, options.hmm_sweeps))
    if cluster is None:
        return HmmTraining(bitext, options, model1=model1, hmm=hmm, threads=threads)
    chosen = HmmTraining.options_for(bitext, options)
    executor = cluster.pool(em_member, shared=(bitext, chosen))
    return HmmTraining(bitext, options, model1=model1, hmm=hmm, shards=len(cluster), executor=executor)


def _gibbs_training(
    bitext: Bitext,
    options: AlignerOptions,
    *,
    seed: int,
    threads: int,
    checkpoint: str | None,
    before: tuple[str | None, str | None, str | None],
    shards: int,
    cluster: Cluster | None,
) -> Training:
    executor = None
    if cluster is not None:
        shared = (bitext, options.for_corpus(bitext.num_lines), seed, before)
        files = tuple(path for path in before if path is not None)
        executor = cluster.pool(_gibbs_member, shared=shared, files=files)
    return Training(
        bitext,
        options,
        seed=seed,
        threads=threads,
        checkpoint=checkpoint,
        earlier=known_before(options, *before),
        shards=shards,
        executor=executor,
    )


def _gibbs_member(
    bitext: Bitext, options: AlignerOptions, seed: int, before: tuple[str | None, str | None, str | None]
) -> Callable[..., object]:
    """Return what sweeps in a process of a cluster; it reads what is known before training there."""
    paths = [None if path is None else local_path(path) for path in before]
    return gibbs_member(bitext, options, seed, known_before(options, *paths))


def run_sweeps(training: Training | HmmTraining, quiet: bool) -> None:
    """Run all sweeps, and show how far they are."""
    with progress("training", training.num_sweeps, quiet) as report:
        for sweep in training:
            report(sweep.number, f"sweep {sweep.number}/{sweep.total}, fit {sweep.fit:.4f}", sweep.stage)


_EXAMPLE = "hiddenite align train en.txt fr.txt --seed 1 --output en-fr.model"
COMMANDS = {"train": (train, TrainOptions, _EXAMPLE)}
