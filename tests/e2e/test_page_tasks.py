"""The playground's tasks in a real browser: answers of each tab, files, links, commands that run."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.page_visits import CHROMIUM, Visit, expect_text, playwright, settle
from tests.web_models import SENTENCES, language_model

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

TABS = ["correct", "decode", "tag", "align", "induce", "generate", "score"]
FIELDS = {
    "correct": ["raw"],
    "decode": ["message"],
    "tag": ["sentence"],
    "align": ["source", "target"],
    "induce": ["induce-text"],
    "generate": ["keywords"],
    "score": ["score-text"],
}
LATTICE = '[[0,1,"the",0],[1,2,"dog",-1],[0,2,"fox",-2],[2,3,"sleeps",0]]'


# ----------------------------------------------------------------------- tabs


def test_score(visit: Any) -> None:
    page = visit(tab="score")
    page.fill("#score-text", "The zebra sleeps.\nThe dog barks.")
    expect_text(page, "#score-note", "does not know 1 word: zebra")
    expect_text(page, "#scores .unknown", "^zebra$")
    text = ["the zebra sleeps .", "the dog barks ."]
    expected = [
        f"{row[0]:.2f}".replace("-", "−") for one in text for row in language_model().full_scores(one)
    ]
    assert page.locator("#scores .tag").all_inner_texts() == expected
    perplexity = language_model().perplexity(text)
    assert f"{perplexity:,.1f}" in page.inner_text("#score-summary")
    page.uncheck("#prepare")
    expect_text(page, "#score-note", "does not know 4 words")
    assert "The" in page.locator("#scores .unknown").all_inner_texts()


def test_induce(visit: Any) -> None:
    page = visit(tab="induce")
    page.fill("#induce-text", "\n".join(SENTENCES))
    page.fill("#induce-tags", "4")
    settle(page, "induce")
    expect_text(page, "#induce-note", "60 sweeps")
    expect_text(page, "#induce-joint", "ln p")
    rows = page.locator("#classes tbody tr")
    assert rows.count() == 4
    tokens = sum(int(cell) for cell in page.locator("#classes td:nth-child(2)").all_inner_texts())
    assert (
        tokens == sum(len(one.split()) for one in SENTENCES) == page.locator("#induced-text .classed").count()
    )
    page.fill("#induce-text", "too few words")
    expect_text(page, "#induce-error", "3 different words, expected more than 4")
    assert set(settle(page, "induce")) == {"failed"}
    page.fill("#induce-text", "")
    assert set(settle(page, "induce")) == {"empty"}


def test_both_directions_of_an_alignment(visit: Any) -> None:
    page = visit(tab="align")
    page.fill("#source", "thou hast a lamp")
    page.fill("#target", "you have a lamp")
    settle(page, "align")
    expect_text(page, "#directions", "source → target.*target → source.*both, grow-diag-final-and")
    expect_text(page, "#searches", "optimal under this model, proved by exact")
    expect_text(page, "#align-draws", "shares of 100 draws")
    label = page.locator("#matrix tbody td").first.get_attribute("aria-label")
    assert re.fullmatch(r"thou – you: [\d.]+%; linked by .*; in the direction source → target and .*", label)
    page.select_option("#direction", "forward")
    playwright.expect(page.locator("#directions")).to_be_hidden()
    assert page.is_disabled("#symmetrize")


def test_a_report_of_two_files(visit: Any, tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("thou hast a lamp\nhe hath a lamp\n")
    (tmp_path / "new.txt").write_text("you have a lamp\nhe has a lamp\n")
    (tmp_path / "short.txt").write_text("you have a lamp\n")
    page = visit(tab="align")
    page.set_input_files("#report-source", tmp_path / "old.txt")
    page.set_input_files("#report-target", tmp_path / "new.txt")
    expect_text(page, "#report-note", "^2 sentence pairs")
    with page.expect_download() as saved:
        page.click("text=Download report")
    text = Path(saved.value.path()).read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert "Links of old.txt and new.txt" in text
    page.set_input_files("#report-target", tmp_path / "short.txt")
    expect_text(page, "#report-error", "'source' has 2 lines and 'target' has 1")
    playwright.expect(page.locator("#report")).to_be_hidden()


def test_own_candidates_and_a_lattice(visit: Any) -> None:
    page = visit()
    page.select_option("#channel", "own")
    said = re.compile("said")  # an example, in the form that is expected
    playwright.expect(page.locator("#message")).to_have_value(said)
    page.fill("#message", '[["the", "a"], [["dog", -0.5], ["fox", -2]], ["sleeps"]]')
    expect_text(page, "#best", "the dog sleeps")
    expect_text(page, "#bounds-note", "The bounds met")
    settle(page, "decode")
    assert page.locator("#lattice .edge").count() == 5
    assert page.locator("#lattice .edge.best").count() == 3
    page.fill("#message", LATTICE)
    expect_text(page, "#best", "the dog sleeps")
    expect_text(page, "#bounds-note", "Of a lattice no search is recorded")
    expect_text(page, "#beam-note", "without a proof|search error")
    settle(page, "decode")
    assert page.locator("#lattice .edge").count() == 4
    assert page.locator("#lattice .node").count() == 4
    page.fill("#message", "[[")
    expect_text(page, "#decode-error", "the candidates are not JSON")
    assert set(settle(page, "decode")) == {"failed"}


def test_the_search_is_played_paused_and_stepped(browser: Any, url: str) -> None:
    visit = Visit(browser, url, "test_the_search_is_played", reduced_motion="no-preference")
    page = visit.page
    page.fill("#message", SENTENCES[0])
    expect_text(page, "#bounds-note", "The bounds met")
    page.click("#search-end")
    expect_text(page, "#search-play", "Replay")
    at, total = map(int, re.findall(r"\d+", page.inner_text("#search-place")))
    assert at == total > 1
    button = "document.querySelector('#search-play')"
    page.evaluate(f"() => {{ {button}.click(); {button}.click(); }}")  # paused before a step is shown
    page.wait_for_timeout(1000)
    expect_text(page, "#search-place", f"step 0 of {total}")
    expect_text(page, "#search-play", "Play")
    page.click("#search-step")
    expect_text(page, "#search-place", f"step 1 of {total}")
    expect_text(page, "#search-play", "Play")
    assert page.locator("#bounds polyline").count() == 2
    page.click("#search-play")
    expect_text(page, "#search-place", f"step {total} of {total}")
    expect_text(page, "#bounds-note", "recorded as it ran here and played slowly.*The proof above comes from")
    visit.finish()


# -------------------------------------------------------- files, links, commands


def test_a_file_in_and_a_file_out(visit: Any, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("The qick fox\nsleeps.\n")
    (tmp_path / "long.txt").write_text("word " * 2000)
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe")
    page = visit(tab="correct")
    page.set_input_files("#raw-file", tmp_path / "note.txt")
    expect_text(page, "#corrected", "The quick")
    with page.expect_download() as saved:
        page.click("#correct-use >> text=Download text")
    assert Path(saved.value.path()).read_text("utf-8") == "The quick fox\nsleeps."
    page.set_input_files("#raw-file", tmp_path / "long.txt")
    expect_text(page, "#correct-error", "10,000 characters, expected at most 8,000")
    page.set_input_files("#raw-file", tmp_path / "bytes.txt")
    expect_text(page, "#correct-error", "bytes.txt is not UTF-8 text")
    assert page.input_value("#raw") == "The qick fox\nsleeps."


def test_a_link_brings_everything_back(visit: Any) -> None:
    page = visit()
    page.fill("#message", "the dog & the fox + 1 #2")
    page.select_option("#channel", "typo")
    page.fill("#noise", "9")
    page.uncheck("#beam")
    page.click("#reslip")
    settle(page, "decode")
    page.wait_for_timeout(500)
    link, typed = page.url, page.inner_text("#typed")
    other = visit(tab=link.partition("#")[2])
    expect_text(other, "#typed", re.escape(typed))
    assert other.input_value("#message") == "the dog & the fox + 1 #2"
    assert other.input_value("#noise") == "9"
    assert not other.is_checked("#beam")
    other.evaluate("location.hash = 'tag?sentence=the+old+tree'")
    expect_text(other, "#tags", "tree")
    assert other.is_visible("#tag")


ANSWERS = {  # of each tab: what to type, and what the command's output must hold
    "correct": ({"raw": "The qick fox\nsleeps, it's old."}, "The quick fox\nsleeps, it's old."),
    "decode": ({"message": "843 364"}, '"words": ["the", "dog"]'),
    "tag": ({"sentence": "the dog 's"}, '"tags": ["DET", "NOUN"'),
    "align": ({"source": "thou hast", "target": "you have"}, '"links": [[0, 0], [1, 1]]'),
    "induce": ({"induce-text": "the dog sleeps\na dog runs\nthe fox runs\na fox barks\n"}, "dog\tT"),
    "generate": ({"keywords": "dog"}, "dog"),
    "score": ({"score-text": "the dog barks ."}, '"perplexity": '),
}


PROGRAMS = ("correct", "decode", "induce")  # are run too; each takes a second


def test_commands_and_programs_run_as_they_are_shown(visit: Any, tmp_path: Path) -> None:
    page = visit()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for tab, (typed, expected) in ANSWERS.items():
        page.click(f"#tab-{tab}")
        for field, text in typed.items():
            page.fill(f"#{field}", text)
        page.wait_for_timeout(50)
        assert set(settle(page, tab)) <= {"", "empty"}
        command, program = (
            page.locator(f"#{tab}-use pre.{kind}").text_content() for kind in ("command", "python")
        )
        programs = [["sh", "-c", command]]
        if tab in PROGRAMS:
            programs.append([sys.executable, "-c", program])
        for args in programs:
            done = subprocess.run(
                args,
                cwd=tmp_path,
                env=os.environ | {"PATH": path},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, (args, done.stderr)
            if args[0] == "sh":
                assert expected in done.stdout, (args, done.stdout)


# --------------------------------------------------------- strange and hostile


LONG = " ".join(f"{'long' * 12}{n}" for n in range(48))[:1990]
STRANGE = {
    "emoji": "👩‍👩‍👧 the 🦊 sleeps 🇫🇷 .",
    "right-to-left": "שלום עולם the dog مرحبا بالعالم",
    "long words": LONG,
}


@pytest.mark.parametrize("tab", TABS)
def test_strange_text(visit: Any, tab: str) -> None:
    """Whatever is typed, at 375 pixels: an answer or an error, never a wide page, never an old answer."""
    page = visit(tab=tab, viewport={"width": 375, "height": 740})
    settle(page, tab)
    for text in STRANGE.values():
        for field in FIELDS[tab]:
            page.fill(f"#{field}", text)
        page.wait_for_timeout(20)
        states = set(settle(page, tab))
        assert states <= {"", "empty"} or (
            states <= {"failed", "empty"} and page.locator(f"#{tab} .error:visible").count() == 1
        )
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), text[:20]
    for field in FIELDS[tab]:
        page.fill(f"#{field}", "")
    if tab != "generate":  # it may write without keywords
        assert set(settle(page, tab)) == {"empty"}


def test_a_slow_network_shows_no_old_answer(visit: Any) -> None:
    page = visit(tab="tag")
    settle(page, "tag")

    def slowly(route: Any) -> None:
        if "xyzzy" in (route.request.post_data or ""):
            page.wait_for_timeout(700)
        route.continue_()

    page.route("**/api/tag", slowly)
    page.fill("#sentence", "the xyzzy .")
    state = page.locator("#tag .card:has(h2)")
    assert state.get_attribute("data-state") == "pending"
    page.fill("#sentence", "the dog .")
    expect_text(page, "#tags", "dog")
    page.wait_for_timeout(900)
    assert "xyzzy" not in page.inner_text("#tags")
    assert state.get_attribute("data-state") == ""


def test_words_that_the_aligner_does_not_know_are_marked(visit: Any) -> None:
    page = visit(tab="align")
    page.fill("#source", "he hath")
    page.fill("#target", "xyzzy frob")
    expect_text(page, "#align-unknown", "does not know xyzzy frob: .* All words of one side are new")
    assert page.locator("#matrix .unknown").all_inner_texts() == ["xyzzy", "frob"]
    page.fill("#target", "he has")
    expect_text(page, "#align-unknown", "^$")


def test_a_server_that_is_gone(browser: Any, url: str) -> None:
    page = browser.new_context().new_page()
    page.route("**/api/models", lambda route: route.abort())
    page.goto(url)
    playwright.expect(page.locator("#page-error")).to_be_visible()
    assert set(settle(page, "correct")) == {"failed"}
    page.unroute("**/api/models")
    page.reload()
    page.route("**/api/correct", lambda route: route.abort())
    page.fill("#raw", "The qick fox")
    expect_text(page, "#correct-error", "is hiddenite serve still running")
    assert set(settle(page, "correct")) == {"failed"}
    page.context.close()


def test_words_of_the_trade_are_explained(visit: Any) -> None:
    page = visit(tab="score")
    terms = page.locator("dfn")
    assert terms.count() > 10
    assert all(len(tip) > 20 for tip in terms.locator(".tip").all_text_contents())
    term = page.locator("#score dfn").first
    term.locator("button").focus()
    playwright.expect(term.locator(".tip")).to_be_visible()
    assert term.locator("button").get_attribute("aria-describedby") == term.locator(".tip").get_attribute(
        "id"
    )
    page.keyboard.press("Escape")
    playwright.expect(term.locator(".tip")).to_be_hidden()


def test_twice_as_large(visit: Any) -> None:
    """200 % zoom: half the pixels for the same window."""
    page = visit(tab="", viewport={"width": 600, "height": 400}, device_scale_factor=2)
    for tab in TABS:
        page.click(f"#tab-{tab}")
        settle(page, tab)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_in_the_way_of_anybody(visit: Any, scheme: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python", reason="pip install axe-playwright-python has axe-core"
    )
    page = visit(tab="", color_scheme=scheme, bypass_csp=True)
    page.add_script_tag(path=Path(axe.__file__).with_name("axe.min.js"))
    for tab in TABS:
        page.click(f"#tab-{tab}")
        settle(page, tab)
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert serious_findings(page) == []
    page.evaluate("document.querySelector('main').append(document.createElement('img'))")
    assert [name for _, name, _ in serious_findings(page)] == ["image-alt"]


def serious_findings(page: Any) -> list[list[str]]:
    """What axe-core finds on the page as it is: how bad, which rule, where."""
    found = page.evaluate("axe.run().then(r => r.violations.map(v => [v.impact, v.id, v.nodes[0].html]))")
    return [one for one in found if one[0] in {"serious", "critical"}]
