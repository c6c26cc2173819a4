"""Thousands of damaged lattice files of every format: refused with one line, or read and answered."""

import random

import pytest

from tests.lattice_damage import SEEDS, damage, examine, run


def test_no_damaged_file_raises_anything_but_our_errors(pytestconfig: pytest.Config) -> None:
    results = run(2000, 0.0, pytestconfig.getoption("--seed"))
    assert results.total() == 2000
    assert results["read"] > 100  # some edits leave a lattice, so that what follows the reading is met too
    assert results["FormatError"] > 500


@pytest.mark.parametrize("name", SEEDS)
def test_the_seeds_are_lattices(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("seed") / "lattice"
    path.write_text(SEEDS[name])
    assert examine(path, None) == "read"


def test_edits_change_files() -> None:
    generator = random.Random(1)
    text = SEEDS["slf"]
    assert sum(damage(generator, text) != text.encode() for _ in range(100)) > 80
