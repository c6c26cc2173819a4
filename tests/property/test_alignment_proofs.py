"""Proofs of alignments: the engine's are accepted, and no proof of something false is, whoever made it up."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from hiddenite import Aligner, AlignerOptions, ModelError
from hiddenite.align.answers import Alignment, Question
from hiddenite.align.proofs import AlignmentProof, write_alignment_proofs
from hiddenite.checker.alignment import Record, Refused, check_lines, read_lines
from hiddenite.checker.alignment_weights import Model
from tests.alignment_models import VOCABULARIES, random_aligner, tree_bound
from tests.alignment_oracle import Problem

Pair = tuple[list[str], list[str]]
Files = Callable[[Aligner], Model]

words = [st.sampled_from([*known, "new", "<s>"]) for known in VOCABULARIES]
pairs = st.tuples(*(st.lists(word, max_size=4) for word in words))  # few enough to enumerate
longer_pairs = st.tuples(*(st.lists(word, max_size=8) for word in words))
aligners = st.builds(random_aligner, st.integers(0, 2**32 - 1), fertile=st.sampled_from([True, True, False]))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """What the checker reads of an aligner: its file."""
    path = tmp_path_factory.mktemp("models") / "model"

    def model(aligner: Aligner) -> Model:
        aligner.save(path)
        return Model(path.read_bytes())

    return model


def prove(aligner: Aligner, pair: Pair) -> list[tuple[AlignmentProof, Problem]]:
    answer = next(aligner.ask([pair], Question(proof=True), threads=1))
    assert isinstance(answer, Alignment)
    problems = [Problem.of(aligner.hmm(*pair, reverse=bool(d))) for d in (0, 1)]
    return list(zip(answer.proofs, problems, strict=True))


def refuses(model: Model, record: dict[str, Any]) -> bool:
    try:
        Record(model, record).check()
    except Refused:
        return True
    return False


# Letters of every range that loses its marks, marks behind letters, ideographs, and letters beyond them.
spellings = st.text(
    st.one_of(
        st.sampled_from("aeé\u0301\u0308ñøǖłώὼᾳϊйёűệ漢字中あ한\u0340𠀀-"),
        st.integers(0xC0, 0x24F).map(chr),
        st.integers(0x370, 0x52F).map(chr),
        st.integers(0x1E00, 0x1FFF).map(chr),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=40)
@given(st.lists(st.lists(spellings, min_size=1, max_size=3), min_size=2, max_size=6), st.data())
def test_both_cut_words_to_the_same_stems(files: Files, sides: list[list[str]], data: st.DataObject) -> None:
    options = AlignerOptions(1, 1, 2, chains=1, normalize=False, string_prior=False)
    text = list(zip(sides, sides[::-1], strict=True))
    aligner = Aligner.train(text, options=options, seed=1, threads=1)
    pair = data.draw(st.sampled_from(text))
    new = (pair[0] + [data.draw(spellings)], pair[1])
    for d in (0, 1):
        problem = Problem.of(aligner.hmm(*new, reverse=bool(d)))
        emission, *_ = files(aligner).weights(d, new[d], new[1 - d])
        assert np.allclose(np.asarray(emission).reshape(problem.emission.shape), problem.emission, rtol=1e-9)


@given(aligner=aligners, pair=pairs)
def test_the_checker_has_the_same_weights(files: Files, aligner: Aligner, pair: Pair) -> None:
    model = files(aligner)
    for d in (0, 1):
        problem = Problem.of(aligner.hmm(*pair, reverse=bool(d)))
        emission, jump, (end,), fertility = model.weights(d, pair[d], pair[1 - d])
        for ours, theirs in (
            (emission, problem.emission),
            (jump, problem.jump[:, 1:]),
            (end, problem.end),
            (fertility, problem.fertility[1:]),
        ):
            assert np.allclose(np.asarray(ours).reshape(theirs.shape), theirs, rtol=1e-13, atol=1e-13)


@given(aligner=aligners, pair=longer_pairs)
def test_the_engines_proofs_are_accepted(files: Files, aligner: Aligner, pair: Pair) -> None:
    model = files(aligner)
    for proof, _ in prove(aligner, pair):
        assert 0 <= Record(model, json.loads(json.dumps(proof.to_dict()))).check() < 1e-6


@given(aligner=aligners, pair=pairs)
def test_what_is_proved_is_the_best(files: Files, aligner: Aligner, pair: Pair) -> None:
    model = files(aligner)
    for proof, problem in prove(aligner, pair):
        Record(model, proof.to_dict()).check()
        assert proof.log_weight == pytest.approx(problem.ranked()[0][0], abs=1e-9)


def nodes(sources: int, targets: int) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Any tree, small numbers and large ones."""
    numbers = st.one_of(st.floats(-5, 5), st.sampled_from([0.0, 1e3, -1e3, 1e12, -1e12]))
    rows = st.lists(st.lists(numbers, min_size=sources, max_size=sources), min_size=targets, max_size=targets)
    leaf = st.builds(lambda rows: [{"multipliers": rows}], rows)
    inner = []
    if sources:
        inner.append(
            st.builds(
                lambda i, c: {"word": i, "at_most": c}, st.integers(1, sources), st.integers(0, targets)
            )
        )
    if targets:
        inner.append(
            st.builds(
                lambda j, i: {"generated": j, "link": i}, st.integers(1, targets), st.integers(0, sources)
            )
        )
    if not inner:
        return leaf
    return st.recursive(
        leaf, lambda tree: st.builds(lambda n, a, b: [n, *a, *b], st.one_of(inner), tree, tree), max_leaves=6
    )


@given(aligner=aligners, pair=pairs, data=st.data())
def test_no_tree_proves_what_is_false(
    files: Files, aligner: Aligner, pair: Pair, data: st.DataObject
) -> None:
    """Whatever the tree: its bound is not below the optimum, and lesser links are refused."""
    model = files(aligner)
    for proof, problem in prove(aligner, pair):
        targets, width = problem.emission.shape
        tree = data.draw(st.one_of(nodes(width - 1, targets), st.just(list(proof.tree))))
        record = proof.to_dict() | {"tree": tree}
        optimum = problem.ranked()[0][0]
        assert tree_bound(problem, tree) >= optimum - 1e-3 * (1 + 1e-12 * np.abs(_largest(tree)))
        if tree_bound(problem, tree) > optimum + 1e-3:
            assert refuses(model, record)
        links = data.draw(st.lists(st.integers(0, width - 1), min_size=targets, max_size=targets))
        weight = problem.log_weight(links)
        if weight < optimum - 1e-6:
            assert refuses(model, record | {"links": links, "log_weight": weight})
            assert refuses(model, record | {"links": links})


def _largest(tree: list[dict[str, Any]]) -> float:
    rows = [abs(u) for node in tree for row in node.get("multipliers", []) for u in row]
    return max(rows, default=0.0)


def test_the_law_sees_a_checker_that_forgets_a_part() -> None:
    """The planted fault: without its rows, the bound is below the optimum."""
    found = 0
    for seed in range(20):
        aligner = random_aligner(seed)
        pair = ["house", "dog", "old"], ["maison", "chien", "arbre", "un"]
        for proof, problem in prove(aligner, pair):
            rows = np.zeros_like(problem.fertility) - 100.0
            sabotaged = Problem(problem.emission, problem.jump, problem.end, rows)
            found += tree_bound(sabotaged, proof.tree) < problem.ranked()[0][0] - 1e-3
    assert found == 40


# ------------------------------------------------------------------- records


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Model, list[bytes]]:
    directory = tmp_path_factory.mktemp("proofs")
    aligner = random_aligner(7)
    aligner.save(directory / "model")
    pair = ["house", "dog", "old", "été"], ["maison", "chien", "arbre", "un", "dog"]
    answer = next(aligner.ask([pair], Question(proof=True), threads=1))
    assert isinstance(answer, Alignment)
    path = directory / "proofs.jsonl.gz"
    write_alignment_proofs(path, directory / "model", [(answer.id, proof) for proof in answer.proofs])
    return directory, Model((directory / "model").read_bytes()), list(read_lines(str(path)))


def fault(model: Model, lines: list[bytes]) -> str:
    return list(check_lines(model, lines))[-1][2]


def test_a_file_is_checked_as_a_whole(proved: tuple[Path, Model, list[bytes]]) -> None:
    directory, model, lines = proved
    results = list(check_lines(model, lines))
    assert [reason for _, _, reason in results] == ["", "", ""]
    assert [name for name, _, _ in results] == ["1 forward", "1 reverse", None]
    assert "its last line says" in fault(model, lines[:-1])
    assert "its last line says" in fault(model, [*lines[:2], lines[-1]])
    assert "its last line says" in fault(model, [*lines, lines[-1]])
    assert "expected the format" in fault(model, [b'{"format":"another","version":1}\n', *lines[1:]])
    assert "damaged" in fault(model, [lines[0][:-5], *lines[1:]])
    random_aligner(8).save(directory / "other")
    assert "another model" in fault(Model((directory / "other").read_bytes()), lines)


@pytest.mark.parametrize(
    "change",
    [
        {"links": []},
        {"links": [99, 0, 0, 0, 0]},
        {"links": [True, 0, 0, 0, 0]},
        {"log_weight": 0.0},
        {"log_weight": None},
        {"log_weight": math.nan},
        {"tree": []},
        {"tree": [{}]},
        {"tree": [{"multipliers": [[0.0]]}]},
        {"tree": [{"multipliers": [[math.nan] * 4] * 5}]},
        {"tree": [{"multipliers": [[math.inf] * 4] * 5}]},
        {"tree": [{"multipliers": [[-1e300] * 4] * 5}]},
        {"tree": [{"multipliers": [["0"] * 4] * 5}]},
        {"tree": [{"word": 0, "at_most": 0}]},
        {"tree": [{"word": -1, "at_most": 0}]},
        {"tree": [{"word": 1, "at_most": -1}]},
        {"tree": [{"word": 1, "at_most": 0.5}]},
        {"tree": [{"generated": 6, "link": 0}]},
        {"tree": [{"generated": 0, "link": 0}]},
        {"tree": [{"generated": 1, "link": 9}]},
        {"direction": "sideways"},
        {"direction": "reverse"},
        {"source": ["house", "dog", "old"]},
        {"target": ["maison", "chien", "arbre", "un", "étés"]},
        {"error": "no proof"},
    ],
)
def test_a_changed_record_is_refused(proved: tuple[Path, Model, list[bytes]], change: dict[str, Any]) -> None:
    _, model, lines = proved
    line = (json.dumps(json.loads(lines[1]) | change) + "\n").encode()
    (_, gap, reason), *rest = check_lines(model, [lines[0], line, *lines[2:]])
    assert reason
    assert gap == math.inf
    assert [r for _, _, r in rest] == ["", ""]  # no other record suffers


def test_a_proof_is_of_a_certified_alignment() -> None:
    aligner = random_aligner(7)
    pair = [*VOCABULARIES[0], *VOCABULARIES[0]], [*VOCABULARIES[1], *VOCABULARIES[1]]
    late = next(aligner.ask([pair], Question(proof=True, budget=0.0), threads=1))
    assert isinstance(late, Alignment)
    assert {proof.error is None for proof in late.proofs} <= {late.exact}
    for options in ({"k": 2, "direction": "forward"}, {"threshold": 0.5}, {"method": "viterbi"}):
        with pytest.raises(ModelError, match="proof proves one best alignment"):
            Question(proof=True, **options)
