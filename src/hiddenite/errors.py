"""What can go wrong, as types.

Every error a user can cause derives from :class:`HiddeniteError` and prints as one line that names the
place, what was found, what was expected and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_SHOWN_LETTERS = 40


class HiddeniteError(Exception):
    """The base of all errors that bad input can cause."""


class HiddeniteWarning(UserWarning):
    """Something usable but worth knowing; one line."""


class FormatError(HiddeniteError):
    """A file that cannot be used."""

    def __init__(self, file: str, line: int | None, message: str) -> None:
        super().__init__(file, line, message)  # all of them, so that the error survives pickling
        self.file = file
        self.line = line
        self.message = message

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.message}"


class ModelError(HiddeniteError):
    """A request that the model cannot serve."""


class OptionError(ModelError):
    """An option with a value that it cannot have, or without effect beside the others."""

    def __init__(self, option: str, message: str) -> None:
        super().__init__(option, message)
        self.option = option  # as a keyword argument
        self.message = message

    def __str__(self) -> str:
        return f"{self.option} {self.message}"


class UnknownSymbolError(HiddeniteError):
    """A name that nothing has, with the names that come near."""

    def __init__(self, kind: str, symbol: str, near: Sequence[str] = ()) -> None:
        super().__init__(kind, symbol, near)
        self.kind = kind
        self.symbol = symbol
        self.near = tuple(near)

    def __str__(self) -> str:
        hint = f"; did you mean {', '.join(self.near)}?" if self.near else ""
        return f"unknown {self.kind} '{self.symbol}'{hint}"


class EmptySupportError(HiddeniteError):
    """No path has a positive weight."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(position, message)
        self.position = position  # counted from 1, as in the message; one more than there are stands for </s>
        self.message = message

    def __str__(self) -> str:
        return self.message


class BudgetExceeded(HiddeniteError):
    """The budget ended before the proof; ``partial`` is the best so far."""

    def __init__(self, message: str, partial: object) -> None:
        super().__init__(message, partial)
        self.message = message
        self.partial = partial

    def __str__(self) -> str:
        return self.message


def shorten(found: str) -> str:
    """Return the beginning of what a file has, to be shown in one line: it may be as long as the file."""
    return found if len(found) <= _SHOWN_LETTERS else f"{found[:_SHOWN_LETTERS]}…"


def near_spellings(symbol: str, known: Iterable[str]) -> list[str]:
    """Return the known names that come near."""
    import difflib  # noqa: PLC0415  (only when something is misspelled)

    return difflib.get_close_matches(symbol, list(known), n=3)
