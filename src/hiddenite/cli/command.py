"""Commands made from options: ``@command(app, "train", TrainOptions, example=...)``.

The function gets one object of the options class and may return an exit status; its docstring is the help.
What typer needs to know is read from the class (:mod:`hiddenite.options`). Help is plain text, by section.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from hiddenite.errors import OptionError, near_spellings
from hiddenite.options import MISSING, RUNNING, Option, Options, flag_of, join_names, options_of, range_text

STREAMS = ("/dev/stdin", "/dev/stdout", "/dev/fd/0", "/dev/fd/1")  # the same as -
SETTINGS = {"help_option_names": ["-h", "--help"]}
WIDEST = 100  # columns of help
_O = TypeVar("_O", bound=Options)
_Run = Callable[[_O], int | None]


def command(
    app: typer.Typer, name: str, kind: type[_O], *, example: str, is_default: bool = False
) -> Callable[[_Run[_O]], _Run[_O]]:
    """Add a command to ``app``; the default one of a group that ``default_group`` made needs no name."""
    base = _DefaultCommand if is_default else _Command

    def add(function: _Run[_O]) -> _Run[_O]:
        text = inspect.getdoc(function) or ""
        app.command(
            name,
            cls=type("Command", (base,), {"kind": kind}),
            hidden=is_default,
            help="\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n")),
            epilog=f"Example: {example}",
            context_settings=SETTINGS,
        )(_for_typer(function, kind))
        return function

    return add


def group(help: str, **details: Any) -> typer.Typer:
    """Return a group of commands."""
    settings: dict[str, Any] = {
        "cls": Group,
        "no_args_is_help": True,
        "context_settings": SETTINGS,
        "rich_markup_mode": None,
    }
    return typer.Typer(help=help, **({"add_completion": False} | settings | details))


def default_group(help: str, default: str) -> typer.Typer:
    """Return a group whose command ``default`` runs where no other is named: ``hiddenite correct FILE``."""
    kind = type("Group", (_DefaultGroup,), {"default": default})
    return group(help, cls=kind, no_args_is_help=False)


# ------------------------------------------------------------------- signature


def _for_typer(function: _Run[_O], kind: type[_O]) -> Callable[..., None]:
    """Return a function with the signature that typer reads."""
    known = options_of(kind)

    def run(context: typer.Context, **values: Any) -> None:
        given = [name for name in known if _is_given(context, name)]
        try:
            options = kind(**{name: _plain(value) for name, value in values.items()})
            options.check_effects(given)
            _check_output(options)
            status = function(options)
        except OptionError as error:
            context.fail(_with_flags(error, known))
        if status:
            raise typer.Exit(status)

    types = get_type_hints(kind)
    defaults = {field.name: field.default for field in dataclasses.fields(kind)}
    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    parameters = [context]
    for name, found in known.items():
        parsed = _parsed_type(types[name])
        default = inspect.Parameter.empty if defaults[name] is MISSING else defaults[name]
        parameters.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=Annotated[parsed, _parameter(name, found, parsed)],
                default=list(default)
                if isinstance(default, tuple) and get_origin(parsed) is list
                else default,
            )
        )
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_plain, value))
    return "-" if value in STREAMS else value


def _check_output(options: Options) -> None:
    """Raise OptionError if a file is to be read and written at once."""
    output = getattr(options, "output", "-")
    if not os.path.isfile(output):
        return
    for name in options_of(options):
        values = getattr(options, name)
        for value in values if isinstance(values, tuple) else (values,):
            is_file = name != "output" and isinstance(value, str) and os.path.isfile(value)
            if is_file and os.path.samefile(value, output):
                raise OptionError("output", f"is {value}, which is read; give another file")


def _with_flags(error: OptionError, known: Mapping[str, Option]) -> str:
    """Return the message with options as they are written on the command line."""
    if error.option not in known:
        return str(error)
    message = error.message
    for other in known[error.option].when:
        message = re.sub(rf"(with|without|needs) {other}\b", rf"\1 {flag_of(other, known[other])}", message)
    return f"{flag_of(error.option, known[error.option])} {message}"


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _parsed_type(kind: Any) -> Any:
    """Return the type that the command line reads: a tuple of any length is a list there, a name a string."""
    inner = [one for one in get_args(kind) if one is not type(None)]
    if get_origin(kind) in (Union, UnionType):
        return _parsed_type(inner[0]) | None
    if get_origin(kind) is tuple and inner[-1] is Ellipsis:
        return list[inner[0]]  # type: ignore[valid-type]
    return kind if kind in (int, float, bool, str) or get_origin(kind) is tuple else str


def _parameter(name: str, found: Option, kind: Any) -> Any:
    """Return what typer needs to know of an option."""
    if found.is_argument:
        return typer.Argument(metavar=(found.metavar or name.upper()).strip("[].").upper(), help=found.help)
    details: dict[str, Any] = {"help": found.help, "hidden": found.is_hidden}
    if found.choices:
        details["autocompletion"] = _completion(found.choices)
    flags = found.flags or (f"--{name.replace('_', '-')}",)
    return typer.Option(*flags, **details)


def _completion(choices: tuple[str, ...]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete


# ------------------------------------------------------------------------ help


class Group(TyperGroup):
    """A group of commands; a wrong name gets the nearest one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the command's name."""
        _read_flags(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command by its name."""
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            near = near_spellings(name, known)
            hint = f"did you mean '{near[0]}'?" if near else f"expected {', '.join(known)}"
            ctx.fail(f"no such command '{name}'; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands, each with the whole first sentence of its help."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, (one.help or "").split("\n\n")[0]) for name, one in found if one])


class _DefaultGroup(Group):
    """A group in which what is no command's name begins the arguments of the default command."""

    default: str

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command's name where the user left it out."""
        known = self.list_commands(ctx)
        if not args or args[0] not in known:
            self._check_file(ctx, args[:1], [name for name in known if name != self.default])
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def _check_file(self, ctx: Any, first: list[str], known: list[str]) -> None:
        """Refuse a word that is no file and nearly a command."""
        for name in first:
            near = near_spellings(name, known)
            if near and not name.startswith("-") and not os.path.exists(name):
                ctx.fail(f"no such command or file '{name}'; did you mean '{near[0]}'?")


class _Command(TyperCommand):
    """A command whose options are listed by section."""

    kind: type[Options]

    def __init__(self, *arguments: Any, **details: Any) -> None:
        super().__init__(*arguments, **details)
        types = get_type_hints(self.kind)
        for parameter in self.params:
            if hasattr(parameter, "_runtime_param") and parameter.name in types:
                parameter._runtime_param = _Reader(types[parameter.name])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options and arguments."""
        _read_flags(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def get_help(self, ctx: Any) -> str:
        """Return the help, at most so wide that lines are easy to read."""
        formatter = ctx.make_formatter()
        formatter.width = min(WIDEST, shutil.get_terminal_size().columns)
        self.format_help(ctx, formatter)
        return str(formatter.getvalue()).rstrip("\n")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options by section."""
        del ctx
        for title, rows in option_table(self.kind).items():
            with formatter.section(title):
                formatter.write_dl(rows, col_max=30)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the example on a line of its own, for copying."""
        del ctx
        formatter.write(f"\n{self.epilog}\n")


class _DefaultCommand(_Command):
    """A group's default command: it is called by the group's name, and its help lists the other commands."""

    is_default = True

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Take the place of the group, so that usage and errors show what the user wrote."""
        del info_name
        self._others = {name: one for name, one in parent.command.commands.items() if one is not self}
        return super().make_context(parent.info_name, args, parent.parent, **extra)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the other commands and the example."""
        rows = [(f"{ctx.info_name} {name}", one.get_short_help_str(90)) for name, one in self._others.items()]
        with formatter.section("Other commands"):
            formatter.write_dl(rows, col_max=30)
        super().format_epilog(ctx, formatter)


class _Reader:
    """Makes values of words. Where typer would load pydantic for that, this keeps the start short."""

    def __init__(self, kind: Any) -> None:
        kinds = [kind, *get_args(kind)]
        self._type = next((one for one in (bool, int, float) if one in kinds), str)

    def coerce(self, value: Any, param: Any = None, ctx: Any = None) -> Any:
        """Return the value of a word, or of each of several."""
        if value is None or isinstance(value, list | tuple):
            return value and [self.coerce(one, param, ctx) for one in value]
        try:
            return self._type(value)
        except ValueError:
            expected = "a whole number" if self._type is int else "a number"
            raise typer.BadParameter(f"'{value}' is not {expected}", ctx=ctx, param=param) from None


def _read_flags(parameters: Iterable[Any]) -> None:
    """Have flags read here that typer adds itself: help and completion."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and getattr(parameter, "_runtime_param", True) is None:
            parameter._runtime_param = _Reader(bool)


def option_table(kind: type[Options]) -> dict[str, list[tuple[str, str]]]:
    """Return what help lists: by section, the options and what they mean."""
    sections: dict[str, list[tuple[str, str]]] = {}
    types = get_type_hints(kind)
    defaults = {field.name: field.default for field in dataclasses.fields(kind)}
    known = {name: found for name, found in options_of(kind).items() if not found.is_hidden}
    for name, found in sorted(known.items(), key=lambda item: defaults[item[0]] is not MISSING):
        title = "Arguments" if found.is_argument else found.section or "Options"
        flags = ", ".join(found.flags) or flag_of(name, found)
        row = f"{flags}{_metavar(found, types[name])}"
        notes = "; ".join(_notes(found, defaults[name], known))
        sections.setdefault(title, []).append((row, f"{found.help} [{notes}]" if notes else found.help))
    sections.setdefault("Options", []).append(("-h, --help", "Show this and stop."))
    order = ["Arguments", "Options", *sections, RUNNING]
    titles = sorted(sections, key=lambda title: order.index(title) if title != RUNNING else len(order))
    return {title: sections[title] for title in titles}


def _metavar(found: Option, kind: Any) -> str:
    if found.is_argument or kind in (bool, bool | None):
        return ""
    words = {int: "N", float: "X", str: "TEXT"}
    kinds = [kind, *get_args(kind)]
    word = next((words[one] for one in kinds if one in words), "TEXT")
    return f" {found.metavar or '|'.join(found.choices) or word}"


def _notes(found: Option, default: object, known: Mapping[str, Option]) -> Iterator[str]:
    if default is MISSING:
        yield "required"
    elif not (found.is_argument or default is None or isinstance(default, bool) or default in ("", "-", ())):
        yield f"default {default:g}" if isinstance(default, float) else f"default {default}"
    if text := range_text(found):
        yield text
    for other, values in found.when.items():
        without = values[0] is None or values[0] is False
        wanted = "" if isinstance(values[0], bool) or without else f" {join_names([str(v) for v in values])}"
        yield f"{'without' if without else 'with'} {flag_of(other, known[other])}{wanted}"
