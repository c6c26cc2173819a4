"""Parquet tables in and out of the batch commands; needs the extra arrow."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import names, run, succeed
from tests.models import train

pa: Any = pytest.importorskip("pyarrow")
pq: Any = pytest.importorskip("pyarrow.parquet")
KEYS = ["843 364 22757 0", "", "2 364 753377 *"]


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lm") / "corpus.hlm"
    train(["the dog barks .", "the cat sleeps .", "a dog sleeps ."] * 3, 3).compile(path)
    return path


def test_rows_in_and_rows_out(tmp_path: Path, lm: Path) -> None:
    pq.write_table(pa.table({"n": [1, 2, 3], "text": [KEYS[0], None, KEYS[2]]}), tmp_path / "keys.parquet")
    common: list[str | Path] = ["decode", "--lm", lm, "--channel", "keypad", "--json"]
    expected = succeed(tmp_path, *common, stdin="\n".join(KEYS).encode() + b"\n")
    assert succeed(tmp_path, *common, "keys.parquet").stdout == expected.stdout
    succeed(tmp_path, *common, "keys.parquet", "--output", "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["record", "text"]
    assert table["record"].to_pylist() == [1, 2, 3]
    assert [json.loads(text) for text in table["text"].to_pylist()] == list(map(json.loads, expected.lines()))
    assert names(tmp_path) == ["keys.parquet", "out.parquet"]


def test_records_of_many_lines_are_one_row(tmp_path: Path, lm: Path) -> None:
    common: list[str | Path] = ["decode", "--lm", lm, "--channel", "keypad", "-k", "2"]
    succeed(tmp_path, *common, "--output", "out.parquet", stdin=b"843 364\n2 228\n")
    rows = pq.read_table(tmp_path / "out.parquet")["text"].to_pylist()
    assert len(rows) == 2
    assert all("\t" in row for row in rows)


def test_bad_tables_are_one_line(tmp_path: Path, lm: Path) -> None:
    pq.write_table(pa.table({"a": ["x"], "b": ["y"]}), tmp_path / "two.parquet")
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "cut.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "cut.parquet").read_bytes()[:-20])
    for name, message in (
        ("two.parquet", "columns of strings a, b"),
        ("cut.parquet", "is not a complete Parquet file"),
    ):
        done = run(tmp_path, "lm", "score", "--lm", lm, name)
        assert done.status == 1
        assert done.stderr.startswith(f"hiddenite: error: {name}: ")
        assert message in done.stderr
        assert done.stderr.count("\n") == 1
