"""Pictures of a run: the log joint over sweeps, and how many words have how frequent an ambiguity class."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from hiddenite.errors import FormatError, ModelError
from hiddenite.files.output import atomic_output
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
    """Write a picture, whole or not at all, in the format that the file's ending names."""
    name = os.fspath(path)
    ending = PurePath(name).suffix.removeprefix(".").lower()
    if ending not in figure.canvas.get_supported_filetypes():
        raise FormatError(name, None, "is not named like a picture; end the name in .png, .svg or .pdf")
    figure.tight_layout()
    with atomic_output(name) as out:
        figure.savefig(out, dpi=120, format=ending)


def _finish(axes: Any, title: str, **labels: str) -> None:
    """Give a diagram its words."""
    axes.set(**labels)
    axes.set_title(title, fontsize="medium", wrap=True)
    axes.legend(frameon=False)


def plot_log_joint(runs: Sequence[Named], path: str | os.PathLike[str], *, seconds: bool = False) -> None:
    """Draw the log joint of each run and chain over sweeps, or over seconds (figures 3 and 4 of 2012)."""
    figure = _figure()
    axes = figure.subplots()
    for number, (name, run) in enumerate(runs):
        values = run.log_joints()
        times = [sweeps.seconds for sweeps in run.history if sweeps.stage == "main"]
        if not times:
            raise ModelError(
                f"{name} has no sweep to draw: it was interrupted before its main sweeps began; "
                "give its `hiddenite induce run` again to continue it"
            )
        x = np.cumsum(times) if seconds else np.arange(1, values.shape[1] + 1)
        lines = name if run.num_chains == 1 else f"{name}: {run.num_chains} chains, a line each"
        for chain, row in enumerate(values):
            axes.plot(x, row, color=f"C{number % 10}", lw=1, label=None if chain else lines)
    axes.xaxis.get_major_locator().set_params(integer=not seconds)
    axes.yaxis.set_major_formatter("{x:,.10g}")
    _finish(
        axes,
        "How probable the tags are: a chain has settled where its line is level",
        xlabel="time (seconds)" if seconds else "sweep (one pass through the text)",
        ylabel="log joint probability (natural log)",
    )
    _save(figure, path)


def plot_classes(runs: Sequence[Named], path: str | os.PathLike[str]) -> None:
    """Draw the words of each ambiguity class over the class's rank (figure 2 of 2014)."""
    figure = _figure()
    axes = figure.subplots()
    for name, run in runs:
        types = [row.types for row in run.lexicon()]
        axes.plot(range(1, len(types) + 1), types, ".-", label=name)
    axes.set(xscale="log", yscale="log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,g}")
    _finish(
        axes,
        "Size of the ambiguity classes: words that may have the same tags",
        xlabel="rank of the class (1: the largest)",
        ylabel="number of words (mean of the samples)",
    )
    _save(figure, path)


def class_table(rows: Sequence[AmbiguityClass], number: int) -> str:
    """Return the most frequent classes as lines of words, share, tags and examples (table 3 of 2014)."""
    lines = ["words\tshare\ttags\texamples"]
    for row in rows[:number]:
        tags, words = " ".join(row.tags), " ".join(row.words)
        lines.append(f"{row.types:.1f}\t{100 * row.share:.2f} %\t{tags}\t{words}")
    return "\n".join(lines) + "\n"
