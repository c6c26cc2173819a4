"""The first example of the README gives what the README shows."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def blocks() -> list[tuple[str, str]]:
    """Return language and content of the code blocks of the first example."""
    text = README.read_text(encoding="utf-8")
    example = text[text.index("## A first example") : text.index("## Commands")]
    return re.findall(r"```(\w*)\n(.*?)```", example, flags=re.DOTALL)


def run(command: list[str], folder: Path) -> str:
    path = sysconfig.get_path("scripts") + os.pathsep + os.environ["PATH"]
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        timeout=100,
    )
    return done.stdout


def test_the_first_example(tmp_path: Path) -> None:
    (_, corpus), (_, console), (_, script), (_, printed) = blocks()
    (tmp_path / "corpus.txt").write_text(corpus, encoding="utf-8")
    for step in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, expected = step.partition("\n")
        found = run(["bash", "-c", command], tmp_path)
        assert sorted(found.splitlines()) == sorted(expected.splitlines())  # two streams in one
    assert run([sys.executable, "-c", script], tmp_path) == printed
