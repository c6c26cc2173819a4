"""The static checks, as tests: what `make test` accepts is formatted, typed, layered and described.

A check that could pass because it looked at nothing has a twin that plants a fault and must see it found.
"""

import ast
import graphlib
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT_IMPORTS = str(Path(sysconfig.get_path("scripts"), "lint-imports"))
MAX_LINE = 120  # C++; Python's limit is ruff's


def run(*command: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    # No colours and no terminal width from outside: the output is read by assertions.
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def python(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-m", *arguments, cwd=cwd)


def assert_clean(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, f"{' '.join(map(str, done.args))}\n{done.stdout}{done.stderr}"


def assert_complains(done: subprocess.CompletedProcess[str], about: str) -> None:
    assert done.returncode == 1, f"{' '.join(map(str, done.args))}\n{done.stdout}{done.stderr}"
    assert about in done.stdout + done.stderr


# Style and types


def test_ruff_finds_nothing() -> None:
    assert_clean(python("ruff", "check", "."))


def test_ruff_would_format_nothing() -> None:
    assert_clean(python("ruff", "format", "--check", "."))


def test_types_are_strict() -> None:
    pytest.importorskip("jax", reason="the types of the extra `neural` are not installed")
    assert_clean(python("mypy"))


def test_faults_of_style_and_type_are_seen(tmp_path: Path) -> None:
    config = str(ROOT / "pyproject.toml")
    fault = tmp_path / "fault.py"
    fault.write_text("import pickle\ndef f(x): return x\n", encoding="utf-8")
    assert_complains(python("ruff", "check", "--config", config, str(fault), cwd=tmp_path), "TID251")
    assert_complains(
        python("ruff", "format", "--check", "--config", config, str(fault), cwd=tmp_path), "reformat"
    )
    assert_complains(python("mypy", "--config-file", config, str(fault), cwd=tmp_path), "no-untyped-def")


# Layers


def test_imports_go_down_only() -> None:
    assert_clean(run(LINT_IMPORTS, "--no-cache"))


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("errors", "import planted.results", "Imports go down only"),
        ("tag", "import planted.align", "Imports go down only"),
        ("errors", "from planted import results", "Imports go down only"),
        ("unplaced", "", "Imports go down only"),
        ("results", "import typer", "Only cli talks to the terminal"),
        ("inference", "import http.server", "Only web has a server"),
        ("hmmlm", "from jax import numpy", "Only hmmlm.neural imports jax"),
        ("inference", "import ray", "Only jobs imports ray"),
    ],
)
def test_a_planted_import_is_seen(tmp_path: Path, module: str, line: str, contract: str) -> None:
    # Under another name, because the installed package would be found before the copy.
    plant(tmp_path, {module: line})
    done = run(LINT_IMPORTS, "--no-cache", cwd=tmp_path)
    assert_complains(done, f"{contract} BROKEN")
    assert done.stdout.count("BROKEN") == 1


def test_permitted_imports_pass(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            "cli": "import typer\nimport planted.inference",
            "induction": "import planted.tag",
            "jobs": "import ray\nimport planted.tag",
            "web": "import http.server",
            "inference": "from planted._core import decode",
        },
    )
    assert_clean(run(LINT_IMPORTS, "--no-cache", cwd=tmp_path))


def plant(directory: Path, lines: dict[str, str]) -> None:
    """A package `planted` of empty modules under this project's contracts, but for the given lines."""
    config = (ROOT / "pyproject.toml").read_text(encoding="utf-8").replace("hiddenite", "planted")
    (directory / "pyproject.toml").write_text(config, encoding="utf-8")
    package = directory / "planted"
    package.mkdir()
    modules = {"__init__", "errors", "results", "inference", "tag", "align"} | lines.keys()
    for module in modules:
        (package / f"{module}.py").write_text(lines.get(module, "") + "\n", encoding="utf-8")


def imports_of_the_package(text: str) -> list[str]:
    """The names taken from the package as a whole, which stands above all its modules."""
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module == "hiddenite":
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names if alias.name == "hiddenite"]
    return names


def test_no_module_imports_the_whole_package() -> None:
    package = ROOT / "src" / "hiddenite"
    for path in package.rglob("*.py"):
        if path.relative_to(package).parts[0] not in {"cli", "web"}:
            assert not imports_of_the_package(path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("line", ["import hiddenite", "from hiddenite import NgramModel as Model"])
def test_an_import_of_the_whole_package_is_seen(line: str) -> None:
    assert imports_of_the_package(f"def f():\n    {line}\n")
    assert not imports_of_the_package("from hiddenite._core import NgramTable\n")


# The compiled module and its stub


def test_stub_is_fresh(tmp_path: Path) -> None:
    fresh = tmp_path / "_core.pyi"
    assert_clean(python("nanobind.stubgen", "-q", "-m", "hiddenite._core", "-o", str(fresh)))
    committed = ROOT / "src" / "hiddenite" / "_core.pyi"
    assert committed.read_text(encoding="utf-8") == fresh.read_text(encoding="utf-8"), "run `make stub`"


# C++


def cpp_files(part: str) -> list[Path]:
    files = sorted(path for path in (ROOT / "cpp" / part).rglob("*") if path.suffix in {".hpp", ".cpp"})
    assert files, f"cpp/{part} is empty"
    return files


def includes(text: str) -> list[str]:
    return re.findall(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', text, flags=re.MULTILINE)


def python_headers(text: str) -> list[str]:
    return [name for name in includes(text) if re.match(r"(Python|pybind11|nanobind|numpy)\b", name)]


def test_core_knows_no_python() -> None:
    guilty = {path.name: python_headers(path.read_text(encoding="utf-8")) for path in cpp_files("hiddenite")}
    assert not any(guilty.values()), guilty


@pytest.mark.parametrize("line", ["#include <Python.h>", '  # include "nanobind/ndarray.h"'])
def test_a_python_header_is_seen(line: str) -> None:
    assert python_headers(f"#pragma once\n{line}\n")
    assert not python_headers(f"// {line}\n#include <vector>\n")


ROOMS = ("base", "lm", "channel", "exact")  # from below; the tasks' rooms stand above all of them
TASKS = ("correct", "align", "induce", "hmm", "lattice")


def forbidden_includes(room: str, text: str) -> list[str]:
    """Headers of rooms that are not below this one."""
    below = {room, *(ROOMS[: ROOMS.index(room)] if room in ROOMS else ROOMS)}
    targets = [name.split("/") for name in includes(text) if name.startswith("hiddenite/")]
    return ["/".join(target) for target in targets if len(target) > 2 and target[1] not in below]


def test_rooms_of_the_core_see_only_rooms_below() -> None:
    for path in cpp_files("hiddenite"):
        if path.name == "rooms.hpp":
            continue
        room = path.relative_to(ROOT / "cpp" / "hiddenite").parts[0]
        assert room in (*ROOMS, *TASKS), path
        text = path.read_text(encoding="utf-8")
        assert not forbidden_includes(room, text), path
        assert f"namespace hiddenite::{room} {{" in text or path.name == "clones.hpp", path


def test_a_forbidden_include_is_seen() -> None:
    assert forbidden_includes("lm", '#include "hiddenite/exact/proof.hpp"')
    assert forbidden_includes("align", '#include "hiddenite/hmm/model.hpp"')
    assert not forbidden_includes("align", '#include "hiddenite/exact/proof.hpp"\n#include <vector>')


def type_names(text: str) -> set[str]:
    """Types that a header defines at the level of its namespace; those of a source file are its own."""
    found = re.findall(
        r"^(?:class|struct|enum class) (\w+)(?: final)? (?::[^:]|\{)", text, flags=re.MULTILINE
    )
    return set(found) | set(re.findall(r"^using (\w+) =", text, flags=re.MULTILINE))


def test_no_two_types_of_the_core_share_a_name() -> None:
    places: dict[str, list[str]] = {}
    for path in cpp_files("hiddenite"):
        for name in type_names(path.read_text(encoding="utf-8")) if path.suffix == ".hpp" else ():
            places.setdefault(name, []).append(f"{path.parent.name}/{path.name}")
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_a_type_is_seen() -> None:
    defined = "class A {\nstruct B final : A {\nenum class C {\nusing D = int;\n"
    text = f"{defined}class E;\n  struct F {{\nclass G::H {{\n"
    assert type_names(text) == set("ABCD")


def compile_together(folder: Path, files: Iterable[Path], *options: str) -> subprocess.CompletedProcess[str]:
    """Compile files as one, as a build in groups does; nothing is written."""
    group = folder / "group.cpp"
    group.write_text("".join(f'#include "{file}"\n' for file in files), encoding="utf-8")
    return run(os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-Icpp", *options, str(group))


@pytest.mark.slow  # .ci/run compiles in groups of files, so these ask more than it needs
@pytest.mark.parametrize(
    "room", sorted(path.name for path in (ROOT / "cpp" / "hiddenite").iterdir() if path.is_dir())
)
def test_files_of_a_room_can_be_compiled_together(tmp_path: Path, room: str) -> None:
    files = sorted((ROOT / "cpp" / "hiddenite" / room).rglob("*.cpp"))
    assert files
    assert_clean(compile_together(tmp_path, files))


@pytest.mark.slow
def test_bindings_can_be_compiled_together(tmp_path: Path) -> None:
    places = (python("nanobind", "--include_dir").stdout.strip(), sysconfig.get_path("include"))
    files = sorted((ROOT / "cpp" / "bindings").glob("*.cpp"))
    assert_clean(compile_together(tmp_path, files, "-DHIDDENITE_FAULTS", *(f"-I{place}" for place in places)))


def test_names_that_clash_are_seen(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.cpp").write_text("namespace { int same = 1; }\n", encoding="utf-8")
    assert_complains(compile_together(tmp_path, sorted(tmp_path.glob("?.cpp"))), "redefinition")


def test_files_of_the_core_are_short_and_rooms_small() -> None:
    counts: dict[str, int] = {}
    for path in cpp_files("hiddenite"):
        counts[path.parent.name] = counts.get(path.parent.name, 0) + 1
        assert path.read_text(encoding="utf-8").count("\n") <= 450, path
    assert max(counts.values()) <= 35, counts


def include_cycle(texts: dict[str, str]) -> list[str]:
    """The headers of one cycle of inclusion, or nothing."""
    graph = {name: [target for target in includes(text) if target in texts] for name, text in texts.items()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_core_headers_go_down_only() -> None:
    # A header and its .cpp are one module, so that a cycle through an implementation counts too.
    texts: dict[str, str] = {}
    for path in cpp_files("hiddenite"):
        own = path.relative_to(ROOT / "cpp").with_suffix(".hpp").as_posix()
        text = path.read_text(encoding="utf-8").replace(f'#include "{own}"', "")
        texts[own] = texts.get(own, "") + "\n" + text
    assert not include_cycle(texts)


def test_an_include_cycle_is_seen() -> None:
    assert include_cycle({"h/a.hpp": '#include "h/b.hpp"', "h/b.hpp": '#include "h/a.hpp"'})
    assert not include_cycle({"h/a.hpp": '#include "h/b.hpp"', "h/b.hpp": "#include <vector>"})


# The build stays portable


def unportable_flags(text: str) -> list[str]:
    code = re.sub(r"#.*", "", text)
    return re.findall(r"-march=\S+|-mtune=native|-mcpu=native|-ffast-math|-Ofast|-funsafe-math\S*", code)


def test_build_is_portable() -> None:
    for name in ("CMakeLists.txt", "pyproject.toml", "Makefile"):
        assert not unportable_flags((ROOT / name).read_text(encoding="utf-8")), name


def test_an_unportable_flag_is_seen() -> None:
    assert unportable_flags("target_compile_options(core PRIVATE -O3 -march=native)") == ["-march=native)"]
    assert not unportable_flags("# no -ffast-math\n")


# Text files


def untidy(lines: Iterable[str], *, tabs: bool, max_line: int) -> list[str]:
    """`number: fault` for every line with trailing blanks, a tab or too many characters."""
    faults = []
    for number, line in enumerate(lines, start=1):
        if line != line.rstrip():
            faults.append(f"{number}: trailing blanks")
        if "\t" in line and not tabs:
            faults.append(f"{number}: tab")
        if len(line) > max_line:
            faults.append(f"{number}: {len(line)} characters, at most {max_line}")
    return faults


def test_cpp_is_tidy() -> None:
    for path in [*cpp_files("hiddenite"), *cpp_files("bindings")]:
        text = path.read_bytes().decode("utf-8")
        assert text.endswith("\n"), path
        assert not untidy(text.split("\n"), tabs=False, max_line=MAX_LINE), path


def test_untidiness_is_seen() -> None:
    lines = ["int x; ", "\tint y;", "x" * (MAX_LINE + 1), "int z;\r"]
    assert len(untidy(lines, tabs=False, max_line=MAX_LINE)) == len(lines)
    assert not untidy(["int x;", ""], tabs=False, max_line=MAX_LINE)


# Proportions of the Python side

MOST_LINES = 350  # of a file
MOST_FUNCTION_LINES = 60


def long_functions(text: str, most: int = MOST_FUNCTION_LINES) -> list[str]:
    """Functions, methods among them, of more than ``most`` lines."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    return [node.name for node in found if (node.end_lineno or node.lineno) - node.lineno + 1 > most]


def test_files_and_functions_are_short() -> None:
    for path in (ROOT / "src" / "hiddenite").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= MOST_LINES, path
        assert not long_functions(text), path


def test_a_long_function_is_seen() -> None:
    body = "        pass\n" * MOST_FUNCTION_LINES
    assert long_functions(f"class A:\n    def long(self):\n{body}") == ["long"]
    assert not long_functions(f"class A:\n    def short(self):\n{body[13:]}")


# The manual


def test_the_manual_lists_every_module() -> None:
    package = ROOT / "src" / "hiddenite"
    listed = (
        (ROOT / "docs" / "developer" / "architecture.md").read_text("utf-8").partition("## Every module")[2]
    )
    modules = {path.relative_to(package).as_posix() for path in package.rglob("*.py")} - {"__init__.py"}
    assert {line.split("`")[1] for line in listed.splitlines() if line.startswith("| `")} == modules
