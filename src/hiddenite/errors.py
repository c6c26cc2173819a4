"""What can go wrong, as types.

Every error a user can cause derives from :class:`HiddeniteError` and prints as one line that names the
place, what was found, what was expected and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence


class HiddeniteError(Exception):
    """The base of all errors that bad input can cause."""


class HiddeniteWarning(UserWarning):
    """Something usable but worth knowing; one line."""


class FormatError(HiddeniteError):
    """A file that cannot be used."""

    def __init__(self, file: str, line: int | None, message: str) -> None:
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {message}")
        self.file = file
        self.line = line
        self.message = message


class ModelError(HiddeniteError):
    """A request that the model cannot serve."""


class UnknownSymbolError(HiddeniteError):
    """A name that nothing has, with the names that come near."""

    def __init__(self, kind: str, symbol: str, near: Sequence[str] = ()) -> None:
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        super().__init__(f"unknown {kind} '{symbol}'{hint}")
        self.symbol = symbol
        self.near = tuple(near)
