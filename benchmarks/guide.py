"""A small transformer, trained from scratch on the demo's text, distilled and guided.

    python benchmarks/guide.py [--quick] [--write]

It trains the transformer, samples sentences, distils them into hidden Markov models as ``hmmlm distill
--lexical fast`` and ``hmmlm distill`` do, and compares ways to sentences with two given words: rejection
(draw until they occur), sampling and beam search with the words' scores raised until they have come, guides.
Needs jax and optax, and the extra ``demo``.

The pairs are chosen by how often they occur in the samples that were distilled; rejection draws from samples
of its own. Perplexities are those of the transformer, per word, the end included.
"""

from __future__ import annotations

import collections
import functools
import itertools
import re
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from report import Row, run_rows, table

from hiddenite import HMMLanguageModel
from hiddenite.cli.demo import built_in_text
from hiddenite.hmmlm import constraints as c
from hiddenite.hmmlm.distillation import read_samples
from hiddenite.hmmlm.guide import Guide, GuideLogitsProcessor, GuideModel

LONGEST, WIDTH, HEADS, LAYERS, BATCH = 16, 96, 4, 2, 96
BEGIN, END, NUM_WORDS, COMMON = 0, 1, 1000, 40  # the commonest words are no keywords
SEED = 1
GUIDE = "guide, lexicalised"
MANY = 8
Params = dict[str, Any]
Table = np.ndarray[Any, np.dtype[np.int32]]
Adjust = Callable[[Table, Any], Any]


@dataclass(frozen=True)
class Size:
    """How much of everything."""

    steps: int = 700
    samples: int = 60_000
    states: int = 1024
    clusters: int = 64
    epochs: int = 12
    pairs: int = 20
    draws: int = 50


QUICK = Size(steps=20, samples=2000, states=64, clusters=16, epochs=2, pairs=2, draws=5)


def text() -> tuple[list[str], Table]:
    """Short clauses of frequent words, each called a sentence here, as ids: 0 begins and pads, 1 ends."""
    sentences = [clause.split() for s in built_in_text()[1] for clause in re.split(r"(?<=[;:]) ", s)]
    counts = collections.Counter(w for s in sentences for w in s)
    words = ["<s>", "</s>", *(w for w, _ in counts.most_common(NUM_WORDS))]
    ids = {w: i for i, w in enumerate(words)}
    kept = [s for s in sentences if len(s) <= LONGEST and all(w in ids for w in s)]
    rows = np.zeros((len(kept), LONGEST + 2), np.int32)
    for row, s in zip(rows, kept, strict=True):
        row[1 : len(s) + 2] = [*(ids[w] for w in s), END]
    return words, rows


def parameters(key: Any, num_words: int) -> Params:
    """Random weights."""
    keys = iter(jax.random.split(key, 99))

    def matrix(a: int, b: int) -> Any:
        return jax.random.normal(next(keys), (a, b)) * a**-0.5

    layers = [
        {
            "qkv": matrix(WIDTH, 3 * WIDTH),
            "out": matrix(WIDTH, WIDTH),
            "up": matrix(WIDTH, 4 * WIDTH),
            "down": matrix(4 * WIDTH, WIDTH),
        }
        for _ in range(LAYERS)
    ]
    return {"word": matrix(num_words, WIDTH), "place": matrix(LONGEST + 2, WIDTH), "layers": layers}


def norm(x: Any) -> Any:
    """Return vectors with mean 0 and variance 1."""
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def split_heads(layer: Params, x: Any) -> list[Any]:
    """Queries, keys and values, by head."""
    return [part.reshape(*part.shape[:2], HEADS, -1) for part in jnp.split(norm(x) @ layer["qkv"], 3, -1)]


def attend(layer: Params, x: Any, heads: Any, mask: Any) -> Any:
    """One layer; heads are queries, keys and values."""
    q, k, v = heads
    scores = jnp.einsum("bihd,bjhd->bhij", q, k) / (WIDTH / HEADS) ** 0.5
    mixed = jnp.einsum("bhij,bjhd->bihd", jax.nn.softmax(jnp.where(mask, scores, -1e9)), v)
    x = x + mixed.reshape(x.shape) @ layer["out"]
    return x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]


def scores_of(p: Params, x: Any) -> Any:
    """ln-scale scores of the next word; nothing begins again."""
    return (norm(x) @ p["word"].T).at[..., BEGIN].set(-1e9)


def logits(p: Params, ids: Any) -> Any:
    """Scores at each place."""
    n = ids.shape[1]
    x = p["word"][ids] * 3 + p["place"][:n]
    mask = jnp.tril(jnp.ones((n, n), bool))
    for layer in p["layers"]:
        x = attend(layer, x, split_heads(layer, x), mask)
    return scores_of(p, x)


def advance(p: Params, memory: Any, ids: Any, t: Any) -> tuple[Any, Any]:
    """Keys and values up to place t, and the scores after the words there."""
    x = p["word"][ids][:, None] * 3 + p["place"][t]
    mask = jnp.arange(LONGEST + 2) <= t
    kept = []
    for layer, (keys, values) in zip(p["layers"], memory, strict=True):
        q, k, v = split_heads(layer, x)
        kept.append(
            (
                jax.lax.dynamic_update_slice_in_dim(keys, k, t, 1),
                jax.lax.dynamic_update_slice_in_dim(values, v, t, 1),
            )
        )
        x = attend(layer, x, (q, *kept[-1]), mask)
    return kept, scores_of(p, x)[:, 0]


def token_losses(p: Params, ids: Any) -> tuple[Any, Any]:
    """Minus ln p of each word and end, and which of them count."""
    log_probs = jax.nn.log_softmax(logits(p, ids[:, :-1]))
    loss = -jnp.take_along_axis(log_probs, ids[:, 1:, None], -1)[..., 0]
    return loss, ids[:, 1:] != BEGIN


def train(rows: Table, num_words: int, steps: int, rng: np.random.Generator) -> Params:
    """Train by Adam."""
    p = parameters(jax.random.PRNGKey(SEED), num_words)
    optimiser = optax.adam(optax.cosine_decay_schedule(3e-3, steps))
    state = optimiser.init(p)

    def mean(p: Params, ids: Any) -> Any:
        loss, counted = token_losses(p, ids)
        return (loss * counted).sum() / counted.sum()

    @jax.jit
    def step(p: Params, state: Any, ids: Any) -> tuple[Params, Any, Any]:
        value, gradient = jax.value_and_grad(mean)(p, ids)
        updates, state = optimiser.update(gradient, state)
        return optax.apply_updates(p, updates), state, value

    for i in range(steps):
        p, state, value = step(p, state, rows[rng.integers(len(rows), size=BATCH)])
        if i % 100 == 99:
            print(f"step {i + 1}: {float(value):.3f} nats", file=sys.stderr, flush=True)
    return p


class Transformer:
    """A trained transformer: all places at once, or one after the other."""

    def __init__(self, p: Params) -> None:
        self.logits = jax.jit(lambda ids: logits(p, ids))
        self._losses = jax.jit(lambda ids: token_losses(p, ids))
        self._advance = jax.jit(lambda memory, ids, t: advance(p, memory, ids, t))

    def perplexity(self, parts: list[Table]) -> float:
        """Per word, the ends included."""
        loss, counted = self._losses(np.concatenate(parts))
        return float(jnp.exp((loss * counted).sum() / counted.sum()))

    def sample(
        self, n: int, rng: np.random.Generator, adjust: Adjust | None = None, choose_from: int = 1
    ) -> Table:
        """Draw sentences; ``adjust`` changes the scores of the next word, given the words before it.

        With ``choose_from`` so many are drawn for each, and one is kept by its importance: p of the
        transformer over that with which it was drawn.
        """
        n *= choose_from
        log_weights = np.zeros(n)
        ids = np.zeros((n, LONGEST + 2), np.int32)
        ended = np.zeros(n, bool)
        empty = np.zeros((n, LONGEST + 2, HEADS, WIDTH // HEADS), np.float32)
        memory: Any = [(empty, empty)] * LAYERS
        for t in range(LONGEST + 1):
            memory, raw = self._advance(memory, ids[:, t], t)
            scores = np.array(raw, np.float64)
            if t == LONGEST:
                scores[:, END + 1 :] = -np.inf
            scores -= np.logaddexp.reduce(scores, axis=1, keepdims=True)
            if adjust is not None:
                scores = adjust(ids[:, 1 : t + 1], scores)
                log_weights += np.where(ended, 0.0, np.logaddexp.reduce(scores, axis=1))
            scores -= scores.max(1, keepdims=True)
            shares = np.exp(scores).cumsum(1)
            drawn = (shares < rng.random((n, 1)) * shares[:, -1:]).sum(1)
            ids[:, t + 1] = np.where(ended, BEGIN, drawn)
            ended |= drawn == END
        if choose_from == 1:
            return ids
        groups = log_weights.reshape(-1, choose_from)
        noise = rng.gumbel(size=groups.shape)
        return ids.reshape(len(groups), choose_from, -1)[np.arange(len(groups)), (groups + noise).argmax(1)]

    def samples(self, n: int, rng: np.random.Generator) -> Table:
        """Draw thousands."""
        return np.concatenate([self.sample(1000, rng) for _ in range(n // 1000)])


def boosted(wanted: tuple[int, ...], bonus: float) -> Adjust:
    """Raise the scores of words that have not come yet."""

    def adjust(before: Table, scores: Any) -> Any:
        for word in wanted:
            scores[~(before == word).any(1), word] += bonus
        return scores

    return adjust


def guided(guide: Guide) -> Adjust:
    """Add the guide's weights, as any sampler would."""
    processor = GuideLogitsProcessor(guide, prompt_length=0)

    def adjust(before: Table, scores: Any) -> Any:
        rows = [[w for w in row if w != BEGIN] for row in before.tolist()]
        return scores + np.stack([processor.log_weights(row, s) for row, s in zip(rows, scores, strict=True)])

    return adjust


def beam(model: Transformer, wanted: tuple[int, ...], bonus: float, size: int = 8) -> Table:
    """The best beam, each wanted word's score raised until it has come."""
    beams = [(0.0, [BEGIN])]
    for _ in range(LONGEST + 1):
        ids = np.zeros((size, LONGEST + 2), np.int32)
        for row, (_, words) in zip(ids, beams, strict=False):
            row[: len(words)] = words
        found = np.asarray(jax.nn.log_softmax(model.logits(ids)), np.float64)
        grown = []
        for row, (score, words) in enumerate(beams):
            if words[-1] == END:
                grown.append((score, words))
                continue
            scores = found[row, len(words) - 1].copy()
            scores[[w for w in wanted if w not in words]] += bonus
            if len(words) == LONGEST + 1:
                scores[END + 1 :] = -np.inf
            grown += [(score + scores[w], [*words, int(w)]) for w in np.argsort(-scores)[:size]]
        beams = sorted(grown, key=lambda pair: -pair[0])[:size]
    ids = np.zeros((1, LONGEST + 2), np.int32)
    ids[0, : len(beams[0][1])] = beams[0][1]
    return ids


def distil(words: list[str], samples: Table, size: Size) -> dict[str, GuideModel]:
    """Train as ``hmmlm distill --samples FILE --end 1 --padding 0``, with contexts and without."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ids.npy"
        np.save(path, samples)
        text = read_samples(path, end=END, padding=BEGIN).text
    lexicalised = HMMLanguageModel.train_lexical(text, "fast", seed=SEED, threads=1)
    plain = HMMLanguageModel.train(text, size.states, size.clusters, epochs=size.epochs, seed=SEED, threads=1)
    print(lexicalised, plain, file=sys.stderr, flush=True)
    texts = [None, None, *(b" " + word.encode() for word in words[2:])]
    found = {GUIDE: lexicalised, "guide, class emissions": plain}
    return {name: GuideModel.of_tokens(hmm, texts, end=END, separators=" ") for name, hmm in found.items()}


def choose_pairs(samples: Table, number: int) -> list[tuple[int, int]]:
    """Pairs of words that about one sentence in 500 has both of."""
    counts = collections.Counter(
        pair
        for row in samples
        for pair in itertools.combinations(sorted({int(w) for w in row if w > END + COMMON}), 2)
    )
    fitting = [
        pair for pair, n in counts.most_common() if 1 / 1000 <= n / len(samples) <= 1 / 250 or number < 3
    ]
    return fitting[:: max(1, len(fitting) // number)][:number]


@dataclass
class Way:
    """Sentences that one way gave, all pairs together."""

    rows: list[Table]
    satisfied: int = 0
    seconds: float = 0.0


def compare(
    model: Transformer, guides: dict[str, GuideModel], words: list[str], samples: Table, size: Size
) -> dict[str, Way]:
    """Draw sentences for each pair in each way."""
    rng = np.random.default_rng(SEED + 1)
    fresh = model.samples(size.samples, rng)
    ways: dict[str, Way] = collections.defaultdict(lambda: Way([]))
    pairs = choose_pairs(samples, size.pairs)
    for pair in pairs:
        wanted_words = c.all_of(*(words[w] for w in pair))

        def keep(name: str, draw: Callable[[], Table], wanted: tuple[int, int] = pair) -> None:
            begun = time.process_time()
            rows = draw()
            ways[name].seconds += time.process_time() - begun
            ways[name].satisfied += int(np.all([(rows == w).any(1) for w in wanted], 0).sum())
            ways[name].rows.append(rows)

        has_both = np.all([(fresh == w).any(1) for w in pair], 0)
        keep("rejection", lambda kept=fresh[has_both]: kept)  # type: ignore[misc]
        for guide_name, guide_model in guides.items():
            guide = Guide(guide_model, wanted_words, max_length=LONGEST, threads=1)
            for many in (1, MANY):
                name = guide_name if many == 1 else f"{guide_name}, one of {many} by importance"
                keep(name, lambda g=guide, k=many: model.sample(size.draws, rng, guided(g), k))  # type: ignore[misc]
        for bonus in (4.0, 6.0, 8.0):
            raise_words = boosted(pair, bonus)
            keep(
                f"sampling, words raised by {bonus:.0f}",
                lambda a=raise_words: model.sample(size.draws, rng, a),  # type: ignore[misc]
            )
        for bonus in (4.0, 8.0):
            keep(f"beam of 8, words raised by {bonus:.0f}", functools.partial(beam, model, pair, bonus))
    ways["rejection"].seconds = float(len(fresh) * len(pairs))  # draws, not seconds
    return ways


def row(size: Size) -> Row:
    """Train, distil, guide."""
    rng = np.random.default_rng(SEED)
    words, rows = text()
    begun = time.process_time()
    held_out = rows[:500]
    model = Transformer(train(rows[500:], len(words), size.steps, rng))
    trained = time.process_time() - begun
    begun = time.process_time()
    samples = model.samples(size.samples, rng)
    guides = distil(words, samples, size)
    distilled = time.process_time() - begun
    print(f"trained {trained:.0f} CPU s, distilled {distilled:.0f} CPU s", file=sys.stderr, flush=True)
    ways = compare(model, guides, words, samples, size)
    base = model.perplexity(ways["rejection"].rows)
    shown, values = [], {}
    for name, way in ways.items():
        number = sum(map(len, way.rows))
        share, values[name] = 100 * way.satisfied / number, model.perplexity(way.rows)
        each = (
            f"{way.seconds / number:.0f} draws"
            if name == "rejection"
            else f"{1e3 * way.seconds / number:.0f} ms"
        )
        shown.append(
            (name, number, f"{share:.2f} %", f"{values[name]:.1f}", f"{values[name] / base:.2f}", each)
        )
    share = min(
        way.satisfied / sum(map(len, way.rows)) for name, way in ways.items() if name.startswith("guide")
    )
    ratio, chosen, *_ = (values[name] / base for name in values if name.startswith("guide"))
    head = (
        "way",
        "sentences",
        "with both words",
        "transformer's perplexity",
        "over rejection's",
        "a sentence",
    )
    note = (
        f"\nThe transformer ({LAYERS} layers, width {WIDTH}, {len(words):,} tokens; perplexity of held-out "
        f"text {model.perplexity([held_out]):.1f}) took {trained:.0f} CPU s; {size.samples:,} samples, a "
        f"lexicalised model (preset fast) and one of {size.states:,} states without contexts took "
        f"{distilled:.0f}. {size.pairs} pairs of words; all perplexities are the transformer's. The time "
        "of a sentence is without making the guide.\n"
    )
    return Row(
        "A small transformer, guided to two words",
        "at least 99.9 % with both words; perplexity at most 1.15 times that of rejection",
        f"{100 * share:.2f} %, {ratio:.2f} times, {chosen:.2f} if one of {MANY} is kept",
        share >= 0.999 and ratio <= 1.15,
        table(head, shown) + note,
    )


def main() -> None:
    """Run it."""
    rows: dict[str, Callable[[Size], Row]] = {"guided": row}
    run_rows("Hidden Markov language models", __doc__, rows, lambda _, quick: QUICK if quick else Size())


if __name__ == "__main__":
    main()
