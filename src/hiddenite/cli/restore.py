"""hiddenite restore: punctuation, capitals, diacritics, blanks or any hidden events put back into text."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from hiddenite.cli.command import command, group
from hiddenite.cli.common import Batch, Json, OnlyJson, Output, OutputFile, Threads, json_line
from hiddenite.cli.progress import progress
from hiddenite.errors import FormatError, OptionError
from hiddenite.files.corpus import ChunkReader, decode, file_bytes, line_blocks
from hiddenite.files.output import atomic_output
from hiddenite.jobs.batch import AnswerBlock, Block, Outcome, line_records, run_batch
from hiddenite.jobs.model_cache import local_path
from hiddenite.ngram_training import MAX_ORDER, read_vocabulary
from hiddenite.options import MISSING, Options, argument, option
from hiddenite.restore import Restored, Restorer, evaluate, train_restorer
from hiddenite.restore.folding import parse_what
from hiddenite.results import Failure

RESTORED_AT_ONCE = 256  # lines

app = group("Restore punctuation, capitals, diacritics, blanks or any hidden events.")


@dataclass(frozen=True, kw_only=True)
class TrainOptions(OutputFile):
    """The options of restore train."""

    text: tuple[str, ...] = argument(MISSING, "Text as it should be, one sentence a line.", "TEXT...")
    what: str = option(
        "punctuation,case",
        "What is missing: punctuation, case, diacritics, spaces, events; separated by commas.",
        metavar="WHAT,...",
    )
    events: str | None = option(None, "The words that --what events restores.", metavar="FILE")
    order: int = option(5, "Longest n-grams of words and events.", least=1, most=MAX_ORDER)
    min_count: int = option(2, "Rarer words are known to the n-gram model by their kind alone.", least=1)
    max_events: int = option(1, "Most events in a row.", least=1, most=8)


@command(
    app,
    "train",
    TrainOptions,
    example="hiddenite restore train corpus.txt --what punctuation,case --output corpus.restorer",
)
def train(options: TrainOptions) -> None:
    """Learn from plain text what will be missing later; words and marks are separated by blanks."""
    options.hush()
    what = parse_what(options.what)
    if (options.events is None) == ("events" in what):
        raise OptionError("events", "needs --what events, and --what events needs --events FILE")
    events = None if options.events is None else read_vocabulary(options.events)
    with progress("reading", file_bytes(options.text), options.quiet):
        restorer = train_restorer(
            functools.partial(_sentences, options.text),
            what,
            options.order,
            events=events,
            min_count=options.min_count,
            max_events=options.max_events,
        )
    restorer.save(options.output)


def _sentences(paths: tuple[str, ...]) -> Iterator[str]:
    for path in paths:
        with ChunkReader(path) as reader:
            for lines, _ in line_blocks(reader):
                yield from decode(lines, reader.name).removesuffix("\n").split("\n")


@dataclass(frozen=True, kw_only=True)
class Model(Options):
    """A command that needs a restorer."""

    model: str = option(MISSING, "What `restore train` wrote.", metavar="MODEL")


@dataclass(frozen=True, kw_only=True)
class RunOptions(Model, Batch, Json):
    """The options of restore run."""

    text: str = argument(
        "-", "Text in which something is missing, one sentence a line; - is stdin.", "[TEXT]"
    )
    k: int = option(1, "The k best texts of each line, with --json.", "-k", least=1, when={"json": (True,)})
    min_probability: float | None = option(
        None,
        "Put back only what is at least so probable; leave the rest as it is.",
        least=0,
        most=1,
        when={"k": (1,)},
    )


@command(
    app, "run", RunOptions, example="echo 'hello how are you' | hiddenite restore run --model corpus.restorer"
)
def run(options: RunOptions) -> int:
    """Restore text, line by line: the most probable one, with the proof in JSON.

    With --min-probability each word and event is decided by its own probability, which JSON shows.
    """
    options.hush()
    with (
        progress("restoring", file_bytes([options.text]), options.quiet) as report,
        ChunkReader(options.text, report) as reader,
    ):
        make = functools.partial(
            _restorer, options.model, options.k, options.min_probability, options.json, reader.name
        )
        job = options.job("restore run", (options.model,))
        return run_batch(job, reader.name, line_records(reader, RESTORED_AT_ONCE), make)


def _restorer(
    model: str, k: int, min_probability: float | None, as_json: bool, name: str
) -> AnswerBlock[bytes]:
    """Load the model; return what restores a block of lines."""
    restorer = Restorer.load(local_path(model))

    def answer(block: Block[bytes], threads: int) -> list[Outcome]:
        lines = [_line(raw, name, block.first + i + 1) for i, raw in enumerate(_split(block))]
        texts = [line for line in lines if isinstance(line, str)]
        found = iter(_records(restorer, texts, threads, k, min_probability=min_probability, as_json=as_json))
        outcomes = []
        for number, line in enumerate(lines, block.first + 1):
            record = next(found) if isinstance(line, str) else line
            if isinstance(record, Failure):
                text = json_line(record.to_dict()) if as_json else "\n"
                outcomes.append(Outcome(text, number, record.error))
            else:
                outcomes.append(Outcome(record, number))
        return outcomes

    return answer


def _split(block: Block[bytes]) -> list[bytes]:
    return block.item.split(b"\n")[: block.size]


def _line(raw: bytes, name: str, number: int) -> str | Failure:
    try:
        return decode(raw, name)
    except FormatError as error:
        return Failure(f"line {number}: {error.message}", None, None)


def _records(
    restorer: Restorer,
    lines: list[str],
    threads: int,
    k: int,
    *,
    min_probability: float | None,
    as_json: bool,
) -> Iterator[str | Failure]:
    if min_probability is not None:
        for posterior in restorer.probabilities(lines, threads):
            if isinstance(posterior, Failure):
                yield posterior
                continue
            tokens = posterior.tokens(min_probability)
            text = " ".join(word for word, _ in tokens)
            yield (
                json_line({"text": text, "tokens": [list(token) for token in tokens]})
                if as_json
                else f"{text}\n"
            )
    elif k > 1:
        for ranked in restorer.kbest_many(lines, k, threads):
            if isinstance(ranked, Failure):
                yield ranked
                continue
            best = [{"text": " ".join(one.words), "log_weight": one.log_weight} for one in ranked]
            yield json_line({"kbest": best, "certificate": ranked.certificate.to_dict()})
    else:
        for found in restorer.restore_many(lines, threads):
            if isinstance(found, Restored):
                yield json_line(found.to_dict()) if as_json else f"{found.text}\n"
            else:
                yield found


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(Model, Output, Threads, OnlyJson):
    """The options of restore evaluate."""

    text: str = argument("-", "Text as it should be, one sentence a line; - is stdin.", "[TEXT]")


@command(
    app, "evaluate", EvaluateOptions, example="hiddenite restore evaluate --model corpus.restorer heldout.txt"
)
def evaluate_model(options: EvaluateOptions) -> None:
    """Fold a text, restore it, and compare: accuracy of words, F1 of events and of the places of words."""
    options.hush()
    restorer = Restorer.load(options.model)
    lines = list(_sentences((options.text,)))
    restored = [
        found.text if isinstance(found, Restored) else ""
        for found in restorer.restore_many(lines, options.threads)
    ]
    record = evaluate(restorer.folding, lines, restored).to_dict()
    with atomic_output(options.output) as out:
        out.write(json_line(record).encode())
