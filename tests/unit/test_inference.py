"""What inference promises beside exact answers: errors, batches, budgets, steps."""

import math

import pytest

from hiddenite import (
    Budget,
    BudgetExceeded,
    Candidates,
    EmptySupportError,
    Keypad,
    ModelError,
    NgramModel,
    Rejection,
    UnknownSymbolError,
    decode,
    decode_many,
    kbest,
    kbest_many,
    marginals,
    marginals_many,
    sample,
    sample_many,
    search,
)
from hiddenite.query import MethodName
from hiddenite.results import Decoded, Failure, KBest, Samples
from tests.models import load, train

SENTENCES = ["the dog barks .", "the cat sleeps .", "a dog sleeps .", "the dog and the cat bark ."] * 3


@pytest.fixture(scope="module")
def lm() -> NgramModel:
    return train(SENTENCES, 4)


@pytest.fixture(scope="module")
def keypad(lm: NgramModel) -> Keypad:
    return Keypad(lm.vocabulary)


def test_answers_agree_with_the_language_model(lm: NgramModel) -> None:
    candidates = Candidates.from_slots(lm.vocabulary, [[("the", -0.5)], [("dog", -0.25), ("emu", -0.25)]])
    best = decode(lm, candidates)
    assert best.words == ("the", "dog")
    assert best.log_weight == pytest.approx(lm.score(["the dog"])[0].log_prob - 0.75)
    open_ended = decode(lm, candidates, end=False)
    expected = lm.log_prob("the", ["<s>"]) + lm.log_prob("dog", ["<s>", "the"]) - 0.75
    assert open_ended.log_weight == pytest.approx(expected)


def test_two_unknown_words_stay_two_candidates(lm: NgramModel) -> None:
    candidates = Candidates.from_slots(lm.vocabulary, [[("emu", math.log(0.3)), ("gnu", math.log(0.6))]])
    assert [h.words for h in kbest(lm, candidates, 5)] == [("gnu",), ("emu",)]
    assert dict(marginals(lm, candidates).slots[0]) == pytest.approx({"gnu": 2 / 3, "emu": 1 / 3})
    drawn = {s.words for s in sample(lm, candidates, 200, seed=1, method="full").samples}
    assert drawn == {("gnu",), ("emu",)}


def test_empty_slot_names_its_position(lm: NgramModel) -> None:
    candidates = Candidates.from_slots(lm.vocabulary, [[("the", 0.0)], [], [("dog", 0.0)]])
    for ask in (decode, marginals):
        with pytest.raises(EmptySupportError, match="position 2") as caught:
            ask(lm, candidates)
        assert caught.value.position == 2


def test_impossible_end() -> None:
    text = "\\data\\\nngram 1=4\n\n\\1-grams:\n-99 <s>\n-99 </s>\n-0.3 a\n-0.3 b\n\n\\end\\\n"
    model = load(text)
    candidates = Candidates.from_slots(model.vocabulary, [[("a", 0.0)]])
    for method in ("full", "dominance", "refine", "paper", "auto"):
        with pytest.raises(EmptySupportError):
            decode(model, candidates, method=method)
        assert decode(model, candidates, method=method, end=False).words == ("a",)


def test_bad_requests(lm: NgramModel, keypad: Keypad) -> None:
    candidates = keypad("843")
    with pytest.raises(UnknownSymbolError, match="did you mean refine"):
        decode(lm, candidates, method="refin")  # type: ignore[arg-type]
    with pytest.raises(UnknownSymbolError, match="objective"):
        decode(lm, candidates, objective="x")  # type: ignore[arg-type]
    with pytest.raises(UnknownSymbolError, match="strategy"):
        decode(lm, candidates, strategy="x")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="1 or more"):
        kbest(lm, candidates, 0)
    with pytest.raises(ModelError, match="budget"):
        decode(lm, candidates, budget=-1.0)
    with pytest.raises(ModelError, match="rate"):
        Rejection(target_rate=0.0)


def test_budget_of_marginals(lm: NgramModel, keypad: Keypad) -> None:
    """An incomplete sum is no answer; a complete one is the same with and without a budget."""
    candidates = keypad("843 364 22757 0 843 364 22757 0")
    whole = marginals(lm, candidates)
    assert marginals(lm, candidates, budget=Budget(seconds=1e6, states=10**9)) == whole
    for limits in (Budget(states=2), Budget(seconds=0.0)):
        with pytest.raises(ModelError, match=r"the budget ended at position \d of 8 with \d+ states"):
            marginals(lm, candidates, budget=limits)
        with pytest.raises(ModelError, match="the budget ended"):
            decode(lm, candidates, objective="mbr", budget=limits)


@pytest.mark.parametrize("method", ["auto", "full"])
def test_budget_of_draws(lm: NgramModel, keypad: Keypad, method: MethodName) -> None:
    """Draws from a sum need the sum; with all of it they are the same with and without a budget."""
    candidates = keypad("843 364 22757 0 843 228 753377 0")
    whole = sample(lm, candidates, 5, seed=1, method=method)
    assert sample(lm, candidates, 5, seed=1, method=method, budget=Budget(seconds=1e6, states=10**9)) == whole
    for limits in (Budget(states=2), Budget(seconds=0.0)):
        with pytest.raises(ModelError, match=r"the budget ended at position \d of 8 with \d+ states"):
            sample(lm, candidates, 5, seed=1, method=method, budget=limits)


def test_budget_returns_the_gap_or_raises(lm: NgramModel, keypad: Keypad) -> None:
    candidates = keypad("843 364 22757 0 843 364 22757 0")
    true = decode(lm, candidates).log_weight
    for method in ("full", "dominance"):
        partial = decode(lm, candidates, method=method, budget=Budget(states=2))
        assert not partial.certificate.exact
        assert partial.certificate.lower <= true <= partial.certificate.upper
        assert partial.certificate.gap > 0
    partial = decode(lm, candidates, method="refine", budget=Budget(refinements=1))
    assert partial.certificate.lower <= true <= partial.certificate.upper
    with pytest.raises(BudgetExceeded) as caught:
        decode(lm, candidates, method="full", budget=Budget(states=2), require_exact=True)
    assert isinstance(caught.value.partial, Decoded)
    assert len(caught.value.partial.words) == 8


@pytest.mark.parametrize("strategy", ["all", "full", "culprit"])
def test_search_closes_the_gap(lm: NgramModel, keypad: Keypad, strategy: str) -> None:
    candidates = keypad("843 364 22757 0")
    steps = list(search(lm, candidates, strategy=strategy))  # type: ignore[arg-type]
    assert steps[-1].words == decode(lm, candidates).words
    assert steps[-1].log_q == steps[-1].log_p == steps[-1].upper == steps[-1].lower
    uppers = [step.upper for step in steps]
    lowers = [step.lower for step in steps]
    assert uppers == sorted(uppers, reverse=True)
    assert lowers == sorted(lowers)
    assert all(step.log_q >= step.log_p for step in steps)


def test_batches_keep_order_and_report_failures(lm: NgramModel, keypad: Keypad) -> None:
    lines = ["843 364", "9999999999", "2 228", ""] * 50  # no word has ten letters
    records = [keypad(line) for line in lines]
    single = [decode(lm, c) if i % 4 != 1 else None for i, c in enumerate(records)]
    for threads in (1, 2, 5):
        results = list(decode_many(lm, records, threads=threads))
        assert [r if isinstance(r, Decoded) else None for r in results] == single
        assert {r.error for r in results if isinstance(r, Failure)} == {"position 1 has no candidate"}
    assert all(isinstance(r, KBest | Failure) for r in kbest_many(lm, records, 2))
    assert len(list(marginals_many(lm, records))) == len(records)


def test_sampling_does_not_depend_on_threads(lm: NgramModel) -> None:
    records = [Keypad(lm.vocabulary, ambiguity=0.5)("843 364 22757 0")] * 20
    for method in ("full", "refine", "paper"):
        one = list(sample_many(lm, records, 30, seed=5, method=method, threads=1))
        two = list(sample_many(lm, records, 30, seed=5, method=method, threads=2))
        assert one == two
        draws = {r.draws for r in one if isinstance(r, Samples)}
        assert len(draws) > 1  # each record has a stream of its own
    other = list(sample_many(lm, records, 30, seed=6, method="full"))
    assert other != list(sample_many(lm, records, 30, seed=5, method="full"))


def test_results_are_plain_json(lm: NgramModel, keypad: Keypad) -> None:
    candidates = keypad("843 364")
    for result in (
        decode(lm, candidates),
        decode(lm, candidates, objective="mbr"),
        kbest(lm, candidates, 2),
        sample(lm, candidates, 5, seed=1),
        marginals(lm, candidates),
    ):
        record = result.to_dict()
        assert record["id"] is None
        assert "exact" in record.get("certificate", record) or "log_partition" in record
