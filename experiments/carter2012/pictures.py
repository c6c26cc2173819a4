"""Figures 2 to 4 of Carter, Dymetman & Bouchard (2012), with our numbers."""

from __future__ import annotations

import math
from typing import Any

from experiments.carter2012.published import PAPER_ACCURACY, PAPER_BEST_ORDER, PAPER_SAMPLING
from experiments.common import Pieces, finish, panels


def column(pieces: Pieces, name: str) -> tuple[list[float], list[float]]:
    costs = pieces["tagging"]["costs"]
    orders = sorted(map(int, costs))
    return [float(n) for n in orders], [costs[str(n)][name] for n in orders]


def _figure2(pieces: Pieces) -> Any:
    figure, axes = panels(2)
    for axis, what in zip(axes, ("iterations", "states"), strict=True):
        for place, (method, style) in enumerate((("refine", "o-"), ("paper", "^:"))):
            for i, (order, rows) in enumerate(pieces["decoding"][method].items()):
                points = [(int(length), f[what]) for length, f in rows.items() if f["certified"] == 1.0]
                if points:
                    label = f"{method}, n = {order}"
                    axis.plot(
                        *zip(*points, strict=True),
                        style,
                        color=f"C{i}",
                        ms=4,
                        lw=1.2,
                        label=label,
                        zorder=2 - place,
                    )
        top = {"iterations": 100, "states": 500}[what]
        axis.axhline(top, color="k", lw=1, ls="--", label="top of the paper's figure")
        axis.set(xlabel="words", ylabel=what, yscale="log", ylim=(1, None))
    return finish(figure, axes, legend={"fontsize": 7})


def _figure3(pieces: Pieces) -> Any:
    figure, axes = panels(4, 3.6)
    trace = pieces["trace"]
    axes[0].plot(trace["trials"], [x / math.log(10) for x in trace["log_ratio"]], lw=1)
    axes[0].set(xlabel="trials", ylabel="log10 of the ratio, last ten trials", title="3a")
    axes[1].plot(trace["trials"], trace["rate"], label="AR, %")
    axes[1].plot(trace["trials"], trace["rate_100"], label="AR-100, %")
    counts = axes[1].twinx()
    counts.plot(trace["trials"], trace["accepts"], color="C2", label="accepted")
    axes[1].plot([], [], color="C2", label="accepted (right)")
    axes[1].set(xlabel="trials", title="3b")
    for axis, what, title in zip(axes[2:], ("trials", "states"), ("3c", "3d"), strict=True):
        for i, (order, rows) in enumerate(pieces["sampling"]["refine"].items()):
            axis.plot(
                [int(k) for k in rows],
                [f[what] for f in rows.values()],
                "o-",
                color=f"C{i}",
                label=f"n = {order}",
            )
            axis.plot([10], [PAPER_SAMPLING[what][int(order)]], "x", color=f"C{i}", ms=8)
        axis.plot([], [], "kx", label="paper")
        axis.set(xlabel="words", ylabel=what, title=title, ylim=(0, None))
    return finish(figure, axes)


def _figure4(pieces: Pieces) -> Any:
    figure, axes = panels(4, 3.6)
    accuracy = pieces["tagging"]["accuracy"]
    axes[0].plot([int(n) for n in accuracy], list(accuracy.values()), "o-", label="ours")
    axes[0].plot([PAPER_BEST_ORDER], [PAPER_ACCURACY], "kx", ms=8, label="paper's best")
    axes[0].set(xlabel="n", ylabel="accuracy, %", title="4a")
    for name, label in (("refine_seconds", "refine"), ("full_seconds", "full")):
        orders, seconds = column(pieces, name)
        axes[1].plot(orders, [1e3 * s for s in seconds], "o-", label=label)
    axes[1].set(xlabel="n", ylabel="ms a sentence", yscale="log", title="4b")
    for axis, name, title in ((axes[2], "sampling_iterations", "4c"), (axes[3], "sampling_states", "4d")):
        axis.plot(*column(pieces, name), "o-", label="ours, to AR-100 = 60 %")
        axis.set(xlabel="n", ylabel=name.replace("sampling_", ""), title=title, ylim=(0, None))
    return finish(figure, axes)


PICTURES = {
    "fig2": (("decoding",), _figure2),
    "fig3": (("trace", "sampling"), _figure3),
    "fig4": (("tagging",), _figure4),
}
