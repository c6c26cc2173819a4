"""Training with raw text beside the tagged: word classes, and a tagger that learns from its own answers.

Both can help and both can hurt, so that cross-validation on the tagged text decides about each:

- classes of words that occur alike (:mod:`hiddenite.tag.knowledge`), as features;
- self-training: the tagger tags some of the raw sentences, keeps the tags whose posterior probability is at
  least a threshold, takes the other words for not annotated, and is trained again on both. Posteriors are
  exact, so that the share of wrong tags among those kept is near what they say. The threshold is one of
  ``THRESHOLDS``, that which gains most on held-out tagged sentences; if none gains more than chance would
  give it, there is no self-training. It is tried where there are few tagged sentences; with many it costs
  much and gives nothing.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from hiddenite._core import TaskKind
from hiddenite.query import Query
from hiddenite.results import Marginals
from hiddenite.tag.annotation import LabelledSentence, TrainingText
from hiddenite.tag.answers import Tagged
from hiddenite.tag.choice import FOLDS, ORDERS, choose_options, split_folds
from hiddenite.tag.formats import NOT_ANNOTATED, TaggedSentence
from hiddenite.tag.knowledge import NO_KNOWLEDGE, Knowledge, word_classes
from hiddenite.tag.model import OrderTrial
from hiddenite.tag.options import TaggerOptions
from hiddenite.tag.tagger import Tagger
from hiddenite.tag.training import completed, normal_words, train_model, training_text

THRESHOLDS = (0.8, 0.9, 0.95)  # of posterior probabilities
MOST_TAGGED = 1000  # sentences; with more no self-training is tried
LEAST_GAIN = 0.5  # of a standard error: what classes and self-training must gain, a tie is not enough
MOST_RAW = 1000  # raw sentences that it learns from


def train_with_raw(
    tagged: Iterable[LabelledSentence],
    raw: Iterable[Sequence[str]],
    options: TaggerOptions | None = None,
    knowledge: Knowledge = NO_KNOWLEDGE,
    *,
    choose: bool = True,
    on_trial: Callable[[OrderTrial], None] | None = None,
) -> Tagger:
    """Train on tagged sentences and raw ones; without ``choose`` with these options and the classes."""
    recipe = options or TaggerOptions()
    text = training_text(tagged, recipe, knowledge)
    sentences = [list(normal_words(words, recipe.normal_form)) for words in raw]
    known = [[word for word, _ in sentence] for sentence in text.sentences]
    with_classes = dataclasses.replace(knowledge, classes=word_classes([*known, *sentences]))
    if not choose:
        return Tagger(train_model(text, recipe, with_classes))
    text = completed(text, dataclasses.replace(recipe, order=min(ORDERS)), with_classes)
    best, used, trials = _choose_classes(text, recipe, (knowledge, with_classes))
    tagger = Tagger(train_model(text, best, used))
    chosen = _spread([words for words in sentences if words])
    if chosen and len(text.sentences) <= MOST_TAGGED:
        threshold, gains = _choose_threshold(text, chosen, best, used)
        accuracy, tokens = max(t.accuracy for t in trials if t.on_all), count_tagged(text.gold())
        for value, gain in gains.items():
            name = f"self-training from p ≥ {value}{', taken' * (value == threshold)}"
            trials.append(OrderTrial(best.order, accuracy + gain / max(tokens, 1), 0.0, name))
        if threshold is not None:
            tagger = _self_trained(tagger, text, best_tags(tagger, chosen), threshold, used)
    if on_trial is not None:
        for trial in trials:
            on_trial(trial)
    return Tagger(tagger.model, trials)


def count_tagged(gold: Iterable[TaggedSentence]) -> int:
    """Return the number of words that have a tag."""
    return sum(tag != NOT_ANNOTATED for sentence in gold for _, tag in sentence)


def _choose_classes(
    text: TrainingText, recipe: TaggerOptions, tried: Sequence[Knowledge]
) -> tuple[TaggerOptions, Knowledge, list[OrderTrial]]:
    """Return the options and the knowledge that tag held-out sentences best, and all trials.

    The first is the simpler one: another must gain more than chance would give it.
    """
    trials: list[OrderTrial] = []
    best: tuple[float, TaggerOptions, Knowledge] | None = None
    tokens = count_tagged(text.gold())
    for knowledge in tried:
        options, found = choose_options(text, recipe, Tagger.count_right, ORDERS, knowledge)
        suffix = ", classes" if knowledge.classes else ""
        trials += [dataclasses.replace(t, setting=t.setting + suffix) for t in found]
        accuracy = max(t.accuracy for t in found if t.on_all)
        error = math.sqrt(accuracy * (1 - accuracy) / max(tokens, 1))
        if best is None or accuracy > best[0] + LEAST_GAIN * error:
            best = accuracy, options, knowledge
    assert best is not None
    return best[1], best[2], trials


def _spread(sentences: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Return at most ``MOST_RAW`` sentences, evenly from the whole text."""
    step = max(1.0, len(sentences) / MOST_RAW)
    return [sentences[int(i * step)] for i in range(min(len(sentences), MOST_RAW))]


Posteriors = Sequence[tuple[Sequence[str], Sequence[tuple[str, float]]]]  # words, their best tags with p


def best_tags(tagger: Tagger, raw: Iterable[Sequence[str]]) -> Posteriors:
    """Return raw sentences with each word's most probable tag and its probability."""
    return [
        (answer.words or (), [max(slot, key=lambda pair: pair[1]) for slot in answer.slots])
        for answer in tagger.answer_many(map(list, raw), Query(TaskKind.MARGINALS), threads=1)
        if isinstance(answer, Marginals)
    ]


def confident_labels(found: Posteriors, threshold: float) -> list[list[tuple[str, str]]]:
    """Return the sentences with the tags of at least this probability, ``_`` for the other words."""
    return [
        [(word, tag if p >= threshold else NOT_ANNOTATED) for word, (tag, p) in zip(words, best, strict=True)]
        for words, best in found
    ]


def _self_trained(
    tagger: Tagger, text: TrainingText, found: Posteriors, threshold: float, knowledge: Knowledge
) -> Tagger:
    """Return a tagger that was trained on the text and on what this one is sure of."""
    options = tagger.model.options
    more = training_text(confident_labels(found, threshold), options, knowledge)
    return Tagger(train_model(text + more, options, knowledge))


def _choose_threshold(
    text: TrainingText, raw: Sequence[Sequence[str]], options: TaggerOptions, knowledge: Knowledge
) -> tuple[float | None, dict[float, int]]:
    """Return the threshold that gains most on held-out sentences, None if none does, and all gains in tags.

    A gain counts if it is more than half a standard error of the difference: if n tags changed between right
    and wrong, of the square root of n. Folds run beside each other, as for the settings.
    """
    folds = split_folds(text, FOLDS)
    with ThreadPoolExecutor(min(FOLDS, os.cpu_count() or 1)) as executor:
        found = list(executor.map(lambda fold: _try_thresholds(fold, raw, options, knowledge), folds))
    gains = {t: sum(one[t][0] for one in found) for t in THRESHOLDS}
    best = max(THRESHOLDS, key=lambda threshold: gains[threshold])
    changes = sum(one[best][1] for one in found)
    return best if gains[best] > LEAST_GAIN * math.sqrt(changes) else None, gains


def _try_thresholds(
    fold: tuple[TrainingText, Sequence[TaggedSentence]],
    raw: Sequence[Sequence[str]],
    options: TaggerOptions,
    knowledge: Knowledge,
) -> dict[float, tuple[int, int]]:
    """Return for each threshold how many more tags of a fold are right, and how many changed."""
    kept, held_out = fold
    before = Tagger(train_model(kept, options, knowledge))
    was_right = right_tags(before, held_out)
    found = best_tags(before, raw)
    result = {}
    for threshold in THRESHOLDS:
        is_right = right_tags(_self_trained(before, kept, found, threshold, knowledge), held_out)
        changed = sum(a != b for a, b in zip(is_right, was_right, strict=True))
        result[threshold] = sum(is_right) - sum(was_right), changed
    return result


def right_tags(tagger: Tagger, gold: Sequence[TaggedSentence]) -> list[bool]:
    """Return, for each word that has a gold tag, whether the tagger finds it."""
    answers = tagger.tag_many(([word for word, _ in sentence] for sentence in gold), threads=1)
    return [
        isinstance(answer, Tagged) and answer.tags[i] == tag
        for sentence, answer in zip(gold, answers, strict=True)
        for i, (_, tag) in enumerate(sentence)
        if tag != NOT_ANNOTATED
    ]
