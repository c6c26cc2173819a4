"""Induction's promises, measured: speed, accuracy, mixing, and the tagger that comes of it.

    python benchmarks/induce.py [ROW ...] [--seeds 5] [--quick] [--write]

Rows: speed full wsj ewt filters blocks heldout. Needs the tagged texts of ``sms.DATA``, whose tags are used
for the scores alone, and ``matplotlib``. A row that is stopped goes on where it was: runs are kept by
:mod:`induce_runs`. ``full`` takes a quarter of an hour, ``wsj`` and ``ewt`` some minutes a seed and model.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from induce_runs import NUM_TAGS, Question, finished, sentences, tag_all, tagger, text
from report import Row, mean, run_rows, table
from sms import ROOT

from hiddenite._core import InductionChain
from hiddenite.induction import Induction, compare
from hiddenite.induction.options import InduceOptions

IMAGES = ROOT / "docs" / "img"


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    seeds: int
    limit: int | None = None  # sentences
    iterations: int = 100
    full_iterations: int = 200
    local_iterations: int = 500
    warm: int = 3  # sweeps before time is taken
    repeats: int = 2


# ----------------------------------------------------------------------- speed

SPEED = [  # name, model, options, bar in µs
    ("local", "pyp", {"sampler": "local"}, 1.2),
    ("1HMM+LM", "one-tag+lm", {}, 12.0),
    ("Lex+LM, 10 particles", "lex+lm", {"start": "type"}, 6.0),
    ("type, 10 particles", "pyp", {"sampler": "type"}, 8.0),
    ("sentence, exact", "pyp", {"sampler": "sentence"}, 18.0),
]


def sweep_seconds(chain: InductionChain) -> float:
    """Return the processor time of one sweep."""
    begun = time.thread_time()
    chain.sweep()
    return time.thread_time() - begun


def speed(sizes: Sizes) -> Row:
    """Time a sweep on Brown, one thread, parameters sampled, after some sweeps."""
    corpus = text("brown", sizes.limit)
    rows, told, met = [], [], True
    for name, model, options, bar in SPEED:
        chosen = InduceOptions(tags=NUM_TAGS["brown"], model=model, **options)  # type: ignore[arg-type]
        chain = Induction(corpus, chosen)._chains[0]
        first = sweep_seconds(chain)
        for _ in range(sizes.warm):
            chain.sweep()
        found = 1e6 * min(sweep_seconds(chain) for _ in range(sizes.repeats)) / len(corpus.tokens)
        rows.append([name, f"{1e6 * first / len(corpus.tokens):.2f}", f"{found:.2f}", bar])
        told.append(f"{found:.2f}")
        met &= found <= bar
    bars = " / ".join(str(bar) for *_, bar in SPEED)
    head = ["sampler", "first sweep, µs a token", f"after {sizes.warm} sweeps", "bar"]
    return Row(
        f"µs per token and sweep, Brown ({len(corpus.tokens):,} tokens, 45 tags), one thread",
        f"≤ {bars}",
        " / ".join(told),
        met if sizes.limit is None else None,
        table(head, rows),
    )


def full(sizes: Sizes) -> Row:
    """Run Lex+LM on Brown from beginning to end."""
    question = Question("brown", "lex+lm", iterations=sizes.full_iterations, limit=sizes.limit)
    found = finished(question)
    minutes = sum(found.seconds) / 60
    details = table(
        ["sweeps, those of the start included", "minutes", "log joint", "M-1", "1-1", "VM"],
        [[len(found.seconds), f"{minutes:.1f}", f"{found.log_joint:.0f}", *_scores(found)]],
    )
    return Row(
        f"a whole Lex+LM run on Brown, {sizes.full_iterations} sweeps after its start",
        "at most 15 minutes",
        f"{minutes:.1f} minutes",
        minutes <= 15 if sizes.limit is None else None,
        details,
    )


# -------------------------------------------------------------------- accuracy


def _scores(found: object) -> list[str]:
    return [f"{100 * getattr(found, name):.1f}" for name in ("many_to_one", "one_to_one", "v_measure")]


REPEATED = ("local", "1HMM+LM", "1HMM+LM from exchange", "Lex+LM heads")  # with several seeds


def models(corpus: str, sizes: Sizes) -> dict[str, Question]:
    """Return what is compared, the seed left at 1."""
    base = Question(corpus, "", iterations=sizes.iterations, limit=sizes.limit)
    return {
        "local": replace(base, model="pyp", sampler="local", iterations=sizes.local_iterations),
        "type": replace(base, model="pyp", sampler="type"),
        "1HMM": replace(base, model="one-tag"),
        "1HMM+LM": replace(base, model="one-tag+lm"),
        "1HMM+LM from exchange": replace(base, model="one-tag+lm", more=(("start", "exchange"),)),
        "Lex+LM published": replace(base, model="lex+lm", variant="published"),
        "Lex+LM singletons": replace(base, model="lex+lm", variant="singletons"),
        "Lex+LM heads": replace(base, model="lex+lm", variant="heads"),
    }


def accuracy_table(corpus: str, sizes: Sizes) -> tuple[dict[str, float], str]:
    """Return the mean many-to-one of each model in percent, and all of it as a table."""
    means, rows = {}, []
    for name, question in models(corpus, sizes).items():
        seeds = sizes.seeds if name in REPEATED else 1
        found = [finished(replace(question, seed=seed)) for seed in range(1, seeds + 1)]
        scores = [100 * f.many_to_one for f in found]
        spread = statistics.stdev(scores) if len(scores) > 1 else 0.0
        means[name] = mean(scores)
        others = [
            f"{100 * mean(getattr(f, score) for f in found):.1f}" for score in ("one_to_one", "v_measure")
        ]
        log_joint = f"{mean(f.log_joint for f in found):.0f}"
        seconds = f"{mean(sum(f.seconds) for f in found):.0f}"
        deviation = f" ± {spread:.1f}" if seeds > 1 else ""
        rows.append([name, seeds, f"{means[name]:.1f}{deviation}", *others, log_joint, seconds])
    head = ["model", "seeds", "M-1, mean ± deviation", "1-1", "VM", "log joint", "seconds"]
    return means, table(head, rows)


def wsj(sizes: Sizes) -> Row:
    """Score the models on the WSJ sample."""
    means, details = accuracy_table("wsj", sizes)
    lexicon = max(v for name, v in means.items() if name.startswith("Lex"))
    found = (means["local"], max(means["1HMM+LM"], means["1HMM+LM from exchange"]), lexicon)
    met = all(value >= bar for value, bar in zip(found, (64, 74, 74), strict=True))
    return Row(
        "many-to-one, WSJ sample, 45 tags: local / 1HMM+LM, its better start / Lex+LM, its best variant",
        "≥ 64 / 74 / 74 (goal 77.5, the published figure on the whole corpus)",
        " / ".join(f"{v:.1f}" for v in found),
        met if sizes.limit is None else None,
        details,
    )


def ewt(sizes: Sizes) -> Row:
    """Score the models on EWT."""
    means, details = accuracy_table("ewt", sizes)
    lexicon = max(v for name, v in means.items() if name.startswith("Lex"))
    return Row(
        "many-to-one, UD English-EWT, XPOS, 49 tags: local / 1HMM+LM / Lex+LM",
        "Lex+LM ≥ 71 and 10 points above local",
        " / ".join(f"{v:.1f}" for v in (means["local"], means["1HMM+LM"], lexicon)),
        lexicon >= 71 and lexicon >= means["local"] + 10 if sizes.limit is None else None,
        details,
    )


# ---------------------------------------------------------------------- mixing

FILTERS = [("local", 0), ("sentence-pf", 25), ("sentence-pf", 50), ("sentence-pf", 100), ("sentence", 0)]


def filters(sizes: Sizes) -> Row:
    """Compare sentence particle filters with the exact sentence sampler (Dubbin & Blunsom 2012)."""
    runs = {}
    for sampler, particles in FILTERS:
        question = Question("wsj", "pyp", sampler=sampler, iterations=sizes.iterations, limit=sizes.limit)
        if particles:
            question = replace(question, more=(("particles", particles),))
        runs[f"{sampler} {particles}" if particles else sampler] = finished(question)
    exact = runs["sentence"].log_joint
    gaps = [exact - runs[f"sentence-pf {p}"].log_joint for p in (25, 50, 100)]
    rows = [[n, f"{r.log_joint:.0f}", f"{sum(r.seconds):.0f}", *_scores(r)] for n, r in runs.items()]
    _plot_filters({name: run.log_joints for name, run in runs.items()})
    picture = "\n![log joint over sweeps](../docs/img/induce-filters.png)\n"
    return Row(
        f"log joint of sentence particle filters below the exact sampler, WSJ, {sizes.iterations} sweeps",
        "25, 50 and 100 particles come nearer and nearer",
        " / ".join(f"{gap:.0f}" for gap in gaps),
        gaps[0] > gaps[1] > gaps[2] if sizes.limit is None else None,
        table(["sampler", "log joint", "seconds", "M-1", "1-1", "VM"], rows) + picture,
    )


def _plot_filters(series: dict[str, Sequence[float]]) -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415  (only this row needs it)

    figure = Figure(figsize=(6.4, 4.2))
    axes = figure.subplots()
    for name, values in series.items():
        axes.plot(range(1, len(values) + 1), values, lw=1, label=name)
    axes.set(xlabel="sweeps", ylabel="log joint")
    axes.legend(frameon=False)
    figure.tight_layout()
    IMAGES.mkdir(exist_ok=True)
    figure.savefig(IMAGES / "induce-filters.png", dpi=120)


FREQUENT = 512


def blocks(sizes: Sizes) -> Row:
    """Measure the effective sample size of type blocks by frequency, plain and in chunks."""
    columns, chunks = {}, (("whole types", 0), ("chunks of 64, the default", 64))
    for name, chunk in chunks:
        options = InduceOptions(tags=NUM_TAGS["wsj"], model="pyp", sampler="type", chunk=chunk)
        chain = Induction(text("wsj", sizes.limit), options)._chains[0]
        for _ in range(sizes.iterations // 2):
            chain.sweep()
        columns[name] = [x.tolist() for x in chain.effective_sizes()]
    rows, frequent = [], []
    for i in range(1, len(columns[chunks[0][0]][0])):
        if not columns[chunks[0][0]][1][i]:
            continue
        cells = [f"{columns[name][0][i]:.2f} ({columns[name][1][i]:,})" for name, _ in chunks]
        rows.append([f"{2 ** (i - 1):,} to {2**i - 1:,}", *cells])
        if 2 ** (i - 1) >= FREQUENT:
            frequent.append(columns[chunks[1][0]][0][i])
    least = min(frequent, default=0.0)
    return Row(
        "effective sample size of a type block, 10 particles, WSJ",
        f"≥ 3 a block of types above {FREQUENT} tokens",
        f"{least:.2f} at least",
        least >= 3 if sizes.limit is None else None,
        table(["tokens of the type", *(f"{name} (blocks)" for name, _ in chunks)], rows),
    )


# --------------------------------------------------------------------- held out


def heldout(sizes: Sizes) -> Row:
    """Tag EWT's dev text with the taggers of the EWT runs, names learnt on the training text."""
    gold = sentences("ewt-dev")[: sizes.limit]
    rows, differences = [], {}
    for name, question in models("ewt", sizes).items():
        found = finished(question)
        compared = compare([[t for _, t in s] for s in gold], tag_all(tagger(question), gold))
        here = 100 * compared.accuracy_of(found.mapping)
        there = 100 * found.many_to_one
        rows.append([name, f"{there:.1f}", f"{here:.1f}", f"{100 * compared.v_measure:.1f}"])
        differences[name] = there - here
    best = min((n for n in differences if n.startswith("Lex")), key=differences.__getitem__)
    return Row(
        "the exported tagger on EWT dev: points below training text, many-to-one names learnt there",
        "goal: at most 4",
        f"{differences[best]:.1f} ({best})",
        differences[best] <= 4 if sizes.limit is None else None,
        table(["model", "M-1, train", "M-1 on dev, names of train", "VM on dev"], rows),
    )


ROWS: dict[str, Callable[[Sizes], Row]] = {
    "speed": speed,
    "full": full,
    "wsj": wsj,
    "ewt": ewt,
    "filters": filters,
    "blocks": blocks,
    "heldout": heldout,
}


def size(_: str, quick: bool, seeds: int) -> Sizes:
    """Say how much to measure."""
    if quick:
        return Sizes(1, limit=60, iterations=4, full_iterations=4, local_iterations=4, warm=1, repeats=1)
    return Sizes(seeds)


if __name__ == "__main__":
    run_rows("Induction", __doc__, ROWS, size, {"seeds": 5})
