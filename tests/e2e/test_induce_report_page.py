"""The page of induce report in a real browser. Skipped where Playwright or Chromium is missing."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hiddenite.cli.induce_report_page import page as make_page
from hiddenite.induction.naming import ClassNames
from hiddenite.induction.report import ClassReport, ClassWord, InductionReport, Occurrence

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = os.environ.get("HIDDENITE_CHROMIUM") or shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

HOSTILE = ("constructor", "__proto__", "</script><script>alert(1)</script>", "ש\u202eלום")


def class_of(
    tag: str, words: tuple[str, ...], similar: tuple[str, ...], rare: tuple[str, ...] = ()
) -> ClassReport:
    typical, others = (
        tuple(ClassWord(word, 3, 0.8, similar[0], 0.2) for word in part) for part in (words, rare)
    )
    context = (Occurrence(1, ("the",), words[0], ("barks",)),)
    alike = tuple((t, 0.9) for t in similar)
    return ClassReport(tag, 3 * len(words), len(words), 0.8, typical, typical[:1], context, alike, others)


CLASSES = (
    class_of("T2", ("dog", "cat", *HOSTILE), ("T0", "T1")),
    class_of("T0", ("man", "child"), ("T2", "T1")),
    class_of("T1", ("barks", "can"), ("T0", "T2"), ("ponders", "wonders")),
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def view(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """The page; it must neither complain nor ask for anything."""
    path = tmp_path / "classes.html"
    path.write_text(make_page(InductionReport(CLASSES, 30, 10, 5, 0.8, "this"), "run"), encoding="utf-8")
    page = browser.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda dialog: faults.append("dialog"))
    page.goto(path.as_uri())
    yield page
    assert faults == []
    page.close()


def name_class(page: Any, tag: str, name: str) -> None:
    box = page.get_by_label(f"Name of class {tag}")
    box.fill(name)
    box.press("Enter")
    page.evaluate("new Promise(done => setTimeout(done))")  # names are taken once the focus has moved


def saved(page: Any, folder: Path) -> ClassNames:
    with page.expect_download() as download:
        page.get_by_role("button", name="Save mapping").click()
    download.value.save_as(folder / "names.json")
    return ClassNames.load(folder / "names.json")


def test_classes_that_were_merged_are_renamed_together(view: Any, tmp_path: Path) -> None:
    view.locator("#T0").get_by_role("button", name="merge into T2").click()
    playwright.expect(view.locator("#T0 header")).to_contain_text("one class with T2")
    assert view.locator("#T0 .dubious").count() == 0  # of T0 or T2 is no doubt any more
    assert view.locator("#T1 .dubious").count() == 1
    name_class(view, "T2", "NOUN")
    playwright.expect(view.get_by_label("Name of class T0")).to_have_value("NOUN")
    assert saved(view, tmp_path).label(["dog", "man", "can"], ["T2", "T0", "T1"]) == ["NOUN", "NOUN", "T1"]
    view.get_by_role("button", name="Undo").click()
    playwright.expect(view.get_by_label("Name of class T0")).to_have_value("T2")
    playwright.expect(view.locator("#tally")).to_contain_text("not saved")
    view.locator("#T2").get_by_role("button", name="Separate").click()
    assert saved(view, tmp_path).label(["dog", "man"], ["T2", "T0"]) == ["T2", "T0"]


def test_words_of_any_spelling_can_be_split_off(view: Any, tmp_path: Path) -> None:
    article = view.locator("#T2")
    assert article.locator("button.moved").count() == 0
    article.get_by_label("Class for the words that are picked in T2").fill("odd ones")
    for word in HOSTILE:
        article.locator(".words").first.locator("button", has_text=word).first.click()
    article.get_by_role("button", name="Move 4 picked words").click()  # what was typed is still there
    playwright.expect(article.locator("button.moved")).to_have_count(4)
    words = ["dog", *HOSTILE]
    assert saved(view, tmp_path).label(words, ["T2"] * 5) == ["T2", *["odd_ones"] * 4]
    name_class(view, "T1", "odd_ones")
    name_class(view, "T1", "REST")  # the words follow the class whose name they got
    assert saved(view, tmp_path).label(words, ["T2"] * 5) == ["T2", *["REST"] * 4]


def test_the_keyboard_keeps_its_place_and_no_click_is_lost(view: Any) -> None:
    chip = view.locator("#T2 .words").first.locator("button").nth(1)
    chip.focus()
    view.keyboard.press("Enter")
    playwright.expect(chip).to_have_attribute("aria-pressed", "true")
    playwright.expect(chip).to_be_focused()
    box = view.get_by_label("Name of class T2")
    box.fill("NOUN")
    box.press("Tab")
    playwright.expect(view.locator("#T2 header h2")).to_have_text("T2")
    playwright.expect(chip.locator("xpath=../button[1]")).to_be_focused()
    view.get_by_label("Name of class T0").fill("PERSON")
    view.locator("#T1").get_by_role("button", name="merge into NOUN").click()  # leaves the field: both count
    playwright.expect(view.get_by_label("Name of class T0")).to_have_value("PERSON")
    playwright.expect(view.get_by_label("Name of class T1")).to_have_value("NOUN")


def test_a_mapping_is_opened_again(view: Any, tmp_path: Path) -> None:
    record = {
        "format": "hiddenite class names",
        "version": 1,
        "names": {"T0": "NOUN"},
        "words": {"T2": {"cat": "PET"}},
    }
    (tmp_path / "old.json").write_text(json.dumps(record), encoding="utf-8")
    view.locator("#load").set_input_files(tmp_path / "old.json")
    playwright.expect(view.get_by_label("Name of class T0")).to_have_value("NOUN")
    view.fill("#search", "CAT")
    assert view.locator("article").count() == 1
    assert saved(view, tmp_path).name_of("cat", "T2") == "PET"


def open_mapping(page: Any, folder: Path, answer: bool, **parts: Any) -> Any:
    """Open a mapping; return what the page asks, None if it asks nothing."""
    page.evaluate(
        "given => { window.asked = null; window.confirm = text => { asked = text; return given; }; }", answer
    )
    record = {"format": "hiddenite class names", "version": 1, **parts}
    (folder / "old.json").write_text(json.dumps(record), encoding="utf-8")
    page.locator("#load").set_input_files(folder / "old.json")
    playwright.expect(page.locator("#load")).to_have_value("")  # wait_for_function would break its policy
    return page.evaluate("window.asked")


def test_a_mapping_of_another_run_is_opened_if_the_reader_says_so(view: Any, tmp_path: Path) -> None:
    typical = {"T0": "dog cat none", "T1": "barks child", "T2": "constructor __proto__ man"}
    other = {"names": {"T0": "NOUN"}, "run": "other", "typical": typical}
    question = (
        "old.json was saved for another run: "
        "of its 7 typical words in this text, 3 have the same class here. Open it all the same?"
    )
    name = view.get_by_label("Name of class T0")
    assert open_mapping(view, tmp_path, False, **other) == question
    playwright.expect(name).to_have_value("T0")
    playwright.expect(view.locator("#tally")).to_have_text("3 of 3 classes, 3 names")
    assert open_mapping(view, tmp_path, True, **other) == question
    playwright.expect(name).to_have_value("NOUN")
    unlisted = {"names": {"T0": "PERSON"}, "run": "other"}
    assert open_mapping(view, tmp_path, True, **unlisted) == (
        "old.json was saved for another run. Open it all the same?"
    )
    playwright.expect(name).to_have_value("PERSON")


def test_a_mapping_that_names_other_classes_is_opened_if_the_reader_says_so(
    view: Any, tmp_path: Path
) -> None:
    strange = {"names": {"T0": "NOUN", "T9": "VERB"}, "words": {"T3": {"man": "X"}}}
    question = "old.json names T9, T3, which this run does not have. Open it all the same?"
    assert open_mapping(view, tmp_path, False, **strange) == question
    playwright.expect(view.get_by_label("Name of class T0")).to_have_value("T0")


def test_a_mapping_of_this_run_or_written_by_hand_is_opened_at_once(view: Any, tmp_path: Path) -> None:
    name_class(view, "T0", "NOUN")
    saved(view, tmp_path)
    kept = json.loads((tmp_path / "names.json").read_text(encoding="utf-8"))
    assert kept["run"] == "this"
    assert kept["typical"]["T1"] == "barks can ponders wonders"
    view.get_by_role("button", name="Undo").click()
    assert open_mapping(view, tmp_path, False, **kept) is None
    playwright.expect(view.get_by_label("Name of class T0")).to_have_value("NOUN")
    assert open_mapping(view, tmp_path, False, names={"T0": "PERSON"}) is None
    playwright.expect(view.get_by_label("Name of class T0")).to_have_value("PERSON")


@pytest.mark.parametrize(
    "content",
    [
        "null",
        "names",
        '{"format": "hiddenite class names", "version": 2}',
        '{"format": "hiddenite class names", "version": 1, "names": {"T0": 5}}',
        '{"format": "hiddenite class names", "version": 1, "names": 5}',
        '{"format": "hiddenite class names", "version": 1, "words": 5}',
        '{"format": "hiddenite class names", "version": 1, "typical": {"T0": 5}}',
        '{"format": "hiddenite class names", "version": 1, "words": {"T0": {"man": "a b"}}}',
    ],
)
def test_a_file_that_is_no_mapping_changes_nothing(view: Any, tmp_path: Path, content: str) -> None:
    view.evaluate("window.said = new Promise(said => { window.alert = said; }); null")
    (tmp_path / "other.json").write_text(content, encoding="utf-8")
    view.locator("#load").set_input_files(tmp_path / "other.json")
    assert view.evaluate("window.said").startswith("other.json is not a mapping. Choose a names.json")
    playwright.expect(view.locator("#tally")).to_have_text("3 of 3 classes, 3 names")


def test_words_that_are_not_listed_can_be_searched_and_moved(view: Any, tmp_path: Path) -> None:
    article = view.locator("#T1")
    playwright.expect(article.locator("h3").first).to_contain_text("Typical words (2 of ")
    assert article.locator(".words").first.locator("button").count() == 2
    view.fill("#search", "ponder")
    playwright.expect(view.locator("article")).to_have_count(1)
    article.locator("button", has_text="ponders").click()
    view.fill("#search", "")
    article.get_by_label("Class for the words that are picked in T1").fill("THINK")
    article.get_by_role("button", name="Move 1 picked word").click()
    playwright.expect(article.locator("button.moved")).to_contain_text("ponders")
    assert saved(view, tmp_path).label(["ponders", "wonders"], ["T1", "T1"]) == ["THINK", "T1"]


def left_edges(page: Any, selector: str) -> list[float]:
    script = "found => [...found.children].map(part => part.getBoundingClientRect().left)"
    edges: list[float] = page.locator(selector).first.evaluate(script)
    return edges


def test_what_comes_before_is_on_the_side_that_reading_begins_at(browser: Any, tmp_path: Path) -> None:
    """Of text that is written from right to left that is the right side."""
    for before, rising in (("the", True), ("שלום", False)):
        one = class_of("T0", ("x",), ("T0",))
        lines = (Occurrence(1, (before,), "x", ("y",)),)
        shown = ClassReport("T0", 1, 1, 0.9996, one.typical, (), lines, ())
        path = tmp_path / "classes.html"
        path.write_text(make_page(InductionReport((shown,), 3, 3, 1, 0.9, "this"), "run"), encoding="utf-8")
        page = browser.new_page()
        page.goto(path.as_uri())
        edges = left_edges(page, ".line")
        assert len(edges) == 3
        assert edges == sorted(edges, reverse=not rising)
        page.close()


def test_nothing_is_wider_than_a_small_screen(browser: Any, tmp_path: Path) -> None:
    long = "x" * 300
    one = class_of("T0", (long, "y"), ("T0",))
    lines = (Occurrence(1, (long, "a"), long, (long,)),)
    shown = ClassReport("T0", 6, 2, 0.996, one.typical, one.typical, lines, (("T0", 0.5),))
    path = tmp_path / "classes.html"
    path.write_text(make_page(InductionReport((shown,), 6, 2, 1, 0.9, "this"), "run"), encoding="utf-8")
    page = browser.new_page(viewport={"width": 375, "height": 700})
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    playwright.expect(page.locator("header", has_text="confidence").last).to_contain_text("confidence 99.6 %")
    page.close()


def test_the_page_has_no_fault_that_axe_finds(view: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    assert [fault["id"] for fault in axe.Axe().run(view).response["violations"]] == []
