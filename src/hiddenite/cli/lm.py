"""hiddenite lm: train, score, maximize, compile and describe n-gram models."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

import typer

from hiddenite.cli.batch import Block, Job, OnError, Outcome, Ray, Resume, file_state, line_records, run_batch
from hiddenite.cli.common import (
    AsJson,
    Lm,
    Output,
    Quiet,
    Threads,
    byte_progress,
    hush,
    json_line,
    size_option,
)
from hiddenite.copies import here
from hiddenite.corpus import ChunkReader, atomic_output, file_bytes, line_blocks
from hiddenite.counting import TextShard, train_shards
from hiddenite.distributed import Cluster
from hiddenite.errors import FormatError, ModelError
from hiddenite.ngram import MAX_ORDER, NgramModel, TrainingOptions, read_vocabulary
from hiddenite.results import ScoreSummary

SCORED_AT_ONCE = 4096  # lines

app = typer.Typer(help="N-gram language models.", no_args_is_help=True)

Unknown = Annotated[
    float | None,
    typer.Option(
        "--unk-log10",
        max=0.0,
        help="log10 p(<unk>) for a file that lists no <unk> (-99 means zero); without it p(<unk>) is zero.",
    ),
]


def _thresholds(text: str) -> list[int]:
    try:
        values = [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        values = [-1]
    if any(value < 0 for value in values):
        raise typer.BadParameter(f"found '{text}', expected counts such as 0,0,1", param_hint="--prune")
    return values


@app.command("train", epilog="Example: hiddenite lm train corpus.txt --order 3 --output corpus.arpa.gz")
def train(
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="Text, one sentence a line; - is stdin.")],
    *,
    output: Output,
    order: Annotated[int, typer.Option(min=1, max=MAX_ORDER, help="Longest n-grams.")] = 5,
    prune: Annotated[
        str,
        typer.Option(help="Leave out n-grams seen at most so often, per order: 0,0,1; the last one goes on."),
    ] = "",
    vocabulary: Annotated[
        str | None, typer.Option(metavar="FILE", help="Words to keep; all others become <unk>.")
    ] = None,
    unk_below: Annotated[int, typer.Option(min=0, help="Words seen less often become <unk>.")] = 0,
    memory: Annotated[
        str,
        typer.Option(help="Memory for text, 16 bytes a token; what exceeds it goes to sorted runs on disk."),
    ] = "2G",
    temporary: Annotated[
        str | None, typer.Option("--temporary", metavar="DIR", help="Where runs go.")
    ] = None,
    ray: Ray = None,
    quiet: Quiet = False,
) -> None:
    """Estimate an interpolated modified Kneser-Ney model and write it as ARPA text.

    The distinct n-grams stay in memory: about 60 MB per million of them at order 5.
    Only text beyond --memory is sorted on disk. With --ray the text is read twice and counted in shards.
    An output ending in .gz, .bz2 or .xz is compressed.
    """
    hush(quiet)
    extra = {} if temporary is None else {"temporary_directory": temporary}
    words = None if vocabulary is None else read_vocabulary(vocabulary)
    try:
        options = TrainingOptions(
            order=order,
            prune=_thresholds(prune),
            unknown_below=unk_below,
            vocabulary=words,
            memory_bytes=size_option(memory, "--memory"),
            **extra,
        )
    except ModelError as error:
        raise typer.BadParameter(str(error)) from None
    if ray is not None:
        with Cluster(ray) as cluster:
            model = train_shards(text, options, functools.partial(_ask, cluster))
    else:
        with byte_progress("reading", file_bytes(text), quiet) as report:
            model = NgramModel.train_files(text, options, report)
    model.save(output)


def _ask(
    cluster: Cluster,
    make: Callable[..., Callable[[TextShard], Any]],
    shared: Sequence[Any],
    shards: Iterator[TextShard],
) -> Iterator[tuple[TextShard, Any]]:
    """Give shards with their answers from a cluster."""
    with cluster.pool(make, shared=shared) as pool:
        yield from pool.in_order(shards)


@app.command("score", epilog="Example: hiddenite lm score --lm corpus.arpa.gz heldout.txt --summary")
def score(
    lm: Lm,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Text, one sentence a line.")] = "-",
    *,
    summary: Annotated[
        bool, typer.Option("--summary", help="Totals and perplexities instead of sentences.")
    ] = False,
    output: Output = "-",
    resume: Resume = False,
    on_error: OnError = "stop",
    ray: Ray = None,
    threads: Threads = 0,
    unk_log10: Unknown = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Score sentences: one JSON object a line with log_prob (natural), tokens (</s> included) and oov.

    The output is JSON with and without --json. A log_prob of null means probability zero.
    """
    del json
    hush(quiet)
    if summary and (resume or on_error != "stop" or ray is not None):
        raise typer.BadParameter("--summary is one record; leave out --resume, --on-error and --ray")
    options = {"lm": file_state(lm), "unk_log10": unk_log10}
    job = Job("lm score", options, output, resume, on_error, ray=ray, processes=threads, files=(lm,))
    with (
        byte_progress("scoring", file_bytes([text]), quiet) as report,
        ChunkReader(text, report) as reader,
    ):
        if summary:
            _summarize(NgramModel.load(lm, unk_log10), reader, output, threads)
            return
        make = functools.partial(_scorer, lm, unk_log10, threads if ray is None else 1, reader.name)
        run_batch(job, reader.name, line_records(reader, SCORED_AT_ONCE), make)


def _summarize(model: NgramModel, reader: ChunkReader, output: str, threads: int) -> None:
    total = ScoreSummary(0, 0, 0, 0.0, 0.0)
    with atomic_output(output) as out:
        for lines, first_line in line_blocks(reader):
            total += model.score_text(lines, threads, reader.name, first_line).summary()
        out.write(json_line(total.to_dict()).encode())


def _scorer(
    lm: str, unk_log10: float | None, threads: int, name: str
) -> Callable[[Block[bytes]], list[Outcome]]:
    """Load the model; return what scores a block of lines."""
    model = NgramModel.load(here(lm), unk_log10)
    return lambda block: _scores(model, block, threads, name)


def _scores(model: NgramModel, block: Block[bytes], threads: int, name: str) -> list[Outcome]:
    """Score a block; if it holds a line that is no sentence, line by line."""
    try:
        scores = model.score_text(block.item, threads, name, block.first + 1)
    except FormatError as error:
        if block.size == 1:
            return [Outcome(json_line({"error": error.message}), block.first + 1, error.message)]
        lines = block.item.split(b"\n")[: block.size]
        single = (Block(line + b"\n", block.first + i, 1, b"") for i, line in enumerate(lines))
        return [outcome for one in single for outcome in _scores(model, one, threads, name)]
    return [Outcome(json_line(s.to_dict()), line) for line, s in enumerate(scores, block.first + 1)]


@app.command("compile", epilog="Example: hiddenite lm compile corpus.arpa.gz --output corpus.hlm")
def compile_model(
    lm: Annotated[str, typer.Argument(metavar="LM", help="ARPA file.")],
    output: Output,
    index: Annotated[
        bool,
        typer.Option(help="Keep what decode, sample and marginals build on first use too; a larger file."),
    ] = True,
    unk_log10: Unknown = None,
    quiet: Quiet = False,
) -> None:
    """Write a model as a file that is mapped into memory: opened at once, shared by all processes.

    Every command that takes an ARPA file takes it. It is for machines of one kind and this version of the
    format; keep the ARPA file.
    """
    hush(quiet)
    NgramModel.load(lm, unk_log10).compile(output, index=index)


@app.command("maximize", epilog="Example: hiddenite lm maximize corpus.arpa --output corpus.max.arpa")
def maximize(
    lm: Annotated[str, typer.Argument(metavar="LM", help="ARPA file.")],
    output: Output,
    unk_log10: Unknown = None,
    quiet: Quiet = False,
) -> None:
    """Write a MAX-ARPA file: the same lines with two more columns, log10 mf and log10 mbow.

    mf(s, w) is the largest probability of w after any context that ends in s.
    For a w that s does not list it is mbow(s) p(w | s without its first word).
    """
    hush(quiet)
    NgramModel.load(lm, unk_log10).save(output, max_columns=True)


@app.command("info", epilog="Example: hiddenite lm info corpus.arpa.gz")
def info(
    lm: Annotated[str, typer.Argument(metavar="LM", help="ARPA file or compiled model.")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Read all of a compiled model and compare its checksums.")
    ] = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Describe a model: order, vocabulary, n-grams and memory."""
    hush(quiet)
    model = NgramModel.load(lm)
    if verify:
        model.verify()
    ngrams = sum(model.ngram_counts)
    record = {
        "order": model.order,
        "vocabulary": len(model.vocabulary),
        "ngrams": list(model.ngram_counts),
        "unknown_words": model.knows_unknown,
        "memory_bytes": model.memory_bytes,
        "bytes_per_ngram": round(model.memory_bytes / ngrams, 1),
        "compiled": model.is_compiled,
    }
    if json:
        typer.echo(json_line(record), nl=False)
        return
    typer.echo(f"order            {model.order}")
    typer.echo(f"vocabulary       {len(model.vocabulary):,} words, <unk>, <s> and </s> included")
    for n, count in enumerate(model.ngram_counts, 1):
        typer.echo(f"{f'{n}-grams':<16} {count:,}")
    typer.echo(f"unknown words    {'as <unk>' if model.knows_unknown else 'probability zero'}")
    typer.echo(
        f"memory           {model.memory_bytes / 1e6:.1f} MB, {record['bytes_per_ngram']} bytes per n-gram"
    )
    if model.is_compiled:
        typer.echo(f"compiled         {'checksums agree' if verify else 'checksums not compared: --verify'}")
