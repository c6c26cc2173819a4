"""`refine` and `paper` draw from p though they propose from q; samplers that cut a corner are found out."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from hiddenite import Candidates, NgramModel, Rejection, kbest, sample
from hiddenite._core import Relaxation, Strategy
from tests.models import load, train
from tests.statistics import FALSE_ALARM, chi_square_p_value

NUM_DRAWS = 20_000
WORDS = ["a", "b", "cc"]
LENGTH = 4
TEXT = ["a b cc a", "b b a cc", "cc a b", "a a cc b a", "b cc cc a b", "a cc"] * 4

# p(cc | a) = 0.9, p(cc | b) = 0.1
LOOSE_ARPA = """\\data\\
ngram 1=6
ngram 2=2

\\1-grams:
-99 <unk>
-99 <s> 0
-0.7 </s>
-0.7 a 0
-0.7 b 0
-0.7 cc 0

\\2-grams:
-0.045757490560675 a cc
-1 b cc

\\end\\
"""


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
    assert drawn.log_partition is not None
    assert drawn.log_partition_error is not None
    assert abs(drawn.log_partition - log_partition) <= 6 * drawn.log_partition_error + 1e-9


def make_bound(model: NgramModel, candidates: Candidates, rng: np.random.Generator) -> Relaxation:
    """The bound q as it begins."""
    return Relaxation(
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


def rejection_loop(
    model: NgramModel,
    candidates: Candidates,
    rng: np.random.Generator,
    accepts: Callable[[float, np.random.Generator], bool],
) -> list[tuple[str, ...]]:
    """The sampling loop in a few lines, for its acceptance rule to be tampered with; q stays as it begins."""
    q = make_bound(model, candidates, rng)
    words = sorted(WORDS, key=model.vocabulary.id)
    draws: list[tuple[str, ...]] = []
    for _ in range(30 * NUM_DRAWS):
        trial = q.draw()
        if accepts(trial.log_ratio, rng):
            draws.append(tuple(words[k] for k in trial.path))
        if len(draws) == NUM_DRAWS:
            break
    return draws


def first_draws_of_complete_runs(
    model: NgramModel, candidates: Candidates, rng: np.random.Generator, refine_on: bool
) -> list[tuple[str, ...]]:
    """The first draw of each run that got two within four trials, refined on accepted or on rejected draws.

    A run that refines on rejected draws tells by its success nothing of what it accepted. One that refines on
    accepted ones succeeds more often after draws that lower the bound much.
    """
    draws: list[tuple[str, ...]] = []
    for _ in range(NUM_DRAWS):
        q = make_bound(model, candidates, rng)
        accepted: list[tuple[str, ...]] = []
        for _ in range(4):
            trial = q.draw()
            accept = rng.random() < math.exp(trial.log_ratio)
            if accept:
                accepted.append(("ab"[trial.path[0]], "cc"))
            if accept == refine_on:
                q.tighten(trial.path)
        if len(accepted) >= 2:
            draws.append(accepted[0])
    return draws


def make_loose_target() -> tuple[NgramModel, Candidates, dict[tuple[str, ...], float]]:
    """Two equally probable paths, one of which the bound overrates ninefold until it is refined there."""
    model = load(LOOSE_ARPA)
    slots = [[("a", 0.0), ("b", math.log(9.0))], [("cc", 0.0)]]
    posterior: dict[tuple[str, ...], float] = {("a", "cc"): 0.5, ("b", "cc"): 0.5}
    return model, Candidates.from_slots(model.vocabulary, slots), posterior


def test_success_tells_nothing_of_the_draws(rng: np.random.Generator) -> None:
    model, candidates, posterior = make_loose_target()
    draws = first_draws_of_complete_runs(model, candidates, rng, refine_on=False)
    assert chi_square_p_value(draws, posterior) > FALSE_ALARM


def test_refining_on_accepted_draws_is_found_out(rng: np.random.Generator) -> None:
    model, candidates, posterior = make_loose_target()
    draws = first_draws_of_complete_runs(model, candidates, rng, refine_on=True)
    assert chi_square_p_value(draws, posterior) < FALSE_ALARM


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
