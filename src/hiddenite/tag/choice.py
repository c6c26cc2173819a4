"""Which settings tag best: k-fold cross-validation on the training text.

Order, the structured stage and the words that transitions see are tried on every fold, trained on the others,
with the ``sharp`` setting of the weights; the one with the most right tags over all folds is taken. It gets
the ``smooth`` setting if that one is better where both are tried, at the highest order with all words. One
held-out tenth is too small for that: it often picks what was lucky there. The folds run beside each other,
and each is one thread's work, so the choice does not depend on the number of cores.
"""

from __future__ import annotations

import dataclasses
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
)

FOLDS = 5
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
    folds = [split_fold(text, fold) for fold in range(FOLDS)]
    workers = min(FOLDS, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as executor:
        found = list(executor.map(lambda f: _try_fold(f, options, orders, count_right, knowledge), folds))
    right: Counter[TaggerOptions] = Counter()
    for counts in found:
        right.update(counts)
    tokens = sum(tag != NOT_ANNOTATED for sentence in text.gold() for _, tag in sentence)
    seconds = (time.perf_counter() - begin) / len(right)
    trials = [OrderTrial(o.order, n / tokens, seconds, name_of(o)) for o, n in right.items()]
    return _best(right), trials


def _best(right: Mapping[TaggerOptions, int]) -> TaggerOptions:
    """Return the best of the sharp settings, the simplest among equals; smooth if that is better."""
    smooth = next(o for o in right if _has(o, SMOOTH))
    sharp = dataclasses.replace(smooth, **SETTINGS[SHARP])  # type: ignore[arg-type]
    rest = [o for o in right if o != smooth]
    best = max(rest, key=lambda o: (right[o], -o.order, -o.structured_epochs, -o.lexicalize))
    if right[smooth] > right[sharp] and best.structured_epochs:
        return dataclasses.replace(best, **SETTINGS[SMOOTH])  # type: ignore[arg-type]
    return best


def _has(options: TaggerOptions, setting: str) -> bool:
    return all(getattr(options, name) == value for name, value in SETTINGS[setting].items())


def name_of(options: TaggerOptions) -> str:
    """Return a setting in words."""
    kind = next((name for name in SETTINGS if _has(options, name)), "")
    stages = "structured" if options.structured_epochs else "local"
    return f"{kind}, {stages}, {options.lexicalize} words".strip(", ")


def split_fold(text: TrainingText, fold: int) -> tuple[TrainingText, list[TaggedSentence]]:
    """Return the sentences of the other folds and those of this one."""
    size = len(text.sentences)
    here = [i for i in range(size) if fold_of(i, size, FOLDS) == fold]
    return text.select(i for i in range(size) if fold_of(i, size, FOLDS) != fold), text.select(here).gold()


def _try_fold(
    fold: tuple[TrainingText, list[TaggedSentence]],
    options: TaggerOptions,
    orders: Sequence[int],
    count_right: CountRight,
    knowledge: Knowledge,
) -> dict[TaggerOptions, int]:
    """Return how many tags of one fold each setting gets right."""
    kept, held_out = fold
    result = {}
    words = train_words(kept, options, knowledge)
    transitions = {
        (order, lexicalize): _transitions(words, kept, order, lexicalize)
        for order in orders
        for lexicalize in {0, options.lexicalize}
    }
    for name, values in SETTINGS.items():
        setting = dataclasses.replace(options, **values)  # type: ignore[arg-type]
        training = context_training(kept, dataclasses.replace(words, options=setting))
        training.local()
        state = training.snapshot()
        for chosen in _stages(setting, orders) if name == SHARP else [_last(setting, orders)]:
            base, folds = transitions[chosen.order, chosen.lexicalize]
            if chosen.structured_epochs:
                training.restore(state)
                training.structured(folds)
            model = dataclasses.replace(base, options=chosen, context=training.table())
            result[chosen] = count_right(model, held_out)
    return result


def _transitions(
    words: TaggerModel, kept: TrainingText, order: int, lexicalize: int
) -> tuple[TaggerModel, FoldModels]:
    """Return the model with its transitions, and those of the structured stage."""
    options = dataclasses.replace(words.options, order=order, lexicalize=lexicalize)
    model = with_order(dataclasses.replace(words, options=options), kept, order)
    return model, FoldModels.train(hidden_symbols(kept.sentences, lexicalize), order, options)


def _last(setting: TaggerOptions, orders: Sequence[int]) -> TaggerOptions:
    return dataclasses.replace(setting, order=max(orders))


def _stages(setting: TaggerOptions, orders: Sequence[int]) -> Iterator[TaggerOptions]:
    """Give the settings that share the local stage: without the structured one first."""
    yield dataclasses.replace(setting, order=max(orders), structured_epochs=0)
    for lexicalize in sorted({0, setting.lexicalize}):
        for order in orders:
            yield dataclasses.replace(setting, order=order, lexicalize=lexicalize)


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
