"""The estimator against KenLM's lmplz, on a small text whose models are kept in tests/data/lmplz."""

import gzip
import math
from pathlib import Path
from typing import Any

import pytest

from hiddenite import NgramModel, TrainingOptions
from tests.models import assert_close, save, without_warnings
from tests.oracle import parse_arpa

DATA = Path(__file__).parents[1] / "data" / "lmplz"
# lmplz computes in floats: a dozen operations, each off by 2**-24, before a logarithm (base 10) is taken.
ATOL = 12 * 2**-24 / math.log(10) + 1e-6  # and prints seven digits of numbers below 10


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("o1", {"order": 1}),
        ("o5", {"order": 5}),
        ("o4-prune", {"order": 4, "prune": (0, 1)}),
        ("o7-fallback", {"order": 7}),
    ],
)
def test_the_same_n_grams_and_numbers(name: str, options: dict[str, Any]) -> None:
    expected = parse_arpa(gzip.decompress((DATA / f"{name}.arpa.gz").read_bytes()).decode())
    with without_warnings():
        model = NgramModel.train_files([DATA / "text.txt"], TrainingOptions(**options))
    found = parse_arpa(save(model).decode())
    assert found.keys() == expected.keys()
    assert_close({g: row[0] for g, row in found.items()}, {g: row[0] for g, row in expected.items()}, ATOL)
    contexts = [g for g in expected if len(g) < model.order]
    assert_close({g: found[g][1] for g in contexts}, {g: expected[g][1] for g in contexts}, ATOL)


def test_the_files_are_read_as_they_are_written() -> None:
    model = NgramModel.load(DATA / "o5.arpa.gz")
    text = (DATA / "text.txt").read_text(encoding="utf-8").splitlines()
    own = NgramModel.train_files([DATA / "text.txt"], TrainingOptions(order=5))
    found, expected = model.score(text), own.score(text)
    for i, sentence in enumerate(text):
        atol = ATOL * math.log(10) * 5 * (len(sentence.split()) + 1)  # at most five numbers a word
        assert found.log_prob[i] == pytest.approx(expected.log_prob[i], abs=atol, rel=0)
