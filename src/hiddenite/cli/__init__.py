"""The command line: one file per command, no mathematics.

A run loads the file of its own command alone: what ``lm score`` does not need takes neither time nor memory.
The others are there with their names and a line of help, for ``hiddenite --help`` and for near spellings.

Exit status: 0 done, 1 error, 2 usage, 3 not certified under ``--exact``, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import typer

from hiddenite import __version__
from hiddenite.cli.command import command as add_command
from hiddenite.cli.command import group
from hiddenite.cli.interrupts import AGAIN, Interrupted, leave, watch_signals
from hiddenite.errors import HiddeniteError, HiddeniteWarning


class _Command(NamedTuple):
    """Where a command or a group of commands is, and the line of help that a list shows."""

    file: str
    help: str
    is_group: bool = False


COMMANDS = {
    "demo": _Command(
        "demo",
        "Correct everyday text and a line of OCR, every change with its probability, all with proof.",
    ),
    "correct": _Command("correct", "Correct raw text: misspelt, misread or badly typed.", is_group=True),
    "restore": _Command(
        "restore", "Restore punctuation, capitals, diacritics, blanks or any hidden events.", is_group=True
    ),
    "decode": _Command(
        "infer", "Find the best word sequence for each observation, with the proof that it is."
    ),
    "sample": _Command(
        "infer", "Draw independent word sequences from the exact posterior of each observation."
    ),
    "marginals": _Command(
        "infer", "Give each candidate's posterior probability at each position, and how far off it can be."
    ),
    "encode": _Command(
        "encode",
        "Turn text into what a channel would show: key presses, typed text with slips, misread text.",
    ),
    "verify": _Command("verify", "Check that the answers in a proof file are the best of all."),
    "info": _Command(
        "info", "Describe a model file of any kind: its sizes, its options, the text it was trained on."
    ),
    "serve": _Command(
        "serve", "Serve a page for trying things out, and a JSON API described at /openapi.json."
    ),
    "lm": _Command("lm", "N-gram language models.", is_group=True),
    "lattice": _Command(
        "lattice", "Word lattices: rescore, prune, convert; confusion networks and posteriors.", is_group=True
    ),
    "align": _Command("align", "Word alignment.", is_group=True),
    "tag": _Command("tag", "Part-of-speech tagging.", is_group=True),
    "induce": _Command("induce", "Part-of-speech induction from plain text.", is_group=True),
    "hmmlm": _Command("hmmlm", "Hidden Markov language models.", is_group=True),
}


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hiddenite {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Hidden Markov models of language whose answers carry their proof."""


def make_app(loaded: Sequence[str] = tuple(COMMANDS), part: str | None = None) -> typer.Typer:
    """Return the command line; of commands that are not to be loaded it knows name and help alone.

    ``part`` is the command of a group that is wanted; large groups load it alone.
    """
    app = group(
        "Hidden Markov models of language whose answers carry their proof.",
        name="hiddenite",
        add_completion=True,
        pretty_exceptions_enable=False,
        epilog="Example: hiddenite demo",
    )
    app.callback()(_options)
    for name, command in COMMANDS.items():
        if name not in loaded:
            _announce(app, name, command)
            continue
        module = importlib.import_module(f"hiddenite.cli.{command.file}")
        if command.is_group:
            app.add_typer(module.make_group(part) if hasattr(module, "make_group") else module.app, name=name)
        else:
            function, options, example = module.COMMANDS[name]
            add_command(app, name, options, example=example)(function)
    return app


def _announce(app: typer.Typer, name: str, command: _Command) -> None:
    """Add a command's name and help."""
    if command.is_group:
        app.add_typer(group(command.help), name=name)
    else:
        app.command(name, help=command.help)(lambda: None)


def with_address(arguments: Sequence[str]) -> list[str]:
    """Return a command line in which ``--ray`` without an address has the local one.

    An address is ``local``, ``auto``, ``HOST:PORT`` or ``ray://HOST:PORT``; what else follows is an argument.
    """
    completed = []
    for argument, following in itertools.zip_longest(arguments, arguments[1:], fillvalue=""):
        bare = argument == "--ray" and not _is_address(following)
        completed.append("--ray=local" if bare else argument)
    return completed


def _is_address(text: str) -> bool:
    host, colon, port = text.removeprefix("ray://").rpartition(":")
    return text in ("local", "auto") or bool(colon and host and port.isdecimal() and "/" not in host)


def _wanted(arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the name of the command that a command line asks for, and what follows it: a group's command.

    The options before them take no value.
    """
    names = [argument for argument in arguments if not argument.startswith("-")]
    return names[:1], names[1] if len(names) > 1 else None


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    kind = "" if issubclass(category, HiddeniteWarning) else f"{category.__name__}: "
    print(f"hiddenite: warning: {kind}{message}", file=sys.stderr)


def _note(error: BaseException, otherwise: str = "") -> str:
    """Return what a job said of itself when it ended early."""
    notes = getattr(error, "__notes__", [])
    return f"; {notes[0]}" if notes else otherwise


# What typer raises for a command line that it cannot read; its versions differ in where they keep it.
_COMMAND_LINE_ERROR: type[Any] = typer.BadParameter.__mro__[2]
_USAGE_ERROR: type[Any] = typer.BadParameter.__mro__[1]


def _show_command_line_error(error: Any) -> None:
    """Say what is wrong in one line; a group without a command shows its help instead."""
    if type(error).show not in (_COMMAND_LINE_ERROR.show, _USAGE_ERROR.show):
        error.show()
        return
    context = getattr(error, "ctx", None)
    advice = "" if context is None else f" (see {context.command_path} -h)"
    print(f"hiddenite: error: {error.format_message().rstrip('.')}{advice}", file=sys.stderr)


def main() -> None:
    """Run the command line; errors become one line on stderr."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", HiddeniteWarning)
    watch_signals()
    try:
        arguments = with_address(sys.argv[1:])
        is_completing = "_HIDDENITE_COMPLETE" in os.environ
        app = make_app() if is_completing else make_app(*_wanted(arguments))
        status = app(args=arguments, standalone_mode=False)
        sys.exit(status if isinstance(status, int) else 0)
    except _COMMAND_LINE_ERROR as error:
        _show_command_line_error(error)
        sys.exit(error.exit_code)
    except typer.Abort:  # what typer makes of an input that ends too soon
        print("hiddenite: error: aborted", file=sys.stderr)
        sys.exit(1)
    except HiddeniteError as error:
        print(f"hiddenite: error: {error}{_note(error)}", file=sys.stderr)
        sys.exit(1)
    except Interrupted as error:
        leave(error.signal_number, _note(error, AGAIN))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        print(f"hiddenite: error: {error}", file=sys.stderr)
        sys.exit(1)
    except MemoryError:
        print("hiddenite: error: out of memory; try a smaller input or a lower --memory", file=sys.stderr)
        sys.exit(1)


# What has work of its own to do when the interpreter ends.
_ENDING = {"concurrent.futures.thread", "jax", "multiprocessing.util", "ray"}


def run() -> None:
    """Run the command line in a process that ends with it.

    Freeing modules and models one by one takes a tenth of a second; the system frees them at once.
    """
    try:
        main()
    except SystemExit as end:
        if not end.code and not _ENDING & sys.modules.keys():
            with contextlib.suppress(OSError, AttributeError, ValueError):  # told by the interpreter's end
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(0)
        raise
