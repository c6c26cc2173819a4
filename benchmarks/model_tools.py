"""Mixed, pruned and rounded models: ``python benchmarks/model_tools.py [ROW ...] [--quick] [--write]``.

Rows: m1 mixing, m2 to m4 pruning (Penn Treebank, WikiText-2, Hansards), m5 small files. Needs lm/ptb,
lm/wikitext-2 and lm/hansard under HIDDENITE_DATA, or beside the checkout. Pruning by counts has few sizes to
choose from: every cut has its row, with pruning by entropy to the same number of n-grams beside it, and
pruning by entropy to 50, 20 and 10 % has rows of its own. Times are of the processor.
"""

from __future__ import annotations

import itertools
import math
import random
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from report import Row, run_rows, table
from sms import DATA

from hiddenite import Keypad, NgramModel, decode_many
from hiddenite._core import mixture_log_probs
from hiddenite.channel import encoder_from_name
from hiddenite.ngram_tools import mix, prune_to, quantize, tune_weights
from hiddenite.ngram_training import TrainingOptions
from hiddenite.vocabulary import SENTENCE_BEGIN

ORDER = 5
CUTS = ((0, 0, 0, 0, 1), (0, 0, 0, 1), (0, 0, 1), (0, 1, 1))
SHARES = (0.5, 0.2, 0.1)
CONTEXTS = 40  # whose probabilities are added up, of each model
ROUNDED = 1e-4  # a sum may be so far from one: the numbers of models are of single precision
KEYPAD_LINES, KEYPAD_WORDS, REPEATS = 400, 10, 5
TEXTS = {  # training text, text that perplexities are of
    "Penn Treebank": ("ptb/train.txt", "ptb/valid.txt"),
    "WikiText-2": ("wikitext-2/train.txt", "wikitext-2/valid.txt"),
    "Hansards": ("hansard/train.txt", "hansard/heldout.txt"),
}


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    lines: int | None  # of the training texts
    held_out: int | None


def read(name: str, lines: int | None) -> bytes:
    with open(DATA / "lm" / name, "rb") as file:
        return b"".join(itertools.islice(file, lines))


def train(name: str, sizes: Sizes, prune: Sequence[int] = ()) -> NgramModel:
    text = read(TEXTS[name][0], sizes.lines)
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        file.write(text)
        file.flush()
        return NgramModel.train_files([file.name], TrainingOptions(order=ORDER, prune=list(prune)))


def held_out(name: str, sizes: Sizes) -> bytes:
    return read(TEXTS[name][1], sizes.held_out)


def perplexity(model: NgramModel, text: bytes) -> float:
    return model.score_text(text).summary().perplexity_without_oov


def farthest_sum(model: NgramModel, text: bytes) -> float:
    """How far from one the probabilities of all words add up to, at most, after contexts of the text."""
    begin = model.vocabulary.id(SENTENCE_BEGIN)
    words = [i for i in range(len(model.vocabulary)) if i != begin]
    generator = random.Random(1)
    lines = text.decode().splitlines()
    farthest = 0.0
    for _ in range(CONTEXTS):
        line = [SENTENCE_BEGIN, *generator.choice(lines).split()]
        place = generator.randrange(len(line))
        context = [model.vocabulary.id(word) for word in line[max(place - ORDER + 2, 0) : place + 1]]
        total = math.fsum(math.exp(model._table.conditional(word, context)) for word in words)
        farthest = max(farthest, abs(total - 1))
    return farthest


# ------------------------------------------------------------------------ mix


def mixtures(sizes: Sizes) -> Row:
    names = ("Penn Treebank", "WikiText-2")
    both = [train(name, sizes) for name in names]
    rows, distances, sums = [], [], []
    for name in names:
        text = held_out(name, sizes)
        found = tune_weights(both, text)
        probs = np.exp(np.stack(mixture_log_probs([model._table for model in both], text, name)))
        probs = probs[:, probs.max(axis=0) > 0]
        grid = np.arange(1, 1000) / 1000
        best = grid[int(np.argmax([np.log(x * probs[0] + (1 - x) * probs[1]).sum() for x in grid]))]
        static = mix(both, found.weights)
        a, b, mixed = (perplexity(model, text) for model in (*both, static))
        distances.append(abs(found.weights[0] - best))
        sums.append(farthest_sum(static, text))
        rows.append(
            [name, f"{found.weights[0]:.4f}", f"{best:.3f}", f"{a:.2f}, {b:.2f}, {mixed:.2f}",
             f"{found.perplexity:.2f}", f"{sums[-1]:.0e}"]
        )  # fmt: skip
    head = ("valid text", "EM", "grid", "perplexity without OOV: A, B, static mixture",
            "mixture of scores, OOV included", "farthest sum from 1")  # fmt: skip
    return Row(
        f"Mixing order-{ORDER} models of the Penn Treebank (A) and WikiText-2 (B), weights by EM",
        "the weight of A within 0.001 of the best of a grid of 999; probabilities sum to 1",
        f"within {max(distances):.4f}; sums within {max(sums):.0e}",
        max(distances) <= 1e-3 and max(sums) <= ROUNDED,
        table(head, rows),
    )


# ---------------------------------------------------------------------- prune


def pruning(name: str, sizes: Sizes) -> Row:
    text = held_out(name, sizes)
    model = train(name, sizes)
    full = sum(model.ngram_counts)
    rows: list[list[object]] = [["100 %", f"{perplexity(model, text):.2f}", "", "", ""]]
    sums, gains = [], []

    def entropy(keep: int) -> tuple[float, list[str]]:
        begun = time.process_time()
        pruned = prune_to(model, keep)[0]
        seconds = time.process_time() - begun
        sums.append(farthest_sum(pruned, text))
        found = perplexity(pruned, text)
        return found, [f"{found:.2f} ({sum(pruned.ngram_counts):,})", f"{seconds:.0f}", f"{sums[-1]:.0e}"]

    for cut in CUTS:
        counted = train(name, sizes, cut)
        size = sum(counted.ngram_counts)
        by_counts = perplexity(counted, text)
        found, cells = entropy(size)
        gains.append(by_counts - found)
        option = ",".join(map(str, cut))
        rows.append([f"{100 * size / full:.1f} %", f"{by_counts:.2f} (`--prune {option}`, {size:,})", *cells])
    for share in SHARES:
        rows.append([f"{share:.0%}", "", *entropy(int(share * full))[1]])
    rows.sort(key=lambda row: -float(str(row[0]).split()[0].rstrip("%")))
    return Row(
        f"Pruning a Kneser-Ney model of order {ORDER}, {name}, perplexity without OOV",
        "at most that of pruning by counts, at the same size; probabilities sum to 1",
        f"lower by {min(gains):.2f} to {max(gains):.2f}; sums within {max(sums):.0e}",
        min(gains) >= 0 and max(sums) <= ROUNDED,
        table(
            (
                "n-grams",
                "by counts (n-grams)",
                "`lm prune` (n-grams)",
                "seconds",
                "farthest sum from 1",
            ),
            rows,
        ),
    )


# ---------------------------------------------------------------- small files


def small_files(sizes: Sizes) -> Row:
    text = held_out("WikiText-2", sizes)
    model = train("WikiText-2", sizes)
    with tempfile.TemporaryDirectory() as folder:
        arpa = Path(folder, "a.arpa")
        model.save(arpa)
        files: dict[str, Path] = {"ARPA text": arpa}
        makers: dict[str, Callable[[], NgramModel]] = {
            "`lm compile --compact`": lambda: model,
            **{f"`lm quantize --bits {bits}`": partial(quantize, model, bits) for bits in (12, 10, 8)},
        }
        for number, (label, make) in enumerate(makers.items()):
            files[label] = Path(folder, f"{number}.hlm")
            make().compact(files[label])
        opened: dict[str, NgramModel] = {}
        rows = []
        found = {}
        for label, path in files.items():
            begun = time.process_time()
            opened[label] = NgramModel.load(path)
            seconds = time.process_time() - begun
            share = path.stat().st_size / arpa.stat().st_size
            found[label] = share, opened[label].score_text(text).summary().perplexity
            rows.append([label, f"{share:.3f}", f"{found[label][1]:.3f}", f"{seconds:.2f}"])
        default = "`lm quantize --bits 12`"
        speed = decoding_speed(opened["ARPA text"], opened[default], text)
    change = abs(found[default][1] / found["ARPA text"][1] - 1)
    share = found[default][0]
    return Row(
        f"Small files, WikiText-2, order {ORDER}",
        "quantised at most 0.6 of the ARPA text, perplexity within 0.1 %, decoding speed at least 0.9",
        f"12 bits (the default): {share:.3f}, {100 * change:.3f} %, {speed:.2f} times the speed "
        f"({KEYPAD_LINES} keypad messages, the least of {REPEATS} in turn)",
        share <= 0.6 and change <= 1e-3 and speed >= 0.9,
        table(("file", "of the text's size", "perplexity of the valid text", "opened in, s"), rows),
    )


def decoding_speed(first: NgramModel, second: NgramModel, text: bytes) -> float:
    """How much faster the second decodes messages typed on keys."""
    press = encoder_from_name("keypad").encode
    lines = [" ".join(line.split()[:KEYPAD_WORDS]) for line in text.decode().splitlines() if line.strip()]
    times: list[list[float]] = [[], []]
    asked = []
    for model in (first, second):
        channel = Keypad(model.vocabulary)
        asked.append([channel(press(line)) for line in lines[:KEYPAD_LINES]])
        _ = model.engine  # the index is built once
    for _ in range(REPEATS):
        for which, model in enumerate((first, second)):
            begun = time.process_time()
            for _ in decode_many(model, asked[which], threads=1):
                pass
            times[which].append(time.process_time() - begun)
    return min(times[0]) / min(times[1])


ROWS: dict[str, Callable[[Sizes], Row]] = {
    "m1": mixtures,
    "m2": partial(pruning, "Penn Treebank"),
    "m3": partial(pruning, "WikiText-2"),
    "m4": partial(pruning, "Hansards"),
    "m5": small_files,
}


def sizes_of(row: str, quick: bool) -> Sizes:
    del row
    return Sizes(3000, 300) if quick else Sizes(None, None)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run_rows("Models made from models", __doc__, ROWS, sizes_of)
