"""`hiddenite info` and `Model.load`: any model file is recognised, opened and described."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hiddenite
from hiddenite.version import VERSION
from tests.e2e.command import run, succeed

TEXT = "the dog barks\nthe cat sleeps\na dog sleeps\n" * 4
COLUMNS = "\t_\t_\t_\t_\t_\n"
TAGGED = f"1\tthe\t_\tDET\tDT{COLUMNS}2\tdog\t_\tNOUN\tNN{COLUMNS}\n" * 3
MAKE = {
    "lm.arpa": "lm train text.txt --order 2 --output lm.arpa",
    "lm.hlm": "lm compile lm.arpa --output lm.hlm",
    "words.tagger": "tag train gold.conllu --column upos --order 2 --output words.tagger",
    "en-fr.model": "align train text.txt text.txt --sweeps 1,1,2 --seed 7 --output en-fr.model",
    "plain.model": "align train text.txt text.txt --estimator em --output plain.model",
    "text.hmm": "hmmlm train em text.txt --states 4 --clusters 2 --epochs 2 --seed 7 --output text.hmm",
    "own.corrector": "correct learn noisy.txt text.txt --lm lm.arpa --output own.corrector",
    "text.restorer": "restore train text.txt --what case --output text.restorer",
    "run": "induce run text.txt --tags 2 --iterations 2 --seed 7 --checkpoint run --save induced.tagger",
}
KINDS: dict[str, tuple[str, type[Any]]] = {
    "lm.arpa": ("n-gram model", hiddenite.NgramModel),
    "lm.hlm": ("compiled n-gram model", hiddenite.NgramModel),
    "words.tagger": ("tagger", hiddenite.Tagger),
    "induced.tagger": ("tagger", hiddenite.Tagger),
    "en-fr.model": ("aligner", hiddenite.Aligner),
    "plain.model": ("aligner", hiddenite.Aligner),
    "text.hmm": ("HMM language model", hiddenite.HMMLanguageModel),
    "own.corrector": ("corrector", hiddenite.Corrector),
    "text.restorer": ("restorer", hiddenite.Restorer),
    "run": ("induction", hiddenite.Induction),
    "run/run.induction": ("induction", hiddenite.Induction),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("info")
    (place / "text.txt").write_text(TEXT)
    (place / "noisy.txt").write_text(TEXT.replace("dog", "dgo"))
    (place / "gold.conllu").write_text(TAGGED)
    for line in MAKE.values():
        succeed(place, *line.split(), "--quiet")
    return place


@pytest.mark.parametrize("name", KINDS)
def test_any_model_is_recognised(folder: Path, name: str) -> None:
    kind, opened = KINDS[name]
    assert isinstance(hiddenite.Model.load(folder / name), opened)
    record = json.loads(succeed(folder, "info", "--json", name).stdout)
    assert record == hiddenite.Model.info(folder / name).to_dict() | {"file": name}
    assert record["kind"] == kind
    assert record["bytes"] > 0
    text = succeed(folder, "info", name).stdout.decode()
    assert text.startswith(f"kind             {kind}\n")


def test_models_say_how_they_were_trained(folder: Path) -> None:
    def info(name: str) -> hiddenite.ModelInfo:
        return hiddenite.Model.info(folder / name)

    expected = {"sentences": 3, "tokens": 6, "formats": ["conllu"], "column": "upos"}
    assert info("words.tagger").training == expected
    assert info("words.tagger").options["order"] == 2
    trained = dict(info("en-fr.model").training)
    assert 0.01 <= trained.pop("threshold") < 1
    assert trained == {"estimator": "gibbs", "seed": 7, "sentence_pairs": 12}
    assert info("plain.model").training == {"estimator": "em", "sentence_pairs": 12}
    assert info("text.hmm").training == {"method": "em", "seed": 7, "sentences": 12, "tokens": 36}
    assert info("text.hmm").options["epochs"] == 2
    assert info("run").options["seed"] == info("induced.tagger").options["seed"] == 7
    assert info("induced.tagger").training == {"sentences": 12, "tokens": 36}


def test_what_was_trained_is_saved_again(folder: Path, tmp_path: Path) -> None:
    for name in ("words.tagger", "en-fr.model", "text.hmm", "induced.tagger"):
        model = hiddenite.Model.load(folder / name)
        model.save(tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == (folder / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("text.txt", 1, "text.txt:12: found no line '\\data\\', expected an ARPA file"),
        (".", 1, ".: is a directory, expected a file"),
        ("nothing", 1, "nothing: cannot be opened"),
        ("--verify lm.arpa", 2, "--verify has no effect: an ARPA file has no checksums"),
        ("--verify text.hmm", 2, "--verify has no effect: they are always compared"),
        ("cut.hmm", 1, "cut.hmm"),
        ("state", 1, "state: is a hiddenite hmmlm checkpoint"),
    ],
)
def test_what_is_no_model_is_said(folder: Path, arguments: str, status: int, message: str) -> None:
    (folder / "cut.hmm").write_bytes((folder / "text.hmm").read_bytes()[:-100])
    if arguments == "state":
        succeed(folder, *MAKE["text.hmm"].split(), "--checkpoint", "state", "--quiet")
    done = run(folder, "info", *arguments.split())
    assert done.status == status
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_package_is_the_command_too() -> None:
    done = subprocess.run([sys.executable, "-m", "hiddenite", "--version"], capture_output=True, check=True)
    assert done.stdout.decode().split()[-1] == VERSION
