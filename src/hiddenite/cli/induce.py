"""hiddenite induce: parts of speech from plain text, their scores and their pictures."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from hiddenite.cli.batch import Ray
from hiddenite.cli.common import AsJson, Output, Quiet, Threads, byte_progress, hush, json_line, random_seed
from hiddenite.corpus import ChunkReader, atomic_output, file_bytes
from hiddenite.distributed import Cluster
from hiddenite.errors import FormatError, HiddeniteError
from hiddenite.induce.archive import saved_seed
from hiddenite.induce.chains import Stage, chain_member
from hiddenite.induce.evaluation import Comparison, compare
from hiddenite.induce.induction import Induction, Sweep
from hiddenite.induce.options import (
    DEFAULT_START_ITERATIONS,
    MAX_SEED,
    MODELS,
    SAMPLERS,
    SPELLINGS,
    STARTS,
    VARIANTS,
    InduceOptions,
)
from hiddenite.induce.plots import class_table, plot_classes, plot_log_joint
from hiddenite.induce.text import Text
from hiddenite.tag.formats import (
    COLUMNS,
    FORMATS,
    FormatName,
    Record,
    format_of,
    read_records,
    read_tagged,
    write_record,
)

app = typer.Typer(help="Part-of-speech induction from plain text.", no_args_is_help=True)

KINDS = ("log-joint", "classes", "table")
Column = Annotated[
    str, typer.Option("--column", help="CoNLL-U column of the tags: upos or xpos.", metavar="upos|xpos")
]
_ALL_SAMPLERS = [sampler for samplers in SAMPLERS.values() for sampler in samplers]


def _choice(found: str, known: Iterable[str], option: str) -> Any:
    """Return what was found if it is one of the known; a usage error otherwise."""
    names = list(known)
    if found not in names:
        raise typer.BadParameter(f"found '{found}', expected {', '.join(names)}", param_hint=option)
    return found


# ------------------------------------------------------------------------ run


@app.command(
    "run",
    epilog="Example: hiddenite induce run text.txt --tags 45 --model one-tag+lm --iterations 100 --seed 1 "
    "--output tagged.tsv",
)
def run_command(
    text: Annotated[
        str, typer.Argument(metavar="[TEXT]", help="Plain text, TSV or CoNLL-U; - is stdin.")
    ] = "-",
    *,
    tags: Annotated[int, typer.Option("--tags", min=1, metavar="K", help="How many tags.")],
    model: Annotated[str, typer.Option("--model", help=f"One of {', '.join(MODELS)}.")] = "lex+lm",
    sampler: Annotated[
        str, typer.Option("--sampler", help=f"One of {', '.join(_ALL_SAMPLERS)}; by the model if not given.")
    ] = "",
    iterations: Annotated[int, typer.Option("--iterations", "-n", min=1, help="Sweeps.")] = 200,
    burn_in: Annotated[
        int | None, typer.Option("--burn-in", min=0, help="Sweeps before samples are kept; else half.")
    ] = None,
    order: Annotated[int, typer.Option("--order", help="Longest n-grams of tags.")] = 3,
    particles: Annotated[int, typer.Option("--particles", min=1, help="Of the particle samplers.")] = 10,
    chunk: Annotated[
        int, typer.Option("--chunk", min=0, help="Tokens of a word that are drawn together; 0: all.")
    ] = 64,
    chains: Annotated[int, typer.Option("--chains", min=1, help="Independent chains; the best answers.")] = 1,
    start: Annotated[
        str,
        typer.Option(
            "--start", help=f"One of {', '.join(STARTS[:-1])}, or a file of lines word TAB cluster number."
        ),
    ] = "",
    start_iterations: Annotated[
        int | None,
        typer.Option(min=0, help=f"Sweeps of a one-tag start; {DEFAULT_START_ITERATIONS} if not given."),
    ] = None,
    variant: Annotated[str, typer.Option("--variant", help=f"lex: one of {', '.join(VARIANTS)}.")] = VARIANTS[
        0
    ],
    geometric: Annotated[
        float, typer.Option("--geometric", help="lex: how probable a class of one tag is beforehand.")
    ] = 0.9,
    spelling: Annotated[str, typer.Option("--spelling", help=f"+lm: {' or '.join(SPELLINGS)}.")] = SPELLINGS[
        0
    ],
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, max=MAX_SEED, help="Seed; drawn and shown if not given.")
    ] = None,
    save: Annotated[
        str | None, typer.Option("--save", metavar="MODEL", help="Write a tagger for `hiddenite tag run`.")
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option("--checkpoint", metavar="DIR", help="Keep the run there, and go on if it holds one."),
    ] = None,
    format: Annotated[
        str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}; auto goes by the file's name.")
    ] = "auto",
    to: Annotated[
        str, typer.Option("--to", help=f"Output format: {', '.join(FORMATS)}; auto is TSV, or CoNLL-U.")
    ] = "auto",
    column: Column = "xpos",
    output: Output = "-",
    ray: Ray = None,
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Find parts of speech in plain text, one sentence a line; no tagged text is needed.

    Each token gets one of K tags, T0 to T(K-1): the one it has in most samples after the burn-in. A run that
    was interrupted goes on from its --checkpoint when the same command is given again, and ends with the same
    tags. On a cluster (--ray) chains run next to each other, with the same result.
    """
    hush(quiet)
    _choice(column, COLUMNS, "--column")
    source: FormatName = _choice(format, FORMATS, "--format")
    target: FormatName = _choice(to, FORMATS, "--to")
    source = format_of(text, "plain") if source == "auto" else source
    if target == "auto":
        target = "conllu" if source == "conllu" else "tsv"
    clusters = None if start in ("", *STARTS[:-1]) else _read_clusters(start)
    if seed is None and checkpoint is not None:
        seed = saved_seed(checkpoint)
    try:
        options = InduceOptions(
            tags=tags,
            model=model,  # type: ignore[arg-type]
            sampler=sampler,
            iterations=iterations,
            burn_in=burn_in,
            order=order,
            particles=particles,
            chunk=chunk,
            chains=chains,
            start=start if clusters is None else "clusters",
            start_iterations=start_iterations,
            variant=variant,
            spelling=spelling,
            geometric=geometric,
            seed=random_seed() if seed is None else seed,
        )
    except HiddeniteError as error:
        raise typer.BadParameter(str(error)) from None
    if not quiet:
        print(f"hiddenite: seed {options.seed}", file=sys.stderr)
    records = _read(text, source, column, quiet)
    words = Text.of(record.words for record in records)
    with contextlib.ExitStack() as stack:
        crew = None
        if ray is not None:
            crew = stack.enter_context(Cluster(ray, threads)).pool(chain_member, shared=(words, options))
        run = Induction(words, options, threads=threads, clusters=clusters, checkpoint=checkpoint, crew=crew)
        _watch(run, quiet)
    with atomic_output(output) as out:
        for record, found in zip(records, run.tags(), strict=True):
            out.write(write_record(record, found, target, column).encode())
    if save is not None:
        run.export().save(save)
    if not quiet:
        _report(run)


def _read(path: str, source: FormatName, column: str, quiet: bool) -> list[Record]:
    """Return the sentences; an error if there is no word."""
    with byte_progress("reading", file_bytes([path]), quiet) as report, ChunkReader(path, report) as reader:
        records = list(read_records(reader, source, column))
    for record in records:
        if record.fault is not None:
            raise FormatError(reader.name, record.line, record.fault)
    if not any(record.words for record in records):
        raise FormatError(reader.name, None, "holds no word, expected text, one sentence a line")
    return records


def _read_clusters(path: str) -> dict[str, int]:
    """Return the clusters of a file of lines ``word TAB number``."""
    clusters: dict[str, int] = {}
    for record in read_tagged(path, "tsv"):
        for word, number in record.pairs():
            if not number.isdecimal():
                raise FormatError(
                    path, record.line, f"found the cluster '{number}', expected a number from 0"
                )
            clusters[word] = int(number)
    return clusters


def _watch(run: Induction, quiet: bool) -> None:
    """Run it; on a terminal, with a line that tells how far it is."""
    if quiet or not sys.stderr.isatty():
        run.run()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TextColumn("{task.fields[told]}"),
        TimeRemainingColumn(),
    )
    tokens = len(run.text.tokens) * run.num_chains
    with contextlib.ExitStack() as stack:
        progress = Progress(*columns, console=Console(stderr=True), transient=True)
        stack.enter_context(progress)
        labels: dict[Stage, str] = {"start": "one-tag start", "main": run.options.model}
        stages = {
            stage: progress.add_task(label, total=run.num_sweeps(stage), told="", visible=False)
            for stage, label in labels.items()
        }
        sweeps = stack.enter_context(contextlib.closing(iter(run)))  # an interrupt ends it there and then
        for sweep in sweeps:
            task = stages[sweep.stage]
            progress.update(task, completed=sweep.index, told=_line(sweep, tokens), visible=True)


def _line(sweep: Sweep, tokens: int) -> str:
    speed = tokens / max(sweep.seconds, 1e-9)
    return f"log joint {sweep.log_joint:,.0f} · {100 * sweep.moved:.1f} % moved · {speed:,.0f} tokens/s"


def _report(run: Induction) -> None:
    """Say on stderr what came of it."""
    found = run.diagnostics()
    told = f"hiddenite: log joint {run.last_sweep().log_joint:.1f}"
    if run.num_chains > 1:
        told += f", chain {found.best_chain + 1} of {run.num_chains}, R-hat {found.r_hat:.3f}"
    if found.ess == found.ess:  # not NaN
        told += f", {found.ess:.1f} effective samples of {found.draws * found.chains}"
    print(told, file=sys.stderr)


# ---------------------------------------------------------------------- score


@app.command("score", epilog="Example: hiddenite induce score gold.tsv tagged.tsv")
def score_command(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="Gold tags, TSV or CoNLL-U.")],
    tagged: Annotated[str, typer.Argument(metavar="PRED", help="Induced tags of the same words.")],
    *,
    column: Column = "xpos",
    format: Annotated[
        str, typer.Option("--format", help="Of GOLD: auto, tsv or conllu; auto goes by the file's name.")
    ] = "auto",
    tagged_format: Annotated[str, typer.Option("--tagged-format", help="Of PRED: the same.")] = "auto",
    tables: Annotated[bool, typer.Option("--tables", help="Add what each induced tag consists of.")] = False,
    learn: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--learn",
            metavar="GOLD PRED",
            help="Learn the many-to-one names on these files: adds learnt_many_to_one.",
        ),
    ] = None,
    output: Output = "-",
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare induced tags with gold ones: one JSON object.

    many_to_one, one_to_one and v_measure are fractions. The output is JSON with and without --json.
    """
    del json
    hush(quiet)
    _choice(column, COLUMNS, "--column")
    for option, name in (("--format", format), ("--tagged-format", tagged_format)):
        _choice(name, [f for f in FORMATS if f != "plain"], option)
    found = _compare(gold, tagged, format, tagged_format, column)
    record = found.to_dict(tables)
    if learn is not None:
        names = _compare(*learn, "auto", "auto", column).mapping()
        record["learnt_many_to_one"] = found.accuracy_of(names)
    with atomic_output(output) as out:
        out.write(json_line(record).encode())


def _compare(gold: str, tagged: str, gold_format: str, tagged_format: str, column: str) -> Comparison:
    """Compare two files, which must hold the same words."""
    pairs = []
    left, right = _with_words(gold, gold_format, column), _with_words(tagged, tagged_format, column)
    last = 0
    for a in left:
        b = next(right, None)
        if b is None:
            raise FormatError(tagged, None, f"ends before the sentence of {gold}:{a.line}")
        if a.words != b.words:
            found, expected = _first_difference(a, b)
            raise FormatError(
                tagged,
                b.line,
                f"found '{found}', expected '{expected}' as in the sentence of {gold}:{a.line}",
            )
        pairs.append((a.tags, b.tags))
        last = a.line
    more = next(right, None)
    if more is not None:
        raise FormatError(
            tagged, more.line, f"found a sentence more than in {gold}, which ends at line {last}"
        )
    if not pairs:
        raise FormatError(gold, None, "holds no tagged word, expected word TAB tag or CoNLL-U")
    return compare([a for a, _ in pairs], [b for _, b in pairs])


def _with_words(path: str, file_format: str, column: str) -> Iterator[Record]:
    records = read_tagged(path, file_format, column)  # type: ignore[arg-type]
    return (record for record in records if record.words)


def _first_difference(gold: Record, tagged: Record) -> tuple[str, str]:
    for a, b in zip(gold.words, tagged.words, strict=False):
        if a != b:
            return b, a
    longer = len(tagged.words) > len(gold.words)
    return (tagged.words[len(gold.words)], "") if longer else ("", gold.words[len(tagged.words)])


# ----------------------------------------------------------------------- plot


@app.command("plot", epilog="Example: hiddenite induce plot run1 run2 --kind table")
def plot_command(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Folders that `induce run --checkpoint` wrote.")
    ],
    *,
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="log-joint: over sweeps; classes: words by rank of their class; table: frequent classes.",
        ),
    ] = "log-joint",
    seconds: Annotated[bool, typer.Option("--seconds", help="log-joint: over time.")] = False,
    number: Annotated[int, typer.Option("--number", min=1, help="table: so many classes.")] = 20,
    output: Output = "-",
    quiet: Quiet = False,
) -> None:
    """Draw runs: a picture in the format of the output's ending, or a table as text.

    log-joint and classes need matplotlib and an --output that is a file.
    """
    hush(quiet)
    _choice(kind, KINDS, "--kind")
    if kind != "table" and output == "-":
        raise typer.BadParameter("a picture needs a file", param_hint="--output")
    loaded = [(Path(run).name or run, Induction.load(run)) for run in runs]
    if kind == "log-joint":
        plot_log_joint(loaded, output, seconds=seconds)
    elif kind == "classes":
        plot_classes(loaded, output)
    else:
        with atomic_output(output) as out:
            for name, run in loaded:
                head = f"# {name}\n" if len(loaded) > 1 else ""
                out.write((head + class_table(run.lexicon(), number)).encode())
