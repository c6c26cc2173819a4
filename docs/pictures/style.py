"""What the pictures of the manual have in common: colours, type, where they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

DOCS = Path(__file__).resolve().parent.parent
INK, PALE, GREEN, BLUE, RED = "#1d2433", "#5a6378", "#2f6a3c", "#5b6b95", "#b42318"
mpl.rcParams |= {
    "svg.hashsalt": "hiddenite",
    "svg.fonttype": "none",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": PALE,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": PALE,
    "ytick.color": PALE,
}


def write(figure: Any, name: str) -> None:
    """Write a picture that is the same whenever its numbers are."""
    path = DOCS / "img" / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight", facecolor="white")
