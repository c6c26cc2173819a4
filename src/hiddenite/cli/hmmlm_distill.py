"""hiddenite hmmlm distill: a hidden Markov model of what another language model writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hiddenite.cli.command import command
from hiddenite.cli.common import OutputFile, Threads, random_seed, say
from hiddenite.cli.hmmlm_lexical import run_stages
from hiddenite.cli.hmmlm_train import SHAPE, TrainOptions, run_epochs
from hiddenite.errors import FormatError
from hiddenite.hmmlm.clusters import Clusters
from hiddenite.hmmlm.distillation import Samples, embedding_clusters, read_embeddings, read_samples
from hiddenite.hmmlm.lexical import LexicalTraining
from hiddenite.hmmlm.model import HMMLanguageModel
from hiddenite.hmmlm.options import MAX_SEED, PRESETS, HMMOptions, LexicalOptions
from hiddenite.hmmlm.training import Training
from hiddenite.options import MISSING, option, same

_PLAIN: dict[str, Any] = {"when": {"lexical": (None,)}}  # a preset has its own


@dataclass(frozen=True, kw_only=True)
class DistillOptions(OutputFile, Threads):
    """The options of hmmlm distill."""

    samples: str = option(MISSING, "Token ids: .npy [samples, tokens], .npz or JSON lines.", metavar="FILE")
    end: int | None = option(None, "Token that ends a sample.", metavar="ID", least=0)
    padding: int | None = option(None, "Token to skip.", metavar="ID", least=0)
    valid: str | None = option(None, "Held-out samples: choose smoothing and weights.", metavar="FILE")
    lexical: str | None = option(
        None, "A lexicalised model, of this preset: it knows the last tokens.", choices=PRESETS
    )
    epochs: int = same(HMMOptions, "epochs", **_PLAIN)
    seed: int | None = option(None, "Seed; drawn and shown if not given.", least=0, most=MAX_SEED)
    checkpoint: str | None = same(TrainOptions, "checkpoint", **_PLAIN)
    states: int = same(HMMOptions, "states", section=SHAPE, **_PLAIN)
    clusters: int = option(
        128, "Classes of tokens; those of a class share states.", least=1, section=SHAPE, **_PLAIN
    )
    embeddings: str | None = option(
        None, ".npy [tokens, width]: classes of similar vectors.", metavar="FILE", section=SHAPE, **_PLAIN
    )
    members: int = same(HMMOptions, "members", **_PLAIN)
    rounds: int = same(HMMOptions, "rounds", **_PLAIN)


def distill(options: DistillOptions) -> None:
    """Train a hidden Markov model on token sequences that another language model wrote, to guide it.

    A sample ends before its first --end; one without it counts as a whole sentence. Tokens begin in classes
    that often have the same neighbours, or with --embeddings in classes of similar vectors. Samples may
    have soft targets, the probabilities of the tokens that might have stood at each place. With --lexical
    the states know the last tokens: a guide follows the other model better, and is slower to make.
    """
    options.hush()
    seed = random_seed() if options.seed is None else options.seed
    say(f"seed {seed}", options.quiet)
    samples = _read(options, options.samples)
    valid = None if options.valid is None else _read(options, options.valid).text
    names = (options.samples, options.valid or "<held out>")
    if options.lexical is not None:
        if samples.targets is not None:
            problem = "has soft targets, which --lexical cannot use; leave it out"
            raise FormatError(options.samples, None, problem)
        preset = LexicalOptions(preset=options.lexical)
        contexts = LexicalTraining(
            samples.text, preset, seed=seed, valid=valid, threads=options.threads, names=names
        )
        run_stages(contexts, options.quiet)
        HMMLanguageModel.from_training(contexts).save(options.output)
        return
    clusters: Clusters | None = None
    if options.embeddings is not None:
        vectors = read_embeddings(options.embeddings)
        clusters = embedding_clusters(samples, vectors, options.clusters, seed=seed, name=options.embeddings)
    chosen = HMMOptions(
        states=options.states,
        clusters=options.clusters,
        epochs=options.epochs,
        members=options.members,
        rounds=options.rounds,
    )
    training = Training(
        samples.text,
        chosen,
        seed=seed,
        valid=valid,
        clusters=clusters,
        threads=options.threads,
        checkpoint=options.checkpoint,
        names=names,
        targets=samples.targets,
    )
    run_epochs(training, options.checkpoint, options.quiet)
    HMMLanguageModel.from_training(training).save(options.output)


def _read(options: DistillOptions, path: str) -> Samples:
    samples = read_samples(path, end=options.end, padding=options.padding)
    if samples.without_end:
        say(
            f"{path}: {samples.without_end:,} of {samples.sequences:,} samples have no end; "
            "they count as whole sentences",
            options.quiet,
        )
    return samples


def add_to(app: Any) -> None:
    """Add the command to those of hmmlm."""
    example = (
        "hiddenite hmmlm distill --samples ids.npy --end 0 --states 16 --clusters 4 --seed 1 --output ids.hmm"
    )
    command(app, "distill", DistillOptions, example=example)(distill)
