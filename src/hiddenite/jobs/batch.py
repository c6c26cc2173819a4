"""What all batch commands do alike: records in, records out, in order, and what happens when something fails.

A command reads its input as blocks of equally many records and says how a block is answered. Threads or the
processes of a cluster answer several blocks at a time (:mod:`hiddenite.jobs.threads`,
:mod:`hiddenite.jobs.ray`); a few more are in memory, whatever the size of the input. Answers are written in
input order to an output that can be resumed (:mod:`hiddenite.jobs.output`).

A record without an answer is written as its own kind of empty record (``on_error="record"``), left out
(``skip``), or ends the job (``stop``).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import json
import os
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar, cast

from hiddenite.errors import FormatError, OptionError
from hiddenite.files.corpus import ChunkReader, line_blocks
from hiddenite.files.parquet import SUFFIX as PARQUET
from hiddenite.jobs.output import Stream, open_output, parts_of
from hiddenite.jobs.output_parts import PART_RECORDS, Counts, Part, PartedOutput, read_manifest
from hiddenite.jobs.ray import Cluster, Pool
from hiddenite.jobs.threads import answer_in_order
from hiddenite.version import VERSION

Policy = Literal["stop", "skip", "record"]
POLICIES = ("stop", "skip", "record")
FAILED, NOT_CERTIFIED = 1, 3  # exit statuses
TASK_RECORDS = 256, 4096  # in one message to a process of a cluster: at first, and at most
_Item = TypeVar("_Item")


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
    part: int = 0  # of the output


class Answer(NamedTuple):
    """What became of a block."""

    text: bytes  # as it is written
    errors: tuple[tuple[object, str], ...]  # line and message of the records that failed
    uncertified: int
    stopped: tuple[object, str] | None = None  # line and message of the record that ends the job


AnswerBlock = Callable[[Block[_Item], int], Sequence[Outcome]]  # on so many threads
Answers = Callable[[Iterator[Block[_Item]]], Generator[tuple[Block[_Item], Answer]]]


@dataclass(frozen=True, slots=True)
class Job:
    """Where a batch goes, who does it, and what to do with records that fail."""

    command: str
    options: Mapping[str, object]  # all that the output depends on
    output: str
    resume: bool = False
    on_error: str = "record"
    exact: bool = False  # an answer that is not certified makes the exit status 3,
    uncertified_because: str = " within the budget"
    ray: str | None = None  # the address of a cluster, or "local"
    threads: int = 0  # that work at a time, or processes of the cluster; 0: all that are free
    files: Sequence[str] = ()  # that answering needs

    def __post_init__(self) -> None:
        if self.resume and self.output == "-":
            raise OptionError("resume", "needs --output FILE")

    def identity(self) -> dict[str, object]:
        """Return what a job must share with the one that it continues."""
        kept = {"command": self.command, "version": VERSION, "on_error": self.on_error}
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
    """Return the seed: the user's, that of the job to continue, or a new one; it is shown on stderr."""
    earlier = read_manifest(parts_of(job_output))[0].get("seed") if resume else None
    if seed is None:
        seed = int.from_bytes(os.urandom(4), "little") if earlier is None else int(str(earlier))
    if not quiet:
        print(f"hiddenite: seed {seed}", file=sys.stderr)
    return seed


def run_batch(
    job: Job,
    name: str,
    blocks: Iterable[Block[_Item]],
    make: Callable[[], AnswerBlock[_Item]],
) -> int:
    """Answer all blocks; return the exit status.

    ``make`` loads what answering needs and returns the function that answers a block on some threads; it may
    be called from several threads at once. It is made once here, or once in each process of a cluster.
    ``name`` is that of the input, for errors.
    """
    make_answer = functools.partial(_answering, job, make)
    with contextlib.ExitStack() as stack:
        if job.ray is None:
            answers: Answers[_Item] = functools.partial(answer_in_order, make_answer(), threads=job.threads)
        else:
            many = functools.partial(_answering_many, make_answer)
            cluster = stack.enter_context(Cluster(job.ray, job.threads))
            pool = stack.enter_context(cluster.pool(many, files=job.files))
            answers = functools.partial(_cluster_answers, pool)
        out = stack.enter_context(open_output(job.output, job.identity(), job.resume))
        missing = _missing(_numbered(blocks), out, name) if isinstance(out, PartedOutput) else iter(blocks)
        answered = stack.enter_context(contextlib.closing(answers(missing)))
        for block, answer in answered:
            write_answer(out, block, answer, name)
    return report_counts(job, out.total)


def write_answer(out: Stream | PartedOutput, block: Block[_Item], answer: Answer, name: str) -> None:
    """Write what became of a block, and say which of its records failed; raise if one ends the job."""
    for line, error in answer.errors:
        print(f"hiddenite: error: {name}:{line}: {error}", file=sys.stderr)
    counts = Counts(block.size, len(answer.text), len(answer.errors), answer.uncertified)
    if answer.stopped is None or not isinstance(out, PartedOutput):
        out.append(block.part, block.first, answer.text, block.source, counts)
    if answer.stopped is not None:
        line, error = answer.stopped
        raise FormatError(name, cast(int, line), error)


def report_counts(job: Job, counts: Counts) -> int:
    """Say how many records went wrong; return the exit status."""
    if counts.failures:
        what = "were skipped" if job.on_error == "skip" else "could not be answered"
        print(f"hiddenite: {counts.failures} of the records {what}", file=sys.stderr)
        return FAILED
    if job.exact and counts.uncertified:
        because = job.uncertified_because
        print(f"hiddenite: {counts.uncertified} of the answers are not certified{because}", file=sys.stderr)
        return NOT_CERTIFIED
    return 0


# ----------------------------------------------------------------------- parts


def _numbered(blocks: Iterable[Block[_Item]]) -> Iterator[Block[_Item]]:
    """Give the blocks with their part: as many whole blocks as reach its number of records."""
    part = records = 0
    for block in blocks:
        yield dataclasses.replace(block, part=part)
        records += block.size
        if records >= PART_RECORDS:
            part, records = part + 1, 0


def _missing(blocks: Iterable[Block[_Item]], out: PartedOutput, name: str) -> Iterator[Block[_Item]]:
    """Give the blocks that are still to be answered; those that an earlier job did must be what they were."""
    done = dict(out.complete)
    if out.begun is not None:
        done[out.begun.number] = out.begun
    for number, group in itertools.groupby(blocks, lambda block: block.part):
        if number in done:
            _skip(group, done.pop(number), name)
        yield from group  # noqa: B031  (what is left of it)
    if done:
        raise _changed(name, f"it has no record {min(part.first for part in done.values()) + 1:,} any more")


def _skip(blocks: Iterator[Block[_Item]], done: Part, name: str) -> None:
    """Pass over the blocks of a part that are done."""
    checksum = records = 0
    while records < done.counts.records and (block := next(blocks, None)) is not None:
        checksum = zlib.crc32(block.source, checksum)
        records += block.size
    if (records, checksum) != (done.counts.records, done.input_checksum):
        last = done.first + done.counts.records
        raise _changed(name, f"records {done.first + 1:,} to {last:,} differ")


def _changed(name: str, what: str) -> FormatError:
    return FormatError(name, None, f"has changed since this job began ({what}); start again without --resume")


# ------------------------------------------------------------------ answering


def _answering(job: Job, make: Callable[[], AnswerBlock[_Item]]) -> Callable[[Block[_Item], int], Answer]:
    """Return what answers a block and makes one text of its outcomes."""
    answer = make()
    return lambda block, threads: join_outcomes(answer(block, threads), job)


def join_outcomes(outcomes: Sequence[Outcome], job: Job) -> Answer:
    """Make one text of the outcomes of a block, up to the one that ends the job."""
    texts: list[str] = []
    errors: list[tuple[object, str]] = []
    uncertified = 0
    in_table = job.output.endswith(PARQUET)  # whose rows are made of such lines
    for outcome in outcomes:
        if outcome.error is not None:
            if job.on_error == "stop":
                stopped = (outcome.line, outcome.error)
                return Answer(_encode(texts), tuple(errors), uncertified, stopped)
            errors.append((outcome.line, outcome.error))
            if job.on_error == "skip":
                continue
        uncertified += not outcome.exact
        texts.append(_json_row(outcome.text) if in_table else outcome.text)
    return Answer(_encode(texts), tuple(errors), uncertified)


def _encode(texts: list[str]) -> bytes:
    """Return outcomes as they are written; bytes that are no UTF-8 pass as they were read (PEP 383)."""
    return "".join(texts).encode(errors="surrogateescape")


def _json_row(text: str) -> str:
    return json.dumps(text.removesuffix("\n"), ensure_ascii=False, allow_nan=False) + "\n"


def _answering_many(make: Callable[[], Callable[[Block[_Item], int], Answer]]) -> Callable[..., list[Answer]]:
    """Return what answers some blocks in a process of a cluster, which has one for each processor."""
    answer = make()
    return lambda blocks: [answer(block, 1) for block in blocks]


def _cluster_answers(
    pool: Pool[list[Block[_Item]], list[Answer]], blocks: Iterator[Block[_Item]]
) -> Generator[tuple[Block[_Item], Answer]]:
    """Give blocks with their answers, in order, from the processes of a cluster."""
    for task, answered in pool.in_order(_tasks(blocks)):
        yield from zip(task, answered, strict=True)


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
