"""hiddenite lm: train, score, maximize and describe n-gram models."""

from __future__ import annotations

from typing import Annotated

import typer

from hiddenite.cli.common import AsJson, Output, Quiet, Threads, byte_progress, hush, json_line, size_option
from hiddenite.corpus import ChunkReader, atomic_output, file_bytes, line_blocks
from hiddenite.errors import ModelError
from hiddenite.ngram import MAX_ORDER, NgramModel, TrainingOptions, read_vocabulary
from hiddenite.results import ScoreSummary

app = typer.Typer(help="N-gram language models.", no_args_is_help=True)

Unknown = Annotated[
    float | None,
    typer.Option(
        "--unk-log10", max=0.0, help="log10 p(<unk>) for a file that lists no <unk>; else it is zero."
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
    quiet: Quiet = False,
) -> None:
    """Estimate an interpolated modified Kneser-Ney model and write it as ARPA text.

    The distinct n-grams stay in memory: about 60 MB per million of them at order 5.
    Only text beyond --memory is sorted on disk.
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
    with byte_progress("reading", file_bytes(text), quiet) as report:
        model = NgramModel.train_files(text, options, report)
    model.save(output)


@app.command("score", epilog="Example: hiddenite lm score --lm corpus.arpa.gz heldout.txt --summary")
def score(
    lm: Annotated[str, typer.Option("--lm", metavar="LM", help="ARPA file.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Text, one sentence a line.")] = "-",
    *,
    summary: Annotated[
        bool, typer.Option("--summary", help="Totals and perplexities instead of sentences.")
    ] = False,
    output: Output = "-",
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
    model = NgramModel.load(lm, unk_log10)
    total = ScoreSummary(0, 0, 0, 0.0, 0.0)
    with (
        byte_progress("scoring", file_bytes([text]), quiet) as report,
        ChunkReader(text, report) as reader,
        atomic_output(output) as out,
    ):
        for lines, first_line in line_blocks(reader):
            scores = model.score_text(lines, threads, reader.name, first_line)
            total += scores.summary()
            if not summary:
                out.write("".join(json_line(s.to_dict()) for s in scores).encode())
        if summary:
            out.write(json_line(total.to_dict()).encode())


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
    lm: Annotated[str, typer.Argument(metavar="LM", help="ARPA file.")],
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Describe a model: order, vocabulary, n-grams and memory."""
    hush(quiet)
    model = NgramModel.load(lm)
    ngrams = sum(model.ngram_counts)
    record = {
        "order": model.order,
        "vocabulary": len(model.vocabulary),
        "ngrams": list(model.ngram_counts),
        "unknown_words": model.knows_unknown,
        "memory_bytes": model.memory_bytes,
        "bytes_per_ngram": round(model.memory_bytes / ngrams, 1),
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
