"""hiddenite induce run: parts of speech from plain text."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from hiddenite.cli.common import Output, Ray, Threads, random_seed, say
from hiddenite.cli.induce_options import FILES, MODEL, Column
from hiddenite.cli.progress import progress
from hiddenite.errors import FormatError, OptionError, shorten
from hiddenite.files.corpus import ChunkReader, file_bytes
from hiddenite.files.output import atomic_output, check_writable
from hiddenite.induction.archive import saved_seed
from hiddenite.induction.chains import chain_member
from hiddenite.induction.induction import CHECKPOINT_FILE, Induction
from hiddenite.induction.options import STARTS, InduceOptions
from hiddenite.induction.state import Sweep
from hiddenite.induction.text import Text, long_word_fault
from hiddenite.jobs.ray import Cluster
from hiddenite.options import argument, option, options_of, same
from hiddenite.tag.formats import (
    FORMATS,
    FormatName,
    Record,
    format_of,
    read_records,
    read_tagged,
    write_record,
)

_MOST_DIGITS = 9  # of a cluster's number


@dataclass(frozen=True, kw_only=True)
class RunOptions(Column, Output, Threads, Ray):
    """The options of induce run; those of the model are those of Python."""

    text: str = argument("-", "Plain text, TSV or CoNLL-U; - is stdin.", "[TEXT]")
    tags: int = same(InduceOptions, "tags")
    model: str = same(InduceOptions, "model")
    iterations: int | None = same(InduceOptions, "iterations")
    burn_in: int | None = same(InduceOptions, "burn_in")
    chains: int | None = same(InduceOptions, "chains")
    seed: int | None = same(InduceOptions, "seed", default=None, help="Seed; drawn and shown if not given.")
    sampler: str = same(InduceOptions, "sampler", section=MODEL)
    order: int = same(InduceOptions, "order", section=MODEL)
    particles: int = same(InduceOptions, "particles", section=MODEL, when={})
    chunk: int = same(InduceOptions, "chunk", section=MODEL, when={})
    start: str = option(
        "",
        f"{', '.join(STARTS[:-1])}, or a file of lines word TAB cluster number; by the model if not given.",
        metavar="START",
        section=MODEL,
    )
    start_iterations: int | None = same(InduceOptions, "start_iterations", section=MODEL, when={})
    width: float = same(InduceOptions, "width", section=MODEL)
    tolerance: float = same(InduceOptions, "tolerance", section=MODEL)
    case: str = same(InduceOptions, "case", section=MODEL)
    kinds: str = same(InduceOptions, "kinds", section=MODEL)
    variant: str = same(InduceOptions, "variant", section=MODEL)
    geometric: float = same(InduceOptions, "geometric", section=MODEL)
    spelling: str = same(InduceOptions, "spelling", section=MODEL)
    save: str | None = option(None, "Write a tagger for `hiddenite tag run`.", metavar="MODEL", section=FILES)
    confidence: str | None = option(
        None, "Write lines word TAB tag TAB probability.", metavar="FILE", section=FILES
    )
    checkpoint: str | None = option(
        None, "Keep the run there, and continue it if it has one.", metavar="DIR", section=FILES
    )
    format: str = option(
        "auto", "Of the input; auto goes by the file's name.", choices=FORMATS, section=FILES
    )
    to: str = option("auto", "Of the output; auto is TSV, or CoNLL-U.", choices=FORMATS, section=FILES)

    def check_effects(self, given: Collection[str]) -> None:
        """Refuse what has no effect on the model either."""
        super().check_effects(given)
        self.induction().check_effects([name for name in given if name in options_of(InduceOptions)])

    def is_file_start(self) -> bool:
        """Tell whether chains begin with the clusters of a file."""
        return self.start not in ("", *STARTS[:-1])

    def induction(self) -> InduceOptions:
        """Return the options of the model."""
        names = options_of(InduceOptions).keys() & options_of(self).keys()
        values = {name: getattr(self, name) for name in names}
        if self.seed is None:
            saved = None if self.checkpoint is None else saved_seed(self.checkpoint)
            values["seed"] = random_seed() if saved is None else saved
        if self.is_file_start():
            values["start"] = "clusters"
        return InduceOptions(**values)


def run_command(options: RunOptions) -> None:
    """Find parts of speech in plain text, one sentence a line; no tagged text is needed.

    Each token gets one of K tags, T0 to T(K-1). By default 24 chains are combined into a consensus; of the
    papers' models (--model) a token gets the tag it has in most samples after the burn-in. A run that was
    interrupted continues from its --checkpoint when the same command is given again, and ends with the same
    tags. On a cluster (--ray) chains run next to each other, with the same result.
    """
    options.hush()
    source = (
        format_of(options.text, "plain") if options.format == "auto" else cast(FormatName, options.format)
    )
    target = cast(FormatName, options.to)
    if target == "auto":
        target = "conllu" if source == "conllu" else "tsv"
    induction = options.induction()
    check_writable(options.output, options.confidence, options.save)
    clusters = _read_clusters(options.start) if options.is_file_start() else None
    say(f"seed {induction.seed}", options.quiet)
    records = _read(options.text, source, options.column, options.quiet)
    words = Text.of(record.words for record in records)
    with contextlib.ExitStack() as stack:
        executor = None
        if options.ray is not None:
            cluster = stack.enter_context(Cluster(options.ray, options.threads))
            executor = cluster.pool(chain_member, shared=(words, induction))
        run = Induction(
            words,
            induction,
            threads=options.threads,
            clusters=clusters,
            checkpoint=options.checkpoint,
            executor=executor,
        )
        _run_sweeps(run, options.checkpoint, options.quiet)
    with atomic_output(options.output) as out:
        for record, found in zip(records, run.tags(), strict=True):
            out.write(write_record(record, found, target, options.column).encode())
    if options.confidence is not None:
        _write_confidence(run, options.confidence)
    if options.save is not None:
        run.export().save(options.save)
    if not options.quiet:
        _report(run)


def _read(path: str, source: FormatName, column: str, quiet: bool) -> list[Record]:
    """Return the sentences; an error if there is no word."""
    with progress("reading", file_bytes([path]), quiet) as report, ChunkReader(path, report) as reader:
        records = list(read_records(reader, source, column))
    for record in records:
        fault = record.fault or long_word_fault(record.words)
        if fault is not None:
            raise FormatError(reader.name, record.line, fault)
    if not any(record.words for record in records):
        raise FormatError(reader.name, None, "has no word, expected text, one sentence a line")
    return records


def _write_confidence(run: Induction, path: str) -> None:
    """Write how probable each token's tag is, in the order of the text."""
    probabilities = run.text.split([f"{p:.4f}" for p in run.confidence().tolist()])
    with atomic_output(path) as out:
        for pairs, sentence in zip(run.tagged(), probabilities, strict=True):
            rows = zip(pairs, sentence, strict=True)
            out.write(("".join(f"{w}\t{t}\t{p}\n" for (w, t), p in rows) + "\n").encode())


def _read_clusters(path: str) -> dict[str, int]:
    """Return the clusters of a file of lines ``word TAB number``."""
    if path != "-" and not os.path.exists(path):
        raise OptionError("start", f"is '{path}', expected {', '.join(STARTS[:-1])} or a file that exists")
    clusters: dict[str, int] = {}
    for record in read_tagged(path, "tsv"):
        for word, number in record.pairs():
            if not number.isdecimal() or len(number) > _MOST_DIGITS:
                raise FormatError(
                    path, record.line, f"found the cluster '{shorten(number)}', expected a number from 0"
                )
            clusters[word] = int(number)
    return clusters


def _run_sweeps(run: Induction, checkpoint: str | None, quiet: bool) -> None:
    """Run it, and show how far it is; who interrupts is told how to continue."""
    tokens = len(run.text.tokens) * run.num_chains
    try:
        with progress("sweeps", None, quiet) as report, contextlib.closing(iter(run)) as sweeps:
            for sweep in sweeps:  # an interrupt ends it there and then
                total = run.num_sweeps(sweep.stage)
                report(sweep.index, _line(sweep, tokens), _stage_name(run, sweep), total)
            if run.options.is_consensus and run.num_chains > 1:
                report(run.num_sweeps("main"), "combining the chains")
                run.consensus()
    except BaseException as error:
        if checkpoint is not None and Path(checkpoint, CHECKPOINT_FILE).exists():
            error.add_note(f"the run is kept in {checkpoint}, run the command again to continue it")
        raise


def _stage_name(run: Induction, sweep: Sweep) -> str:
    if sweep.stage == "main":
        return "sweeps"
    return (
        f"sweeps with {run.options.num_tags('start')} tags" if run.options.is_consensus else "one-tag start"
    )


def _line(sweep: Sweep, tokens: int) -> str:
    speed = tokens / max(sweep.seconds, 1e-9)
    return f"log joint {sweep.log_joint:,.0f}, {100 * sweep.moved:.1f} % moved, {speed:,.0f} tokens/s"


def _report(run: Induction) -> None:
    """Say on stderr what came of it."""
    found = run.diagnostics()
    line = f"log joint {run.last_sweep().log_joint:.1f}"
    if run.options.is_consensus and run.num_chains > 1:
        agreed = run.consensus()
        used = f"{len(agreed.chains)} of {run.num_chains} chains"
        agree = f"each agreeing with it on {100 * agreed.agreement:.1f} % of the tokens on average"
        alone = "the others are too improbable (--tolerance)"
        line += f", consensus of {used}" + (f", {agree}" if len(agreed.chains) > 1 else f": {alone}")
    elif run.num_chains > 1:
        line += f", chain {found.best_chain + 1} of {run.num_chains}, R-hat {found.r_hat:.3f}"
    if found.ess == found.ess:  # not NaN
        line += f", {found.ess:.1f} effective samples of {found.draws * found.chains}"
    say(line)


_EXAMPLE = "hiddenite induce run text.txt --tags 45 --seed 1 --output tagged.tsv"
COMMANDS = {"run": (run_command, RunOptions, _EXAMPLE)}
