"""The page of align report in a real browser. Skipped where Playwright or Chromium is missing."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hiddenite.align.report import make_report
from hiddenite.align.report_page import page as make_page

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = os.environ.get("HIDDENITE_CHROMIUM") or shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img/src=x/onerror=alert(2)>",
    "&lt;b&gt;",
    "ש\u202eלום",
    "'\"`${1}",
]
PAIRS = [(["the", "dog"], ["le", "chien"]), (HOSTILE, HOSTILE), *[([f"w{n}"], [f"v{n}"]) for n in range(30)]]
LINKS = [np.array([[0.9, 0.4], [0.1, 0.8]]), np.full((5, 5), 0.45), *[np.array([[0.97]])] * 30]


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, list[str]]]:
    """The page, and what it complains of or asks for."""
    report = make_report(
        PAIRS,
        [p.astype(np.float32) for p in LINKS],
        threshold=0.5,
        most_pairs=100,
        most_links=100,
        most_words=100,
    )
    path = tmp_path_factory.mktemp("report") / "links.html"
    path.write_text(make_page(report, "<a>.txt", "b&.txt"), encoding="utf-8")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        faults: list[str] = []
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: faults.append("dialog"))
        page.on(
            "request", lambda request: faults.append(request.url) if request.url != path.as_uri() else None
        )
        page.goto(path.as_uri())
        yield page, faults
        browser.close()


def test_the_page_shows_what_it_should(visit: tuple[Any, list[str]]) -> None:
    page, faults = visit
    assert page.title() == "Links of <a>.txt and b&.txt"
    assert page.locator("article").count() == 10  # of 32
    first = page.locator("article").first
    assert first.locator("h2").inner_text() == "Line 2"  # the most dubious
    assert first.locator("tbody th").all_text_contents() == HOSTILE
    page.get_by_text("Show more").click()
    assert page.locator("article").count() == 20
    page.fill("#search", "CHIEN")
    assert page.locator("article h2").all_text_contents() == ["Line 1"]
    assert page.locator("td.link").count() == 2
    page.locator("td.link").first.hover()
    assert page.locator("#tip").inner_text() == "the – le: 90.0 %"
    page.get_by_role("button", name="Dubious links").click()
    assert page.locator(".list tbody tr").first.locator("td").nth(2).inner_text() == "40.0 %"
    page.get_by_role("button", name="line 1").first.click()
    assert page.locator("article h2").all_text_contents() == ["Line 1"]
    page.fill("#search", "")
    page.get_by_role("button", name="Lexicon").click()
    assert page.locator(".list tbody tr").count() == 37
    assert faults == []


def test_a_phone_can_show_it(visit: tuple[Any, list[str]]) -> None:
    page, faults = visit
    page.set_viewport_size({"width": 360, "height": 740})
    page.fill("#search", "")
    page.get_by_role("button", name="Sentence pairs").click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert faults == []
