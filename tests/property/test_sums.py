"""Sums that leave out a share: the interval holds ln Z, the error bounds hold for marginals and draws."""

import math
import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import Candidates, EmptySupportError, ModelError, decode, marginals, sample
from hiddenite._core import SumFault, plant_sum_fault
from hiddenite.results import Marginals
from tests.laws import SCALES, World, edge_probabilities, log_partition, random_world
from tests.models import load
from tests.statistics import FALSE_ALARM, chi_square_p_value

EPSILONS = [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.03, 0.3, 0.9]
NUM_DRAWS = 20_000
LEAST_EXPECTED = 40.0  # draws of a path that must show up: e^-40 that it does not by chance

worlds = st.builds(
    lambda seed, scale, lattice: random_world(random.Random(seed), scale, lattice),
    st.integers(0, 2**32),
    st.sampled_from(SCALES),
    st.booleans(),
)
plain_worlds = st.builds(
    lambda seed, lattice: random_world(random.Random(seed), 1.0, lattice),
    st.integers(0, 2**32),
    st.booleans(),
)


def check_interval(world: World, answer: Marginals) -> None:
    """ln Z lies in the interval, and no probability is further off than the bound; nothing is forgiven."""
    total = log_partition(world)
    ours = 4 * math.ulp(abs(total) + 1)  # of the truth, which is a double here
    assert answer.log_partition_lower <= total + ours
    assert answer.log_partition_upper >= total - ours
    assert answer.log_partition_lower <= answer.log_partition <= answer.log_partition_upper
    spans = answer.spans or tuple((i, i + 1) for i in range(world.last))
    expected = edge_probabilities(world)
    # The truth is a sum of exponentials of doubles; weights of 1e12 differ by less than doubles can say.
    slack = 1e-13 + 4 * float(world.choice_rounding)
    for (a, b), slot in zip(spans, answer.slots, strict=True):
        for word, prob in slot:
            assert abs(prob - expected.get((a, b, word), 0.0)) <= answer.error_bound + slack


def ask(world: World, epsilon: float) -> Marginals | None:
    try:
        return marginals(world.model, world.candidates, end=world.end, epsilon=epsilon)
    except EmptySupportError:
        assert not world.paths
        return None


@given(world=worlds, epsilon=st.sampled_from(EPSILONS))
def test_interval_and_marginals(world: World, epsilon: float) -> None:
    answer = ask(world, epsilon)
    if answer is not None:
        check_interval(world, answer)


@given(world=plain_worlds, epsilon=st.sampled_from(EPSILONS))
def test_no_more_is_left_out_than_allowed(world: World, epsilon: float) -> None:
    answer = ask(world, epsilon)
    if answer is not None:
        assert answer.error_bound <= epsilon + 1e-10
        assert answer.log_partition_upper - answer.log_partition_lower <= math.log1p(epsilon) + 1e-10


def test_much_is_left_out() -> None:
    """Large shares are no empty promise: in most larger worlds something goes, and the interval opens."""
    generator = random.Random(1)
    wide = 0
    for _ in range(200):
        answer = ask(random_world(generator, 1.0, False), 0.3)
        wide += answer is not None and answer.error_bound > 1e-6
    assert wide > 50


@given(world=plain_worlds, epsilon=st.sampled_from(EPSILONS), seed=st.integers(0, 2**32))
def test_draws_are_within_the_total_variation(world: World, epsilon: float, seed: int) -> None:
    """Paths that were left out have at most that probability; others are drawn in proportion to theirs."""
    if not world.paths:
        return
    drawn = sample(
        world.model, world.candidates, NUM_DRAWS, seed=seed, method="full", end=world.end, epsilon=epsilon
    )
    best = world.paths[0][0]
    norm = math.fsum(math.exp(w - best) for w, _, _ in world.paths)
    probs = {(words, nodes): math.exp(w - best) / norm for w, words, nodes in world.paths}
    keys = [(s.words, s.nodes or tuple(range(len(s.words) + 1))) for s in drawn.samples]
    assert set(keys) <= set(probs)
    frequent = {path: p for path, p in probs.items() if p * NUM_DRAWS >= LEAST_EXPECTED}
    unseen = frequent.keys() - set(keys)
    assert math.fsum(probs[path] for path in unseen) <= drawn.total_variation + 1e-13
    assert drawn.log_partition_lower <= log_partition(world) + 1e-13
    assert drawn.log_partition_upper >= log_partition(world) - 1e-13
    seen = {path: p for path, p in frequent.items() if path not in unseen}
    if len(seen) > 1:
        total = math.fsum(seen.values())
        draws = [keys[i] for i in drawn.draws if keys[i] in seen]
        assert chi_square_p_value(draws, {path: p / total for path, p in seen.items()}) > FALSE_ALARM


@given(world=plain_worlds)
def test_least_errors_are_proved_whatever_is_left_out(world: World) -> None:
    """A best word that the bounds cannot tell from another is asked for again, with nothing left out."""
    if not world.paths or not world.is_row:
        return
    best = decode(world.model, world.candidates, objective="mbr", end=world.end)
    probs = edge_probabilities(world)
    least = sum(1 - max(prob for (a, _, _), prob in probs.items() if a == i) for i in range(world.last))
    assert best.expected_errors == pytest.approx(least, abs=1e-8)


# ------------------------------------------------------------------ tests of the tests


@contextmanager
def planted(fault: SumFault) -> Iterator[None]:
    plant_sum_fault(fault)
    try:
        yield
    finally:
        plant_sum_fault(SumFault.NONE)


@pytest.mark.parametrize("fault", [SumFault.FORGETS, SumFault.TRUSTS_ROOT, SumFault.LOOKS_PAST])
def test_a_bound_that_forgets_is_found_out(fault: SumFault) -> None:
    generator = random.Random(9)  # meets a world that shows each of them early
    with planted(fault):
        for _ in range(1500):
            world = random_world(generator, 1.0, generator.random() < 0.5)
            answer = ask(world, generator.choice([0.03, 0.3, 0.9]))
            if answer is None:
                continue
            try:
                check_interval(world, answer)
            except AssertionError:
                return
    raise AssertionError("nobody noticed")


# --------------------------------------------------------------------------- edges


@pytest.mark.parametrize("epsilon", [-1e-9, 1.0, 2.0, math.nan, math.inf])
def test_a_share_is_below_one(epsilon: float) -> None:
    world = random_world(random.Random(3), 1.0, False)
    with pytest.raises(ModelError, match=r"epsilon is .*, expected a share of the sum"):
        marginals(world.model, world.candidates, epsilon=epsilon)


ZEROS = """\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-99\t<unk>
-99\t<s>\t0
-0.3\t</s>
-99\ta\t-99
-0.3\tb\t0.5

\\2-grams:
-0.1\t<s> a
-0.2\ta b
-0.4\tb a

\\end\\
"""


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_bounds_that_are_infinite(epsilon: float) -> None:
    """Words that only some contexts predict, back-off weights of zero and above one."""
    model = load(ZEROS)
    slots = [[("a", 0.0), ("b", -20.0)], [("a", -1.0), ("b", 0.0)], [("a", -30.0), ("b", 0.0)]]
    from hiddenite import Candidates  # noqa: PLC0415

    found = marginals(model, Candidates.from_slots(model.vocabulary, slots), epsilon=epsilon)
    exact = marginals(model, Candidates.from_slots(model.vocabulary, slots), epsilon=0.0)
    assert found.log_partition_lower <= exact.log_partition_upper
    assert found.log_partition_upper >= exact.log_partition_lower
    for slot, expected in zip(found.slots, exact.slots, strict=True):
        for word, prob in slot:
            assert prob == pytest.approx(dict(expected)[word], abs=found.error_bound + 1e-12)


def test_weights_that_leave_the_doubles() -> None:
    """The sums go on by logarithms, and leave nothing out."""
    world = random_world(random.Random(4), 1.0, False)
    weights = [-1e5, -3e4, 0.0, -2e5]
    from hiddenite import Candidates  # noqa: PLC0415

    words = sorted({word for _, _, word, _ in world.edges})
    slots = [[(w, weights[(i + j) % 4]) for j, w in enumerate(words)] for i in range(3)]
    candidates = Candidates.from_slots(world.model.vocabulary, slots)
    found = marginals(world.model, candidates, end=False)
    assert found.log_partition_lower <= found.log_partition <= found.log_partition_upper
    assert found.error_bound < 1e-6
    assert sample(world.model, candidates, 100, seed=1, method="full", end=False).count == 100


@given(
    st.sampled_from([0.0, -1e8, 1e12, -1e15]),
    st.lists(st.lists(st.floats(-3, 3), min_size=2, max_size=4), min_size=1, max_size=3),
)
def test_least_errors_of_large_weights_are_those_of_small_ones(
    size: float, columns: list[list[float]]
) -> None:
    """Unknown words share one word of the model; what all of a position have makes no difference."""
    model = load("\\data\\\nngram 1=4\n\n\\1-grams:\n-1\t<unk>\n-99\t<s>\n-0.5\t</s>\n-0.4\ta\n\n\\end\\\n")
    slots = [
        [(f"x{k}" if k else "a", size + weight) for k, weight in enumerate(column)] for column in columns
    ]
    near = [[(word, weight - size) for word, weight in slot] for slot in slots]  # exact: size is a double
    answer, small = (
        decode(model, Candidates.from_slots(model.vocabulary, rows), objective="mbr")
        for rows in (slots, near)
    )
    assert answer.expected_errors == pytest.approx(small.expected_errors, abs=1e-9)
    assert answer.expected_errors is not None
    assert answer.certificate.lower <= answer.expected_errors <= answer.certificate.upper
    if size in (0.0, -1e8):
        assert answer.words == small.words
    if size == 1e12:
        assert not answer.certificate.exact  # rounding of such sums is bounded, not seen
