"""Answers at the edges: huge weights, long inputs, budgets, impossible and foreign inputs."""

import json
import math
import random
import time

import pytest

from hiddenite import (
    Budget,
    Candidates,
    EmptySupportError,
    ModelError,
    NgramModel,
    UnknownSymbolError,
    decode,
    kbest,
    marginals,
    sample,
    search,
)
from hiddenite._core import TaskKind
from hiddenite.channel import Slots
from hiddenite.inference import answer_lines
from hiddenite.query import Query
from hiddenite.results import Failure
from tests.models import load, train

METHODS = ["auto", "refine", "paper", "full", "dominance", "sparse"]
WALKS = ["auto", "full", "dominance"]
CORPUS = [
    "the quick brown fox jumps over the lazy dog",
    "the old dog runs over the hill",
    "the lazy fox runs",
    "the quick dog stands over the old fox",
    "a lazy dog stands",
]


@pytest.fixture(scope="module")
def lm() -> NgramModel:
    return train(CORPUS, 3)


def slots(lm: NgramModel, rows: list[str], weight: float) -> Candidates:
    return Candidates.from_slots(lm.vocabulary, [[(w, weight) for w in row.split()] for row in rows])


@pytest.mark.parametrize("weight", [0.0, -1e8, 1e8, -1e12, 1e12])
@pytest.mark.parametrize("method", METHODS)
def test_a_weight_that_all_share_changes_nothing(lm: NgramModel, method: str, weight: float) -> None:
    rows = ["lazy runs the", "old", "old hill over", "the stands"]
    expected = decode(lm, slots(lm, rows, 0.0), method="full")
    found = decode(lm, slots(lm, rows, weight), method=method)  # type: ignore[arg-type]
    assert found.certificate.exact
    if method != "sparse" or abs(weight) <= 1e8:
        assert found.words == expected.words
    assert found.log_weight == pytest.approx(
        expected.log_weight + 4 * weight, abs=1e-15 * 40 * abs(weight) + 1e-9
    )


@pytest.mark.parametrize("method", METHODS)
def test_one_word_of_a_tiny_weight_is_possible(lm: NgramModel, method: str) -> None:
    found = decode(lm, Candidates.from_slots(lm.vocabulary, [[("a", -1e10)]]), method=method)  # type: ignore[arg-type]
    assert found.words == ("a",)
    assert found.certificate.exact


@pytest.mark.parametrize("weights", ["alike", "own"])
def test_fifty_thousand_words(lm: NgramModel, weights: str) -> None:
    rng = random.Random(1)
    words = [w for w in lm.vocabulary if w not in ("<unk>", "<s>", "</s>")]
    rows = []
    for _ in range(50_000):
        pair = rng.sample(words, 2)
        rows.append([(w, -1000.0 if weights == "alike" else rng.uniform(-2000, 0)) for w in pair])
    candidates = Candidates.from_slots(lm.vocabulary, rows)
    found = decode(lm, candidates, method="dominance")
    assert found.certificate.exact
    assert found.log_weight == pytest.approx(decode(lm, candidates, method="full").log_weight, rel=1e-12)


@pytest.mark.parametrize(
    "kind", [TaskKind.DECODE, TaskKind.KBEST, TaskKind.SAMPLE, TaskKind.MARGINALS, TaskKind.MBR]
)
@pytest.mark.parametrize("method", METHODS)
def test_sums_beyond_the_doubles_are_an_error_of_the_record(
    lm: NgramModel, kind: TaskKind, method: str
) -> None:
    lines = b'{"slots":[[["the",1e308]],[["dog",1e308]]]}\n{"slots":[[["the",0]],[["dog",0]]]}\n'
    bad, good = answer_lines(lm, Slots(lm.vocabulary), lines, Query(kind, method, count=3))
    assert isinstance(bad, Failure)
    assert "position 1" in bad.error
    assert "1e300" in bad.error
    if method != "sparse":
        assert not isinstance(good, Failure)


@pytest.mark.parametrize("weight", [1e299, -1e299])
def test_large_weights_that_fit_are_answered(lm: NgramModel, weight: float) -> None:
    candidates = Candidates.from_slots(lm.vocabulary, [[("the", weight), ("a", -weight)], [("dog", 0.0)]])
    best = "the" if weight > 0 else "a"
    for method in METHODS:
        assert decode(lm, candidates, method=method).words == (best, "dog")  # type: ignore[arg-type]
    assert marginals(lm, candidates).slots[0][0] == (best, 1.0)
    assert list(sample(lm, candidates, 5, seed=1)) == [(best, "dog")] * 5


def test_mbr_has_a_certificate_of_its_own_objective(lm: NgramModel) -> None:
    rows = ["lazy runs the", "old dog", "old hill over", "the stands"]
    best = decode(lm, slots(lm, rows, 0.0), objective="mbr")
    certificate = best.certificate
    assert certificate.objective == "expected_errors"
    assert best.expected_errors is not None
    assert certificate.lower <= best.expected_errors <= certificate.upper
    assert json.loads(json.dumps(best.to_dict()))["certificate"]["objective"] == "expected_errors"


IMPOSSIBLE = "\\data\\\nngram 1=5\n\n\\1-grams:\n-99 <s>\n-0.5 </s>\n-0.5 a\n-99 b\n-99 <unk>\n\n\\end\\\n"


@pytest.mark.parametrize("budget", [None, Budget(seconds=0), Budget(states=1), Budget(refinements=0)])
@pytest.mark.parametrize("method", METHODS)
def test_an_impossible_sequence_is_never_proved(method: str, budget: Budget | None) -> None:
    lm = load(IMPOSSIBLE)
    candidates = Candidates.from_slots(lm.vocabulary, [[("a", 0.0)], [("b", 0.0)], [("a", 0.0)]])
    with pytest.raises(EmptySupportError, match="position 2"):
        decode(lm, candidates, method=method, budget=budget)  # type: ignore[arg-type]


def hard_world() -> tuple[NgramModel, Candidates]:
    """Long and flat: bounds of short contexts are far too high, and hardly a draw from them is accepted."""
    rng = random.Random(3)
    words = [f"w{i}" for i in range(30)]
    text = [" ".join(rng.choices(words, k=12)) for _ in range(400)]
    lm = train(text, 4)
    return lm, Candidates.from_slots(lm.vocabulary, [[(w, 0.0) for w in words] for _ in range(16)])


@pytest.mark.parametrize("budget", [Budget(refinements=1), Budget(states=3), Budget(seconds=0.05)])
@pytest.mark.parametrize("method", ["refine", "paper"])
def test_sampling_under_a_budget_ends_and_says_what_it_knows(method: str, budget: Budget) -> None:
    lm, candidates = hard_world()
    begin = time.monotonic()
    draws = sample(lm, candidates, 50, seed=1, method=method, budget=budget)  # type: ignore[arg-type]
    assert time.monotonic() - begin < 20
    truth = marginals(lm, candidates).log_partition
    assert draws.log_partition_upper >= truth
    assert not draws.exact
    assert draws.count < 50
    if draws.log_partition is None:
        assert draws.log_partition_error is None
    else:
        assert draws.log_partition_error is not None
        assert abs(draws.log_partition - truth) <= 6 * draws.log_partition_error


def test_candidates_of_another_vocabulary_are_refused(lm: NgramModel) -> None:
    other = train(["some other words that are here", "and here"], 2)
    candidates = slots(other, ["some other", "words"], 0.0)
    for question in (
        decode,
        marginals,
        lambda m, c: kbest(m, c, 2),
        lambda m, c: sample(m, c, 2, seed=1),
        search,
    ):
        with pytest.raises(ModelError, match="another vocabulary"):
            question(lm, candidates)
    with pytest.raises(ModelError, match="another vocabulary"):
        answer_lines(lm, Slots(other.vocabulary), b"", Query(TaskKind.DECODE))
    same = train(CORPUS, 2)  # other numbers, the same words
    assert decode(lm, slots(same, ["the a", "dog"], 0.0)).certificate.exact


def test_a_record_has_one_deadline() -> None:
    lm, candidates = hard_world()
    decode(lm, candidates, budget=0.0)  # what is built once is nobody's time
    for task in (
        lambda: decode(lm, candidates, budget=0.05),
        lambda: kbest(lm, candidates, 500, budget=0.05),
        lambda: sample(lm, candidates, 100, seed=1, method="refine", budget=0.05),
    ):
        begin = time.process_time()
        task()
        assert time.process_time() - begin < 0.05 + 0.25  # the last position or refinement is finished


@pytest.mark.parametrize(
    "make",
    [
        lambda: Budget(seconds=math.nan),
        lambda: Budget(seconds=-1),
        lambda: Budget(states=-1),
        lambda: Budget(refinements=2**64),
        lambda: Budget.of(-0.5),
        lambda: Query(TaskKind.KBEST, count=2**64).task(),
        lambda: Query(TaskKind.KBEST, count=0).task(),
    ],
)
def test_budgets_and_counts_that_make_no_sense(make: object) -> None:
    with pytest.raises(ModelError, match="expected"):
        make()  # type: ignore[operator]


def test_a_search_by_an_unknown_method(lm: NgramModel) -> None:
    with pytest.raises(UnknownSymbolError, match="paper"):
        search(lm, slots(lm, ["the"], 0.0), method="paperr")  # type: ignore[arg-type]
