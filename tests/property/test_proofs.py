"""Proofs leave the house: the engine's are accepted, and nothing false ever is.

Two laws, on drawn back-off tables (weights above 1, zero probabilities, unlisted suffixes): every proof of
the engine is accepted; and with whatever contexts a proof comes, the least bound that the checker accepts is
not below the optimum found by enumeration. A checker with a planted hole breaks the second.
"""

import copy
import random
from collections.abc import Iterator

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hiddenite.checker import ngram as checker
from tests.enumeration import Target, slot_lists, tolerance
from tests.models import load, save
from tests.oracle import BOS, EOS, UNK, ArpaRows, Backoff, arpa_text
from tests.proofs import (
    ALWAYS_WRONG,
    MUTATIONS,
    ProofRecord,
    is_false,
    least_bound,
    mutate,
    prove_target,
    random_contexts,
    read_model,
    relative,
    slots_of,
    verdict_of,
)
from tests.strategies import examples, tables


@st.composite
def claims(draw: st.DrawFn) -> tuple[checker.Model, Target, bool]:
    """A model as the checker reads it, the same as the engine's with slots, and whether the text ends."""
    rows = draw(tables())
    oracle = Backoff.from_rows(rows)
    words = sorted(w for w in oracle.words if w not in {BOS, EOS, UNK})
    target = Target(oracle, load(arpa_text(rows)), draw(slot_lists(words)))
    return read_model(rows), target, draw(st.booleans())


# ------------------------------------------------------------------- the model


@given(tables())
def test_the_checkers_bound_is_the_maximum_over_all_longer_contexts(rows: ArpaRows) -> None:
    oracle = Backoff.from_rows(rows)
    model = read_model(rows)
    record: ProofRecord = {"words": [], "log_weight": 0, "end": True, "slots": [], "contexts": [[]]}
    judge = checker.Record(model, record)
    for (context, word), value in oracle.max_log_probs().items():
        judge.weights = [{word.encode(): 0.0}]
        judge.rows = {}
        found = judge.largest(0, " ".join(context).encode(), False)
        assert found == value or abs(found - value) <= oracle.rounding(), (context, word)


@given(tables())
def test_engine_and_checker_give_a_model_the_same_name(rows: ArpaRows) -> None:
    model = load(arpa_text(rows))
    name = read_model(rows).checksum()
    assert model.fingerprint == name
    for text in (save(model), save(model, max_columns=True)):
        assert checker.Model(text.splitlines(keepends=True)).checksum() == name


@given(tables(), st.data())
def test_another_number_is_another_name(rows: ArpaRows, data: st.DataObject) -> None:
    ngram = data.draw(st.sampled_from([g for g in rows if g[-1] != BOS]))
    prob, backoff = rows[ngram]
    changed = dict(rows) | {ngram: ((prob - 0.5) if prob > -90 else -1.0, backoff)}
    assert read_model(rows).checksum() != read_model(changed).checksum()


# --------------------------------------------------------------------- the laws


@examples(2)
@given(claims())
def test_every_proof_is_accepted(claim: tuple[checker.Model, Target, bool]) -> None:
    model, target, end = claim
    assume(target.paths(end))
    record = prove_target(target, end)
    verdict = verdict_of(model, record)
    assert verdict.accepted, verdict.reason
    assert verdict.gap <= 1e-9
    assert not is_false(target, record)


@st.composite
def any_contexts(draw: st.DrawFn, target: Target, end: bool) -> ProofRecord:
    """A record whose contexts are whatever somebody may list; everything ends in the empty one."""
    words = [BOS, *sorted(target.oracle.words)]
    context = st.lists(st.sampled_from(words), max_size=target.oracle.order).map(" ".join)
    rows = st.lists(st.tuples(context, st.sampled_from(["open", "closed"])), max_size=12)
    count = len(target.slots) + end
    listed = [[*draw(rows), ("", "open"), *([(BOS, "closed")] if i == 0 else [])] for i in range(count)]
    slots = [[[None if w == float("-inf") else w, [word]] for word, w in slot] for slot in target.slots]
    return {
        "words": [slot[0][0] for slot in target.slots],
        "log_weight": 0.0,
        "end": end,
        "slots": slots,
        "contexts": [[[words, kind, None] for words, kind in rows] for rows in listed],
    }


@examples(2)
@given(claims(), st.data())
def test_no_contexts_give_a_bound_below_the_optimum(
    claim: tuple[checker.Model, Target, bool], data: st.DataObject
) -> None:
    model, target, end = claim
    paths = target.paths(end)
    assume(paths)
    record = data.draw(any_contexts(target, end))
    assert least_bound(model, record) >= relative(target, paths[0][0]) - 4 * tolerance(paths[0][0])


@examples(2)
@given(claims(), st.randoms(use_true_random=False))
def test_lies_are_refused(claim: tuple[checker.Model, Target, bool], rng: random.Random) -> None:
    model, target, end = claim
    assume(target.paths(end))
    record = prove_target(target, end)
    for mutation in MUTATIONS:
        lie = mutate(rng, record, mutation)
        if lie is not None and (mutation in ALWAYS_WRONG or is_false(target, lie)):
            assert not verdict_of(model, lie).accepted, mutation.__name__


# -------------------------------------------------------------------- the twins


class NoMaxima(checker.Record):
    """Takes the model's own probabilities for what may follow after any history."""

    def __init__(self, model: checker.Model, record: ProofRecord) -> None:
        super().__init__(copy.copy(model), record)
        self.model.max_prob = {}


class NoRaisedWeights(checker.Record):
    """Forgets that back-off weights of longer contexts may exceed 1."""

    def __init__(self, model: checker.Model, record: ProofRecord) -> None:
        super().__init__(copy.copy(model), record)
        self.model.raised = {}


class AllIsKnown(checker.Record):
    """Takes every history for closed."""

    def upper(self, i: int, s: bytes, closed: bool) -> float:
        return super().upper(i, s, True)


class ListedAlone(checker.Record):
    """Looks at the words that a context lists and at no others."""

    def largest(self, i: int, s: bytes, closed: bool) -> float:
        return max((value for value, _ in self.row(i, s, closed)), default=checker.ZERO)


class FirstCandidate(checker.Record):
    """Looks at one candidate of each position."""

    def row(self, i: int, s: bytes, closed: bool) -> list[tuple[float, bytes]]:
        return [pair for pair in super().row(i, s, closed) if pair[1] == min(self.weights[i])]


class Trusting(checker.Record):
    """Believes the upper weights."""

    def largest(self, i: int, s: bytes, closed: bool) -> float:
        return self.uppers[i][s, closed]


class NoClaim(checker.Record):
    """Believes the weight of the words."""

    def claim(self) -> tuple[float, float]:
        best = [max(slot.values()) for slot in self.slots]
        return self.log_weight - sum(best), 1e-6


class Lenient(checker.Record):
    """Does not compare the bound with the words."""

    def claim(self) -> tuple[float, float]:
        return super().claim()[0], float("inf")


LOOSE = {
    ("<unk>",): (-3.0, None), (BOS,): (-99.0, 0.3), (EOS,): (-1.0, None), ("a",): (-0.7, 0.4),
    ("b",): (-0.9, 0.0), ("cc",): (-1.2, -0.2), ("a", "cc"): (-0.05, 0.5), ("b", "cc"): (-1.0, -0.3),
    ("a", "a"): (-1.5, 0.2), (BOS, "b"): (-0.2, -0.1), ("b", "a", "cc"): (-0.01, None),
    ("a", "cc", EOS): (-0.1, None), ("b", "cc", "b"): (-0.02, None), ("a", "b", "cc"): (-2.0, None),
}  # fmt: skip
LOOSE_MODEL = read_model(LOOSE)
HOLES = [
    NoMaxima,
    NoRaisedWeights,
    AllIsKnown,
    ListedAlone,
    FirstCandidate,
    Trusting,
    NoClaim,
    Lenient,
]


def loose_targets(rng: random.Random, count: int) -> Iterator[Target]:
    """Slots under a table with weights above 1 and words that need their context."""
    oracle, model = Backoff.from_rows(LOOSE), load(arpa_text(LOOSE))
    for _ in range(count):
        slots = [
            [(word, -2 * rng.random()) for word in rng.sample(["a", "b", "cc", "q1"], 3)]
            for _ in range(rng.randrange(1, 5))
        ]
        yield Target(oracle, model, slots)


def is_found_out(kind: type[checker.Record], rng: random.Random) -> bool:
    """Whether the laws above show that a checker is wrong: a bound too low, or a lie that is accepted."""
    for target in loose_targets(rng, 60):
        record = prove_target(target)
        best = target.paths()[0][0]
        for _ in range(5):
            contexts = random_contexts(rng, record, ["a", "b", "cc", "<unk>"])
            bound = least_bound(LOOSE_MODEL, record | {"contexts": contexts}, kind)
            if bound < relative(target, best) - 4 * tolerance(best):
                return True
        for mutation in MUTATIONS:
            lie = mutate(rng, record, mutation)
            if lie is None or not (mutation in ALWAYS_WRONG or is_false(target, lie)):
                continue
            if verdict_of(LOOSE_MODEL, lie, kind).accepted:
                return True
    return False


@pytest.mark.parametrize("kind", HOLES, ids=lambda kind: kind.__name__)
def test_a_checker_with_a_hole_is_found_out(kind: type[checker.Record]) -> None:
    assert is_found_out(kind, random.Random(1))


def test_the_checker_is_not() -> None:
    assert not is_found_out(checker.Record, random.Random(1))


def test_slots_are_read_back() -> None:
    target = next(loose_targets(random.Random(2), 1))
    assert [sorted(slot) for slot in slots_of(prove_target(target))] == [sorted(s) for s in target.slots]
