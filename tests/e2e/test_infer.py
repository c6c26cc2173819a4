"""decode, sample, marginals and demo as a user runs them."""

import json
import math
import signal
import time
from pathlib import Path

import pytest

from tests.e2e.command import names, run, start, succeed
from tests.models import train

SENTENCES = [
    "the dog barks .",
    "the cat sleeps .",
    "a dog sleeps .",
    "the dog and the cat bark !",
    "a cat barks .",
] * 3


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lm") / "corpus.arpa.gz"
    train(SENTENCES, 3).save(path)
    return path


def slots(*words: list[tuple[str, float]], id: object = None) -> bytes:
    record = {"slots": words} if id is None else {"id": id, "slots": words}
    return json.dumps(record).encode() + b"\n"


def test_decode_reads_key_presses(tmp_path: Path, lm: Path) -> None:
    done = succeed(
        tmp_path, "decode", "--lm", lm, "--channel", "keypad", stdin=b"843 364 22757 0\n\n2 364 753377 *\n"
    )
    assert done.stdout == b"the dog barks .\n\na dog sleeps .\n"


def test_encode_then_decode(tmp_path: Path, lm: Path) -> None:
    text = b"the dog sleeps .\na cat barks .\n"
    keys = succeed(tmp_path, "encode", "--channel", "keypad", stdin=text).stdout
    assert succeed(tmp_path, "decode", "--lm", lm, "--channel", "keypad", stdin=keys).stdout == text


def test_words_stay_as_observed_where_their_replacement_is_not_probable(tmp_path: Path, lm: Path) -> None:
    text = b"the dgo barsk .\na cst sleps .\n"
    command = ("decode", "--lm", lm, "--channel", "typo", "--json")
    best = [json.loads(line) for line in succeed(tmp_path, *command, stdin=text).stdout.splitlines()]
    asked = ("marginals", "--lm", lm, "--channel", "typo", "--json")
    posterior = [json.loads(line) for line in succeed(tmp_path, *asked, stdin=text).stdout.splitlines()]
    for least in (0.0, 0.5, 0.99, 1.0):
        done = succeed(tmp_path, *command, "--min-probability", str(least), stdin=text)
        for line, seen, one, slots in zip(
            done.stdout.splitlines(), text.decode().splitlines(), best, posterior, strict=True
        ):
            found = json.loads(line)
            probs = [
                dict(map(tuple, slot)).get(w, 0) for w, slot in zip(one["words"], slots["slots"], strict=True)
            ]
            pairs = zip(one["words"], seen.split(), probs, strict=True)
            assert found["text"].split() == [w if p >= least else o for w, o, p in pairs]
            assert found["probabilities"] == pytest.approx(probs, abs=1e-8)
            assert found["words"] == one["words"]


@pytest.mark.parametrize("method", ["auto", "refine", "paper", "full", "dominance"])
def test_json_record(tmp_path: Path, lm: Path, method: str) -> None:
    record = slots([("the", -0.1), ("a", -2.3)], [("dog", -1), ("zebra", -0.5)], id="s1")
    done = succeed(
        tmp_path, "decode", "--lm", lm, "--channel", "slots", "--json", "--method", method, stdin=record
    )
    answer = json.loads(done.stdout)
    assert list(answer) == ["id", "words", "log_weight", "certificate"]
    assert answer["id"] == "s1"
    assert answer["words"] == ["the", "dog"]
    certificate = answer["certificate"]
    assert list(certificate) == ["exact", "upper", "lower", "gap", "method", "refinements", "states"]
    assert certificate["exact"]
    assert certificate["gap"] == 0
    assert certificate["upper"] == certificate["lower"] == answer["log_weight"]


def test_kbest(tmp_path: Path, lm: Path) -> None:
    record = slots([("the", 0), ("a", 0)], [("dog", 0), ("cat", 0)])
    done = succeed(tmp_path, "decode", "--lm", lm, "--channel", "slots", "-k", "10", "--json", stdin=record)
    answer = json.loads(done.stdout)
    assert answer["id"] == 1  # the line, where the record has no name
    weights = [h["log_weight"] for h in answer["kbest"]]
    assert weights == sorted(weights, reverse=True)
    assert len({tuple(h["words"]) for h in answer["kbest"]}) == 4
    text = succeed(tmp_path, "decode", "--lm", lm, "--channel", "slots", "-k", "2", stdin=record)
    assert [line.split(b"\t")[1] for line in text.lines()[:2]] == [
        " ".join(h["words"]).encode() for h in answer["kbest"][:2]
    ]


def test_sample_is_repeatable_and_echoes_its_seed(tmp_path: Path, lm: Path) -> None:
    arguments = ("sample", "--lm", lm, "--channel", "keypad", "-n", "50", "--json", "--seed", "3")
    keys = b"843 364 22757 0\n2 228 0\n"
    one = run(tmp_path, *arguments, "--threads", "1", stdin=keys)
    two = run(tmp_path, *arguments, "--threads", "2", stdin=keys)
    assert one.status == 0
    assert "seed 3" in one.stderr
    assert one.stdout == two.stdout
    answer = json.loads(one.lines()[0])
    assert answer["count"] == 50 == sum(s["count"] for s in answer["samples"])
    assert answer["exact"]
    assert answer["trials"] >= 50
    # The posterior of a sample: weight over total.
    assert all(s["log_weight"] <= answer["log_partition"] + 1e-9 for s in answer["samples"])


def test_marginals_sum_to_one(tmp_path: Path, lm: Path) -> None:
    done = succeed(tmp_path, "marginals", "--lm", lm, "--channel", "keypad", "--json", stdin=b"843 364 0\n")
    answer = json.loads(done.stdout)
    assert len(answer["slots"]) == 3
    for slot in answer["slots"]:
        assert math.isclose(sum(prob for _, prob in slot), 1.0, abs_tol=1e-9)


def test_empty_message_has_the_weight_of_the_end(tmp_path: Path, lm: Path) -> None:
    done = succeed(tmp_path, "decode", "--lm", lm, "--channel", "keypad", "--json", stdin=b"\n")
    answer = json.loads(done.stdout)
    assert answer["words"] == []
    score = json.loads(succeed(tmp_path, "lm", "score", "--lm", lm, stdin=b"\n").stdout)
    assert math.isclose(answer["log_weight"], score["log_prob"], abs_tol=1e-9)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b'{"slots": [[["the", 0]], []]}', "position 2 has no candidate"),
        (b'{"slots": [[["the", NaN]]]}', "NaN"),
        (b'{"slots": [[["the", 0], ["the", -1]]]}', "twice"),
        (b'{"slots": [[["</s>", 0]]]}', "</s>"),
        (b'{"slots": [[["the", 0]', "column"),
        (b"not json", "column"),
        (b'{"slots": [[["the", null]]]}', "weight zero"),
    ],
)
def test_a_bad_record_is_told_and_the_rest_goes_on(
    tmp_path: Path, lm: Path, bad: bytes, message: str
) -> None:
    good = slots([("the", 0)], id="good")
    for arguments in (["decode"], ["sample", "--quiet"], ["marginals"]):
        done = run(
            tmp_path, *arguments, "--lm", lm, "--channel", "slots", "--json", stdin=good + bad + b"\n" + good
        )
        assert done.status == 1
        records = [json.loads(line) for line in done.lines()]
        assert [r["id"] for r in records] == ["good", 2, "good"]
        assert message in records[1]["error"]
        assert "error" not in records[2]
        assert f"<stdin>:2: {records[1]['error']}" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("command", "field"), [("marginals", "slots"), ("sample", "samples")])
def test_a_record_beyond_the_budget_of_a_sum(tmp_path: Path, lm: Path, command: str, field: str) -> None:
    """It is an error record; the others go on."""
    keys = b"843\n843 364 22757 0 843 364 22757 0\n843\n"
    arguments: list[str | Path] = [command, "--lm", lm, "--channel", "keypad", "--json"]
    done = run(tmp_path, *arguments, "--max-states", "12", stdin=keys)
    records = [json.loads(line) for line in done.lines()]
    assert done.status == 1
    assert [field in record for record in records] == [True, False, True]
    assert records[1]["error"].startswith("the budget ended at position ")
    assert run(tmp_path, *arguments, "--budget", "1000", stdin=keys).status == 0


def test_budget_and_exact(tmp_path: Path, lm: Path) -> None:
    keys = b"843 364 22757 0 843 364 22757 0\n"
    arguments = (
        "decode",
        "--lm",
        lm,
        "--channel",
        "keypad",
        "--json",
        "--max-states",
        "2",
        "--method",
        "full",
    )
    done = run(tmp_path, *arguments, stdin=keys)
    assert done.status == 0
    certificate = json.loads(done.stdout)["certificate"]
    assert not certificate["exact"]
    assert certificate["gap"] == pytest.approx(certificate["upper"] - certificate["lower"])
    done = run(tmp_path, *arguments, "--exact", stdin=keys)
    assert done.status == 3
    assert json.loads(done.stdout)["certificate"] == certificate
    assert run(tmp_path, *arguments[:-4], "--exact", stdin=keys).status == 0


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--channel", "morse"], 1, "unknown channel 'morse'"),
        (["--channel", "keypda"], 1, "did you mean keypad"),
        (["--channel", "keypad", "--method", "fast"], 2, "--method is 'fast', expected auto,"),
        (["--channel", "keypad", "--objective", "best"], 2, "map or mbr"),
        (["--channel", "keypad", "-k", "0"], 2, "-k"),
        (["--channel", "keypad", "--budget", "-1"], 2, "--budget"),
        (["--channel", "keypad", "missing.txt"], 1, "missing.txt"),
        (["--channel", "confusion:missing.tsv"], 1, "missing.tsv"),
        (["--channel", "slots", "--ambiguity", "3"], 2, "--ambiguity has no effect with --channel slots"),
    ],
)
def test_bad_usage_is_one_line(
    tmp_path: Path, lm: Path, arguments: list[str], status: int, message: str
) -> None:
    done = run(tmp_path, "decode", "--lm", lm, *arguments, stdin=b"2\n")
    assert done.status == status
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == b""


def test_output_is_whole_or_absent(tmp_path: Path, lm: Path) -> None:
    keys = tmp_path / "keys.txt"
    keys.write_bytes(b"843 364 22757 0\n" * 200_000)
    process = start(tmp_path, ["decode", "--lm", lm, "--channel", "keypad", keys, "--output", "out.txt"])
    deadline = time.monotonic() + 60
    noted = tmp_path / "out.txt.parts" / "progress.json"
    while not noted.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert names(tmp_path) == ["keys.txt", "out.txt.parts"]
    assert "interrupted" in stderr.decode()
    assert "--resume" in stderr.decode()


def test_demo_decodes_the_users_keys(tmp_path: Path) -> None:
    done = run(tmp_path, "demo", "843 5673 47 69 74374373 0")
    assert done.status == 0, done.stderr
    assert b"the lord is my shepherd ." in done.stdout
    assert run(tmp_path, "demo", "nonsense").status == 2


@pytest.mark.parametrize("command", ["decode", "sample", "marginals"])
def test_the_example_of_the_help_runs(tmp_path: Path, lm: Path, command: str) -> None:
    text = run(tmp_path, command, "--help").stdout.decode()
    assert "Example: echo '843 364 0'" in text
    assert f"hiddenite {command}" in text
    extra = ["-n", "10", "--seed", "1"] if command == "sample" else []
    done = run(tmp_path, command, *extra, "--lm", lm, "--channel", "keypad", stdin=b"843 364 0\n")
    assert done.status == 0
    assert b"the" in done.stdout
