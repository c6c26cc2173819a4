"""The installed command, run as a user runs it: in a process of its own, without a terminal."""

import atexit
import functools
import itertools
import os
import signal
import subprocess
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.fork_server import MOST_BYTES, ForkServer

HIDDENITE = str(Path(sysconfig.get_path("scripts"), "hiddenite"))


def environment() -> dict[str, str]:
    """Help in one width and without colours, whatever surrounds the tests."""
    unwanted = {"FORCE_COLOR", "TERM", "PYTHONWARNINGS", "GITHUB_ACTIONS", "PYTEST_CURRENT_TEST"}
    return {k: v for k, v in os.environ.items() if k not in unwanted} | {"COLUMNS": "200", "NO_COLOR": "1"}


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    status: int
    stdout: bytes
    stderr: str

    def lines(self) -> list[bytes]:
        return self.stdout.splitlines()


turns = itertools.count()
BY_GRADIENT = {"gradient", "neural"}  # commands that need jax, which takes long to load


@functools.cache
def _server(hash_seed: int, *modules: str) -> ForkServer:
    made = ForkServer(environment(), hash_seed, *modules)
    atexit.register(made.close)
    return made


def server(arguments: Sequence[str] = ()) -> ForkServer:
    """The server whose turn it is."""
    if BY_GRADIENT & set(arguments[:3]):
        return _server(3, "hiddenite.hmmlm.neural.task")
    return _server(1 + next(turns) % 2)


def run(directory: Path, *arguments: str | Path, stdin: bytes = b"", timeout: float = 300) -> Done:
    """Run a command to its end, in a process that need not load the program anew."""
    words = list(map(str, arguments))
    if "PYTHONPATH" in os.environ or sum(map(len, words)) > MOST_BYTES / 8:
        return run_afresh(directory, *arguments, stdin=stdin, timeout=timeout)
    status, stdout, stderr = server(words).run(directory, words, environment(), stdin, timeout)
    return Done(status, stdout, stderr.decode())


def run_afresh(directory: Path, *arguments: str | Path, stdin: bytes = b"", timeout: float = 300) -> Done:
    """Run a command as a shell does: the installed script, in a new interpreter."""
    done = subprocess.run(
        [HIDDENITE, *map(str, arguments)],
        cwd=directory,
        env=environment(),
        input=stdin,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr.decode())


def succeed(directory: Path, *arguments: str | Path, stdin: bytes = b"") -> Done:
    """Run a command that must end well and quietly."""
    done = run(directory, *arguments, stdin=stdin)
    assert done.status == 0, done.stderr
    assert done.stderr == ""
    return done


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def start(
    directory: Path, arguments: Sequence[str | Path], stderr: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """Begin a command and leave its three streams to the test."""
    # A shell lets jobs in the background ignore SIGINT, and what they start; a test run may be such a job.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(
        [HIDDENITE, *map(str, arguments)],
        cwd=directory,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )
