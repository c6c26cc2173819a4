"""Texts drawn from the induction models, customer by customer: the other half of the oracle."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.induce_oracle import Model

VOCABULARY = ["ab", "a", "b"]  # where words are not spelled by the model


class Rejected(Exception):
    """The drawn text is none that a sampler could be given."""


class Process:
    """One restaurant; table i serves dishes[i] to sizes[i] customers."""

    def __init__(self, a: float, b: float, below: Callable[[], Any]) -> None:
        self.a, self.b, self.below = a, b, below
        self.dishes: list[Any] = []
        self.sizes: list[int] = []

    def draw(self, random: Random) -> Any:
        point = random.random() * (self.b + sum(self.sizes))
        for i, size in enumerate(self.sizes):
            point -= size - self.a
            if point < 0:
                self.sizes[i] += 1
                return self.dishes[i]
        self.dishes.append(self.below())
        self.sizes.append(1)
        return self.dishes[-1]


@dataclass(frozen=True)
class Drawn:
    """A text with its tags."""

    sentences: list[list[int]]
    tags: list[int]
    spellings: list[str]


class Simulation:
    """Draws tags, lexicon and words from the model; texts outside the limits are rejected, whole.

    A limit is a condition on the words alone, so the tags that are drawn with an accepted text follow
    p(tags | words), whatever it is.
    """

    MAX_WORD = 3

    def __init__(
        self,
        model: Model,
        random: Random,
        parameters: Mapping[str, tuple[float, float]],
        *,
        types: int,
        num_characters: int,
        num_sentences: int = 2,
        max_length: int = 3,
    ) -> None:
        self.model, self.random, self.parameters = model, random, parameters
        self.types, self.num_characters = types, num_characters
        self.num_sentences, self.max_length = num_sentences, max_length
        self.restaurants: dict[tuple[object, ...], Process] = {}
        self.classes: list[frozenset[int]] = []
        self.words: list[str] = []  # spelled ones by type; a lexicon's are known before the text

    def _process(self, key: tuple[object, ...], level: str, below: Callable[[], Any]) -> Process:
        if key not in self.restaurants:
            self.restaurants[key] = Process(*self.parameters[level], below)
        return self.restaurants[key]

    def tag(self, context: tuple[int, ...]) -> int:
        def below() -> int:
            return self.tag(context[1:]) if context else self.random.randrange(self.model.tags + 1)

        key = ("transition", *context)
        tag: int = self._process(key, f"transition{len(context)}", below).draw(self.random)
        return tag

    def character(self, tag: int, before: int) -> int:
        def uniform() -> int:
            return self.random.randrange(self.num_characters + 1)

        def unigram() -> Any:
            return self._process(("spelling0", tag), "spelling0", uniform).draw(self.random)

        below = unigram if self.model.spelling == "hierarchical" else uniform
        drawn: int = self._process(("spelling1", tag, before), "spelling1", below).draw(self.random)
        return drawn

    def spell(self, tag: int) -> str:
        word, before = "", -1
        while (c := self.character(tag, before)) < self.num_characters:
            word, before = word + "abcdefgh"[c], c
            if len(word) > self.MAX_WORD:
                raise Rejected
        if not word:
            raise Rejected
        return word

    def word(self, tag: int) -> int:
        drawn: int = self._process(("emission", tag), "emission", lambda: self._base(tag)).draw(self.random)
        return drawn

    def _base(self, tag: int) -> int:
        uses_spelling = self.model.spelling != "none" and self.model.lexicon != "heads"
        if uses_spelling:
            word = self.spell(tag)
            if word not in self.words:
                if self.model.lexicon != "none" or len(self.words) == self.types:
                    raise Rejected
                self.words.append(word)
            found = self.words.index(word)
            if self.classes and tag not in self.classes[found]:
                raise Rejected
            return found
        open_types = [w for w in range(self.types) if not self.classes or tag in self.classes[w]]
        if not open_types:
            raise Rejected
        return self.random.choice(open_types)

    def draw_class(self, least: int) -> frozenset[int]:
        def base() -> frozenset[int]:
            sizes = range(least, self.model.tags + 1)
            [size] = self.random.choices(sizes, [(1 - self.model.geometric) ** n for n in sizes])
            return frozenset(self.random.sample(range(self.model.tags), size))

        drawn: frozenset[int] = self._process(("class",), "class", base).draw(self.random)
        return drawn

    def draw_lexicon(self) -> None:
        sizes = range(1, self.model.tags + 1)
        share = 1 / sum((1 - self.model.geometric) ** (n - 1) for n in sizes)
        for _ in range(self.types):
            if self.model.lexicon == "singletons" and self.random.random() < share:
                self.classes.append(frozenset([self.random.randrange(self.model.tags)]))
            else:
                self.classes.append(self.draw_class(2 if self.model.lexicon == "singletons" else 1))
        if self.model.lexicon == "heads":
            for s in self.classes:
                self.words.append(self.spell(self.random.choice(sorted(s))))
            if len(set(self.words)) < self.types:
                raise Rejected

    def text(self) -> Drawn:
        """Draw a text or raise Rejected."""
        if self.model.lexicon != "none":
            self.draw_lexicon()
            if self.model.lexicon != "heads":
                self.words = VOCABULARY[: self.types]
        boundary, history = self.model.tags, self.model.order - 1
        sentences: list[list[int]] = []
        tags: list[int] = []
        for _ in range(self.num_sentences):
            context = [boundary] * history
            sentence: list[int] = []
            while (t := self.tag(tuple(context[len(context) - history :]))) != boundary:
                if len(sentence) == self.max_length:
                    raise Rejected
                context.append(t)
                tags.append(t)
                sentence.append(self.word(t))
            if not sentence:
                raise Rejected
            sentences.append(sentence)
        seen = {w for s in sentences for w in s}
        if self.model.spelling == "none" and self.model.lexicon == "none":
            self.words = VOCABULARY[: self.types]
        if len(seen) < len(self.words):
            raise Rejected
        if self.model.one_tag and len(set(zip(itertools.chain(*sentences), tags, strict=True))) > len(seen):
            raise Rejected
        return Drawn(sentences, tags, self.words)


def simulate(model: Model, random: Random, parameters: Mapping[str, tuple[float, float]]) -> Drawn:
    """Draw a text that a sampler can be given."""
    while True:
        with contextlib.suppress(Rejected):
            return Simulation(model, random, parameters, types=2, num_characters=2).text()


def simulate_with_parameters(model: Model, random: Random) -> tuple[Drawn, dict[str, tuple[float, float]]]:
    """Draw parameters and a text that a sampler can be given.

    A rejected text takes its parameters with it: those of accepted texts then follow their law given that a
    text is accepted, which the samplers leave as it is. If only the text were drawn anew they would follow
    their prior.
    """
    while True:
        parameters = draw_parameters(model, random)
        with contextlib.suppress(Rejected):
            return Simulation(model, random, parameters, types=2, num_characters=2).text(), parameters


def draw_parameters(model: Model, random: Random) -> dict[str, tuple[float, float]]:
    """Draw (a, b) of all levels from their priors."""
    result = {}
    for name in model.level_names:
        a = 0.0 if (name, model.spelling) == ("spelling1", "dirichlet") else random.random()
        result[name] = (a, random.expovariate(0.1))
    return result
