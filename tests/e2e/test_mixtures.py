"""--mix-lm on the commands that ask a model, and --vocabulary on those that read one."""

import json
import math
from pathlib import Path

import pytest

from tests.e2e.command import run, succeed

SLOTS = {"id": "s", "slots": [[["the", -0.5], ["a", -0.1]], [["dog", -0.3], ["log", -0.2], ["cat", -1.0]]]}
LATTICE = {"id": "g", "lattice": [[0, 1, "the", -0.5], [1, 2, "dog", -0.1], [0, 2, "cat", -0.2]]}
MIX = ("--lm", "a.arpa", "--mix-lm", "b.arpa", "--mix-weights", "3,1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("mixtures")
    (place / "a.txt").write_text("the dog barks\na dog sleeps\nthe log burns\n")
    (place / "b.txt").write_text("a cat sleeps\nthe cat burns the log\n")
    (place / "words").write_text("the\na\ndog\n")
    (place / "slots").write_text(json.dumps(SLOTS) + "\n" + json.dumps(LATTICE) + "\n")
    for name in "ab":
        succeed(place, "lm", "train", f"{name}.txt", "--order", "3", "--output", f"{name}.arpa", "--quiet")
    return place


def scores(folder: Path, *model: str, words: bytes = b"the dog\na cat\nthe cow\n") -> list[dict[str, float]]:
    done = succeed(folder, "lm", "score", *model, stdin=words)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_decode_sample_and_marginals_of_a_mixture_agree_with_its_scores(folder: Path) -> None:
    for method in ("auto", "full", "dominance"):
        done = succeed(folder, "decode", *MIX, "--channel", "slots", "--method", method, "--json", "slots")
        best, other = map(json.loads, done.stdout.splitlines())
        assert best["certificate"]["exact"]
        assert other["nodes"][-1] == 2
        text = " ".join(best["words"]).encode() + b"\n"
        channel = sum(dict(slot)[word] for slot, word in zip(SLOTS["slots"], best["words"], strict=True))  # type: ignore[arg-type]
        assert best["log_weight"] == pytest.approx(scores(folder, *MIX, words=text)[0]["log_prob"] + channel)
    done = succeed(folder, "marginals", *MIX, "--channel", "slots", "--json", "slots")
    found = json.loads(done.stdout.splitlines()[0])
    ranked = succeed(folder, "decode", *MIX, "--channel", "slots", "-k", "6", "--json", "slots").stdout
    weights = [one["log_weight"] for one in json.loads(ranked.splitlines()[0])["kbest"]]
    assert len(weights) == 6
    assert math.log(sum(map(math.exp, weights))) == pytest.approx(found["log_partition"])
    done = succeed(
        folder, "sample", *MIX, "--channel", "slots", "-n", "50", "--seed", "1", "--json", "--quiet", "slots"
    )
    drawn = json.loads(done.stdout.splitlines()[0])
    assert drawn["count"] == 50
    assert drawn["log_partition"] == pytest.approx(found["log_partition"])


def test_a_mixture_knows_the_words_of_all_its_models(folder: Path) -> None:
    mixed, alone = scores(folder, *MIX), scores(folder, "--lm", "a.arpa")
    assert [score["oov"] for score in mixed] == [0, 0, 1]
    assert [score["oov"] for score in alone] == [0, 1, 1]
    done = succeed(folder, "decode", *MIX, "--channel", "typo", stdin=b"the czt\n")
    assert done.stdout == b"the cat\n"
    words = succeed(folder, "lm", "score", *MIX, "--words", stdin=b"the dog\n")
    record = json.loads(words.stdout)
    assert sum(word["log_prob"] for word in record["words"]) == pytest.approx(record["log_prob"])
    summary = json.loads(succeed(folder, "lm", "score", *MIX, "--summary", "a.txt").stdout)
    lines = scores(folder, *MIX, words=(folder / "a.txt").read_bytes())
    assert summary["log_prob"] == pytest.approx(sum(line["log_prob"] for line in lines))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--method", "refine"], "one model"),
        (["--method", "sparse"], "one model"),
        (["--proof", "p.jsonl"], "no effect with proof"),
    ],
)
def test_what_a_mixture_cannot_do_is_a_usage_error(folder: Path, options: list[str], why: str) -> None:
    done = run(folder, "decode", *MIX, "--channel", "slots", *options, "slots")
    assert (done.status, done.stdout) == (2, b"")
    assert why in done.stderr
    alone = run(folder, "decode", "--lm", "a.arpa", "--mix-weights", "1,1", "--channel", "slots", "slots")
    assert alone.status == 2
    sums = run(folder, "marginals", *MIX, "--epsilon", "0.1", "--channel", "slots", "slots")
    assert sums.status == 2
    assert "leave nothing out" in sums.stderr


def test_a_vocabulary_limits_every_command_that_asks_a_model(folder: Path) -> None:
    only = ("--vocabulary", "words")
    assert [score["oov"] for score in scores(folder, "--lm", "a.arpa", *only, words=b"the log\n")] == [1]
    compared = succeed(folder, "lm", "compare", "a.arpa", "b.arpa", "a.txt", *only)
    assert json.loads(compared.stdout)["a"]["oov"] == 4  # barks, sleeps, log, burns
    drawn = succeed(folder, "lm", "sample", "a.arpa", "-n", "50", "--seed", "1", *only)
    assert set(drawn.stdout.decode().split()) <= {"the", "a", "dog", "<unk>"}
    done = succeed(folder, "decode", "--lm", "a.arpa", *only, "--channel", "typo", stdin=b"the dig\n")
    assert done.stdout == b"the dog\n"
    corrected = succeed(folder, "correct", "--lm", "a.arpa", *only, "--quiet", stdin=b"the dog\n")
    assert corrected.stdout == b"the dog\n"
    assert run(folder, "correct", *only, "--quiet", stdin=b"the dog\n").status == 2
