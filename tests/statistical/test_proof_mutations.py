"""Thousands of lies: proofs of random models with something changed, none of which may be accepted.

Tables are random, a third of their back-off weights above 1, their suffixes and contexts listed or not, with
zero probabilities; each text is enumerated. A changed record counts as a lie if the claim is false by
enumeration, or if the change is one after which no proof can hold (`ALWAYS_WRONG`). No lie may pass: there is
no rate of false alarms. The twins are checkers with a hole; the same lies show each of them.
"""

import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from hiddenite.checker import ngram as checker
from tests.enumeration import Target
from tests.models import load
from tests.oracle import BOS, EOS, UNK, ArpaRows, Backoff, Ngram, arpa_text
from tests.proofs import (
    ALWAYS_WRONG,
    MUTATIONS,
    ProofRecord,
    forge,
    is_false,
    mutate,
    prove_target,
    random_contexts,
    read_model,
    verdict_of,
)
from tests.property.test_proofs import HOLES

NUM_LIES = 2000
WORDS = ["a", "b", "cc", "dd", "é"]


def random_rows(rng: random.Random) -> ArpaRows:
    """A table of order 1 to 5 over up to five words."""
    order = rng.randrange(1, 6)
    words = [UNK, EOS, *rng.sample(WORDS, rng.randrange(2, 6))]
    ngrams: dict[Ngram, None] = dict.fromkeys((w,) for w in [*words, BOS])
    for n in range(2, order + 1):
        for _ in range(rng.randrange(1, 16)):
            ngrams[(rng.choice([*words, BOS]), *rng.choices(words, k=n - 1))] = None

    def weight(n: int) -> float | None:
        return None if n == order else rng.choice([None, 0.0, -rng.random(), -rng.random(), rng.random() / 2])

    return {
        g: (-99.0 if rng.random() < 0.03 else -2 * rng.random() ** 2, weight(len(g)))
        for g in sorted(ngrams, key=len)
    }


def random_claims(rng: random.Random) -> Iterator[tuple[checker.Model, Target, ProofRecord]]:
    while True:
        rows = random_rows(rng)
        words = sorted({g[0] for g in rows if len(g) == 1} - {UNK, BOS, EOS})
        size = rng.randrange(1, min(4, len(words) + 1) + 1)
        slots = [
            [(word, -3 * rng.random()) for word in rng.sample([*words, "q1"], size)]
            for _ in range(rng.randrange(1, 6))
        ]
        target = Target(Backoff.from_rows(rows), load(arpa_text(rows)), slots)
        if target.paths():
            yield read_model(rows), target, prove_target(target)


def lies(rng: random.Random) -> Iterator[tuple[checker.Model, str, ProofRecord]]:
    for model, target, record in random_claims(rng):
        for mutation in MUTATIONS:
            lie = mutate(rng, record, mutation)
            if lie is not None and (mutation in ALWAYS_WRONG or is_false(target, lie)):
                yield model, mutation.__name__, lie
        words = sorted(set(target.oracle.words) - {BOS, EOS})
        known = record | {"contexts": random_contexts(rng, record, words)}
        for kind in HOLES:
            if (lie := forge(model, target, known, kind)) is not None:
                yield model, f"forged for {kind.__name__}", lie


@pytest.mark.statistical
def test_no_lie_is_accepted(rng: np.random.Generator) -> None:
    told: Counter[str] = Counter()
    for model, mutation, lie in lies(random.Random(int(rng.integers(2**32)))):
        assert not verdict_of(model, lie).accepted, (mutation, lie)
        told[mutation] += 1
        if told.total() == NUM_LIES:
            break
    # What is done to contexts leaves the claim true; what they could hide is what the forgers try.
    assert len([name for name in told if name.startswith("forged")]) >= 4, told
    assert len(told) >= 9 + 4, told


@pytest.mark.statistical
def test_all_true_proofs_are_accepted(rng: np.random.Generator) -> None:
    claims = random_claims(random.Random(int(rng.integers(2**32))))
    for model, _, record in (next(claims) for _ in range(300)):
        verdict = verdict_of(model, record)
        assert verdict.accepted, verdict.reason
        assert verdict.gap < 1e-9


@pytest.mark.statistical
@pytest.mark.parametrize("kind", HOLES, ids=lambda kind: kind.__name__)
def test_lies_show_a_checker_with_a_hole(rng: np.random.Generator, kind: type[checker.Record]) -> None:
    told = itertools.islice(lies(random.Random(int(rng.integers(2**32)))), 10 * NUM_LIES)
    assert any(verdict_of(model, lie, kind).accepted for model, _, lie in told)


@pytest.mark.statistical
def test_no_damaged_file_is_accepted(rng: np.random.Generator) -> None:
    """Every cut, and single characters changed: what is accepted says the same as before."""
    chance = random.Random(int(rng.integers(2**32)))
    model, _, record = next(random_claims(chance))
    header = {"format": checker.FORMAT, "version": checker.VERSION, "model": model.checksum()}
    text = "".join(json.dumps(row) + "\n" for row in (header, record, record, {"records": 2})).encode()
    assert faults(model, text) == ""
    for cut in range(len(text) - 1):  # the last line feed may be missing
        assert faults(model, text[:cut])
    digits = [i for i, byte in enumerate(text) if chr(byte).isdigit()]
    for i in chance.sample(digits, min(len(digits), 500)):
        changed = text[:i] + str((int(chr(text[i])) + chance.randrange(1, 10)) % 10).encode() + text[i + 1 :]
        if not faults(model, changed):
            assert harmless(text, changed), changed


def faults(model: checker.Model, text: bytes) -> str:
    return "".join(fault for *_, fault in checker.check_lines(model, text.splitlines(keepends=True)))


def harmless(text: bytes, changed: bytes) -> bool:
    """A number moved by less than rounding, an upper weight raised, or a candidate that loses lowered."""
    for line, other in zip(text.splitlines(), changed.splitlines(), strict=True):
        before, after = json.loads(line), json.loads(other)
        if before == after:
            continue
        same = {key: before[key] for key in ("words", "end")}
        if {key: after[key] for key in same} != same:
            return False
        return math.isclose(before["log_weight"], after["log_weight"], rel_tol=1e-11)
    return True
