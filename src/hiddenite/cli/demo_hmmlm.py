"""hiddenite demo hmmlm: a hidden Markov language model of a built-in text writes under constraints."""

from __future__ import annotations

import math
import time

from rich.console import Console
from rich.table import Table

from hiddenite.hmmlm.clusters import Clustering
from hiddenite.hmmlm.model import HMMLanguageModel

STATES, CLUSTERS, EPOCHS = 1024, 64, 8
NUM_SENTENCES = 8000
SEED = 1
SHOWN_CLASSES = 6
SMALL = 100  # sentences; below it a small model does


def demo_hmmlm(console: Console, source: str, sentences: list[str]) -> None:
    """Cluster, train, and show classes, constrained sentences and filled gaps."""
    begun = time.perf_counter()
    text = sentences[:NUM_SENTENCES]
    small = len(text) < SMALL
    states, number = (24, 8) if small else (STATES, CLUSTERS)
    clusters = Clustering([("\n".join(text) + "\n").encode()], number).run()
    model = HMMLanguageModel.train(text, states, clusters, seed=SEED, epochs=EPOCHS, folds=2 if small else 4)
    words = sum(len(s.split()) for s in text)
    console.print(
        f"A hidden Markov model with {model.num_states:,} states of {source}: {len(text):,} sentences, "
        f"{words:,} words, {clusters.num_classes} classes of them, {time.perf_counter() - begun:.1f} s."
    )
    classes = Table("class", "its most frequent words", title="Word classes", title_justify="left")
    for c, members in list(enumerate(clusters.members()))[-SHOWN_CLASSES:]:
        classes.add_row(clusters.paths[c], " ".join(members[:10]))
    console.print(classes)
    _show_constraints(console, model, small)
    _show_gaps(console, model, small)


def _show_constraints(console: Console, model: HMMLanguageModel, small: bool) -> None:
    asked = (
        [
            ({"keywords": ["fox", "hill"], "length": 8}, "fox, hill; 8 words"),
            ({"pattern": "the . dog .*"}, "the . dog .*"),
        ]
        if small
        else [
            ({"keywords": ["king", "city"], "length": 12}, "king, city; 12 words"),
            ({"pattern": "the (man|woman) .* \\.", "length": 10}, "the (man|woman) .* \\.; 10 words"),
        ]
    )
    table = Table("asked for", "p of it", "drawn from the model given that", "s")
    for options, label in asked:
        begun = time.perf_counter()
        result = model.generate(2, seed=SEED, **options)  # type: ignore[arg-type]
        seconds = time.perf_counter() - begun
        for i, sentence in enumerate(result.sentences):
            first = (label, f"{math.exp(result.log_prob):.2e}") if i == 0 else ("", "")
            table.add_row(*first, " ".join(sentence.words), f"{seconds:.2f}" if i == 0 else "")
    console.print(table)
    console.print("The probability of each constraint is exact, and so are the draws.")


def _show_gaps(console: Console, model: HMMLanguageModel, small: bool) -> None:
    sentence = (
        "the lazy ___ sleeps under the ___ tree ." if small else "the ___ of yahweh came to ___ in the ___ ."
    )
    filled = model.infill(sentence, top=4)
    console.print(f"\n[bold]{sentence}[/bold]")
    for position, row in zip(filled.gaps, filled.candidates, strict=True):
        shown = ", ".join(f"{word} {p:.3f}" for word, p in row)
        console.print(f"  word {position + 1}: {shown}")
