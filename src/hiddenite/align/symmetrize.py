"""One set of links from those of the two directions; see ``cpp/hiddenite/symmetrize.hpp``.

``intersection`` is precise, ``union`` complete, the others lie between: ``grow-diag`` adds neighbours from
the union, ``final`` adds links of words that have none, ``final-and`` only if both words have none.
"""

from __future__ import annotations

from collections.abc import Iterable

from hiddenite._core import Symmetrization
from hiddenite._core import symmetrize as _symmetrize
from hiddenite.align.links import Link
from hiddenite.options import check_choice

METHODS = {name.lower().replace("_", "-"): method for name, method in Symmetrization.__members__.items()}
DEFAULT = "grow-diag-final-and"


def method_of_name(name: str) -> Symmetrization:
    """Return the core's method; raises OptionError."""
    check_choice("symmetrize", name, METHODS)
    return METHODS[name]


def symmetrize(forward: Iterable[Link], reverse: Iterable[Link], method: str = DEFAULT) -> tuple[Link, ...]:
    """Combine two directions' links, all (source, target), sorted."""
    return tuple(_symmetrize(list(forward), list(reverse), method_of_name(method)))
