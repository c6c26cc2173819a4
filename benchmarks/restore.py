"""Restored text beside unigram and bigram Viterbi.

    python benchmarks/restore.py [ROW ...] [--quick] [--write]

Rows: r1 WikiText-2, r2 Hansards, r3 diacritics, r4 case of general English (the Hansards are lower-case
throughout, so nothing can be said of case there). Needs lm/hansard, lm/wikitext-2, lm/english and tagged/ud
under HIDDENITE_DATA, or beside the checkout. For each text and order: the accuracy of words, F1 of
punctuation and of segmentation, how many answers are proved, and tokens per second of one thread, all of the
answering included, by the processor's time. An order of 1 or 2 is the Viterbi path of a unigram or bigram
model.
"""

from __future__ import annotations

import itertools
import lzma
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from report import Row, run_rows, table
from sms import DATA

from hiddenite.restore import RestorationScore, Restored, evaluate, train_restorer
from hiddenite.restore.folding import parse_what

ORDERS = (1, 2, 5)
LEAST_TOKENS = 20_000  # a second
UD = DATA / "tagged" / "ud"


@dataclass(frozen=True)
class Sizes:
    """How many lines."""

    train: int | None
    test: int | None


@dataclass(frozen=True)
class Task:
    """A text with something missing."""

    name: str
    what: str
    train: Callable[[int | None], list[str]]
    test: Callable[[int | None], list[str]]


def lines(path: Path, most: int | None) -> list[str]:
    with path.open(encoding="utf-8") as file:
        return [line.strip() for line in itertools.islice(file, most)]


def tagged(path: Path, most: int | None) -> list[str]:
    """The sentences of a file of word TAB tag."""
    blocks = path.read_text("utf-8").split("\n\n")
    rows = ([row.split("\t")[0] for row in block.split("\n") if row] for block in blocks)
    return [" ".join(word.replace(" ", "_") for word in row) for row in rows if row][:most]


def plain_task(folder: str, test: str, what: str) -> Task:
    place = DATA / "lm" / folder
    return Task(f"{folder}/{test}", what, partial(lines, place / "train.txt"), partial(lines, place / test))


def diacritics(language: str, name: str) -> Task:
    files = (UD / f"{name}-{part}.tsv" for part in ("train", "test"))
    return Task(language, "diacritics", *(partial(tagged, file) for file in files))


def spread(path: Path, every: int, first: int, most: int | None) -> list[str]:
    """Every so many lines of a compressed text."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [line.strip() for line in itertools.islice(file, first, None, every)][:most]


def general(what: str) -> Task:
    """A quarter of the text to learn from, and a hundredth of it that is not among that."""
    path = DATA / "lm" / "english" / "train.txt.xz"
    return Task("english, held out", what, partial(spread, path, 4, 1), partial(spread, path, 100, 0))


TASKS = {
    "r1": [
        plain_task("wikitext-2", "test.txt", what)
        for what in ("punctuation", "case", "punctuation,case", "spaces")
    ],
    "r2": [plain_task("hansard", "heldout.txt", what) for what in ("punctuation", "spaces")],
    "r3": [diacritics("Spanish", "conll07_esp"), diacritics("Swedish", "sv_upos")],
    "r4": [general(what) for what in ("case", "punctuation,case")],
}
TITLES = {
    "r1": "WikiText-2, test text",
    "r2": "Hansards, held-out text",
    "r3": "Spanish and Swedish, test texts",
    "r4": "general English with capitals (the Hansards have none), held-out lines",
}
MEASURES: dict[str, tuple[str, Callable[[RestorationScore], float]]] = {
    "punctuation": ("F1", lambda score: score.event_f1),
    "spaces": ("segmentation F1", lambda score: score.span_f1),
    "case": ("word accuracy", lambda score: score.word_accuracy),
    "diacritics": ("word accuracy", lambda score: score.word_accuracy),
}


@dataclass(frozen=True)
class Answer:
    """What one order gives."""

    score: RestorationScore
    proved: int
    tokens: float  # a second


def answer(task: Task, order: int, train: list[str], test: list[str]) -> Answer:
    restorer = train_restorer(lambda: train, parse_what(task.what), order)
    seen = [restorer.seen(line) for line in test]
    restorer.restore(seen[0])  # builds the index
    begun = time.process_time()
    found = [one for one in restorer.restore_many(seen, threads=1) if isinstance(one, Restored)]
    seconds = time.process_time() - begun
    score = evaluate(restorer.folding, test, [one.text for one in found])
    answered = Answer(score, sum(one.certificate.exact for one in found), score.words / seconds)
    print(f"{task.name} {task.what} order {order}: {answered}", flush=True)
    return answered


def restored(row: str, sizes: Sizes) -> Row:
    rows = []
    speeds = []
    all_proved = True
    for task in TASKS[row]:
        train, test = task.train(sizes.train), task.test(sizes.test)
        answers = [answer(task, order, train, test) for order in ORDERS]
        all_proved &= all(one.proved == len(test) for one in answers)
        speeds.append(answers[-1].tokens)
        for what in task.what.split(","):
            name, measure = MEASURES[what]
            figures = [f"{100 * measure(one.score):.2f}" for one in answers]
            proved = f"{answers[-1].proved} of {len(test)}"
            speed = f"{answers[-1].tokens:,.0f}"
            rows.append([task.name, task.what, f"{what}: {name}", *figures, proved, speed])
    return Row(
        f"Restored text, {TITLES[row]}: order 1, order 2 (Viterbi) and order 5, per cent",
        f"every answer proved, at least {LEAST_TOKENS:,} tokens/s on one core",
        f"{'every answer' if all_proved else 'NOT every answer'} proved, {min(speeds):,.0f} tokens/s or more",
        all_proved and min(speeds) >= LEAST_TOKENS,
        table(
            ("text", "what", "measure", *(f"order {order}" for order in ORDERS), "proved", "tokens/s"), rows
        ),
    )


def sizes_of(row: str, quick: bool) -> Sizes:
    if quick:
        return Sizes(2000, 50)
    return Sizes(None, None if row == "r3" else 1000)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run_rows("Restored text", __doc__, {name: partial(restored, name) for name in TASKS}, sizes_of)
