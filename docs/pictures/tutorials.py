"""Draws docs/img/tutorial-*.svg: one picture for each tutorial, of the numbers that its page shows.

    python docs/pictures/tutorials.py [NAME...]    needs matplotlib, the extras demo and english; two minutes

The texts, the tagged sentences and the mail are read from the pages themselves, so that a picture shows what
the reader has at hand.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from style import BLUE, DOCS, GREEN, INK, PALE, RED, write

import hiddenite
from hiddenite.correct.defaults import default_model
from hiddenite.hmmlm import constraints
from hiddenite.hmmlm.interpolation import Interpolation


def page(name: str) -> str:
    return (DOCS / "tutorials" / f"{name}.md").read_text(encoding="utf-8")


def block(name: str, title: str) -> str:
    """Return the text of a page's block that is a file."""
    found = re.search(
        rf'^```text title="{re.escape(title)}"\n(.*?)^```', page(name), re.MULTILINE | re.DOTALL
    )
    assert found is not None, title
    return found[1]


def verses(name: str) -> list[str]:
    """Return a Bible text, written by the script of the tutorials' first page."""
    if not Path(f"{name}.txt").exists():
        (script,) = re.findall(r"^```python\n(import re.*?)^```", page("index"), re.MULTILINE | re.DOTALL)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(script, {})
    return Path(f"{name}.txt").read_text(encoding="utf-8").splitlines()


def matrix(axes: Any, values: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str]) -> None:
    """Draw probabilities as cells, the larger the darker, with their numbers."""
    axes.imshow(values, cmap="Greens", vmin=0, vmax=1.25, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=30, ha="right", color=INK)
    axes.set_yticks(range(len(rows)), rows, color=INK)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            if value >= 0.005:
                axes.text(
                    j,
                    i,
                    f"{value:.2f}",
                    ha="center",
                    va="center",
                    size=9,
                    color="white" if value > 0.7 else INK,
                )


# --------------------------------------------------------------------- the pages


def correct() -> Any:
    """The mail's changes: how sure each is, and what else the word can be."""
    mail = " ".join(block("correct", "mail.txt").split("\n\n")[1].split())
    found = hiddenite.Corrector.load(default_model("en", "typing")).correct(mail)
    figure, axes = plt.subplots(figsize=(7.6, 2.9))
    for i, change in enumerate(found.changes):
        others = [(one.text, one.probability) for one in change.alternatives if one.probability >= 0.01]
        left = 0.0
        for word, share, color in [
            (change.new, change.probability, GREEN),
            *((w, p, BLUE) for w, p in others),
        ]:
            axes.barh(i, share, left=left, color=color, height=0.62)
            axes.text(left + 0.008, i, word if share > 0.05 else "", va="center", color="white", size=9)
            left += share
        axes.text(
            left + 0.01, i, ", ".join(w for w, p in others if p <= 0.05), va="center", color=BLUE, size=9
        )
    axes.set_yticks(range(len(found.changes)), [change.old for change in found.changes], color=RED)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel="probability of the change (green), of other words (blue)")
    return figure


def decoding() -> Any:
    """The bound and the best reading so far, refinement by refinement."""
    lm = hiddenite.NgramModel.train(verses("web")[:-1000], order=3)
    keys = "31 668 25 237243 0 367 0 26 5484 668 0"
    steps = list(hiddenite.search(lm, hiddenite.Keypad(lm.vocabulary)(keys), method="refine"))
    figure, axes = plt.subplots(figsize=(7.6, 3.2))
    numbers = range(1, len(steps) + 1)
    axes.step(
        numbers, [step.upper for step in steps], where="post", color=BLUE, label="no reading weighs more"
    )
    axes.step(
        numbers, [step.lower for step in steps], where="post", color=GREEN, label="best reading found so far"
    )
    axes.fill_between(
        numbers,
        [step.lower for step in steps],
        [step.upper for step in steps],
        step="post",
        color=BLUE,
        alpha=0.1,
        lw=0,
    )
    axes.annotate(
        "they meet: proved",
        (len(steps), steps[-1].upper),
        (0.72 * len(steps), steps[-1].upper + 12),
        arrowprops={"arrowstyle": "->", "color": PALE},
    )
    axes.set(
        xlabel="paths looked at",
        ylabel="log weight",
        ylim=(min(s.lower for s in steps) - 3, steps[0].upper + 3),
    )
    axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 0.12))
    return figure


def language_models() -> Any:
    """Perplexity by order; the bound on one word, context by context."""
    train, heldout = verses("web")[:-1000], verses("web")[-1000:]
    models = {n: hiddenite.NgramModel.train(train, order=n) for n in (1, 2, 3, 4, 5)}
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 2.9), layout="constrained")
    values = {n: lm.score(heldout).summary().perplexity for n, lm in models.items()}
    left.bar(list(values), list(values.values()), color=GREEN, width=0.6)
    for n, value in values.items():
        left.text(n, value + 6, f"{value:.0f}", ha="center")
    left.set(xlabel="order of the model", ylabel="perplexity of new text", xticks=list(values))
    lm, contexts = models[3], [[], ["the"], ["praise", "the"]]
    most = [math.exp(lm.max_log_prob("god", context)) for context in contexts]
    right.bar(range(3), most, color=BLUE, width=0.6)
    for i, value in enumerate(most):
        right.text(i, value + 0.02, f"{value:.2g}", ha="center")
    right.set_xticks(range(3), ["… god", "… the god", "… praise the god"], color=INK)
    right.set(ylabel="largest p(god) that can be", ylim=(0, 1.12))
    return figure


def tagging() -> Any:
    """The tags' probabilities at each word of a sentence."""
    sentences = [
        [tuple(word.rsplit("/", 1)) for word in line.split()]
        for line in block("tagging", "tagged.txt").splitlines()
    ]
    tagger = hiddenite.Tagger.train(sentences)
    words = ["the", "old", "dog", "sees", "the", "long", "walks", "."]
    slots = [dict(slot) for slot in tagger.marginals(words).slots]
    tags = ["DET", "ADJ", "NOUN", "VERB", "PRON", "ADP", "ADV", "PUNCT"]
    shown = [tag for tag in tags if max(slot.get(tag, 0.0) for slot in slots) >= 0.005]
    figure, axes = plt.subplots(figsize=(7.0, 2.6))
    matrix(axes, [[slot.get(tag, 0.0) for slot in slots] for tag in shown], shown, words)
    axes.set_title("p(tag of the word | sentence)", size=10, loc="left")
    return figure


def alignment() -> Any:
    """The link probabilities of the page's verse."""
    pairs = list(zip(verses("kjv")[:2000], verses("web")[:2000], strict=True))
    options = hiddenite.AlignerOptions(model1_sweeps=8, hmm_sweeps=8, fertility_sweeps=30, chains=1)
    aligner = hiddenite.Aligner.train(pairs, seed=1, options=options)
    old = ["every", "thing", "devoted", "in", "israel", "shall", "be", "thine", "."]
    new = ["everything", "devoted", "in", "israel", "shall", "be", "yours", "."]
    answer = aligner.align(old, new, samples=1000, seed=1)
    assert answer.probabilities is not None
    figure, axes = plt.subplots(figsize=(6.4, 3.4))
    matrix(axes, answer.probabilities.tolist(), old, new)
    axes.set_title("p(the two words are linked)", size=10, loc="left")
    return figure


def induction() -> Any:
    """The classes: their sizes and most frequent words."""
    run = hiddenite.induce(verses("web")[:600], tags=12, start_iterations=8, iterations=4, seed=1)
    for _ in run:
        pass
    words: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in run.tagged():
        for word, tag in sentence:
            words[tag][word] += 1
    classes = sorted(words.values(), key=lambda words: -words.total())
    figure, axes = plt.subplots(figsize=(7.6, 3.4))
    axes.barh(range(len(classes)), [words.total() for words in classes], color=GREEN, height=0.62)
    for i, found in enumerate(classes):
        axes.text(
            found.total() + 30, i, " ".join(word for word, _ in found.most_common(7)), va="center", size=9
        )
    axes.invert_yaxis()
    axes.set(
        yticks=[],
        xlabel="tokens of the class, and its most frequent words",
        xlim=(0, classes[0].total() * 1.9),
    )
    return figure


def hmmlm() -> Any:
    """Two models and their mixture; how sure a guided sentence is to get to its words."""
    text = verses("web")
    train, valid, heldout = text[:8000], text[8000:8500], text[8500:9000]
    lm = hiddenite.NgramModel.train(train, order=4)
    for name, lines in (("train", train), ("valid", valid)):
        Path(f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for command in re.findall(r"^\$ hiddenite (hmmlm (?:cluster|train) .*)$", page("hmmlm"), re.MULTILINE):
        subprocess.run([sys.executable, "-m", "hiddenite", *command.split(), "--quiet"], check=True)
    model = hiddenite.HMMLanguageModel.load("web.hmm")
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 2.9), layout="constrained", width_ratios=(2, 3))
    mixed = Interpolation.fit([model, lm], "\n".join(valid).encode())
    values = {
        "HMM": model.perplexity(heldout),
        "4-gram": lm.score(heldout).summary().perplexity,
        "both": mixed.perplexity("\n".join(heldout).encode()),
    }
    left.bar(list(values), list(values.values()), color=[BLUE, BLUE, GREEN], width=0.6)
    for i, value in enumerate(values.values()):
        left.text(i, value + 1.5, f"{value:.0f}", ha="center")
    left.set(ylabel="perplexity of new text")
    guide = hiddenite.Guide(model, constraints.all_of("king", "city"), max_length=10)
    words = [*model.generate(1, keywords=["king", "city"], length=10, seed=2).sentences[0].words, "</s>"]
    state, chances = guide.start(), []
    for word in words:
        chances.append(math.exp(state.log_prob()))
        state = state.advance(list(model.words).index(word))
    right.plot(range(len(words)), chances, "o-", color=GREEN)
    right.set_xticks(range(len(words)), words, rotation=35, ha="right", color=INK)
    right.set(
        yscale="log", ylabel="p(king and city, in ten words)", title="before each word of a drawn sentence"
    )
    right.title.set_size(10)
    return figure


PICTURES: dict[str, Callable[[], Any]] = {
    "correct": correct,
    "decoding": decoding,
    "language-models": language_models,
    "tagging": tagging,
    "alignment": alignment,
    "induction": induction,
    "hmmlm": hmmlm,
}


def main() -> None:
    """Draw the pictures that were named, or all."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in sys.argv[1:] or list(PICTURES):
            write(PICTURES[name](), f"tutorial-{name}")


if __name__ == "__main__":
    main()
