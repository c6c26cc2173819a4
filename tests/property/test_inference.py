"""Every exact method against enumeration: best path, k best, log Z, marginals, with and without </s>."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite import Budget, EmptySupportError, decode, kbest, marginals, sample
from tests.enumeration import ATOL, RTOL, Target, log_sum, targets, tolerance

DECODERS = ["auto", "full", "dominance", "refine", "paper"]
SAMPLERS = ["auto", "full", "refine", "paper"]


@pytest.mark.parametrize("method", DECODERS)
@given(target=targets(), end=st.booleans())
def test_decode_is_the_argmax(method: str, target: Target, end: bool) -> None:
    paths = target.paths(end)
    if not paths:
        with pytest.raises(EmptySupportError):
            decode(target.model, target.candidates, method=method, end=end)  # type: ignore[arg-type]
        return
    best = decode(target.model, target.candidates, method=method, end=end)  # type: ignore[arg-type]
    assert best.certificate.exact
    assert best.log_weight == pytest.approx(paths[0][0], abs=ATOL, rel=RTOL)
    assert best.log_weight == pytest.approx(target.log_weight(best.words, end), abs=ATOL, rel=RTOL)


@pytest.mark.parametrize("method", DECODERS)
@given(target=targets(), end=st.booleans(), k=st.sampled_from([1, 2, 5, 1000]))
def test_kbest_are_the_k_best(method: str, target: Target, end: bool, k: int) -> None:
    paths = target.paths(end)
    if not paths:
        with pytest.raises(EmptySupportError):
            kbest(target.model, target.candidates, k, method=method, end=end)  # type: ignore[arg-type]
        return
    best = kbest(target.model, target.candidates, k, method=method, end=end)  # type: ignore[arg-type]
    assert best.certificate.exact
    assert len({h.words for h in best}) == len(best) == min(k, len(paths))
    for hypothesis, (log_weight, _) in zip(best, paths, strict=False):
        assert hypothesis.log_weight == pytest.approx(log_weight, abs=ATOL, rel=RTOL)
        assert hypothesis.log_weight == pytest.approx(
            target.log_weight(hypothesis.words, end), abs=ATOL, rel=RTOL
        )


@given(target=targets(), end=st.booleans())
def test_marginals_and_log_partition(target: Target, end: bool) -> None:
    paths = target.paths(end)
    if not paths:
        with pytest.raises(EmptySupportError):
            marginals(target.model, target.candidates, end=end)
        return
    found = marginals(target.model, target.candidates, end=end)
    log_partition = log_sum([log_weight for log_weight, _ in paths])
    assert found.log_partition == pytest.approx(log_partition, abs=ATOL, rel=RTOL)
    for i, slot in enumerate(found.slots):
        assert {word for word, _ in slot} == {word for word, _ in target.slots[i]}
        assert sum(prob for _, prob in slot) == pytest.approx(1.0, abs=1e-9)
        for word, prob in slot:
            expected = sum(math.exp(lw - log_partition) for lw, words in paths if words[i] == word)
            assert prob == pytest.approx(expected, abs=ATOL)


@pytest.mark.parametrize("method", SAMPLERS)
@given(target=targets(), end=st.booleans(), seed=st.integers(0, 2**32))
def test_samples_are_possible_paths(method: str, target: Target, end: bool, seed: int) -> None:
    paths = target.paths(end)
    if not paths:
        with pytest.raises(EmptySupportError):
            sample(target.model, target.candidates, 3, seed=seed, method=method, end=end)  # type: ignore[arg-type]
        return
    drawn = sample(target.model, target.candidates, 20, seed=seed, method=method, end=end)  # type: ignore[arg-type]
    assert drawn.count == 20 == sum(s.count for s in drawn.samples)
    assert drawn.trials >= drawn.count
    possible = {words for _, words in paths}
    assert all(s.words in possible for s in drawn.samples)
    again = sample(target.model, target.candidates, 20, seed=seed, method=method, end=end)  # type: ignore[arg-type]
    assert again == drawn


@given(target=targets(), end=st.booleans())
def test_mbr_has_the_least_expected_errors(target: Target, end: bool) -> None:
    paths = target.paths(end)
    if not paths:
        return
    log_partition = log_sum([log_weight for log_weight, _ in paths])

    def expected_errors(words: tuple[str, ...]) -> float:
        return sum(
            math.exp(lw - log_partition) * sum(a != b for a, b in zip(words, other, strict=True))
            for lw, other in paths
        )

    best = decode(target.model, target.candidates, objective="mbr", end=end)
    assert best.expected_errors == pytest.approx(expected_errors(best.words), abs=ATOL)
    assert best.expected_errors is not None
    assert best.expected_errors <= min(expected_errors(words) for _, words in paths) + ATOL


@given(target=targets(), states=st.integers(1, 30))
def test_a_budget_gives_honest_bounds(target: Target, states: int) -> None:
    paths = target.paths()
    if not paths:
        return
    for method in ("full", "dominance", "refine", "auto"):
        found = decode(target.model, target.candidates, method=method, budget=Budget(states=states))
        certificate = found.certificate
        assert certificate.lower <= paths[0][0] + tolerance(paths[0][0])
        assert certificate.upper >= paths[0][0] - tolerance(paths[0][0])
        assert certificate.lower == pytest.approx(found.log_weight)
        if certificate.exact:
            assert found.log_weight == pytest.approx(paths[0][0], abs=ATOL, rel=RTOL)
