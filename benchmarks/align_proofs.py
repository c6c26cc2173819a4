"""Rows about proofs of alignments: those of the test sentences, checked; and changed ones, refused."""

from __future__ import annotations

import copy
import functools
import json
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from align_data import Size, aligner, pairs
from report import Row, table

from hiddenite.align import Alignment, Question
from hiddenite.align.proofs import AlignmentProof
from hiddenite.checker import alignment as checker
from hiddenite.checker.alignment_weights import Model

MOST_BYTES, MOST_SECONDS = 200_000, 2.0
CHANGES = 2000
FAR = 1e4  # nats: more than any weight of a sentence pair
Record = dict[str, Any]


@functools.cache
def model(num_pairs: int | None) -> tuple[Model, float]:
    """Return the trained model as the checker has it, and the time to read it."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "model")
        aligner(num_pairs).save(path)
        begin = time.process_time()
        return checker.read_model(str(path)), time.process_time() - begin


@functools.cache
def proofs(num_pairs: int | None, count: int) -> tuple[list[AlignmentProof], float, float]:
    """Return the proofs of test sentences both ways, and seconds with and without them."""
    chosen, seconds = pairs("test")[:count], []
    for question in (Question(), Question(proof=True)):
        begin = time.process_time()
        answers = list(aligner(num_pairs).ask(chosen, question, threads=1))
        seconds.append(time.process_time() - begin)
    found = [proof for answer in answers if isinstance(answer, Alignment) for proof in answer.proofs]
    return found, seconds[1], seconds[0]


def accepted(size: Size) -> Row:
    read, reading = model(size.pairs)
    found, proving, aligning = proofs(size.pairs, size.sentences)
    sizes, seconds, gaps, leaves = [], [], [], []
    for proof in found:
        text = json.dumps(proof.to_dict(), ensure_ascii=False, separators=(",", ":")).encode()
        sizes.append(len(text))
        leaves.append(sum("multipliers" in node for node in proof.tree))
        begin = time.process_time()
        try:
            gaps.append(checker.Record(read, json.loads(text)).check())
        except checker.Refused as error:
            print(error)
        seconds.append(time.process_time() - begin)
    size_median, slowest = statistics.median(sizes), max(seconds)
    per_pair = 1e3 / (len(found) / 2)
    rows = [
        ("leaves of the tree", f"{statistics.median(leaves):.0f}", max(leaves)),
        ("kB, as JSON", f"{size_median / 1e3:.2g}", f"{max(sizes) / 1e3:.3g}"),
        ("checked, ms", f"{1e3 * statistics.median(seconds):.2g}", f"{1e3 * slowest:.3g}"),
    ]
    note = (
        f"\n{sum(n == 1 for n in leaves)} of the proofs are one set of multipliers. A pair takes "
        f"{per_pair * aligning:.2g} ms without and {per_pair * proving:.2g} ms with its two proofs; the "
        f"checker reads the model in {reading:.1f} s. The largest gap, which is rounding: {max(gaps):.1e}.\n"
    )
    return Row(
        f"Proofs of {len(found)} alignments: test sentences, both ways",
        "100 % accepted; median below 200 kB; each checked in less than 2 s",
        f"{len(gaps)} of {len(found)} accepted, median {size_median / 1e3:.2g} kB, "
        f"slowest check {slowest:.2g} s",
        len(gaps) == len(found) and size_median < MOST_BYTES and slowest < MOST_SECONDS,
        table(("of a proof", "median", "largest"), rows) + note,
    )


# -------------------------------------------------------------------- changes


def change_multiplier(rng: random.Random, record: Record, _: Size) -> bool:
    """Make a multiplier of a claimed link too large or too small."""
    linked = [(j, i) for j, i in enumerate(record["links"]) if i]
    if len(record["tree"]) > 1 or not linked:
        return False
    j, i = rng.choice(linked)
    record["tree"][0]["multipliers"][j][i - 1] += rng.choice([-FAR, FAR])
    return True


def drop_leaf(rng: random.Random, record: Record, _: Size) -> bool:
    """Leave out a leaf."""
    del record["tree"][rng.choice([n for n, node in enumerate(record["tree"]) if "multipliers" in node])]
    return True


def open_case(rng: random.Random, record: Record, _: Size) -> bool:
    """Part a case and prove one half of it."""
    word = rng.randrange(1, len(record["tree"][-1]["multipliers"][0]) + 1)
    record["tree"].insert(rng.randrange(len(record["tree"])), {"word": word, "at_most": 0})
    return True


def claim_other_links(rng: random.Random, record: Record, size: Size) -> bool:
    """Claim an alignment that weighs less, with its own weight."""
    hmm = aligner(size.pairs).hmm(
        record["source"], record["target"], reverse=record["direction"] == "reverse"
    )
    j = rng.randrange(len(record["links"]))
    record["links"][j] = rng.randrange(hmm.num_sources + 1)
    weight = hmm.log_weight(np.array(record["links"], dtype=np.uint32))
    less = weight < record["log_weight"] - 1e-6 * (1 + abs(weight))
    record["log_weight"] = weight
    return less


def reweigh(rng: random.Random, record: Record, _: Size) -> bool:
    """Change the claimed weight by a millionth."""
    record["log_weight"] += rng.choice([-1e-6, 1e-6]) * (1 + abs(record["log_weight"]))
    return True


def change_pair(rng: random.Random, record: Record, size: Size) -> bool:
    """Claim the same of another sentence: one word is replaced."""
    side = rng.choice(["source", "target"])
    other = rng.choice(pairs("test"))[side == "target"].split()
    record[side][rng.randrange(len(record[side]))] = rng.choice(other)
    hmm = aligner(size.pairs).hmm(
        record["source"], record["target"], reverse=record["direction"] == "reverse"
    )
    weight = hmm.log_weight(np.array(record["links"], dtype=np.uint32))
    return abs(weight - record["log_weight"]) > 1e-6 * (1 + abs(weight))


KINDS: tuple[Callable[[random.Random, Record, Size], bool], ...] = (
    change_multiplier,
    drop_leaf,
    open_case,
    claim_other_links,
    reweigh,
    change_pair,
)


def refused(size: Size) -> Row:
    rng = random.Random(1)
    read, _ = model(size.pairs)
    found, _, _ = proofs(size.pairs, size.sentences)
    made: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    wanted = CHANGES if size.pairs is None else 60
    while made.total() < wanted:
        kind = KINDS[made.total() % len(KINDS)]
        record = copy.deepcopy(rng.choice(found).to_dict())
        if not kind(rng, record, size):
            continue  # what is claimed may still be true
        made[kind.__name__] += 1
        try:
            checker.Record(read, record).check()
        except checker.Refused:
            kept[kind.__name__] += 1
    return Row(
        f"{made.total()} changes of these proofs, each of which makes them false",
        "100 % refused",
        f"{kept.total()} of {made.total()} refused",
        kept == made,
        table(
            ("change", "proofs", "refused"),
            [(kind.__doc__, made[kind.__name__], kept[kind.__name__]) for kind in KINDS],
        ),
    )
