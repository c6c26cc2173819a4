"""`hiddenite tag` as a user runs it."""

import json
from pathlib import Path

import pytest

from tests.e2e.command import names, run, succeed

TINY = Path(__file__).resolve().parents[1] / "data" / "tags" / "tiny.conllu"
TSV = """The\tDT
dog\tNN
barks\tVBZ
.\t.

A\tDT
cat\tNN
sleeps\tVBZ
.\t.

"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a text and a model of it."""
    directory = tmp_path_factory.mktemp("tag")
    (directory / "train.tsv").write_text(TSV * 10, encoding="utf-8")
    succeed(directory, "tag", "train", "train.tsv", "--output", "tsv.tagger")
    succeed(directory, "tag", "train", TINY, "--column", "upos", "--output", "upos.tagger")
    return directory


def test_plain_text_gives_lines_of_tags(place: Path) -> None:
    done = succeed(place, "tag", "run", "--model", "tsv.tagger", stdin=b"A dog sleeps .\n\nThe cat\n")
    assert done.lines() == [b"DT NN VBZ .", b"", b"DT NN"]


@pytest.mark.parametrize(
    ("policy", "stdout"),
    [("record", b"DT NN\n\n\nDT NN\n"), ("skip", b"DT NN\nDT NN\n"), ("stop", b"DT NN\n")],
)
def test_a_line_that_is_no_text_is_a_record_without_an_answer(
    place: Path, policy: str, stdout: bytes
) -> None:
    lines = b"A dog\nThe \xff\nThe\0dog\nThe cat\n"
    done = run(place, "tag", "run", "--model", "tsv.tagger", "--on-error", policy, stdin=lines)
    assert done.status == 1
    assert done.stdout == stdout
    assert "<stdin>:2: column 5: found a byte that is not UTF-8" in done.stderr


def test_json_has_the_proof(place: Path) -> None:
    done = succeed(place, "tag", "run", "--model", "tsv.tagger", "--json", stdin=b"A dog sleeps .\n\n")
    first, second = map(json.loads, done.lines())
    assert list(first) == ["id", "words", "tags", "log_weight", "certificate"]
    assert (first["id"], first["tags"]) == (1, ["DT", "NN", "VBZ", "."])
    assert first["certificate"]["exact"]
    assert (second["id"], second["words"], second["tags"]) == (2, [], [])


def test_conllu_in_and_out(place: Path) -> None:
    done = succeed(place, "tag", "run", "--model", "upos.tagger", "--column", "upos", TINY)
    assert done.stdout == TINY.read_bytes()
    blank = TINY.read_text(encoding="utf-8").replace("\tNOUN\t", "\t_\t").replace("\tDET\t", "\t_\t")
    arguments = ("tag", "run", "--model", "upos.tagger", "--column", "upos", "--format", "conllu")
    assert succeed(place, *arguments, stdin=blank.encode()).stdout == TINY.read_bytes()
    record = json.loads(succeed(place, *arguments, "--json", stdin=blank.encode()).lines()[0])
    assert record["id"] == "one"


def test_tsv_in_and_out_and_across(place: Path) -> None:
    words = b"The\ndog\n\n\nA\n"
    arguments = ("tag", "run", "--model", "tsv.tagger")
    done = succeed(place, *arguments, "--format", "tsv", stdin=words)
    assert done.stdout == b"The\tDT\ndog\tNN\n\n\nA\tDT\n\n"
    done = succeed(place, *arguments, "--to", "tsv", stdin=b"The dog\n")
    assert done.stdout == b"The\tDT\ndog\tNN\n\n"


def test_other_answers(place: Path) -> None:
    arguments = ("tag", "run", "--model", "tsv.tagger", "--json")
    line = b"The dog zzz\n"
    best = json.loads(succeed(place, *arguments, "-k", "3", stdin=line).stdout)
    assert len(best["kbest"]) == 3
    assert best["kbest"][0]["log_weight"] >= best["kbest"][1]["log_weight"]
    slots = json.loads(succeed(place, *arguments, "--marginals", stdin=line).stdout)["slots"]
    assert all(sum(p for _, p in slot) == pytest.approx(1) for slot in slots)
    drawn = run(place, *arguments, "--sample", "5", "--seed", "1", stdin=line)
    assert drawn.status == 0
    assert drawn.stderr == "hiddenite: seed 1\n"
    assert json.loads(drawn.stdout)["count"] == 5
    again = run(place, *arguments, "--sample", "5", "--seed", "1", "--threads", "1", stdin=line)
    assert again.stdout == drawn.stdout
    mbr = json.loads(succeed(place, *arguments, "--objective", "mbr", stdin=line).stdout)
    assert mbr["expected_errors"] >= 0


def test_other_answers_as_text(place: Path) -> None:
    arguments = ("tag", "run", "--model", "tsv.tagger", "--quiet")
    line = b"The dog\n"
    assert succeed(place, *arguments, "-k", "2", stdin=b"The zog\n").stdout.count(b"\n") == 3
    assert succeed(place, *arguments, "--marginals", stdin=line).stdout.startswith(b"DT:")
    assert b"DT NN" in succeed(place, *arguments, "--sample", "9", stdin=line).stdout


def test_score(place: Path) -> None:
    gold = (TSV + "The\tDT\nzog\tXX\n").encode()
    done = succeed(place, "tag", "score", "--model", "tsv.tagger", stdin=gold)
    found = json.loads(done.stdout)
    assert list(found)[:5] == ["accuracy", "known", "unknown", "sentence", "tokens"]
    assert (found["tokens"], found["unknown_tokens"], found["unseen_tags"]) == (10, 1, 1)
    assert (found["accuracy"], found["known"], found["unknown"]) == (0.9, 1.0, 0.0)
    assert found["sentence"] == pytest.approx(2 / 3)
    assert found["confusions"][0][0] == "XX"
    assert 0 <= found["calibration_error"] <= 1


def test_the_order_is_chosen(place: Path) -> None:
    done = run(place, "tag", "train", "train.tsv", "--order", "auto", "--output", "auto.tagger")
    assert done.status == 0
    assert "order 2 (sharp, structured, 0 words): " in done.stderr
    assert " % of the held-out words, " in done.stderr
    assert "is chosen" in done.stderr
    quiet = succeed(place, "tag", "train", "train.tsv", "--order", "auto", "-q", "--output", "quiet.tagger")
    assert quiet.stdout == b""
    assert (place / "auto.tagger").read_bytes() == (place / "quiet.tagger").read_bytes()


def test_the_classic_recipe(place: Path) -> None:
    succeed(place, "tag", "train", "train.tsv", "--recipe", "tnt", "--output", "tnt.tagger")
    done = succeed(place, "tag", "run", "--model", "tnt.tagger", stdin=b"A dog sleeps .\n")
    assert done.stdout == b"DT NN VBZ .\n"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", "x.tsv: has no tagged word, expected word TAB tag or CoNLL-U"),
        (b"\n\n", "x.tsv: has no tagged word"),
        (b"the\tDT\ndog\n", "x.tsv:2: found one column, 'dog', expected word TAB tag"),
        (b"\x7fELF\x00\x01", "x.tsv:1: column 5: found a NUL byte"),
        (b"the\tDT\n\xff\xfe\tX\n", "x.tsv:2: column 1: found a byte that is not UTF-8"),
    ],
)
def test_bad_training_text(tmp_path: Path, content: bytes, error: str) -> None:
    (tmp_path / "x.tsv").write_bytes(content)
    done = run(tmp_path, "tag", "train", "x.tsv", "--output", "m")
    assert done.status == 1
    assert done.stderr.startswith(f"hiddenite: error: {error}")
    assert names(tmp_path) == ["x.tsv"]


def test_bad_conllu(place: Path) -> None:
    done = run(place, "tag", "run", "--model", "tsv.tagger", "--format", "conllu", stdin=b"1\tthe\n")
    assert done.status == 1
    assert done.stderr == (
        "hiddenite: error: <stdin>:1: found 2 columns, expected the 10 of CoNLL-U, separated by tabs\n"
    )


@pytest.mark.parametrize("command", ["run", "score"])
def test_bad_models(tmp_path: Path, place: Path, command: str) -> None:
    (tmp_path / "cut").write_bytes((place / "tsv.tagger").read_bytes()[:300])
    (tmp_path / "text").write_text("a\tX\n", encoding="utf-8")
    for model, error in (
        ("none", "none: cannot be opened: No such file or directory"),
        ("cut", "cut: found 300 bytes, expected the "),
        ("text", "text: is no hiddenite tagger or is cut off"),
        (".", ".: is a directory, expected a file"),
    ):
        done = run(tmp_path, "tag", command, "--model", model, stdin=b"a\tX\n")
        assert done.status == 1
        assert done.stderr.startswith(f"hiddenite: error: {error}")
        assert done.stdout == b""


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "x.tsv", "--output", "m", "--order", "0"],
        ["train", "x.tsv", "--output", "m", "--order", "many"],
        ["train", "x.tsv", "--output", "m", "--column", "lemma"],
        ["train", "x.tsv", "--output", "m", "--recipe", "best of all"],
        ["train", "x.tsv", "--output", "m", "--guesser", "oracle"],
        ["train", "x.tsv", "--output", "m", "--floor", "1"],
        ["run", "--model", "m", "--objective", "max"],
        ["run", "--model", "m", "-k", "2", "--marginals"],
        ["run", "--model", "m", "--format", "xml"],
        ["score", "--model", "m", "--plot", "x.png", "--no-calibration"],
    ],
)
def test_usage_errors(tmp_path: Path, arguments: list[str]) -> None:
    done = run(tmp_path, "tag", *arguments)
    assert done.status == 2, done.stderr
    assert names(tmp_path) == []


def test_a_budget_without_proof_is_exit_3(place: Path) -> None:
    arguments = ("tag", "run", "--model", "tsv.tagger", "--budget", "0", "--method", "refine", "--exact")
    done = run(place, *arguments, stdin=b"zog zig zag zug\n" * 3)
    assert done.status in {0, 3}
    assert len(done.lines()) == 3


def test_examples_of_the_help_run(place: Path) -> None:
    (place / "train.conllu").write_bytes(TINY.read_bytes())
    (place / "test.conllu").write_bytes(TINY.read_bytes())
    for command in ("train", "run", "score", "report"):
        text = run(place, "tag", command, "--help").stdout.decode()
        assert "Example: " in text
    succeed(place, "tag", "train", "train.conllu", "--column", "xpos", "--output", "english.tagger")
    succeed(place, "tag", "run", "--model", "english.tagger", stdin=b"The dog barks .\n")
    succeed(place, "tag", "score", "--model", "english.tagger", "--column", "xpos", "test.conllu")
    succeed(place, "tag", "report", "--model", "english.tagger", "test.conllu", "--html", "report.html")


# Another column, another tagset, no tags at all

CONLLU = b"1\tThe\t_\tDET\t_\t_\t_\t_\t_\t_\n2\tdog\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n"


def test_a_column_without_tags_is_refused(place: Path) -> None:
    (place / "bare.conllu").write_bytes(CONLLU)
    done = run(place, "tag", "train", "bare.conllu", "--output", "bare.tagger")
    assert done.status != 0
    assert "has only «_» for tags; in CoNLL-U, say --column upos" in done.stderr
    assert not (place / "bare.tagger").exists()
    for command in (("score",), ("report", "--html", "bare.html")):
        done = run(place, "tag", *command, "--model", "tsv.tagger", "bare.conllu")
        assert done.status != 0
        assert "has only «_» for tags; in CoNLL-U, say --column upos" in done.stderr
    assert not (place / "bare.html").exists()


def test_words_without_a_gold_tag_are_not_compared(place: Path) -> None:
    (place / "partly.tsv").write_bytes(b"The\tDT\ndog\t_\n\nbarks\t_\n\n")
    done = succeed(place, "tag", "score", "--model", "tsv.tagger", "partly.tsv")
    found = json.loads(done.stdout)
    assert (found["accuracy"], found["tokens"], found["sentences"]) == (1.0, 1, 1)


def test_a_model_keeps_its_column(place: Path) -> None:
    (place / "upos.conllu").write_bytes(CONLLU)
    succeed(place, "tag", "train", "upos.conllu", "--column", "upos", "--output", "mine.tagger")
    for command in (("run",), ("score",), ("report", "--html", "mine.html")):
        done = run(place, "tag", *command, "--model", "mine.tagger", "upos.conllu")
        assert done.status != 0
        assert "mine.tagger was trained on upos; say --column upos" in done.stderr
        succeed(place, "tag", *command, "--model", "mine.tagger", "--column", "upos", "upos.conllu")


def test_tags_that_the_model_never_saw_are_an_error(place: Path) -> None:
    (place / "other.tsv").write_bytes(b"The\tART\ndog\tSUBST\n\n")
    for command in (("score",), ("report", "--html", "other.html")):
        done = run(place, "tag", *command, "--model", "tsv.tagger", "other.tsv")
        assert done.status != 0
        assert "has the tags ART, SUBST, none of which the model knows" in done.stderr
    assert not (place / "other.html").exists()


def test_glued_punctuation_is_a_warning(place: Path) -> None:
    (place / "glued.txt").write_text("Yes, the dog barks. A cat, too! So what?\n", encoding="utf-8")
    says = "glued.txt: 5 words of the first sentences end in punctuation, as «Yes,»; "
    for command, advice in (
        (("run", "--model", "tsv.tagger", "glued.txt"), "say --raw-text if it is running text"),
        (("suggest", "--model", "tsv.tagger", "glued.txt"), "say --raw-text if it is running text"),
        (
            ("train", "train.tsv", "--raw", "glued.txt", "--order", "2", "--output", "g.tagger"),
            "set it off by blanks",
        ),
    ):
        done = run(place, "tag", *command)
        assert done.status == 0
        assert says + advice in done.stderr
        assert succeed(place, "tag", *command, "--quiet").stdout == done.stdout
    succeed(place, "tag", "suggest", "--model", "tsv.tagger", "--raw-text", "glued.txt")


def test_spaces_for_tabs_are_named(place: Path) -> None:
    (place / "spaces.tsv").write_bytes(b"The DT\ndog NN\n\n")
    done = run(place, "tag", "train", "spaces.tsv", "--output", "x.tagger")
    assert done.status != 0
    assert "spaces.tsv:1: found 'The DT': a space between word and tag, expected a tab" in done.stderr
