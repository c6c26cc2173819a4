"""Options written once.

The options of a command, or of a training, are one frozen dataclass whose fields say what they mean::

    @dataclass(frozen=True, kw_only=True)
    class TrainOptions(Options):
        order: int = option(5, "Longest n-grams.", least=1, most=9)
        rate: float = option(0.1, "First step.", when={"method": ("gradient", "neural")})

From such a class come the keyword arguments of Python, the signature and the help of the command line
(:mod:`hiddenite.cli.command`), the manifest of a job, and the page of the manual that lists all commands.
Values are checked in one place, and an option that has no effect beside the others is an error.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hiddenite.errors import OptionError, near_spellings

MISSING = dataclasses.MISSING
RUNNING = "Output and running"  # the last section of a help
_KEY = "option"


@dataclass(frozen=True, slots=True)
class Option:
    """What is known of an option besides its name, type and default."""

    help: str
    flags: tuple[str, ...] = ()  # on the command line; by the field's name if empty
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    section: str = ""  # of the help
    when: Mapping[str, Sequence[object]] = dataclasses.field(default_factory=dict)  # option: values it needs
    is_argument: bool = False
    is_result: bool = True  # the output depends on it; else it only says how and where the command runs
    is_hidden: bool = False


def option(default: Any, help: str, *flags: str, **details: Any) -> Any:
    """Return a field of an options class; ``details`` are those of :class:`Option`."""
    return dataclasses.field(default=default, metadata={_KEY: Option(help, flags, **details)})


def argument(default: Any, help: str, metavar: str) -> Any:
    """Return a field that the command line takes by its position."""
    found = Option(help, metavar=metavar, is_argument=True, is_result=False)
    return dataclasses.field(default=default, metadata={_KEY: found})


def same(kind: type[Options], name: str, **changes: Any) -> Any:
    """Return a field like that of another options class, but for what ``changes`` of it."""
    field = kind.__dataclass_fields__[name]
    default = changes.pop("default", field.default)
    return dataclasses.field(
        default=default, metadata={_KEY: dataclasses.replace(field.metadata[_KEY], **changes)}
    )


def options_of(kind: type[Options] | Options) -> dict[str, Option]:
    """Return the options of a class by the names of their fields, arguments first."""
    found = {field.name: field.metadata[_KEY] for field in dataclasses.fields(kind) if _KEY in field.metadata}
    return dict(sorted(found.items(), key=lambda item: not item[1].is_argument))


def flag_of(name: str, found: Option) -> str:
    """Return the option as it is written on the command line."""
    if found.is_argument:
        return (found.metavar or name.upper()).strip("[].")
    return next((flag for flag in found.flags if flag.startswith("--")), None) or (
        found.flags[0] if found.flags else f"--{name.replace('_', '-')}"
    )


@dataclass(frozen=True, kw_only=True)
class Options:
    """The base of options classes: values are checked when an object is made."""

    def __post_init__(self) -> None:
        for name, found in options_of(self).items():
            _check_value(name, found, getattr(self, name))
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        self.check_effects([name for name in options_of(self) if getattr(self, name) != defaults[name]])

    def check_effects(self, given: Collection[str]) -> None:
        """Raise OptionError if one of the options that were given has no effect beside the others."""
        known = options_of(self)
        for name in given:
            for other, values in known[name].when.items():
                value = getattr(self, other)
                if not any(value is wanted or value == wanted for wanted in values):
                    raise OptionError(name, f"has no effect {_beside(other, value, values)}")

    def results(self) -> dict[str, object]:
        """Return the options that the output depends on."""
        return {name: getattr(self, name) for name, found in options_of(self).items() if found.is_result}


def _beside(name: str, value: object, wanted: Sequence[object]) -> str:
    """Say with what an option has no effect."""
    if value is None or value is False:
        return f"without {name}"
    if value is True or None in wanted or False in wanted:
        return f"with {name}"
    return f"with {name} {value}; it needs {name} {join_names([str(one) for one in wanted])}"


LARGEST = 2**63 - 1  # what the core can count to


def _check_value(name: str, found: Option, value: object) -> None:
    if value is None:
        return
    if found.choices:
        check_choice(name, value, found.choices)
    low, high = found.least, found.most
    if not isinstance(value, int | float) or isinstance(value, bool):
        if isinstance(value, str | Options) and (low, high) != (None, None):
            raise OptionError(name, f"is {value!r:.60}, expected a number, {range_text(found)}")
        return
    inside = (low is None or value >= low) and (high is None or value <= high) and not math.isnan(value)
    if not inside:
        raise OptionError(name, f"is {value}, expected {range_text(found) or 'a number'}")
    if isinstance(value, int) and high is None and not -LARGEST <= value <= LARGEST:
        raise OptionError(name, f"is {value}, expected a number below 2^63")


def check_seed(seed: int) -> int:
    """Return a seed; raise OptionError for one that the core cannot have."""
    if not 0 <= seed < 2**64:
        raise OptionError("seed", f"is {seed}, expected 0 or more, below 2^64")
    return seed


def check_choice(name: str, value: object, known: Collection[str]) -> None:
    """Raise OptionError, with the nearest name, if a value is none of those known."""
    names = [one for one in known if one]
    if value in names or value in known:
        return
    near = near_spellings(str(value), names)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise OptionError(name, f"is '{value}', expected {join_names(names)}{hint}")


def range_text(found: Option) -> str:
    """Say which numbers an option takes; empty if all."""
    low, high = found.least, found.most
    if low is not None and high is not None and high < 2**31:
        below = high < 1 and f"{high:g}" == "1"  # 1 itself is left out
        return f"at least {low:g}, below 1" if below else f"{low:g} to {high:g}"
    return f"at least {low:g}" if low is not None else f"at most {high:g}" if high is not None else ""


def join_names(names: Sequence[str]) -> str:
    """Return ``a, b or c``."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
