"""What guides and constraints cost: random models as large as those of language models, one thread.

    python benchmarks/guide_speed.py [ROW ...] [--quick] [--write]

Rows by name, all by default: ``guide``, models whose 50,000 words belong to 128 classes, of 4,096 and 16,384
states; ``dense``, a Ctrl-G checkpoint of 4,096 states and 50,257 tokens, made in a temporary folder (0.9 GB),
read and used; ``constrained``, sentences of such a class model with three words and a phrase. ``--quick``
takes small models. Times are processor times.
"""

from __future__ import annotations

import itertools
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from report import Row, run_rows, table

from hiddenite import HMMLanguageModel
from hiddenite._core import DenseHmm, SparseHmm
from hiddenite.hmmlm.guide import Guide, GuideModel, read_checkpoint
from hiddenite.hmmlm.guide.tensors import write_safetensors
from hiddenite.hmmlm.shape import NO_GROUP, brown_shape

KEYWORDS = ["w10", "w200", "w3000", "w4000"]
LENGTH, NUM_WORDS, CLASSES = 60, 50_000, 128
CANDIDATES = 200
HEAD = ("what", "measured", "bar")


def class_model(states: int) -> HMMLanguageModel:
    """Return random numbers in the shape of a model with word classes."""
    rng = np.random.default_rng(1)
    words = ["<unk>", "<s>", "</s>", *(f"w{i}" for i in range(NUM_WORDS - 3))]
    classes = rng.integers(0, CLASSES, NUM_WORDS).tolist()
    classes[1] = -1
    shape = brown_shape(classes, states)
    z, begins = shape.num_states, shape.group_begin.astype(int)
    transition = np.empty(z * z, np.float32)
    at = 0
    for b, e in itertools.pairwise(begins):
        rows = rng.random((e - b, z), dtype=np.float32) + np.float32(1e-6)
        rows /= rows.sum(1, keepdims=True)
        for g, h in itertools.pairwise(begins):
            transition[at : at + (e - b) * (h - g)] = rows[:, g:h].reshape(-1)
            at += (e - b) * (h - g)
    emitting = [g for g in shape.word_group.tolist() if g != NO_GROUP]
    owners = np.concatenate([np.arange(begins[g], begins[g + 1]) for g in emitting])
    emission = rng.exponential(size=len(owners))
    emission /= np.bincount(owners, emission, z)[owners]
    return HMMLanguageModel(words, [SparseHmm(shape, np.full(z, 1 / z), transition, emission)])


def measure(
    model: HMMLanguageModel | GuideModel, tokens: int, candidates: int | None = None
) -> tuple[float, float]:
    """Seconds of the precomputation and of a token; of some candidates alone, if so many are asked."""
    rng = np.random.default_rng(1)
    begun = time.process_time()
    guide = Guide(model, KEYWORDS, max_length=LENGTH, threads=1)
    before = time.process_time() - begun
    state = guide.start()
    times = []
    for _ in range(tokens):
        begun = time.process_time()
        asked = None if candidates is None else rng.integers(10, guide.num_tokens - 10, candidates).tolist()
        weights = state.log_weights(tokens=asked)
        token = int(weights.argmax()) if asked is None else asked[int(weights.argmax())]
        state = state.advance(token if token != guide.model.end else 10)
        times.append(time.process_time() - begun)
    return before, float(np.median(times))


def guide(quick: bool) -> Row:
    """Models with word classes."""
    rows, met = [], True
    for states, bar in ((256, 20), (512, 100)) if quick else ((4096, 20), (16_384, 100)):
        before, token = measure(class_model(states), 5 if quick else 40)
        rows += [
            (f"a token, {states:,} states, {NUM_WORDS:,} words", f"{1e3 * token:.1f} ms", f"{bar} ms"),
            ("precomputation for it", f"{before:.2f} s", "5 s" if bar == 20 else "–"),
        ]
        met = met and 1e3 * token <= bar and (before <= 5 or bar > 20)
    return Row(
        "A guide: 4 keywords in up to 60 tokens, random models with 128 word classes, one thread",
        "20 ms a token at 4 k states after 5 s, 100 ms at 16 k",
        f"{rows[0][1]} after {rows[1][1]}, {rows[2][1]}",
        met,
        table(HEAD, rows),
    )


def make_checkpoint(path: Path, z: int, v: int) -> None:
    """Write a random model as Ctrl-G writes its own."""
    rng = np.random.default_rng(1)
    emission = rng.random((z, v), dtype=np.float32) + np.float32(1e-6)
    emission /= emission.sum(1, keepdims=True)
    transition = rng.random((z, z), dtype=np.float32)
    transition /= transition.sum(1, keepdims=True)
    gamma = np.full(z, -np.log(z), np.float32)
    arrays = {"alpha_exp": transition, "beta": np.log(emission, out=emission), "gamma": gamma}
    write_safetensors(path, arrays, {})


def read(path: Path, end: int) -> tuple[DenseHmm, float, float]:
    """Return the chain, seconds, and the memory that was needed over the file's size."""
    before = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    begun = time.process_time()
    chain = read_checkpoint(path, end=end)
    seconds = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    return chain, seconds, peak / path.stat().st_size


def dense(quick: bool) -> Row:
    """Every state emits every token."""
    z, v = (64, 5000) if quick else (4096, 50_257)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hmm.safetensors"
        child = os.fork()  # the memory of making it must not count
        if child == 0:
            make_checkpoint(path, z, v)
            os._exit(0)
        os.waitpid(child, 0)
        chain, seconds, size = read(path, v - 1)
    model = GuideModel.dense(chain, [f" w{i}".encode() for i in range(v - 1)], end=v - 1)
    before, token = measure(model, 8)
    _, some = measure(model, 20, CANDIDATES)
    rows = [
        (f"a token, {z:,} states × {v:,} tokens", f"{1e3 * token:.1f} ms", "20 ms"),
        (f"a token, the weights of {CANDIDATES} candidates alone", f"{1e3 * some:.1f} ms", "20 ms"),
        ("precomputation for it", f"{before:.2f} s", "5 s"),
        ("checkpoint read", f"{seconds:.2f} s, {size:.2f} times its size", "5 s, 1.2 times"),
    ]
    return Row(
        "A guide: 4 keywords in up to 60 tokens, a dense random model, one thread",
        "20 ms a token after 5 s; a checkpoint read in 5 s and 1.2 times its size",
        f"{rows[0][1]} after {rows[2][1]}, {rows[1][1]} for {CANDIDATES} candidates; {rows[3][1]}",
        1e3 * token <= 20 and before <= 5 and seconds <= 5 and size <= 1.2,
        table(HEAD, rows),
    )


def constrained(quick: bool) -> Row:
    """Sentences with three words and a phrase."""
    model = class_model(256 if quick else 4096)
    keywords = ["w10", "w200", "w3000", ["w50", "w60"]]
    rows, met = [], True
    for length, bar in ((20, 0.5), (60, 1.5)):
        times = []
        for _ in range(3):
            begun = time.process_time()
            model.generate(1, keywords=keywords, length=length, threads=1)
            times.append(time.process_time() - begun)
        rows.append((f"a sentence of {length} words", f"{min(times):.2f} s", f"{bar} s"))
        met = met and min(times) <= bar
    return Row(
        f"Constrained sentences, {model.num_states:,} states, 3 words and a phrase, one thread",
        "0.5 s for 20 words, 1.5 s for 60",
        f"{rows[0][1]}, {rows[1][1]}",
        met,
        table(HEAD, rows),
    )


ROWS: dict[str, Callable[[bool], Row]] = {"guide": guide, "dense": dense, "constrained": constrained}


def main() -> None:
    """Run the rows asked for."""
    run_rows("Hidden Markov language models", __doc__, ROWS, lambda _, quick: quick)


if __name__ == "__main__":
    main()
