"""Pictures of a run: the log joint over sweeps, and how many words have how frequent an ambiguity class."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from hiddenite.errors import ModelError
from hiddenite.induction.induction import Induction
from hiddenite.induction.lexicon import AmbiguityClass

Named = tuple[str, Induction]


def _figure() -> Any:
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  (an optional extra)
    except ImportError:
        raise ModelError("a plot needs matplotlib: pip install 'hiddenite[plot]'") from None
    return Figure(figsize=(6.4, 4.2))


def _save(figure: Any, path: str | os.PathLike[str]) -> None:
    figure.tight_layout()
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:  # a folder that is not there, an ending that is no picture's
        raise ModelError(f"the plot cannot be written to {os.fspath(path)}: {error}") from None


def plot_log_joint(runs: Sequence[Named], path: str | os.PathLike[str], *, seconds: bool = False) -> None:
    """Draw the log joint of each run and chain over sweeps, or over seconds (figures 3 and 4 of 2012)."""
    figure = _figure()
    axes = figure.subplots()
    for number, (name, run) in enumerate(runs):
        values = run.log_joints()
        times = [sweeps.seconds for sweeps in run.history if sweeps.stage == "main"]
        x = np.cumsum(times) if seconds else np.arange(1, values.shape[1] + 1)
        for chain, row in enumerate(values):
            axes.plot(x, row, color=f"C{number % 10}", lw=1, label=None if chain else name)
    axes.set(xlabel="seconds" if seconds else "sweeps", ylabel="log joint")
    axes.legend(frameon=False)
    _save(figure, path)


def plot_classes(runs: Sequence[Named], path: str | os.PathLike[str]) -> None:
    """Draw the words of each ambiguity class over the class's rank (figure 2 of 2014)."""
    figure = _figure()
    axes = figure.subplots()
    for name, run in runs:
        types = [row.types for row in run.lexicon()]
        axes.plot(range(1, len(types) + 1), types, ".-", label=name)
    axes.set(xlabel="rank of the ambiguity class", ylabel="words", xscale="log", yscale="log")
    axes.legend(frameon=False)
    _save(figure, path)


def class_table(rows: Sequence[AmbiguityClass], number: int) -> str:
    """Return the most frequent classes as lines of words, share, tags and examples (table 3 of 2014)."""
    lines = ["words\tshare\ttags\texamples"]
    for row in rows[:number]:
        tags, words = " ".join(row.tags), " ".join(row.words)
        lines.append(f"{row.types:.1f}\t{100 * row.share:.2f} %\t{tags}\t{words}")
    return "\n".join(lines) + "\n"
