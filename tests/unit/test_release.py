"""What must agree before a version is tagged: one version number, files that others look for, one ruff."""

import re
import tomllib

import pytest

from hiddenite.version import VERSION
from tests.documents import ROOT


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_written_once() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    assert "version" not in project
    assert "version" in project["dynamic"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    assert re.findall(r"^version: (.+)$", read("CITATION.cff"), re.MULTILINE) == [VERSION]


def test_the_changelog_knows_the_version() -> None:
    changelog = read("CHANGELOG.md")
    assert f"## [{VERSION}]" in changelog or f"To become {VERSION}." in changelog


@pytest.mark.slow  # before a release, not before every change
def test_the_changelog_is_closed() -> None:
    assert re.search(
        rf"^## \[{re.escape(VERSION)}\] - \d{{4}}-\d\d-\d\d$", read("CHANGELOG.md"), re.MULTILINE
    )


@pytest.mark.parametrize(
    "name",
    ["LICENSE", "CHANGELOG.md", "CITATION.cff", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md"],
)
def test_files_that_others_look_for(name: str) -> None:
    assert len(read(name).split()) > 50


def test_hooks_use_the_tools_of_the_tests() -> None:
    """Before a commit and in the tests: the same ruff, by one version."""
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    (pinned,) = [one for one in extras["test"] if one.startswith("ruff==")]
    hooks = read(".pre-commit-config.yaml")
    assert pinned in hooks
    assert "entry: ruff format" in hooks
    assert "entry: ruff check" in hooks
