"""Proofs of small targets, what is true of them by enumeration, and how to tell lies with them."""

import copy
import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hiddenite import decode
from hiddenite.checker import ngram as checker
from hiddenite.proof import Verdict
from hiddenite.records import json_number
from tests.enumeration import Slots, Target, tolerance
from tests.oracle import BOS, ArpaRows, arpa_text

ProofRecord = dict[str, Any]


def read_model(rows: ArpaRows) -> checker.Model:
    return checker.Model(arpa_text(rows).encode().splitlines(keepends=True))


def prove_target(target: Target, end: bool = True) -> ProofRecord:
    """The record of a proof file, as a reader gets it."""
    proof = decode(target.model, target.candidates, end=end, proof=True).proof
    assert proof is not None
    record: ProofRecord = json.loads(json.dumps(proof.to_dict(), allow_nan=False))
    return record


def verdict_of(
    model: checker.Model, record: ProofRecord, kind: type[checker.Record] = checker.Record
) -> Verdict:
    """What the checker says of one record."""
    try:
        return Verdict(None, True, kind(model, record).check())
    except checker.Refused as error:
        return Verdict(None, False, float("inf"), str(error))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return Verdict(None, False, float("inf"), repr(error))


def with_least_uppers(
    model: checker.Model, record: ProofRecord, kind: type[checker.Record] = checker.Record
) -> checker.Record:
    """The record's contexts with the lowest upper weights that a checker accepts."""
    judge = kind(model, record)
    for i in range(len(judge.weights) - 1, -1, -1):
        for known in judge.uppers[i]:
            judge.uppers[i][known] = judge.largest(i, *known)
    return judge


def least_bound(
    model: checker.Model, record: ProofRecord, kind: type[checker.Record] = checker.Record
) -> float:
    """The upper weight of the start then, measured, as there, from the best candidate of each position."""
    return with_least_uppers(model, record, kind).upper(0, checker.BEGIN, True)


def relative(target: Target, log_weight: float) -> float:
    """A weight measured from the best candidate of each position."""
    return log_weight - sum(max(weight for _, weight in slot) for slot in target.slots)


def random_contexts(rng: random.Random, record: ProofRecord, words: list[str]) -> list[list[list[Any]]]:
    """Contexts of up to two words, open or closed, for each position; all is covered by the empty one."""
    pairs = [" ".join(f"{a} {b}".split()) for a in ["", BOS, *words] for b in ["", *words]]
    count = min(12, len(pairs))
    return [
        [["", "open", None], *([s, rng.choice(["open", "closed"]), None] for s in rng.sample(pairs, count))]
        for _ in record["contexts"]
    ]


def forge(
    model: checker.Model, target: Target, record: ProofRecord, kind: type[checker.Record]
) -> ProofRecord | None:
    """A proof of words that are not the best which a checker with a hole accepts, if there is one."""
    judge = with_least_uppers(model, record, kind)
    bound = judge.upper(0, checker.BEGIN, True)
    paths = target.paths(record["end"])
    covered = [path for path in paths if relative(target, path[0]) >= bound]
    if not covered or covered[-1][0] >= paths[0][0] - 4 * tolerance(paths[0][0]):
        return None
    log_weight, words = covered[-1]
    contexts = [
        [[s.decode(), "closed" if closed else "open", json_number(u)] for (s, closed), u in rows.items()]
        for rows in judge.uppers
    ]
    return record | {"words": list(words), "log_weight": log_weight, "contexts": contexts}


# ---------------------------------------------------------------------- truth


def slots_of(record: ProofRecord) -> Slots:
    return [
        [(word, float("-inf") if weight is None else weight) for weight, words in slot for word in words]
        for slot in record["slots"]
    ]


def is_false(target: Target, record: ProofRecord) -> bool:
    """Whether the claim is false by more than rounding: the words' weight, or that none weigh more."""
    stated = replace(target, slots=slots_of(record))
    words = tuple(record["words"])
    if len(words) != len(stated.slots) or any(
        word not in dict(slot) for word, slot in zip(words, stated.slots, strict=True)
    ):
        return True
    weight = stated.log_weight(words, record["end"])
    paths = stated.paths(record["end"])
    if not paths:
        return True
    best = paths[0][0]
    slack = 4 * tolerance(best)
    return not (abs(weight - record["log_weight"]) <= slack and best - weight <= slack)


# ------------------------------------------------------------------------ lies

# Each takes a record to pieces of which it may change any; None: there is nothing to change.
Mutation = Callable[[random.Random, ProofRecord], ProofRecord | None]


def _pick_context(rng: random.Random, record: ProofRecord) -> list[Any] | None:
    rows = [row for rows in record["contexts"] for row in rows if row[2] is not None]
    return rng.choice(rows) if rows else None


def lower_an_upper_weight(rng: random.Random, record: ProofRecord) -> ProofRecord | None:
    """Each is the largest of what follows, so less is too little."""
    row = _pick_context(rng, record)
    if row is None:
        return None
    row[2] -= rng.choice([1e-6, 1e-3, 1.0, 50.0]) * (1 + abs(row[2]))
    return record


def forget_an_upper_weight(rng: random.Random, record: ProofRecord) -> ProofRecord | None:
    row = _pick_context(rng, record)
    if row is None:
        return None
    row[2] = None
    return record


def lower_all_upper_weights(rng: random.Random, record: ProofRecord) -> ProofRecord | None:
    """As if the claimed words were so much worse; the last position tells."""
    less = rng.choice([1e-3, 0.5, 5.0])
    for rows in record["contexts"]:
        for row in rows:
            if row[2] is not None:
                row[2] -= less
    record["log_weight"] -= less
    return record


def change_the_weight(rng: random.Random, record: ProofRecord) -> ProofRecord | None:
    record["log_weight"] += rng.choice([-1, 1]) * rng.choice([1e-2, 1.0]) * (1 + abs(record["log_weight"]))
    return record


def change_a_candidates_weight(rng: random.Random, record: ProofRecord) -> ProofRecord | None:
    rows = [row for slot in record["slots"] for row in slot if row[0] is not None]
    if not rows:
        return None
    row = rng.choice(rows)
    row[0] += rng.choice([-1, 1]) * rng.choice([0.01, 1.0, 10.0])
    return record


def swap_a_word(rng: random.Random, record: ProofRecord) -> ProofRecord | None:
    """Another candidate in the claim, its weight put right by half."""
    if not record["words"]:
        return None
    i = rng.randrange(len(record["words"]))
    weights = {word: weight for weight, words in record["slots"][i] for word in words}
    others = [word for word in weights if word != record["words"][i]]
    if not others:
        return None
    word = rng.choice(others)
    if rng.random() < 0.5 and weights[word] is not None:
        record["log_weight"] += weights[word] - weights[record["words"][i]]
    record["words"][i] = word
    return record


def drop_a_context(rng: random.Random, record: ProofRecord) -> ProofRecord | None:
    rows = rng.choice(record["contexts"]) if record["contexts"] else []
    if not rows:
        return None
    rows.pop(rng.randrange(len(rows)))
    return record


def drop_a_position(rng: random.Random, record: ProofRecord) -> ProofRecord | None:
    part = rng.choice(["contexts", "slots", "words"])
    if not record[part]:
        return None
    record[part].pop(rng.randrange(len(record[part])))
    return record


def drop_a_candidate(rng: random.Random, record: ProofRecord) -> ProofRecord | None:
    if not record["slots"]:
        return None
    slot = rng.choice(record["slots"])
    row = rng.choice(slot)
    row[1].pop(rng.randrange(len(row[1])))
    return record


def drop_the_end(rng: random.Random, record: ProofRecord) -> ProofRecord | None:
    record["end"] = not record["end"]
    return record


def open_or_close(rng: random.Random, record: ProofRecord) -> ProofRecord | None:
    row = _pick_context(rng, record)
    if row is None:
        return None
    row[1] = {"open": "closed", "closed": "open"}[row[1]]
    return record


def exchange_contexts(rng: random.Random, record: ProofRecord) -> ProofRecord | None:
    a, b = _pick_context(rng, record), _pick_context(rng, record)
    if a is None or b is None or a[:2] == b[:2]:
        return None
    a[0], b[0] = b[0], a[0]
    return record


MUTATIONS: list[Mutation] = [
    lower_an_upper_weight,
    forget_an_upper_weight,
    lower_all_upper_weights,
    change_the_weight,
    change_a_candidates_weight,
    swap_a_word,
    drop_a_context,
    drop_a_position,
    drop_a_candidate,
    drop_the_end,
    open_or_close,
    exchange_contexts,
]
# After these the proof does not hold, even where the claim is still true.
ALWAYS_WRONG: set[Mutation] = {
    lower_an_upper_weight,
    forget_an_upper_weight,
    lower_all_upper_weights,
    change_the_weight,
}


def mutate(rng: random.Random, record: ProofRecord, mutation: Mutation) -> ProofRecord | None:
    return mutation(rng, copy.deepcopy(record))
