"""The published lexicon model against heads, sweep by sweep: what the first sweeps cost, where it freezes.

    python experiments/lexicon_drift.py [CORPUS ...] [--seeds 1 2 ...] [--sweeps N] [--page]

Lex-HMM+LM in two variants on two texts, the Yoruba treebank of tagged/ud and the sample of the Wall Street
Journal, with as many tags as their gold standards have. Both start from the same one-tag run of a seed;
sweep 0 is its end. After each sweep: the log joint, the many-to-one accuracy of the present tags, the mean
number of tags in a word's class and of those that its tokens have, and the share of the words in the largest
class. A seed of a variant that is done is kept in experiments/results/lexicon-drift-CORPUS.json; ``--page``
only draws docs/img/induce-drift.png of it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from experiments.common import RESULTS, ROOT, finish, panels, write_json

from induce_runs import NUM_TAGS, sentences, text  # isort: skip  (benchmarks, found by common)
from report import machine  # isort: skip

from hiddenite.induction import Induction
from hiddenite.induction.options import InduceOptions

CORPORA = {"yoruba": "Yoruba, 39,000 tokens, 17 tags", "wsj": "WSJ sample, 94,000 tokens, 45 tags"}
VARIANTS = ("published", "heads")
PICTURE = ROOT / "docs" / "img" / "induce-drift.png"
Curves = dict[str, list[float]]
Record = dict[str, Any]  # of a corpus: its runs by variant and seed, how many sweeps they have


def kept(corpus: str) -> Path:
    """Return where the runs of a corpus are kept."""
    return RESULTS / f"lexicon-drift-{corpus}.json"


def many_to_one(tags: NDArray[np.int32], gold: NDArray[np.int64]) -> float:
    """Return the accuracy in percent, each tag called by the gold tag that it mostly is."""
    width = int(gold.max()) + 1
    table = np.bincount(tags * width + gold, minlength=(int(tags.max()) + 1) * width).reshape(-1, width)
    return 100 * float(table.max(axis=1).sum() / len(gold))


def gold_tags(corpus: str) -> NDArray[np.int64]:
    """Return the gold tags of all tokens as numbers."""
    names = [tag for sentence in sentences(corpus) for _, tag in sentence]
    return np.unique(names, return_inverse=True)[1]


def note(run: Induction, gold: NDArray[np.int64], curves: Curves) -> None:
    """Add what is true after the last sweep."""
    tags = run.token_tags()
    words = len(run.text.words)
    used = len(np.unique(run.text.tokens.astype(np.int64) * run.options.tags + tags)) / words
    classes = list(run.classes_of_words().values())
    found = {
        "log_joint": run.last_sweep().log_joint,
        "many_to_one": many_to_one(tags, gold),
        "class_size": sum(map(len, classes)) / words,
        "tags_used": used,
        "largest_class": Counter(classes).most_common(1)[0][1] / words,
    }
    for name, value in found.items():
        curves.setdefault(name, []).append(value)


def drift(corpus: str, variant: str, seed: int, sweeps: int) -> Curves:
    """Return the curves of a run; the first point of each but the log joint is the end of the start."""
    options = InduceOptions(
        tags=NUM_TAGS[corpus],
        model="lex+lm",
        variant=variant,
        seed=seed,
        iterations=sweeps,
        burn_in=sweeps - 1,  # so that the tags asked for are the present ones
    )
    run, gold = Induction(text(corpus), options, threads=1), gold_tags(corpus)
    curves: Curves = {}
    with contextlib.closing(iter(run)) as iterator:
        for sweep in iterator:
            if sweep.stage == "main" or sweep.index == sweep.total:
                note(run, gold, curves)
    return curves


# --------------------------------------------------------------------- picture


def _band(axis: Any, rows: list[list[float]], label: str, colour: str) -> None:
    """Draw the mean over seeds, and lightly every seed."""
    xs = range(len(rows[0]))
    for row in rows:
        axis.plot(xs, row, color=colour, lw=0.6, alpha=0.25)
    axis.plot(xs, np.mean(rows, axis=0), color=colour, lw=2, label=label)


def draw(records: dict[str, Record]) -> Any:
    """Return the picture: of each corpus a row of four panels over sweeps."""
    figure, axes = panels(4, 3.4, 3.2, rows=len(records))
    shown: list[tuple[str, str, str, Callable[[list[float]], list[float]]]] = [
        ("many_to_one", "Accuracy", "many-to-one, %", list),
        ("log_joint", "Log joint", "thousand nats above sweep 1", lambda r: [(v - r[1]) / 1e3 for v in r]),
        ("class_size", "Tags in a word's class", "mean over the words", list),
        ("largest_class", "Largest class", "share of the words, %", lambda r: [100 * v for v in r]),
    ]
    cells = [(corpus, record["runs"], *one) for corpus, record in records.items() for one in shown]
    for axis, (corpus, runs, name, title, label, scale) in zip(axes, cells, strict=True):
        for i, variant in enumerate(VARIANTS):
            rows = [scale(run[name]) for key, run in runs.items() if key.startswith(variant)]
            if name == "log_joint":  # the start is of another model
                rows = [[float("nan"), *row[1:]] for row in rows]
            _band(axis, rows, variant, f"C{i}")
        heading = f"{CORPORA[corpus]}\n{title}" if name == shown[0][0] else title
        axis.set_title(heading, loc="left", fontsize=10)
        axis.set(xlabel="sweeps after the start", ylabel=label)
    return finish(figure, axes[:1])


def summary(runs: dict[str, Curves]) -> str:
    """Return means at some sweeps and the range at the end, for the page's paragraphs."""
    lines = []
    for variant in VARIANTS:
        mine = [run for key, run in runs.items() if key.startswith(variant)]
        for name in ("many_to_one", "class_size", "tags_used", "largest_class"):
            means = np.mean([run[name] for run in mine], axis=0)
            points = dict.fromkeys([*(n for n in (0, 5, 10, 20) if n < len(means)), len(means) - 1])
            values = ", ".join(f"{n}: {means[n]:.3f}" for n in points)
            ends = sorted(run[name][-1] for run in mine)
            lines.append(f"{variant}, {name}, {len(mine)} seeds: {values} ({ends[0]:.3f} to {ends[-1]:.3f})")
    return "\n".join(lines)


def main() -> None:
    """Run the seeds that are missing, then draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", choices=[*CORPORA, []])
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(1, 11)))
    parser.add_argument("--sweeps", type=int, default=40)
    parser.add_argument("--page", action="store_true", help="only draw")
    given = parser.parse_args()
    for corpus in () if given.page else given.corpora or CORPORA:
        file = kept(corpus)
        record: Record = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"runs": {}}
        if record.get("sweeps", given.sweeps) != given.sweeps:
            parser.error(f"{file.name} has runs of {record['sweeps']} sweeps; remove it first")
        for seed in given.seeds:
            for variant in VARIANTS:
                key = f"{variant}-{seed}"
                if key not in record["runs"]:
                    record["runs"][key] = drift(corpus, variant, seed, given.sweeps)
                    record |= {"corpus": corpus, "sweeps": given.sweeps, "machine": machine()}
                    write_json(file, record)
                    print(corpus, key, f"{record['runs'][key]['many_to_one'][-1]:.1f}", flush=True)
    records = {name: json.loads(kept(name).read_text("utf-8")) for name in CORPORA if kept(name).exists()}
    draw(records).savefig(PICTURE, dpi=110, metadata={"Software": None})
    for corpus, record in records.items():
        print(f"{CORPORA[corpus]}\n{summary(record['runs'])}")


if __name__ == "__main__":
    main()
