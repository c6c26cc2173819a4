"""hiddenite hmmlm: cluster words; train hidden Markov language models, score, generate."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from hiddenite.cli.common import AsJson, Output, Quiet, Threads, byte_progress, hush, json_line, random_seed
from hiddenite.cli.hmmlm_gradient import gradient_training
from hiddenite.corpus import ChunkReader, atomic_output, file_bytes, line_blocks, tokenize
from hiddenite.errors import ModelError
from hiddenite.hmmlm.clusters import FORMATS, MAX_PASSES, Clustering, Clusters
from hiddenite.hmmlm.interpolation import Interpolation
from hiddenite.hmmlm.model import MAX_LENGTH, HMMLanguageModel
from hiddenite.hmmlm.options import MAX_SEED, SETS, HMMOptions
from hiddenite.hmmlm.training import Training, read_text
from hiddenite.ngram import NgramModel
from hiddenite.results import ScoreSummary

if TYPE_CHECKING:
    from hiddenite.hmmlm.neural.task import NeuralTraining

METHODS = ("em", "gradient", "neural")
GENERATORS = ("sample", "rescore", "best")

app = typer.Typer(help="Hidden Markov language models.", no_args_is_help=True)

Text = Annotated[str, typer.Argument(metavar="TEXT", help="Text, one sentence a line; - is stdin.")]
Model = Annotated[str, typer.Option("--model", metavar="MODEL", help="File of `hmmlm train`.")]
Seed = Annotated[
    int | None, typer.Option("--seed", min=0, max=MAX_SEED, help="Seed; drawn and shown if not given.")
]


def _seed(seed: int | None, quiet: bool) -> int:
    chosen = random_seed() if seed is None else seed
    if not quiet:
        print(f"hiddenite: seed {chosen}", file=sys.stderr)
    return chosen


@contextlib.contextmanager
def _turns(label: str, total: int, quiet: bool) -> Iterator[Callable[[int, str], None]]:
    """Show turns done and a note on stderr, only on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _, __: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"))
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        task = progress.add_task(label, total=total, note="")
        yield lambda done, note: progress.update(task, completed=done, note=note)


@app.command(
    "cluster", epilog="Example: hiddenite hmmlm cluster corpus.txt --clusters 8 --output clusters.tsv"
)
def cluster(
    text: Text,
    *,
    clusters: Annotated[int, typer.Option("--clusters", min=1, help="Number of classes.")] = 128,
    output: Output,
    file_format: Annotated[
        str,
        typer.Option("--format", help=f"{' or '.join(FORMATS)}: word, class, count; or bits, word, count."),
    ] = "tsv",
    start: Annotated[
        str | None, typer.Option("--start", metavar="FILE", help="Classes to go on from, in either format.")
    ] = None,
    passes: Annotated[
        int, typer.Option("--passes", min=1, help="Passes over the words, at most.")
    ] = MAX_PASSES,
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Cluster words by exchange so that neighbouring classes tell most about each other (Brown's objective).

    The result is the same for any number of threads. With --start, words keep their class until a better one
    is found, and new words get one.
    """
    hush(quiet)
    if file_format not in FORMATS:
        raise typer.BadParameter(
            f"found '{file_format}', expected {' or '.join(FORMATS)}", param_hint="--format"
        )
    first = None if start is None else Clusters.load(start)
    name = "<stdin>" if text == "-" else text
    clustering = Clustering(
        [read_text(text)], clusters, start=first, passes=passes, threads=threads, names=[name]
    )
    with _turns("clustering", passes, quiet) as report:
        for turn in clustering:
            report(turn.number, f"moved {turn.moved:,}  information {turn.average_mutual_information:.4f}")
    clustering.result().save(output, file_format)


@app.command(
    "train",
    epilog="Example: hiddenite hmmlm train corpus.txt --states 16 --clusters 4 --seed 1 --output corpus.hmm",
)
def train(
    text: Text,
    *,
    output: Output,
    states: Annotated[int, typer.Option("--states", min=1, help="States; </s> has one more.")] = 4096,
    clusters: Annotated[
        str,
        typer.Option("--clusters", metavar="C|FILE", help="Number of classes, or a file of `hmmlm cluster`."),
    ] = "128",
    method: Annotated[str, typer.Option("--method", help=f"One of {', '.join(METHODS)}.")] = "em",
    valid: Annotated[
        str | None,
        typer.Option(
            "--valid", metavar="TEXT", help="Held-out text: chooses smoothing and members' weights."
        ),
    ] = None,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Passes over the text.")] = 24,
    members: Annotated[
        int, typer.Option("--members", min=1, help="Chains of a mixture; each has so many states.")
    ] = 1,
    rounds: Annotated[
        int, typer.Option("--rounds", min=0, help="Rounds of log-bilinear transitions after the last epoch.")
    ] = 0,
    sets: Annotated[
        str, typer.Option("--sets", help=f"States of a word: {' (of its class) or '.join(SETS)} (random).")
    ] = "brown",
    states_per_word: Annotated[
        int | None,
        typer.Option("--states-per-word", min=1, help="For uniform sets; states / clusters if not given."),
    ] = None,
    folds: Annotated[
        int, typer.Option("--folds", min=1, help="Parts of the text, each left out in turn.")
    ] = 6,
    checkpoint: Annotated[
        str | None,
        typer.Option("--checkpoint", metavar="FILE", help="Kept up to date; gone on from if it exists."),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--start", metavar="MODEL", help="gradient, neural: a trained model to begin at."),
    ] = None,
    transitions: Annotated[
        str, typer.Option("--transitions", help="gradient, neural: factored (over classes) or full.")
    ] = "factored",
    dropout: Annotated[
        str, typer.Option("--dropout", help="gradient, neural: none, state or unstructured.")
    ] = "none",
    dropout_rate: Annotated[
        float,
        typer.Option("--dropout-rate", min=0.0, max=1.0, help="gradient, neural: share that is dropped."),
    ] = 0.5,
    tying: Annotated[
        str, typer.Option("--tying", help="neural: vectors shared, none, emission or all.")
    ] = "none",
    width: Annotated[int, typer.Option("--width", min=1, help="neural: of vectors and networks.")] = 128,
    batching: Annotated[
        str, typer.Option("--batching", help="gradient, neural: sentences (shuffled) or document (in order).")
    ] = "sentences",
    batch_tokens: Annotated[
        int, typer.Option("--batch-tokens", min=1, help="gradient, neural: words of a step.")
    ] = 512,
    rate: Annotated[float, typer.Option("--rate", help="gradient, neural: learning rate.")] = 3e-3,
    seed: Seed = None,
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Train a hidden Markov language model with sparse emissions.

    --method em counts and smooths; gradient and neural (extra `neural`) follow the gradient of the evidence,
    with one number for each probability or with networks.

    Memory: 4 bytes for each pair of states, times two to eight. Words seen in other texts only are <unk>.
    With --checkpoint and the same --seed, an interrupted training goes on and ends with the same model.
    """
    hush(quiet)
    if method not in METHODS:
        raise typer.BadParameter(f"found '{method}', expected {', '.join(METHODS)}", param_hint="--method")
    given = None if clusters.isdecimal() else Clusters.load(clusters)
    if clusters.isdecimal() and int(clusters) < 1:
        raise typer.BadParameter("found 0, expected at least one cluster or a file", param_hint="--clusters")
    if method != "em":
        number = int(clusters) if given is None else given.num_classes
        by_gradient = gradient_training(
            text,
            {
                "states": states,
                "clusters": number,
                "sets": sets,
                "states_per_word": states_per_word,
                "parameterisation": "scalar" if method == "gradient" else "neural",
                "transitions": transitions,
                "dropout": dropout,
                "dropout_rate": dropout_rate,
                "tying": tying,
                "width": width,
            },
            {"epochs": epochs, "batching": batching, "batch_tokens": batch_tokens, "rate": rate},
            seed=_seed(seed, quiet),
            valid=valid,
            clusters=given,
            start=start,
            threads=threads,
            checkpoint=checkpoint,
        )
        _run(by_gradient, checkpoint, quiet)
        by_gradient.model().save(output)
        return
    if start is not None:
        raise typer.BadParameter("EM begins at random; use --method gradient or neural", param_hint="--start")
    try:
        options = HMMOptions(
            states=states,
            clusters=int(clusters) if given is None else given.num_classes,
            sets=sets,
            states_per_word=states_per_word,
            epochs=epochs,
            folds=folds,
            cross_validated=folds > 1,
            members=members,
            rounds=rounds,
        )
    except ModelError as error:
        raise typer.BadParameter(str(error)) from None
    training = Training(
        read_text(text),
        options,
        seed=_seed(seed, quiet),
        valid=None if valid is None else read_text(valid),
        clusters=given,
        threads=threads,
        checkpoint=checkpoint,
        names=("<stdin>" if text == "-" else text, valid or ""),
    )
    _run(training, checkpoint, quiet)
    HMMLanguageModel.from_training(training).save(output)


def _run(training: Training | NeuralTraining, checkpoint: str | None, quiet: bool) -> None:
    complete = False
    try:
        with _turns("training", training.num_epochs, quiet) as report:
            for epoch in training:
                valid = "" if epoch.valid_perplexity is None else f"  valid {epoch.valid_perplexity:.2f}"
                report(epoch.number, f"epoch {epoch.number}/{epoch.total}  ln p {epoch.log_prob:.4f}{valid}")
        complete = True
    finally:
        if not complete and checkpoint is not None and Path(checkpoint).exists():
            print(
                f"hiddenite: finished epochs are in {checkpoint}; run the command with the same --seed "
                f"{training.seed} to go on from there",
                file=sys.stderr,
            )


@app.command("score", epilog="Example: hiddenite hmmlm score --model corpus.hmm heldout.txt --summary")
def score(
    model: Model,
    text: Text = "-",
    *,
    summary: Annotated[
        bool, typer.Option("--summary", help="Totals and perplexities instead of sentences.")
    ] = False,
    lm: Annotated[
        str | None, typer.Option("--lm", metavar="LM", help="ARPA file to interpolate with; needs --valid.")
    ] = None,
    valid: Annotated[
        str | None, typer.Option("--valid", metavar="TEXT", help="Text on which the weights are fitted.")
    ] = None,
    output: Output = "-",
    threads: Threads = 0,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Score sentences: one JSON object a line with log_prob (natural), tokens (</s> included) and oov.

    The output is JSON with and without --json. Unknown words count as <unk> and are counted in oov.
    """
    del json
    hush(quiet)
    if (lm is None) != (valid is None):
        raise typer.BadParameter("--lm and --valid come together: the weights are fitted on the latter")
    loaded = HMMLanguageModel.load(model)
    mixed = None
    if lm is not None and valid is not None:
        mixed = Interpolation.fit([loaded, NgramModel.load(lm)], read_text(valid), threads)
        if not quiet:
            print(f"hiddenite: weight of the hidden Markov model {mixed.weights[0]:.4f}", file=sys.stderr)
    total = ScoreSummary(0, 0, 0, 0.0, 0.0)
    with (
        byte_progress("scoring", file_bytes([text]), quiet) as report,
        ChunkReader(text, report) as reader,
        atomic_output(output) as out,
    ):
        for lines, first_line in line_blocks(reader):
            if mixed is None:
                scores = loaded.score_text(lines, threads, reader.name, first_line)
            else:
                tokens = loaded.read(lines, reader.name, first_line)
                scores = loaded.scores(tokens, mixed.token_log_probs(lines, threads))
            total += scores.summary()
            if not summary:
                out.write("".join(json_line(s.to_dict()) for s in scores).encode())
        if summary:
            out.write(json_line(total.to_dict()).encode())


@app.command(
    "generate",
    epilog="Example: hiddenite hmmlm generate --model corpus.hmm --keywords 'dog tree' --length 8 --seed 1",
)
def generate(
    model: Model,
    *,
    keywords: Annotated[
        str, typer.Option("--keywords", help="Words that must occur, in any order; phrases between commas.")
    ] = "",
    pattern: Annotated[
        str | None,
        typer.Option(
            "--pattern", metavar="REGEX", help=r"Regular expression over words: 'the (dog|cat) .* \.'"
        ),
    ] = None,
    length: Annotated[
        int | None, typer.Option("--length", min=0, help=f"Words; up to {MAX_LENGTH} if not given.")
    ] = None,
    number: Annotated[int, typer.Option("-n", min=1, help="Sentences.")] = 1,
    method: Annotated[
        str,
        typer.Option(
            "--method", help="sample: independent draws; rescore: the best of many; best: words and states."
        ),
    ] = "sample",
    candidates: Annotated[int, typer.Option("--candidates", min=1, help="Draws to choose from.")] = 100,
    seed: Seed = None,
    output: Output = "-",
    threads: Threads = 0,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Generate sentences that satisfy a constraint, exactly as the model would if it had to.

    With --json one object a line: words, log_prob, and the exact log probability of the constraint.
    """
    hush(quiet)
    if method not in GENERATORS:
        raise typer.BadParameter(f"found '{method}', expected {', '.join(GENERATORS)}", param_hint="--method")
    loaded = HMMLanguageModel.load(model)
    phrases = (
        [part for part in keywords.split(",") if part.strip()] if "," in keywords else tokenize(keywords)
    )
    result = loaded.generate(
        number,
        length=length,
        keywords=phrases,
        pattern=pattern,
        method=method,
        candidates=candidates,
        seed=_seed(seed, quiet) if method != "best" else 0,
        threads=threads,
    )
    with atomic_output(output) as out:
        for sentence in result.sentences:
            record = sentence.to_dict() | {"constraint_log_prob": result.to_dict()["constraint_log_prob"]}
            out.write((json_line(record) if json else " ".join(sentence.words) + "\n").encode())
