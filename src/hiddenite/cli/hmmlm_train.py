"""hiddenite hmmlm train em, gradient and neural; the last two need jax, loaded only when asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenite.cli.command import command, group
from hiddenite.cli.common import OutputFile, Threads, random_seed, say
from hiddenite.cli.interrupts import AGAIN, impatient, importing
from hiddenite.cli.progress import progress
from hiddenite.errors import ModelError, OptionError
from hiddenite.hmmlm.clusters import Clusters
from hiddenite.hmmlm.model import HMMLanguageModel
from hiddenite.hmmlm.options import EM_PRESETS, MAX_SEED, HMMOptions
from hiddenite.hmmlm.training import Training, read_text
from hiddenite.options import MISSING, argument, option, same

if TYPE_CHECKING:
    from hiddenite.hmmlm.neural.task import NeuralTraining

SHAPE = "Shape of the model"
_ALONE = {"section": SHAPE, "when": {"start": (None,)}}  # a model to begin at has its own shape

_LEAST_GAIN = 1e-5  # of a perplexity

app = group("Train a hidden Markov language model with sparse emissions, by one of three methods.")


@dataclass(frozen=True, kw_only=True)
class TrainOptions(OutputFile, Threads):
    """What all methods share."""

    text: str = argument(MISSING, "Text, one sentence a line; - is stdin.", "TEXT")
    valid: str | None = option(
        None, "Held-out text: chooses smoothing, members' weights, or when to stop.", metavar="TEXT"
    )
    epochs: int = same(HMMOptions, "epochs")
    seed: int | None = option(None, "Seed; drawn and shown if not given.", least=0, most=MAX_SEED)
    checkpoint: str | None = option(None, "Kept up to date; continued if it exists.", metavar="FILE")
    states: int = same(HMMOptions, "states", section=SHAPE)
    clusters: str = option(
        "128", "Number of classes, or a file of `hmmlm cluster`.", metavar="C|FILE", section=SHAPE
    )
    sets: str = same(HMMOptions, "sets", section=SHAPE)
    states_per_word: int | None = same(HMMOptions, "states_per_word", section=SHAPE)

    def shape(self, clusters: Clusters | None) -> dict[str, Any]:
        """Return the options of the model's shape."""
        return {
            "states": self.states,
            "clusters": int(self.clusters) if clusters is None else clusters.num_classes,
            "sets": self.sets,
            "states_per_word": self.states_per_word,
        }

    def inputs(self, clusters: Clusters | None) -> dict[str, Any]:
        """Return what every training is given."""
        seed = random_seed() if self.seed is None else self.seed
        say(f"seed {seed}", self.quiet)
        return {
            "seed": seed,
            "valid": None if self.valid is None else read_text(self.valid),
            "clusters": clusters,
            "threads": self.threads,
            "checkpoint": self.checkpoint,
            "names": ("<stdin>" if self.text == "-" else self.text, self.valid or ""),
        }

    def given_clusters(self) -> Clusters | None:
        """Return the classes of a file, if one is named."""
        if self.clusters.isdecimal() and int(self.clusters) < 1:
            raise OptionError("clusters", "is 0, expected at least one cluster or a file")
        return None if self.clusters.isdecimal() else Clusters.load(self.clusters)


def _of_preset(name: str, help: str, **changes: Any) -> Any:
    return same(HMMOptions, name, default=None, help=f"{help}; the preset's if not given.", **changes)


@dataclass(frozen=True, kw_only=True)
class EmOptions(TrainOptions):
    """The options of hmmlm train em."""

    preset: str = option(
        "single", "One chain, or a mixture of three or eight: slower and better.", choices=tuple(EM_PRESETS)
    )
    epochs: int | None = _of_preset("epochs", "Passes over the text")  # type: ignore[assignment]
    members: int | None = _of_preset("members", "Members of a mixture; each has so many states")
    rounds: int | None = _of_preset("rounds", "Rounds of log-bilinear transitions after the last epoch")
    folds: int = same(HMMOptions, "folds")
    states: int | None = _of_preset("states", "States; </s> has one more", section=SHAPE)  # type: ignore[assignment]


@dataclass(frozen=True, kw_only=True)
class GradientOptions(TrainOptions):
    """The options of hmmlm train gradient."""

    start: str | None = option(None, "A trained model to begin at.", metavar="MODEL")
    states: int = same(TrainOptions, "states", **_ALONE)
    clusters: str = same(TrainOptions, "clusters", **_ALONE)
    sets: str = same(TrainOptions, "sets", **_ALONE)
    states_per_word: int | None = same(
        TrainOptions, "states_per_word", when={"sets": ("uniform",), "start": (None,)}
    )
    transitions: str = option("factored", "Over classes, or full.", choices=("factored", "full"))
    dropout: str = option("none", "What is dropped.", choices=("none", "state", "unstructured"))
    dropout_rate: float = option(
        0.5, "Share that is dropped.", least=0, most=1, when={"dropout": ("state", "unstructured")}
    )
    batching: str = option(
        "sentences", "Shuffled sentences, or the document in order.", choices=("sentences", "document")
    )
    batch_tokens: int = option(512, "Words of a step.", least=1)
    rate: float = option(3e-3, "Learning rate.", least=0)


@dataclass(frozen=True, kw_only=True)
class NeuralOptions(GradientOptions):
    """The options of hmmlm train neural."""

    tying: str = option("none", "Which vectors are shared.", choices=("none", "emission", "all"))
    width: int = option(128, "Of vectors and networks.", least=1)


_EXAMPLE = "hiddenite hmmlm train {} corpus.txt --states 16 --clusters 4 --seed 1 --output corpus.hmm"


@command(app, "em", EmOptions, example=_EXAMPLE.format("em"))
def train_em(options: EmOptions) -> None:
    """Train by expectation-maximisation: count and smooth.

    Memory: 4 bytes for each pair of states, times two to eight. Words that only other texts have are <unk>.
    With --checkpoint and the same --seed, an interrupted training continues and ends with the same model.
    """
    options.hush()
    clusters = options.given_clusters()
    chosen = HMMOptions.of_preset(
        options.preset,
        **options.shape(clusters),
        epochs=options.epochs,
        folds=options.folds,
        cross_validated=options.folds > 1,
        members=options.members,
        rounds=options.rounds,
    )
    training = Training(read_text(options.text), chosen, **options.inputs(clusters))
    run_epochs(training, options.checkpoint, options.quiet)
    HMMLanguageModel.from_training(training).save(options.output)


@command(app, "gradient", GradientOptions, example=_EXAMPLE.format("gradient"))
def train_gradient(options: GradientOptions) -> None:
    """Train by the gradient of the evidence, with one number for each probability (extra `neural`).

    With --checkpoint and the same --seed, an interrupted training continues and ends with the same model.
    """
    _train_by_gradient(options, {"parameterisation": "scalar"})


@command(app, "neural", NeuralOptions, example=_EXAMPLE.format("neural"))
def train_neural(options: NeuralOptions) -> None:
    """Train by the gradient of the evidence, with networks over vectors of states and words (extra `neural`).

    With --checkpoint and the same --seed, an interrupted training continues and ends with the same model.
    """
    form = {"parameterisation": "neural", "tying": options.tying, "width": options.width}
    _train_by_gradient(options, form)


def _train_by_gradient(options: GradientOptions, form: dict[str, Any]) -> None:
    options.hush()
    try:
        with importing():
            from hiddenite.hmmlm.neural import ModelOptions, NeuralTraining, TrainerOptions  # noqa: PLC0415
    except ImportError as error:
        raise ModelError(
            f"training by gradients needs the extra 'neural' ({error}): pip install 'hiddenite[neural]', "
            "or use hmmlm train em"
        ) from None
    clusters = options.given_clusters()
    model = ModelOptions(
        **options.shape(clusters),
        **form,
        transitions=options.transitions,
        dropout=options.dropout,
        dropout_rate=options.dropout_rate,
    )
    trainer = TrainerOptions(
        epochs=options.epochs,
        batching=options.batching,
        batch_tokens=options.batch_tokens,
        rate=options.rate,
    )
    start = None if options.start is None else HMMLanguageModel.load(options.start)
    training = NeuralTraining(
        read_text(options.text), model, trainer, start=start, **options.inputs(clusters)
    )
    run_epochs(training, options.checkpoint, options.quiet)
    tuned = training.model()
    if start is not None and options.valid is not None:
        held_out = read_text(options.valid)
        say(_progress_note(*(m.perplexity(held_out, options.threads) for m in (start, tuned))), options.quiet)
    tuned.save(options.output)


def _progress_note(before: float, after: float) -> str:
    """Say whether tuning a model was worth it; the start is kept where no epoch was better."""
    note = f"held-out perplexity {before:.2f} before, {after:.2f} now"
    if after < before * (1 - _LEAST_GAIN):
        return note
    return f"{note}: no epoch improved on --start, which is kept; try another --rate or more text"


def run_epochs(training: Training | NeuralTraining, checkpoint: str | None, quiet: bool) -> None:
    """Do all epochs; who interrupts is told how to continue."""

    def note() -> str:
        if checkpoint is None or not Path(checkpoint).exists():
            return ""
        return f"finished epochs are in {checkpoint}; continue with --seed {training.seed}"

    def hint() -> str:
        return f"; {note()}" if note() else AGAIN

    try:
        with progress("training", training.num_epochs, quiet) as report, impatient(hint):
            for epoch in training:
                valid = "" if epoch.valid_perplexity is None else f", valid {epoch.valid_perplexity:.2f}"
                report(epoch.number, f"epoch {epoch.number}/{epoch.total}, ln p {epoch.log_prob:.4f}{valid}")
    except BaseException as error:
        if note():
            error.add_note(note())
        raise
