"""Every page is followed as a reader would: commands and Python blocks run, and print what the page shows."""

import functools
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from hiddenite.cli import make_app
from hiddenite.cli.command import Group
from tests import documents
from tests.documents import ROOT, START, Reader, agrees, blocks, pages, steps
from tests.shared import made_once

PAGES = [page for page in pages() if page != START and any(True for _ in steps(page))]
SOURCES = [*ROOT.glob("cpp/**/*.[hc]pp"), *ROOT.glob("src/hiddenite/**/*.py")]
COMMAND = typer.main.get_command(make_app())
INLINE_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder with what docs/tutorials/index.md makes: two texts and a model that all processes share."""
    return made_once(tmp_path_factory, worker_id, "start", documents.begin)


def follow(page: Path, folder: Path) -> list[str]:
    """Return what the page's steps print where it differs from what the page shows."""
    reader = Reader(folder)
    differences = []
    for step in steps(page):
        printed = reader.follow(step)
        if not agrees(step, printed):
            place = f"{page.name}:{step.block.line}"
            differences.append(f"{place}: {step.code}printed\n{printed}shown\n{step.shown}")
    return differences


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES])
def test_a_page_does_what_it_says(page: Path, start: Path, tmp_path: Path) -> None:
    shutil.copytree(start, tmp_path, dirs_exist_ok=True)
    assert "\n".join(follow(page, tmp_path)) == ""


def test_tutorials_and_readme_are_followed() -> None:
    names = {page.relative_to(ROOT).as_posix() for page in PAGES}
    tasks = ("decoding", "language-models", "tagging", "alignment", "induction", "hmmlm")
    tutorials = {f"docs/tutorials/{task}.md" for task in tasks}
    assert tutorials | {"README.md"} <= names
    assert all(sum(step.shown not in (None, "") for step in steps(ROOT / name)) >= 5 for name in tutorials)


PLANTED = """
```text title="a.txt"
one two
```

```console
$ wc -w < a.txt
{count}
```

```python
x = 1.00000000001
print(x, "…")
```

```text
{number} …
```
"""


@pytest.mark.parametrize(
    ("count", "number", "differences"),
    [("2", "1.00000000002", 0), ("3", "1.00000000002", 1), ("3", "1.0001", 2)],
)
def test_a_wrong_page_is_found_out(tmp_path: Path, count: str, number: str, differences: int) -> None:
    page = tmp_path / "page.md"
    page.write_text(PLANTED.format(count=count, number=number), encoding="utf-8")
    assert len(follow(page, tmp_path)) == differences


def test_a_page_can_be_written_anew(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PLANTED.format(count="3", number="0"), encoding="utf-8")
    reader = Reader(tmp_path)
    printed = [(step, reader.follow(step)) for step in steps(page)]
    right = PLANTED.format(count="2", number="1.00000000001")
    assert documents.rewritten(page, printed) == right


def test_a_failing_command_is_found_out(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ hiddenite lm info nothing.arpa\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"nothing\.arpa"):
        follow(page, tmp_path)


# Commands that are shown but not run: at least they exist.


def shown_commands() -> Iterator[tuple[str, str]]:
    """Page and command line of everything that begins with `hiddenite`, in blocks and in the text."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        for block in blocks(page):
            if block.language in ("", "sh", "console"):
                for line in block.content.replace("\\\n", " ").splitlines():
                    bare = re.sub(r"\"[^\"]*\"", "WORDS", line.split(" #")[0])  # a pattern may hold a bar
                    for part in re.split(r"\||;|&&|\bdo\b", bare):
                        command = part.strip().removeprefix("$ ").removeprefix("> ").strip()
                        if command.startswith("hiddenite "):
                            yield page.name, command
        for code in INLINE_CODE.findall(documents.BLOCK.sub("", text)):
            if code.startswith("hiddenite "):
                yield page.name, code


def unknown_part(command: str) -> str | None:
    """Return the first word of a command line that hiddenite does not know."""
    found = COMMAND
    words = shlex.split(command.replace("'", ""))[1:]
    while words and hasattr(found, "commands") and words[0].islower() and not words[0].startswith("-"):
        if words[0] not in found.commands:
            if not hasattr(found, "default"):
                return words[0]
            break
        found = found.commands[words.pop(0)]
    if isinstance(found, Group) and hasattr(found, "default"):  # a group that is a command too
        found = found.commands[found.default]
    options = {"--help"}.union(*([*option.opts, *option.secondary_opts] for option in found.params))
    return next((w for w in words if re.match(r"--?[a-z]", w) and w.partition("=")[0] not in options), None)


def test_shown_commands_exist() -> None:
    commands = list(shown_commands())
    assert len(commands) > 100
    assert [(page, c, unknown_part(c)) for page, c in commands if unknown_part(c) is not None] == []


@pytest.mark.parametrize(
    ("command", "unknown"),
    [
        ("hiddenite lm trian x", "trian"),
        ("hiddenite lm train x --ordre 3", "--ordre"),
        ("hiddenite align corpus SRC TGT --no-string-prior", None),
    ],
)
def test_a_command_that_does_not_exist_is_found_out(command: str, unknown: str | None) -> None:
    assert unknown_part(command) == unknown


# Names of the code


def named_in_code(page: Path) -> Iterator[str]:
    """`Class::member`, `file.hpp` and `path/file` of a page."""
    for code in INLINE_CODE.findall(documents.BLOCK.sub("", page.read_text(encoding="utf-8"))):
        if re.fullmatch(r"\w+::\w+|[\w/]+\.(?:hpp|cpp|py)", code):
            yield code


@functools.cache
def bodies() -> dict[str, str]:
    """The text of the core's classes, by name."""
    pattern = re.compile(r"^(?:class|struct) (\w+)[^;{]*\{.*?^\};", re.MULTILINE | re.DOTALL)
    found: dict[str, str] = {}
    for path in SOURCES:
        for match in pattern.finditer(path.read_text(encoding="utf-8")):
            found[match[1]] = found.get(match[1], "") + match[0]
    return found


def exists(name: str) -> bool:
    """Whether some source has the file, or the class and the member."""
    if "::" not in name:
        return (ROOT / name).exists() or any(f"/{path.as_posix()}".endswith(f"/{name}") for path in SOURCES)
    owner, member = name.split("::")
    return re.search(rf"\b{member}\b", bodies().get(owner, "")) is not None


def test_theory_and_developer_pages_name_what_exists() -> None:
    named = {
        (page.name, name)
        for page in pages()
        if page.name.startswith("theory") or page.parent.name == "developer"
        for name in named_in_code(page)
    }
    assert len(named) > 80
    assert sorted(name for _, name in named if not exists(name)) == []
    assert not exists("Decoder::leap")
    assert not exists("nothing.hpp")
    assert not exists("hmm/proof.hpp")
