"""What all records share: numbers of JSON, short texts, equality, rows of words or of tags."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Protocol

SHOWN = 5  # rows of a record's repr


class Sequenced(Protocol):
    """A sequence of words or of tags with its log weight."""

    @property
    def items(self) -> tuple[str, ...]:
        """What its positions hold."""

    @property
    def log_weight(self) -> float:
        """Its log weight."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""


class Counted(Sequenced, Protocol):
    """The same, drawn so many times."""

    @property
    def count(self) -> int:
        """How often it was drawn."""


def json_number(value: float | None) -> float | None:
    """Return the number, or None for an infinity or NaN, which JSON lacks, and for what is not known."""
    return value if value is not None and math.isfinite(value) else None


def equal_fields(one: Any, other: Any) -> bool:
    """Tell whether two records hold the same, arrays included."""
    if type(one) is not type(other):
        return False
    pairs = [(getattr(one, field.name), getattr(other, field.name)) for field in fields(one)]
    return all(
        a.shape == b.shape and bool((a == b).all()) if hasattr(a, "shape") and hasattr(b, "shape") else a == b
        for a, b in pairs
    )


def show_rows(kind: str, rows: Sequence[str]) -> str:
    """Return a short text of a record: its first rows, and how many more there are."""
    more = [f"... {len(rows) - SHOWN:,} more"] if len(rows) > SHOWN else []
    return f"<{kind}: {'; '.join([*rows[:SHOWN], *more])}>"
