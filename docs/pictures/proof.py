"""Draws docs/img/proof.svg: the proof on two words of docs/theory-exact.md, with the numbers that it has.

    python docs/pictures/proof.py [FILE]        needs matplotlib

The model is the page's block two.arpa. Nodes are the contexts of the proof with their upper weights, arrows
the candidates: the bound on ln p and the candidate's weight, measured from the best of its position. Where
these and the upper weight that it leads to add up to the one that it comes from, the arrow is heavy.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt

import hiddenite
from hiddenite.checker import ngram as checker

DOCS = Path(__file__).resolve().parent.parent
SLOTS = [[("the", -0.2), ("toe", -1.7)], [("dog", -0.5), ("dot", -0.4)]]
INK, PALE, HEAVY, PAPER = "#1d2433", "#5a6378", "#2f6a3c", "#ffffff"
PLACES = {  # of the contexts: position, words, closed
    (0, "<s>", True): (0.0, 0.0),
    (1, "the", True): (1.0, 0.52),
    (1, "", False): (1.0, -0.52),
    (2, "dog", True): (2.0, 0.52),
    (2, "", False): (2.0, -0.52),
}
NAMES = {"": "anything"}
END = (2.86, 0.0)


def read_model(folder: Path) -> Path:
    """Write the page's block two.arpa to a file."""
    page = (DOCS / "theory-exact.md").read_text(encoding="utf-8")
    found = re.search(r'^```text title="two.arpa"\n(.*?)^```', page, re.MULTILINE | re.DOTALL)
    assert found is not None
    path = folder / "two.arpa"
    path.write_text(found[1], encoding="utf-8")
    return path


def steps(path: Path) -> list[tuple[Any, ...]]:
    """Return for each context and candidate: where from, where to, word, bound, weight, rest, is tight."""
    lm = hiddenite.NgramModel.load(path)
    candidates = hiddenite.Candidates.from_slots(lm.vocabulary, SLOTS)
    proof = hiddenite.decode(lm, candidates, proof=True).proof
    assert proof is not None
    judge = checker.Record(checker.Model(checker.read_lines(str(path))), proof.to_dict())
    judge.check()
    rows = []
    for i, words in enumerate(judge.weights):
        for (s, closed), upper in judge.uppers[i].items():
            for word, weight in words.items():
                judge.weights[i], judge.rows = {word: weight}, {}
                total = judge.largest(i, s, closed)
                target = next_context(judge, i + 1, word)
                rest = 0.0 if target is None else judge.uppers[i + 1][target]
                start = (i, s.decode(), closed)
                end = None if target is None else (i + 1, target[0].decode(), target[1])
                rows.append(
                    (start, end, word.decode(), total - weight - rest, weight, rest, total >= upper - 1e-9)
                )
        judge.weights[i] = words
    return rows


def next_context(judge: checker.Record, i: int, word: bytes) -> tuple[bytes, bool] | None:
    """Return the context that holds after a word, in a model of order 2."""
    if i == len(judge.weights):
        return None
    return (word, True) if (word, True) in judge.uppers[i] else (b"", False)


def draw(rows: list[tuple[Any, ...]], path: Path) -> None:
    """Draw contexts and candidates."""
    mpl.rcParams |= {
        "svg.hashsalt": "hiddenite",
        "font.size": 11,
        "axes.unicode_minus": True,
        "text.color": INK,
    }
    figure, axes = plt.subplots(figsize=(10.4, 3.9), facecolor=PAPER)
    axes.set(xlim=(-0.33, 3.08), ylim=(-0.78, 0.95))
    axes.axis("off")
    for x, title in enumerate(["start", "before word 2", "before </s>"]):
        axes.text(x, 0.86, title, ha="center", color=PALE, size=12)
    uppers = {}
    for start, end, word, bound, weight, rest, is_tight in rows:
        uppers[start] = max(uppers.get(start, -1e9), bound + weight + rest)
        edge(
            axes,
            PLACES[start],
            END if end is None else PLACES[end],
            label(word, bound, weight),
            is_tight,
        )
    for place, upper in uppers.items():
        node(axes, place, upper)
    axes.text(
        *END, "end\n0", ha="center", va="center", bbox={"boxstyle": "round,pad=0.4", "fc": PAPER, "ec": PALE}
    )
    figure.tight_layout(pad=0.3)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=110)


def label(word: str, bound: float, weight: float) -> str:
    """Return a candidate with its terms; a weight of zero is left out."""
    return f"{word}   {bound:.2f}".replace("-", "−") + (f" − {-weight:.2f}" if weight else "")


def node(axes: Any, place: tuple[int, str, bool], upper: float) -> None:
    """Draw a context with its upper weight."""
    _, words, closed = place
    box = {
        "boxstyle": "round,pad=0.45",
        "fc": "#e4eee6" if closed else "#eef1f8",
        "ec": HEAVY if closed else "#5b6b95",
    }
    name = f"… {words}" if closed and words != "<s>" else NAMES.get(words, words)
    axes.text(
        *PLACES[place],
        f"{name}\n≤ " + f"{upper:.2f}".replace("-", "−"),
        ha="center",
        va="center",
        weight="bold",
        bbox=box,
        zorder=3,
    )


def edge(axes: Any, a: tuple[float, float], b: tuple[float, float], label: str, is_tight: bool) -> None:
    """Draw a candidate."""
    color, width = (HEAVY, 2.4) if is_tight else (PALE, 1.2)
    style = {
        "arrowstyle": "-|>",
        "color": color,
        "lw": width,
        "shrinkA": 36,
        "shrinkB": 36,
        "mutation_scale": 14,
    }
    axes.annotate("", b, a, arrowprops=style, zorder=1)
    crosses = a[1] * b[1] < 0
    share = 0.36 if crosses else 0.5
    x, y = a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])
    box = {"boxstyle": "round,pad=0.15", "fc": PAPER, "ec": "none"}
    axes.text(x, y, label, ha="center", va="center", size=10, color=color, bbox=box, zorder=2)


def main() -> None:
    """Draw the picture."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "img" / "proof.svg"
    with tempfile.TemporaryDirectory() as folder:
        draw(steps(read_model(Path(folder))), target)


if __name__ == "__main__":
    main()
