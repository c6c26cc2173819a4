"""Control-C and SIGTERM: one line that says how to go on, at once.

The core looks at signals itself. What jax compiles does not: there a thread waits beside the work, and ends
the process if the work has not answered soon. Nothing is lost by that: files are written under other names
and renamed when they are whole, and no file is being written while a compiler works.

A signal is an exception in whatever Python code runs at that moment. Two places cannot pass it on: a callback
of the garbage collector, which prints and drops it, and the import of jax, which crashes. The first is tried
again a moment later, in the second the process ends at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

AGAIN = "; no output was changed, run the command again"
_PATIENCE = 0.4  # seconds that the work has to answer
_MOMENT = 0.01  # seconds after which a dropped signal is tried again


class Interrupted(BaseException):
    """Control-C or SIGTERM. Not a KeyboardInterrupt: typer's versions differ in what they make of that."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


def _interrupt(signal_number: int, _: object) -> None:
    raise Interrupted(signal_number)


def _try_again(dropped: sys.UnraisableHookArgs) -> None:
    """Send a signal once more whose exception was raised where none can be: in a finalizer, in a callback."""
    if isinstance(dropped.exc_value, Interrupted):
        again = threading.Timer(_MOMENT, _send_to_main_thread, [dropped.exc_value.signal_number])
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(dropped)


def _send_to_main_thread(signal_number: int) -> None:
    if sys.platform == "win32":  # handlers run in the main thread, but nothing wakes it
        signal.raise_signal(signal_number)
        return
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal_number)


def watch_signals() -> None:
    """Raise Interrupted at a signal, unless the caller wants it ignored."""
    sys.unraisablehook = _try_again
    defaults = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    for number, default in defaults.items():
        if signal.getsignal(number) is default:
            signal.signal(number, _interrupt)


def leave(signal_number: int, hint: str) -> None:
    """Say that the command was interrupted, and end it."""
    word = "interrupted" if signal_number == signal.SIGINT else "terminated"
    print(f"hiddenite: {word}{hint}", file=sys.stderr)
    if "jax" in sys.modules:  # its threads may still compile, and do not survive the interpreter's end
        sys.stderr.flush()
        os._exit(128 + signal_number)
    sys.exit(128 + signal_number)


def _leave_now(signal_number: int, _: object) -> None:
    word = b"interrupted" if signal_number == signal.SIGINT else b"terminated"
    os.write(2, b"hiddenite: " + word + AGAIN.encode() + b"\n")
    os._exit(128 + signal_number)


@contextmanager
def importing() -> Iterator[None]:
    """Within this, a signal ends the process at once: an exception amid jax's import crashes it."""
    watched = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) is _interrupt]
    for number in watched:
        signal.signal(number, _leave_now)
    try:
        yield
    finally:
        for number in watched:
            signal.signal(number, _interrupt)


@contextmanager
def impatient(hint: Callable[[], str]) -> Iterator[None]:
    """Within this, a signal that the work does not answer ends the process all the same."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    import socket  # noqa: PLC0415  (few commands come here)

    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    before = signal.set_wakeup_fd(theirs.fileno())
    watcher = threading.Thread(target=_wait, args=(ours, hint), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        theirs.close()
        watcher.join()  # it holds what the hint is about


def _wait(signals: socket.socket, hint: Callable[[], str]) -> None:
    """Wait for a signal, then for the end of the work; whichever ends first."""
    with signals:
        number = signals.recv(1)
        if not number or signal.getsignal(number[0]) is not _interrupt:
            return
        signals.settimeout(_PATIENCE)
        try:
            while signals.recv(1):
                pass
        except TimeoutError:
            leave(number[0], hint())
