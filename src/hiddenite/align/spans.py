r"""Spans of one side carried to the other: names, and whatever else covers several words.

Word j of the target belongs to the image X of a source span S with probability q_j = min(1, Σ_{i in S}
p(i–j)). Of all target spans Y the one with the greatest expected agreement is chosen (minimum Bayes risk):

    E[F(X, Y)],   F = 2 |X ∩ Y| / (|X| + |Y|),   words independent of each other,

where «no span» has the agreement P(X is empty). |X ∩ Y| and |X \ Y| are sums of independent coins, so that
the expectation is exact; a span of n words with m likely members costs O(m⁴) at most, and m is small. Where
two spans want the same words, the one of greater agreement gets them and the other takes the best of what
is left.

Labels are BIO: ``B-PER I-PER O``; a span that begins with I- counts as one, «_» means «not annotated».
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hiddenite.align.evidence import Probabilities
from hiddenite.align.label_chain import Array
from hiddenite.align.projection import NOT_ANNOTATED, Projection
from hiddenite.errors import ModelError

OUTSIDE = "O"
LEAST = 0.01  # a word below is no member


@dataclass(frozen=True, slots=True)
class Span:
    """Words begin … end − 1 and what they are."""

    begin: int
    end: int
    label: str
    agreement: float = 1.0  # E[F] of a projected span


def read_spans(labels: Sequence[str]) -> list[Span]:
    """Return the spans of BIO labels; raises ModelError for other labels."""
    spans: list[Span] = []
    open_label = ""
    for place, label in enumerate(labels):
        if label in (OUTSIDE, NOT_ANNOTATED):
            open_label = ""
            continue
        kind, dash, name = label.partition("-")
        if not dash or not name or kind not in ("B", "I"):
            raise ModelError(f"word {place + 1} has the label '{label}', expected O, B-NAME or I-NAME")
        if kind == "I" and name == open_label:
            spans[-1] = Span(spans[-1].begin, place + 1, name)
        else:
            spans.append(Span(place, place + 1, name))
        open_label = name
    return spans


def write_spans(spans: Iterable[Span], length: int) -> list[str]:
    """Return BIO labels."""
    labels = [OUTSIDE] * length
    for span in spans:
        labels[span.begin : span.end] = [f"I-{span.label}"] * (span.end - span.begin)
        labels[span.begin] = f"B-{span.label}"
    return labels


# --------------------------------------------------------------------- one span


def membership(p: Probabilities, begin: int, end: int) -> Array:
    """Return q_j [target word]: that it belongs to the image of source words begin … end − 1."""
    return np.asarray(np.minimum(p[begin:end].sum(axis=0, dtype=np.float64), 1.0))


def best_span(q: Array, allowed: NDArray[np.bool_] | None = None) -> tuple[int, int, float] | None:
    """Return begin, end and expected agreement of the best span of allowed words; None: better no span."""
    members = np.flatnonzero(q >= LEAST)
    coins = q[members]
    before = _sums(coins)
    after = _sums(coins[::-1])[::-1]  # after[b]: of members b and later
    best, found = float(before[-1][0]), None
    blocked = np.concatenate([[0], np.cumsum(~allowed)]) if allowed is not None else np.zeros(len(q) + 1)
    for a in range(len(members)):
        inside = np.ones(1)
        for b in range(a, len(members)):
            inside = _add_coin(inside, coins[b])
            begin, end = int(members[a]), int(members[b]) + 1
            if blocked[end] > blocked[begin]:
                break
            agreement = _agreement(inside, np.convolve(before[a], after[b + 1]), end - begin)
            if agreement > best:
                best, found = agreement, (begin, end)
    return None if found is None else (*found, best)


def _sums(coins: Array) -> list[Array]:
    """Return [n]: the law of the number of heads among the first n coins."""
    laws = [np.ones(1)]
    for coin in coins:
        laws.append(_add_coin(laws[-1], float(coin)))
    return laws


def _add_coin(law: Array, coin: float) -> Array:
    return np.asarray(np.convolve(law, (1 - coin, coin)))


def _agreement(inside: Array, outside: Array, size: int) -> float:
    """Return E[2 K / (K + M + size)], K and M with these laws."""
    k = np.arange(len(inside))[:, None]
    m = np.arange(len(outside))[None, :]
    return float(inside @ (2 * k / (k + m + size)) @ outside)


# ------------------------------------------------------------- all of a sentence


def project_spans(
    labels: Sequence[str], words: Sequence[str], p: Probabilities, threshold: float
) -> tuple[Projection, tuple[Span, ...]]:
    """Carry the BIO labels of a source sentence to the target's words.

    A span whose agreement is below the threshold leaves its words without labels, and so does a word
    outside of spans whose probability to be outside is below.
    """
    given = read_spans(labels)
    images = [membership(p, span.begin, span.end) for span in given]
    placed = _place(given, images, len(words))
    names = (OUTSIDE, *sorted({f"{kind}-{span.label}" for span in given for kind in "BI"}))
    distribution = np.zeros((len(words), len(names)), dtype=np.float32)
    unknown = [place for place, label in enumerate(labels) if label == NOT_ANNOTATED]
    known = 1 - np.minimum(p[unknown].sum(axis=0, dtype=np.float64), 1.0)
    distribution[:, 0] = np.prod([1 - q for q in images], axis=0) * known if given else known
    for span in placed:
        distribution[span.begin : span.end, 0] = np.minimum(
            distribution[span.begin : span.end, 0], 1 - span.agreement
        )
    best = write_spans(placed, len(words))
    for span in placed:
        for place in range(span.begin, span.end):
            distribution[place, names.index(best[place])] = span.agreement
    top = [float(row[names.index(label)]) for row, label in zip(distribution, best, strict=True)]
    kept = tuple(label if p >= threshold else None for label, p in zip(best, top, strict=True))
    return Projection(tuple(words), kept, tuple(top), distribution, names), placed


def _place(given: Sequence[Span], images: Sequence[Array], length: int) -> tuple[Span, ...]:
    """Give each span its words, the surest first; no word twice."""
    allowed = np.ones(length, dtype=np.bool_)
    left = list(range(len(given)))
    placed = []
    while left:
        found = [(best_span(images[n], allowed), n) for n in left]
        sure = [(span[2], -n, span) for span, n in found if span is not None]
        if not sure:
            break
        agreement, minus, (begin, end, _) = max(sure)
        placed.append(Span(begin, end, given[-minus].label, agreement))
        allowed[begin:end] = False
        left.remove(-minus)
    return tuple(sorted(placed, key=lambda span: span.begin))
