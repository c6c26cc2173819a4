"""`hiddenite hmmlm train gradient|neural`: the model it writes is an ordinary one."""

import json
from pathlib import Path

import pytest

from tests.e2e.command import run, succeed
from tests.e2e.test_hmmlm import HELD_OUT, TEXT

NEURAL = "hmmlm train neural corpus.txt --epochs 2 --seed 1 --quiet"
SHAPE = "--states 8 --clusters 2"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "corpus.txt").write_bytes(TEXT)
    (tmp_path / "heldout.txt").write_bytes(HELD_OUT)
    return tmp_path


def perplexity(directory: Path, model: str) -> float:
    scored = succeed(directory, *f"hmmlm score --model {model} heldout.txt --summary".split())
    return float(json.loads(scored.stdout)["perplexity"])


def test_train_from_an_em_solution_and_resume(directory: Path) -> None:
    pytest.importorskip("jax", reason="the extra `neural` is not installed")
    em = "hmmlm train em corpus.txt --states 8 --clusters 2 --epochs 2 --seed 1 --quiet --output em.hmm"
    succeed(directory, *em.split())
    more = "--start em.hmm --valid heldout.txt --checkpoint state --dropout state --rate 0.001"
    for method in ("gradient", "neural"):
        arguments = [*NEURAL.replace("neural", method).split(), *more.split(), "--output", f"{method}.hmm"]
        if method == "neural":
            arguments += ["--width", "8"]
        succeed(directory, *arguments)
        if method == "gradient":
            first = (directory / "gradient.hmm").read_bytes()
            succeed(directory, *arguments)  # the checkpoint says that all is done
            assert (directory / "gradient.hmm").read_bytes() == first
        (directory / "state").unlink()
        assert 1 < perplexity(directory, f"{method}.hmm") < 1.2 * perplexity(directory, "em.hmm")


def test_tuning_says_what_it_gained(directory: Path) -> None:
    pytest.importorskip("jax", reason="the extra `neural` is not installed")
    em = "hmmlm train em corpus.txt --states 8 --clusters 2 --epochs 1 --seed 1 --quiet --output em.hmm"
    succeed(directory, *em.split())
    tune = "hmmlm train gradient corpus.txt --start em.hmm --valid {} --epochs 3 --seed 1 --rate {} -o g.hmm"
    wild = run(directory, *tune.format("heldout.txt", 30).split()).stderr
    assert "no epoch improved on --start, which is kept" in wild
    assert perplexity(directory, "g.hmm") == pytest.approx(perplexity(directory, "em.hmm"), rel=1e-5)
    useful = run(directory, *tune.format("corpus.txt", 0.05).split()).stderr
    assert "now" in useful
    assert "no epoch improved" not in useful


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("neural --transitions half", 2, "expected factored or full"),
        ("neural --sets uniform", 2, "uniform sets have no classes"),
        ("neural --rate 0", 2, "expected a number above 0"),
        ("gradient --start corpus.txt", 1, "expected a file that `hiddenite hmmlm train` wrote"),
    ],
    ids=["form", "uniform", "rate", "start"],
)
def test_bad_options(directory: Path, arguments: str, status: int, message: str) -> None:
    pytest.importorskip("jax", reason="the extra `neural` is not installed")
    shape = "" if "--start" in arguments else SHAPE
    method, *rest = arguments.split()
    done = run(directory, *NEURAL.replace("neural", method).split(), *shape.split(), *rest, "-o", "m.hmm")
    assert done.status == status
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


def test_a_rate_without_end_stops_at_a_step(directory: Path) -> None:
    pytest.importorskip("jax", reason="the extra `neural` is not installed")
    wild = "--rate 1e30 --batch-tokens 32 --epochs 30 --checkpoint state --output m.hmm"
    done = run(directory, *NEURAL.replace("--epochs 2", SHAPE).split(), *wild.split())
    assert done.status == 1
    assert "not a finite number at step" in done.stderr
    assert (directory / "state").exists()


def test_without_jax_the_message_says_what_to_install(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(directory))
    (directory / "jax.py").write_text("raise ImportError('there is no jax')\n")
    done = run(directory, *NEURAL.split(), "--output", "m.hmm")
    assert done.status == 1
    assert "hiddenite[neural]" in done.stderr
