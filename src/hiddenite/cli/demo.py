"""hiddenite demo: the main job on its built-in default, no files needed."""

from __future__ import annotations

import warnings

import typer
from rich.console import Console
from rich.table import Table

from hiddenite.errors import HiddeniteWarning
from hiddenite.ngram import NgramModel

SENTENCES = """
the quick brown fox jumps over the lazy dog
the lazy dog sleeps under the old tree
the old tree stands over the quiet house
a quick fox sleeps under the quiet tree
the dog barks and the fox runs over the hill
the quiet house stands under the old hill
""".strip().splitlines()


def demo() -> None:
    """Train a small model and look into it."""
    console = Console()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HiddeniteWarning)
        model = NgramModel.train(SENTENCES, order=3)
    console.print(f"trained on {len(SENTENCES)} sentences: {model.ngram_counts} n-grams of order 1, 2, 3")
    table = Table("sentence", "ln p", "perplexity")
    for sentence in ("the lazy fox sleeps under the old tree", "tree old the under sleeps fox lazy the"):
        summary = model.score([sentence]).summary()
        table.add_row(sentence, f"{summary.log_prob:.2f}", f"{summary.perplexity:.1f}")
    console.print(table)
    bound = Table("question", "ln p")
    bound.add_row("p(dog | the)", f"{model.log_prob('dog', ['the']):.3f}")
    bound.add_row("p(dog | lazy)", f"{model.log_prob('dog', ['lazy']):.3f}")
    bound.add_row("max over all contexts of p(dog | ... )", f"{model.max_log_prob('dog'):.3f}")
    console.print(bound)
    typer.echo("next: hiddenite lm train --help")
