"""What hiddenite correct writes: changes, JSON, diffs and pages, of changes that are known."""

import html.parser
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite.cli.correct_output import FORMS, Answered
from hiddenite.correct.documents import Passage
from hiddenite.correct.formats import read_passages
from hiddenite.files.corpus import ChunkReader
from tests.correct_standin import Replacer

REPLACER = Replacer()
TEXT = "Teh lord,  is my shephrd.\r\nfine\n\nI shal <b> not & wnat!"


def written(folder: Path, content: bytes, form: str, size: int = 1000, name: str = "text.txt") -> bytes:
    """What a form makes of a document, in blocks of some passages."""
    path = folder / name
    path.write_bytes(content)
    with ChunkReader(path, keeps_mark=True) as reader:
        kind, found = read_passages(reader)
        passages = list(found)
    texts = []
    for first in range(0, len(passages), size):
        block = passages[first : first + size]
        corrections = [None if one.fault else REPLACER.correct(one.text) for one in block]
        pairs = zip(block, corrections, strict=True)
        answered = [Answered.of(passage, one, kind) for passage, one in pairs]
        label = kind if form == "json" else name
        texts += [outcome.text for outcome in FORMS[form](answered, corrections, first, label)]
    return "".join(texts).encode(errors="surrogateescape")


def test_changes_name_place_and_probability(tmp_path: Path) -> None:
    rows = written(tmp_path, TEXT.encode(), "changes").decode().splitlines()
    assert rows[0] == "1:1\tTeh\tThe\t0.970\tTeh 0.020, tea 0.010"
    assert [row.split("\t")[:3] for row in rows[1:]] == [
        ["1:18", "shephrd", "shepherd"],
        ["4:3", "shal", "shall"],
        ["4:18", "wnat", "want"],
    ]


def test_json_has_a_record_a_line(tmp_path: Path) -> None:
    records = [
        json.loads(line) for line in written(tmp_path, TEXT.encode() + b"\n\xff\n", "json").splitlines()
    ]
    assert [record["id"] for record in records] == [1, 2, 3, 4, 5]
    assert [record.get("text") for record in records] == [
        "The lord,  is my shepherd.",
        "fine",
        "",
        "I shall <b> not & want!",
        None,
    ]
    assert records[4]["error"].startswith("column 1: found a byte that is not UTF-8")
    change = records[0]["changes"][1]
    assert (change["line"], change["column"], change["start"], change["old"]) == (1, 18, 17, "shephrd")
    assert records[0]["certificate"]["exact"] is True


def test_json_of_documents_has_passages_with_text(tmp_path: Path) -> None:
    content = b"```\nteh\n```\n\nTeh end\nof it\n"
    records = [json.loads(line) for line in written(tmp_path, content, "json", name="a.md").splitlines()]
    assert [(record["id"], record["text"]) for record in records] == [(5, "The end\nof it")]


def test_text_that_cannot_be_read_stays(tmp_path: Path) -> None:
    assert written(tmp_path, b"teh\n\xffteh\r\nteh", "text") == b"the\n\xffteh\r\nthe"


LINES = st.lists(st.sampled_from(["teh end", "fine", "", "some thing\r", "wnat", "- x", "+ y"]), max_size=40)


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch")
@given(lines=LINES, size=st.integers(1, 50), ends=st.booleans())
def test_a_diff_can_be_applied(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int, ends: bool
) -> None:
    folder = tmp_path_factory.mktemp("diff")
    content = ("\n".join(lines) + ("\n" if ends and lines else "")).encode()
    diff = written(folder, content, "diff", size)
    corrected = written(folder, content, "text", size)
    assert (diff == b"") == (corrected == content)
    (folder / "text.txt").write_bytes(content)
    if diff:
        subprocess.run(["patch", "--binary", "-s", "-p0", "text.txt"], cwd=folder, input=diff, check=True)
    assert (folder / "text.txt").read_bytes() == corrected


class Words(html.parser.HTMLParser):
    """The text of a page without what its tips say."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.tips: list[str] = []
        self.tags: list[str] = []
        self.path: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag != "meta":
            self.path.append("tip" if ("class", "tip") in attrs else tag)
        if ("class", "tip") in attrs:
            self.tips.append("")

    def handle_endtag(self, tag: str) -> None:
        self.path.pop()

    def handle_data(self, data: str) -> None:
        if "tip" in self.path:
            self.tips[-1] += data
        elif "main" in self.path:
            self.text += data


def test_a_page_shows_the_text_and_what_it_was(tmp_path: Path) -> None:
    found = written(tmp_path, TEXT.encode() + b"\n\xff\n", "html", 2).decode()
    page = Words()
    page.feed(found)
    assert (
        page.text.replace("\r", "")
        == TEXT.replace("\r", "")
        .replace("Teh", "The")
        .replace("shephrd", "shepherd")
        .replace("shal", "shall")
        .replace("wnat", "want")
        + "\n\ufffd\n"
    )
    assert page.tips[0] == "was: Teh\nThe 97.0 %\nTeh 2.0 %\ntea 1.0 %\nline 1, column 1"
    assert found.count("<!doctype html>") == 1
    assert not {"script", "link", "img"} & set(page.tags)
    assert found.count('tabindex="0"') == len(page.tips) == 4


def test_a_page_of_an_ocr_file_shows_its_words(tmp_path: Path) -> None:
    words = b"<TextLine><String CONTENT='teh'/><String CONTENT='a&amp;b'/></TextLine>"
    content = b"<alto><TextBlock>%b</TextBlock></alto>" % words
    page = Words()
    page.feed(written(tmp_path, content, "html").decode())
    assert page.text.strip() == "the a&b"


def test_changes_over_masks_are_dropped() -> None:
    passage = Passage("some <i>thing</i>", "some    thing    ")
    assert Answered.of(passage, REPLACER.correct(passage.text), "markdown").raw == passage.raw
