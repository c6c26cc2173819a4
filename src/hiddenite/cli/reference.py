"""The manual's page of all commands: ``python -m hiddenite.cli.reference > docs/commands.md``."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

from hiddenite.cli import COMMANDS, make_app
from hiddenite.cli.command import option_table

HEAD = """# Commands

Each command's help, `hiddenite COMMAND --help`, says the same. An option without effect beside the others is
an error, and so is a value outside its range; both exit with status 2. Exit status 0: done; 1: error; 3: an
answer is not certified under `--exact`; 130: interrupted; 143: terminated.

Text is UTF-8, plain or compressed (gzip, bzip2, xz), one record a line; `-`, `/dev/stdin` and `/dev/stdout`
are the standard streams. A byte order mark at the beginning is left out. Words are what stands between ASCII
white space: a no-break space or another Unicode space is part of a word. Empty lines are records too. Input
without records gives output without records; a training without a word is an error. Outputs are written
under another name and renamed when they are complete; an output that is also read is refused.
"""


def commands() -> Iterator[tuple[str, Any]]:
    """Give all commands with their full names, as typer knows them."""
    yield from _commands_of(make_app(), "hiddenite")


def _commands_of(app: Any, name: str) -> Iterator[tuple[str, Any]]:
    for command in app.registered_commands:
        is_default = getattr(command.cls, "is_default", False)
        yield name if is_default else f"{name} {command.name}", command
    for group in app.registered_groups:
        yield from _commands_of(group.typer_instance, f"{name} {group.name}")


def page() -> str:
    """Return the page as Markdown."""
    order = {f"hiddenite {name}": place for place, name in enumerate(COMMANDS)}
    found = sorted(commands(), key=lambda item: order[" ".join(item[0].split()[:2])])
    return HEAD + "".join(_section(name, command) for name, command in found)


def _section(name: str, command: Any) -> str:
    lines = [f"\n## {name}\n", f"{_plain(command.help)}\n"]
    for title, rows in option_table(command.cls.kind).items():
        lines.append(f"| {title} | |\n| --- | --- |")
        lines += [f"| `{flags.replace('|', chr(92) + '|')}` | {_plain(text)} |" for flags, text in rows]
        lines.append("")
    example = (command.epilog or "").removeprefix("Example: ")
    return "\n".join([*lines, f"    {example}\n"])


def _plain(text: str) -> str:
    """Return text in which nothing but code is marked up."""
    parts = text.split("`")
    escaped = (html.escape(part, quote=False) for part in parts[::2])
    parts[::2] = [part.replace("|", "\\|").replace("*", "\\*") for part in escaped]
    return "`".join(parts)


if __name__ == "__main__":
    print(page(), end="")
