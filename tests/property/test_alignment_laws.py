"""What an aligner says of sentence pairs, in both directions, against enumeration; and planted faults."""

from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from hiddenite import Aligner, AlignerOptions
from hiddenite.align.answers import DIRECTIONS, Alignment, Question, links_above
from hiddenite.align.decisions import LinkCertificate, combine, share_bounds
from hiddenite.results import Certificate
from tests.alignment_oracle import Problem, link_probabilities, log_partition

QUICK = AlignerOptions(model1_sweeps=3, hmm_sweeps=3, fertility_sweeps=6, chains=1)
WORDS = ("the", "house", "dog", "old", "never-seen"), ("la", "maison", "chien", "vieille", "jamais")
PAIRS = [("the house", "la maison"), ("the dog", "chien"), ("old dog", "vieille chien"), ("the old", "la")]

sides = [st.lists(st.sampled_from(words), max_size=4) for words in WORDS]
pairs = st.tuples(*sides)
budgets = st.sampled_from(
    [{}, {}, {"budget": 0.0}, {"budget": 1e-5}, {"budget": 1e-3}, {"max_states": 1}, {"max_states": 20}]
)


@pytest.fixture(scope="module")
def aligners() -> dict[str, Aligner]:
    gibbs = Aligner.train(PAIRS * 5, seed=1, options=QUICK)
    em = Aligner.train_hmm(PAIRS * 5)
    return {"exact": gibbs, "paper": gibbs, "viterbi": gibbs, "hmm": em}


def problems_of(
    aligner: Aligner, pair: tuple[list[str], list[str]], direction: str
) -> list[tuple[int, Problem]]:
    chosen = [d for d in (0, 1) if DIRECTIONS[direction][d]]
    return [(d, Problem.of(aligner.hmm(*pair, reverse=bool(d)))) for d in chosen]


def check_certificate(problems: list[tuple[int, Problem]], answer: Alignment) -> None:
    """lower <= the best weight <= upper, summed over directions; exact: they meet."""
    certificate = answer.certificate
    assert isinstance(certificate, Certificate)
    ranked = [problem.ranked() for _, problem in problems]
    optimum = sum(one[0][0] for one in ranked)
    slack = sum(problem.tolerance(one[0][1]) for (_, problem), one in zip(problems, ranked, strict=True))
    assert answer.links is not None
    assert answer.log_weight == certificate.lower
    assert certificate.lower <= optimum + slack
    assert certificate.upper >= optimum - slack
    assert certificate.gap >= 0
    if certificate.exact:
        assert certificate.upper == certificate.lower
        assert certificate.lower >= optimum - slack


def check_decisions(problems: list[tuple[int, Problem]], answer: Alignment) -> None:
    """Links that are called decided are on the right side of the threshold; unknown ones are absent.

    False alarms: one in a million.
    """
    certificate = answer.certificate
    assert isinstance(certificate, LinkCertificate)
    assert answer.log_weight is None
    if answer.probabilities is None:
        assert answer.links is None
        assert certificate.undecided is None
        assert not certificate.exact
        return
    if certificate.method == "gibbs":  # too little time for exact draws: nothing is proved
        assert certificate.undecided is None
        assert not certificate.exact
        assert certificate.standard_error is not None
        assert answer.links == links_above(answer.probabilities, certificate.threshold)
        return
    tables = [link_probabilities(p).T if d == 0 else link_probabilities(p) for d, p in problems]
    truth = combine(tables)
    right = set(links_above(truth.astype(np.float32), certificate.threshold))
    assert answer.links is not None
    wrong = right ^ set(answer.links)
    assert certificate.undecided is not None
    assert certificate.gap is not None
    assert len(wrong) <= certificate.undecided
    cost = sum(abs(truth[i, j] - certificate.threshold) for i, j in wrong)
    assert cost <= certificate.gap + 1e-5
    assert certificate.exact == (certificate.undecided == 0)
    if certificate.draws:
        low, high = share_bounds(certificate.draws, truth.size * len(problems))
        assert certificate.standard_error is not None
        assert certificate.standard_error > 0 or truth.size == 0
        widest = 2 * 0.6 * (high - low).max() if len(problems) == 2 else (high - low).max()
        assert (np.abs(answer.probabilities - truth) <= widest + 1e-6).all()


@given(
    pair=pairs,
    method=st.sampled_from(["exact", "paper", "viterbi", "hmm"]),
    direction=st.sampled_from(list(DIRECTIONS)),
    budget=budgets,
)
def test_best_alignments(
    aligners: dict[str, Aligner],
    pair: tuple[list[str], list[str]],
    method: str,
    direction: str,
    budget: dict[str, Any],
) -> None:
    aligner = aligners[method]
    answer = next(aligner.ask([pair], Question(method, direction, **budget), threads=1))
    assert isinstance(answer, Alignment)
    check_certificate(problems_of(aligner, pair, direction), answer)


@given(
    pair=pairs,
    direction=st.sampled_from(["forward", "reverse"]),
    k=st.integers(2, 40),
    budget=budgets,
)
def test_best_alignments_in_order(
    aligners: dict[str, Aligner],
    pair: tuple[list[str], list[str]],
    direction: str,
    k: int,
    budget: dict[str, Any],
) -> None:
    aligner = aligners["exact"]
    answer = next(aligner.ask([pair], Question(direction=direction, k=k, **budget), threads=1))
    assert isinstance(answer, Alignment)
    problems = problems_of(aligner, pair, direction)
    check_certificate(problems, answer)
    weights = [one.log_weight for one in answer.kbest]
    assert weights == sorted(weights, reverse=True)
    if answer.exact:
        expected = [weight for weight, _ in problems[0][1].ranked()][:k]
        assert weights == pytest.approx(expected, abs=1e-9)


@given(
    pair=pairs,
    direction=st.sampled_from(list(DIRECTIONS)),
    asked=st.fixed_dictionaries(
        {
            "marginals": st.sampled_from(["samples", "samples", "hmm"]),
            "samples": st.integers(1, 300),
            "threshold": st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
            "seed": st.integers(0, 2**32 - 1),
        }
    ),
    budget=budgets,
)
def test_links_by_probability(
    aligners: dict[str, Aligner],
    pair: tuple[list[str], list[str]],
    direction: str,
    asked: dict[str, Any],
    budget: dict[str, Any],
) -> None:
    method = "hmm" if asked["marginals"] == "hmm" else "exact"  # whose probabilities are those of the model
    question = Question(method, direction, **asked, **budget)
    answer = next(aligners[method].ask([pair], question, threads=1))
    assert isinstance(answer, Alignment)
    problems = problems_of(aligners[method], pair, direction)
    check_decisions(problems, answer)
    if answer.sampling is not None:
        log_z = sum(log_partition(problem) for _, problem in problems)
        assert answer.sampling.log_partition_upper >= log_z - 1e-9


# --------------------------------------------------------------- planted faults


def test_the_law_of_certificates_sees_planted_faults(aligners: dict[str, Aligner]) -> None:
    pair = ["the", "old", "dog"], ["la", "vieille", "chien"]
    answer = next(aligners["exact"].ask([pair], Question(), threads=1))
    assert isinstance(answer, Alignment)
    problems = problems_of(aligners["exact"], pair, "both")
    check_certificate(problems, answer)
    truth = answer.certificate
    assert isinstance(truth, Certificate)
    for fault in (
        replace(truth, upper=truth.upper - 1e-6, lower=truth.lower - 1e-6),
        replace(truth, upper=truth.upper - 1e-6),
        replace(truth, upper=truth.upper + 1e-6),
        replace(truth, lower=truth.lower + 1e-6),
    ):
        with pytest.raises(AssertionError):
            check_certificate(problems, replace(answer, certificate=fault))


def test_the_law_of_decisions_sees_planted_faults(aligners: dict[str, Aligner]) -> None:
    pair = ["the", "old", "dog"], ["la", "vieille", "chien"]
    question = Question(threshold=0.5, samples=3000, seed=1)
    answer = next(aligners["exact"].ask([pair], question, threads=1))
    assert isinstance(answer, Alignment)
    problems = problems_of(aligners["exact"], pair, "both")
    check_decisions(problems, answer)
    truth = answer.certificate
    assert isinstance(truth, LinkCertificate)
    assert answer.links is not None
    assert answer.probabilities is not None
    for fault in (
        replace(answer, links=(), certificate=replace(truth, exact=True, undecided=0, gap=0.0)),
        replace(answer, links=answer.links[1:], certificate=replace(truth, undecided=0, exact=True)),
        replace(answer, probabilities=np.zeros_like(answer.probabilities)),
        replace(answer, probabilities=None, links=()),  # nothing known, said to be no link
        replace(answer, log_weight=-1.0),
    ):
        with pytest.raises(AssertionError):
            check_decisions(problems, fault)
