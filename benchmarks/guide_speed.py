"""What guides and constraints cost: random models as large as those of language models, one thread.

    python benchmarks/guide_speed.py [ROW ...] [--quick] [--write]

Rows by name, all by default: ``guide``, models whose 50,000 words belong to 128 classes, of 4,096 and 16,384
states; ``dense``, a Ctrl-G checkpoint of 4,096 states and 50,257 tokens, made in a temporary folder (0.9 GB),
read and used; ``large``, a dense random model of 16,384 states in memory (4.4 GB); ``trained``, a model of
WikiText-2 made dense, which guides a 5-gram model (lm/wikitext-2 under HIDDENITE_DATA, or beside the
checkout); ``constrained``, sentences of such a class model with three words and a phrase. ``--quick`` takes
small models. Times are processor times.

A guided token is what a sampler pays: the weights for another model's scores (``weigh``, whose law of the
next token is within its tolerance of the exact one) and the step by the token. Where no language model is at
hand the scores are random, with the perplexity of one.
"""

from __future__ import annotations

import itertools
import os
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from report import Row, run_rows, table

from hiddenite import HMMLanguageModel, NgramModel
from hiddenite._core import DenseHmm, SparseHmm
from hiddenite.hmmlm.arrays import dense_emission, dense_transition
from hiddenite.hmmlm.constraints import TokenVocabulary
from hiddenite.hmmlm.guide import Guide, GuideModel, read_checkpoint, weigh
from hiddenite.hmmlm.guide.tensors import write_safetensors
from hiddenite.hmmlm.shape import NO_GROUP, brown_shape

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("HIDDENITE_DATA", ROOT.parent / "shared" / "data"))
KEYWORDS = ["w10", "w200", "w3000", "w4000"]
LENGTH, NUM_WORDS, CLASSES = 60, 50_000, 128
CANDIDATES, TOP = 200, 1000
SPREAD = 3.0  # of random scores: their perplexity is about 900 of 50,000 tokens
TRAINED_KEYWORDS = ["game", "war", "river", "song"]
BACKGROUND = 0.05  # of all words, in each state of the trained model: classes alone would leave zeros
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


def make_guide(
    model: HMMLanguageModel | GuideModel, keywords: Sequence[str] = KEYWORDS
) -> tuple[Guide, float]:
    """Return a guide, and the seconds that its precomputation took."""
    begun = time.process_time()
    guide = Guide(model, keywords, max_length=LENGTH, threads=1)
    return guide, time.process_time() - begun


def all_weights(guide: Guide, tokens: int, candidates: int | None = None) -> float:
    """Seconds of a token with the weights of all, or of so many candidates."""
    rng = np.random.default_rng(1)
    state = guide.start()
    times = []
    for _ in range(tokens):
        begun = time.process_time()
        asked = None if candidates is None else rng.integers(10, guide.num_tokens - 10, candidates).tolist()
        weights = state.log_weights(tokens=asked)
        token = int(weights.argmax()) if asked is None else asked[int(weights.argmax())]
        state = state.advance(token if token != guide.model.end else 10)
        times.append(time.process_time() - begun)
    return float(np.median(times))


@dataclass(frozen=True)
class Guided:
    """What guided tokens cost."""

    seconds: float  # the median token
    slowest: float
    exact: float  # tokens whose weight was computed, of the median token
    error: float  # the largest of all tokens
    perplexity: float  # of the scores, on the average

    def cells(self) -> str:
        """Return the figures but for the time."""
        return f"{self.exact:,.0f} weights computed, error at most {self.error:.1e}"

    def rows(self, size: str, bar: str) -> list[tuple[str, str, str]]:
        """Return the median token and the slowest, for a model of a size."""
        return [
            (f"a guided token, {size}: {self.cells()}", f"{1e3 * self.seconds:.1f} ms", bar),
            ("the slowest", f"{1e3 * self.slowest:.1f} ms", "–"),
        ]


def guided_tokens(
    guide: Guide, scores: Callable[[Sequence[int]], NDArray[np.float64]], tokens: int
) -> Guided:
    """Draw tokens, each from the scores with the guide's weights; the scores' own time does not count."""
    rng = np.random.default_rng(2)
    state, times, answers, entropies = guide.start(), [], [], []
    for _ in range(tokens):
        given = scores(state.tokens)
        begun = time.process_time()
        answers.append(weighed := weigh(state, given))
        times.append(time.process_time() - begun)
        p = np.exp(given - np.logaddexp.reduce(given))
        entropies.append(-float((p * np.log(p + 1e-300)).sum()))
        shares = p * np.exp(weighed.log_weights)
        shares[guide.model.end] = 0.0  # the longest sentence has most tokens
        token = int(rng.choice(len(shares), p=shares / shares.sum()))
        begun = time.process_time()
        state = state.advance(token)
        times[-1] += time.process_time() - begun
    return Guided(
        float(np.median(times)),
        max(times),
        float(np.median([a.num_exact for a in answers])),
        max(a.error for a in answers),
        float(np.exp(np.mean(entropies))),
    )


def random_scores(num_tokens: int) -> Callable[[Sequence[int]], NDArray[np.float64]]:
    """Return scores that are drawn anew for each token."""
    rng = np.random.default_rng(3)
    return lambda _: SPREAD * rng.standard_normal(num_tokens)


def guide(quick: bool) -> Row:
    """Models with word classes."""
    rows, met = [], True
    for states, bar in ((256, 20), (512, 100)) if quick else ((4096, 20), (16_384, 100)):
        made, before = make_guide(class_model(states))
        token = all_weights(made, 5 if quick else 40)
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
    made, before = make_guide(model)
    token, some = all_weights(made, 8), all_weights(made, 20, CANDIDATES)
    guided = guided_tokens(made, random_scores(v), 10 if quick else 50)
    rows = [
        *guided.rows(f"{z:,} states × {v:,} tokens", "20 ms"),
        (f"a token, the weights of {CANDIDATES} candidates alone", f"{1e3 * some:.1f} ms", "20 ms"),
        ("a token, the weights of all tokens exactly, without scores", f"{1e3 * token:.1f} ms", "20 ms"),
        ("precomputation for it", f"{before:.2f} s", "5 s"),
        ("checkpoint read", f"{seconds:.2f} s, {size:.2f} times its size", "5 s, 1.2 times"),
    ]
    return Row(
        "A guide: 4 keywords in up to 60 tokens, a dense random model, one thread",
        "20 ms a guided token after 5 s; a checkpoint read in 5 s and 1.2 times its size",
        f"{rows[0][1]} after {rows[4][1]}, {rows[3][1]} for all weights; {rows[5][1]}",
        1e3 * guided.seconds <= 20 and before <= 5 and seconds <= 5 and size <= 1.2,
        table(HEAD, rows),
    )


def large(quick: bool) -> Row:
    """16,384 states that emit every token."""
    z, v = (128, 5000) if quick else (16_384, 50_257)
    rng = np.random.default_rng(1)
    emission = rng.random((v, z), dtype=np.float32)
    emission /= emission.sum(0)
    transition = rng.random((z, z), dtype=np.float32)
    transition /= transition.sum(1, keepdims=True)
    chain = DenseHmm(np.full(z, 1 / z), transition.reshape(-1), emission.reshape(-1), v, v - 1)
    model = GuideModel.dense(chain, [f" w{i}".encode() for i in range(v - 1)], end=v - 1)
    made, before = make_guide(model)
    guided = guided_tokens(made, random_scores(v), 10 if quick else 20)
    rows = [
        *guided.rows(f"{z:,} states × {v:,} tokens", "100 ms"),
        (
            "a token, the weights of all tokens exactly, without scores",
            f"{1e3 * all_weights(made, 4):.1f} ms",
            "100 ms",
        ),
        ("precomputation for it", f"{before:.1f} s", "–"),
    ]
    return Row(
        f"A guide: 4 keywords in up to 60 tokens, a dense random model of {z:,} states, one thread",
        "100 ms a guided token",
        f"{rows[0][1]}, {rows[2][1]} for all weights",
        1e3 * guided.seconds <= 100,
        table(HEAD, rows),
    )


def trained(quick: bool) -> Row:
    """States of a trained model differ in what they emit and expect; a real model has real scores."""
    text = (DATA / "lm" / "wikitext-2" / "train.txt").read_bytes()
    text = b"".join(text.splitlines(keepends=True)[: 2000 if quick else None])
    states = 256 if quick else 4096
    words_model = HMMLanguageModel.train(text, states=states, epochs=2 if quick else 6, seed=1, threads=1)
    chain, words = words_model.chains[0], words_model.words
    emission = dense_emission(chain).T.astype(np.float32)
    emission = (1 - BACKGROUND) * emission + BACKGROUND * emission.mean(1, keepdims=True)
    dense_chain = DenseHmm(
        chain.initial,
        np.ascontiguousarray(dense_transition(chain)).reshape(-1),
        np.ascontiguousarray(emission, dtype=np.float32).reshape(-1),
        len(words),
        2,
    )
    model = GuideModel(
        (dense_chain,),
        (1.0,),
        TokenVocabulary.of_words({w: i for i, w in enumerate(words)}),
        np.arange(len(words)),
        2,
    )
    ngrams = NgramModel.train(text.decode().replace("<unk>", "unk").split("\n"), order=5)

    def scores(before: Sequence[int]) -> NDArray[np.float64]:
        context = ["<s>", *(words[t] for t in before)][-4:]
        return np.array([-np.inf if w == "<s>" else ngrams.log_prob(w, context) for w in words])

    def best_scores(before: Sequence[int]) -> NDArray[np.float64]:
        given = scores(before)
        given[given < np.partition(given, -TOP)[-TOP]] = -np.inf
        return given

    made, before = make_guide(model, TRAINED_KEYWORDS)
    best, every = (guided_tokens(made, s, 5 if quick else 30) for s in (best_scores, scores))
    token = all_weights(made, 4)
    size = f"{dense_chain.num_states:,} states × {len(words):,} words"
    rows = [
        (
            f"a guided token, {size}, the {TOP:,} best words: {best.cells()}",
            f"{1e3 * best.seconds:.1f} ms",
            "20 ms",
        ),
        (f"a guided token, all words: {every.cells()}", f"{1e3 * every.seconds:.1f} ms", "20 ms"),
        ("a token, the weights of all words exactly, without scores", f"{1e3 * token:.1f} ms", "20 ms"),
        ("precomputation for it", f"{before:.2f} s", "5 s"),
    ]
    return Row(
        "A guide: 4 keywords in up to 60 tokens, a trained model made dense, one thread",
        "20 ms a guided token after 5 s",
        f"{rows[0][1]} for the {TOP:,} best words, {rows[1][1]} for all, after {rows[3][1]}; "
        f"the 5-gram model that is guided has a perplexity of {every.perplexity:.0f}",
        1e3 * max(best.seconds, every.seconds) <= 20 and before <= 5,
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


ROWS: dict[str, Callable[[bool], Row]] = {
    "guide": guide,
    "dense": dense,
    "large": large,
    "trained": trained,
    "constrained": constrained,
}


def main() -> None:
    """Run the rows asked for."""
    run_rows("Hidden Markov language models", __doc__, ROWS, lambda _, quick: quick)


if __name__ == "__main__":
    main()
