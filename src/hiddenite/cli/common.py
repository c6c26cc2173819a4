"""What the commands share: options and records."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hiddenite.errors import HiddeniteWarning, OptionError
from hiddenite.jobs.batch import POLICIES, Job, choose_seed, file_state
from hiddenite.options import MISSING, RUNNING, Options, option

MAX_SEED = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class Quiet(Options):
    """A command that says how far it is."""

    quiet: bool = option(
        False, "No progress and no warnings.", "--quiet", "-q", section=RUNNING, is_result=False
    )

    def hush(self) -> None:
        """Drop warnings if the user wants quiet."""
        if self.quiet:
            warnings.simplefilter("ignore", HiddeniteWarning)


_OUTPUT = {"metavar": "FILE", "section": RUNNING, "is_result": False}


@dataclass(frozen=True, kw_only=True)
class Output(Quiet):
    """A command that writes one file, or standard output."""

    output: str = option("-", "File to write, whole or not at all; - is stdout.", "--output", "-o", **_OUTPUT)


@dataclass(frozen=True, kw_only=True)
class OutputFile(Quiet):
    """A command that writes a model."""

    output: str = option(MISSING, "File to write, whole or not at all.", "--output", "-o", **_OUTPUT)


@dataclass(frozen=True, kw_only=True)
class Json(Options):
    """A command that writes text or JSON lines."""

    json: bool = option(False, "JSON lines.", section=RUNNING)


@dataclass(frozen=True, kw_only=True)
class OnlyJson(Options):
    """A command whose output is JSON in any case."""

    json: bool = option(False, "", is_hidden=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.json:
            raise OptionError("json", "has no effect here: the output is JSON in any case")


@dataclass(frozen=True, kw_only=True)
class Threads(Options):
    """A command that uses threads."""

    threads: int = option(0, "Threads; 0 is all cores.", least=0, most=4096, section=RUNNING, is_result=False)


@dataclass(frozen=True, kw_only=True)
class Ray(Options):
    """A command that can work on a cluster."""

    ray: str | None = option(
        None,
        "Work on this Ray cluster; without an address, start one here.",
        metavar="[ADDRESS]",
        section=RUNNING,
        is_result=False,
    )


@dataclass(frozen=True, kw_only=True)
class Batch(Output, Threads, Ray):
    """A command that answers records, one after the other."""

    resume: bool = option(
        False, "Continue an earlier run of the same command.", section=RUNNING, is_result=False
    )
    on_error: str = option(
        "record",
        "A record without an answer ends the job, is left out, or gives an empty or error record.",
        choices=POLICIES,
        section=RUNNING,
    )

    def job(self, command: str, files: Sequence[str], **details: Any) -> Job:
        """Return how the records are written; ``files`` are those that answering needs."""
        results = {name: file_state(str(v)) if v in files else v for name, v in self.results().items()}
        results |= details.pop("results", {})
        where: dict[str, Any] = {"ray": self.ray, "threads": self.threads, "files": tuple(files)}
        return Job(command, results, self.output, self.resume, self.on_error, **where, **details)

    def choose_seed(self, seed: int | None) -> int:
        """Return the user's seed, that of the job to continue, or a new one; show it."""
        return choose_seed(seed, self.quiet, self.output, self.resume)


@dataclass(frozen=True, kw_only=True)
class Seed(Options):
    """A command that draws."""

    seed: int | None = option(None, "Seed; drawn and shown if not given.", least=0, most=MAX_SEED)


@dataclass(frozen=True, kw_only=True)
class Lm(Options):
    """A command that needs a language model."""

    lm: str = option(MISSING, "ARPA file, plain or compressed; or what `lm compile` wrote.", metavar="LM")


def say(message: str, quiet: bool = False) -> None:
    """Tell the user something on stderr."""
    if not quiet:
        print(f"hiddenite: {message}", file=sys.stderr)


def parse_size(text: str) -> int:
    """Read a size such as 500M or 2G in bytes; raises ValueError."""
    units = {"K": 10, "M": 20, "G": 30, "T": 40}
    number = text.strip().upper().removesuffix("B").removesuffix("I")
    shift = units.get(number[-1:], 0)
    return int(float(number[:-1] if shift else number) * (1 << shift))


def size_option(text: str, name: str) -> int:
    """Read the size that option ``name`` gives; OptionError otherwise."""
    try:
        size = parse_size(text)
    except (ValueError, OverflowError):
        size = 0
    if size <= 0:
        raise OptionError(name, f"is '{text}', expected a size such as 500M or 2G")
    return size


def random_seed() -> int:
    """Return a seed that nobody knew before."""
    return int.from_bytes(os.urandom(4), "little")


def json_line(record: dict[str, Any] | str) -> str:
    """Return the record as one line of JSON."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
