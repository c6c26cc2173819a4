"""Models made from models, against their definitions by enumeration."""

import itertools
import math
import random
import warnings
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import NgramModel
from hiddenite._core import Histories, relative_entropies
from hiddenite.errors import OptionError
from hiddenite.ngram_tools import (
    HISTORIES,
    compare,
    draw_sentences,
    filter_vocabulary,
    limit,
    mix,
    prune,
    prune_to,
    quantize,
    tune_weights,
)
from tests.models import load, save, train
from tests.oracle import BOS, EOS, UNK, Ngram, arpa_text, parse_arpa
from tests.statistics import FALSE_ALARM, chi_square_p_value
from tests.strategies import corpora, examples, tables

SUM_ATOL = 2e-5  # floats of 24 bits, logarithms of up to 20, a dozen words


def predicted(model: NgramModel) -> list[str]:
    return [word for word in model.vocabulary if word != BOS]


def contexts(model: NgramModel) -> list[Ngram]:
    words = predicted(model)[:5]
    short = [c for n in range(min(model.order, 3)) for c in itertools.product(words, repeat=n)]
    return [*short, *((BOS, *c) for c in short if len(c) + 1 < model.order)]


def assert_sums_to_one(model: NgramModel) -> None:
    for context in contexts(model):
        total = math.fsum(math.exp(model.log_prob(word, context)) for word in predicted(model))
        assert total == pytest.approx(1.0, abs=SUM_ATOL), context


def listed(model: NgramModel) -> list[Ngram]:
    return list(parse_arpa(save(model).decode()))


# ------------------------------------------------------------------------ mix


@examples(1)
@given(corpora(), corpora(), st.integers(1, 3), st.integers(1, 4), st.floats(0.05, 0.95))
def test_a_mixture_is_the_weighted_sum_on_listed_ngrams(
    first: Sequence[Sequence[str]], second: Sequence[Sequence[str]], m: int, n: int, weight: float
) -> None:
    models = [train(first, m), train(second, n)]
    mixed = mix(models, [weight, 1 - weight])
    assert_sums_to_one(mixed)
    assert set(listed(mixed)) == set(listed(models[0])) | set(listed(models[1]))
    for *context, word in listed(mixed):
        if word == BOS:
            continue
        # A word that one model alone knows is impossible for the other.
        known = [word == UNK or word in model for model in models]
        expected = sum(
            share * math.exp(model.log_prob(word, [c if c in model or c == BOS else UNK for c in context]))
            for share, model, knows in zip([weight, 1 - weight], models, known, strict=True)
            if knows
        )
        assert math.exp(mixed.log_prob(word, context)) == pytest.approx(expected, rel=1e-5)


def test_weights_are_the_best_of_a_grid() -> None:
    rng = random.Random(5)
    texts = [
        [rng.choices("abcd", weights, k=5) for _ in range(60)] for weights in ([8, 4, 2, 1], [1, 2, 4, 8])
    ]
    held_out = "".join(f"{' '.join(words)}\n" for words in [*texts[0][:20], *texts[1][:10]]).encode()
    models = [train(text, 2) for text in texts]
    found = tune_weights(models, held_out)
    probs = [np.exp(model.token_log_probs(held_out)) for model in models]
    grid = np.linspace(0.001, 0.999, 999)
    scores = [np.log(x * probs[0] + (1 - x) * probs[1]).sum() for x in grid]
    assert found.weights[0] == pytest.approx(grid[int(np.argmax(scores))], abs=1e-3)
    assert found.perplexity == pytest.approx(math.exp(-max(scores) / len(probs[0])), rel=1e-4)


# ---------------------------------------------------------------------- prune


def divergence(p: NgramModel, q: NgramModel) -> float:
    """Relative entropy per word of two models, over the stationary distribution of histories, by matrices."""
    words = [w for w in predicted(p) if w != EOS]
    size = p.order - 1
    histories = [c for n in range(size) for c in itertools.product(words, repeat=n)]
    histories = [(BOS, *c) for c in histories] + list(itertools.product(words, repeat=size))
    place = {h: i for i, h in enumerate(histories)}
    move = np.zeros((len(histories), len(histories)))
    loss = np.zeros(len(histories))
    for i, history in enumerate(histories):
        for word in [*words, EOS]:
            log_prob = p.log_prob(word, history)
            after = (BOS,) if word == EOS else (*history, word)[-size:]
            move[i, place[after]] += math.exp(log_prob)
            loss[i] += math.exp(log_prob) * (log_prob - q.log_prob(word, history))
    move /= move.sum(axis=1, keepdims=True)
    system = np.vstack([move.T - np.eye(len(histories)), np.ones(len(histories))])
    stationary, *_ = np.linalg.lstsq(system, np.append(np.zeros(len(histories)), 1.0), rcond=None)
    return float(stationary @ loss)


SMALL = [list("abacab"), list("bcaab"), list("cab"), list("abab"), list("bbca"), list("aacb")]


def without(model: NgramModel, ngram: Ngram) -> NgramModel:
    """The model without an n-gram, its context's back-off weight made anew."""
    rows = parse_arpa(save(model).decode())
    fewer = {g: (v[0], v[1] if len(v) > 1 else None) for g, v in rows.items() if g != ngram}
    context = ngram[:-1]
    lists = [g[-1] for g in fewer if g[:-1] == context]
    own, lower = (
        1 - math.fsum(math.exp(model.log_prob(w, c)) for w in lists) for c in (context, context[1:])
    )
    fewer[context] = (fewer[context][0], math.log10(own / lower))
    return load(arpa_text(fewer))


def costs_of(model: NgramModel, histories: Histories) -> dict[Ngram, float]:
    """What may go, with what it costs."""
    rows = list(parse_arpa(save(model).decode()))
    result = {}
    for ids, cost in relative_entropies(model._table, histories):
        ngram = tuple(model.vocabulary[i] for i in ids)
        needed = any(g[:-1] == ngram or g[1:] == ngram for g in rows if len(g) == len(ngram) + 1)
        assert math.isnan(cost) == needed, ngram
        if not needed and ngram[-1] != BOS:
            result[ngram] = cost
    assert len(result) > 10
    return result


@pytest.mark.parametrize("order", [2, 3])
def test_the_cost_of_an_ngram_is_the_relative_entropy_without_it(order: int) -> None:
    model = train(SMALL, order)
    for ngram, cost in costs_of(model, Histories.EXACT).items():
        assert cost == pytest.approx(divergence(model, without(model, ngram)), abs=2e-6), ngram


CAUTION = 3.0  # of pruning.cpp


def states_of_text(model: NgramModel) -> tuple[dict[Ngram, float], dict[Ngram, float]]:
    """How often new text is in each state, and what discounting has left of counts; see pruning.hpp."""
    rows = parse_arpa(save(model).decode())
    states = [(), *(g for g in rows if len(g) < model.order)]
    place = {s: i for i, s in enumerate(states)}
    prob = {g: math.exp(model.log_prob(g[-1], g[:-1])) for g in rows if g[-1] != BOS}
    after: dict[Ngram, list[Ngram]] = {s: [] for s in states}
    for gram in prob:
        after[gram[:-1]].append(gram)
    each = {s: 10 ** rows[s][1] / len(after[s]) if s and after[s] else 0.0 for s in states}
    own = {
        g: max(prob[g] - each[g[:-1]] * len(after[g[:-1]]) * prob[g[1:]], 0.0) if len(g) > 1 else prob[g]
        for g in prob
    }

    def longest(gram: Ngram) -> Ngram:
        if gram[-1] == EOS:
            return (BOS,)
        while gram not in place:
            gram = gram[1:]
        return gram

    move = np.zeros((len(states), len(states)))
    for state in states:
        source = state
        while not after[source]:
            source = source[1:]
        shares = {g: own[g] + each[source] for g in after[source]}
        for gram, share in shares.items():
            move[place[state], place[longest(gram)]] += share / math.fsum(shares.values())
    system = np.vstack([move.T - np.eye(len(states)), np.ones(len(states))])
    visits, *_ = np.linalg.lstsq(system, np.append(np.zeros(len(states)), 1.0), rcond=None)
    certain = {g: own[g] / (own[g] + each[g[:-1]]) if own[g] else 0.0 for g in own}
    for state in sorted(states, key=len, reverse=True):
        if len(state) > 1:
            visits[place[state[1:]]] += visits[place[state]] * (1 - certain[state])
            visits[place[state]] *= certain[state]
    return {state: float(visits[i]) for state, i in place.items()}, certain


@pytest.mark.parametrize("order", [2, 3])
def test_costs_in_new_text_are_relative_entropies_in_its_states(order: int) -> None:
    model = train(SMALL, order)
    visits, certain = states_of_text(model)
    assert math.fsum(visits.values()) == pytest.approx(1.0)
    for ngram, cost in costs_of(model, Histories.TEXT).items():
        other = without(model, ngram)
        loss = 0.0
        for state, share in visits.items():
            for word in predicted(model):
                log_prob = model.log_prob(word, state)
                loss += share * math.exp(log_prob) * (log_prob - other.log_prob(word, state))
        if loss > 0:
            loss *= certain[ngram] ** CAUTION
        assert cost == pytest.approx(loss, abs=2e-6), ngram


def test_the_text_that_a_model_was_trained_on_is_won_back() -> None:
    """Absolute discounting takes the same of each count, so contexts are as often as they were."""
    rng = random.Random(3)
    text = [rng.choices("abcde", [8, 4, 2, 1, 1], k=rng.randint(2, 8)) for _ in range(80)]
    model = train(text, 3, smoothing="absolute")
    visits, _ = states_of_text(model)
    total = sum(len(words) + 1 for words in text)
    for word in "abcde":
        counted = sum(words.count(word) for words in text) / total
        found = sum(share for state, share in visits.items() if state[-1:] == (word,))
        assert found == pytest.approx(counted, rel=1e-4)


@pytest.mark.parametrize("histories", HISTORIES)
def test_pruning_keeps_what_costs_most_and_sums_to_one(histories: str) -> None:
    model = train(SMALL * 2, 4)
    sizes = []
    for threshold in (0.0, 1e-4, 1e-3, 1e-2, 1.0):
        pruned = prune(model, threshold, histories)
        assert_sums_to_one(pruned)
        grams = set(listed(pruned))
        assert grams <= set(listed(model))
        assert all(g[:-1] in grams and g[1:] in grams for g in grams if len(g) > 1)
        sizes.append(len(grams))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0]
    for keep in (len(list(predicted(model))) + 1, 20, 40, 10_000):
        smaller, _ = prune_to(model, keep, histories)
        assert sum(smaller.ngram_counts) <= keep
    assert prune(model, 1e-2, histories).ngram_counts != model.ngram_counts


def test_unknown_histories_are_refused() -> None:
    with pytest.raises(OptionError, match="expected text, exact, stolcke"):
        prune(train(SMALL, 2), 1e-3, "exakt")


# ------------------------------------------------------ filter, limit, compact


@examples(1)
@given(corpora(), st.integers(1, 4), st.data())
def test_a_filtered_model_is_the_conditional_one(
    text: Sequence[Sequence[str]], order: int, data: st.DataObject
) -> None:
    model = train(text, order)
    ordinary = [w for w in predicted(model) if w not in (UNK, EOS)]
    if not ordinary:
        return
    words = data.draw(st.lists(st.sampled_from(ordinary), min_size=1, unique=True))
    kept = filter_vocabulary(model, words)
    assert set(predicted(kept)) == {*words, UNK, EOS}
    assert_sums_to_one(kept)
    bare = filter_vocabulary(model, words, renormalize=False)
    for context in contexts(kept):
        total = math.fsum(math.exp(model.log_prob(word, context)) for word in predicted(kept))
        for word in predicted(kept):
            expected = model.log_prob(word, context)
            assert bare.log_prob(word, context) == pytest.approx(expected, abs=1e-5)
            assert kept.log_prob(word, context) == pytest.approx(expected - math.log(total), abs=1e-4)


@examples(1)
@given(corpora(), st.integers(1, 4), st.data())
def test_a_limited_model_has_the_probabilities_of_short_contexts(
    text: Sequence[Sequence[str]], order: int, data: st.DataObject
) -> None:
    model = train(text, order)
    shorter = limit(model, data.draw(st.integers(1, model.order)))
    assert_sums_to_one(shorter)
    for context in contexts(shorter):
        for word in predicted(shorter):
            assert shorter.log_prob(word, context) == pytest.approx(model.log_prob(word, context), abs=1e-6)


def reopened(model: NgramModel) -> NgramModel:
    with TemporaryDirectory() as folder:
        model.compact(Path(folder) / "small.hlm")
        return NgramModel.load(Path(folder) / "small.hlm", None)


@examples(1)
@given(tables(closed=True))
def test_a_compact_file_loses_nothing(rows: dict[Ngram, tuple[float, float | None]]) -> None:
    model = load(arpa_text(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = reopened(model)
    assert save(again, max_columns=True) == save(model, max_columns=True)


def test_a_rounded_model_has_few_numbers_and_valid_bounds() -> None:
    rng = random.Random(3)
    text = [
        rng.choices([f"w{i}" for i in range(60)], [1 / (i + 1) for i in range(60)], k=9) for _ in range(400)
    ]
    model = train(text, 3)
    rounded = reopened(quantize(model, 4))
    for n in range(1, 4):
        numbers = {row[0] for gram, row in parse_arpa(save(rounded).decode()).items() if len(gram) == n}
        assert len(numbers) <= 16
    words = predicted(rounded)
    for context in [(), ("w1",), ("w0", "w1"), (BOS,)]:
        for word in words:
            assert rounded.max_log_prob(word, context) >= rounded.log_prob(word, context)
            if len(context) < 2:
                longer = [rounded.log_prob(word, (c, *context)) for c in words if context[:1] != (BOS,)]
                assert rounded.max_log_prob(word, context) >= max(longer, default=-math.inf)
    fine = quantize(model, 16)
    assert fine.perplexity(text) == pytest.approx(model.perplexity(text), rel=1e-4)
    assert abs(rounded.perplexity(text) / model.perplexity(text) - 1) < 0.1


# ------------------------------------------------------------- sample, compare


def sentence_law(model: NgramModel, prefix: Ngram, most: int) -> dict[Ngram, float]:
    """Every way that a sentence can go on, cut after `most` words."""
    law: dict[Ngram, float] = {}
    queue: list[tuple[Ngram, float]] = [((), 0.0)]
    while queue:
        words, log_prob = queue.pop()
        if len(words) == most:
            law[words] = math.exp(log_prob)
            continue
        for word in predicted(model):
            step = log_prob + model.log_prob(word, (BOS, *prefix, *words))
            if word == EOS:
                law[(*words, EOS)] = math.exp(step)
            else:
                queue.append(((*words, word), step))
    return law


@pytest.mark.parametrize("prefix", [(), ("a",), ("c", "a")])
def test_sentences_are_drawn_from_the_model(prefix: Ngram) -> None:
    model = train(SMALL, 3)
    law = sentence_law(model, prefix, 3)
    drawn = draw_sentences(model, 4000, seed=11, prefix=" ".join(prefix), max_words=3)
    cut = len(prefix)
    outcomes = [(*one.words[cut:], EOS) if one.complete else one.words[cut:] for one in drawn]
    assert chi_square_p_value(outcomes, law) > FALSE_ALARM
    # The sabotage twin: draws that forget the prefix, or the sentence's begin.
    other = draw_sentences(model, 4000, seed=11, prefix=" ".join((*prefix, "b")), max_words=3)
    wrong = [(*one.words[cut + 1 :], EOS) if one.complete else one.words[cut + 1 :] for one in other]
    assert chi_square_p_value(wrong, law) < FALSE_ALARM
    assert drawn[0].log_prob == pytest.approx(math.log(law[outcomes[0]]), abs=1e-5)


def test_models_are_compared_sentence_by_sentence() -> None:
    good, bad = train(SMALL, 3), train([list("abc")], 1)
    found = compare(bad, good, SMALL)
    assert found.better == len(SMALL)
    assert found.worse == 0
    assert found.difference > 3 * found.standard_error > 0
    assert found.perplexity_ratio == pytest.approx(found.second.perplexity / found.first.perplexity, rel=1e-9)
    assert compare(good, good, SMALL).difference == 0.0
