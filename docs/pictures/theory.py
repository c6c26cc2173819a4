"""Draws docs/img/theory-*.svg: one picture for each page of theory that has none of its own numbers yet.

    python docs/pictures/theory.py [NAME...]      needs matplotlib and the extras demo and english; a minute

All numbers are computed here: the model of theory-exact.md is its block two.arpa, the others are learnt from
the texts of the demo.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from style import BLUE, DOCS, GREEN, INK, PALE, write

import hiddenite
from hiddenite.cli.demo_align import OPTIONS, verses
from hiddenite.correct.defaults import default_model

Place = tuple[float, float]
SLOTS = [[("the", -0.2), ("toe", -1.7)], [("dog", -0.5), ("dot", -0.4)]]


# ------------------------------------------------- one refinement, on two words


def two_words() -> hiddenite.NgramModel:
    text = (DOCS / "theory-exact.md").read_text(encoding="utf-8")
    found = re.search(r'^```text title="two.arpa"\n(.*?)^```', text, re.MULTILINE | re.DOTALL)
    assert found is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "two.arpa"
        path.write_text(found[1], encoding="utf-8")
        return hiddenite.NgramModel.load(path)


def exact() -> Any:
    """The bound before and after one refinement, and how the interval closes."""
    lm = two_words()
    steps = list(hiddenite.search(lm, hiddenite.Candidates.from_slots(lm.vocabulary, SLOTS), method="refine"))
    figure, (closing, before, after) = plt.subplots(
        1, 3, figsize=(10.6, 3.6), layout="constrained", width_ratios=(2, 3, 3)
    )
    for i, step in enumerate(steps):
        closing.plot([i, i], [step.lower, step.upper], color=PALE, lw=1)
        closing.plot(i, step.upper, "v", color=BLUE, ms=8)
        closing.plot(i, step.lower, "^", color=GREEN, ms=8)
        closing.text(
            i + 0.08,
            step.upper + 0.15,
            f"q({' '.join(step.words)}) = {step.log_q:.2f}".replace("-", "−"),
            size=9,
        )
    closing.text(0.08, steps[0].lower, f"p = {steps[0].log_p:.2f}".replace("-", "−"), size=9)
    closing.text(1.08, steps[1].lower - 0.45, "p the same: proved", size=9, color=GREEN)
    closing.set_xticks([0, 1], ["before", "after"], color=INK)
    closing.set(xlim=(-0.3, 2.3), ylabel="log weight")
    automaton(before, lm, set(), steps[0])
    automaton(after, lm, {(1, "the"), (2, "dot")}, steps[1])
    before.set_title(f"before: {steps[0].states} states, nothing is known", size=10)
    after.set_title(f"after: {steps[1].states} states; «the» and «dot» are told apart", size=10)
    return figure


def automaton(axes: Any, lm: hiddenite.NgramModel, known: set[tuple[int, str]], step: Any) -> None:
    """Draw the states and, for each candidate, what it costs at most; the best path is heavy."""
    axes.axis("off")
    axes.set(xlim=(-0.35, 3.35), ylim=(-1.0, 1.0))
    places = {(0, "<s>"): (0.0, 0.0), (1, ""): (1.0, -0.5), (2, ""): (2.0, -0.5), (3, ""): (3.0, 0.0)}
    places |= {(i, word): (float(i), 0.5) for i, word in known}
    if not known:
        places |= {(1, ""): (1.0, 0.0), (2, ""): (2.0, 0.0)}
    words = (*step.words, "</s>")
    path, total = {(0, "<s>")}, 0.0
    for i, slot in enumerate([*SLOTS, [("</s>", 0.0)]]):
        for state in [one for one in places if one[0] == i]:
            for number, (word, weight) in enumerate(slot):
                target = (i + 1, word) if (i + 1, word) in places else (i + 1, "")
                bound = lm.log_prob(word, [state[1]]) if state[1] else lm.max_log_prob(word)
                is_best = state in path and word == words[i]
                if is_best:
                    path.add(target)
                    total += bound + weight
                arrow(
                    axes,
                    places[state],
                    places[target],
                    f"{word} {bound + weight:.2f}".replace("-", "−"),
                    is_best=is_best,
                    number=number,
                )
    assert abs(total - step.log_q) < 1e-6  # the engine's bound is the one that is drawn
    for (i, word), place in places.items():
        name = word or ("end" if i == 3 else "any")
        color = GREEN if word else BLUE
        box = {"boxstyle": "round,pad=0.35", "fc": "white", "ec": color}
        axes.text(*place, name, ha="center", va="center", bbox=box, zorder=3)


def arrow(axes: Any, a: Place, b: Place, label: str, *, is_best: bool, number: int) -> None:
    color, width = (GREEN, 2.2) if is_best else (PALE, 1.0)
    bend = 0.0 if a[1] != b[1] else 0.28 - 0.56 * number
    style = {
        "arrowstyle": "-|>",
        "color": color,
        "lw": width,
        "shrinkA": 15,
        "shrinkB": 15,
        "connectionstyle": f"arc3,rad={-bend}",
    }
    axes.annotate("", b, a, arrowprops=style, zorder=1)
    share = 0.5 if a[1] == b[1] else 0.34
    x, y = a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]) + 0.55 * bend
    box = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none"}
    axes.text(x, y, label, ha="center", va="center", size=8, color=color, bbox=box, zorder=2)


# ------------------------------------------------------------------- other pages


def fertility() -> Any:
    """A verse in which fertilities change the best alignment."""
    pairs = [(" ".join(old), " ".join(new)) for old, new in verses()[1]]
    aligner = hiddenite.Aligner.train(pairs, seed=1, options=OPTIONS)
    old, new, chain, best = max(
        differing(aligner, pairs), key=lambda found: len(set(found[2]) ^ set(found[3]))
    )
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.8), layout="constrained", sharey=True)
    for axis, links, title in (
        (axes[0], chain, "best chain, fertilities ignored"),
        (axes[1], best, "best alignment, with proof"),
    ):
        axis.scatter([j for _, j in links], [i for i, _ in links], s=110, marker="s", color=GREEN)
        for other in set(chain if links is best else best) - set(links):
            axis.scatter([other[1]], [other[0]], s=110, marker="s", facecolor="none", edgecolor=PALE, ls=":")
        axis.set_xticks(range(len(new)), new, rotation=40, ha="right", color=INK)
        axis.set_yticks(range(len(old)), old, color=INK)
        axis.set_title(title, size=10)
        axis.grid(alpha=0.25)
        axis.set_axisbelow(True)
    axes[0].invert_yaxis()
    return figure


def differing(aligner: hiddenite.Aligner, pairs: list[tuple[str, str]]) -> list[tuple[Any, ...]]:
    found = []
    for source, target in pairs[:600]:
        old, new = source.split(), target.split()
        if not (8 <= len(old) <= 13 and 8 <= len(new) <= 13):
            continue
        chain, best = (aligner.align(old, new, direction="forward", method=m) for m in ("viterbi", "exact"))
        assert chain.links is not None
        assert best.links is not None
        if chain.links != best.links:
            found.append((old, new, chain.links, best.links))
    return found


def hmmlm() -> Any:
    """A sentence's trellis: of all states only those of each word's class, the probable ones large."""
    text = [" ".join(words) for _, words in verses()[1]]
    model = hiddenite.HMMLanguageModel.train(text, states=48, clusters=12, epochs=10, seed=1)
    sentence = "god called the light day , and the darkness he called night ."
    words = [*sentence.split(), "</s>"]
    figure, axes = plt.subplots(figsize=(7.6, 3.6))
    for t, at in enumerate(model.posterior(sentence)):
        axes.plot([t, t], [0, model.num_states - 1], color="#d5d9e2", lw=1, ls=(0, (1, 2)))
        axes.scatter([t] * len(at.state), at.state, s=14, facecolor="none", edgecolor=BLUE, lw=0.8)
        axes.scatter([t] * len(at.state), at.state, s=[110 * p for p in at.probability], color=GREEN)
    axes.set_xticks(range(len(words)), words, rotation=35, ha="right", color=INK)
    axes.set(ylabel="states", yticks=[])
    return figure


def correct() -> Any:
    """What experience makes of exact marginals."""
    corrector = hiddenite.Corrector.load(default_model("en", "typing"))
    text = [" ".join(words) for _, words in verses()[1][:600]]
    typing = hiddenite.Typo(
        hiddenite.NgramModel.train(text, order=1).vocabulary, rates=hiddenite.TypoRates(error_rate=0.03)
    )
    changes = [
        c for i, line in enumerate(text) for c in corrector.correct(typing.encode(line, seed=i)).changes
    ]
    figure, axes = plt.subplots(figsize=(4.6, 3.6))
    axes.plot([0, 1], [0, 1], color=PALE, lw=1, ls=":", label="the same")
    points = sorted({(round(c.posterior, 2), round(c.probability, 2)) for c in changes})
    axes.scatter(*zip(*points, strict=True), s=12, color=GREEN, label="a change")
    axes.set(xlabel="posterior: what the model says", ylabel="probability: what experience makes of it")
    axes.legend(frameon=False, loc="upper left")
    return figure


PICTURES: dict[str, Callable[[], Any]] = {
    "exact": exact,
    "fertility": fertility,
    "hmmlm": hmmlm,
    "correct": correct,
}


def main() -> None:
    """Draw the pictures that were named, or all."""
    for name in sys.argv[1:] or list(PICTURES):
        write(PICTURES[name](), f"theory-{name}")


if __name__ == "__main__":
    main()
