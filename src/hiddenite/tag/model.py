"""What a tagger has learned, and the same in the form of the core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hiddenite._core import TagChannel
from hiddenite.errors import ModelError
from hiddenite.ngram import NgramModel
from hiddenite.tag.context import ContextTable, tag_parts
from hiddenite.tag.emissions import (
    EmissionTable,
    FeatureTable,
    Lexicon,
    SpellingTable,
    SuffixTable,
    split_symbol,
)
from hiddenite.tag.knowledge import NumberTable
from hiddenite.tag.options import TaggerOptions


@dataclass(frozen=True, slots=True)
class OrderTrial:
    """What one order, with its settings, was worth on held-out sentences of the training text."""

    order: int
    accuracy: float
    seconds: float  # training and tagging; of settings that share work, each one's share
    setting: str = ""  # of context emissions, in words
    on_all: bool = True  # tried on all folds; False: on the first alone, where others were better


@dataclass(frozen=True, slots=True, eq=False)
class TaggerModel:
    """What is learned and saved; everything else is made from it."""

    options: TaggerOptions
    tags: tuple[str, ...]
    transitions: NgramModel  # of symbols
    symbols: tuple[tuple[str, int], ...]  # the hidden symbols and how often each was seen
    lexicon: Lexicon | EmissionTable
    guesser: SuffixTable | FeatureTable | SpellingTable
    training: Mapping[str, Any] = field(default_factory=dict)  # size of the text, column of the tags
    context: ContextTable | None = None  # None: generative emissions
    attributes: NumberTable | None = None  # of words: features of context emissions
    allowed: NumberTable | None = None  # words with the tags that they may have, by number


def core_channel(model: TaggerModel) -> TagChannel:
    """Return the emissions in the core's form."""
    if isinstance(model.lexicon, EmissionTable):
        return _induced_channel(model, model.lexicon)
    tag_ids = {tag: i for i, tag in enumerate(model.tags)}
    vocabulary = model.transitions.vocabulary
    total = sum(count for _, count in model.symbols)
    rows = []
    for symbol, count in model.symbols:
        tag, word = split_symbol(symbol)
        if tag not in tag_ids:
            raise ModelError(f"the tagger's tables do not fit together: '{tag}' is not a tag")
        rows.append((tag_ids[tag], word, vocabulary.id(symbol), float(np.log(count / total))))
    options = model.options
    context = None
    if model.context is not None:
        attributes = None if model.attributes is None else model.attributes.attributes()
        context = model.context.emissions(tag_parts(model.tags, options), options, attributes)
    allowed = model.allowed
    return TagChannel(
        vocabulary._table,
        list(model.lexicon.words),
        model.lexicon.begin,
        model.lexicon.tag,
        model.lexicon.count,
        rows,
        model.guesser.guesser(),
        options.guess_weight,
        options.floor,
        options.tag_dictionary,
        context,
        *(() if allowed is None else (list(allowed.words), allowed.begin.tolist(), allowed.numbers.tolist())),
    )


def _induced_channel(model: TaggerModel, emissions: EmissionTable) -> TagChannel:
    """Return emissions that are known as such."""
    vocabulary = model.transitions.vocabulary
    return TagChannel(
        vocabulary._table,
        list(emissions.words),
        emissions.begin,
        emissions.tag,
        emissions.log_prob,
        np.array([vocabulary.id(tag) for tag in model.tags], dtype=np.uint32),
        model.guesser.guesser(),
    )
