"""hiddenite serve as a user starts it: models from files or from the built-in texts, errors, Control-C."""

import json
import re
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import run, start
from tests.web_models import aligner, corrector, generator, language_model, tagger


@contextmanager
def server(directory: Path, *options: str | Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A running server's address; it is ended as Control-C ends it."""
    process = start(directory, ["serve", "--port", "0", *options])
    assert process.stderr is not None
    try:
        lines = []
        for line in process.stderr:
            lines.append(line.decode())
            if found := re.search(r"http://\S+/", lines[-1]):
                yield found[0], process
                break
        else:
            raise AssertionError("".join(lines))
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=60)
        finally:
            process.kill()


def small_models(directory: Path) -> list[str | Path]:
    """Options that name small models."""
    language_model().save(directory / "lm.arpa")
    tagger().save(directory / "tagger")
    aligner().save(directory / "aligner")
    corrector().save(directory / "corrector")
    generator().save(directory / "hmm")
    names = {
        "corrector": "corrector",
        "lm": "lm.arpa",
        "tagger": "tagger",
        "aligner": "aligner",
        "hmm": "hmm",
    }
    return [part for kind, name in names.items() for part in (f"--{kind}", name)]


def ask(url: str, name: str, question: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{url}api/{name}", json.dumps(question).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        answer: dict[str, Any] = json.load(response)
    return answer


def test_models_from_files(tmp_path: Path) -> None:
    with server(tmp_path, *small_models(tmp_path)) as (url, process):
        assert ask(url, "decode", {"message": "the dog", "noise": 0})["words"] == ["the", "dog"]
        assert ask(url, "tag", {"text": "the dog"})["tags"] == ["DET", "NOUN"]
        assert ask(url, "correct", {"text": "The qick  fox"})["text"] == "The quick  fox"
        assert ask(url, "align", {"source": "he hath", "target": "he has"})["certificate"]["exact"]
    assert process.returncode == 0


def test_no_model_is_needed(tmp_path: Path) -> None:
    with server(tmp_path) as (url, process):
        answer = ask(url, "decode", {"message": "the dog sleeps ."})
        with urllib.request.urlopen(f"{url}api/models", timeout=60) as response:
            summary = json.load(response)
    assert process.returncode == 0
    assert answer["certificate"]["exact"]
    assert summary["models"].keys() == {"corrector", "lm", "tagger", "aligner", "hmm"}
    assert summary["examples"].keys() == {"correct", "decode", "tag", "align", "score", "induce", "generate"}
    assert all(summary["examples"].values())
    files = [Path(summary["files"][kind]) for kind in ("lm", "tagger", "aligner", "hmm")]
    assert all(file.is_file() for file in files)


@pytest.mark.parametrize(
    ("options", "about"),
    [
        (["--lm", "missing.arpa"], "missing.arpa"),
        (["--hmm", "missing.hmm"], "hmm"),
        (["--tagger", "missing"], "missing"),
    ],
)
def test_a_model_that_cannot_be_loaded(tmp_path: Path, options: list[str], about: str) -> None:
    done = run(tmp_path, "serve", "--port", "0", "--quiet", *options)
    assert done.status == 1
    assert about in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_port_that_is_taken_is_refused_before_anything_is_learned(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run(tmp_path, "serve", "--port", str(taken.getsockname()[1]))
    assert done.status == 1
    assert "in use; choose another --port" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "options", [["--host", "nowhere.invalid"], ["--tagger", "missing"], ["--aligner", "no"]]
)
def test_what_cannot_be_served_is_refused_before_anything_is_learned(
    tmp_path: Path, options: list[str]
) -> None:
    done = run(tmp_path, "serve", "--port", "0", *options)
    assert done.status == 1
    assert options[1] in done.stderr
    assert done.stderr.count("\n") == 1
