"""Fertility HMMs by brute force: every alignment of a small sentence pair, and the laws that answers obey."""

import itertools
import math
from collections.abc import Sequence
from typing import Protocol

import hypothesis.strategies as st
import numpy as np
from numpy.typing import NDArray

from hiddenite._core import AlignMethod, AlignTask, FertilityHmm
from hiddenite.align.decisions import share_bounds

Links = tuple[int, ...]


class Problem:
    """Log weights of one sentence pair in one direction, and its alignments."""

    def __init__(
        self,
        emission: NDArray[np.float64],
        jump: NDArray[np.float64],
        end: NDArray[np.float64],
        fertility: NDArray[np.float64],
    ) -> None:
        self.emission, self.jump, self.end, self.fertility = emission, jump, end, fertility
        self.hmm = FertilityHmm(emission, jump, end, fertility)

    @classmethod
    def of(cls, hmm: FertilityHmm) -> "Problem":
        emission, jump, end, fertility = hmm.weights()
        width = hmm.num_sources + 1
        return cls(
            emission.reshape(hmm.num_targets, width),
            jump.reshape(width, width),
            end,
            fertility.reshape(width, hmm.max_fertility + 1),
        )

    def terms(self, links: Sequence[int]) -> list[float]:
        terms, last = [], 0
        for j, i in enumerate(links):
            if i > 0:
                terms.append(float(self.jump[last, i]))
                last = i
            terms.append(float(self.emission[j, i]))
        for i in range(1, len(self.end)):
            count = list(links).count(i)
            terms.append(float(self.fertility[i, count]) if count < self.fertility.shape[1] else -math.inf)
        return [*terms, float(self.end[last])]

    def log_weight(self, links: Sequence[int]) -> float:
        """Return ln w(links), rounded once."""
        terms = self.terms(links)
        return -math.inf if -math.inf in terms else math.fsum(terms)

    def ranked(self) -> list[tuple[float, Links]]:
        """Return the weights of all possible alignments, best first."""
        targets, width = self.emission.shape
        weighed = ((self.log_weight(a), a) for a in itertools.product(range(width), repeat=targets))
        return sorted((one for one in weighed if one[0] > -math.inf), reverse=True)

    def tolerance(self, links: Sequence[int]) -> float:
        """Return by how much sums of this alignment's terms can differ, the bound's own terms included."""
        terms = self.terms(links)
        return 64 * len(terms) * math.fsum(map(abs, terms)) * 2.0**-52


def random_problem(
    seed: int,
    sources: int,
    targets: int,
    max_fertility: int,
    *,
    scale: float,
    zeros: float,
    large: float = 0.0,
    positive: bool = False,
) -> Problem:
    """Draw log weights of up to ``scale``, a share ``large`` of them 1e8 times as large."""
    rng = np.random.default_rng(seed)

    def draw(*shape: int) -> NDArray[np.float64]:
        weights = scale * (rng.random(shape) * (2 if positive else 1) - 1)
        weights = np.where(rng.random(shape) < large, 1e8 * weights, weights)
        return np.where(rng.random(shape) < zeros, -np.inf, weights)

    width = sources + 1
    emission, jump = draw(targets, width), draw(width, width)
    end = scale * (rng.random(width) - 1)
    return Problem(emission, jump, end, draw(width, max_fertility + 1))


SCALES = [0.1, 1.0, 3.0, 20.0, 1e4, 1e8, 1e12]
problems = st.builds(
    random_problem,
    st.integers(0, 2**32 - 1),
    st.integers(0, 4),
    st.integers(0, 5),
    st.integers(0, 4),
    scale=st.sampled_from(SCALES),
    zeros=st.sampled_from([0.0, 0.0, 0.15, 0.4]),
    large=st.sampled_from([0.0, 0.0, 0.1]),
    positive=st.booleans(),
)


def make_task(
    method: AlignMethod = AlignMethod.EXACT,
    k: int = 1,
    *,
    seconds: float = math.inf,
    labels: int | None = None,
    samples: int = 0,
    seed: int = 0,
) -> AlignTask:
    task = AlignTask()
    task.method = method
    task.num_best = k
    task.seconds = seconds
    if labels is not None:
        task.labels = labels
    task.num_samples = samples
    task.seed = seed
    return task


# ------------------------------------------------------------------------ laws


class Claim(Protocol):
    """What an answer says of the best alignment, or of the k best."""

    @property
    def links(self) -> NDArray[np.uint32]: ...
    @property
    def log_weights(self) -> NDArray[np.float64]: ...
    @property
    def exact(self) -> bool: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...


def check_best(problem: Problem, claim: Claim, k: int) -> None:
    """Each weight is its links'; lower <= optimum <= upper; exact: these are the k best."""
    ranked = problem.ranked()
    optimum, best = ranked[0]
    slack = problem.tolerance(best)
    assert 1 <= len(claim.links) <= k
    assert len({tuple(links) for links in claim.links.tolist()}) == len(claim.links)
    for links, weight in zip(claim.links.tolist(), claim.log_weights.tolist(), strict=True):
        if problem.log_weight(links) == -math.inf:
            assert weight == -math.inf
        else:
            assert abs(weight - problem.log_weight(links)) <= problem.tolerance(links)
    assert claim.lower == claim.log_weights[0]
    assert claim.lower <= optimum + slack
    assert claim.upper >= optimum - slack
    assert claim.exact == (claim.lower == claim.upper)
    if claim.exact:
        assert len(claim.links) == min(k, len(ranked))
        for weight, (expected, links) in zip(claim.log_weights.tolist(), ranked, strict=False):
            assert weight >= expected - problem.tolerance(links) - slack


def link_probabilities(problem: Problem) -> NDArray[np.float64]:
    """Return [target, source]: the share of each link in the weight of all alignments."""
    ranked = problem.ranked()
    result = np.zeros((problem.emission.shape[0], problem.emission.shape[1] - 1))
    total = 0.0
    for weight, links in ranked:
        share = math.exp(weight - ranked[0][0])
        total += share
        for j, i in enumerate(links):
            if i > 0:
                result[j, i - 1] += share
    return result / total


def log_partition(problem: Problem) -> float:
    weights = [weight for weight, _ in problem.ranked()]
    return weights[0] + math.log(math.fsum(math.exp(w - weights[0]) for w in weights))


class Drawn(Protocol):
    """What is said of draws."""

    def __len__(self) -> int: ...
    @property
    def log_partition(self) -> float | None: ...
    @property
    def log_partition_error(self) -> float: ...
    @property
    def log_partition_upper(self) -> float: ...


def check_draws(problem: Problem, drawn: Drawn, shares: NDArray[np.float32]) -> None:
    """Shares are near the probabilities, or absent; ln Z is below its bound, and near its estimate.

    False alarms: one in a million for the shares, one in 10^15 for the estimate.
    """
    log_z = log_partition(problem)
    assert drawn.log_partition_upper >= log_z - 1e-9 * max(1.0, abs(log_z))
    if drawn.log_partition is not None:
        assert abs(drawn.log_partition - log_z) <= 8 * drawn.log_partition_error + 1e-9 * max(1.0, abs(log_z))
    truth = link_probabilities(problem)
    if (
        getattr(drawn, "gibbs_sweeps", 0) > 0
    ):  # averages of a chain stand in; test_pair_gibbs.py looks at them
        assert shares.size == truth.size
        assert ((shares >= 0) & (shares <= 1 + 1e-6)).all()
        return
    if len(drawn) == 0:
        assert shares.size == 0
        return
    assert shares.size == truth.size
    low, high = share_bounds(len(drawn), truth.size)
    counts = np.rint(shares.astype(np.float64) * len(drawn)).astype(int).reshape(truth.shape)
    assert (low[counts] <= truth + 1e-12).all()
    assert (truth - 1e-12 <= high[counts]).all()
