"""Weights of model, channel and words, and texts without begin: every exact method against enumeration."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import Candidates, ModelError, NgramModel, Slots, decode, kbest, marginals, sample
from hiddenite.ngram_tools import weigh
from tests.enumeration import Target, log_sum, targets
from tests.models import train
from tests.oracle import BOS, EOS, UNK
from tests.statistics import FALSE_ALARM, chi_square_p_value

# Weighed numbers are rounded to floats of 24 bits once more: see tests/enumeration.py for the rest.
ATOL = 2e-5
RTOL = 2.0**-22


@dataclasses.dataclass(frozen=True)
class Weights:
    """What a path's parts count."""

    lm: float
    channel: float
    penalty: float
    begin: bool

    def of(self, target: Target, words: tuple[str, ...], end: bool) -> float:
        """The definition, term by term."""
        known = set(target.oracle.words)
        history = [BOS] if self.begin else []
        total = 0.0
        given = [dict(slot)[word] for slot, word in zip(target.slots, words, strict=True)]
        for word, weight in [*zip(words, given, strict=True), *([(EOS, None)] if end else [])]:
            symbol = word if word in known else UNK
            log_prob = target.oracle.log_prob(symbol, tuple(history)) if symbol in known else -math.inf
            total += log_prob if math.isinf(log_prob) else self.lm * log_prob
            if weight is not None:
                total += weight if math.isinf(weight) else self.channel * weight + self.penalty
            history.append(symbol)
        return total

    def paths(self, target: Target, end: bool) -> list[tuple[float, tuple[str, ...]]]:
        """Every path of positive weight, best first."""
        scored = [(self.of(target, words, end), words) for words in _products(target)]
        return sorted((path for path in scored if path[0] > -math.inf), key=lambda path: -path[0])

    def model(self, target: Target) -> NgramModel:
        return weigh(target.model, self.lm, begin=self.begin)

    def candidates(self, target: Target, model: NgramModel) -> Candidates:
        rows = [[[w, None if math.isinf(x) else x] for w, x in slot] for slot in target.slots]
        channel = Slots(model.vocabulary).weighted(self.channel, self.penalty)
        return channel(json.dumps({"slots": rows}))


def _products(target: Target) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [()]
    for slot in target.slots:
        found = [(*words, word) for words in found for word, _ in slot]
    return found


weights = st.builds(
    Weights,
    st.sampled_from([0.0, 0.3, 1.0, 2.5, 8.0]),
    st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    st.sampled_from([0.0, -1.5, 2.0]),
    st.booleans(),
)


@pytest.mark.parametrize("method", ["auto", "full", "dominance", "refine", "paper"])
@given(target=targets(), case=weights, end=st.booleans())
def test_the_best_paths(method: str, target: Target, case: Weights, end: bool) -> None:
    paths = case.paths(target, end)
    if not paths:
        return
    model = case.model(target)
    candidates = case.candidates(target, model)
    best = decode(model, candidates, method=method, end=end)  # type: ignore[arg-type]
    assert best.certificate.exact
    assert best.log_weight == pytest.approx(paths[0][0], abs=ATOL, rel=RTOL)
    assert best.log_weight == pytest.approx(case.of(target, best.words, end), abs=ATOL, rel=RTOL)
    assert best.certificate.upper >= best.log_weight
    several = kbest(model, candidates, 3, method=method, end=end)  # type: ignore[arg-type]
    assert several.certificate.exact
    assert [h.log_weight for h in several] == pytest.approx([x for x, _ in paths[:3]], abs=ATOL, rel=RTOL)


@given(target=targets(), case=weights, end=st.booleans())
def test_sums(target: Target, case: Weights, end: bool) -> None:
    paths = case.paths(target, end)
    if not paths:
        return
    model = case.model(target)
    found = marginals(model, case.candidates(target, model), end=end)
    log_partition = log_sum([log_weight for log_weight, _ in paths])
    assert found.log_partition == pytest.approx(log_partition, abs=ATOL, rel=RTOL)
    for i, slot in enumerate(found.slots):
        for word, prob in slot:
            expected = sum(math.exp(lw - log_partition) for lw, words in paths if words[i] == word)
            assert prob == pytest.approx(expected, abs=ATOL + RTOL * abs(log_partition))


TEXT = ["a b a", "b a b b", "a a c", "c b a", "b c"] * 2
SLOTS: list[list[tuple[str, float]]] = [
    [("a", -0.1), ("b", -0.7), ("c", -2.0)],
    [("a", -1.0), ("b", -0.2)],
    [("a", 0.0), ("c", -0.4)],
]


def _law(
    temperature: float, sabotage: bool = False
) -> tuple[NgramModel, Candidates, dict[tuple[str, ...], float]]:
    """A model and candidates at a temperature, and the law of their draws."""
    plain = train(TEXT, 3)
    model = weigh(plain, 2.0 / temperature)
    channel = Slots(model.vocabulary).weighted((1.0 if sabotage else 3.0) / temperature)
    total: dict[tuple[str, ...], float] = {}
    for a, x in SLOTS[0]:
        for b, y in SLOTS[1]:
            for c, z in SLOTS[2]:
                words = (a, b, c)
                log_prob = plain.score(" ".join(words))
                total[words] = (2.0 * log_prob + 3.0 * (x + y + z)) / temperature
    z = log_sum(list(total.values()))
    law = {words: math.exp(weight - z) for words, weight in total.items()}
    return model, channel(json.dumps({"slots": SLOTS})), law


@pytest.mark.parametrize("method", ["full", "refine", "paper"])
def test_draws_follow_the_weighted_law(method: str, rng: np.random.Generator) -> None:
    seed = int(rng.integers(2**31))
    for temperature in (1.0, 4.0):
        model, candidates, law = _law(temperature)
        drawn = sample(model, candidates, 4000, seed=seed, method=method)  # type: ignore[arg-type]
        assert chi_square_p_value([drawn.samples[i].words for i in drawn.draws], law) > FALSE_ALARM


def test_draws_of_other_weights_are_told_apart(rng: np.random.Generator) -> None:
    seed = int(rng.integers(2**31))
    model, candidates, law = _law(1.0, sabotage=True)
    drawn = sample(model, candidates, 4000, seed=seed)
    assert chi_square_p_value([drawn.samples[i].words for i in drawn.draws], law) < FALSE_ALARM


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_weights_are_finite_and_not_negative(weight: float) -> None:
    model = train(TEXT, 2)
    with pytest.raises(ModelError, match="expected a number of at least 0"):
        weigh(model, weight)
    with pytest.raises(ModelError, match="expected a number of at least 0"):
        Slots(model.vocabulary).weighted(weight)
    if weight != -1.0:
        with pytest.raises(ModelError, match="expected a finite number"):
            Slots(model.vocabulary).weighted(1.0, weight)
