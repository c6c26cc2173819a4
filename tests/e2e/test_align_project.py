"""align project, strip and report as a user runs them."""

import json
import re
from pathlib import Path

import pytest

from tests.e2e.command import names, run, succeed

PAIRS = [
    ("the house", "la maison"),
    ("the dog", "le chien"),
    ("a dog sleeps", "un chien dort"),
    ("the house sleeps", "la maison dort"),
    ("a house", "une maison"),
    ("the dog sleeps", "le chien dort"),
] * 5
TAGS = {"the": "DET", "a": "DET", "house": "NOUN", "dog": "NOUN", "sleeps": "VERB"}
SWEEPS = ("--sweeps", "5,5,10", "--chains", "1", "--quiet")


def conllu(text: str, tag: str = "_") -> str:
    rows = [
        f"{n}\t{w}\t_\t{TAGS.get(w, tag)}\t_\tX=1\t_\t_\t_\tSpaceAfter=No"
        for n, w in enumerate(text.split(), 1)
    ]
    return "\n".join(["# a comment", *rows, "", ""])


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    write = {
        "en.txt": "".join(e + "\n" for e, _ in PAIRS),
        "fr.txt": "".join(f + "\n" for _, f in PAIRS),
        "slash.txt": "".join(" ".join(f"{w}/{TAGS[w]}" for w in e.split()) + "\n" for e, _ in PAIRS),
        "en.tsv": "".join("".join(f"{w}\t{TAGS[w]}\n" for w in e.split()) + "\n" for e, _ in PAIRS),
        "en.conllu": "".join(conllu(e) for e, _ in PAIRS),
        "fr.conllu": "".join(conllu(f) for _, f in PAIRS),
        "marked.txt": "".join(
            f"\\v {n} {e.replace('dog', '<b>dog</b>')}\n" for n, (e, _) in enumerate(PAIRS, 1)
        ),
    }
    for name, text in write.items():
        (folder / name).write_text(text, encoding="utf-8")
    train = ("align", "corpus", "en.txt", "fr.txt", "--seed", "1", *SWEEPS, "--model", "m.model", "--json")
    succeed(folder, *train, "-o", "links.json")
    return folder


def columns(text: bytes) -> list[list[str]]:
    return [[row.split("\t")[1] for row in s.split("\n")] for s in text.decode().strip().split("\n\n")]


EXPECTED = [
    [{"maison": "NOUN", "chien": "NOUN", "dort": "VERB"}.get(w, "DET") for w in f.split()] for _, f in PAIRS
]


@pytest.mark.parametrize("source", ["en.tsv", "slash.txt", "en.conllu"])
@pytest.mark.parametrize("links", [("--model", "m.model", "--seed", "1"), ("--links", "links.json")])
def test_labels_of_every_format_arrive(texts: Path, source: str, links: tuple[str, ...]) -> None:
    done = succeed(texts, "align", "project", source, "fr.txt", *links, "--quiet")
    assert columns(done.stdout) == EXPECTED
    first = done.stdout.decode().split("\n")[0].split("\t")
    assert first[0] == "la"
    assert 0.5 <= float(first[2]) <= 1


def test_a_tagger_learns_from_them(texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "fr.tsv"
    succeed(texts, "align", "project", "en.tsv", "fr.txt", "--links", "links.json", "-o", out)
    succeed(texts, "tag", "train", out, "-o", tmp_path / "fr.tagger", "--quiet")
    done = succeed(texts, "tag", "run", "--model", tmp_path / "fr.tagger", stdin=b"le chien dort\n")
    assert done.stdout == b"DET NOUN VERB\n"


def test_links_are_trained_where_none_are_given(texts: Path) -> None:
    done = run(texts, "align", "project", "en.tsv", "fr.txt", "--seed", "1")
    assert (done.status, done.stderr) == (0, "hiddenite: seed 1\n")
    assert columns(done.stdout) == EXPECTED


def test_conllu_keeps_all_but_the_column_and_the_probability(texts: Path) -> None:
    given = ("align", "project", "en.conllu", "fr.conllu", "--links", "links.json")
    lines = succeed(texts, *given).stdout.decode().split("\n")
    assert lines[0] == "# a comment"
    assert re.fullmatch(r"1\tla\t_\tDET\t_\tX=1\t_\t_\t_\tSpaceAfter=No\|Projected=[01]\.\d{4}", lines[1])
    features = succeed(texts, *given, "--column", "feats").stdout.decode().split("\n")
    assert features[1].split("\t")[3:6] == ["_", "_", "X=1"]


def test_json_has_whole_distributions_and_a_threshold_abstains(texts: Path) -> None:
    given = ("align", "project", "en.tsv", "fr.txt", "--links", "links.json")
    record = json.loads(succeed(texts, *given, "--json").lines()[0])
    assert list(record) == ["id", "words", "labels", "probabilities", "distributions"]
    assert record["labels"] == ["DET", "NOUN"]
    assert max(record["distributions"][0], key=record["distributions"][0].get) == "DET"
    record = json.loads(succeed(texts, *given, "--json", "--threshold", "1").lines()[0])
    assert record["labels"] == [None, None]
    assert b"la\t_\t" in succeed(texts, *given, "--threshold", "1").stdout


def test_links_may_be_text_with_or_without_probabilities(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\tX\nb\tY\n\n")
    (tmp_path / "b.txt").write_text("u v\n")
    (tmp_path / "l.txt").write_text("0-1:0.9 1-0\n")
    done = succeed(tmp_path, "align", "project", "a.tsv", "b.txt", "--links", "l.txt", "--smoothing", "none")
    assert done.stdout == b"u\tY\t1.0000\nv\tX\t0.9000\n\n"


def test_spans(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("New/B-LOC York/I-LOC sleeps/O\n")
    (tmp_path / "b.txt").write_text("dort New York\n")
    (tmp_path / "l.txt").write_text("0-1:0.9 1-2:0.9 2-0:0.8\n")
    given = ("align", "project", "a.txt", "b.txt", "--links", "l.txt", "--spans", "--format", "slash")
    done = succeed(tmp_path, *given)
    assert done.stdout == b"dort\tO\t1.0000\nNew\tB-LOC\t0.9300\nYork\tI-LOC\t0.9300\n\n"
    (tmp_path / "a.txt").write_text("New/LOC York/LOC sleeps/O\n")
    done = run(tmp_path, *given)
    assert (done.status, done.stderr) == (
        1,
        "hiddenite: error: a.txt: sentence 1: word 1 has the label 'LOC', expected O, B-NAME or I-NAME\n",
    )


def test_markers(texts: Path, tmp_path: Path) -> None:
    stripped = succeed(texts, "align", "strip", "marked.txt").stdout
    assert stripped == (texts / "en.txt").read_bytes()
    given = ("align", "project", "marked.txt", "fr.txt", "--markers", "--links", "links.json")
    done = succeed(texts, *given)
    assert done.lines()[:3] == [b"\\v 1 la maison", b"\\v 2 le <b>chien</b>", b"\\v 3 un <b>chien</b> dort"]
    (tmp_path / "out.txt").write_bytes(done.stdout)
    assert succeed(texts, "align", "strip", tmp_path / "out.txt").stdout == (texts / "fr.txt").read_bytes()
    record = json.loads(succeed(texts, *given, "--json").lines()[1])
    assert [m["marker"] for m in record["markers"]] == ["\\v 2", "<b>"]
    assert record["text"] == "\\v 2 le <b>chien</b>"
    (tmp_path / "weak.txt").write_text("0-0:0.3 1-1:0.2\n" * len(PAIRS))
    weak = run(texts, *given[:-1], tmp_path / "weak.txt")
    assert (weak.status, weak.stderr) == (
        0,
        "hiddenite: 15 of 45 markers are below --threshold and were left out\n",
    )
    assert weak.lines()[1] == b"\\v 2 le chien"


def test_a_line_that_cannot_hold_its_markers_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\\nd a\\nd*\n\\nd b\\nd*\n")
    (tmp_path / "b.txt").write_text("x|y\nz\n")
    (tmp_path / "l.txt").write_text("0-0\n0-0\n")
    done = run(tmp_path, "align", "project", "a.txt", "b.txt", "--markers", "--links", "l.txt")
    assert (done.status, done.stdout) == (1, b"x|y\n\\nd z\\nd*\n")
    assert done.stderr == (
        "hiddenite: error: b.txt:1: markers cannot be put here without changing the text; "
        "take \\, | and < out of it\n"
    )


def test_line_ends_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\\p <i>a</i> b\\p\r\n<br/>\r\n")
    (tmp_path / "b.txt").write_bytes(b"x  y \r\n\r\n")
    (tmp_path / "l.txt").write_text("0-0 1-1\n\n")
    done = succeed(tmp_path, "align", "project", "a.txt", "b.txt", "--markers", "--links", "l.txt")
    assert done.stdout == b"\\p <i>x</i>  y\\p  \r\n<br/>\r\n"


def test_strip_separates_punctuation(tmp_path: Path) -> None:
    done = succeed(tmp_path, "align", "strip", "--separate", stdin=b"\\p <i>It's</i> 3.5, no?\n")
    assert done.stdout == b"It's 3.5 , no ?\n"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (
            ("en.tsv", "short.txt"),
            1,
            "error: short.txt: found 1 sentences, expected 30, as many as en.tsv has",
        ),
        (
            ("en.tsv", "fr.txt", "--links", "short.json"),
            1,
            "short.json: found 1 lines, expected 30, as many as en.tsv",
        ),
        (
            ("en.tsv", "fr.txt", "--links", "bad.json"),
            1,
            "bad.json:1: found a record without probabilities; write it",
        ),
        (
            ("en.tsv", "fr.txt", "--links", "far.txt"),
            1,
            "far.txt:1: link 7-0 is outside its sentence pair of 2 and 2",
        ),
        (
            ("en.tsv", "fr.txt", "--links", "half.txt"),
            1,
            "half.txt:1: found the probability 1.5, expected 0 to 1",
        ),
        (
            ("en.tsv", "fr.txt", "--links", "odd.txt"),
            1,
            "odd.txt:1: found '0=0', expected links such as 0-0:0.9",
        ),
        (("fr.txt", "en.txt"), 1, "fr.txt:1: found 'la', expected word/LABEL; see --format"),
        (("en.tsv", "fr.txt", "--links", "l", "--model", "m"), 2, "--links has no effect with --model"),
        (("en.tsv", "fr.txt", "--links", "l", "--seed", "1"), 2, "--seed has no effect with --links"),
        (("en.tsv", "fr.txt", "--links", "l", "--threads", "1"), 2, "--threads has no effect with --links"),
        (("en.tsv", "fr.txt", "--samples", "9"), 2, "--samples has no effect without --model"),
        (("en.tsv", "fr.txt", "--separate"), 2, "--separate has no effect without --markers"),
        (("en.tsv", "fr.txt", "--spans", "--smoothing", "none"), 2, "--smoothing has no effect with --spans"),
        (("en.txt", "fr.txt", "--markers", "--spans"), 2, "--spans has no effect with --markers"),
        (
            ("en.tsv", "fr.txt", "--column", "xpos"),
            2,
            "--column has no effect: neither SRC nor TGT is CoNLL-U",
        ),
        (("en.conllu", "fr.txt", "--column", "xpos", "--seed", "1"), 1, "en.conllu: has no label but _"),
        (
            ("marked.txt", "marked.txt", "--markers"),
            1,
            "marked.txt:1: has markers already; take them out with",
        ),
        (
            ("open.txt", "fr.txt", "--markers"),
            1,
            "open.txt:1: found <b>, which is not closed at the end of its line",
        ),
    ],
)
def test_what_does_not_fit_is_one_line(
    texts: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    (texts / "short.txt").write_text("la maison\n")
    (texts / "short.json").write_text('{"probabilities": []}\n')
    (texts / "bad.json").write_text('{"links": []}\n' * 30)
    (texts / "far.txt").write_text("7-0\n" * 30)
    (texts / "half.txt").write_text("0-0:1.5\n" * 30)
    (texts / "odd.txt").write_text("0=0\n" * 30)
    (texts / "open.txt").write_text("<b>the house\n" * 30)
    done = run(texts, "align", "project", *arguments, "--quiet", "-o", "never.txt")
    assert done.status == status
    assert message in done.stderr
    assert done.stderr.rstrip("\n").split("\n")[-1].startswith(("hiddenite: error", "Error:", "hiddenite:"))
    assert "never.txt" not in names(texts)


def test_report_is_one_page_that_runs_no_foreign_text(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script> <img/src=x/onerror=alert(2)> &amp; \u2028 ${x}"
    (tmp_path / "a.txt").write_text(f"{hostile}\nthe dog\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text(f"{hostile}\nle chien\n", encoding="utf-8")
    links = " ".join(f"{n}-{n}:0.5{n}" for n in range(len(hostile.split(" ")))) + "\n0-0 1-1:0.3\n"
    (tmp_path / "l.txt").write_text(links)
    done = succeed(tmp_path, "align", "report", "a.txt", "b.txt", "--links", "l.txt", "--html", "<r>.html")
    assert done.stdout == b""
    page = (tmp_path / "<r>.html").read_text(encoding="utf-8")
    assert "alert(1)" in page  # as data
    assert page.count("</script>") == 2
    assert page.count("<script") == 2
    assert "<img" not in page
    data = page.split('id="data">')[1].split("</script>")[0]
    assert not set("<>&\u2028") & set(data)
    record = json.loads(data)
    assert [one["n"] for one in record["pairs"]] == [1, 2]  # the more dubious first
    assert record["pairs"][0]["s"] == [w for w in hostile.split(" ") if w]
    assert record["lexicon"][-1] == ["dog", 0.3, [["chien", 1.0]]]
    assert not re.search(r"https?://", page)


def test_report_by_a_model_and_its_limits(texts: Path, tmp_path: Path) -> None:
    given = ("align", "report", "en.txt", "fr.txt", "--model", "m.model", "--seed", "1", "--quiet")
    succeed(texts, *given, "--pairs", "4", "--words", "2", "--html", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    record = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert (len(record["pairs"]), len(record["lexicon"])) == (4, 2)
    assert "30 sentence pairs" in page
    assert "The 4 most dubious are shown." in page
    assert "alert" not in page
