"""What a tagger learns from tagged text: lexicon, guesser and transitions.

Where the order is to be chosen, whole blocks of sentences are held out, because neighbours share topics.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hiddenite.errors import ModelError
from hiddenite.options import check_choice
from hiddenite.tag.annotation import LabelledSentence, TrainingText, checked_pairs, checked_text
from hiddenite.tag.completion import complete
from hiddenite.tag.context import ContextTraining, FoldModels, Hidden, has_parts, scaled
from hiddenite.tag.emissions import (
    FeatureTable,
    Lexicon,
    SuffixTable,
    Symbols,
    feature_table,
    frequent_words,
    rare_examples,
    suffix_table,
)
from hiddenite.tag.formats import NOT_ANNOTATED, TaggedSentence
from hiddenite.tag.knowledge import NO_KNOWLEDGE, Knowledge
from hiddenite.tag.model import TaggerModel
from hiddenite.tag.options import GUESSERS, TaggerOptions
from hiddenite.tag.transitions import train_transitions

_HELD_OUT = 10  # one of so many blocks of sentences chooses the order
_BLOCK = 20  # sentences of a block


def normal_words(words: Sequence[str], form: str) -> Sequence[str]:
    """Return words in the Unicode form of a tagger."""
    try:
        if form == "none" or all(map(str.isascii, words)):
            return words
    except TypeError:
        raise ModelError(f"found {words!r:.60}, expected words that are strings") from None
    return [word if word.isascii() else unicodedata.normalize("NFC", word) for word in words]


def normal_labels(sentences: Iterable[LabelledSentence], form: str) -> Iterator[LabelledSentence]:
    """Give labelled sentences in the Unicode form of a tagger."""
    for sentence in map(checked_pairs, sentences):
        words = normal_words([word for word, _ in sentence], form)
        yield [(word, label) for word, (_, label) in zip(words, sentence, strict=True)]


def split_held_out(text: TrainingText) -> tuple[TrainingText, TrainingText]:
    """Return nine tenths of the sentences and the tenth that is held out, in whole blocks where possible."""
    size = len(text.sentences)
    block = min(_BLOCK, max(1, size // _HELD_OUT))
    held_out = [i for i in range(size) if i // block % _HELD_OUT == _HELD_OUT - 1]
    if not held_out:
        raise ModelError(
            f"there are {size} sentences, expected at least {_HELD_OUT} to choose the order with"
        )
    return text.select(sorted(set(range(size)) - set(held_out))), text.select(held_out)


def training_text(
    tagged: Iterable[LabelledSentence], options: TaggerOptions, knowledge: Knowledge = NO_KNOWLEDGE
) -> TrainingText:
    """Return a text in the tagger's Unicode form, checked."""
    text = checked_text(normal_labels(tagged, options.normal_form), knowledge.dictionary)
    if text.evidence and options.emissions != "context":
        raise ModelError(
            "some words are not annotated, which needs --emissions context; annotate them or leave them out"
        )
    return text


def completed(
    text: TrainingText, options: TaggerOptions, knowledge: Knowledge = NO_KNOWLEDGE
) -> TrainingText:
    """Return the text with a tag for each word, guessed where it is not known."""
    if text.is_complete:
        return text
    first = dataclasses.replace(options, order=1, structured_epochs=0, lexicalize=0)
    text = complete(_train_complete(text, first, knowledge), text)
    return complete(_train_complete(text, options, knowledge), text)


def train_model(
    text: TrainingText, options: TaggerOptions, knowledge: Knowledge = NO_KNOWLEDGE
) -> TaggerModel:
    """Learn lexicon, guesser, transitions and, unless emissions are generative, the context's weights."""
    return _train_complete(completed(text, options, knowledge), options, knowledge)


def _train_complete(text: TrainingText, options: TaggerOptions, knowledge: Knowledge) -> TaggerModel:
    model = train_words(text, options, knowledge)
    if options.emissions == "generative":
        return with_order(model, text, options.order)
    training = context_training(text, model)
    training.local()
    if options.structured_epochs:
        hidden = hidden_symbols(text.sentences, options.lexicalize)
        training.structured(FoldModels.train(hidden, options.order, options))
    return dataclasses.replace(with_order(model, text, options.order), context=training.table())


def context_training(text: TrainingText, model: TaggerModel) -> ContextTraining:
    """Return the training of context emissions for a model of words."""
    attributes = None if model.attributes is None else model.attributes.attributes()
    return ContextTraining(text, model.tags, model.guesser.guesser(), model.options, attributes)


def train_words(
    text: TrainingText, options: TaggerOptions, knowledge: Knowledge = NO_KNOWLEDGE
) -> TaggerModel:
    """Learn lexicon and guesser; the transitions are of order 1."""
    check_choice("guesser", options.guesser, GUESSERS)
    tags = text.tags()
    tag_ids = {tag: i for i, tag in enumerate(tags)}
    counted = text.counted()
    lexicon = Lexicon.count_words(counted, tag_ids)
    examples = rare_examples(counted, tag_ids, options.rare)
    guesser: SuffixTable | FeatureTable
    if has_parts(tags, options):  # a table of all tags would be large, and the weights of parts guess better
        options = dataclasses.replace(options, guesser="suffix", suffix_length=0, **_UNTRAINED)
    if options.guesser == "suffix":
        counts = lexicon.tag_counts(len(tags))
        guesser = suffix_table(
            examples, counts / counts.sum(), options.suffix_length, options.shapes, options.theta
        )
    else:
        guesser = feature_table(
            examples,
            len(tags),
            epochs=options.epochs,
            rate=options.rate,
            penalty=options.penalty,
            seed=options.seed,
        )
    hidden = hidden_symbols(_known(text), options.lexicalize)
    transitions = train_transitions(hidden.sentences, 1, options.transitions)
    size = {"sentences": len(text.sentences), "tokens": sum(map(len, text.sentences))}
    return TaggerModel(
        options,
        tags,
        transitions,
        tuple(sorted(hidden.counts.items())),
        lexicon,
        guesser,
        size,
        attributes=knowledge.attributes(tags),
        allowed=knowledge.allowed(tags, counted),
    )


_UNTRAINED: dict[str, Any] = {  # options of a guesser that is not trained: the defaults
    name: TaggerOptions.__dataclass_fields__[name].default for name in ("epochs", "rate", "penalty", "seed")
}


def _known(text: TrainingText) -> Sequence[TaggedSentence]:
    """Return the words that have tags: sequences of order 1 may have gaps."""
    if text.is_complete:
        return text.sentences
    return [[(w, t) for w, t in s if t != NOT_ANNOTATED] for s in text.sentences]


def with_order(model: TaggerModel, text: TrainingText, order: int) -> TaggerModel:
    """Return the model with transitions of another order, trained on the same sentences."""
    options = dataclasses.replace(model.options, order=order)
    hidden = hidden_symbols(_known(text), options.lexicalize)
    return with_transitions(dataclasses.replace(model, options=options), hidden)


def with_transitions(model: TaggerModel, hidden: Hidden) -> TaggerModel:
    """Return the model with the transitions of hidden symbols."""
    options = model.options
    transitions = train_transitions(hidden.sentences, options.order, options.transitions)
    if options.emissions == "context":
        transitions = scaled(transitions, options.tags_weight)
    return dataclasses.replace(model, transitions=transitions, symbols=tuple(sorted(hidden.counts.items())))


def hidden_symbols(sentences: Sequence[TaggedSentence], lexicalize: int) -> Hidden:
    """Return the hidden symbols of tagged sentences."""
    symbol = functools.cache(Symbols(frequent_words(sentences, lexicalize)).symbol)
    hidden = [[symbol(word, tag) for word, tag in sentence] for sentence in sentences]
    return Hidden(hidden, Counter(itertools.chain.from_iterable(hidden)))
