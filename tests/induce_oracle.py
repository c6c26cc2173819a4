"""The induction models by definition: every tagging, every lexicon, every seating is tried and summed.

Nothing here is fast and nothing is shared with the core. A restaurant with C customers at T tables, where
dish d has c_d of them at t_d tables, has the probability

    prod_(0<i<T) (b + i a) / prod_(0<i<C) (b + i)  x  prod_d S_a(c_d, t_d)  x  the base of each table,

S_a(c, t) being the sum over the ways to seat c at t tables. Tables are the customers of the level below, so a
hierarchy is a sum over the table counts of its top level, each times the sum of the level below. A level's
(a, b) are given, or integrated out: the tables' counts do not depend on them, so each level is integrated by
itself.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

Cell = tuple[tuple[int, ...], Any]  # restaurant, dish
Nodes = tuple[tuple[float, float, float], ...]  # weight, a, b
LevelKey = tuple[tuple[tuple[int, int], ...], ...]  # per restaurant the (c, t) of its dishes

# ---------------------------------------------------------------------- seating


@cache
def seatings(customers: int, tables: int, a: float) -> float:
    """S_a(c, t): the weight of all ways to seat c customers of one dish at t tables."""
    if customers == tables == 0:
        return 1.0
    if tables < 1 or tables > customers:
        return 0.0
    stays = (customers - 1 - a * tables) * seatings(customers - 1, tables, a)
    return seatings(customers - 1, tables - 1, a) + stays


def restaurant(dishes: Sequence[tuple[int, int]], a: float, b: float) -> float:
    """The probability of a restaurant's seating, the base left out; dishes are (c, t)."""
    customers, tables = sum(c for c, _ in dishes), sum(t for _, t in dishes)
    result = math.prod(seatings(c, t, a) for c, t in dishes)
    result *= math.prod(b + i * a for i in range(1, tables))
    return result / math.prod(b + i for i in range(1, customers))


def given(a: float, b: float) -> Nodes:
    """Parameters that are known."""
    return ((1.0, a, b),)


def prior_nodes(num_a: int = 20, num_b: int = 48, fixed_a: float | None = None, scale: float = 10.0) -> Nodes:
    """Quadrature of a ~ uniform, b ~ exponential with mean ``scale``, by b's distribution function."""
    x, w = np.polynomial.legendre.leggauss(num_b)
    bs = [(0.5 * float(wi), -scale * math.log1p(-0.5 * (xi + 1))) for xi, wi in zip(x, w, strict=True)]
    x, w = np.polynomial.legendre.leggauss(num_a)
    as_ = [(0.5 * float(wi), 0.5 * float(xi + 1)) for xi, wi in zip(x, w, strict=True)]
    if fixed_a is not None:
        as_ = [(1.0, fixed_a)]
    return tuple((float(wa * wb), float(a), float(b)) for wa, a in as_ for wb, b in bs)


class Level:
    """Restaurants that share (a, b)."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self._known: dict[LevelKey, float] = {}

    def weight(self, cells: Mapping[Cell, int], tables: Mapping[Cell, int]) -> float:
        by_restaurant: dict[tuple[int, ...], list[tuple[int, int]]] = {}
        for (place, dish), c in cells.items():
            by_restaurant.setdefault(place, []).append((c, tables[place, dish]))
        key = tuple(sorted(tuple(sorted(rows)) for rows in by_restaurant.values()))
        if key not in self._known:
            self._known[key] = sum(
                w * math.prod(restaurant(rows, a, b) for rows in key) for w, a, b in self.nodes
            )
        return self._known[key]


def table_choices(cells: Mapping[Cell, int]) -> Iterator[dict[Cell, int]]:
    """Every number of tables that the customers of each cell may sit at."""
    for tables in itertools.product(*(range(1, c + 1) for c in cells.values())):
        yield dict(zip(cells, tables, strict=True))


def hierarchy(cells: Mapping[Cell, int], levels: Sequence[Level], base: float) -> float:
    """The probability of the dishes, all seatings summed; ``levels`` from the top down.

    A restaurant's name loses its second part on the way down: the first is whose it is, the most distant tag
    comes next. Below the last level each table costs ``base``.
    """
    if not cells:
        return 1.0
    total = 0.0
    for tables in table_choices(cells):
        weight = levels[0].weight(cells, tables)
        if len(levels) == 1:
            total += weight * base ** sum(tables.values())
            continue
        below: Counter[Cell] = Counter()
        for (place, dish), t in tables.items():
            below[(place[0], *place[2:]), dish] += t
        total += weight * hierarchy(below, levels[1:], base)
    return total


# ----------------------------------------------------------------------- models


@dataclass(frozen=True)
class Model:
    """Which model; as the core names it."""

    tags: int = 2
    order: int = 3
    one_tag: bool = False
    lexicon: str = "none"
    spelling: str = "none"
    geometric: float = 0.5
    emission_base_exponent: int = 1  # the sabotaged twin has another

    @property
    def level_names(self) -> list[str]:
        names = [f"transition{n}" for n in range(self.order)] + ["emission"]
        if self.spelling != "none":
            names += ["spelling1"] + ["spelling0"] * (self.spelling == "hierarchical")
        return names + ["class"] * (self.lexicon != "none")


State = tuple[tuple[int, ...], tuple[frozenset[int], ...]]  # tags of all tokens, classes of all types


@dataclass(eq=False)
class Exact:
    """A tiny text under a model."""

    model: Model
    sentences: Sequence[Sequence[int]]  # of types
    spellings: Sequence[str]  # of the types
    parameters: Mapping[str, Nodes]
    num_characters: int = 0
    levels: dict[str, Level] = field(init=False)

    def __post_init__(self) -> None:
        self.levels = {name: Level(nodes) for name, nodes in self.parameters.items()}
        self.num_characters = self.num_characters or len(set("".join(self.spellings)))

    @property
    def tokens(self) -> list[int]:
        return [w for sentence in self.sentences for w in sentence]

    # Tags

    def transition_cells(self, tags: Sequence[int]) -> Counter[Cell]:
        """Contexts, most distant tag first, and what follows them."""
        boundary, history = self.model.tags, self.model.order - 1
        cells: Counter[Cell] = Counter()
        place = 0
        for sentence in self.sentences:
            symbols = [boundary] * history + list(tags[place : place + len(sentence)]) + [boundary]
            place += len(sentence)
            for end in range(history, len(symbols)):
                cells[(0, *symbols[end - history : end]), symbols[end]] += 1
        return cells

    def tags_prob(self, tags: Sequence[int]) -> float:
        levels = [self.levels[f"transition{n}"] for n in reversed(range(self.model.order))]
        return hierarchy(self.transition_cells(tags), levels, 1.0 / (self.model.tags + 1))

    # Words

    def spell_cells(self, words: Mapping[tuple[int, int], int]) -> Counter[Cell]:
        """Bigrams of the words that tags spell: [tag, word] how often."""
        cells: Counter[Cell] = Counter()
        for (tag, word), times in words.items():
            symbols = ["BEGIN", *self.spellings[word], "END"]
            for before, after in itertools.pairwise(symbols):
                cells[(tag, _code(before)), after] += times
        return cells

    def spelling_prob(self, words: Mapping[tuple[int, int], int]) -> float:
        if self.model.spelling == "none":
            return 1.0
        names = ["spelling1", "spelling0"] if self.model.spelling == "hierarchical" else ["spelling1"]
        levels = [self.levels[name] for name in names]
        return hierarchy(self.spell_cells(words), levels, 1.0 / (self.num_characters + 1))

    def words_prob(self, tags: Sequence[int], classes: Sequence[frozenset[int]]) -> float:
        """p(words | tags, classes), the heads' spelling left out."""
        if classes and any(t not in classes[w] for t, w in zip(tags, self.tokens, strict=True)):
            return 0.0
        cells: Counter[Cell] = Counter(((t,), w) for t, w in zip(tags, self.tokens, strict=True))
        total = 0.0
        for tables in table_choices(cells):
            total += self.levels["emission"].weight(cells, tables) * self._base(tables, classes)
        return total

    def _base(self, tables: Mapping[Cell, int], classes: Sequence[frozenset[int]]) -> float:
        model = self.model
        if classes and (model.spelling == "none" or model.lexicon == "heads"):
            sizes = Counter(t for s in classes for t in s)
            per_tag: Counter[int] = Counter()
            for (place, _), t in tables.items():
                per_tag[place[0]] += t
            exponent = -model.emission_base_exponent
            return math.prod(float(sizes[t]) ** (exponent * n) for t, n in per_tag.items())
        if model.spelling == "none":
            return float(len(self.spellings)) ** (-model.emission_base_exponent * sum(tables.values()))
        return self.spelling_prob({(p[0], w): t for (p, w), t in tables.items()})

    # The lexicon

    def class_base(self, size: int, least: int = 1) -> float:
        g, k = self.model.geometric, self.model.tags
        total = sum(g * (1 - g) ** (n - 1) for n in range(least, k + 1))
        return g * (1 - g) ** (size - 1) / total / math.comb(k, size)

    def _process(self, classes: Sequence[frozenset[int]], least: int) -> float:
        cells: Counter[Cell] = Counter(((0,), s) for s in classes)
        total = 0.0
        for tables in table_choices(cells):
            base = math.prod(self.class_base(len(s), least) ** t for (_, s), t in tables.items())
            total += self.levels["class"].weight(cells, tables) * base
        return total

    def classes_prob(self, classes: Sequence[frozenset[int]]) -> float:
        if self.model.lexicon == "singletons":
            others = [s for s in classes if len(s) > 1]
            single = self.class_base(1) ** (len(classes) - len(others))
            inside = (1 - self.model.tags * self.class_base(1)) ** len(others)
            return single * inside * (self._process(others, 2) if others else 1.0)
        result = self._process(classes, 1)
        if self.model.lexicon == "heads":
            result *= self._heads_prob(classes)
        return result

    def _heads_prob(self, classes: Sequence[frozenset[int]]) -> float:
        return sum(
            self.spelling_prob(Counter((h, w) for w, h in enumerate(heads)))
            / math.prod(len(s) for s in classes)
            for heads in itertools.product(*classes)
        )

    # All together

    def joint(self, tags: Sequence[int], classes: Sequence[frozenset[int]] = ()) -> float:
        """p(words, tags, classes), seatings, heads and unknown parameters summed out."""
        if self.model.one_tag and len(set(zip(self.tokens, tags, strict=True))) > len(set(self.tokens)):
            return 0.0
        words = self.words_prob(tags, classes)
        if words == 0.0:
            return 0.0
        return self.tags_prob(tags) * words * (self.classes_prob(classes) if classes else 1.0)

    def states(self) -> Iterator[State]:
        tags = range(self.model.tags)
        lexicons: list[tuple[frozenset[int], ...]] = [()]
        if self.model.lexicon != "none":
            sets = [frozenset(s) for n in tags for s in itertools.combinations(tags, n + 1)]
            lexicons = list(itertools.product(sets, repeat=len(self.spellings)))
        for tagging in itertools.product(tags, repeat=len(self.tokens)):
            for classes in lexicons:
                yield tagging, classes

    @cached_property
    def posterior(self) -> dict[State, float]:
        """p(tags, classes | words)."""
        cached = cache(self.classes_prob)
        tag_probs: dict[tuple[int, ...], float] = {}
        weights: dict[State, float] = {}
        for tags, classes in self.states():
            if self.model.one_tag and len(set(zip(self.tokens, tags, strict=True))) > len(set(self.tokens)):
                continue
            words = self.words_prob(tags, classes)
            if words > 0.0:
                if tags not in tag_probs:
                    tag_probs[tags] = self.tags_prob(tags)
                weights[tags, classes] = tag_probs[tags] * words * (cached(classes) if classes else 1.0)
        total = math.fsum(weights.values())
        return {state: w / total for state, w in weights.items()}

    def tag_posterior(self) -> dict[tuple[int, ...], float]:
        """p(tags | words)."""
        result: Counter[tuple[int, ...]] = Counter()
        for (tags, _), p in self.posterior.items():
            result[tags] += p  # type: ignore[assignment]
        return dict(result)


def _code(character: str) -> int:
    return -1 if character == "BEGIN" else ord(character)
