"""hiddenite induce: run, score, plot, the demonstration, and what is refused."""

import contextlib
import io
import json
import os
import pty
import random
import re
import signal
import time
from pathlib import Path

import pytest
from rich.console import Console

import hiddenite
from hiddenite.cli.demo_induce import demo_induce
from tests.e2e.command import names, run, start, succeed

TEXT = """the dog barks
a cat sleeps

the cat sees the dog
dogs bark and cats sleep
"""
RUN = ("induce", "run", "text.txt", "--tags", "3", "--iterations", "4", "--seed", "1")
QUICK = (*RUN, "--model", "one-tag+lm", "--quiet")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_plain_text_becomes_tagged_text(place: Path) -> None:
    done = run(place, *RUN, "--output", "tagged.tsv", "--start-iterations", "2")
    assert done.status == 0
    assert done.stdout == b""
    assert re.fullmatch(
        r"hiddenite: seed 1\nhiddenite: log joint -\d+\.\d, consensus of \d+ of 24 chains"
        r"(, each agreeing with it on [\d.]+ % of the tokens on average"
        r"|: the others are too improbable \(--tolerance\))"
        r"(, [\d.]+ effective samples of \d+)?\n",
        done.stderr,
    )
    lines = (place / "tagged.tsv").read_text(encoding="utf-8").split("\n")
    words = [line.partition("\t")[0] for line in lines]
    assert words == [w for s in TEXT.split("\n")[:-1] for w in [*s.split(), ""]] + [""]
    assert {line.partition("\t")[2] for line in lines if line} <= {"T0", "T1", "T2"}
    again = succeed(place, *RUN, "--quiet", "--start-iterations", "2")
    assert again.stdout == (place / "tagged.tsv").read_bytes()


def test_tags_alone_and_conllu(place: Path) -> None:
    done = succeed(place, *QUICK, "--to", "plain")
    assert [len(line.split()) for line in done.lines()] == [3, 3, 0, 5, 5]
    conllu = "# sent_id = x\n1\tthe\t_\tD\tDT\t_\t_\t_\t_\t_\n2\tdog\t_\tN\tNN\t_\t_\t_\t_\t_\n\n"
    (place / "text.conllu").write_text(conllu, encoding="utf-8")
    done = succeed(
        place, "induce", "run", "text.conllu", "--tags", "2", "-n", "2", "--seed", "1", "-q", "--model", "pyp"
    )
    lines = done.stdout.decode().split("\n")
    assert lines[0] == "# sent_id = x"
    assert lines[1].split("\t")[4] in {"T0", "T1"}
    assert lines[1].split("\t")[3] == "D"


def test_the_saved_model_tags_new_text(place: Path) -> None:
    succeed(place, *QUICK, "--save", "induced.tagger", "--output", "tagged.tsv")
    done = succeed(place, "tag", "run", "--model", "induced.tagger", "--json", stdin="the zog 🙂\n".encode())
    record = json.loads(done.stdout)
    assert len(record["tags"]) == 3
    assert record["certificate"]["exact"]


def test_score(place: Path) -> None:
    (place / "gold.tsv").write_text("a\tX\nb\tY\n\nb\tY\nc\tX\n", encoding="utf-8")
    (place / "tagged.tsv").write_text("a\t1\nb\t2\n\n\nb\t2\nc\t2\n", encoding="utf-8")
    found = json.loads(succeed(place, "induce", "score", "gold.tsv", "tagged.tsv").stdout)
    assert list(found)[:3] == ["many_to_one", "one_to_one", "v_measure"]
    assert (found["many_to_one"], found["one_to_one"], found["tokens"]) == (0.75, 0.75, 4)
    assert "classes" not in found
    arguments = ("--tables", "--learn", "gold.tsv", "tagged.tsv")
    found = json.loads(succeed(place, "induce", "score", "gold.tsv", "tagged.tsv", *arguments).stdout)
    assert found["learnt_many_to_one"] == 0.75
    assert found["classes"][0] == {
        "tag": "2",
        "tokens": 3,
        "many_to_one": "Y",
        "one_to_one": "Y",
        "purity": pytest.approx(2 / 3),
        "parts": [["Y", 2], ["X", 1]],
    }


@pytest.mark.parametrize(
    ("tagged", "error"),
    [
        ("a\t1\n", "t.tsv:1: found the end of the sentence, expected 'b' as in the sentence of gold.tsv:1"),
        ("a\t1\nb\t1\nc\t1\n", "t.tsv:1: found 'c', expected the end of the sentence as in"),
        ("a\t1\nx\t1\n", "t.tsv:1: found 'x', expected 'b' as in the sentence of gold.tsv:1"),
        ("", "t.tsv: ends before the sentence of gold.tsv:1, expected the same sentences"),
        ("a\t1\nb\t1\n\nc\t1\n", "t.tsv:4: found a sentence more than in gold.tsv"),
        ("a b\n", "t.tsv:1: found 'a b': a space between word and tag, expected a tab"),
        ("a\t_\nb\t_\n", "t.tsv: has only «_» for tags; in CoNLL-U, say --column upos"),
        ("x" * 9999 + "\t1\n", f"t.tsv:1: found '{'x' * 40}…', expected 'a' as in"),
        ("x " * 9999 + "\t1\n", f"t.tsv:1: found the word '{'x ' * 20}…', expected one without"),
    ],
    ids=["short", "longer", "other", "empty", "long", "plain", "not annotated", "huge word", "huge line"],
)
def test_texts_that_do_not_match(place: Path, tagged: str, error: str) -> None:
    (place / "gold.tsv").write_text("a\tX\nb\tY\n", encoding="utf-8")
    (place / "t.tsv").write_text(tagged, encoding="utf-8")
    done = run(place, "induce", "score", "gold.tsv", "t.tsv")
    assert done.status == 1
    assert done.stderr.startswith(f"hiddenite: error: {error}")
    assert done.stderr.count("\n") == 1


def test_standard_input_is_called_so(place: Path) -> None:
    (place / "gold.tsv").write_text("a\tX\n", encoding="utf-8")
    for files, error in (
        (("gold.tsv", "-"), "<stdin>: ends before the sentence of gold.tsv:1"),
        (("-", "gold.tsv"), "gold.tsv:1: found a sentence more than in <stdin>"),
        (("-", "-"), "<stdin>: is given for both texts; name a file for one of them"),
    ):
        done = run(place, "induce", "score", *files)
        assert done.status == 1
        assert done.stderr.startswith(f"hiddenite: error: {error}")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--output", "none/t.tsv"], "none/t.tsv: cannot be written: No such file or directory"),
        (["--save", "none/t"], "none/t: cannot be written: No such file or directory"),
        (["--confidence", "."], ".: cannot be written: Is a directory"),
        (["--checkpoint", "text.txt"], "text.txt: is a file, expected a folder to keep the run in"),
        (["--checkpoint", "text.txt/kept"], "text.txt/kept: cannot be made: Not a directory"),
        (["--checkpoint", "cut"], "cut/run.induction: is no hiddenite induction or is cut off; delete it or"),
    ],
    ids=["output", "save", "confidence", "checkpoint", "no folder", "cut"],
)
def test_what_cannot_be_written_is_said_before_the_run(place: Path, arguments: list[str], error: str) -> None:
    """More sweeps than the time allows: nobody is to wait for them in vain."""
    (place / "cut").mkdir()
    (place / "cut" / "run.induction").write_bytes(b"cut")
    many = ("induce", "run", "text.txt", "--tags", "3", "--iterations", "60000", "--seed", "1", "--quiet")
    done = run(place, *many, "--model", "one-tag+lm", *arguments, timeout=20)
    assert done.status == 1
    assert done.stderr.startswith(f"hiddenite: error: {error}")
    assert done.stderr.count("\n") == 1
    assert names(place) == ["cut", "text.txt"]


def test_a_checkpoint_is_gone_on_with(place: Path) -> None:
    whole = succeed(place, *QUICK, "--chains", "2")
    first = succeed(place, *QUICK, "--chains", "2", "--checkpoint", "kept")
    again = succeed(place, *QUICK, "--chains", "2", "--checkpoint", "kept")
    without_seed = [a for a in QUICK if a not in ("--seed", "1")]
    found = succeed(place, *without_seed, "--chains", "2", "--checkpoint", "kept")
    assert whole.stdout == first.stdout == again.stdout == found.stdout
    assert names(place / "kept") == ["run.induction"]
    done = run(place, *QUICK, "--checkpoint", "kept")
    assert done.status == 1
    assert "kept/run.induction: is a run with chains 2, not 1; give the command of that run" in done.stderr


def test_an_interrupted_run_goes_on(place: Path) -> None:
    """Control-C keeps the sweeps that are done, and the same command ends as if nothing had happened."""
    arguments = [*RUN[:5], "--iterations", "4000", "--seed", "1", "--model", "pyp", "--output"]
    process = start(place, [*arguments, "whole"])
    assert process.stderr is not None
    assert process.stderr.readline() == b"hiddenite: seed 1\n"
    begun = time.monotonic()
    process.communicate(timeout=120)
    seconds = time.monotonic() - begun  # that the sweeps take here and now
    process = start(place, [*arguments, "t", "--checkpoint", "kept"])
    assert process.stderr is not None
    assert process.stderr.readline() == b"hiddenite: seed 1\n"
    time.sleep(seconds / 2)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (
        stderr == b"hiddenite: interrupted; the run is kept in kept, run the command again to continue it\n"
    )
    assert names(place / "kept") == ["run.induction"]
    assert "t" not in names(place)
    assert run(place, *arguments, "t", "--checkpoint", "kept").status == 0
    assert (place / "t").read_bytes() == (place / "whole").read_bytes()


@pytest.mark.parametrize(
    "text",
    ["a\nb\na\n", "a a a\n", "x" * 200 + "\n", "🙂 𝒳\n"],
    ids=["one-word sentences", "one type", "long word", "outside the plane"],
)
@pytest.mark.parametrize("tags", ["1", "50"])
def test_odd_texts(tmp_path: Path, text: str, tags: str) -> None:
    arguments = ("induce", "run", "--tags", tags, "-n", "2", "--start-iterations", "1", "-q", "--to", "plain")
    done = succeed(tmp_path, *arguments, stdin=text.encode())
    assert len(done.stdout.split()) == len(text.split())


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (b"", "<stdin>: has no word, expected text, one sentence a line"),
        (b"\n \n", "<stdin>: has no word"),
        (b"a \xff\n", "<stdin>:1: column 3: found a byte that is not UTF-8"),
        (b"a b\n" + b"x" * 1001, "<stdin>:2: the word 'xxxxxxxxxxxxxxxxxxxx…' has 1,001 characters"),
    ],
    ids=["empty", "blank", "bytes", "long word"],
)
def test_bad_texts(tmp_path: Path, text: bytes, error: str) -> None:
    done = run(tmp_path, "induce", "run", "--tags", "3", "-q", stdin=text)
    assert done.status == 1
    assert done.stderr.startswith(f"hiddenite: error: {error}")


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "text.txt"],
        ["run", "text.txt", "--tags", "0"],
        ["run", "text.txt", "--tags", "300"],
        ["run", "text.txt", "--tags", "3", "--model", "hmm"],
        ["run", "text.txt", "--tags", "3", "--model", "pyp", "--sampler", "lex"],
        ["run", "text.txt", "--tags", "3", "--model", "lex", "--width", "2"],
        ["run", "text.txt", "--tags", "3", "--chains", "1", "--tolerance", "0.1"],
        ["run", "text.txt", "--tags", "3", "--model", "pyp", "--start-iterations", "2"],
        ["run", "text.txt", "--tags", "3", "--model", "pyp", "--start", "mixed"],
        ["run", "text.txt", "--tags", "3", "--start", "exchnage"],
        ["run", "text.txt", "--tags", "3", "--order", "1"],
        ["run", "text.txt", "--tags", "3", "--burn-in", "900"],
        ["run", "text.txt", "--tags", "3", "--variant", "best"],
        ["run", "text.txt", "--tags", "3", "--column", "lemma"],
        ["score", "text.txt"],
        ["score", "a", "b", "--format", "plain"],
        ["plot", "kept", "--kind", "pie"],
        ["plot", "kept"],
    ],
    ids=" ".join,
)
def test_usage_errors(place: Path, arguments: list[str]) -> None:
    done = run(place, "induce", *arguments)
    assert done.status == 2, done.stderr
    assert names(place) == ["text.txt"]


def test_a_file_of_clusters_is_a_start(place: Path) -> None:
    (place / "clusters.tsv").write_text("the\t0\ndog\t1\n", encoding="utf-8")
    succeed(place, *QUICK, "--start", "clusters.tsv", "--output", "t")
    (place / "clusters.tsv").write_text("the\tN\n", encoding="utf-8")
    done = run(place, *QUICK, "--start", "clusters.tsv")
    assert done.status == 1
    assert "found the cluster 'N', expected a number from 0" in done.stderr
    (place / "clusters.tsv").write_text("the\t" + "9" * 5000, encoding="utf-8")
    done = run(place, *QUICK, "--start", "clusters.tsv")
    assert f"found the cluster '{'9' * 40}…', expected a number from 0" in done.stderr


def test_plots(place: Path) -> None:
    succeed(place, *QUICK, "--checkpoint", "kept", "--output", "t")
    table = succeed(place, "induce", "plot", "kept", "--kind", "table", "--number", "2").lines()
    assert table[0] == b"words\tshare\ttags\texamples"
    assert len(table) == 3
    both = succeed(place, "induce", "plot", "kept", "kept/run.induction", "--kind", "table").stdout
    assert both.count(b"# ") == 2
    pytest.importorskip("matplotlib")
    for kind in ("log-joint", "classes"):
        succeed(place, "induce", "plot", "kept", "--kind", kind, "--output", f"{kind}.png")
        assert (place / f"{kind}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--kind", "classes"], ["Size of the ambiguity classes", "rank of the class", "number of words"]),
        ([], ["How probable the tags are", "sweep (one pass", "log joint probability (natural log)"]),
        (["--seconds"], ["How probable the tags are", "time (seconds)", "kept: 2 chains, a line each"]),
    ],
    ids=["classes", "sweeps", "seconds"],
)
def test_a_picture_says_what_it_shows(place: Path, arguments: list[str], words: list[str]) -> None:
    pytest.importorskip("matplotlib")
    succeed(place, *QUICK, "--chains", "2", "--checkpoint", "kept", "--output", "t")
    succeed(place, "induce", "plot", "kept", *arguments, "--output", "plot.svg")
    drawn = (place / "plot.svg").read_text(encoding="utf-8")  # letters are shapes, comments say which
    assert all(word in drawn for word in words)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["plot", "kept", "--output", "x.docx"], "x.docx: is not named like a picture; end the name in .png"),
        (["plot", "kept", "--output", "none/x.png"], "none/x.png: cannot be written: No such file"),
        (["plot", "begun", "--output", "x.png"], "begun has no sweep to draw: it was interrupted before"),
        (["report", "empty", "--html", "x.html"], "empty: has no run in it; expected a folder that"),
        (["report", "none", "--html", "x.html"], "none: does not exist; expected a folder that"),
        (
            ["label", "empty.tsv", "--mapping", "names.json"],
            "empty.tsv: has no tagged word, expected word TAB",
        ),
    ],
    ids=["ending", "folder", "interrupted", "no run", "nothing", "no word"],
)
def test_what_cannot_be_shown_is_said_in_one_line(place: Path, arguments: list[str], error: str) -> None:
    pytest.importorskip("matplotlib")
    succeed(place, *QUICK, "--checkpoint", "kept", "--output", "t")
    begun = iter(hiddenite.induce(TEXT.splitlines(), 3, iterations=2, seed=1, checkpoint=place / "begun"))
    with contextlib.closing(begun) as sweeps:
        next(sweeps)
    (place / "empty").mkdir()
    (place / "empty.tsv").write_text("\n", encoding="utf-8")
    record = {"format": "hiddenite class names", "version": 1, "names": {"T0": "A"}}
    (place / "names.json").write_text(json.dumps(record), encoding="utf-8")
    done = run(place, "induce", *arguments)
    assert done.status == 1
    assert done.stderr.startswith(f"hiddenite: error: {error}")
    assert done.stderr.count("\n") == 1
    assert not {"x.docx", "x.png", "x.html"} & set(names(place))


def test_a_report_and_the_names_that_come_of_it(place: Path) -> None:
    succeed(place, *RUN, "-q", "--checkpoint", "run1", "--output", "tagged.tsv", "--confidence", "sure.tsv")
    succeed(place, "induce", "report", "run1", "--html", "classes.html")
    assert b"<title>Classes of run1</title>" in (place / "classes.html").read_bytes()
    sure = [line.split("\t") for line in (place / "sure.tsv").read_text(encoding="utf-8").split("\n")]
    tagged = [line.split("\t") for line in (place / "tagged.tsv").read_text(encoding="utf-8").split("\n")]
    assert [row[:2] for row in sure] == tagged
    assert all(0 < float(row[2]) <= 1 for row in sure if row[0])
    given = {"names": {"T0": "A", "T1": "A", "T2": "B"}, "words": {"T0": {"dog": "N"}, "T1": {"dog": "N"}}}
    record = {"format": "hiddenite class names", "version": 1, **given}
    (place / "names.json").write_text(json.dumps(record), encoding="utf-8")
    done = succeed(place, "induce", "label", "tagged.tsv", "--mapping", "names.json")
    first = done.stdout.decode().split("\n")[:3]
    assert [line.split("\t")[:2] for line in first] == [["1", "the"], ["2", "dog"], ["3", "barks"]]
    assert {line.split("\t")[4] for line in first} <= {"A", "B", "N"}
    (place / "other.tsv").write_text("dog\tX\n", encoding="utf-8")
    refused = run(place, "induce", "label", "other.tsv", "--mapping", "names.json", "--output", "out")
    assert refused.status == 1
    assert "names none of the classes of other.tsv" in refused.stderr
    assert "out" not in names(place)


CLASSES = ("the a this every", "dog cat house child river", "sees hears takes leaves", ". ! ? ;")


def sentences(number: int, seed: int) -> str:
    """Sentences of four classes, such as: the dog sees a cat ."""
    choose = random.Random(seed).choice
    pattern = [CLASSES[i].split() for i in (0, 1, 2, 0, 1, 3)]
    return "".join(" ".join(map(choose, pattern)) + "\n" for _ in range(number))


def saved_mapping(place: Path, folder: str) -> dict[str, object]:
    """What the page of a run saves once its classes have names."""
    succeed(place, "induce", "report", folder, "--html", "classes.html")
    held = re.search(r'id="data">(.*?)</script>', (place / "classes.html").read_text(encoding="utf-8"))
    assert held is not None
    data = json.loads(held[1])
    kept = {key: data[key] for key in ("format", "version", "run", "typical")}
    return {**kept, "names": {tag: f"NAME{tag[1:]}" for tag in kept["typical"]}}


@pytest.mark.parametrize("model", ["one-tag+lm", "pyp"])
def test_a_mapping_of_another_run_is_refused(place: Path, model: str) -> None:
    """Also for text that the exported tagger tagged; another run has the same classes under other numbers."""
    (place / "text.txt").write_text(sentences(100, 1), encoding="utf-8")
    (place / "new.txt").write_text(sentences(8, 2) + "zebras seek a dog .\n", encoding="utf-8")
    learn = (
        "induce",
        "run",
        "text.txt",
        "--tags",
        "4",
        "--model",
        model,
        "--iterations",
        "20",
        "--seed",
        "1",
    )
    succeed(place, *learn, "-q", "--checkpoint", "run", "--save", "tagger", "--output", "same.tsv")
    succeed(place, "tag", "run", "--model", "tagger", "new.txt", "--to", "tsv", "-q", "--output", "new.tsv")
    (place / "names.json").write_text(json.dumps(saved_mapping(place, "run")), encoding="utf-8")
    for tagged in ("same.tsv", "new.tsv"):
        label = ("induce", "label", tagged, "--mapping", "names.json", "--to", "tsv")
        text = (place / tagged).read_text(encoding="utf-8")
        assert succeed(place, *label).stdout.decode() == text.replace("\tT", "\tNAME")
        other = re.sub(r"\tT(\d)", lambda found: f"\tT{(int(found[1]) + 1) % 4}", text)
        (place / tagged).write_text(other, encoding="utf-8")
        refused = run(place, *label)
        assert refused.status == 1
        assert refused.stdout == b""
        assert re.fullmatch(
            r"hiddenite: error: names\.json: was saved for another run: "
            rf"of its \d+ typical words in {tagged}, \d+ have the class that it says; "
            "give the mapping of the same run, or delete «typical» from it to apply it all the same\n",
            refused.stderr,
        )


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        ("dog\tX\n", "names.json: names none of the classes of <stdin>"),
        ("dog\tT0\n\ncat\n", "<stdin>:3: found one column, 'cat', expected word TAB tag"),
        ("dog\t_\n", "<stdin>: has only «_» for tags; in CoNLL-U, say --column upos"),
        ("", "<stdin>: has no tagged word, expected word TAB tag or CoNLL-U"),
    ],
    ids=["other names", "no tag", "not annotated", "empty"],
)
def test_label_prints_all_or_nothing(place: Path, lines: str, error: str) -> None:
    record = {"format": "hiddenite class names", "version": 1, "names": {"T0": "A"}}
    (place / "names.json").write_text(json.dumps(record), encoding="utf-8")
    done = run(place, "induce", "label", "-", "--mapping", "names.json", stdin=lines.encode())
    assert done.status == 1
    assert done.stdout == b""
    assert done.stderr.startswith(f"hiddenite: error: {error}")
    assert done.stderr.count("\n") == 1


def test_a_name_for_a_class_that_is_not_there_is_pointed_out(place: Path) -> None:
    record = {"format": "hiddenite class names", "version": 1, "names": {"T0": "A", "t1": "B"}}
    (place / "names.json").write_text(json.dumps(record), encoding="utf-8")
    (place / "tagged.tsv").write_text("dog\tT0\ncat\tT1\n", encoding="utf-8")
    label = ("induce", "label", "tagged.tsv", "--mapping", "names.json", "--to", "tsv")
    done = run(place, *label)
    assert (done.status, done.stdout) == (0, b"dog\tA\ncat\tT1\n\n")
    assert done.stderr == "hiddenite: names.json names t1, which no word of tagged.tsv has\n"
    assert succeed(place, *label, "--quiet").stdout == done.stdout


def test_a_terminal_sees_how_far_it_is(place: Path) -> None:
    """On a terminal there is a live line with the sweep, the log joint and the speed."""
    master, slave = pty.openpty()
    with start(place, [*RUN, "--start-iterations", "2", "--output", "t"], stderr=slave) as process:
        os.close(slave)
        shown = b""
        with contextlib.suppress(OSError):  # the other side has closed
            while chunk := os.read(master, 65536):
                shown += chunk
        process.wait(timeout=60)
    os.close(master)
    assert process.returncode == 0
    assert b"log joint" in shown
    assert b"tokens/s" in shown


def test_examples_of_the_help_run(place: Path) -> None:
    for command in ("run", "score", "plot", "report", "label"):
        assert "Example: " in run(place, "induce", command, "--help").stdout.decode()
    example = "run text.txt --tags 45 --seed 1 --output tagged.tsv"
    assert run(place, "induce", *example.split()).status == 0
    (place / "gold.tsv").write_bytes((place / "tagged.tsv").read_bytes())
    succeed(place, "induce", "score", "gold.tsv", "tagged.tsv")
    for name in ("run1", "run2"):
        succeed(place, *QUICK, "--checkpoint", name, "--output", "t")
    succeed(place, "induce", "report", "run1", "--html", "classes.html")
    pytest.importorskip("matplotlib")
    succeed(place, "induce", "plot", "run1", "run2", "--output", "runs.png")


def test_the_demonstration_shows_classes() -> None:
    """In this process and on a few sentences: the text is the only thing that the command adds."""
    console = Console(file=io.StringIO(), width=100, record=True)
    demo_induce(console, "a few sentences", ["the dog barks .", "a cat sleeps .", "the cat sees a dog ."] * 4)
    shown = console.export_text()
    assert "parts of speech in 56 words of a few sentences" in shown
    assert {"dog", "cat", "barks", "."} <= set(shown.split())
