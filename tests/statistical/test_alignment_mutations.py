"""Proofs with planted faults: every change that leaves the claim without its proof is refused.

A change may be harmless: other multipliers can prove the same. An arbiter in NumPy, which shares nothing with
the checker, says which changes are falsehoods; all of those must be refused, and the others accepted.
"""

import copy
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hiddenite.align.answers import Alignment, Question
from hiddenite.checker.alignment import Record, Refused
from hiddenite.checker.alignment_weights import Model
from tests.alignment_models import VOCABULARIES, random_aligner, tree_bound
from tests.alignment_oracle import Problem

LEAST = 1000
CLEAR = 1e-6  # nats; between this and the checker's tolerance the arbiter does not judge
Proof = dict[str, Any]


def leaves(proof: Proof) -> list[Proof]:
    return [node for node in proof["tree"] if "multipliers" in node]


def change_multiplier(proof: Proof, rng: random.Random) -> None:
    row = rng.choice(rng.choice(leaves(proof))["multipliers"])
    row[rng.randrange(len(row))] += rng.choice([-30.0, -3.0, -0.3, 0.3, 3.0, 30.0])


def drop_leaf(proof: Proof, rng: random.Random) -> None:
    proof["tree"].remove(rng.choice(leaves(proof)))


def merge_cases(proof: Proof, rng: random.Random) -> None:
    """Call one leaf's multipliers good enough for all cases."""
    proof["tree"] = [rng.choice(leaves(proof))]


def change_case(proof: Proof, rng: random.Random) -> None:
    inner = [node for node in proof["tree"] if "multipliers" not in node]
    if not inner:
        return
    node = rng.choice(inner)
    name, most = ("at_most", len(proof["links"])) if "word" in node else ("link", 3)
    node[name] = rng.choice([value for value in range(most + 1) if value != node[name]])


def swap_cases(proof: Proof, rng: random.Random) -> None:
    del rng
    proof["tree"] = proof["tree"][:1] + proof["tree"][1:][::-1]


def change_link(proof: Proof, rng: random.Random) -> None:
    j = rng.randrange(len(proof["links"]))
    proof["links"][j] = rng.randrange(4)


CHANGES: list[Callable[[Proof, random.Random], None]] = [
    change_multiplier,
    drop_leaf,
    merge_cases,
    change_case,
    swap_cases,
    change_link,
]


def is_false(problem: Problem, proof: Proof) -> bool | None:
    """Whether the tree does not prove the claim; None where the arbiter's numbers do not tell."""
    weight = problem.log_weight(proof["links"])
    if abs(weight - proof["log_weight"]) > CLEAR:
        return True
    gap = tree_bound(problem, proof["tree"]) - weight
    return True if gap > CLEAR else False if gap < 1e-9 else None


def is_refused(model: Model, proof: Proof) -> bool:
    try:
        Record(model, proof).check()
    except Refused:
        return True
    return False


def test_changed_proofs_are_refused(rng: np.random.Generator, tmp_path: Path) -> None:
    draws = random.Random(int(rng.integers(2**32)))
    refused: Counter[str] = Counter()
    harmless = 0
    while sum(refused.values()) < LEAST or min(refused[change.__name__] for change in CHANGES) < LEAST // 20:
        aligner = random_aligner(draws.randrange(2**32))
        aligner.save(tmp_path / "model")
        model = Model((tmp_path / "model").read_bytes())
        for _ in range(10):
            e, f = (draws.choices(side, k=draws.randrange(4, 8)) for side in VOCABULARIES)
            pair = e, f
            answer = next(aligner.ask([pair], Question(proof=True), threads=1))
            assert isinstance(answer, Alignment)
            for d, proof in enumerate(answer.proofs):
                problem = Problem.of(aligner.hmm(*pair, reverse=bool(d)))
                for change in CHANGES:
                    changed = copy.deepcopy(proof.to_dict())
                    changed["links"] = list(changed["links"])
                    change(changed, draws)
                    if changed["tree"] == proof.to_dict()["tree"] and changed["links"] == list(proof.links):
                        continue
                    verdict = is_false(problem, changed)
                    if verdict is None:
                        continue
                    assert is_refused(model, changed) == verdict, (change.__name__, changed)
                    refused[change.__name__] += verdict
                    harmless += not verdict
    print(dict(refused), "harmless:", harmless)
