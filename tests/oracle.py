"""Brute force: the questions the library answers fast, answered by definition on small cases.

`Backoff` is a back-off model as a dictionary; its maxima are found by trying every context. `kneser_ney` is
the estimator written from the formulas, one dictionary per quantity. No code is shared with the library.
"""

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

UNK, BOS, EOS = "<unk>", "<s>", "</s>"
LN_10 = math.log(10)

Ngram = tuple[str, ...]
Sentence = Sequence[str]
# An ARPA file's own numbers: log10 p and log10 bow, None where the column is missing.
ArpaRows = Mapping[Ngram, tuple[float, float | None]]


def single(log10_value: float) -> float:
    """The natural logarithm that a table of floats holds; -99 is the logarithm of zero."""
    return -math.inf if log10_value == -99 else float(np.float32(log10_value * LN_10))


# A back-off model


@dataclass(frozen=True)
class Backoff:
    """p(w | s) = p(s w) if (s, w) is listed, else bow(s) p(w | s without its first word)."""

    log_probs: Mapping[Ngram, float]  # natural
    log_backoffs: Mapping[Ngram, float]  # natural; a context that is not here has weight 1

    @staticmethod
    def from_rows(rows: ArpaRows, max_order: int | None = None) -> "Backoff":
        """The model of a file; `max_order` announces higher, empty orders, so that all weights count."""
        top = max_order or max(map(len, rows))
        return Backoff(
            # <s> only begins a context: nothing predicts it.
            {g: -math.inf if g[-1] == BOS else single(p) for g, (p, _) in rows.items()},
            {g: single(b) for g, (_, b) in rows.items() if b is not None and len(g) < top},
        )

    @cached_property
    def order(self) -> int:
        """One more than the words of the longest context that matters."""
        weighted = [c for c, weight in self.log_backoffs.items() if weight != 0.0]
        return max(*map(len, self.log_probs), *(len(c) + 1 for c in weighted), 1)

    @cached_property
    def words(self) -> list[str]:
        """What can be predicted: all words but <s>; <unk> and </s> exist in every model."""
        return sorted(({g[-1] for g in self.log_probs} | {UNK, EOS}) - {BOS})

    def is_closed(self) -> bool:
        """Whether each n-gram's context and suffix are listed."""
        return all(g[:-1] in self.log_probs and g[1:] in self.log_probs for g in self.log_probs if len(g) > 1)

    def rounding(self) -> float:
        """How far a table of floats may be off: the table has a number for each implied n-gram and for each
        maximum, both rounded to a float once per order, and none is larger than `order` listed ones added up.
        """
        listed = [*self.log_probs.values(), *self.log_backoffs.values()]
        largest = max((abs(x) for x in listed if math.isfinite(x)), default=0.0)
        return 2 * self.order * 2**-23 * self.order * largest + 1e-12

    def log_prob(self, word: str, context: Ngram) -> float:
        context = context[max(0, len(context) - self.order + 1) :]
        log_weight = 0.0
        while (*context, word) not in self.log_probs:
            if not context:
                return -math.inf
            log_weight += self.log_backoffs.get(context, 0.0)
            context = context[1:]
        return log_weight + self.log_probs[(*context, word)]

    def contexts(self) -> Iterator[Ngram]:
        """Every context that can matter; <s> stands at its beginning only."""
        for length in range(self.order):
            yield from itertools.product(self.words, repeat=length)
            if length > 0:
                for rest in itertools.product(self.words, repeat=length - 1):
                    yield (BOS, *rest)

    def conditionals(self) -> dict[tuple[Ngram, str], float]:
        """[context, word]: log_prob, for every context that can matter."""
        return {(c, w): self.log_prob(w, c) for c in self.contexts() for w in self.words}

    def max_log_probs(self) -> dict[tuple[Ngram, str], float]:
        """[context, word]: the largest log_prob over all contexts that end in this one, all tried."""
        best: dict[tuple[Ngram, str], float] = {}
        for (context, word), value in self.conditionals().items():
            for start in range(len(context) + 1):
                key = context[start:], word
                best[key] = max(best.get(key, -math.inf), value)
        return best

    def score(self, sentence: Sentence) -> float:
        """ln p(sentence </s> | <s>), words outside the vocabulary taken for <unk>."""
        words = [w if (w,) in self.log_probs else UNK for w in sentence]
        history = (BOS, *words)
        return sum(self.log_prob(w, history[: i + 1]) for i, w in enumerate([*words, EOS]))

    def perplexity(self, sentences: Iterable[Sentence]) -> float:
        pairs = [(self.score(s), len(s) + 1) for s in sentences]
        return math.exp(-sum(p for p, _ in pairs) / sum(n for _, n in pairs))


# ARPA text


def arpa_text(rows: ArpaRows, max_order: int | None = None) -> str:
    """The rows as a plain ARPA file; `max_order` announces higher, empty orders."""
    order = max_order or max(map(len, rows))
    levels = [[g for g in rows if len(g) == n] for n in range(1, order + 1)]
    lines = ["\\data\\", *(f"ngram {n}={len(level)}" for n, level in enumerate(levels, 1))]
    for n, level in enumerate(levels, 1):
        lines += ["", f"\\{n}-grams:", *(arpa_line(g, *rows[g]) for g in level)]
    return "\n".join([*lines, "", "\\end\\", ""])


def arpa_line(ngram: Ngram, log10_prob: float, log10_backoff: float | None) -> str:
    columns = [repr(log10_prob), " ".join(ngram)]
    return "\t".join(columns if log10_backoff is None else [*columns, repr(log10_backoff)])


def parse_arpa(text: str) -> dict[Ngram, list[float]]:
    """The numbers of each line of a file that our own writer made: log10 p, then what follows the words."""
    rows = {}
    n = 0
    for line in text.splitlines():
        if line.startswith("\\") and line.endswith("-grams:"):
            n = int(line[1 : -len("-grams:")])
        elif "\t" in line:
            prob, ngram, *others = line.split("\t")
            words = tuple(ngram.split(" "))
            assert len(words) == n
            assert words not in rows
            rows[words] = [float(prob), *map(float, others)]
    return rows


# Interpolated modified Kneser-Ney


@dataclass(frozen=True)
class Estimate:
    """A Kneser-Ney model."""

    model: Backoff
    discounts: list[tuple[float, float, float]]  # [n - 1]: D1, D2, D3+
    fallen_back: list[bool]  # [n - 1]: the closed form does not exist


def kneser_ney(
    sentences: Sequence[Sentence],
    order: int,
    prune: Sequence[int] = (),
    unknown_below: int = 0,
    vocabulary: Collection[str] | None = None,
) -> Estimate:
    """Chen & Goodman's estimator as lmplz implements it, in double precision."""
    ids = _ids_by_appearance(sentences, unknown_below, vocabulary)
    texts = [[w if w in ids else UNK for w in sentence] for sentence in sentences]
    windows = [window for text in texts for window in _windows(text, order)]
    raw = Counter(window[-n:] for window in windows for n in range(1, len(window) + 1))
    extensions = Counter(g[1:] for g in raw)  # each n-gram once: the number of different words to the left
    adjusted = {g: c if len(g) == order or g[0] == BOS else extensions[g] for g, c in raw.items()}
    adjusted |= {(w,): 0 for w in ids if (w,) not in adjusted}
    last = max(windows, key=lambda window: [ids[w] for w in reversed(window)])
    top = max(map(len, adjusted))

    discounts, fallen_back = [], []
    for n in range(1, top + 1):
        statistics = {g: c for g, c in adjusted.items() if len(g) == n}
        if n < order and n <= len(last):
            statistics[last[-n:]] = raw[last[-n:]]  # lmplz's slip: this one n-gram is not adjusted
        closed_form = _closed_form_discounts(Counter(statistics.values()))
        discounts.append(closed_form or (0.5, 1.0, 1.5))
        fallen_back.append(closed_form is None)

    def discount(g: Ngram) -> float:
        return discounts[len(g) - 1][min(adjusted[g], 3) - 1] if adjusted[g] > 0 else 0.0

    def is_pruned(g: Ngram) -> bool:
        return len(g) > 1 and bool(prune) and raw[g] <= prune[min(len(g), len(prune)) - 1]

    totals: Counter[Ngram] = Counter()
    freed: dict[Ngram, float] = {}  # the mass that a context gives to its suffix
    for g, c in adjusted.items():
        totals[g[:-1]] += c
        freed[g[:-1]] = freed.get(g[:-1], 0.0) + (c if is_pruned(g) else discount(g))

    def gamma(context: Ngram) -> float:
        return freed[context] / totals[context] if totals[context] else 1.0

    probs: dict[Ngram, float] = {}
    for g in sorted(adjusted, key=len):
        lower = probs[g[1:]] if len(g) > 1 else 1 / (len(ids) - 1)
        probs[g] = (adjusted[g] - discount(g)) / totals[g[:-1]] + gamma(g[:-1]) * lower
    kept = [g for g in adjusted if not is_pruned(g)]
    model = Backoff(
        {g: -math.inf if g == (BOS,) else _log(probs[g]) for g in kept},
        {g: _log(gamma(g)) for g in kept if len(g) < top},
    )
    return Estimate(model, discounts, fallen_back)


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _ids_by_appearance(
    sentences: Sequence[Sentence], unknown_below: int, vocabulary: Collection[str] | None
) -> dict[str, int]:
    """The words of the model in the order in which they appear, those of a given vocabulary first."""
    counts = Counter(w for sentence in sentences for w in sentence)
    seen = counts if vocabulary is None else dict.fromkeys(vocabulary)
    kept = [w for w in seen if counts[w] >= unknown_below]
    return {w: i for i, w in enumerate(dict.fromkeys([UNK, BOS, EOS, *kept]))}


def _windows(words: Sentence, order: int) -> Iterator[Ngram]:
    """For each predicted token the n-gram of up to `order` words that it ends."""
    tokens = (BOS, *words, EOS)
    for end in range(2, len(tokens) + 1):
        yield tokens[max(0, end - order) : end]


def _closed_form_discounts(num: Counter[int]) -> tuple[float, float, float] | None:
    if not (num[1] and num[2] and num[3]):
        return None
    y = num[1] / (num[1] + 2 * num[2])
    d1, d2, d3 = (k - (k + 1) * y * num[k + 1] / num[k] for k in (1, 2, 3))
    return (d1, d2, d3) if 0 <= d1 <= 1 and 0 <= d2 <= 2 and 0 <= d3 <= 3 else None
