"""The aligner on several texts, beside eflomal: error rates, probabilities, long pairs, costs, updates.

    python benchmarks/align_texts.py [ROW ...] [--quick] [--write]

Rows: errors, probabilities (of the same trainings), long, costs, update. Settings were chosen on the first
halves of the texts and on the development sentences of the Hansards; figures are of the second halves and of
the test sentences. ``--write`` puts the rows into the section "Word alignment on other texts" of RESULTS.md.
Data: the directory align under HIDDENITE_DATA, or beside the checkout. eflomal from PyPI must be installed.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from align_quality import BIN, COLUMNS, _cost, _write
from align_sets import SETS, AlignedText, Calibration, Pair, calibrate, hansards
from report import Row, mean, run_rows, table

from hiddenite.align import Aligner, AlignerOptions, Bitext, Question, Training
from hiddenite.align.answers import Alignment, links_above
from hiddenite.align.decisions import link_probabilities
from hiddenite.align.evaluation import score
from hiddenite.align.links import read_links
from hiddenite.align.symmetrize import symmetrize

BARS = {
    "greek-nt": 22.5,
    "zh-en": 25.0,
    "en-sv": 22.4,
    "hansards 2 k": 6.0,
    "hansards 20 k": 5.1,
    "hansards 100 k": 4.9,
}
MOST_CALIBRATION_ERROR = 0.04
SIZES = (250, 2_500, 20_000, 100_000, 500_000)


@dataclass(frozen=True)
class Size:
    """How much to measure."""

    sets: tuple[str, ...]
    runs: int
    long_pairs: int
    sizes: tuple[int, ...]
    folds: int


FULL = Size(tuple(BARS), 3, 200, SIZES, 4)
QUICK = Size(("zh-en",), 1, 5, SIZES[:2], 1)


# ------------------------------------------------------------ errors, probabilities


def _eflomal(text: AlignedText, letters: int | None) -> float:
    """Return the lowest error rate of its directions and of two ways to combine them."""
    import subprocess  # noqa: PLC0415  (only here)

    cut = [tuple(" ".join(w[:letters] for w in side.split()) for side in pair) for pair in text.pairs]
    with tempfile.TemporaryDirectory() as folder:
        sides = [_write(folder, name, [pair[n] for pair in cut]) for n, name in enumerate("ef")]
        links = [str(Path(folder, name)) for name in ("forward", "reverse")]
        command = [
            BIN / "eflomal-align",
            "--model",
            "3",
            "-s",
            sides[0],
            "-t",
            sides[1],
            "-f",
            links[0],
            "-r",
            links[1],
        ]
        subprocess.run(command, check=True, capture_output=True)
        forward, reverse = (list(read_links(path)) for path in links)
    both = [[symmetrize(a, b, m) for a, b in zip(forward, reverse, strict=True)] for m in COLUMNS[2:]]
    return min(text.error_rate(side) for side in (forward, reverse, *both))


def _before(text: AlignedText) -> AlignerOptions:
    """Return the schedule that was the default before: few long chains, text as it is written."""
    ratio = 100_000 / len(text.pairs)
    sweeps = [
        round(min(max(n * ratio**0.3, low), high)) for n, low, high in ((8, 4, 25), (8, 4, 25), (32, 16, 100))
    ]
    chains = round(min(max(math.sqrt(ratio), 1), 3))
    return AlignerOptions(*sweeps, chains=chains, normalize=False)


@dataclass(frozen=True)
class Run:
    """One training's error rate, threshold and probabilities."""

    rate: float
    threshold: float
    quality: Calibration
    seconds: float


def _train(text: AlignedText, seed: int, options: AlignerOptions | None = None) -> Run:
    begun = time.process_time()
    training = Training(Bitext.of(text.pairs), options, seed=seed, threads=1).run()
    seconds = time.process_time() - begun
    found = {n: training.link_probabilities(n) for n in text.gold}
    before = options is not None
    p = {n: np.mean(both, axis=0) if before else link_probabilities(both) for n, both in found.items()}
    threshold = 0.5 if before else training.best_threshold()
    links = [links_above(p[n], threshold) for n in text.gold]
    rate = 100 * score(list(text.gold.values()), links).aer
    return Run(rate, threshold, calibrate(text, lambda n: p[n]), seconds)


@functools.cache
def _runs(name: str, runs: int) -> tuple[list[Run], Run]:
    text = SETS[name](True)
    return [_train(text, seed) for seed in range(1, runs + 1)], _train(text, 1, _before(text))


def errors(size: Size) -> Row:
    rows, missed = [], []
    for name in size.sets:
        text = SETS[name](True)
        ours, before = _runs(name, size.runs)
        repeats = size.runs if len(text.pairs) < 10_000 else 1
        plain, cut = ([_eflomal(text, n) for _ in range(repeats)] for n in (None, 4))
        rate, best = mean(run.rate for run in ours), min(mean(plain), mean(cut))
        if rate > BARS[name] or rate >= best:
            missed.append(name)
        cells = (mean(plain), mean(cut), before.rate, rate, BARS[name])
        rows.append((name, *(f"{cell:.2f}" for cell in cells), f"{mean(run.threshold for run in ours):.2f}"))
        print(rows[-1], flush=True)
    head = (
        "text",
        "eflomal",
        "eflomal, 4-letter prefixes",
        "before, one run",
        "hiddenite",
        "bar",
        "threshold",
    )
    return Row(
        f"Alignment error rates by default, %, mean of {size.runs} runs; eflomal: the best of its directions "
        "and their combinations (one run each on the larger texts)",
        "below eflomal's best and at most the bar, on each",
        f"missed on {', '.join(missed)}" if missed else "below both on each",
        not missed,
        table(head, rows),
    )


def probabilities(size: Size) -> Row:
    rows, missed = [], []
    for name in size.sets:
        ours, before = _runs(name, size.runs)
        mine = [
            [getattr(run.quality, part) for run in ours] for part in ("calibration", "brier", "gap", "missed")
        ]
        old = before.quality.calibration, before.quality.brier, before.quality.gap, before.quality.missed
        means = [mean(values) for values in mine]
        if means[0] > MOST_CALIBRATION_ERROR or any(a > b for a, b in zip(means[:3], old[:3], strict=True)):
            missed.append(name)
        cells = [f"{b:.3f} → {a:.3f}" for a, b in zip(means, old, strict=True)]
        rows.append((name, *cells))
        print(rows[-1], flush=True)
    reliability = _reliability(size)
    return Row(
        "What probabilities mean: before → now",
        f"calibration error at most {MOST_CALIBRATION_ERROR}, and the first three figures better, on each",
        f"missed on {', '.join(missed)}" if missed else "met on each",
        not missed,
        table(
            (
                "text",
                "calibration error, p ≥ 0.01",
                "Brier, a gold link",
                "gap, a gold link",
                "gold links not listed",
            ),
            rows,
        )
        + "\nReliability, first run of each: share of right links among those with a probability of\n\n"
        + reliability,
    )


def _reliability(size: Size) -> str:
    edges = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.01)
    rows = []
    for name in size.sets:
        bins = _runs(name, size.runs)[0][0].quality.bins
        cells = []
        for low, high in itertools.pairwise(edges):
            inside = [one for one in bins if low - 1e-9 <= one[0] < high - 1e-9]
            count = sum(one[1] for one in inside)
            cells.append(f"{sum(one[1] * one[3] for one in inside) / count:.2f}" if count else "–")
        rows.append((name, *cells))
    return table(("text", *(f"{low:g}–{min(high, 1):g}" for low, high in itertools.pairwise(edges))), rows)


# ------------------------------------------------------------------ long pairs


def _joined(pairs: Sequence[Pair], count: int) -> list[Pair]:
    """Join neighbours until the longer side has 80 to 200 words."""
    found: list[Pair] = []
    rng, sides = random.Random(1), ([], [])
    wanted = rng.randint(80, 180)
    for pair in pairs:
        for words, side in zip(sides, pair, strict=True):
            words.extend(side.split())
        longest = max(map(len, sides))
        if longest < wanted:
            continue
        if longest <= 200:
            found.append((" ".join(sides[0]), " ".join(sides[1])))
        sides, wanted = ([], []), rng.randint(80, 180)
        if len(found) == count:
            break
    return found


def long(size: Size) -> Row:
    text = hansards(2_000, False)
    model = Aligner.train(text.pairs, seed=1)
    budget, spent, failed, methods, errors_ = 1.0, [], 0, {"exact": 0, "gibbs": 0}, []
    for e, f in _joined(hansards(None, False).pairs, size.long_pairs):
        begun = time.monotonic()
        answer = model.align(e, f, threshold=model.threshold, budget=budget, seed=1)
        spent.append(time.monotonic() - begun)
        assert answer.sampling is not None
        methods[answer.sampling.method] += 1
        if answer.probabilities is None or not answer.probabilities.max() > 0:
            failed += 1
        errors_.append(answer.sampling.standard_error or 1.0)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Row(
        f"{len(spent)} joined pairs of 80–200 words, a budget of 1 s each",
        "no pair without probabilities; the budget kept within 10 %",
        f"{failed} without; slowest {max(spent):.2f} s",
        failed == 0 and max(spent) <= 1.1 * budget,
        f"{methods['exact']} pairs by exact draws, {methods['gibbs']} by Gibbs sampling. Largest standard "
        f"error of a link: median {np.median(errors_):.3f}, worst {max(errors_):.3f}. "
        f"Peak memory {megabytes:.0f} MB.\n",
    )


# ----------------------------------------------------------------------- costs


def _text_of_size(count: int) -> list[Pair]:
    """Repeat the Hansards, a tenth of the words replaced by others, until there are so many pairs."""
    pairs = list(hansards(None, False).pairs)
    rng = random.Random(1)
    words = [sorted({w for pair in pairs[:20_000] for w in pair[side].split()}) for side in (0, 1)]
    more = (
        tuple(
            " ".join(rng.choice(words[n]) if rng.random() < 0.1 else w for w in side.split())
            for n, side in enumerate(pair)
        )
        for pair in itertools.cycle(pairs)
    )
    return list(itertools.islice(itertools.chain(pairs, more), count))  # type: ignore[arg-type]


def costs(size: Size) -> Row:
    rows, worst = [], [0.0, 0.0]
    for count in size.sizes:
        pairs = _text_of_size(count)
        with tempfile.TemporaryDirectory() as folder:
            source = _write(folder, "e", [e for e, _ in pairs])
            target = _write(folder, "f", [f for _, f in pairs])
            del pairs
            out = str(Path(folder, "out"))
            theirs = _cost(
                [
                    BIN / "eflomal-align",
                    "--model",
                    "3",
                    "-s",
                    source,
                    "-t",
                    target,
                    "-f",
                    out,
                    "-r",
                    out + "r",
                ]
            )
            ours = _cost(
                [BIN / "hiddenite", "align", "corpus", source, target, "--seed", "1", "-o", out + "h"]
            )
        ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
        worst = [max(a, b) for a, b in zip(worst, ratios, strict=True)]
        seconds, memory = (f"{theirs[n]:.1f}" if n == 0 else f"{theirs[n]:.0f}" for n in (0, 1))
        rows.append(
            (
                f"{count:,}",
                seconds,
                f"{ours[0]:.1f}",
                f"{ratios[0]:.2f}×",
                memory,
                f"{ours[1]:.0f}",
                f"{ratios[1]:.2f}×",
            )
        )
        print(rows[-1], flush=True)
    return Row(
        "CPU time and peak memory of `align corpus` against `eflomal-align --model 3`",
        "at most 1.0× the CPU time and 1.5× the memory at each size",
        f"at most {worst[0]:.2f}× and {worst[1]:.2f}×",
        worst[0] <= 1.0 and worst[1] <= 1.5,
        table(
            ("pairs", "eflomal CPU s", "hiddenite CPU s", "ratio", "eflomal MB", "hiddenite MB", "ratio"),
            rows,
        ),
    )


# ---------------------------------------------------------------------- update


def _error(model: Aligner, pairs: list[Pair], gold: list) -> float:
    answers = model.ask(pairs, Question(threshold=model.threshold, samples=200, budget=5.0))
    return 100 * score(gold, [a.links or () for a in answers if isinstance(a, Alignment)]).aer


def _update_errors(text: AlignedText, fold: int) -> tuple[float, float, float]:
    """Return the error rates on a tenth of the text: of a model of eight tenths, one more added, and anew."""
    count = len(text.pairs) // 10
    first = min(text.gold) + fold * count
    test = [n for n in range(first, first + count) if n in text.gold]
    rest = [n for n in range(len(text.pairs)) if n not in set(test)]
    new = rest[fold::9][:count]
    old, added, asked = (
        [text.pairs[n] for n in part] for part in ([n for n in rest if n not in set(new)], new, test)
    )
    gold = [text.gold[n] for n in test]
    first_model = Aligner.train(old, seed=1)
    updated = Aligner.train(added, seed=1, earlier=first_model)
    again = Aligner.train(old + added, seed=1)
    before, after, whole = (_error(model, asked, gold) for model in (first_model, updated, again))
    return before, after, whole


def update(size: Size) -> Row:
    rows, means = [], []
    for name in ("zh-en", "en-sv"):
        errors = [_update_errors(SETS[name](True), fold) for fold in range(size.folds)]
        before, after, whole = (mean(column) for column in zip(*errors, strict=True))
        means.append((before, after, whole))
        share = f"{100 * (before - after) / (before - whole):.0f} %" if before > whole else "–"
        rows.append((name, *(f"{rate:.2f}" for rate in (before, after, whole)), share))
        print(rows[-1], flush=True)
    before, after, whole = (mean(column) for column in zip(*means, strict=True))
    share = (before - after) / (before - whole) if before > whole else math.nan
    return Row(
        f"`--from`: 80 % learnt, 10 % added, error rate on another 10 %, mean of {size.folds} parts",
        "better than without, and 99 % of what training anew gains",
        f"{before:.2f} → {after:.2f}, anew {whole:.2f}: {100 * share:.0f} % of the gain",
        after < before and share >= 0.99,
        table(("text", "80 %", "10 % added", "anew", "share of the gain"), rows),
    )


ROWS: dict[str, Callable[[Size], Row]] = {
    "errors": errors,
    "probabilities": probabilities,
    "long": long,
    "costs": costs,
    "update": update,
}


def main() -> None:
    """Run the rows asked for."""
    run_rows("Word alignment on other texts", __doc__, ROWS, lambda _, quick: QUICK if quick else FULL)


if __name__ == "__main__":
    main()
