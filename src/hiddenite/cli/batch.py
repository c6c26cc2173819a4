"""What all batch commands do alike: records in, records out, in order, and what happens when something fails.

A command reads its input as blocks of equally many records and says how a block is answered. Here the
blocks are answered two at a time, so that while the core works on one, the texts of the other are made; at
most three are in memory, whatever the size of the input. On a cluster its processes answer them, some
blocks a message. Answers are written in input order through :func:`hiddenite.journal.resumable_output`, or
in parts (:mod:`hiddenite.parts`): to a folder, and from a cluster, whose parts are joined at the end.

A record without an answer is written as its own kind of empty record (``--on-error record``), left out
(``skip``), or ends the job (``stop``).
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import itertools
import os
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Generic, Literal, NamedTuple, TypeVar, cast

import typer

from hiddenite import __version__
from hiddenite.cli.common import NOT_CERTIFIED, json_line, random_seed
from hiddenite.corpus import ChunkReader, line_blocks, writing_errors
from hiddenite.distributed import Cluster, Pool
from hiddenite.errors import FormatError
from hiddenite.journal import Output, Progress, read_identity, resumable_output
from hiddenite.parquet import SUFFIX as PARQUET
from hiddenite.parts import PART_RECORDS, Part, PartedOutput, is_folder, parts_of, read_manifest

Policy = Literal["stop", "skip", "record"]
POLICIES = ("stop", "skip", "record")
IN_FLIGHT = 2  # blocks that are answered while one is written
TASK_RECORDS = 256, 4096  # in one message to a process of a cluster: at first, and at most
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
    typer.Option(
        "--ray", metavar="[ADDRESS]", help="Work on this Ray cluster; without an address, start one here."
    ),
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
    part: int = 0  # of an output in parts


class Answer(NamedTuple):
    """What became of a block."""

    text: bytes  # as it is written
    errors: tuple[tuple[object, str], ...]  # line and message of the records that failed
    uncertified: int
    stopped: tuple[object, str] | None = None  # line and message of the record that ends the job


Answers = Callable[[Iterator[Block[_Item]]], Generator[tuple[Block[_Item], Answer]]]


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
    ray: str | None = None  # the address of a cluster, or "local",
    processes: int = 0  # of it; 0: all that are free
    files: Sequence[str] = ()  # that answering needs

    def __post_init__(self) -> None:
        if self.on_error not in POLICIES:
            raise typer.BadParameter(
                f"found '{self.on_error}', expected {', '.join(POLICIES)}", param_hint="--on-error"
            )
        if self.resume and self.output == "-":
            raise typer.BadParameter(
                "standard output cannot be gone on with; give --output", param_hint="--resume"
            )

    def is_in_parts(self) -> bool:
        """Tell whether the answers are written in parts: to a folder, or from a cluster to a file.

        What an earlier job has begun is gone on with in its own way.
        """
        if is_folder(self.output):
            return True
        if self.output == "-" or (Path(self.output).exists() and not Path(self.output).is_file()):
            return False
        if self.resume and read_manifest(parts_of(self.output))[0]:
            return True
        return self.ray is not None and not (self.resume and read_identity(self.output))

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
    chosen = random_seed() if seed is None else seed
    if seed is None and resume:
        earlier = (read_identity(job_output) or read_manifest(parts_of(job_output))[0]).get("seed")
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
    make_answer = functools.partial(_condensing, job, make)
    with contextlib.ExitStack() as stack:
        if job.ray is None:
            answers = _local_answers(make_answer())
        else:
            many = functools.partial(_answering_many, make_answer)
            cluster = stack.enter_context(Cluster(job.ray, job.processes))
            answers = _cluster_answers(stack.enter_context(cluster.pool(many, files=job.files)))
        write = _write_parts if job.is_in_parts() else _write_stream
        progress = write(job, name, blocks, answers)
    finish(job, progress)


def _write_stream(job: Job, name: str, blocks: Iterable[Block[_Item]], answers: Answers[_Item]) -> Progress:
    """Write all answers, one after the other, and return how far that went."""
    with resumable_output(job.output, job.identity(), job.resume) as out, _hint_on_error(out):
        progress = out.done
        waiting = iter(()) if progress.finished else _after(blocks, progress, name)
        with contextlib.closing(answers(waiting)) as answered:
            for block, answer in answered:
                if answer.stopped is not None:
                    out.show(answer.text)
                told(answer, name)
                progress = accounted(block, answer, progress)
                out.append(answer.text, progress)
    return progress


def _write_parts(job: Job, name: str, blocks: Iterable[Block[_Item]], answers: Answers[_Item]) -> Progress:
    """Write all answers in parts; join them if the output is a file."""
    folder, stays = parts_of(job.output), is_folder(job.output)
    with (
        writing_errors(str(folder)),
        contextlib.closing(PartedOutput(folder, job.identity(), job.resume, keep_older=stays)) as out,
        _hint_on_error(out),
    ):
        part, checksum = -1, 0
        missing = _missing(_numbered(blocks), dict(out.complete), name)
        with contextlib.closing(answers(missing)) as answered:
            for block, answer in answered:
                told(answer, name)
                before = Progress(input_checksum=checksum if block.part == part else 0)
                after = dataclasses.replace(accounted(block, answer, before), records=block.size)
                out.append(block.part, block.first, answer.text, after)
                part, checksum = block.part, after.input_checksum
        total = out.finish()
        if not stays:
            _join(job, out)
    return total


def _join(job: Job, parts: PartedOutput) -> None:
    """Make one file of all parts and remove them."""
    with resumable_output(job.output, job.identity(), resume=False) as whole:
        for piece in parts.pieces():
            whole.append(piece, Progress(records=1))
    parts.remove()


@contextlib.contextmanager
def _hint_on_error(out: Output | PartedOutput) -> Iterator[None]:
    """Say with an error what it leaves behind."""
    try:
        yield
    except BaseException as error:
        if out.kept is not None:
            error.add_note(out.kept)
        raise


def _numbered(blocks: Iterable[Block[_Item]]) -> Iterator[Block[_Item]]:
    """Give the blocks with their part: so many whole blocks as reach its number of records."""
    part = records = 0
    for block in blocks:
        yield dataclasses.replace(block, part=part)
        records += block.size
        if records >= PART_RECORDS:
            part, records = part + 1, 0


def _missing(
    blocks: Iterable[Block[_Item]], complete: Mapping[int, Part], name: str
) -> Iterator[Block[_Item]]:
    """Give the blocks of parts that are still to be done; those of the others must be what they were."""
    seen = set()
    for number, group in itertools.groupby(blocks, lambda block: block.part):
        if number not in complete:
            yield from group
            continue
        seen.add(number)
        checksum = records = 0
        for block in group:
            checksum = zlib.crc32(block.source, checksum)
            records += block.size
        done = complete[number].done
        if (records, checksum) != (done.records, done.input_checksum):
            raise _another_text(name, f"the records of part {number} differ")
    if lost := complete.keys() - seen:
        raise _another_text(name, f"it has no part {min(lost)}")


def _another_text(name: str, what: str) -> FormatError:
    return FormatError(
        name, None, f"is another text than the one that was begun: {what}; leave out --resume to begin anew"
    )


def _after(blocks: Iterable[Block[_Item]], done: Progress, name: str) -> Iterator[Block[_Item]]:
    """Give the blocks that are still to be answered; those before must be what they were."""
    remaining = iter(blocks)
    checksum = records = 0
    while records < done.records and (block := next(remaining, None)) is not None:
        checksum = zlib.crc32(block.source, checksum)
        records += block.size
    if (records, checksum) != (done.records, done.input_checksum):
        raise _another_text(name, f"its first {done.records:,} records differ")
    yield from remaining


# ------------------------------------------------------------------ answering


def _condensing(
    job: Job, make: Callable[[], Callable[[Block[_Item]], Sequence[Outcome]]]
) -> Callable[[Block[_Item]], Answer]:
    """Return what answers a block and makes one text of its outcomes."""
    answer = make()
    return lambda block: condensed(answer(block), job)


def _answering_many(make: Callable[[], Callable[[Block[_Item]], Answer]]) -> Callable[..., list[Answer]]:
    """Return what answers some blocks in a process of a cluster."""
    answer = make()
    return lambda blocks: [answer(block) for block in blocks]


def _cluster_answers(pool: Pool[list[Block[_Item]], list[Answer]]) -> Answers[_Item]:
    """Return what gives blocks with their answers, in order, from the processes of a cluster."""

    def answers(blocks: Iterator[Block[_Item]]) -> Generator[tuple[Block[_Item], Answer]]:
        for task, answered in pool.in_order(_tasks(blocks)):
            yield from zip(task, answered, strict=True)

    return answers


def _tasks(blocks: Iterator[Block[_Item]]) -> Iterator[list[Block[_Item]]]:
    """Give the blocks some at a time: one message to a process and back.

    Small tasks at first share a small input out; larger ones later cost the driver less.
    """
    least, most = TASK_RECORDS
    task: list[Block[_Item]] = []
    size = done = 0
    for block in blocks:
        task.append(block)
        size += block.size
        if size >= min(most, max(least, done // 16)):
            yield task
            task, size, done = [], 0, done + size
    if task:
        yield task


def _local_answers(answer: Callable[[Block[_Item]], Answer]) -> Answers[_Item]:
    """Return what gives blocks with their answers, in order; the next ones are being answered meanwhile."""

    def answers(blocks: Iterator[Block[_Item]]) -> Generator[tuple[Block[_Item], Answer]]:
        first = next(blocks, None)
        if first is None:
            return
        yield first, answer(first)  # alone: what is built on first use is built once
        pool = ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="answer")
        try:
            waiting: collections.deque[tuple[Block[_Item], Future[Answer]]] = collections.deque()
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


# ------------------------------------------------------------------ accounting


def condensed(outcomes: Sequence[Outcome], job: Job) -> Answer:
    """Make one text of the outcomes of a block, up to the one that ends the job."""
    texts: list[str] = []
    errors: list[tuple[object, str]] = []
    uncertified = 0
    in_table = job.output.endswith(PARQUET)  # whose rows are made of such lines
    for outcome in outcomes:
        if outcome.error is not None:
            if job.on_error == "stop":
                stopped = (outcome.line, outcome.error)
                return Answer("".join(texts).encode(), tuple(errors), uncertified, stopped)
            errors.append((outcome.line, outcome.error))
            if job.on_error == "skip":
                continue
        uncertified += not outcome.exact
        texts.append(json_line(outcome.text.removesuffix("\n")) if in_table else outcome.text)
    return Answer("".join(texts).encode(), tuple(errors), uncertified)


def told(answer: Answer, name: str) -> None:
    """Say which records of a block failed; raise if one of them ends the job."""
    for line, error in answer.errors:
        print(f"hiddenite: error: {name}:{line}: {error}", file=sys.stderr)
    if answer.stopped is not None:
        line, error = answer.stopped
        raise FormatError(name, cast(int, line), error)


def accounted(block: Block[_Item], answer: Answer, before: Progress) -> Progress:
    """Return how far a job has come with a block."""
    return Progress(
        records=block.first + block.size,
        failures=before.failures + len(answer.errors),
        uncertified=before.uncertified + answer.uncertified,
        input_checksum=zlib.crc32(block.source, before.input_checksum),
    )


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
