"""hiddenite align: train a word aligner, align, symmetrize, score."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar

from hiddenite.align.aligner import BATCH, Aligner
from hiddenite.align.answers import DEFAULT_SAMPLES, DIRECTIONS, MARGINALS, Alignment, PaperSteps, Question
from hiddenite.align.answers import METHODS as ALIGN_METHODS
from hiddenite.align.bitext import Bitext, bitext_blocks
from hiddenite.align.bitext import Block as Lines
from hiddenite.align.corpus import DECODERS, DEFAULT_DECODER, DEFAULT_THRESHOLD, CorpusDecoding, align_corpus
from hiddenite.align.evaluation import ALPHA
from hiddenite.align.evaluation import score as score_links
from hiddenite.align.fertilities import ESTIMATORS
from hiddenite.align.links import check_gold, check_range, format_links, read_gold, read_links
from hiddenite.align.options import AlignerOptions
from hiddenite.align.shards import em_member, gibbs_member
from hiddenite.align.symmetrize import DEFAULT, METHODS
from hiddenite.align.symmetrize import symmetrize as symmetrize_links
from hiddenite.align.training import MAX_SEED, HmmTraining, Training
from hiddenite.cli.batch import (
    Block,
    Job,
    OnError,
    Outcome,
    Ray,
    Resume,
    accounted,
    choose_seed,
    condensed,
    file_state,
    finish,
    run_batch,
    told,
)
from hiddenite.cli.common import AsJson, Output, Quiet, Threads, byte_progress, hush, json_line
from hiddenite.copies import here
from hiddenite.corpus import atomic_output, file_bytes, tokenize
from hiddenite.distributed import Cluster
from hiddenite.errors import FormatError, HiddeniteError
from hiddenite.journal import Progress
from hiddenite.results import Failure

BUDGET = 10.0  # seconds per sentence pair and direction
PAPER = PaperSteps()
_T = TypeVar("_T")

app = typer.Typer(help="Word alignment.", no_args_is_help=True)

Source = Annotated[
    str, typer.Argument(metavar="SRC", help="Source text, or 'source ||| target' lines; - is stdin.")
]
Target = Annotated[str | None, typer.Argument(metavar="[TGT]", help="Target text, line by line.")]
Seed = Annotated[
    int | None, typer.Option("--seed", min=0, max=MAX_SEED, help="Seed; drawn and shown if not given.")
]
Sweeps = Annotated[
    str | None,
    typer.Option(
        "--sweeps",
        metavar="A,B,C",
        help="Sweeps with the lexicon alone, with jumps, with fertilities; by the corpus' size if not given.",
    ),
]
Chains = Annotated[int | None, typer.Option("--chains", min=1, help="Independent runs to average.")]
StringPrior = Annotated[
    bool,
    typer.Option("--string-prior/--no-string-prior", help="Words spelt alike are likelier translations."),
]
Fertilities = Annotated[
    str, typer.Option("--fertilities", help=f"How they are smoothed: {', '.join(ESTIMATORS)}.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Any other training option, e.g. coupling=3; repeatable."
    ),
]
Checkpoint = Annotated[
    str | None,
    typer.Option("--checkpoint", metavar="FILE", help="Kept after each sweep; gone on from if it exists."),
]
Direction = Annotated[str, typer.Option("--direction", help=f"One of {', '.join(DIRECTIONS)}.")]
SymmetrizeWith = Annotated[str, typer.Option("--symmetrize", help=f"One of {', '.join(METHODS)}.")]
BudgetOption = Annotated[
    float,
    typer.Option(
        "--budget", min=0.0, help="Seconds per pair and direction; then the best so far and its gap."
    ),
]


# ---------------------------------------------------------------------- shared


def _usage(make: Callable[[], _T]) -> _T:
    """Turn a refused option into a usage error."""
    try:
        return make()
    except HiddeniteError as error:
        raise typer.BadParameter(str(error)) from None


def _options(
    sweeps: str | None,
    chains: int | None,
    string_prior: bool,
    settings: list[str] | None,
    fertilities: str,
) -> AlignerOptions:
    fields: dict[str, object] = {"chains": chains, "string_prior": string_prior, "fertilities": fertilities}
    if sweeps is not None:
        counts = sweeps.split(",")
        if len(counts) != 3 or not all(c.strip().isdecimal() for c in counts):
            raise typer.BadParameter(
                f"found '{sweeps}', expected three counts such as 8,8,32", param_hint="--sweeps"
            )
        names = ("model1_sweeps", "hmm_sweeps", "fertility_sweeps")
        fields |= dict(zip(names, map(int, counts), strict=True))
    fields |= dict(map(_setting, settings or ()))
    return _usage(lambda: AlignerOptions(**fields))  # type: ignore[arg-type]


def _setting(text: str) -> tuple[str, float]:
    kinds = {
        field.name: type(field.default)
        for field in dataclasses.fields(AlignerOptions)
        if isinstance(field.default, int | float) and not isinstance(field.default, bool)
    }
    name, _, value = text.partition("=")
    if name not in kinds:
        raise typer.BadParameter(f"found '{name}', expected one of {', '.join(kinds)}", param_hint="--set")
    try:
        return name, kinds[name](value)
    except ValueError:
        raise typer.BadParameter(
            f"found '{value}' for {name}, expected {'a whole' if kinds[name] is int else 'a'} number",
            param_hint="--set",
        ) from None


def _train(training: Training | HmmTraining, quiet: bool) -> None:
    """Run all sweeps, showing sweep and fit on a terminal."""
    with contextlib.ExitStack() as stack:
        progress = task = None
        if not quiet and sys.stderr.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[fit]}"))
            progress = stack.enter_context(
                ProgressBar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
            )
            task = progress.add_task("training", total=training.num_sweeps, fit="")
        for sweep in training:
            if progress is not None and task is not None:
                fit = f"sweep {sweep.number}/{sweep.total}  fit {sweep.fit:.4f}"
                progress.update(task, completed=sweep.number, description=sweep.stage, fit=fit)


def _outcome(result: Alignment | Failure, as_json: bool) -> Outcome:
    text = _text(result, as_json)
    if isinstance(result, Failure):
        return Outcome(text, result.id, result.error)
    return Outcome(text, result.id, None, result.certificate is None or result.certificate.exact)


def _text(result: Alignment | Failure, as_json: bool) -> str:
    if as_json:
        return json_line(result.to_dict())
    if isinstance(result, Failure):
        return "\n"
    if result.kbest:
        return "".join(f"{one.log_weight:.6f}\t{format_links(one.links)}\n" for one in result.kbest) + "\n"
    return format_links(result.links) + "\n"


# -------------------------------------------------------------------- commands


@app.command("train", epilog="Example: hiddenite align train en.txt fr.txt --seed 1 --output en-fr.model")
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
    options = _options(sweeps, chains, string_prior, settings, fertilities)
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
        _train(training, quiet)
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


@app.command("run", epilog="Example: hiddenite align run --model en-fr.model en.txt fr.txt --json")
def run(
    model: Annotated[str, typer.Option("--model", metavar="MODEL", help="What align train wrote.")],
    source: Source = "-",
    target: Target = None,
    *,
    direction: Direction = "both",
    symmetrize: SymmetrizeWith = DEFAULT,
    method: Annotated[str, typer.Option("--method", help=f"One of {', '.join(ALIGN_METHODS)}.")] = "exact",
    k: Annotated[int, typer.Option("-k", min=1, help="The k best alignments, of one direction.")] = 1,
    marginals: Annotated[
        str | None,
        typer.Option("--marginals", help=f"Link probabilities, one of {', '.join(MARGINALS)}; with --json."),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", min=1, help="Exact draws behind the probabilities.")
    ] = DEFAULT_SAMPLES,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold", min=0.0, max=1.0, help="Links by probability instead of best alignments."
        ),
    ] = None,
    iterations: Annotated[
        int, typer.Option("--iterations", min=1, help="Of --method paper.")
    ] = PAPER.iterations,
    step: Annotated[
        str, typer.Option("--step", help="Of --method paper: constant, harmonic or root.")
    ] = PAPER.step,
    scale: Annotated[
        float, typer.Option("--scale", min=0.0, help="Of --method paper: the first step.")
    ] = PAPER.scale,
    exactly_all: Annotated[
        bool,
        typer.Option(
            "--exactly-all/--any-number", help="Of --method paper: fertilities add up to all words."
        ),
    ] = True,
    budget: BudgetOption = BUDGET,
    max_states: Annotated[
        int | None, typer.Option("--max-states", min=1, help="The same in partial alignments.")
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Exit 3 if an answer is not certified.")] = False,
    seed: Seed = None,
    output: Output = "-",
    resume: Resume = False,
    on_error: OnError = "record",
    ray: Ray = None,
    threads: Threads = 0,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Align sentence pairs with a trained model: one line of links a pair, source-target, counted from 0.

    With --json each line is an object with id, links, log_weight, certificate and probabilities. exact proves
    each best alignment; paper is the published algorithm; viterbi leaves fertilities out of the search.
    """
    hush(quiet)
    needs_seed = marginals == "samples" or (threshold is not None and marginals is None)
    chosen = choose_seed(seed, quiet, output, resume) if needs_seed else seed or 0
    paper = PaperSteps(iterations, step, scale, exactly_all)

    def make() -> Question:
        question = Question(
            method, direction, symmetrize, k, marginals, samples, threshold, budget, chosen, paper, max_states
        )
        question.task()
        return question

    question = _usage(make)
    options = {"model": file_state(model), "seed": chosen, "json": json, "question": question}
    job = Job(
        "align run",
        options,
        output,
        resume,
        on_error,
        exact,
        uncertified_because="",
        ray=ray,
        processes=threads,
        files=(model,),
    )
    answerer = functools.partial(_answerer, model, question, json, threads if ray is None else 1)
    with byte_progress("aligning", file_bytes([source]), quiet) as report:
        blocks = _blocks(bitext_blocks(source, target, BATCH, report))
        run_batch(job, "<stdin>" if source == "-" else source, blocks, answerer)


def _answerer(
    model: str, question: Question, as_json: bool, threads: int
) -> Callable[[Block[Lines]], list[Outcome]]:
    """Load the aligner; return what answers a block of sentence pairs."""
    aligner = Aligner.load(here(model))

    def answer(block: Block[Lines]) -> list[Outcome]:
        return [_outcome(one, as_json) for one in aligner.ask_block(block.item, question, threads=threads)]

    return answer


def _blocks(pairs: Iterable[Lines]) -> Iterator[Block[Lines]]:
    for lines in pairs:
        size = lines.source.count(b"\n")
        yield Block(lines, lines.first_line - 1, size, lines.source + b"\0" + lines.target)


@app.command("corpus", epilog="Example: hiddenite align corpus en.txt fr.txt --seed 1 --output links.txt")
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
    decoding = _usage(lambda: CorpusDecoding(decode, threshold, symmetrize, direction, budget))
    options = _options(sweeps, chains, string_prior, settings, fertilities)
    bitext = Bitext.read(source, target)
    training = Training(
        bitext, options, seed=choose_seed(seed, quiet), threads=threads, checkpoint=checkpoint
    )
    _train(training, quiet)
    if model is not None:
        Aligner.from_training(training).save(model)
    job = Job("align corpus", {}, output)
    progress = Progress()
    with atomic_output(output) as out:
        for number, result in enumerate(align_corpus(training, decoding, threads=threads)):
            block = Block(result, number, 1, b"")
            answer = condensed([_outcome(result, json)], job)
            told(answer, bitext.source_name)
            progress = accounted(block, answer, progress)
            out.write(answer.text)
    finish(job, progress)


@app.command(
    "symmetrize", epilog="Example: hiddenite align symmetrize --method intersection forward.txt reverse.txt"
)
def symmetrize(
    forward: Annotated[str, typer.Argument(metavar="FORWARD", help="Links, one line a sentence pair.")],
    reverse: Annotated[str, typer.Argument(metavar="REVERSE", help="Those of the other direction.")],
    *,
    method: Annotated[str, typer.Option("--method", help=f"One of {', '.join(METHODS)}.")] = DEFAULT,
    output: Output = "-",
    quiet: Quiet = False,
) -> None:
    """Make one set of links from those of the two directions, both written source-target."""
    hush(quiet)
    _usage(lambda: symmetrize_links((), (), method))
    if forward == reverse == "-":
        raise typer.BadParameter("both directions are standard input; give one as a file")
    with atomic_output(output) as out:
        for a, b in _both(read_links(forward), read_links(reverse), forward, reverse):
            out.write((format_links(symmetrize_links(a, b, method)) + "\n").encode())


def _both(a: Iterable[_T], b: Iterable[_T], first: str, second: str) -> Iterator[tuple[_T, _T]]:
    """Give lines that belong together; files of different lengths are an error with both counts."""
    missing = object()
    counts = [0, 0]
    for pair in itertools.zip_longest(a, b, fillvalue=missing):
        for place, item in enumerate(pair):
            counts[place] += item is not missing
        if counts[0] == counts[1]:
            yield pair  # type: ignore[misc]
    if counts[0] != counts[1]:
        raise FormatError(
            second, None, f"found {counts[1]} lines, expected {counts[0]}, as many as {first} has"
        )


@app.command("score", epilog="Example: hiddenite align score gold.txt links.txt")
def score(
    gold: Annotated[
        str, typer.Argument(metavar="GOLD", help="Gold links: i-j sure, ipj or i?j possible; or NAACL lines.")
    ],
    links: Annotated[str, typer.Argument(metavar="LINKS", help="Links to score, one line a pair.")] = "-",
    *,
    alpha: Annotated[float, typer.Option(min=0.0, max=1.0, help="Weight of precision in F.")] = ALPHA,
    source: Annotated[
        str | None, typer.Option("--source", metavar="SRC", help="Source text, to check positions against.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="TGT", help="Target text; 'source ||| target' if left out."),
    ] = None,
    output: Output = "-",
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Score links against gold ones: one JSON object with precision, recall, aer and f, as fractions.

    With the texts, a link outside its sentence pair, in either file, is an error that names its line.
    """
    del json
    hush(quiet)
    if target is not None and source is None:
        raise typer.BadParameter("--target without --source")
    expected = read_gold(gold)
    found = [*read_links(links)]
    if len(expected) != len(found):
        raise FormatError(
            links, None, f"found {len(found)} lines, expected {len(expected)}, as many as {gold} has"
        )
    if source is not None:
        lengths = list(_lengths(source, target))
        if len(lengths) != len(expected):
            raise FormatError(
                source, None, f"found {len(lengths)} lines, expected {len(expected)}, as many as {gold} has"
            )
        check_gold(expected, lengths, gold)
        for number, (one, size) in enumerate(zip(found, lengths, strict=True), 1):
            check_range(one, size, links, number)
    with atomic_output(output) as out:
        out.write(json_line(score_links(expected, found, alpha=alpha).to_dict()).encode())


def _lengths(source: str, target: str | None) -> Iterator[tuple[int, int]]:
    for block in bitext_blocks(source, target):
        block.check(source)
        sides = (text.decode(errors="replace").split("\n")[:-1] for text in (block.source, block.target))
        for e, f in zip(*sides, strict=True):
            yield len(tokenize(e)), len(tokenize(f))
