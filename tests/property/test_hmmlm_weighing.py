"""Weights that are guessed where they matter little: the law of the next token is as near as it says."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hiddenite import HMMLanguageModel
from hiddenite._core import DenseHmm
from hiddenite.errors import ModelError
from hiddenite.hmmlm import constraints as c
from hiddenite.hmmlm.guide import (
    Guide,
    GuideLogitsProcessor,
    GuideModel,
    GuideState,
    Weighed,
    weigh,
    weighing,
)
from tests.hmm_oracle import KINDS, random_chain

NUM_TOKENS, STATES, END = 1200, 12, 0
SLACK = 1e-12  # sums of a thousand doubles


@pytest.fixture(autouse=True, scope="module")
def no_model_is_small() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighing, "_SMALL", 0)
        yield


def dense_guide(seed: int, sharpness: float, fixed: dict[int, int] | None = None) -> Guide:
    """A random model of many tokens; the sharper, the more states differ in what they emit and expect."""
    rng = np.random.default_rng(seed)
    emission = rng.random((STATES, NUM_TOKENS)) ** (8 * sharpness) * (rng.random((STATES, NUM_TOKENS)) > 0.2)
    transition = rng.random((STATES, STATES)) ** (4 * sharpness) + 1e-9
    arrays = [(m / m.sum(1, keepdims=True)).astype(np.float32) for m in (transition, emission)]
    chain = DenseHmm(
        np.full(STATES, 1 / STATES),
        arrays[0].reshape(-1),
        np.ascontiguousarray(arrays[1].T).reshape(-1),
        NUM_TOKENS,
        END,
    )
    texts = [None, *(f" w{i}".encode() for i in range(1, NUM_TOKENS))]
    model = GuideModel.dense(chain, texts, end=END)
    return Guide(model, c.all_of("w5", "w700"), max_length=8, threads=1, fixed=fixed)


def walk(guide: Guide, tokens: list[int]) -> GuideState:
    state = guide.start()
    for token in tokens:
        after = state.advance(token)
        if not after.is_possible or after.is_ended:
            break
        state = after
    return state


def law(scores: NDArray[np.float64], log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    masses = np.exp(scores - scores.max()) * np.exp(log_weights)
    return np.asarray(masses / masses.sum())


def off_by(state: GuideState, scores: NDArray[np.float64], weighed: Weighed, temperature: float) -> float:
    exact = state.log_weights(temperature)
    return float(np.abs(law(scores, exact) - law(scores, weighed.log_weights)).sum() / 2)


CASE = {
    "seed": st.integers(0, 10**6),
    "sharpness": st.floats(0.05, 2.0),
    "spread": st.floats(0.5, 6.0),
    "tokens": st.lists(st.integers(1, NUM_TOKENS - 1), max_size=5),
    "tolerance": st.sampled_from([0.3, 0.03, 1e-3, 1e-4]),
    "temperature": st.sampled_from([0.7, 1.0, 2.0]),
}


@settings(max_examples=60)
@given(**CASE)
def test_the_law_of_the_next_token_is_as_near_as_it_says(
    *,
    seed: int,
    sharpness: float,
    spread: float,
    tokens: list[int],
    tolerance: float,
    temperature: float,
) -> None:
    state = walk(dense_guide(seed, sharpness), tokens)
    scores = spread * np.random.default_rng(seed + 1).standard_normal(NUM_TOKENS)
    weighed = weigh(state, scores, temperature=temperature, tolerance=tolerance)
    assert weighed.error <= tolerance
    assert off_by(state, scores, weighed, temperature) <= weighed.error + SLACK
    exact = state.log_weights(temperature)
    np.testing.assert_array_equal(weighed.log_weights == -np.inf, exact == -np.inf)
    same = np.isclose(np.exp(weighed.log_weights), np.exp(exact), rtol=1e-9)
    assert same.sum() >= weighed.num_exact


def test_scores_far_above_all_that_is_possible_do_not_hide_the_rest(rng: np.random.Generator) -> None:
    """All probability of the other model is on a token that the constraint rules out."""
    state = walk(dense_guide(3, 1.0, fixed={1: 7}), [])
    scores = 5 * rng.standard_normal(NUM_TOKENS)
    scores[END] = 2000.0
    weighed = weigh(state, scores, tolerance=0.03)
    assert weighed.log_weights[END] == -np.inf
    possible = scores.copy()
    possible[END] = -np.inf
    assert weighed.num_exact < NUM_TOKENS
    assert 0 < off_by(state, possible, weighed, 1.0) <= weighed.error <= 0.03


def test_a_constraint_as_unlikely_as_a_double_allows_has_weights_and_bounds() -> None:
    """40 fixed words of 1e-8 each: their probability is below the least double, its logarithm is not."""
    length, rare = 40, 5
    emission = np.full((2, 1200), 1.0)
    emission[:, rare] = 1e-8 * 1200
    emission /= emission.sum(1, keepdims=True)
    chain = DenseHmm(
        np.full(2, 0.5),
        np.full(4, 0.5, np.float32),
        np.ascontiguousarray(emission.T).astype(np.float32).reshape(-1),
        1200,
        END,
    )
    texts = [None, *(f" w{i}".encode() for i in range(1, 1200))]
    phrase = " ".join([f"w{rare}"] * length)
    guide = Guide(GuideModel.dense(chain, texts, end=END), c.all_of(phrase), max_length=length + 2, threads=1)
    state = guide.start()
    assert state.log_prob() < -709
    exact = state.log_weights()
    lower, guess, upper = state.log_weight_bounds()
    assert np.isfinite(exact[rare])
    assert (lower <= exact + 1e-9).all()
    assert (exact <= upper + 1e-9).all()
    np.testing.assert_allclose(state.log_weights(tokens=[rare, 7]), exact[[rare, 7]], atol=1e-9)
    assert off_by(state, np.zeros(1200), weigh(state, np.zeros(1200), temperature=200.0), 200.0) <= 1e-4
    assert np.isfinite(guess[rare])


def test_sabotage_bounds_that_are_too_narrow_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the way to both bounds: some law is further off than the answer says."""
    honest = GuideState.log_weight_bounds

    def narrow(state: GuideState) -> tuple[NDArray[np.float64], ...]:
        lower, guess, upper = honest(state)
        middle = np.exp(guess)
        with np.errstate(divide="ignore"):
            low, high = (np.log(middle + 0.1 * (np.exp(bound) - middle)) for bound in (lower, upper))
        return low, guess, high

    monkeypatch.setattr(GuideState, "log_weight_bounds", narrow)
    found = 0
    for seed in range(20):
        state = walk(dense_guide(seed, 1.0), [3, 4])
        scores = np.random.default_rng(seed).standard_normal(NUM_TOKENS)
        weighed = weigh(state, scores, tolerance=0.03)
        found += off_by(state, scores, weighed, 1.0) > weighed.error + SLACK
    assert found > 0


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    sharpness=st.floats(0.05, 2.0),
    tokens=st.lists(st.integers(1, NUM_TOKENS - 1), max_size=5),
    fixed=st.booleans(),
)
def test_weights_lie_between_their_bounds(
    seed: int, sharpness: float, tokens: list[int], fixed: bool
) -> None:
    state = walk(dense_guide(seed, sharpness, {2: 9} if fixed else None), tokens)
    lower, guess, upper = state.log_weight_bounds()
    weights = state.log_weights()
    assert (lower <= guess).all()
    assert (guess <= upper).all()
    assert (np.exp(lower) <= np.exp(weights) * (1 + 1e-9) + SLACK).all()
    assert (np.exp(weights) <= np.exp(upper) * (1 + 1e-9) + SLACK).all()


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS), prefix=st.lists(st.sampled_from([3, 4, 5])))
def test_bounds_hold_for_mixtures_of_all_kinds(seed: int, kind: str, prefix: list[int]) -> None:
    rng = np.random.default_rng(seed)
    chains = [random_chain(rng, kind, 3, 3, zeros=0.2) for _ in range(2)]
    model = HMMLanguageModel(["<unk>", "<s>", "</s>", "a", "b", "c"], chains, [0.3, 0.7])
    state = Guide(model, ["a"], max_length=3, min_length=3, threads=1).start()
    for token in prefix[:2]:
        state = state.advance(token)
    lower, _, upper = state.log_weight_bounds()
    weights = state.log_weights()
    assert (np.exp(lower) <= np.exp(weights) * (1 + 1e-9)).all()
    assert (np.exp(weights) <= np.exp(upper) * (1 + 1e-9)).all()


def test_what_was_ruled_out_costs_nothing(rng: np.random.Generator) -> None:
    state = walk(dense_guide(1, 1.0), [3])
    scores = np.full(NUM_TOKENS, -np.inf)
    kept = rng.choice(NUM_TOKENS, 100, replace=False)
    scores[kept] = rng.standard_normal(100)
    weighed = weigh(state, scores)
    assert weighed.error == 0.0
    np.testing.assert_allclose(weighed.log_weights[kept], state.log_weights()[kept], rtol=1e-9)


def test_a_processor_says_how_far_off_it_has_been(rng: np.random.Generator) -> None:
    guide = dense_guide(2, 1.0)
    scores = 4 * rng.standard_normal((2, NUM_TOKENS))
    near, exact = (GuideLogitsProcessor(guide, tolerance=t, prompt_length=0) for t in (0.03, 0.0))
    ids = np.array([[3, 4], [7, 5]])
    laws = [np.exp(p(ids, scores)) for p in (near, exact)]
    laws = [x / x.sum(1, keepdims=True) for x in laws]
    assert exact.error == 0.0
    assert 0.0 < near.error <= 0.03
    assert (np.abs(laws[0] - laws[1]).sum(1) / 2 <= near.error + SLACK).all()


@pytest.mark.parametrize("tolerance", [-0.1, 1.0, float("nan")])
def test_a_tolerance_that_makes_no_sense_is_refused(tolerance: float) -> None:
    with pytest.raises(ModelError, match="tolerance"):
        weigh(dense_guide(1, 1.0).start(), np.zeros(NUM_TOKENS), tolerance=tolerance)


def test_scores_that_make_no_sense_are_refused() -> None:
    state = dense_guide(1, 1.0).start()
    with pytest.raises(ModelError, match="shape"):
        weigh(state, np.zeros(3))
    with pytest.raises(ModelError, match="no number"):
        weigh(state, np.full(NUM_TOKENS, np.nan))
