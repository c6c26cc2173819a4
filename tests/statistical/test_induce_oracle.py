"""The two halves of the oracle, enumeration and simulation, agree; and seatings are counted right."""

import itertools
import math
from collections import Counter
from random import Random

import numpy as np
import pytest

from tests.induce_oracle import Exact, Model, given, prior_nodes, restaurant, seatings
from tests.induce_simulation import simulate
from tests.statistics import FALSE_ALARM, chi_square_p_value

NUM_TEXTS = 400
NUM_TEXTS_LONG = 10_000
MODELS = {
    "uniform": Model(order=3),
    "hierarchical": Model(order=2, spelling="hierarchical"),
    "dirichlet": Model(order=2, spelling="dirichlet"),
    "one-tag": Model(order=3, one_tag=True),
    "published": Model(order=2, lexicon="published"),
    "singletons": Model(order=2, lexicon="singletons"),
    "heads": Model(order=2, lexicon="heads", spelling="hierarchical"),
}
A_AND_B = {"emission": (0.6, 0.8), "spelling0": (0.4, 1.1), "spelling1": (0.2, 0.7), "class": (0.5, 1.2)}


def parameters(model: Model) -> dict[str, tuple[float, float]]:
    result = {f"transition{n}": (0.3 + 0.2 * n, 0.5 + n) for n in range(model.order)}
    result |= {name: A_AND_B[name] for name in model.level_names if name in A_AND_B}
    if model.spelling == "dirichlet":
        result["spelling1"] = (0.0, 0.7)
    return result


def partitions(items: list[int]) -> list[list[list[int]]]:
    if not items:
        return [[]]
    result = []
    for rest in partitions(items[1:]):
        result.append([[items[0]], *rest])
        for i in range(len(rest)):
            result.append([*rest[:i], [items[0], *rest[i]], *rest[i + 1 :]])
    return result


@pytest.mark.parametrize("a", [0.0, 0.3, 0.9])
def test_seatings_are_sums_over_partitions(a: float) -> None:
    """A table of n customers weighs (1 - a) (2 - a) .. (n - 1 - a)."""
    for customers in range(1, 7):
        weights: Counter[int] = Counter()
        for tables in partitions(list(range(customers))):
            weight = math.prod(i - a for table in tables for i in range(1, len(table)))
            weights[len(tables)] += weight  # type: ignore[assignment]
        for t, weight in weights.items():
            assert seatings(customers, t, a) == pytest.approx(weight, rel=1e-12)


def test_a_restaurant_sums_to_one() -> None:
    """Over all dishes of all customers, with a uniform base of three dishes."""
    total = 0.0
    for dishes in itertools.product(range(3), repeat=4):
        counts = list(Counter(dishes).values())
        for tables in itertools.product(*(range(1, c + 1) for c in counts)):
            weight = restaurant(list(zip(counts, tables, strict=True)), 0.4, 1.3)
            total += weight * 3.0 ** -sum(tables)
    assert total == pytest.approx(1.0, rel=1e-12)


def test_the_quadrature_has_converged() -> None:
    rows = [[(4, 2), (1, 1)], [(2, 1)], [(3, 3), (2, 2), (1, 1)]]

    def integral(num_a: int, num_b: int) -> float:
        nodes = prior_nodes(num_a, num_b)
        return sum(w * math.prod(restaurant(r, a, b) for r in rows) for w, a, b in nodes)

    assert integral(20, 48) == pytest.approx(integral(40, 160), rel=1e-6)


def smallest_p_value(name: str, rng: np.random.Generator, num_texts: int) -> float:
    """The smallest p value of the tags over the most frequent texts, times their number."""
    model, chosen = MODELS[name], parameters(MODELS[name])
    texts: dict[tuple[tuple[tuple[int, ...], ...], tuple[str, ...]], list[tuple[int, ...]]] = {}
    random = Random(int(rng.integers(2**32)))
    for _ in range(num_texts):
        drawn = simulate(model, random, chosen)
        key = (tuple(map(tuple, drawn.sentences)), tuple(drawn.spellings))
        texts.setdefault(key, []).append(tuple(drawn.tags))
    frequent = sorted(texts, key=lambda k: -len(texts[k]) * len(k[0][0] + k[0][1]))[:3]
    p_values = []
    for key in frequent:
        nodes = {level: given(*ab) for level, ab in chosen.items()}
        exact = Exact(model, key[0], key[1], nodes, num_characters=2)
        p_values.append(chi_square_p_value(texts[key], exact.tag_posterior()))
    return min(p_values) * len(p_values)


@pytest.mark.parametrize("name", MODELS)
def test_simulated_tags_follow_the_enumerated_posterior(name: str, rng: np.random.Generator) -> None:
    assert smallest_p_value(name, rng, NUM_TEXTS) > FALSE_ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("name", MODELS)
def test_many_simulated_tags_follow_the_enumerated_posterior(name: str, rng: np.random.Generator) -> None:
    assert smallest_p_value(name, rng, NUM_TEXTS_LONG) > FALSE_ALARM
