"""hiddenite lm: train, count, score, maximize, compile and describe n-gram models."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hiddenite.cli.command import command, group
from hiddenite.cli.common import Batch, OnlyJson, Output, OutputFile, Ray, json_line, size_option
from hiddenite.cli.info import InfoOptions, info
from hiddenite.cli.lm_tools import COMMANDS, ConvertOptions
from hiddenite.cli.progress import progress
from hiddenite.cli.weights import Words
from hiddenite.counting import TextShard, train_shards
from hiddenite.errors import FormatError, OptionError
from hiddenite.files.corpus import ChunkReader, file_bytes, line_blocks, tokenize
from hiddenite.files.count_folder import CountFolder
from hiddenite.files.output import atomic_output
from hiddenite.jobs.batch import POLICIES, AnswerBlock, Block, Outcome, line_records, run_batch
from hiddenite.jobs.ray import Cluster
from hiddenite.ngram import NgramModel
from hiddenite.ngram_mixture import ModelMixture
from hiddenite.ngram_training import MAX_ORDER, SMOOTHINGS, TrainingOptions, read_vocabulary
from hiddenite.options import MISSING, RUNNING, argument, option, same
from hiddenite.records import json_number
from hiddenite.scores import ScoreSummary

SCORED_AT_ONCE = 4096  # lines

app = group("N-gram language models.")


# ----------------------------------------------------------------------- train


@dataclass(frozen=True, kw_only=True)
class TrainOptions(OutputFile, Ray):
    """The options of lm train."""

    text: tuple[str, ...] = argument((), "Text, one sentence a line; - is stdin.", "[TEXT...]")
    order: int = option(5, "Longest n-grams.", least=1, most=MAX_ORDER)
    counts: str | None = option(
        None,
        "Counts of n-grams instead of text, as `lm count` and SRILM write them; or a folder like Google's.",
        metavar="FILE",
        when={"ray": (None,)},
    )
    smoothing: str = option("kneser-ney", "How counts become probabilities.", choices=tuple(SMOOTHINGS))
    add: float = option(1.0, "What add-k adds to each count.", least=1e-12, when={"smoothing": ("add-k",)})
    prune: str = option(
        "",
        "Leave out n-grams seen at most so often, per order: 0,0,1; the last one holds for the others.",
        metavar="N,N,...",
    )
    vocabulary: str | None = option(None, "Words to keep; all others become <unk>.", metavar="FILE")
    unk_below: int = option(0, "Words seen less often become <unk>.", least=0)
    memory: str = option(
        "2G",
        "Memory for text, 16 bytes a token; what exceeds it goes to sorted runs on disk.",
        metavar="SIZE",
        section=RUNNING,
        when={"ray": (None,)},
    )
    temporary: str | None = option(
        None, "Where runs go.", metavar="DIR", section=RUNNING, when={"ray": (None,)}
    )

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse text and counts together, and neither."""
        super().check_effects(given)
        if self.text and self.counts is not None:
            raise OptionError("counts", "has no effect with TEXT; give one of them")
        if not self.text and self.counts is None:
            raise OptionError("text", "is missing; give files of sentences, or --counts FILE")

    def training(self) -> TrainingOptions:
        """Return the options of the estimation."""
        return TrainingOptions(
            order=self.order,
            prune=self._thresholds(),
            unknown_below=self.unk_below,
            vocabulary=None if self.vocabulary is None else read_vocabulary(self.vocabulary),
            memory_bytes=size_option(self.memory, "memory"),
            smoothing=self.smoothing,
            added=self.add,
            **({} if self.temporary is None else {"temporary_directory": self.temporary}),
        )

    def _thresholds(self) -> list[int]:
        parts = [part.strip() for part in self.prune.split(",") if part.strip()]
        if not all(part.isdecimal() for part in parts):
            raise OptionError("prune", f"is '{self.prune}', expected counts such as 0,0,1")
        return [int(part) for part in parts]


@command(
    app, "train", TrainOptions, example="hiddenite lm train corpus.txt --order 3 --output corpus.arpa.gz"
)
def train(options: TrainOptions) -> None:
    """Estimate a model, interpolated modified Kneser-Ney by default, and write it as ARPA text.

    --smoothing good-turing (Katz) and add-k back off; kneser-ney, absolute and witten-bell interpolate.
    The distinct n-grams stay in memory: about 60 MB per million of them at order 5. Only text beyond --memory
    is sorted on disk. With --ray the text is read twice and counted in shards. An output ending in .gz, .bz2
    or .xz is compressed.
    """
    options.hush()
    training = options.training()
    if options.counts is not None:
        model = NgramModel.train_counts(options.counts, training)
    elif options.ray is not None:
        with Cluster(options.ray) as cluster:
            model = train_shards(options.text, training, functools.partial(_ask, cluster))
    else:
        total = file_bytes(options.text)
        with progress("reading", total, options.quiet) as report:

            def note(done: int) -> None:
                report(done, stage="estimating" if total is not None and done >= total else "reading")

            model = NgramModel.train_files(options.text, training, note)
    model.save(options.output)


def _ask(
    cluster: Cluster,
    make: Callable[..., Callable[[TextShard], Any]],
    shared: Sequence[Any],
    shards: Iterator[TextShard],
) -> Iterator[tuple[TextShard, Any]]:
    """Give shards with their answers from a cluster."""
    with cluster.pool(make, shared=shared) as pool:
        yield from pool.in_order(shards)


# ----------------------------------------------------------------------- count


@dataclass(frozen=True, kw_only=True)
class CountOptions(Output):
    """The options of lm count."""

    text: tuple[str, ...] = argument(MISSING, "Text, one sentence a line; - is stdin.", "TEXT...")
    order: int = same(TrainOptions, "order")
    vocabulary: str | None = same(TrainOptions, "vocabulary")
    unk_below: int = same(TrainOptions, "unk_below")
    google: bool = option(
        False, "Write a folder as Google has it: 1gms/vocab.gz, 2gms/2gm-0000.gz and so on."
    )

    def check_effects(self, given: Collection[str]) -> None:
        """A folder needs a name."""
        super().check_effects(given)
        if self.google and self.output == "-":
            raise OptionError("google", "needs --output FOLDER")


@command(app, "count", CountOptions, example="hiddenite lm count corpus.txt --order 3 --output corpus.counts")
def count(options: CountOptions) -> None:
    """Count n-grams and write them, as SRILM does: n-gram, tab, count, of all orders.

    Sentences begin with <s> and end with </s>. Words come first, in order of appearance: `lm train --counts`
    makes of the file the model that it makes of the text. An output ending in .gz, .bz2 or .xz is compressed.
    """
    options.hush()
    words = None if options.vocabulary is None else read_vocabulary(options.vocabulary)
    training = TrainingOptions(order=options.order, unknown_below=options.unk_below, vocabulary=words)
    trainer = training.trainer()
    for path in options.text:
        with (
            progress("reading", file_bytes([path]), options.quiet) as report,
            ChunkReader(path, report) as reader,
        ):
            trainer.add(reader, reader.name)
    with CountFolder(options.output) if options.google else atomic_output(options.output) as out:
        trainer.finish_counts(out.write)


# ----------------------------------------------------------------------- score

_ONE_RECORD = {"summary": (False,)}


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(Words, Batch, OnlyJson):
    """The options of lm score."""

    text: str = argument("-", "Text, one sentence a line; - is stdin.", "[TEXT]")
    summary: bool = option(False, "Totals and perplexities instead of sentences.")
    words: bool = option(
        False,
        "Each word too: its log_prob, the length of its n-gram, whether it is unknown.",
        when=_ONE_RECORD,
    )
    resume: bool = option(
        False,
        "Continue an earlier run of the same command.",
        section=RUNNING,
        is_result=False,
        when=_ONE_RECORD,
    )
    on_error: str = option(
        "stop",
        "A line that is no sentence ends the job, is left out, or gives an error record.",
        choices=POLICIES,
        section=RUNNING,
        when=_ONE_RECORD,
    )
    ray: str | None = option(
        None,
        "Work on this Ray cluster; without an address, start one here.",
        metavar="[ADDRESS]",
        section=RUNNING,
        is_result=False,
        when=_ONE_RECORD,
    )


@command(app, "score", ScoreOptions, example="hiddenite lm score --lm corpus.arpa.gz heldout.txt --summary")
def score(options: ScoreOptions) -> int | None:
    """Score sentences: one JSON object a line with log_prob (natural), tokens (</s> included) and oov.

    A log_prob of null means probability zero.
    """
    options.hush()
    with (
        progress("scoring", file_bytes([options.text]), options.quiet) as report,
        ChunkReader(options.text, report) as reader,
    ):
        if options.summary:
            _summarize(_model(options), reader, options.output, options.threads)
            return None
        make = functools.partial(_scorer, options, reader.name)
        job = options.job("lm score", options.model_files())
        return run_batch(job, reader.name, line_records(reader, SCORED_AT_ONCE), make)


def _model(options: ScoreOptions) -> NgramModel | ModelMixture:
    return options.load_model() if options.mix_lm is None else options.load_mixture(options.lm)


def _summarize(model: NgramModel | ModelMixture, reader: ChunkReader, output: str, threads: int) -> None:
    total = ScoreSummary(0, 0, 0, 0.0, 0.0)
    with atomic_output(output) as out:
        for lines, first_line in line_blocks(reader):
            total += model.score_text(lines, threads, reader.name, first_line).summary()
        out.write(json_line(total.to_dict()).encode())


def _scorer(options: ScoreOptions, name: str) -> AnswerBlock[bytes]:
    """Load the model; return what scores a block of lines."""
    model = _model(options)
    return lambda block, threads: _scores(model, block, threads, name, options.words)


def _word_scores(model: NgramModel | ModelMixture, line: bytes) -> list[dict[str, Any]]:
    """Return what the words of a line and its </s> are worth."""
    words = [*tokenize(line.decode()), "</s>"]
    rows = zip(words, model.full_scores(line), strict=True)
    return [
        {"word": word, "log_prob": json_number(log_prob), "ngram": length, "oov": oov}
        for word, (log_prob, length, oov) in rows
    ]


def _scores(
    model: NgramModel | ModelMixture, block: Block[bytes], threads: int, name: str, words: bool
) -> list[Outcome]:
    """Score a block; if it holds a line that is no sentence, line by line."""
    try:
        scores = model.score_text(block.item, threads, name, block.first + 1)
    except FormatError as error:
        if block.size == 1:
            return [Outcome(json_line({"error": error.message}), block.first + 1, error.message)]
        lines = block.item.split(b"\n")[: block.size]
        single = (Block(line + b"\n", block.first + i, 1, b"") for i, line in enumerate(lines))
        return [outcome for one in single for outcome in _scores(model, one, threads, name, words)]
    records = [score.to_dict() for score in scores]
    if words:
        lines = block.item.split(b"\n")
        records = [r | {"words": _word_scores(model, line)} for r, line in zip(records, lines, strict=False)]
    return [Outcome(json_line(record), line) for line, record in enumerate(records, block.first + 1)]


# ----------------------------------------------------------------- other forms


@dataclass(frozen=True, kw_only=True)
class CompileOptions(ConvertOptions):
    """The options of lm compile."""

    index: bool = option(
        True,
        "Keep what decode, sample and marginals build on first use too; a larger file.",
        "--index/--no-index",
        when={"compact": (False,)},
    )
    compact: bool = option(
        False, "A small file instead, read into memory when it is opened; nothing is rounded."
    )


@command(app, "compile", CompileOptions, example="hiddenite lm compile corpus.arpa.gz --output corpus.hlm")
def compile_model(options: CompileOptions) -> None:
    """Write a model as a file that is mapped into memory: opened at once, shared by all processes.

    With --compact it is small instead, a quarter of the ARPA text, and read when it is opened. Every command
    that takes an ARPA file takes it. It is for machines of one kind and this version of the format; keep the
    ARPA file.
    """
    options.hush()
    model = NgramModel.load(options.lm, options.unk_log10)
    if options.compact:
        model.compact(options.output)
    else:
        model.compile(options.output, index=options.index)


@command(
    app, "maximize", ConvertOptions, example="hiddenite lm maximize corpus.arpa --output corpus.max.arpa"
)
def maximize(options: ConvertOptions) -> None:
    """Write a MAX-ARPA file: the same lines with two more columns, log10 mf and log10 mbow.

    mf(s, w) is the largest probability of w after any context that ends in s. For a w that s does not list it
    is mbow(s) p(w | s without its first word).
    """
    options.hush()
    NgramModel.load(options.lm, options.unk_log10).save(options.output, max_columns=True)


command(app, "info", InfoOptions, example="hiddenite lm info corpus.arpa.gz")(info)
for _name, (_function, _options, _example) in COMMANDS.items():
    command(app, _name, _options, example=_example)(_function)
