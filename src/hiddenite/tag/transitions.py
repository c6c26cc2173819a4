"""Which tag follows which: the tags' n-gram model, estimated in one of two ways.

``kneser-ney`` takes tags for words: interpolated modified Kneser-Ney (:meth:`NgramModel.train`). There are so
few tags that the closed-form discounts of the lowest order often do not exist; it then uses 0.5, 1 and 1.5.

``deleted-interpolation`` is TnT's (Brants 2000, section 2.2), here for any order N. With relative
frequencies f,

    p(t | t_1 .. t_(N-1)) = sum over n of lambda_n f(t | the last n - 1 tags),

the lambdas found by taking each n-gram out of the counts once and asking which order then predicts it best.
With L_n = lambda_1 + .. + lambda_n this is the recursion

    p_n(t | h) = (1 - L_(n-1) / L_n) f(t | h) + L_(n-1) / L_n p_(n-1)(t | h without its first tag),

a back-off model: a tag unseen after h has the second term alone, and a history that was never seen passes to
the shorter one. So it is handed on as an ARPA table, and the engine knows one kind of model.
"""

from __future__ import annotations

import math
import threading
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from hiddenite._core import read_arpa
from hiddenite.errors import HiddeniteWarning, UnknownSymbolError, near_spellings
from hiddenite.files.corpus import chunk_source
from hiddenite.ngram import NgramModel
from hiddenite.vocabulary import SENTENCE_BEGIN, SENTENCE_END, UNKNOWN

TransitionsName = Literal["kneser-ney", "deleted-interpolation"]
TRANSITIONS = ("kneser-ney", "deleted-interpolation")
_NEVER = -99.0  # ARPA's log10 of zero
_FILTERS = threading.Lock()  # the filters of warnings are the process's, and folds are trained in threads

Ngram = tuple[str, ...]


def train_transitions(sentences: Sequence[Sequence[str]], order: int, kind: str) -> NgramModel:
    """Estimate the tags' n-gram model; ``sentences`` are of tags."""
    if kind == "kneser-ney":
        with _FILTERS, warnings.catch_warnings():
            warnings.simplefilter("ignore", HiddeniteWarning)  # the fall-back of the discounts, see above
            return NgramModel.train(sentences, order=order)
    if kind == "deleted-interpolation":
        return interpolated_model(sentences, order)
    raise UnknownSymbolError("transition model", kind, near_spellings(kind, TRANSITIONS) or TRANSITIONS)


def interpolated_model(sentences: Sequence[Sequence[str]], order: int) -> NgramModel:
    """Estimate by deleted interpolation."""
    windows = Counter(window for tags in sentences for window in _windows(tags, order))
    counts: Counter[Ngram] = Counter()
    contexts: Counter[Ngram] = Counter()
    for window, count in windows.items():
        for n in range(1, len(window) + 1):
            counts[window[-n:]] += count
            contexts[window[-n:-1]] += count
    lambdas = deleted_interpolation(windows, counts, contexts, order)
    text = _arpa_text(counts, contexts, lambdas)
    table, _, _ = read_arpa(chunk_source(iter([text.encode()])), "<tags>", None)
    return NgramModel(table)


def _windows(tags: Sequence[str], order: int) -> Iterator[Ngram]:
    """Give for each predicted tag, </s> included, the n-gram of up to ``order`` tags that it ends."""
    symbols = (SENTENCE_BEGIN, *tags, SENTENCE_END)
    for end in range(2, len(symbols) + 1):
        yield symbols[max(0, end - order) : end]


def deleted_interpolation(
    windows: Counter[Ngram], counts: Counter[Ngram], contexts: Counter[Ngram], order: int
) -> list[float]:
    """Return lambda_1 .. lambda_order; orders that predict an n-gram equally well share it.

    Order 1 has one vote more, so that no transition is ever impossible.
    """
    votes = [1.0, *[0.0] * (order - 1)]
    for window, count in windows.items():
        left_out = [
            _ratio(counts[window[-n:]] - 1, contexts[window[-n:-1]] - 1) for n in range(1, len(window) + 1)
        ]
        best = max(left_out)
        winners = [i for i, value in enumerate(left_out) if value == best]
        for i in winners:
            votes[i] += count / len(winners)
    total = sum(votes)
    return [v / total for v in votes]


def _ratio(a: int, b: int) -> float:
    return a / b if b > 0 else 0.0


def _arpa_text(counts: Counter[Ngram], contexts: Counter[Ngram], lambdas: Sequence[float]) -> str:
    """Return the recursion's back-off table."""
    order = len(lambdas)
    passed_on = [1.0]  # [n - 1]: L_(n-1) / L_n, what order n leaves to the one below
    for n in range(2, order + 1):
        below, here = math.fsum(lambdas[: n - 1]), math.fsum(lambdas[:n])
        passed_on.append(below / here)
    probs: dict[Ngram, float] = {}
    levels: list[list[str]] = [[] for _ in range(order)]
    for ngram in sorted(counts, key=lambda g: (len(g), g)):
        n = len(ngram)
        frequency = counts[ngram] / contexts[ngram[:-1]]
        weight = passed_on[n - 1] if n > 1 else 0.0
        probs[ngram] = (1 - weight) * frequency + (weight * probs[ngram[1:]] if n > 1 else 0.0)
        back_off = None if n == order else _back_off(ngram, contexts, passed_on)
        levels[n - 1].append(_arpa_line(ngram, probs[ngram], back_off))
    begin_back_off = None if order == 1 else _back_off((SENTENCE_BEGIN,), contexts, passed_on)
    levels[0] += [_arpa_line((UNKNOWN,), 0.0, None), _arpa_line((SENTENCE_BEGIN,), 0.0, begin_back_off)]
    lines = ["\\data\\", *(f"ngram {n}={len(level)}" for n, level in enumerate(levels, 1))]
    for n, level in enumerate(levels, 1):
        lines += ["", f"\\{n}-grams:", *level]
    return "\n".join([*lines, "", "\\end\\", ""])


def _back_off(ngram: Ngram, contexts: Counter[Ngram], passed_on: Sequence[float]) -> float:
    """Return the weight of a history: what the next order passes on, 1 for one that was never followed."""
    n = len(ngram)
    return passed_on[n] if n < len(passed_on) and contexts[ngram] else 1.0


def _arpa_line(ngram: Ngram, prob: float, back_off: float | None) -> str:
    columns = [str(_log10(prob)), " ".join(ngram)]
    return "\t".join(columns if back_off is None else [*columns, str(_log10(back_off))])


def _log10(x: float) -> float:
    return math.log10(x) if x > 0 else _NEVER
