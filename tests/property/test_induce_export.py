"""An exported tagger weighs sentences as the Pitman-Yor predictive of the counts does, term by term."""

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest

from hiddenite import Tagger
from hiddenite.induction.export import ChainCounts, EmissionCounts, SpellingCounts, make_tagger

ATOL = 1e-5  # the n-gram table holds floats; sums of some ten terms
WORDS = ("ab", "a", "bé", "🙂a", "b" * 200)
UNSEEN = ("ba", "zzz", "🙂🙂", "é")
CHARACTERS = tuple(sorted(set("".join(WORDS))))


class Restaurants:
    """Counts of a level, filled at random: a table is opened for every second customer or so."""

    def __init__(self, a: float, b: float) -> None:
        self.a, self.b = a, b
        self.seats: defaultdict[tuple[int, ...], dict[int, list[int]]] = defaultdict(dict)

    def add(self, place: tuple[int, ...], dish: int, random: Random) -> bool:
        """Seat a customer; whether it opened a table."""
        row = self.seats[place].setdefault(dish, [0, 0])
        opens = row[0] == 0 or random.random() < 0.5
        row[0] += 1
        row[1] += opens
        return opens

    def prob(self, place: tuple[int, ...], dish: int, below: float) -> float:
        """(c - a t) / (b + C) + (b + a T) / (b + C) p_below."""
        rows = self.seats.get(place, {})
        customers, tables = sum(c for c, _ in rows.values()), sum(t for _, t in rows.values())
        c, t = rows.get(dish, (0, 0))
        return (c - self.a * t + (self.b + self.a * tables) * below) / (self.b + customers)


class State:
    """A state of a sampler that was never run: random tags, random seating."""

    def __init__(self, random: Random, num_tags: int, order: int, lexicon: str, spelling: str) -> None:
        self.num_tags, self.order, self.lexicon, self.spelling = num_tags, order, lexicon, spelling
        self.transitions = [Restaurants(0.2 + 0.1 * n, 0.5 + n) for n in range(order)]
        self.emissions = Restaurants(0.7, 0.9)
        self.bigrams = Restaurants(0.0 if spelling == "dirichlet" else 0.3, 1.3)
        self.unigrams = Restaurants(0.6, 0.4)
        tags = range(num_tags)
        self.classes = [sorted(random.sample(tags, random.randint(1, num_tags))) for _ in WORDS]
        if lexicon == "none":
            self.classes = [list(tags) for _ in WORDS]
        if spelling != "none" and lexicon == "heads":
            for w, s in enumerate(self.classes):
                self.spell(random.choice(s), w, random)
        for _ in range(6):
            self.add_sentence([random.randrange(len(WORDS)) for _ in range(random.randint(1, 5))], random)

    def add_sentence(self, words: Sequence[int], random: Random) -> None:
        tags = [random.choice(self.classes[w]) for w in words]
        history = [self.num_tags] * (self.order - 1)
        for tag in [*tags, self.num_tags]:
            for n in reversed(range(self.order)):
                if not self.transitions[n].add(tuple(history[len(history) - n :]), tag, random):
                    break
            history.append(tag)
        for w, t in zip(words, tags, strict=True):
            if self.emissions.add((t,), w, random) and self.spelling != "none" and self.lexicon != "heads":
                self.spell(t, w, random)

    def spell(self, tag: int, word: int, random: Random) -> None:
        numbers = [CHARACTERS.index(c) for c in WORDS[word]]
        for before, after in itertools.pairwise([len(CHARACTERS), *numbers, len(CHARACTERS)]):
            if self.bigrams.add((tag, before), after, random) and self.spelling == "hierarchical":
                self.unigrams.add((tag,), after, random)

    def counts(self) -> ChainCounts:
        parameters = {f"transition{n}": (r.a, r.b) for n, r in enumerate(self.transitions)}
        parameters["emission"] = (self.emissions.a, self.emissions.b)
        parameters["spelling1"] = (self.bigrams.a, self.bigrams.b)
        if self.spelling == "hierarchical":
            parameters["spelling0"] = (self.unigrams.a, self.unigrams.b)
        spelled = None
        if self.spelling != "none":
            spelled = (spelling_counts(self.unigrams), spelling_counts(self.bigrams))
        begin = np.cumsum([0, *map(len, self.classes)])
        classes = (begin, np.array([t for s in self.classes for t in s], dtype=np.int32))
        return ChainCounts(
            self.num_tags,
            parameters,
            [self.transition_counts(n) for n in range(self.order)],
            self.emission_counts(),
            spelled,
            classes if self.lexicon != "none" else None,
            self.lexicon,
        )

    def transition_counts(self, level: int) -> tuple[np.ndarray, np.ndarray]:
        customers, tables = np.zeros((2, *[self.num_tags + 1] * (level + 1)), dtype=np.int32)
        for place, rows in self.transitions[level].seats.items():
            for dish, (c, t) in rows.items():
                customers[(*place, dish)], tables[(*place, dish)] = c, t
        return customers.ravel(), tables.ravel()

    def emission_counts(self) -> EmissionCounts:
        rows = sorted((w, p[0], c, t) for p, row in self.emissions.seats.items() for w, (c, t) in row.items())
        begin = np.searchsorted([row[0] for row in rows], np.arange(len(WORDS) + 1))
        columns = [np.array([row[i] for row in rows], dtype=np.int32) for i in (1, 2, 3)]
        return EmissionCounts(begin, *columns)

    # By definition

    def transition_prob(self, tag: int, history: Sequence[int]) -> float:
        prob = 1.0 / (self.num_tags + 1)
        for n in range(self.order):
            prob = self.transitions[n].prob(tuple(history[len(history) - n :]), tag, prob)
        return prob

    def spelling_prob(self, tag: int, word: str) -> float:
        end, other = len(CHARACTERS), len(CHARACTERS) + 1
        numbers = [CHARACTERS.index(c) if c in CHARACTERS else other for c in word]
        prob = 1.0
        for before, after in itertools.pairwise([end, *numbers, end]):
            lower = 1.0 / (len(CHARACTERS) + 1)
            if self.spelling == "hierarchical":
                lower = self.unigrams.prob((tag,), after, lower)
            prob *= self.bigrams.prob((tag, before), after, lower)
        return prob

    def emission_prob(self, word: str, tag: int) -> float:
        """p(word | tag), 0 where the lexicon rules it out."""
        open_words = sum(tag in s for s in self.classes)
        number = WORDS.index(word) if word in WORDS else -1
        if number >= 0 and tag not in self.classes[number]:
            return 0.0
        by_lexicon = self.lexicon == "heads" or (self.lexicon != "none" and self.spelling == "none")
        base = 1.0
        if self.spelling != "none" and not (by_lexicon and number >= 0):
            base *= self.spelling_prob(tag, word)
        if by_lexicon:
            base /= open_words + (number < 0)
        if self.lexicon == "none" and self.spelling == "none":
            base /= len(WORDS)
        if self.lexicon != "none" and number < 0:
            base *= open_words / len(WORDS)
        return self.emissions.prob((tag,), number, base)

    def log_weight(self, words: Sequence[str], tags: Sequence[int]) -> float:
        history = [self.num_tags] * (self.order - 1)
        total = 0.0
        for tag in [*tags, self.num_tags]:
            total += math.log(self.transition_prob(tag, history))
            history.append(tag)
        for word, tag in zip(words, tags, strict=True):
            prob = self.emission_prob(word, tag)
            total += math.log(prob) if prob > 0 else -math.inf
        return total


def spelling_counts(level: Restaurants) -> SpellingCounts:
    rows = [
        (p[0], p[1] if len(p) > 1 else -1, after, c, t)
        for p, row in level.seats.items()
        for after, (c, t) in row.items()
    ]
    return SpellingCounts(*np.array(rows, dtype=np.int32).reshape(-1, 5).T)


CASES = [
    ("none", "none"),
    ("none", "hierarchical"),
    ("none", "dirichlet"),
    ("published", "none"),
    ("published", "hierarchical"),
    ("singletons", "dirichlet"),
    ("heads", "hierarchical"),
]


@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize(("lexicon", "spelling"), CASES)
def test_weights_are_predictive_probabilities(
    lexicon: str, spelling: str, order: int, rng: np.random.Generator, tmp_path: Path
) -> None:
    random = Random(int(rng.integers(2**32)))
    state = State(random, 3, order, lexicon, spelling)
    names = ["T0", "T1", "T2"]
    tagger = make_tagger(state.counts(), names, WORDS, CHARACTERS)
    tagger.save(tmp_path / "induced.tagger")
    for one in (tagger, Tagger.load(tmp_path / "induced.tagger")):
        for _ in range(8):
            words = [random.choice(WORDS + UNSEEN) for _ in range(random.randint(1, 4))]
            expected = {
                tuple(names[t] for t in tags): weight
                for tags in itertools.product(range(3), repeat=len(words))
                if (weight := state.log_weight(words, tags)) > -math.inf
            }
            found = {s.tags: s.log_weight for s in one.kbest(words, 3 ** len(words))}
            assert found.keys() == expected.keys()
            for tags, weight in expected.items():
                assert found[tags] == pytest.approx(weight, abs=ATOL, rel=0)
            best = one.tag(words)
            assert best.certificate.exact
            assert best.log_weight == pytest.approx(max(expected.values()), abs=ATOL, rel=0)


def test_transitions_sum_to_one(rng: np.random.Generator) -> None:
    state = State(Random(int(rng.integers(2**32))), 3, 3, "none", "none")
    model = make_tagger(state.counts(), ["x", "y", "z"], WORDS, CHARACTERS).model.transitions
    for context in ([], ["<s>"], ["<s>", "x"], ["x", "y"], ["z", "z"]):
        total = sum(math.exp(model.log_prob(tag, context)) for tag in ("x", "y", "z", "</s>"))
        assert total == pytest.approx(1.0, abs=1e-6)
