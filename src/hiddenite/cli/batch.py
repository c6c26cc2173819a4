"""What all batch commands do alike: records in, records out, in order, and what happens when something fails.

A command reads its input as blocks of equally many records and says how a block is answered. Here the
blocks are answered two at a time, so that while the core works on one, the texts of the other are made; at
most three are in memory, whatever the size of the input. Answers are written in input order through
:func:`hiddenite.journal.resumable_output`.

A record without an answer is written as its own kind of empty record (``--on-error record``), left out
(``skip``), or ends the job (``stop``).
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import os
import secrets
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Generic, Literal, NamedTuple, TypeVar, cast

import typer

from hiddenite import __version__
from hiddenite.cli.common import NOT_CERTIFIED, json_line
from hiddenite.corpus import ChunkReader, line_blocks
from hiddenite.distributed import cluster_answers
from hiddenite.errors import FormatError
from hiddenite.journal import Progress, read_identity, resumable_output
from hiddenite.parquet import SUFFIX as PARQUET

Policy = Literal["stop", "skip", "record"]
POLICIES = ("stop", "skip", "record")
IN_FLIGHT = 2  # blocks that are answered while one is written
_Item = TypeVar("_Item")

Resume = Annotated[
    bool, typer.Option("--resume", help="Go on where an earlier run of the same command was ended.")
]
OnError = Annotated[
    str,
    typer.Option(
        "--on-error",
        metavar="stop|skip|record",
        help="A record without an answer ends the job, is left out, or gives an empty or error record.",
    ),
]


Ray = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help="Work on this Ray cluster; local starts one here."),
]


class Outcome(NamedTuple):
    """What became of one record."""

    text: str  # as it is written
    line: object  # where the input has it
    error: str | None = None
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Block(Generic[_Item]):
    """Some records of the input, one after the other."""

    item: _Item
    first: int  # records before it
    size: int
    source: bytes  # what it was read from, for its checksum


Answers = Callable[[Iterator[Block[_Item]]], Generator[tuple[Block[_Item], Sequence[Outcome]]]]


@dataclass(frozen=True, slots=True)
class Job:
    """Where a batch goes, who does it, and what to do with records that fail."""

    command: str
    options: Mapping[str, object]  # all that the output depends on
    output: str
    resume: bool = False
    on_error: str = "record"
    exact: bool = False  # exit 3 if an answer is not certified,
    uncertified_because: str = " within the budget"
    ray: str | None = None  # the address of a cluster, or "local"

    def __post_init__(self) -> None:
        if self.on_error not in POLICIES:
            raise typer.BadParameter(
                f"found '{self.on_error}', expected {', '.join(POLICIES)}", param_hint="--on-error"
            )
        if self.resume and self.output == "-":
            raise typer.BadParameter(
                "standard output cannot be gone on with; give --output", param_hint="--resume"
            )

    def identity(self) -> dict[str, object]:
        """Return what a job must share with the one that it goes on with."""
        kept = {"command": self.command, "version": __version__, "on_error": self.on_error}
        return {**kept, **{name: str(value) for name, value in self.options.items()}}


def file_state(path: str) -> str:
    """Return what tells a file from one that was written later under the same name."""
    try:
        status = os.stat(path)
    except OSError:
        return path
    return f"{path} ({status.st_size} bytes, {status.st_mtime_ns})"


def line_records(reader: ChunkReader, size: int) -> Iterator[Block[bytes]]:
    """Give the lines of a text, ``size`` at a time."""
    for text, first_line in line_blocks(reader, size):
        yield Block(text, first_line - 1, text.count(b"\n") + (not text.endswith(b"\n")), text)


def choose_seed(seed: int | None, quiet: bool, job_output: str = "-", resume: bool = False) -> int:
    """Return the seed: the user's, that of the job to go on with, or a new one; it is shown on stderr."""
    chosen = secrets.randbits(32) if seed is None else seed
    if seed is None and resume:
        earlier = read_identity(job_output).get("seed")
        chosen = int(str(earlier)) if earlier is not None else chosen
    if not quiet:
        print(f"hiddenite: seed {chosen}", file=sys.stderr)
    return chosen


def run_batch(
    job: Job,
    name: str,
    blocks: Iterable[Block[_Item]],
    make: Callable[[], Callable[[Block[_Item]], Sequence[Outcome]]],
) -> None:
    """Answer all blocks; exit 1 if a record failed, 3 if one is not certified though it must be.

    ``make`` loads what answering needs and returns the function that answers a block, which may be called
    from two threads at once; it is made once here, or once in each process of a cluster. ``name`` is that of
    the input, for errors.
    """
    answers = _local_answers(make()) if job.ray is None else cluster_answers(job.ray, make)
    with resumable_output(job.output, job.identity(), job.resume) as out:
        try:
            progress = out.done
            waiting = iter(()) if progress.finished else _after(blocks, progress, name)
            with contextlib.closing(answers(waiting)) as answered:
                for block, outcomes in answered:
                    whole = _up_to_stop(outcomes, job)
                    text, after = accounted(block, whole, job, name, progress)
                    if len(whole) < len(outcomes):
                        out.show(text)
                        failed = outcomes[len(whole)]
                        raise FormatError(name, cast(int, failed.line), str(failed.error))
                    out.append(text, after)
                    progress = after
        except BaseException as error:
            if out.kept is not None:
                error.add_note(out.kept)
            raise
    finish(job, progress)


def _after(blocks: Iterable[Block[_Item]], done: Progress, name: str) -> Iterator[Block[_Item]]:
    """Give the blocks that are still to be answered; those before must be what they were."""
    remaining = iter(blocks)
    checksum = records = 0
    while records < done.records and (block := next(remaining, None)) is not None:
        checksum = zlib.crc32(block.source, checksum)
        records += block.size
    if (records, checksum) != (done.records, done.input_checksum):
        raise FormatError(
            name,
            None,
            f"is another text than the one that was begun: its first {done.records:,} records differ; "
            "leave out --resume to begin anew",
        )
    yield from remaining


def _local_answers(answer: Callable[[Block[_Item]], Sequence[Outcome]]) -> Answers[_Item]:
    """Return what gives blocks with their answers, in order; the next ones are being answered meanwhile."""

    def answers(blocks: Iterator[Block[_Item]]) -> Generator[tuple[Block[_Item], Sequence[Outcome]]]:
        first = next(blocks, None)
        if first is None:
            return
        yield first, answer(first)  # alone: what is built on first use is built once
        pool = ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="answer")
        try:
            waiting: collections.deque[tuple[Block[_Item], Future[Sequence[Outcome]]]] = collections.deque()
            for block in blocks:
                waiting.append((block, pool.submit(answer, block)))
                if len(waiting) > IN_FLIGHT:
                    done, future = waiting.popleft()
                    yield done, future.result()
            for done, future in waiting:
                yield done, future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    return answers


def _up_to_stop(outcomes: Sequence[Outcome], job: Job) -> Sequence[Outcome]:
    """Return the outcomes before the one that ends the job, or all."""
    if job.on_error != "stop":
        return outcomes
    return list(itertools.takewhile(lambda outcome: outcome.error is None, outcomes))


def accounted(
    block: Block[_Item], outcomes: Sequence[Outcome], job: Job, name: str, before: Progress
) -> tuple[bytes, Progress]:
    """Return what is written of a block, and how far the job has come with it."""
    failures = uncertified = 0
    texts = []
    in_table = job.output.endswith(PARQUET)  # whose rows are made of such lines
    for outcome in outcomes:
        if outcome.error is not None:
            failures += 1
            print(f"hiddenite: error: {name}:{outcome.line}: {outcome.error}", file=sys.stderr)
            if job.on_error == "skip":
                continue
        uncertified += not outcome.exact
        texts.append(json_line(outcome.text.removesuffix("\n")) if in_table else outcome.text)
    progress = Progress(
        records=block.first + block.size,
        failures=before.failures + failures,
        uncertified=before.uncertified + uncertified,
        input_checksum=zlib.crc32(block.source, before.input_checksum),
    )
    return "".join(texts).encode(), progress


def finish(job: Job, done: Progress) -> None:
    """Count what went wrong, and exit accordingly."""
    if done.failures:
        what = "were skipped" if job.on_error == "skip" else "could not be answered"
        print(f"hiddenite: {done.failures} of the records {what}", file=sys.stderr)
        raise typer.Exit(1)
    if job.exact and done.uncertified:
        print(
            f"hiddenite: {done.uncertified} of the answers are not certified{job.uncertified_because}",
            file=sys.stderr,
        )
        raise typer.Exit(NOT_CERTIFIED)
