"""`refine` and `paper` draw from p though they propose from q; samplers that cut a corner are found out."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from hiddenite import Candidates, NgramModel, Rejection, kbest, sample
from hiddenite._core import Relaxation, Strategy
from tests.models import train
from tests.statistics import FALSE_ALARM, chi_square_p_value

NUM_DRAWS = 20_000
WORDS = ["a", "b", "cc"]
LENGTH = 4
TEXT = ["a b cc a", "b b a cc", "cc a b", "a a cc b a", "b cc cc a b", "a cc"] * 4


def make_target(rng: np.random.Generator) -> tuple[NgramModel, Candidates, dict[tuple[str, ...], float]]:
    """A model of order 3, slots, and every path's posterior."""
    model = train(TEXT, 3)
    slots = [[(word, float(-2 * rng.random())) for word in WORDS] for _ in range(LENGTH)]
    log_weights = {}
    for path in itertools.product(WORDS, repeat=LENGTH):
        total = model.score([path])[0].log_prob
        log_weights[path] = total + sum(dict(slot)[word] for slot, word in zip(slots, path, strict=True))
    norm = sum(map(math.exp, log_weights.values()))
    posterior = {path: math.exp(value) / norm for path, value in log_weights.items()}
    return model, Candidates.from_slots(model.vocabulary, slots), posterior


@pytest.mark.parametrize("method", ["refine", "paper"])
@pytest.mark.parametrize("batch", [1, 100])
def test_draws_follow_the_posterior(rng: np.random.Generator, method: str, batch: int) -> None:
    model, candidates, posterior = make_target(rng)
    drawn = sample(
        model,
        candidates,
        NUM_DRAWS,
        seed=int(rng.integers(2**32)),
        method=method,  # type: ignore[arg-type]
        rejection=Rejection(batch=batch),
    )
    assert chi_square_p_value(list(drawn), posterior) > FALSE_ALARM
    # The estimate of ln Z is within six of its standard errors: a false alarm in 5e8.
    log_partition = math.log(sum(math.exp(s.log_weight) for s in kbest(model, candidates, len(posterior))))
    assert abs(drawn.log_partition - log_partition) <= 6 * drawn.log_partition_error + 1e-9


def rejection_loop(
    model: NgramModel,
    candidates: Candidates,
    rng: np.random.Generator,
    accepts: Callable[[float, np.random.Generator], bool],
) -> list[tuple[str, ...]]:
    """The sampling loop in a few lines, for its acceptance rule to be tampered with; q stays as it begins."""
    q = Relaxation(
        model.engine.table,
        candidates.begin,
        candidates.word_ids,
        candidates.log_weights,
        True,
        True,
        Strategy.ALL_BY_ONE,
        False,
        int(rng.integers(2**32)),
    )
    words = sorted(WORDS, key=model.vocabulary.id)
    draws: list[tuple[str, ...]] = []
    for _ in range(30 * NUM_DRAWS):
        trial = q.draw()
        if accepts(trial.log_ratio, rng):
            draws.append(tuple(words[k] for k in trial.path))
        if len(draws) == NUM_DRAWS:
            break
    return draws


def test_the_loop_itself_is_right(rng: np.random.Generator) -> None:
    model, candidates, posterior = make_target(rng)
    draws = rejection_loop(model, candidates, rng, lambda log_ratio, r: r.random() < math.exp(log_ratio))
    assert chi_square_p_value(draws, posterior) > FALSE_ALARM


@pytest.mark.parametrize(
    "accepts",
    [
        pytest.param(lambda log_ratio, r: True, id="always accept"),
        pytest.param(lambda log_ratio, r: r.random() < 4 * math.exp(log_ratio), id="bound off by a factor"),
    ],
)
def test_sabotage_is_found_out(
    rng: np.random.Generator, accepts: Callable[[float, np.random.Generator], bool]
) -> None:
    model, candidates, posterior = make_target(rng)
    assert chi_square_p_value(rejection_loop(model, candidates, rng, accepts), posterior) < FALSE_ALARM
