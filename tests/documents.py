"""The documentation as a program: its blocks run in order, and what they print is what the page shows.

A fenced block is, by the words after its fence,

  console            lines that begin with `$ ` are commands, `> ` goes on with one; what follows is what it
                     prints: messages (stderr) first, then output
  python             goes on where the page's last Python block ended
  text title="NAME"  a file
  text               after a Python block: what that prints
  anything else      to be read only

In shown output `…` stands for anything within a line, a line `…` for any lines. Blanks at line ends do not
count, and numbers with more than six decimals are compared to six digits. `<!-- times vary -->` before a
block lets numbers with one decimal differ. `python -m tests.documents [--write] PAGE...` shows what is
printed now, or writes it into the page.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import itertools
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.command import environment, server
from tests.e2e.fork_server import CLIENT_FILE, write_client

ROOT = Path(__file__).resolve().parents[1]
START = ROOT / "docs" / "tutorials" / "index.md"  # writes the files that all other pages begin with
COLUMNS = "100"
BLOCK = re.compile(r"(<!-- times vary -->\n+)?^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    title: str | None
    content: str
    line: int
    times_vary: bool


@dataclass(frozen=True)
class Step:
    """Something to run, and what the page says it prints; None: the page does not say."""

    block: Block
    code: str
    shown: str | None


def pages() -> list[Path]:
    """All pages, the README first."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(text):
        info = match[2].strip()
        title = re.search(r'title="([^"]*)"', info)
        line = text.count("\n", 0, match.start(2)) + 1
        found.append(Block(info.partition(" ")[0], title and title[1], match[3], line, match[1] is not None))
    return found


def steps(page: Path) -> Iterator[Step]:
    """The page's commands, Python blocks and files, in order."""
    all_blocks = blocks(page)
    for block, after in itertools.zip_longest(all_blocks, all_blocks[1:]):
        if block.language == "console":
            for part in re.split(r"^\$ ", block.content, flags=re.MULTILINE)[1:]:
                command, shown = _split_command(part.splitlines(keepends=True))
                yield Step(block, command, shown)
        elif block.language == "python":
            is_output = after is not None and after.language == "text" and after.title is None
            yield Step(block, block.content, after.content if after is not None and is_output else None)
        elif block.title is not None:
            yield Step(block, "", None)


def _split_command(lines: list[str]) -> tuple[str, str]:
    """Return a command with the lines that go on with it, and what it prints."""
    end = 1
    while end < len(lines) and lines[end].startswith("> "):
        end += 1
    return "".join([lines[0], *(line[2:] for line in lines[1:end])]), "".join(lines[end:])


@functools.cache
def _client() -> Path:
    """A folder with the command, as a program that need not load anything."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    write_client(folder)
    return folder


class Reader:
    """Someone who follows a page in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def follow(self, step: Step) -> str:
        """Run a step; return what it prints."""
        if step.block.title is not None:
            (self.folder / step.block.title).write_text(step.block.content, encoding="utf-8")
            return ""
        return self.command(step.code) if step.block.language == "console" else self.python(step)

    def command(self, command: str) -> str:
        requests = server().requests.fileno()
        path = os.pathsep.join([str(_client()), sysconfig.get_path("scripts"), os.environ["PATH"]])
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self.folder,
            env=environment() | {"PATH": path, "COLUMNS": COLUMNS, CLIENT_FILE: str(requests)},
            pass_fds=[requests],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        if done.returncode != 0:
            raise AssertionError(f"$ {command}status {done.returncode}: {done.stderr}{done.stdout}")
        return done.stderr + done.stdout

    def python(self, step: Step) -> str:
        printed = io.StringIO()
        code = compile("\n" * step.block.line + step.code, "<page>", "exec")
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(code, self.names)
        return printed.getvalue()


def agrees(step: Step, printed: str) -> bool:
    """Whether a step printed what the page shows."""
    if step.shown is None:
        return True
    shown = re.escape(_rounded(step.shown, step.block.times_vary))
    shown = re.sub(r"^…\n", lambda _: r"(?:.*\n)*", shown, flags=re.MULTILINE)
    return re.fullmatch(shown.replace("…", ".*"), _rounded(printed, step.block.times_vary)) is not None


def _rounded(text: str, times_vary: bool) -> str:
    """Leave out what may differ between machines."""
    text = re.sub(r" +$", "", text, flags=re.MULTILINE)
    text = re.sub(r"-?\d+\.\d{7,}(?:e-\d+)?", lambda number: f"{float(number[0]):.6g}", text)
    return re.sub(r" *(?<![\d.,])\d+\.\d(?!\d)", " #", text) if times_vary else text


def begin(folder: Path) -> None:
    """Write the files that every page begins with."""
    reader = Reader(folder)
    for step in steps(START):
        printed = reader.follow(step)
        assert agrees(step, printed), f"{START.name}:{step.block.line} printed\n{printed}"


def rewritten(page: Path, printed: list[tuple[Step, str]]) -> str:
    """The page's text with what was printed in place of what it showed, where the two disagree."""
    outputs: dict[int, list[tuple[str, str]]] = {}
    for step, found in printed:
        shown = (step.shown or "") if agrees(step, found) else found
        outputs.setdefault(step.block.line, []).append((step.code, shown))
    pieces, done, python_output = [], 0, None
    text = page.read_text(encoding="utf-8")
    for match, block in zip(BLOCK.finditer(text), blocks(page), strict=True):
        content = block.content
        if block.language == "console":
            parts = [(code.rstrip("\n").replace("\n", "\n> "), shown) for code, shown in outputs[block.line]]
            content = "".join(f"$ {code}\n{shown}" for code, shown in parts)
        elif block.language == "text" and block.title is None and python_output is not None:
            content = python_output
        python_output = outputs[block.line][0][1] if block.language == "python" else None
        pieces += [text[done : match.start(3)], content]
        done = match.end(3)
    return "".join([*pieces, text[done:]])


def main(arguments: list[str]) -> None:
    """Follow pages; show where they differ from what is printed now, or with `--write` put that into them."""
    names = [name for name in arguments if name != "--write"]
    with tempfile.TemporaryDirectory() as start:
        begin(Path(start))
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                shutil.copytree(start, folder, dirs_exist_ok=True)
                reader = Reader(Path(folder))
                printed = [(step, reader.follow(step)) for step in steps(Path(name))]
            if "--write" in arguments:
                Path(name).write_text(rewritten(Path(name), printed), encoding="utf-8")
            for step, found in printed:
                if not agrees(step, found):
                    print(f"--- {name}:{step.block.line}\n{step.code}{found}", end="")


if __name__ == "__main__":
    main(sys.argv[1:])
