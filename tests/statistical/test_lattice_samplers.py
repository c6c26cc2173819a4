"""`refine` and `paper` draw the paths of a lattice from p itself; draws of another law are found out."""

import math

import numpy as np
import pytest

from hiddenite import Candidates, NgramModel, Rejection, kbest, sample
from tests.models import train
from tests.statistics import FALSE_ALARM, chi_square_p_value

NUM_DRAWS = 10_000
TEXT = ["a b cc a", "b b a cc", "cc a b", "a a cc b a", "b cc cc a b", "a cc"] * 4
Outcome = tuple[tuple[str, ...], tuple[int, ...]]  # words and nodes


def make_target(rng: np.random.Generator) -> tuple[NgramModel, Candidates, dict[Outcome, float]]:
    """A model of order 3, a lattice with by-passes, and every path's posterior."""
    model = train(TEXT, 3)
    spans = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 2), (1, 3), (2, 4)]
    edges = [(*span, word, float(-2 * rng.random())) for span in spans for word in ("a", "b", "cc")]
    candidates = Candidates.from_lattice(model.vocabulary, edges)
    ranked = kbest(model, candidates, 10_000, method="full")
    assert ranked.certificate.exact
    norm = sum(math.exp(one.log_weight) for one in ranked)
    return model, candidates, {(h.words, h.nodes): math.exp(h.log_weight) / norm for h in ranked}


def outcomes(model: NgramModel, candidates: Candidates, method: str, seed: int, end: bool) -> list[Outcome]:
    drawn = sample(
        model,
        candidates,
        NUM_DRAWS,
        seed=seed,
        method=method,  # type: ignore[arg-type]
        rejection=Rejection(batch=20),
        end=end,
    )
    return [(one.words, one.nodes) for one in drawn.samples for _ in range(one.count)]


@pytest.mark.parametrize("method", ["refine", "paper"])
def test_draws_of_paths_follow_the_posterior(rng: np.random.Generator, method: str) -> None:
    model, candidates, posterior = make_target(rng)
    draws = outcomes(model, candidates, method, int(rng.integers(2**32)), end=True)
    assert len(draws) == NUM_DRAWS
    assert chi_square_p_value(draws, posterior) > FALSE_ALARM


@pytest.mark.parametrize("method", ["refine", "paper"])
def test_draws_without_the_sentence_end_are_found_out(rng: np.random.Generator, method: str) -> None:
    """The sabotage twin: one term of the weight dropped."""
    model, candidates, posterior = make_target(rng)
    draws = outcomes(model, candidates, method, int(rng.integers(2**32)), end=False)
    assert chi_square_p_value(draws, posterior) < FALSE_ALARM
