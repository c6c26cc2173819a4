"""Samples of another language model as a text of token ids, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from hiddenite import FormatError
from hiddenite.hmmlm.distillation import Samples, embedding_clusters, k_means, read_embeddings, read_samples
from hiddenite.hmmlm.lexical_pruning import most_visited
from hiddenite.hmmlm.targets import END


def test_rows_end_before_their_end(tmp_path: Path) -> None:
    rows = np.array([[9, 9, 3, 4, 9, 5], [9, 6, 0, 0, -100, 7], [9, 9, 9, 9, 9, 9]])
    np.save(tmp_path / "ids.npy", rows)
    found = read_samples(tmp_path / "ids.npy", end=9, padding=0)
    assert found == Samples(b"3 4\n6 7\n", 2, 1)  # the second row has no end
    assert read_samples(tmp_path / "ids.npy").text.splitlines()[1] == b"9 6 0 0 7"


def test_a_stream_is_parted_at_the_end(tmp_path: Path) -> None:
    np.save(tmp_path / "ids.npy", np.array([1, 2, 9, 3, 9, 9, 4], np.uint16))
    assert read_samples(tmp_path / "ids.npy", end=9) == Samples(b"1 2\n3\n4\n", 3, 1)
    with pytest.raises(FormatError, match="give the token that ends a sample"):
        read_samples(tmp_path / "ids.npy")


def test_json_lines_have_counts(tmp_path: Path) -> None:
    lines = [[3, 4, 9], {"tokens": [5, 9], "count": 2}, {"tokens": [6, 9], "count": 0}]
    (tmp_path / "ids.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    assert read_samples(tmp_path / "ids.jsonl", end=9) == Samples(b"3 4\n5\n5\n", 3, 0)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[1, 2", "expected a list of token ids"),
        ('["a"]', "expected a list of token ids"),
        ("[true]", "expected a list of token ids"),
        ('{"tokens": [1], "count": -1}', "found the count -1"),
        ('{"tokens": [1], "weight": 2}', "found weight"),
        ("7", "expected a list of token ids"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "ids.jsonl"
    path.write_text(f"[1, 2]\n{line}\n")
    with pytest.raises(FormatError, match=problem) as caught:
        read_samples(path)
    assert f"{path}:2" in str(caught.value)


def test_bad_arrays_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "ids.npy"
    for array in (np.zeros((2, 2)), np.zeros((1, 1, 1), int)):
        np.save(path, array)
        with pytest.raises(FormatError, match="expected integers"):
            read_samples(path)
    np.save(path, np.full((2, 2), -1))
    with pytest.raises(FormatError, match="has no token"):
        read_samples(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(FormatError, match="expected an array of token ids"):
        read_samples(path)
    with pytest.raises(FormatError, match="cannot be read"):
        read_samples(tmp_path / "absent.npy")


def test_tokens_with_similar_vectors_share_a_class(tmp_path: Path, rng: np.random.Generator) -> None:
    centres = np.array([[9.0, 0.0], [0.0, 9.0], [-9.0, -9.0]])
    vectors = np.repeat(centres, 5, axis=0) + rng.normal(size=(15, 2))
    np.save(tmp_path / "vectors.npy", vectors.astype(np.float16))
    samples = Samples(b" ".join(b"%d" % i for i in range(15)) + b" 3\n", 1, 0)
    found = embedding_clusters(samples, read_embeddings(tmp_path / "vectors.npy"), 3, seed=1)
    assert found.words[0] == "3"  # it occurs twice
    assert sorted(sorted(map(int, words)) for words in found.members()) == [
        [*range(5)],
        [*range(5, 10)],
        [*range(10, 15)],
    ]
    with pytest.raises(FormatError, match="has 4 vectors, expected one for each token up to 14"):
        embedding_clusters(samples, np.zeros((4, 2), np.float32), 3, seed=1)


def test_fewer_points_than_clusters(rng: np.random.Generator) -> None:
    assert k_means(np.ones((4, 2), np.float32), 3, rng).tolist() == [0, 0, 0, 0]
    assert sorted(k_means(np.eye(3, dtype=np.float32), 3, rng).tolist()) == [0, 1, 2]


def test_bad_vectors_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "vectors.npy", np.full((2, 2), np.nan))
    with pytest.raises(FormatError, match="no table of finite numbers"):
        read_embeddings(tmp_path / "vectors.npy")


def test_targets_follow_their_tokens(tmp_path: Path) -> None:
    """Skipped tokens take their lists with them; the end's list belongs to the end of the line."""
    lists = [[[9, 1.0]], [[3, 0.5], [4, 0.25]], [[0, 1.0]], [[9, 0.75], [5, 0.25]]]
    records = [{"tokens": [9, 3, 0, 9], "targets": lists, "count": 2}, [4, 9]]
    (tmp_path / "ids.jsonl").write_text("\n".join(map(json.dumps, records)))
    found = read_samples(tmp_path / "ids.jsonl", end=9, padding=0)
    assert found.text == b"3\n3\n4\n"
    assert found.targets is not None
    assert found.targets.begin.tolist() == [0, 2, 4, 6, 8, 8, 8]  # the last sample has none
    assert found.targets.tokens.tolist() == [3, 4, END, 5] * 2
    tokens = np.array([[9, 3, 0, 9]])
    ids = np.array([[[9, -1], [3, 4], [0, -1], [9, 5]]])
    shares = np.array([[[1, 0], [0.5, 0.25], [1, 0], [0.75, 0.25]]])
    np.savez(tmp_path / "ids.npz", tokens=tokens, target_tokens=ids, target_probs=shares)
    again = read_samples(tmp_path / "ids.npz", end=9, padding=0)
    assert again.text == b"3\n"
    assert again.targets is not None
    assert again.targets.tokens.tolist() == [3, 4, END, 5]
    assert again.targets.probabilities.tolist() == [0.5, 0.25, 0.75, 0.25]


@pytest.mark.parametrize(
    "targets", ['"x"', "[[[1, 0.5]]]", "[[[1]], []]", "[[[1, 2]], []]", "[[[-1, 0.5]], []]"]
)
def test_bad_targets_are_named(tmp_path: Path, targets: str) -> None:
    path = tmp_path / "ids.jsonl"
    path.write_text(f'{{"tokens": [1, 2], "targets": {targets}}}\n')
    with pytest.raises(FormatError, match="found other targets than expected") as caught:
        read_samples(path)
    assert f"{path}:1" in str(caught.value)
    np.savez(tmp_path / "ids.npz", tokens=np.zeros((1, 2), int))
    with pytest.raises(FormatError, match="target_tokens"):
        read_samples(tmp_path / "ids.npz")


def test_the_most_visited_states_stay_one_a_context() -> None:
    begin = np.array([0, 3, 3, 5, 6], np.uint64)
    visits = np.array([9.0, 1.0, 5.0, 0.5, 0.25, 0.0])
    found, kept = most_visited(begin, visits, 4)
    assert kept.tolist() == [0, 2, 3, 5]
    assert found.tolist() == [0, 2, 2, 3, 4]
    assert most_visited(begin, visits, 1)[1].tolist() == [0, 3, 5]
