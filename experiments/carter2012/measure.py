"""Noisy key presses and tags, decoded and sampled exactly: what the figures of Carter et al. (2012) count.

``refine`` is this project's form of the algorithm, ``paper`` the published one (Algorithms 1 and 2 to the
letter). An iteration is a path of the bound that was looked at: the refinements and the path that was proved.
"""

from __future__ import annotations

import functools
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from report import mean
from sms import CORPORA, DATA, Corpus, messages, model_file, num_ngrams, type_keys
from tagger import Sizes as TagSizes
from tagger import Tagged, ask, dense_model, order_figures, sentences

from hiddenite._core import Sampler, TaskKind
from hiddenite.candidates import Candidates
from hiddenite.channel import Keypad
from hiddenite.inference import marginals, sample, search
from hiddenite.ngram import NgramModel
from hiddenite.query import STRATEGIES, Budget, Query, Rejection
from hiddenite.tag import Tagger, TaggerOptions, score
from hiddenite.tag.annotation import TrainingText
from hiddenite.tag.training import train_model, with_order

ORDERS = (3, 4, 5)
EXAMPLE = "does the money exist ?"  # tables 2 and 4
KEPT = 100  # candidates a position when sampling, as in the paper
SEED = 1
WSJ, BROWN, EWT = "wsj-sample.tsv", "brown.tsv", "en_ewt-ud-train.conllu"


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    lengths: tuple[int, ...]  # words of a message
    messages: int  # of each length
    paper_lengths: tuple[int, ...]  # for the published algorithm, which takes long
    paper_messages: int
    cap: float  # seconds a message
    sampled: int  # messages of each length
    sampled_lengths: tuple[int, ...]
    batches: tuple[int, ...]
    batch_messages: int
    draws: int
    tag_orders: tuple[int, ...]
    tag_sentences: int
    max_trials: int
    corpus: str = "hansard"
    tagged: tuple[str, ...] = (WSJ,)  # texts, those that are there; the claims are about the first

    def language(self) -> Corpus:
        """Return the texts of the language model; the Hansard alone where some are missing."""
        chosen = CORPORA[self.corpus]
        return chosen if all((DATA / file).exists() for file in chosen.train) else CORPORA["hansard"]


BATCHES = (1, 10, 20, 30, 40, 50, 100)
SIZES = {
    "tiny": Size((1, 3), 2, (2,), 1, 0.5, 2, (3,), (1, 10), 1, 50, (3, 4, 5), 2, 200),
    "small": Size((1, 3, 5, 10), 10, (1, 3), 5, 5.0, 5, (3, 5, 10), BATCHES, 5, 1000, (3, 4, 5, 6), 5, 2000),
    "reduced": Size(
        tuple(range(1, 11)), 100, (1, 2, 3, 4, 5, 6), 10, 5.0, 50, tuple(range(1, 11)), BATCHES, 50, 1000,
        tuple(range(3, 10)), 24, 4000,
    ),
    "full": Size(
        tuple(range(1, 11)), 100, tuple(range(1, 11)), 10, 5.0, 100, tuple(range(1, 11)), BATCHES, 50, 1000,
        tuple(range(3, 10)), 24, 10_000, "everything", (BROWN, EWT, WSJ),
    ),
}  # fmt: skip


@functools.cache
def model(corpus: Corpus, order: int) -> NgramModel:
    """Return the language model of an order."""
    return NgramModel.load(model_file(corpus, order))


def read(lm: NgramModel, texts: Iterable[str], keep: int | None = None) -> list[Candidates]:
    """Type messages with slips and return what may have been meant."""
    channel = Keypad(lm.vocabulary, keep=keep)
    return [channel(keys) for keys in type_keys(list(texts))]


def _decoded(corpus: Corpus, order: int, length: int, count: int, query: Query) -> dict[str, float]:
    """Decode messages of a length; what it took on average."""
    lm = model(corpus, order)
    typed = read(lm, messages(corpus, length, count))
    timed = [ask(lm, candidates, query, 1) for candidates in typed]
    answers = [answer for _, answer in timed]
    return {
        "iterations": mean(a.refinements + 1 for a in answers),
        "states": mean(a.states for a in answers),
        "seconds": mean(seconds for seconds, _ in timed),
        "slowest": max(seconds for seconds, _ in timed),
        "certified": mean(a.certificate is not None and a.certificate.exact for a in answers),
        "candidates": mean(len(c.word_ids) / len(c) for c in typed),
    }


def decoding(size: Size) -> dict[str, Any]:
    """Figure 2: iterations and states by length and order; and the full model's dynamic program."""
    refine, full = (Query(TaskKind.DECODE, method) for method in ("refine", "full"))
    published = Query(TaskKind.DECODE, "paper", budget=Budget(seconds=size.cap))
    decoded = functools.partial(_decoded, size.language())
    longest = max(size.lengths)
    return {
        "messages": size.messages,
        "refine": {n: {k: decoded(n, k, size.messages, refine) for k in size.lengths} for n in ORDERS},
        "paper": {
            n: {k: decoded(n, k, size.paper_messages, published) for k in size.paper_lengths} for n in ORDERS
        },
        "full": {n: decoded(n, longest, size.messages, full) for n in ORDERS},
        "longest": longest,
        "ngrams": num_ngrams(model_file(size.language(), max(ORDERS))),
    }


def len_of_models(size: Size) -> int:
    """Return the n-grams of the longest model."""
    return num_ngrams(model_file(size.language(), max(ORDERS)))


def strategies(size: Size) -> dict[str, Any]:
    """Section 2.2: all positions one order longer, all to their full context, or a single culprit."""
    length, order = max(size.lengths), max(ORDERS)
    queries = {name: Query(TaskKind.DECODE, "refine", strategy=name) for name in STRATEGIES}
    return {
        name: _decoded(size.language(), order, length, size.messages, query)
        for name, query in queries.items()
    }


def search_size(size: Size) -> dict[str, Any]:
    """Table 1: the n-grams that the bound of one long message tells apart, and those of the full model.

    A rejected path makes the n-gram at each of its positions one longer: this counts them as the paper does.
    """
    length, order = max(size.lengths), max(ORDERS)
    corpus = size.language()
    lm = model(corpus, order)
    candidates = read(lm, messages(corpus, length, 1))[0]
    widths = [int(b - a) for a, b in zip(candidates.begin, candidates.begin[1:], strict=False)]
    known: set[tuple[int, tuple[str, ...]]] = set()
    run = search(lm, candidates)
    for step in run:
        for i in range(1, 0 if run.done else length):
            longer = 2
            while longer < order and (i, step.words[max(0, i + 1 - longer) : i + 1]) in known:
                longer += 1
            if longer <= i + 1:
                known.add((i, step.words[i + 1 - longer : i + 1]))
    counts = Counter(len(words) for _, words in known)
    full = 0.0
    for i in range(length):
        product = 1.0
        for width in widths[max(0, i + 1 - order) : i + 1]:
            product *= width
        full += product
    return {"ngrams": {1: sum(widths), **{n: counts[n] for n in range(2, order + 1)}}, "full": full}


def path(size: Size) -> dict[str, Any]:
    """Table 2: the bound's best paths on the way to the best reading of one message."""
    lm = model(size.language(), max(ORDERS))
    channel = Keypad(lm.vocabulary)
    keys = channel.encode(EXAMPLE)
    steps = [(" ".join(s.words), s.log_q, s.log_p) for s in search(lm, channel(keys))]
    every = max(1, len(steps) // 4)
    shown = sorted({*range(0, len(steps) - 1, every), len(steps) - 1})
    return {"input": keys, "meant": EXAMPLE, "steps": {i + 1: steps[i] for i in shown}, "total": len(steps)}


# -------------------------------------------------------------------- sampling


def _sampler(lm: NgramModel, candidates: Candidates, batch: int, rate: float, paper: bool = False) -> Sampler:
    return Sampler(
        lm.engine.table,
        candidates.begin,
        candidates.word_ids,
        candidates.log_weights,
        seed=SEED,
        batch=batch,
        target_rate=rate,
        paper=paper,
    )


def _until_fixed(sampler: Sampler, max_trials: int) -> tuple[int, int]:
    """Draw until the bound is good enough; return trials and states."""
    trials = 0
    while True:
        step = sampler.step()
        if step.is_fixed or trials >= max_trials:
            return trials, step.states
        trials += len(step.trials)


def sampling(size: Size) -> dict[str, Any]:
    """Figures 3c and 3d: trials and states until AR-100 = 20 %, batches of 100."""
    found: dict[int, dict[int, dict[str, float]]] = {}
    for order in ORDERS:
        found[order] = {}
        lm = model(size.language(), order)
        for length in size.sampled_lengths:
            typed = read(lm, messages(size.language(), length, size.sampled), KEPT)
            pairs = [_until_fixed(_sampler(lm, c, 100, 0.2), 100 * size.max_trials) for c in typed]
            found[order][length] = {"trials": mean(t for t, _ in pairs), "states": mean(s for _, s in pairs)}
    return {"refine": found, "longest": max(size.sampled_lengths), "messages": size.sampled}


def trace(size: Size) -> dict[str, Any]:
    """Figures 3a and 3b: one run, trial by trial, refined after each rejection."""
    lm = model(size.language(), max(ORDERS))
    candidates = read(lm, messages(size.language(), max(size.lengths), 1), KEPT)[0]
    sampler = _sampler(lm, candidates, 1, 1.0)
    ratios: list[float] = []
    accepted: list[bool] = []
    while len(ratios) < size.max_trials and sum(accepted[-100:]) < 60:
        step = sampler.step()
        ratios += [trial.log_ratio for trial in step.trials]
        accepted += step.accepted
    points = range(9, len(ratios), max(1, len(ratios) // 200))
    return {
        "trials": [i + 1 for i in points],
        "log_ratio": [mean(ratios[i - 9 : i + 1]) for i in points],  # of the last ten trials
        "accepts": [sum(accepted[: i + 1]) for i in points],
        "rate": [100 * mean(accepted[: i + 1]) for i in points],
        "rate_100": [100 * mean(accepted[max(0, i - 99) : i + 1]) for i in points],
        "first_accept": accepted.index(True) + 1 if any(accepted) else None,
    }


def batches(size: Size) -> dict[str, Any]:
    """Table 3: time and trials until AR-100 = 20 % by the number of trials between refinements."""
    lm, length = model(size.language(), max(ORDERS)), max(size.lengths)
    typed = read(lm, messages(size.language(), length, size.batch_messages), KEPT)
    found = {}
    for batch in size.batches:
        runs = [_timed_until_fixed(_sampler(lm, c, batch, 0.2), 100 * size.max_trials) for c in typed]
        found[batch] = {"seconds": mean(s for s, _ in runs), "trials": mean(t for _, t in runs)}
    return {"refine": found, "messages": size.batch_messages}


def _timed_until_fixed(sampler: Sampler, max_trials: int) -> tuple[float, int]:
    begun = time.thread_time()
    trials, _ = _until_fixed(sampler, max_trials)
    return time.thread_time() - begun, trials


def samples(size: Size) -> dict[str, Any]:
    """Table 4: the most frequent of 1000 exact draws, beside their exact probabilities."""
    lm = model(size.language(), max(ORDERS))
    channel = Keypad(lm.vocabulary, keep=KEPT)
    candidates = channel(channel.encode(EXAMPLE))
    rejection = Rejection(batch=100, target_rate=0.2, rate_window=100)
    drawn = sample(lm, candidates, size.draws, seed=SEED, method="refine", rejection=rejection)
    total = marginals(lm, candidates).log_partition
    top = [(" ".join(s.words), s.count, s.log_weight, s.log_weight - total) for s in drawn.samples[:5]]
    counts = [s.count for s in drawn.samples]
    return {
        "draws": size.draws,
        "trials": drawn.trials,
        "distinct": len(counts),
        "once": counts.count(1),
        "top": top,
    }


# --------------------------------------------------------------------- tagging


def tagged(file: str) -> tuple[list[Tagged], list[Tagged]]:
    """Return nine tenths to train on and the rest; of a treebank, its own parts."""
    all_sentences = sentences(file)
    if file == EWT:
        return all_sentences, sentences(EWT.replace("train", "test"))
    cut = len(all_sentences) * 9 // 10
    return all_sentences[:cut], all_sentences[cut:]


def _accuracy(file: str, orders: Iterable[int]) -> dict[str, Any]:
    """Return how many tags are right by order."""
    train, test = tagged(file)
    words = train_model(TrainingText(train), TaggerOptions.tnt(order=1, transitions="kneser-ney"))
    accuracy = {}
    for order in orders:
        found = score(Tagger(with_order(words, TrainingText(train), order)), test, calibration=False)
        accuracy[order] = 100 * (found.accuracy or 0.0)
    tags = len({t for s in train for _, t in s})
    return {"accuracy": accuracy, "tokens": sum(map(len, test)), "tags": tags}


def tagging(size: Size) -> dict[str, Any]:
    """Figure 4: accuracy, time, iterations and states by order; times are of the Penn Treebank sample."""
    files = [file for file in size.tagged if (DATA / "tagged" / file).exists()]
    found = {file: _accuracy(file, size.tag_orders) for file in files}
    train, test = tagged(WSJ)
    texts = [" ".join(w for w, _ in s) for s in test if len(s) >= 20][: size.tag_sentences]
    sizes = TagSizes(size.tag_orders, size.tag_sentences, 3, size.cap)
    dense = dense_model(train)
    costs = {n: vars(order_figures(dense, train, texts, n, sizes)) for n in size.tag_orders}
    others = {file: found[file] for file in files[1:]}
    return {**found[files[0]], "file": files[0], "costs": costs, "others": others}


PIECES: dict[str, Callable[[Size], dict[str, Any]]] = {
    "decoding": decoding,
    "strategies": strategies,
    "search": search_size,
    "path": path,
    "sampling": sampling,
    "trace": trace,
    "batches": batches,
    "samples": samples,
    "tagging": tagging,
}
