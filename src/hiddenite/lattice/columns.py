"""A lattice as the core wants it: nodes in order, one word an edge, scores added up by their weights."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from hiddenite._core import NO_WORD, SILENT, WordGraph
from hiddenite.errors import ModelError
from hiddenite.lattice.lattice import Edge, Lattice


class WordNumbers(Protocol):
    """What gives words their numbers: a model's vocabulary, or one of several models."""

    def __contains__(self, word: object) -> bool: ...
    def id(self, word: str) -> int:
        """Return the word's number; that of <unk>, or one of its own, if the word is unknown."""
        ...


@dataclass(frozen=True, slots=True)
class LatticeWeights:
    """What counts how much; None: as the lattice's own header says."""

    lm_weight: float | None = None
    channel_weight: float | None = None  # of the acoustic scores
    word_penalty: float | None = None  # natural logarithm, added for each word
    old_lm_weight: float | None = None  # of the recogniser's language scores; None: 0 beside a new model
    temperature: float = 1.0  # above 1: posteriors are flatter

    def __post_init__(self) -> None:
        for name in ("lm_weight", "channel_weight", "word_penalty", "old_lm_weight", "temperature"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and math.isfinite(value)):
                raise ModelError(f"{name} is {value}, expected a finite number")
        if self.temperature <= 0:
            raise ModelError(f"temperature is {self.temperature}, expected a number above 0")
        if self.lm_weight is not None and self.lm_weight < 0:
            raise ModelError(f"lm_weight is {self.lm_weight}, expected 0 or more")


class Columns:
    """A lattice as the core wants it: nodes in order, one word an edge, weights added up."""

    def __init__(
        self,
        lattice: Lattice,
        vocabulary: WordNumbers | None,
        weights: LatticeWeights,
        transparent: Collection[str],
    ) -> None:
        self.words: list[str] = []
        self.unknown: set[str] = set()
        self.origin: list[int] = []  # [edge]: of the lattice
        self.is_inner: list[bool] = []  # [edge]: it continues an edge of several words
        self.start_of: list[int] = []
        self.end_of: list[int] = []
        self.word_id: list[int] = []
        self.label: list[int] = []
        self.log_weight: list[float] = []
        self._vocabulary = vocabulary
        self._transparent = frozenset(transparent)
        self._label_of: dict[str, tuple[int, int]] = {"": (NO_WORD, SILENT)}
        weight = _edge_weight(lattice, vocabulary is not None, weights)
        leaving: dict[int, list[int]] = {}
        for place, edge in enumerate(lattice.edges):
            leaving.setdefault(edge.start, []).append(place)
        order = lattice.order()
        self.number = self._number(lattice, order, leaving)
        for node in order:
            inner = self.number[node] + 1
            for place in leaving.get(node, ()):
                edge = lattice.edges[place]
                if " " in edge.word:
                    inner = self._add_words(edge, place, weight, inner)
                else:
                    self._add(edge, place, weight)
        self._sort()
        self.start = self.number[lattice.start]
        self.log_final = [-math.inf] * self.num_nodes
        for node, final in lattice.finals.items():
            self.log_final[self.number[node]] = weight.of_final(final.acoustic, final.language)

    def _number(self, lattice: Lattice, order: list[int], leaving: dict[int, list[int]]) -> list[int]:
        """Number the nodes in order, with room after each for those inside edges of several words."""
        number = [0] * lattice.num_nodes
        following = 0
        for node in order:
            number[node] = following
            words = (lattice.edges[i].word for i in leaving.get(node, ()))
            following += 1 + sum(max(len(word.split()) - 1, 0) for word in words if " " in word)
        self.num_nodes = following
        return number

    def _add(self, edge: Edge, place: int, weight: _EdgeWeight) -> None:
        """Add an edge of one word or none."""
        word_id, label = self._label_of.get(edge.word) or self._ids(edge.word)
        self.start_of.append(self.number[edge.start])
        self.end_of.append(self.number[edge.end])
        self.word_id.append(word_id)
        self.label.append(label)
        self.log_weight.append(weight.of_edge(edge, label != SILENT))
        self.origin.append(place)
        self.is_inner.append(False)

    def _add_words(self, edge: Edge, place: int, weight: _EdgeWeight, inner: int) -> int:
        """Add a chain of edges for an edge of several words; return the next free inner node."""
        ids = [self._ids(word) for word in edge.word.split() or [""]]
        seen = sum(label != SILENT for _, label in ids)
        at = self.number[edge.start]
        for i, (word_id, label) in enumerate(ids):
            last = i == len(ids) - 1
            to = self.number[edge.end] if last else inner
            inner += not last
            self.start_of.append(at)
            self.end_of.append(to)
            self.word_id.append(word_id)
            self.label.append(label)
            self.log_weight.append(weight.of_edge(edge, seen) if i == 0 else 0.0)
            self.origin.append(place)
            self.is_inner.append(i > 0)
            at = to
        return inner

    def _ids(self, word: str) -> tuple[int, int]:
        """Return the word's number in the model and its label."""
        found = self._label_of.get(word)
        if found is None:
            if word in self._transparent:
                found = NO_WORD, SILENT
            else:
                found = 0, len(self.words)
                self.words.append(word)
                if self._vocabulary is not None:
                    found = self._vocabulary.id(word), found[1]
                    if word not in self._vocabulary:
                        self.unknown.add(word)
            self._label_of[word] = found
        return found

    def _sort(self) -> None:
        """Put the edges in order of the node that they leave."""
        order = sorted(range(len(self.start_of)), key=self.start_of.__getitem__)
        if order == list(range(len(order))):
            return
        for name in ("start_of", "end_of", "word_id", "label", "log_weight", "origin", "is_inner"):
            column = getattr(self, name)
            setattr(self, name, [column[i] for i in order])

    def graph(self) -> WordGraph:
        """Return the lattice in the core."""
        return WordGraph(
            self.start, self.start_of, self.end_of, self.word_id, self.log_weight, self.log_final
        )


@dataclass(frozen=True, slots=True)
class _EdgeWeight:
    acoustic: float
    language: float
    pronunciation: float
    word_penalty: float

    def of_edge(self, edge: Edge, num_words: int) -> float:
        total = self.word_penalty * num_words
        if edge.acoustic and self.acoustic:
            total += self.acoustic * edge.acoustic
        if edge.language and self.language:
            total += self.language * edge.language
        if edge.pronunciation and self.pronunciation:
            total += self.pronunciation * edge.pronunciation
        return total

    def of_final(self, acoustic: float, language: float) -> float:
        total = self.acoustic * acoustic if acoustic and self.acoustic else 0.0
        return total + (self.language * language if language and self.language else 0.0)


def _edge_weight(lattice: Lattice, has_model: bool, weights: LatticeWeights) -> _EdgeWeight:
    scales = lattice.scales
    old = weights.old_lm_weight
    if old is None:
        old = 0.0 if has_model else scales.language
    t = weights.temperature
    acoustic = scales.acoustic if weights.channel_weight is None else weights.channel_weight
    penalty = scales.word_penalty if weights.word_penalty is None else weights.word_penalty
    return _EdgeWeight(acoustic / t, old / t, scales.pronunciation / t, penalty / t)
