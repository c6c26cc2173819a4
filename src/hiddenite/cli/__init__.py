"""The command line: one file per command, no mathematics.

Exit status: 0 done, 1 error, 2 usage, 3 not certified under ``--exact``, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings

import typer

from hiddenite import __version__
from hiddenite.cli import align, demo, encode, hmmlm, induce, infer, lm, serve, tag
from hiddenite.distributed import with_address
from hiddenite.errors import HiddeniteError, HiddeniteWarning

app = typer.Typer(
    name="hiddenite",
    help="Hidden Markov models of language whose answers carry their proof.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog="Example: hiddenite demo",
)
app.add_typer(lm.app, name="lm")
app.add_typer(align.app, name="align")
app.add_typer(tag.app, name="tag")
app.add_typer(induce.app, name="induce")
app.add_typer(hmmlm.app, name="hmmlm")
app.command("demo", epilog=demo.EPILOG)(demo.demo)
infer.register(app)
app.command("encode", epilog=encode.EPILOG)(encode.encode)
app.command("serve", epilog=serve.EPILOG)(serve.serve)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hiddenite {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Hidden Markov models of language whose answers carry their proof."""


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    kind = "" if issubclass(category, HiddeniteWarning) else f"{category.__name__}: "
    print(f"hiddenite: warning: {kind}{message}", file=sys.stderr)


class _Interrupted(BaseException):
    """Control-C or SIGTERM. Not a KeyboardInterrupt: typer's versions differ in what they make of that."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


def _interrupt(signal_number: int, _: object) -> None:
    raise _Interrupted(signal_number)


def _watch_signals() -> None:
    defaults = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    for number, default in defaults.items():
        if signal.getsignal(number) is default:  # else the caller wants it ignored
            signal.signal(number, _interrupt)


def _note(error: BaseException, otherwise: str = "") -> str:
    """Return what a job said of itself when it ended early."""
    notes = getattr(error, "__notes__", [])
    return f"; {notes[0]}" if notes else otherwise


def main() -> None:
    """Run the command line; errors become one line on stderr."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", HiddeniteWarning)
    _watch_signals()
    try:
        app(args=with_address(sys.argv[1:]))
    except HiddeniteError as error:
        print(f"hiddenite: error: {error}{_note(error)}", file=sys.stderr)
        sys.exit(1)
    except _Interrupted as error:
        hint = _note(error, "; no output was changed, run the command again")
        word = "interrupted" if error.signal_number == signal.SIGINT else "terminated"
        print(f"hiddenite: {word}{hint}", file=sys.stderr)
        sys.exit(128 + error.signal_number)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        print(f"hiddenite: error: {error}", file=sys.stderr)
        sys.exit(1)
    except MemoryError:
        print("hiddenite: error: out of memory; try a smaller input or a lower --memory", file=sys.stderr)
        sys.exit(1)
