"""`hiddenite hmmlm train --method gradient|neural`: the model it writes is an ordinary one."""

import json
from pathlib import Path

import pytest

from tests.e2e.command import run, succeed
from tests.e2e.test_hmmlm import HELD_OUT, TEXT

NEURAL = "hmmlm train corpus.txt --states 8 --clusters 2 --epochs 2 --width 8 --seed 1 --quiet"


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
    em = "hmmlm train corpus.txt --states 8 --clusters 2 --epochs 2 --seed 1 --quiet --output em.hmm"
    succeed(directory, *em.split())
    more = "--start em.hmm --valid heldout.txt --checkpoint state --dropout state --rate 0.001"
    for method in ("gradient", "neural"):
        arguments = [*NEURAL.split(), "--method", method, *more.split(), "--output", f"{method}.hmm"]
        succeed(directory, *arguments)
        if method == "gradient":
            first = (directory / "gradient.hmm").read_bytes()
            succeed(directory, *arguments)  # the checkpoint says that all is done
            assert (directory / "gradient.hmm").read_bytes() == first
        (directory / "state").unlink()
        assert 1 < perplexity(directory, f"{method}.hmm") < 1.2 * perplexity(directory, "em.hmm")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("--method neural --transitions half", 2, "expected factored, full"),
        ("--method neural --sets uniform", 2, "no classes to factor over"),
        ("--method neural --rate 0", 2, "expected a number above 0"),
        ("--method em --start corpus.txt", 2, "EM begins at random"),
        ("--method gradient --start corpus.txt", 1, "expected a file that `hiddenite hmmlm train` wrote"),
    ],
    ids=["form", "uniform", "rate", "em", "start"],
)
def test_bad_options(directory: Path, arguments: str, status: int, message: str) -> None:
    pytest.importorskip("jax", reason="the extra `neural` is not installed")
    done = run(directory, *NEURAL.split(), *arguments.split(), "--output", "m.hmm")
    assert done.status == status
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


def test_a_rate_without_end_stops_at_a_step(directory: Path) -> None:
    pytest.importorskip("jax", reason="the extra `neural` is not installed")
    wild = "--method neural --rate 1e30 --batch-tokens 32 --epochs 30 --checkpoint state --output m.hmm"
    done = run(directory, *NEURAL.replace("--epochs 2", "").split(), *wild.split())
    assert done.status == 1
    assert "no finite number at step" in done.stderr
    assert (directory / "state").exists()


def test_without_jax_the_message_says_what_to_install(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(directory))
    (directory / "jax.py").write_text("raise ImportError('there is no jax')\n")
    done = run(directory, *NEURAL.split(), *["--method", "neural", "--output", "m.hmm"])
    assert done.status == 1
    assert "hiddenite[neural]" in done.stderr
