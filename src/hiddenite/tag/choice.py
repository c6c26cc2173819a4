"""Which settings tag best: a race by k-fold cross-validation on the training text.

Order, the structured stage and the words that transitions see are tried on a fold, trained on the others,
with the ``sharp`` setting of the weights; so is the ``smooth`` setting, at the highest order with all words.
The better half goes on to the other folds, and the one with the most right tags over all is taken. One
held-out part is too small to choose by, for it often picks what was lucky there, but it tells what is far
behind; in small texts not even that, so that all are tried on all folds. If ``smooth`` is better than
``sharp`` where both are tried, the one that is taken gets it. A training is one thread's work, so the choice
does not depend on the number of cores.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from hiddenite.errors import ModelError
from hiddenite.tag.annotation import TrainingText
from hiddenite.tag.context import FoldModels, fold_of
from hiddenite.tag.formats import NOT_ANNOTATED, TaggedSentence
from hiddenite.tag.knowledge import NO_KNOWLEDGE, Knowledge
from hiddenite.tag.model import OrderTrial, TaggerModel
from hiddenite.tag.options import TaggerOptions
from hiddenite.tag.training import (
    context_training,
    hidden_symbols,
    split_held_out,
    train_model,
    train_words,
    with_order,
    with_transitions,
)

FOLDS = 5
FEW_SENTENCES = 1000  # below there is no race: the first fold is too small, and all are tried on all folds
RACERS = 3  # sharp settings that are tried on more than the first fold
ORDERS = (2, 3)
MIN_SENTENCES = 50  # fewer do not tell settings apart
MANY_SENTENCES = 5000  # enough for the default order and settings
SHARP, SMOOTH = "sharp", "smooth"
SETTINGS: dict[str, dict[str, float | bool]] = {
    SHARP: {"base_weight": 0.5, "context_penalty": 0.3, "hide_words": False},
    SMOOTH: {"base_weight": 0.25, "context_penalty": 1.0, "hide_words": True},
}

CountRight = Callable[[TaggerModel, Sequence[TaggedSentence]], int]


def chooses(options: TaggerOptions, size: int) -> bool:
    """Whether order and settings are chosen by default, with so many sentences."""
    return options.emissions == "context" and MIN_SENTENCES <= size < MANY_SENTENCES


def choose_options(
    text: TrainingText,
    options: TaggerOptions,
    count_right: CountRight,
    orders: Sequence[int] = ORDERS,
    knowledge: Knowledge = NO_KNOWLEDGE,
) -> tuple[TaggerOptions, list[OrderTrial]]:
    """Return the options that tag held-out sentences best, and what each was worth.

    The text is complete; words whose tags are guessed do not count.
    """
    size = len(text.sentences)
    if size < 2 * FOLDS:
        raise ModelError(
            f"there are {size} sentences, expected at least {2 * FOLDS} to choose the order with"
        )
    begin = time.perf_counter()
    folds = split_folds(text, FOLDS)
    racers = list(_settings(options, orders))
    first = _try_fold(folds[0], racers, count_right, knowledge)
    right = Counter(first)
    racers = racers if size < FEW_SENTENCES else _ahead(first)
    with ThreadPoolExecutor(min(len(folds) - 1, os.cpu_count() or 1)) as executor:
        for counts in executor.map(lambda f: _try_fold(f, racers, count_right, knowledge), folds[1:]):
            right.update(counts)
    seconds = (time.perf_counter() - begin) / len(right)
    sizes = [_count_tags(held_out) for _, held_out in folds]
    trials = [
        OrderTrial(o.order, n / (sum(sizes) if o in racers else sizes[0]), seconds, name_of(o), o in racers)
        for o, n in right.items()
    ]
    return _best({o: right[o] for o in racers}), trials


def _count_tags(gold: Sequence[TaggedSentence]) -> int:
    return max(1, sum(tag != NOT_ANNOTATED for sentence in gold for _, tag in sentence))


def _settings(options: TaggerOptions, orders: Sequence[int]) -> Iterator[TaggerOptions]:
    """Give the settings to try: sharp weights, the simplest first, then one of the smooth weights."""
    sharp, smooth = (_with(options, name) for name in (SHARP, SMOOTH))
    yield dataclasses.replace(sharp, order=max(orders), structured_epochs=0)
    for lexicalize in sorted({0, options.lexicalize}):
        for order in orders:
            yield dataclasses.replace(sharp, order=order, lexicalize=lexicalize)
    yield dataclasses.replace(smooth, order=max(orders))


def _ahead(right: Mapping[TaggerOptions, int]) -> list[TaggerOptions]:
    """Return the settings that go on: the best sharp ones; smooth, and its twin, if it is the better one."""
    sharp = [o for o in right if not _has(o, SMOOTH)]
    chosen = set(sorted(sharp, key=lambda o: _rank(o, right), reverse=True)[:RACERS])
    for smooth in right:
        if _has(smooth, SMOOTH) and right[smooth] > right[_twin(smooth)]:
            chosen |= {smooth, _twin(smooth)}
    return [o for o in right if o in chosen]


def _with(options: TaggerOptions, setting: str) -> TaggerOptions:
    return dataclasses.replace(options, **SETTINGS[setting])  # type: ignore[arg-type]


def _twin(smooth: TaggerOptions) -> TaggerOptions:
    return _with(smooth, SHARP)


def _rank(options: TaggerOptions, right: Mapping[TaggerOptions, int]) -> tuple[int, int, int, int]:
    """Return what is greater for the better setting, and for the simpler one among equals."""
    return right[options], -options.order, -options.structured_epochs, -options.lexicalize


def _best(right: Mapping[TaggerOptions, int]) -> TaggerOptions:
    """Return the best of the sharp settings; with smooth weights if those are better where both are tried."""
    best = max((o for o in right if not _has(o, SMOOTH)), key=lambda o: _rank(o, right))
    smooth = next((o for o in right if _has(o, SMOOTH)), None)
    if smooth is not None and right[smooth] > right[_twin(smooth)] and best.structured_epochs:
        return _with(best, SMOOTH)
    return best


def _has(options: TaggerOptions, setting: str) -> bool:
    return all(getattr(options, name) == value for name, value in SETTINGS[setting].items())


def name_of(options: TaggerOptions) -> str:
    """Return a setting in words."""
    kind = next((name for name in SETTINGS if _has(options, name)), "")
    stages = "structured" if options.structured_epochs else "local"
    return f"{kind}, {stages}, {options.lexicalize} words".strip(", ")


Fold = tuple[TrainingText, list[TaggedSentence]]


def split_folds(text: TrainingText, folds: int) -> list[Fold]:
    """Return for each fold the sentences of the others and its own."""
    size = len(text.sentences)
    fold = [fold_of(i, size, folds) for i in range(size)]
    return [
        (
            text.select(i for i in range(size) if fold[i] != f),
            text.select([i for i in range(size) if fold[i] == f]).gold(),
        )
        for f in range(folds)
    ]


def _try_fold(
    fold: Fold, settings: Sequence[TaggerOptions], count_right: CountRight, knowledge: Knowledge
) -> dict[TaggerOptions, int]:
    """Return how many tags of one fold each setting gets right; equal weights share the local stage."""
    kept, held_out = fold
    result = {}
    words = train_words(kept, settings[0], knowledge)
    hidden = functools.cache(lambda lexicalize: hidden_symbols(kept.sentences, lexicalize))
    for name in SETTINGS:
        chosen = [o for o in settings if _has(o, name)]
        if not chosen:
            continue
        longest = max(chosen, key=lambda o: o.structured_epochs)
        training = context_training(kept, dataclasses.replace(words, options=longest))
        training.local()
        state = training.snapshot() if sum(o.structured_epochs > 0 for o in chosen) > 1 else None
        for options in sorted(chosen, key=lambda o: o.structured_epochs):  # the local stage alone first
            if options.structured_epochs:
                if state is not None:
                    training.restore(state)
                training.structured(FoldModels.train(hidden(options.lexicalize), options.order, options))
            base = dataclasses.replace(words, options=options)
            model = with_transitions(base, hidden(options.lexicalize))
            result[options] = count_right(dataclasses.replace(model, context=training.table()), held_out)
    return {o: result[o] for o in settings}


def try_orders(
    text: TrainingText, options: TaggerOptions, orders: Iterable[int], count_right: CountRight
) -> list[OrderTrial]:
    """Return what each order of generative emissions is worth on a held-out tenth."""
    kept, rest = split_held_out(text)
    held_out = rest.gold()
    tokens = sum(map(len, held_out))
    trials = []
    words = train_model(kept, dataclasses.replace(options, order=1))
    for order in orders:
        begin = time.perf_counter()
        right = count_right(with_order(words, kept, order), held_out)
        trials.append(OrderTrial(order, right / tokens, time.perf_counter() - begin))
    return trials
