"""hiddenite demo induce: the parts of speech of a built-in text, found without a single tagged word."""

from __future__ import annotations

import time
from collections import Counter, defaultdict

from rich.console import Console
from rich.table import Table

from hiddenite.induction.induction import Induction, induce

SEED = 1
NUM_TAGS = 20
NUM_SWEEPS = 30
NUM_SENTENCES = 2500  # from the beginning
NUM_WORDS = 12  # shown of each class


def demo_induce(console: Console, source: str, sentences: list[str]) -> None:
    """Induce tags and show each one's most typical words."""
    begun = time.perf_counter()
    text = sentences[:NUM_SENTENCES]
    tags = min(NUM_TAGS, max(2, len({word for s in text for word in s.split()}) // 3))
    run = induce(text, tags, model="one-tag+lm", iterations=NUM_SWEEPS, seed=SEED).run()
    tokens = len(run.text.tokens)
    console.print(
        f"Found {tags} parts of speech in {tokens:,} words of {source}, {NUM_SWEEPS} sweeps, "
        f"{time.perf_counter() - begun:.1f} s. No word was tagged before."
    )
    console.print(class_table(run))
    console.print("Words are the most frequent ones of their class; a class is what it shares, not a name.")


def class_table(run: Induction) -> Table:
    """Return the classes, the largest first, with their most frequent words."""
    members: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in run.tagged():
        for word, tag in sentence:
            members[tag][word] += 1
    table = Table("tag", "tokens", "types", "words")
    for column in table.columns[1:3]:
        column.justify = "right"
    for tag in sorted(members, key=lambda t: (-members[t].total(), t)):
        counts = members[tag]
        words = sorted(counts, key=lambda w: (-counts[w], w))[:NUM_WORDS]
        table.add_row(tag, f"{counts.total():,}", f"{len(counts):,}", " ".join(words))
    return table
