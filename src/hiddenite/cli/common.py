"""What the commands share: options, progress, records."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

import typer

from hiddenite.distributed import LOCAL
from hiddenite.errors import HiddeniteWarning

Output = Annotated[
    str, typer.Option("--output", "-o", help="File to write, whole or not at all; - is stdout.")
]
Lm = Annotated[
    str,
    typer.Option("--lm", metavar="LM", help="ARPA file, plain or compressed; or what `lm compile` wrote."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no warnings.")]
Threads = Annotated[int, typer.Option("--threads", min=0, help="Threads; 0 is all cores.")]
NOT_CERTIFIED = 3  # exit status
AsJson = Annotated[bool, typer.Option("--json", help="JSON lines.")]


def hush(quiet: bool) -> None:
    """Drop warnings if the user wants quiet."""
    if quiet:
        warnings.simplefilter("ignore", HiddeniteWarning)


@contextlib.contextmanager
def byte_progress(label: str, total: int | None, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Show bytes done on stderr, only on a terminal; gives the function to report them to."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415  (only a terminal needs it)
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda done: progress.update(task, completed=done)


def parse_size(text: str) -> int:
    """Read a size such as 500M or 2G in bytes; raises ValueError."""
    units = {"K": 10, "M": 20, "G": 30, "T": 40}
    number = text.strip().upper().removesuffix("B").removesuffix("I")
    shift = units.get(number[-1:], 0)
    return int(float(number[:-1] if shift else number) * (1 << shift))


def size_option(text: str, name: str) -> int:
    """Read the size that option ``name`` gives; a usage error otherwise."""
    try:
        size = parse_size(text)
    except (ValueError, OverflowError):
        size = 0
    if size <= 0:
        raise typer.BadParameter(f"found '{text}', expected a size such as 500M or 2G", param_hint=name)
    return size


def random_seed() -> int:
    """Return a seed that nobody knew before."""
    return int.from_bytes(os.urandom(4), "little")


def json_line(record: dict[str, Any] | str) -> str:
    """Return the record as one line of JSON."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def with_address(arguments: Sequence[str]) -> list[str]:
    """Return a command line in which ``--ray`` without an address has the local one.

    An address is ``local``, ``auto``, ``HOST:PORT`` or ``ray://HOST:PORT``; what else follows is an argument.
    """
    completed = []
    for argument, following in itertools.zip_longest(arguments, arguments[1:], fillvalue=""):
        bare = argument == "--ray" and not _is_address(following)
        completed.append(f"--ray={LOCAL}" if bare else argument)
    return completed


def _is_address(text: str) -> bool:
    host, colon, port = text.removeprefix("ray://").rpartition(":")
    return text in (LOCAL, "auto") or bool(colon and host and port.isdecimal() and "/" not in host)
