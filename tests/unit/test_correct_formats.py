"""Documents of all formats: what is text, what comes back, and what is wrong with them."""

import re
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenite.correct.documents import Passage, apply_changes, line_and_column, usable_changes
from hiddenite.correct.formats import FORMATS, WRITERS, read_passages, recognise
from hiddenite.errors import FormatError
from hiddenite.files.corpus import ChunkReader
from tests.correct_standin import Replacer

REPLACER = Replacer()
DATA = Path(__file__).parents[1] / "data" / "correct"


def sample(name: str) -> str:
    return (DATA / name).read_bytes().decode()


ALTO = sample("alto.xml")
HOCR = sample("page.hocr")
PAGE = sample("page.xml")
SRT = sample("cues.srt")
VTT = sample("cues.vtt")
MARKDOWN = sample("text.md")


def read(
    tmp_path: Path, content: str | bytes, name: str = "text", form: str = "auto"
) -> tuple[str, list[Passage]]:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with ChunkReader(path, keeps_mark=True) as reader:
        found, passages = read_passages(reader, form)
        return found, list(passages)


def corrected(tmp_path: Path, content: str, name: str = "text", form: str = "auto") -> str:
    """What comes back from the table's corrector."""
    found, passages = read(tmp_path, content, name, form)
    assert "".join(one.raw for one in passages) == content
    changes = [REPLACER.correct(one.text).changes for one in passages]
    pairs = zip(passages, changes, strict=True)
    return "".join(apply_changes(passage, some, WRITERS.get(found)) for passage, some in pairs)


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("a", ALTO, "alto"),
        ("a", HOCR, "hocr"),
        ("a", HOCR.partition("\n")[2], "hocr"),
        ("a", PAGE, "page"),
        ("a", SRT, "srt"),
        ("a", "\ufeff" + SRT, "srt"),
        ("a", VTT, "vtt"),
        ("a.md", "# x\n", "markdown"),
        ("a.md.gz", "# x\n", "markdown"),
        ("a.txt", "# x\n", "plain"),
        ("a", "", "plain"),
        ("a", "1\nText\n", "plain"),
        ("a.srt", "", "srt"),
        ("a", "<p>text</p>\n", "plain"),
        ("a", "WEBVTTX\n", "plain"),
    ],
)
def test_a_format_is_told_by_content_and_name(tmp_path: Path, name: str, content: str, form: str) -> None:
    assert recognise(name, content) == form
    if not name.endswith(".gz"):
        assert read(tmp_path, content, name)[0] == form


@pytest.mark.parametrize(
    "content",
    [
        "Teh lord,  is my shephrd.\r\n\r\n\tI shal\tnot wnat!  \r\n",
        "\ufeffTeh end",
        "teh\rteh\r",
        "\n\n  \n",
        "",
        "مرحبا teh 😀 עברית\u200f teh\u00a0x\n",
    ],
)
def test_only_words_of_plain_text_change(tmp_path: Path, content: str) -> None:
    expected = re.sub(r"(?i)\b(teh|shephrd|shal|wnat)\b", lambda m: REPLACER.correct(m[0]).text, content)
    assert corrected(tmp_path, content) == expected


def test_a_word_over_a_line_end_stays_in_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"an exam-\nple  of it\nexam-\nple\nexam-\r\nple x\n")
    with ChunkReader(path, keeps_mark=True) as reader:
        (passage,) = read_passages(reader, "plain", paragraphs=True)[1]
    changes = REPLACER.changes(passage.text)
    assert len(changes) == 3
    assert apply_changes(passage, changes) == "an example\nof it\nexam-\nple\nexample\r\nx\n"


def test_paragraphs_end_at_empty_lines(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a\nb\n\n\nc\n\xff\nd" + b"\ne" * 300)
    with ChunkReader(path) as reader:
        found = list(read_passages(reader, "plain", paragraphs=True)[1])
    assert [(one.raw.count("\n"), one.line) for one in found] == [
        (4, 1),
        (1, 5),
        (1, 6),
        (200, 7),
        (100, 207),
    ]


def test_markup_of_markdown_stays(tmp_path: Path) -> None:
    found = corrected(tmp_path, MARKDOWN, "a.md")
    difference = [(a, b) for a, b in zip(MARKDOWN.splitlines(), found.splitlines(), strict=True) if a != b]
    assert difference == [
        ("# Teh title", "# The title"),
        (
            'Teh `teh` [teh link](http://teh.example/teh "teh") <b class="teh">teh</b>',
            'The `teh` [the link](http://teh.example/teh "teh") <b class="teh">the</b>',
        ),
        (
            "un*teh*able **teh** $teh$ http://teh.org teh_code",
            "un*teh*able **the** $teh$ http://teh.org teh_code",
        ),
        ("- item teh", "- item the"),
        ("    teh goes on", "    the goes on"),
        ("> quoted teh", "> quoted the"),
    ]


def test_only_words_of_subtitles_change(tmp_path: Path) -> None:
    assert corrected(tmp_path, SRT) == SRT.replace("Teh shephrd", "The shepherd").replace("shal", "shall")
    assert corrected(tmp_path, VTT) == VTT.replace(">Teh end", ">The end")


def test_sentences_of_subtitles_are_read_together(tmp_path: Path) -> None:
    passages = read(tmp_path, SRT)[1]
    assert [one.text.split() for one in passages] == [["Teh", "shephrd", "I", "shal", "not."]]


def test_words_of_alto_are_replaced_in_place(tmp_path: Path) -> None:
    found = corrected(tmp_path, ALTO)
    form = '<ALTERNATIVE PURPOSE="hiddenite {}">{}</ALTERNATIVE>'
    other = form.format("0.0200", "{}") + form.format("0.0100", "tea")
    assert "example" in found
    assert found.count("HypPart1") == 1
    assert 'CONTENT="The" WC="0.8">' + other.format("Teh") + "</String>" in found
    assert '<String CONTENT="the">' + other.format("teh") + "<ALTERNATIVE>tho</ALTERNATIVE>" in found
    assert '<String CONTENT="something">' in found
    assert "<String CONTENT='shepherd's'" not in found
    assert "CONTENT='shepherd&apos;s'  WC=" in found
    assert "<!-- teh note -->" in found
    assert "fish &amp; chips" in found


def test_readings_of_alto_are_evidence(tmp_path: Path) -> None:
    passages = read(tmp_path, ALTO)[1]
    words = passages[0].words or ()
    (readings,) = [dict(word.readings) for word in words if word.readings]
    assert readings == pytest.approx({"tch": 0.5 / 1.6, "tho": 0.1 / 1.6})


def test_words_of_hocr_are_replaced_in_place(tmp_path: Path) -> None:
    found = corrected(tmp_path, HOCR)
    title = "; x_original &quot;{}&quot; 0.0200; x_alternatives &quot;tea&quot; 0.0100"
    assert "x_wconf 80" + title.format("Teh") + "'>The</span>" in found
    assert "x_wconf 70" + title.format("shephrd") + '"><strong>shepherd</strong>' in found
    assert "<title>teh page</title>" in found
    assert re.findall("ocrx_cinfo' title='x_conf ..'>(.)", found) == ["w", "a", "r", "n", "t"]


def test_readings_of_hocr_are_evidence(tmp_path: Path) -> None:
    words = read(tmp_path, HOCR)[1][0].words or ()
    assert [dict(word.readings) for word in words] == [{}, {}, {"wrat": pytest.approx(1 / 3)}]


def test_words_of_page_are_replaced_wherever_they_stand(tmp_path: Path) -> None:
    found = corrected(tmp_path, PAGE)
    assert found.count(">The<") == 1
    assert ">The R&amp;D</pc:Unicode>" in found
    assert ">The R&amp;D\nI shall not want</pc:Unicode>" in found
    assert ">I shall not want</pc:Unicode>" in found
    added = '<pc:TextEquiv index="2" conf="0.0200" comments="hiddenite">'
    assert f"{added}<pc:Unicode>Teh</pc:Unicode></pc:TextEquiv>" in found


def test_readings_of_page_are_evidence(tmp_path: Path) -> None:
    words = read(tmp_path, PAGE)[1][0].words or ()
    assert dict(words[0].readings) == {"Tch": pytest.approx(0.3 / 1.3)}


@pytest.mark.parametrize("document", [ALTO, PAGE])
def test_what_a_correction_adds_is_no_evidence(tmp_path: Path, document: str) -> None:
    before, after = (
        {text for one in read(tmp_path, made)[1] for word in one.words or () for text, _ in word.readings}
        for made in (document, corrected(tmp_path, document))
    )
    assert after <= before


@pytest.mark.parametrize("content", [ALTO, HOCR, PAGE], ids=["alto", "hocr", "page"])
def test_broken_xml_is_one_line_with_its_place(tmp_path: Path, content: str) -> None:
    for damage in (content[: len(content) // 2], content.replace("</", "<", 1), content.replace('"', "", 1)):
        with pytest.raises(FormatError, match=r"text:\d+: (column \d+: )?found [^\n]*, expected [^\n]*$"):
            read(tmp_path, damage)


def test_broken_html_is_one_line_with_its_place(tmp_path: Path) -> None:
    damage = HOCR.partition("\n")[2].partition("Teh</span>")[0]
    with pytest.raises(FormatError, match=r"text:3: found an ocrx_word without its end"):
        read(tmp_path, damage)


def test_another_encoding_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="found the encoding ISO-8859-1, expected UTF-8"):
        read(tmp_path, ALTO.replace("UTF-8", "ISO-8859-1"))


def test_a_line_that_is_no_text_stays(tmp_path: Path) -> None:
    form, passages = read(tmp_path, b"Teh end\nbad \xff teh\nteh\n")
    assert form == "plain"
    assert [one.fault is None for one in passages] == [True, False, True]
    fault = "column 5: found a byte that is not UTF-8, expected UTF-8 text; convert it with iconv"
    assert passages[1].fault == fault
    raw = "".join(one.raw for one in passages).encode(errors="surrogateescape")
    assert raw == b"Teh end\nbad \xff teh\nteh\n"


def test_places_are_those_of_the_file(tmp_path: Path) -> None:
    for content in (ALTO, HOCR, PAGE, SRT, MARKDOWN, "x\n  teh teh\n"):
        lines = content.splitlines()
        for passage in read(tmp_path, content, "a.md" if content is MARKDOWN else "a")[1]:
            for change in usable_changes(passage, REPLACER.changes(passage.text)):
                line, column = line_and_column(passage, change.start)
                assert lines[line - 1][column - 1 :].startswith(change.old[0])


NOISE = st.text(
    st.sampled_from("ab teh.\n\r\t`*_[]()<>&\"'#$|>~-:=1{}%!\\éש😀\u200f\u00a0\ufeff"), max_size=120
)


@given(
    content=NOISE,
    form=st.sampled_from([one for one in FORMATS if one not in ("auto", "hocr", "alto", "page")]),
)
def test_untouched_text_is_identical(
    tmp_path_factory: pytest.TempPathFactory, content: str, form: str
) -> None:
    folder = tmp_path_factory.mktemp("noise")
    _, passages = read(folder, content, "a", form)
    assert "".join(apply_changes(one, ()) for one in passages) == content
    for one in passages:
        assert len(one.text) == len(one.raw)
        assert one.raw.count("\n") == apply_changes(one, REPLACER.changes(one.text)).count("\n")


@given(st.lists(st.text(st.sampled_from("teh&<>\"'é😀 \n;"), min_size=1, max_size=8), min_size=1, max_size=8))
def test_any_content_of_xml_comes_back(tmp_path_factory: pytest.TempPathFactory, contents: list[str]) -> None:
    words = "".join(f"<String CONTENT={quoteattr(one)}/>" for one in contents)
    document = f"<alto><TextBlock><TextLine>{words}</TextLine></TextBlock></alto>"
    folder = tmp_path_factory.mktemp("xml")
    result = corrected(folder, document)
    kept = read(folder, result)[1][0].words or ()
    assert len(kept) == len([one for one in contents if one.strip()])
    assert corrected(folder, document, "b", "plain")
