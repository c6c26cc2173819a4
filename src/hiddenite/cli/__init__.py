"""The command line: one file per command, no mathematics.

Exit status: 0 done, 1 error, 2 usage, 3 not certified under ``--exact``, 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings

import typer

from hiddenite import __version__
from hiddenite.cli import align, demo, encode, infer, lm, serve, tag
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
    """Control-C. Not a KeyboardInterrupt, because typer's versions differ in what they make of that."""


def _interrupt(*_: object) -> None:
    raise _Interrupted


def main() -> None:
    """Run the command line; errors become one line on stderr."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", HiddeniteWarning)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else the caller wants it ignored
        signal.signal(signal.SIGINT, _interrupt)
    try:
        app()
    except HiddeniteError as error:
        print(f"hiddenite: error: {error}", file=sys.stderr)
        sys.exit(1)
    except _Interrupted:
        print("hiddenite: interrupted; no output was changed, run the command again", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        print(f"hiddenite: error: {error}", file=sys.stderr)
        sys.exit(1)
    except MemoryError:
        print("hiddenite: error: out of memory; try a smaller input or a lower --memory", file=sys.stderr)
        sys.exit(1)
