"""Emissions that see the words around: a log-linear model of each tag's weight, given the observed sentence.

The formulas are in ``cpp/hiddenite/channel/context/context_emissions.hpp``, how the weights are found in
``context_training.hpp``. Here the parts are put together: the text as arrays, and for the structured stage a
model of tags for each of five folds, estimated from the other four, so that no sentence is scored by a model
that has seen it. The model of tags counts with the power ``tags_weight``: its table is scaled once, and the
engine sees a back-off model like any other.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import (
    ContextEmissions,
    ContextTrainer,
    Guesser,
    TagParts,
    WordAttributes,
    weigh_table,
)
from hiddenite.ngram import NgramModel
from hiddenite.tag.annotation import EvidenceArrays, TrainingText
from hiddenite.tag.emissions import split_symbol
from hiddenite.tag.options import TaggerOptions
from hiddenite.tag.transitions import train_transitions

FOLDS = 5
MARGIN = 6.0  # tags within e^-6 of a word's best are in the structured stage's lattice
LEAST_WEIGHT = 0.01  # smaller ones are not kept
PART_SEPARATOR = "|"
MANY_TAGS = 128
_BLOCK = 20  # sentences of a fold's blocks
_UNKNOWN = 0  # the id of <unk>: for a symbol that a fold's model has not seen


@dataclass(frozen=True, slots=True, eq=False)
class ContextTable:
    """Weights by feature: row i has ``part[begin[i]:begin[i + 1]]``; without parts a tag is its own."""

    key: NDArray[np.uint64]  # [row]: the feature's hash
    begin: NDArray[np.uint64]
    part: NDArray[np.uint32]
    weight: NDArray[np.float16]

    def emissions(
        self, parts: TagParts, options: TaggerOptions, attributes: WordAttributes | None
    ) -> ContextEmissions:
        """Return the core's form."""
        return ContextEmissions(
            parts,
            self.key,
            self.begin,
            self.part,
            self.weight.astype(np.float32),
            options.base_weight,
            options.prior_weight,
            attributes,
        )


def fold_of(number: int, size: int, folds: int = FOLDS) -> int:
    """Return the fold of a sentence: whole blocks, because neighbours share topics."""
    block = min(_BLOCK, max(1, size // (2 * folds)))
    return number // block % folds


def scaled(model: NgramModel, power: float) -> NgramModel:
    """Return the model of tags with all probabilities raised to a power."""
    return NgramModel(weigh_table(model._table, power, True))


@dataclass(frozen=True, slots=True)
class Hidden:
    """The hidden symbols of the training text, and how often each was seen."""

    sentences: Sequence[Sequence[str]]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FoldModels:
    """For each fold of the text the model of tags that the others give."""

    models: Sequence[NgramModel]
    folds: Sequence[int]  # [sentence]
    counts: Mapping[str, int]  # of the hidden symbols

    @classmethod
    def train(cls, hidden: Hidden, order: int, options: TaggerOptions) -> FoldModels:
        """Estimate them, raised to the power that they count with."""
        size = len(hidden.sentences)
        folds = [fold_of(i, size) for i in range(size)]
        models = [_transitions_without(hidden.sentences, folds, f, order, options) for f in range(FOLDS)]
        return cls(models, folds, hidden.counts)


class ContextTraining:
    """The training of a context table, so that what comes before the structured stage can be kept."""

    def __init__(
        self,
        text: TrainingText,
        tags: Sequence[str],
        guesser: Guesser,
        options: TaggerOptions,
        attributes: WordAttributes | None = None,
    ) -> None:
        self._options, self._tags = options, {tag: i for i, tag in enumerate(tags)}
        pairs = list(itertools.chain.from_iterable(text.sentences))
        words = sorted({word for word, _ in pairs})
        word_ids = {word: i for i, word in enumerate(words)}
        known = EvidenceArrays.of(text, self._tags)
        self._trainer = ContextTrainer(
            tag_parts(tags, options),
            words,
            np.array([word_ids[word] for word, _ in pairs], dtype=np.uint32),
            known.tag,
            known.counted,
            np.cumsum([0, *map(len, text.sentences)]).astype(np.uint64),
            known.begin,
            known.evidence_tag,
            known.evidence_log,
            guesser,
            options.guess_weight,
            options.base_weight,
            options.prior_weight,
            options.context_penalty,
            MARGIN,
            options.hide_words,
            options.seed,
            attributes,
        )

    def local(self) -> None:
        """Each word's tag on its own."""
        for _ in range(self._options.local_epochs):
            self._trainer.local_epoch(self._options.local_rate)

    def structured(self, transitions: FoldModels) -> None:
        """Whole sequences, with these models of tags."""
        self._trainer.set_transitions(
            [model._table for model in transitions.models],
            np.array(transitions.folds, dtype=np.uint32),
            self._symbols(transitions.counts, transitions.models),
        )
        for _ in range(self._options.structured_epochs):
            self._trainer.structured_epoch(self._options.structured_rate)

    def _symbols(
        self, counts: Mapping[str, int], models: Sequence[NgramModel]
    ) -> list[tuple[int, str, float, list[int]]]:
        """Return tag, word, ln of the share and the ids of each symbol."""
        total = sum(counts.values())
        rows = []
        for symbol, count in sorted(counts.items()):
            tag, word = split_symbol(symbol)
            ids = [m.vocabulary.id(symbol) if symbol in m.vocabulary else _UNKNOWN for m in models]
            rows.append((self._tags[tag], word, float(np.log(count / total)), ids))
        return rows

    def snapshot(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return what `restore` goes back to."""
        return self._trainer.weights, self._trainer.squares

    def restore(self, state: tuple[NDArray[np.float32], NDArray[np.float32]]) -> None:
        """Go back to an earlier state of the weights."""
        self._trainer.weights, self._trainer.squares = state

    def table(self) -> ContextTable:
        """Return the weights found."""
        key, begin, part, weight = self._trainer.finish(LEAST_WEIGHT)
        return ContextTable(key, begin, part, weight.astype(np.float16))


def tag_parts(tags: Sequence[str], options: TaggerOptions) -> TagParts:
    """Return what tags are made of: NOUN|Case=Nom has two parts, unless each tag is to be its own."""
    if not has_parts(tags, options):
        return TagParts(len(tags))
    split = [tag.split(PART_SEPARATOR) for tag in tags]
    numbers: dict[str, int] = {}
    rows = [[numbers.setdefault(part, len(numbers)) for part in row] for row in split]
    begin = np.cumsum([0, *map(len, rows)]).astype(np.uint64)
    return TagParts(begin, np.array([n for row in rows for n in row], dtype=np.uint32))


def has_parts(tags: Sequence[str], options: TaggerOptions) -> bool:
    """Whether weights belong to the parts of tags: where there are many tags, and parts."""
    if options.emissions != "context" or options.parts == "no":
        return False
    are_many = len(tags) > MANY_TAGS or options.parts == "yes"
    return are_many and any(PART_SEPARATOR in tag for tag in tags)


def _transitions_without(
    hidden: Sequence[Sequence[str]], folds: Sequence[int], left_out: int, order: int, options: TaggerOptions
) -> NgramModel:
    """Return the model of tags of all folds but one; of all where nothing else is left."""
    kept = [symbols for symbols, fold in zip(hidden, folds, strict=True) if fold != left_out]
    return scaled(train_transitions(kept or hidden, order, options.transitions), options.tags_weight)
