"""From a chain to a tagger: the predictive probabilities of one state of the sampler.

A Pitman-Yor restaurant with discount a and strength b, C customers at T tables, c of them at t tables of dish
x, serves the next customer

    p(x) = (c - a t) / (b + C)  +  (b + a T) / (b + C)  p_below(x),

which is a back-off model: dishes that were served have the whole sum, the others the second term alone, and
an empty restaurant passes to the one below. So the transitions are written as an ARPA table, and the engine
knows one kind of model. The sampler pads a sentence with order - 1 boundaries; ARPA has one <s>. An n-gram
that begins with <s> takes the probability of the padded one, and the back-off weight of <s> h is the product
of those of $ h, $ $ h, ..: what was never served after the longest was never served after the others.

Emissions are the same formula, with the base that the model has: 1 / V, one over the number e_t of words that
may have the tag, or the tag's character bigrams. A word that was never seen is a draw from the base: with a
lexicon model times e_t / V, the share of words that may have the tag, and 1 / (e_t + 1) for 1 / e_t; without
character model as if it were one of the V words; characters that were never seen are one more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenite._core import InductionChain, read_arpa
from hiddenite.files.corpus import chunk_source
from hiddenite.induction.capitals import with_capitals
from hiddenite.induction.options import InduceOptions
from hiddenite.ngram import NgramModel
from hiddenite.tag.emissions import EmissionTable, SpellingTable
from hiddenite.tag.model import TaggerModel
from hiddenite.tag.options import TaggerOptions
from hiddenite.tag.tagger import Tagger
from hiddenite.vocabulary import SENTENCE_BEGIN, SENTENCE_END, UNKNOWN

Floats = NDArray[Any]  # np.float64
Ints = NDArray[Any]
_NEVER = -99.0  # ARPA's log10 of zero


@dataclass(frozen=True, slots=True, eq=False)
class EmissionCounts:
    """Customers and tables of (word, tag); word i has ``tag[begin[i]:begin[i + 1]]``."""

    begin: Ints
    tag: Ints
    customers: Ints
    tables: Ints


@dataclass(frozen=True, slots=True, eq=False)
class SpellingCounts:
    """Customers and tables of a level of the character model; ``before`` is -1 on the lower one."""

    tag: Ints
    before: Ints  # the number of the character; BEGIN is as many as there are
    after: Ints  # END is as many as there are
    customers: Ints
    tables: Ints


@dataclass(frozen=True, slots=True, eq=False)
class ChainCounts:
    """All that a state of the sampler counts."""

    num_tags: int
    parameters: Mapping[str, tuple[float, float]]  # (a, b) by level
    transitions: Sequence[tuple[Ints, Ints]]  # [level]: customers and tables of all n-grams, M^(level + 1)
    emissions: EmissionCounts
    spelling: tuple[SpellingCounts, SpellingCounts] | None  # lower and upper level
    classes: tuple[Ints, Ints] | None  # begin, tag: those each word may have; None: all
    lexicon: str = "none"  # or published, singletons, heads


def chain_counts(chain: InductionChain, options: InduceOptions) -> ChainCounts:
    """Read what a chain counts."""
    spelling = None
    if options.has_spelling:
        lower, upper = (SpellingCounts(*chain.spelling_counts(level)) for level in (0, 1))
        spelling = (lower, upper)
    lexicon = options.variant if options.family == "lex" else "none"
    return ChainCounts(
        options.tags,
        dict(chain.hyperparameters()),
        [chain.transition_counts(level) for level in range(options.order)],
        EmissionCounts(*chain.emission_counts()),
        spelling,
        chain.classes() if options.family != "pyp" else None,
        lexicon,
    )


def make_tagger(
    counts: ChainCounts,
    names: Sequence[str],
    words: Sequence[str],
    characters: Sequence[str],
    training: Mapping[str, Any] | None = None,
    *,
    normal_form: str = "none",
    capitals: float = 0.0,
) -> Tagger:
    """Return the tagger of a state; ``names`` are those of the tags, ``training`` says how it was made.

    ``normal_form`` is the one of Unicode that the words have; ``capitals`` the share of the words without
    capital that have one where it says nothing.
    """
    order = len(counts.transitions)
    emissions = emission_table(counts, words, characters)
    if capitals > 0.0:
        emissions = with_capitals(emissions, capitals)
    tokens = np.bincount(counts.emissions.tag, counts.emissions.customers, counts.num_tags)
    model = TaggerModel(
        TaggerOptions(
            order=order,
            emissions="generative",
            guesser="spelling",
            lexicalize=0,
            guess_weight=0.0,
            floor=0.0,
            normal_form=normal_form,
        ),
        tuple(names),
        transition_model(counts, names),
        tuple((name, max(1, int(n))) for name, n in zip(names, tokens, strict=True)),
        emissions,
        spelling_table(counts, len(words), characters),
        dict(training or {}),
    )
    return Tagger(model)


# ------------------------------------------------------------------ transitions


def transition_probs(counts: ChainCounts) -> tuple[list[Floats], list[Floats]]:
    """Return per level p [context, symbol], and the weight that each context leaves to the level below."""
    num_symbols = counts.num_tags + 1
    below: Floats = np.full((1, num_symbols), 1.0 / num_symbols)
    probs, leaves = [], []
    for level, (customers, tables) in enumerate(counts.transitions):
        a, b = counts.parameters[f"transition{level}"]
        c = np.asarray(customers, dtype=np.float64).reshape(-1, num_symbols)
        t = np.asarray(tables, dtype=np.float64).reshape(-1, num_symbols)
        total = b + c.sum(axis=1)
        leave = _ratio(b + a * t.sum(axis=1), total)
        if level > 0:  # the context without its most distant tag
            below = np.tile(below, (num_symbols, 1))
        below = _ratio(c - a * t, total[:, None]) + leave[:, None] * below
        probs.append(below)
        leaves.append(leave)
    return probs, leaves


def _ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole; with b = 0 an empty restaurant has 0 / 0 and passes all on."""
    safe = np.where(whole > 0, whole, 1.0)
    return np.where(whole > 0, part / safe, 1.0 if part.ndim == 1 else 0.0)


def transition_model(counts: ChainCounts, names: Sequence[str]) -> NgramModel:
    """Write the predictive probabilities as an ARPA table."""
    text = "\n".join(_arpa_lines(counts, names))
    table, _, _ = read_arpa(chunk_source(iter([text.encode()])), "<induced tags>", None)
    return NgramModel(table)


def _arpa_lines(counts: ChainCounts, names: Sequence[str]) -> Iterator[str]:
    probs, leaves = transition_probs(counts)
    order, boundary = len(probs), counts.num_tags
    levels: list[list[str]] = [[] for _ in range(order)]
    levels[0].append(f"{_NEVER}\t{UNKNOWN}")
    levels[0].append(_line(0.0, (SENTENCE_BEGIN,), _leave(leaves, (boundary,), boundary)))
    for ngram, prob in _listed(counts, probs):
        spelled = [names[s] if s < boundary else SENTENCE_BEGIN for s in ngram]
        if ngram[-1] == boundary:
            spelled[-1] = SENTENCE_END
        ends = len(ngram) == order or ngram[-1] == boundary
        weight = None if ends else _leave(leaves, ngram, boundary)
        levels[len(ngram) - 1].append(_line(prob, spelled, weight))
    yield "\\data\\"
    yield from (f"ngram {n}={len(level)}" for n, level in enumerate(levels, 1))
    for n, level in enumerate(levels, 1):
        yield f"\n\\{n}-grams:"
        yield from level
    yield "\n\\end\\\n"


def _listed(counts: ChainCounts, probs: Sequence[Floats]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Give the n-grams of the table: all single symbols, and what was seen, with one boundary at most."""
    order, boundary = len(probs), counts.num_tags
    for symbol, prob in enumerate(probs[0][0].tolist()):
        yield (symbol,), prob
    for level in range(1, order):
        shape = (boundary + 1,) * (level + 1)
        seen = np.flatnonzero(np.asarray(counts.transitions[level][0]) > 0)
        cells = np.stack(np.unravel_index(seen, shape), axis=1)
        values = probs[level].ravel()[seen].tolist()
        for cell, prob in zip(cells.tolist(), values, strict=True):
            padding = sum(symbol == boundary for symbol in cell[:-1])  # boundaries come first
            if padding == 0 or level == order - 1:
                yield tuple(cell[max(0, padding - 1) :]), prob


def _leave(leaves: Sequence[Floats], context: Sequence[int], boundary: int) -> float | None:
    """Return the back-off weight of a context; None for a model that has no use for it."""
    order, length = len(leaves), len(context)
    if length >= order:
        return None
    paddings = range(order - length) if context[0] == boundary else range(1)
    weight = 1.0
    for padding in paddings:
        code = 0
        for symbol in (boundary,) * padding + tuple(context):
            code = code * (boundary + 1) + symbol
        weight *= float(leaves[length + padding][code])
    return weight


def _line(prob: float, ngram: Sequence[str], weight: float | None) -> str:
    columns = [repr(_log10(prob)), " ".join(ngram)]
    return "\t".join(columns if weight is None else [*columns, repr(_log10(weight))])


def _log10(x: float) -> float:
    return math.log10(x) if x > 0 else _NEVER


# -------------------------------------------------------------------- emissions


@dataclass(frozen=True, slots=True, eq=False)
class _TagRestaurants:
    """Totals of the emission restaurants."""

    leave: Floats  # [tag]: what goes to the base
    total: Floats  # [tag]: b + customers
    discount: float


def _restaurants(counts: ChainCounts) -> _TagRestaurants:
    a, b = counts.parameters["emission"]
    e, num_tags = counts.emissions, counts.num_tags
    total = b + np.bincount(e.tag, e.customers, num_tags)
    tables = np.bincount(e.tag, e.tables, num_tags)
    return _TagRestaurants(_ratio(b + a * tables, total), total, a)


def words_per_tag(counts: ChainCounts) -> Floats:
    """Return e_t, the number of words that may have each tag."""
    assert counts.classes is not None
    return np.bincount(counts.classes[1], minlength=counts.num_tags).astype(np.float64)


def emission_table(counts: ChainCounts, words: Sequence[str], characters: Sequence[str]) -> EmissionTable:
    """Return ln p(word | tag) of every word with every tag it may have."""
    num_words, num_tags = len(words), counts.num_tags
    restaurants = _restaurants(counts)
    e = counts.emissions
    probs = restaurants.leave * _seen_base(counts, words, characters)
    rows = np.repeat(np.arange(num_words), np.diff(e.begin))
    served = _ratio(e.customers - restaurants.discount * e.tables, restaurants.total[e.tag])
    np.add.at(probs, (rows, e.tag), np.where(e.customers > 0, served, 0.0))
    allowed = np.ones((num_words, num_tags), dtype=bool)
    if counts.classes is not None:
        begin, tag = counts.classes
        allowed[:] = False
        allowed[np.repeat(np.arange(num_words), np.diff(begin)), tag] = True
    allowed &= probs > 0.0
    number, tag = np.nonzero(allowed)
    first = np.searchsorted(number, np.arange(num_words + 1)).astype(np.uint64)
    return EmissionTable(tuple(words), first, tag.astype(np.uint32), np.log(probs[number, tag]))


def _seen_base(counts: ChainCounts, words: Sequence[str], characters: Sequence[str]) -> Floats:
    """Return the base probability [word, tag] of the words that were seen."""
    num_words, num_tags = len(words), counts.num_tags
    if counts.lexicon == "heads" or (counts.lexicon != "none" and counts.spelling is None):
        return np.tile(1.0 / np.maximum(words_per_tag(counts), 1.0), (num_words, 1))
    if counts.spelling is None:
        return np.full((num_words, num_tags), 1.0 / num_words)
    spelling = _spelling(counts, np.ones(num_tags), characters).guesser()
    log_probs = np.array([spelling.guess(word, False) for word in words])
    return np.asarray(np.exp(log_probs.reshape(num_words, num_tags)))


def spelling_table(counts: ChainCounts, num_words: int, characters: Sequence[str]) -> SpellingTable:
    """Return p(word | tag) of words that were never seen."""
    start = _restaurants(counts).leave.copy()
    if counts.lexicon != "none":
        open_words = words_per_tag(counts)
        start *= open_words / num_words
        if counts.lexicon == "heads" or counts.spelling is None:
            start /= open_words + 1.0
    elif counts.spelling is None:
        start /= num_words
    if counts.spelling is not None:
        return _spelling(counts, start, characters)
    ones = np.ones((2, counts.num_tags))  # nothing is said about spelling: END and all characters are free
    nothing = np.zeros(0, dtype=np.uint32)
    return SpellingTable((), start, ones, ones, nothing, nothing, np.zeros((0, counts.num_tags)))


def _spelling(counts: ChainCounts, start: Floats, characters: Sequence[str]) -> SpellingTable:
    """Return the character bigrams of all tags in their back-off form."""
    assert counts.spelling is not None
    below, upper = counts.spelling
    num_tags, num_characters = counts.num_tags, len(characters)
    shape = (num_characters + 2, num_tags)  # the last row: any other character
    a, b = counts.parameters.get("spelling0", (0.0, 1.0))  # empty under a Dirichlet model
    total = b + np.bincount(below.tag, below.customers, num_tags)
    leave = _ratio(b + a * np.bincount(below.tag, below.tables, num_tags), total)
    lower = np.tile(leave / (num_characters + 1), (shape[0], 1))
    np.add.at(lower, (below.after, below.tag), _ratio(below.customers - a * below.tables, total[below.tag]))
    a, b = counts.parameters["spelling1"]
    totals, tables = np.full(shape, b), np.zeros(shape)
    np.add.at(totals, (upper.before, upper.tag), upper.customers)
    np.add.at(tables, (upper.before, upper.tag), upper.tables)
    pairs, row = np.unique(np.stack([upper.before, upper.after], axis=1), axis=0, return_inverse=True)
    excess = np.zeros((len(pairs), num_tags))
    served = _ratio(upper.customers - a * upper.tables, totals[upper.before, upper.tag])
    excess[row.reshape(-1), upper.tag] = served
    back_off = _ratio((b + a * tables).ravel(), totals.ravel()).reshape(shape)
    before, after = (pairs[:, i].astype(np.uint32) for i in (0, 1))
    return SpellingTable(tuple(characters), start, lower, back_off, before, after, excess)
