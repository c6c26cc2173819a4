"""The sampler of `full` draws from the posterior, independently; its sabotaged twins are found out."""

import itertools
import math
import random

import numpy as np
import pytest

from hiddenite import Candidates, NgramModel, sample
from tests.models import train
from tests.statistics import FALSE_ALARM, chi_square_p_value
from tests.strategies import zipfian_corpus

NUM_DRAWS = 40_000
WORDS = 6


def make_target(
    rng: np.random.Generator, scale: float
) -> tuple[NgramModel, Candidates, dict[tuple[str, ...], float]]:
    """A model of order 4, four slots, and the posterior of every path by enumeration."""
    corpus = zipfian_corpus(random.Random(int(rng.integers(2**32))), 150, WORDS)
    model = train(corpus, 4)
    words = [f"w{i}" for i in range(WORDS)] + ["outside1", "outside2"]
    slots = [[(w, float(-scale * rng.random())) for w in words] for _ in range(4)]
    log_weights: dict[tuple[str, ...], float] = {}
    for path in itertools.product(words, repeat=4):
        history = ["<s>"]
        total = 0.0
        for word, slot in zip(path, slots, strict=True):
            total += model.log_prob(word, history) + dict(slot)[word]
            history.append(word)
        log_weights[path] = total + model.log_prob("</s>", history)
    most = max(log_weights.values())
    norm = sum(math.exp(v - most) for v in log_weights.values())
    posterior = {path: math.exp(v - most) / norm for path, v in log_weights.items()}
    return model, Candidates.from_slots(model.vocabulary, slots), posterior


@pytest.mark.parametrize("scale", [0.0, 3.0])
def test_draws_follow_the_posterior(rng: np.random.Generator, scale: float) -> None:
    model, candidates, posterior = make_target(rng, scale)
    draws = list(sample(model, candidates, NUM_DRAWS, seed=int(rng.integers(2**32)), method="full"))
    assert chi_square_p_value(draws, posterior) > FALSE_ALARM


def test_a_wrong_posterior_is_found_out(rng: np.random.Generator) -> None:
    """The sabotaged twin: the same draws against a channel weight that is off by a third."""
    model, candidates, posterior = make_target(rng, 3.0)
    draws = list(sample(model, candidates, NUM_DRAWS, seed=int(rng.integers(2**32)), method="full"))
    wrong = {path: prob * (1.33 if path[0] == "w0" else 1.0) for path, prob in posterior.items()}
    total = sum(wrong.values())
    p_value = chi_square_p_value(
        [d[0] == "w0" for d in draws],
        {
            True: sum(p for path, p in wrong.items() if path[0] == "w0") / total,
            False: sum(p for path, p in wrong.items() if path[0] != "w0") / total,
        },
    )
    assert p_value < FALSE_ALARM


def test_draws_are_independent(rng: np.random.Generator) -> None:
    """Pairs of consecutive draws follow the product; the twin with every draw repeated does not."""
    model, candidates, posterior = make_target(rng, 3.0)
    first: dict[str, float] = {}
    for path, prob in posterior.items():
        first[path[0]] = first.get(path[0], 0.0) + prob
    pairs = {(a, b): pa * pb for a, pa in first.items() for b, pb in first.items()}
    words = [d[0] for d in sample(model, candidates, NUM_DRAWS, seed=int(rng.integers(2**32)), method="full")]
    assert chi_square_p_value(list(zip(words[::2], words[1::2], strict=True)), pairs) > FALSE_ALARM
    assert chi_square_p_value([(w, w) for w in words[::2]], pairs) < FALSE_ALARM


def test_draws_of_one_call_are_exchangeable(rng: np.random.Generator) -> None:
    """Drawn as a multiset, returned in random order: the first two of four draws follow the product law.

    The twin that returns equal draws side by side, as they are made, does not.
    """
    model, candidates, posterior = make_target(rng, 3.0)
    last: dict[str, float] = {}
    for path, prob in posterior.items():
        last[path[-1]] = last.get(path[-1], 0.0) + prob
    pairs = {(a, b): pa * pb for a, pa in last.items() for b, pb in last.items()}
    runs = [
        [draw[-1] for draw in sample(model, candidates, 4, seed=int(seed), method="full")]
        for seed in rng.integers(2**32, size=NUM_DRAWS // 4)
    ]
    assert chi_square_p_value([(run[0], run[1]) for run in runs], pairs) > FALSE_ALARM
    side_by_side = [sorted(run) for run in runs]
    assert chi_square_p_value([(run[0], run[1]) for run in side_by_side], pairs) < FALSE_ALARM


def make_lattice(
    rng: np.random.Generator,
) -> tuple[NgramModel, Candidates, dict[tuple[str, ...], float]]:
    """Two to four words, by way of other nodes, and what every sequence weighs by enumeration."""
    model, _, _ = make_target(rng, 1.0)
    spans = [(0, 1), (0, 2), (1, 2), (1, 4), (2, 3), (2, 4), (3, 4)]
    words = [*(f"w{i}" for i in range(WORDS)), "outside1"]
    edges = [(a, b, w, float(-3.0 * rng.random())) for a, b in spans for w in words]
    log_weights: dict[tuple[str, ...], float] = {}

    def walk(node: int, path: tuple[str, ...], total: float) -> None:
        if node == 4:
            log_weight = total + model.log_prob("</s>", ["<s>", *path])
            log_weights[path] = np.logaddexp(log_weights.get(path, -math.inf), log_weight)
        for a, b, word, weight in edges:
            if a == node:
                walk(b, (*path, word), total + weight + model.log_prob(word, ["<s>", *path]))

    walk(0, (), 0.0)
    norm = np.logaddexp.reduce(list(log_weights.values()))
    posterior = {path: math.exp(v - norm) for path, v in log_weights.items()}
    return model, Candidates.from_lattice(model.vocabulary, edges), posterior


def test_draws_from_a_lattice_follow_the_posterior(rng: np.random.Generator) -> None:
    """The twin whose routes are as likely as each other, whatever their number of words, is found out."""
    model, candidates, posterior = make_lattice(rng)
    draws = list(sample(model, candidates, NUM_DRAWS, seed=int(rng.integers(2**32))))
    assert chi_square_p_value(draws, posterior) > FALSE_ALARM
    lengths = {n: sum(p for path, p in posterior.items() if len(path) == n) for n in (2, 3, 4)}
    assert chi_square_p_value([len(d) for d in draws], lengths) > FALSE_ALARM
    even = dict.fromkeys(lengths, 1 / 3)
    assert chi_square_p_value([len(d) for d in draws], even) < FALSE_ALARM
