"""Commands in processes of their own that need not load the program: each is forked from one that has.

A short command takes longer to read its Python files than to work. Here a server reads them once and forks a
process for each command, with its own directory, arguments, environment and streams. What a fork shares is
the seed of Python's hashes, so there are two servers with different seeds which take turns: two runs of one
command still show what depends on the order of a set. A shell reaches a server by way of a small program of
the same name as the command (`write_client`).
"""

import atexit
import contextlib
import importlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

NUM_FILES = 4  # stdin, stdout, stderr, and where the status is told
MOST_BYTES = 50_000  # of a request
CLIENT_FILE = "HIDDENITE_FORK_SERVER"  # the environment's name for the socket that a shell's commands find

# In a shell the command is this program, which need not load anything: it hands its own streams on and waits.
_CLIENT = """\
#!{python} -IS
import _socket, array, os, sys
requests = _socket.socket(fileno=int(os.environ.pop({name!r})))
told, tell = os.pipe()
names = [f"{{name}}={{value}}" for name, value in os.environ.items()]
words = [os.getcwd(), str(len(sys.argv) - 1), *sys.argv[1:], *names]
files = array.array("i", [0, 1, 2, tell])
rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)
requests.sendmsg([b"\\0".join(map(os.fsencode, words))], [rights])
os.close(tell)
lines = open(told).read().split()
os._exit(int(lines[1]) & 255)
"""


class ForkServer:
    """The side of the tests: starts a server and sends it commands."""

    def __init__(self, environment: Mapping[str, str], hash_seed: int, *modules: str) -> None:
        """Start a server that has also loaded some modules, if they are installed."""
        self.requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno()), *modules],
                env={**environment, "PYTHONHASHSEED": str(hash_seed)},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def run(
        self,
        directory: Path,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        stdin: bytes,
        timeout: float,
    ) -> tuple[int, bytes, bytes]:
        """Return a command's status and what it wrote to its two streams."""
        pipes = [os.pipe() for _ in range(NUM_FILES)]
        theirs = [pipes[0][0], *(end for _, end in pipes[1:])]
        names = [f"{name}={value}" for name, value in environment.items()]
        words = [str(directory), str(len(arguments)), *arguments, *names]
        request = b"\0".join(map(os.fsencode, words))
        socket.send_fds(self.requests, [request], theirs)
        for end in theirs:
            os.close(end)
        feeder = threading.Thread(target=_feed, args=(pipes[0][1], stdin))
        found: dict[int, bytes] = {}
        readers = [
            threading.Thread(target=_read, args=(pipes[number][0], found, number)) for number in (1, 2)
        ]
        for thread in (feeder, *readers):
            thread.start()
        with os.fdopen(pipes[3][0]) as told:
            pid = int(told.readline())
            watch = threading.Timer(timeout, os.kill, [pid, signal.SIGKILL])
            watch.start()
            status = int(told.readline())
            watch.cancel()
        for thread in (feeder, *readers):
            thread.join()
        return status, found[1], found[2]

    def close(self) -> None:
        self.requests.close()
        self.process.wait()


def write_client(folder: Path) -> None:
    """Write the program that a shell finds under the command's name."""
    client = folder / "hiddenite"
    client.write_text(_CLIENT.format(python=sys.executable, name=CLIENT_FILE))
    client.chmod(0o755)


def _feed(end: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), os.fdopen(end, "wb") as stream:
        stream.write(data)  # or as much of it as the command wants to read


def _read(end: int, found: dict[int, bytes], number: int) -> None:
    with os.fdopen(end, "rb") as stream:
        found[number] = stream.read()


def _reap(option: int) -> None:
    """Take note of processes that have ended, so that their processor time is counted."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, option)[0]:
            pass


def _wait_for_a_command(requests: socket.socket) -> list[str]:
    """Return directory, arguments and environment of a command, in a process that was forked for it."""
    while True:
        request, files, _, _ = socket.recv_fds(requests, MOST_BYTES, NUM_FILES)
        if not request:  # the tests are done
            _reap(0)
            os._exit(0)
        if os.fork() == 0:
            break
        for file in files:
            os.close(file)
        _reap(os.WNOHANG)
    pid = os.fork()  # and this process waits for the command, so that the server need not
    if pid:
        for file in files[:3]:
            os.close(file)
        os.write(files[3], f"{pid}\n".encode())
        os.write(files[3], f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n".encode())
        os._exit(0)
    requests.close()
    for number, file in enumerate(files[:3]):
        os.dup2(file, number)
    for file in files:
        os.close(file)
    return list(map(os.fsdecode, request.split(b"\0")))


def _serve(requests: socket.socket, modules: Sequence[str]) -> None:
    from hiddenite.cli import main, make_app  # noqa: PLC0415  (only the server loads the program)

    make_app()
    for module in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    directory, count, *words = _wait_for_a_command(requests)
    arguments, names = words[: int(count)], words[int(count) :]
    os.environ.clear()
    os.environ.update(dict(name.split("=", 1) for name in names))
    os.chdir(directory)
    sys.argv = ["hiddenite", *arguments]
    try:
        main()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    # All that an interpreter does at its end except to free what it has loaded.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
