"""The papers' experiments: rules that can fail, built-in variants that run, a page that is what was found."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.cells import lexicon_matches, one_tag_is_best
from experiments.common import (
    FULL_RESULTS,
    PAPERS,
    RESULTS,
    Claim,
    Judgement,
    claim_table,
    compare_module,
    everywhere,
    line_and_exponential,
    lower,
    section,
    sub_linear,
    take_over,
    untestable,
)
from experiments.lexicon_drift import many_to_one
from experiments.run_all import (
    DOCS,
    FULL_INTRODUCTION,
    FULL_PICTURES,
    INTRODUCTION,
    PICTURES,
    page,
    recorded,
)
from hiddenite.induction import compare
from tests.experiment_worlds import FULL_WORLDS, WORLDS

ROOT = Path(__file__).resolve().parents[2]
# Gradient models take seconds each to compile; those of EM go through the same code but for that.
QUICK_PIECES = {"chiu2020": ["em-x0.5", "em-x1", "em-x2", "em-x4", "em-uniform"]}


def run_script(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


# Rules


CASES = [
    *((compare_module(paper).CLAIMS, world) for paper, world in WORLDS.items()),
    *((compare_module(paper, "full").CLAIMS, world) for paper, world in FULL_WORLDS.items()),
]
every_case = pytest.mark.parametrize(
    ("claims", "world"), CASES, ids=[*WORLDS, *(f"{paper}-full" for paper in FULL_WORLDS)]
)
World = Callable[[bool], dict[str, Any]]


@every_case
def test_claims_hold_where_they_should(claims: list[Claim], world: World) -> None:
    pieces = world(True)
    verdicts = {c.name: c.judged(pieces).holds for c in claims if c.rule != "none"}
    assert all(verdicts.values()), {name for name, holds in verdicts.items() if not holds}


@every_case
def test_claims_fail_where_they_should(claims: list[Claim], world: World) -> None:
    pieces = world(False)
    verdicts = {c.name: c.judged(pieces).holds for c in claims if c.rule != "none"}
    assert set(verdicts.values()) == {False}, {name for name, holds in verdicts.items() if holds is not False}


@every_case
def test_claims_have_names_of_their_own(claims: list[Claim], world: World) -> None:
    del world
    names = [claim.name for claim in claims]
    assert len(set(names)) == len(names) > 0


def test_what_was_not_run_is_not_judged() -> None:
    claim = Claim("a", "b", "c", "d", ("one", "two"), lambda p: Judgement(True, ""))
    assert claim.judged({"one": 1}) == Judgement(None, "not run: two")
    assert untestable("a", "b", "c", "no data").judged({}) == Judgement(None, "no data")


def test_two_languages_decide_nothing() -> None:
    two = dict(list(WORLDS["dubbin2012"](True)["languages"].items())[:2])
    assert one_tag_is_best(two) == Judgement(None, "languages run at full length: 2, needed: 3")
    assert lexicon_matches(two).holds is None


def test_accuracy_over_sweeps_is_that_of_the_evaluation(rng: np.random.Generator) -> None:
    tags, gold = rng.integers(5, size=60).astype(np.int32), rng.integers(4, size=60)
    found = compare([[str(g) for g in gold]], [[str(t) for t in tags]])
    assert many_to_one(tags, gold) == pytest.approx(100 * found.many_to_one, abs=1e-9)


def test_sub_linear_compares_factors() -> None:
    assert sub_linear({"3": 10.0, "4": 12.0, "5": 14.0}).holds
    assert not sub_linear({"3": 10.0, "4": 20.0, "5": 40.0}).holds
    assert not sub_linear({"3": 3.0, "5": 5.0}).holds  # linear is not below linear


def test_lines_and_exponentials_are_told_apart() -> None:
    xs = [3.0, 4.0, 5.0, 6.0, 7.0]
    line, exponential = line_and_exponential(xs, [5 + 2 * x for x in xs])
    assert line == pytest.approx(1.0)
    assert exponential < 0.999
    line, exponential = line_and_exponential(xs, [0.1 * 2**x for x in xs])
    assert line < 0.95
    assert exponential == pytest.approx(1.0, abs=1e-4)  # the grid's step


def test_all_must_hold() -> None:
    assert everywhere([lower(1, 2), lower(2, 3)]).holds
    assert everywhere([lower(1, 2), lower(3, 2)]).holds is False
    assert everywhere([lower(1, 2), Judgement(None, "")]).holds is None
    assert everywhere([lower(3, 2), Judgement(None, "")]).holds is False
    assert not lower(2, 2).holds


def test_a_claim_is_a_row() -> None:
    claim = Claim("a", "says", "figure 1", "rule", ("one",), lambda p: Judgement(p["one"] > 0, f"{p['one']}"))
    assert "| says | figure 1 | rule | 1 | holds |" in claim_table([claim], {"one": 1})
    assert "| says | figure 1 | rule | -1 | **does not hold** |" in claim_table([claim], {"one": -1})
    assert "| says | figure 1 | rule | not run: one | not testable here |" in claim_table([claim], {})


# Built-in variants


@pytest.mark.parametrize("paper", PAPERS)
def test_the_built_in_variant_runs(paper: str, tmp_path: Path) -> None:
    command = [f"experiments/{paper}/run.py", *QUICK_PIECES.get(paper, ()), "--size", "tiny"]
    command += ["--output", str(tmp_path), "--no-pictures"]
    done = run_script(*command)
    assert done.returncode == 0, done.stderr
    directory = tmp_path / "built-in-tiny"
    record = json.loads((directory / f"{paper}.json").read_text(encoding="utf-8"))
    report = (directory / f"{paper}.md").read_text(encoding="utf-8")
    assert report == section(record, "")
    assert (record["data"], record["size"]) == ("built-in", "tiny")
    compare = compare_module(paper)
    for claim in compare.CLAIMS:
        assert f"| {claim.says} | {claim.paper} | {claim.rule} |" in report
    if paper not in QUICK_PIECES:
        assert "not run" not in report
        assert all(f"### {title}" in report for title, *_ in compare.PARTS)
    assert_tables_are_square(report)
    pieces = {path: path.stat().st_mtime_ns for path in (directory / paper).glob("*.json")}
    assert pieces
    assert run_script(*command).returncode == 0
    assert pieces == {path: path.stat().st_mtime_ns for path in (directory / paper).glob("*.json")}


def assert_tables_are_square(report: str) -> None:
    for block in re.findall(r"(?:^\|.*\|\n)+", report, re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1, block


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--data", "nowhere"], "nowhere is no directory, expected the data"),
        (["--size", "tiny", "fig9"], "carter2012 has no piece fig9, expected decoding, strategies"),
    ],
    ids=["data", "piece"],
)
def test_errors_are_one_line(arguments: list[str], error: str, tmp_path: Path) -> None:
    done = run_script("experiments/carter2012/run.py", *arguments, "--output", str(tmp_path))
    assert done.returncode != 0
    assert error in done.stderr.splitlines()[-1]


def test_missing_data_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    command = ["experiments/quirk2013/run.py", "--data", str(tmp_path / "empty"), "--output", str(tmp_path)]
    done = run_script(*command)
    assert done.returncode != 0
    assert re.match(r"table1: .*test\.en is not there; ", done.stderr.splitlines()[-1])


# The page


PAGES = {
    "experiments.md": (RESULTS, PICTURES, INTRODUCTION),
    "experiments-full.md": (FULL_RESULTS, FULL_PICTURES, FULL_INTRODUCTION),
}


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_what_was_found(name: str) -> None:
    results, pictures, introduction = PAGES[name]
    found = page(recorded(results), pictures, introduction)
    assert (DOCS / name).read_text(encoding="utf-8") == found, "run experiments/run_all.py --page"
    assert_tables_are_square(found)
    for picture in re.findall(r"\]\((img/[^)]+)\)", found):
        assert (DOCS / picture).is_file(), picture


def test_the_page_tells_of_all_papers() -> None:
    records = recorded(RESULTS)
    assert [record["paper"] for record in records] == list(PAPERS)
    assert {record["data"] for record in records} == {"real"}


@pytest.mark.parametrize("paper", PAPERS)
def test_pictures_can_be_drawn(paper: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from experiments.common import draw  # noqa: PLC0415

    record = next(r for r in recorded(RESULTS) if r["paper"] == paper)
    paths = draw(record, f"{tmp_path}/")
    assert [path.name for path in paths] == [f"{paper}-{name}.png" for name in compare_module(paper).PICTURES]


@pytest.mark.parametrize("says_each", [True, False], ids=["each", "sum"])
def test_recorded_pieces_count_as_done(says_each: bool, tmp_path: Path) -> None:
    sums = {"seconds": 7, "date": "2026-01-02", "machine": "a machine"}
    each = {name: {"seconds": n, "date": "2026-01-03", "machine": "another"} for n, name in enumerate("abc")}
    record = {
        **sums,
        "pieces": {name: {"x": name} for name in "abc"},
        **({"runs": each} if says_each else {}),
    }
    recorded_file, folder = tmp_path / "paper.json", tmp_path / "paper"
    recorded_file.write_text(json.dumps(record), encoding="utf-8")
    folder.mkdir()
    (folder / "b.json").write_text("newer", encoding="utf-8")
    take_over(recorded_file, folder)
    take_over(tmp_path / "absent.json", folder)
    a, c = (json.loads((folder / f"{name}.json").read_text("utf-8")) for name in "ac")
    assert a == {"found": {"x": "a"}, **(each["a"] if says_each else sums)}
    assert c == {"found": {"x": "c"}, **(each["c"] if says_each else {**sums, "seconds": 0})}
    assert (folder / "b.json").read_text("utf-8") == "newer"
