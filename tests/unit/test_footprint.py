"""What a process carries: a name brings its own module and no other task's, a command its own file."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import typer.core
import typer.main

import hiddenite
import hiddenite.align
from hiddenite.cli import COMMANDS, make_app
from tests.models import train

HEAVY = ("jax", "numpy", "pyarrow", "ray", "scipy", "rich", "starlette", "typer")
TASKS = ("align", "hmmlm", "induction", "tag", "web", "cli", "jobs")
SCORING = """
model = hiddenite.NgramModel.load(sys.argv[1])
model.score(["the dog"]).summary()
"""
DECODING = """
model = hiddenite.NgramModel.load(sys.argv[1])
hiddenite.decode(model, hiddenite.Keypad(model.vocabulary)("843 364"))
"""
SCORING_COMMAND = """
import hiddenite.cli
sys.argv[1:] = ["lm", "score", "--lm", sys.argv[1], "/dev/null"]
try:
    hiddenite.cli.main()
except SystemExit as end:
    assert not end.code
"""
ALIGNING_COMMAND = """
import hiddenite.cli
text = sys.argv[1] + ".txt"
with open(text, "w") as file:
    file.write("the dog ||| le chien\\nthe cat ||| le chat\\n")
sys.argv[1:] = ["align", "corpus", text, "--seed", "1", "--output", text + ".links"]
try:
    hiddenite.cli.main()
except SystemExit as end:
    assert not end.code
"""
CORRECTING_COMMAND = """
import hiddenite.cli
sys.argv[1:] = ["correct", "--model", sys.argv[1] + ".corrector", "/dev/null"]
try:
    hiddenite.cli.main()
except SystemExit as end:
    assert not end.code
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "lm.hlm"
    lm = train(["the dog barks", "the cat"], 2)
    lm.compile(path)
    hiddenite.Corrector.from_ngram(lm).save(f"{path}.corrector")
    return path


def modules_after(code: str, compiled: Path) -> set[str]:
    """The modules of a fresh interpreter that has run the code."""
    shown = "import json, sys, hiddenite\n" + code + "\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", shown, str(compiled)], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def heavy(modules: set[str]) -> set[str]:
    return modules & {*HEAVY, *(f"hiddenite.{task}" for task in TASKS)}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("", set()),
        ("hiddenite.NgramModel", set()),
        (SCORING, set()),
        (DECODING, set()),
        ("hiddenite.Aligner", {"hiddenite.align"}),
        ("hiddenite.Tagger", {"hiddenite.tag", "numpy"}),
        ("hiddenite.HMMLanguageModel", {"hiddenite.hmmlm", "numpy"}),
        (SCORING_COMMAND, {"hiddenite.cli", "hiddenite.jobs", "typer"}),
        (ALIGNING_COMMAND, {"hiddenite.align", "hiddenite.cli", "hiddenite.jobs", "typer"}),
        (CORRECTING_COMMAND, {"hiddenite.cli", "hiddenite.jobs", "typer"}),
    ],
    ids=[
        "package",
        "model",
        "score",
        "decode",
        "aligner",
        "tagger",
        "hmmlm",
        "lm-score",
        "align-corpus",
        "correct",
    ],
)
def test_only_what_is_used_is_loaded(code: str, expected: set[str], compiled: Path) -> None:
    assert heavy(modules_after(code, compiled)) == expected


def test_no_command_loads_that_of_another(compiled: Path) -> None:
    loaded = modules_after(SCORING_COMMAND, compiled)
    files = {f"hiddenite.cli.{command.file}" for command in COMMANDS.values()}
    assert files & loaded == {"hiddenite.cli.lm", "hiddenite.cli.info"}  # `lm info` is `info`


def names_for_type_checkers(package: ModuleType) -> dict[str, str]:
    """The names that a package's `__init__.py` imports for type checkers alone, with their modules."""
    assert package.__file__ is not None
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: f"{node.module}" for node in imports for alias in node.names}


def test_type_checkers_and_programs_see_the_same_names() -> None:
    expected = names_for_type_checkers(hiddenite)
    assert len(expected) > 20
    assert sorted(hiddenite.__all__) == sorted(expected)
    assert set(expected) <= set(dir(hiddenite))
    for name, module in expected.items():
        assert getattr(hiddenite, name) is getattr(sys.modules[module], name)


def test_type_checkers_and_programs_see_the_same_names_of_the_aligner() -> None:
    expected = names_for_type_checkers(hiddenite.align)
    assert len(expected) > 10
    assert set(expected) <= set(dir(hiddenite.align))
    for name, module in expected.items():
        assert getattr(hiddenite.align, name) is getattr(sys.modules[module], name)
    assert not hasattr(hiddenite.align, "nothing")


def commands_of(part: str | None) -> dict[str, typer.core.TyperCommand]:
    """The commands of `align` when one of them is asked for."""
    app = typer.main.get_command(make_app(["align"], part))
    return app.commands["align"].commands  # type: ignore[attr-defined, no-any-return]


def test_a_group_that_loads_one_command_knows_them_all() -> None:
    whole = commands_of(None)
    for name, command in whole.items():
        part = commands_of(name)
        assert part[name].get_short_help_str(200) == command.get_short_help_str(200)
        assert len(part) < len(whole)
    assert commands_of("nothing").keys() == whole.keys()


def test_a_subpackage_does_not_hide_the_function_of_its_name() -> None:
    code = "import hiddenite, hiddenite.induction.text\nassert callable(hiddenite.induce)\n"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_modules_are_attributes_and_other_names_are_not() -> None:
    code = "import hiddenite\nprint(hiddenite.results.Certificate.__name__, hasattr(hiddenite, 'nothing'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "Certificate False\n"


def test_commands_are_announced_as_they_are() -> None:
    """What a list shows of a command that is not loaded is what the command says of itself."""
    real, announced = (typer.main.get_command(make_app(names)) for names in (tuple(COMMANDS), ()))
    assert real.commands.keys() == announced.commands.keys() == COMMANDS.keys()  # type: ignore[attr-defined]
    for name in COMMANDS:
        texts = [app.commands[name].get_short_help_str(200) for app in (real, announced)]  # type: ignore[attr-defined]
        assert texts[0] == texts[1]
