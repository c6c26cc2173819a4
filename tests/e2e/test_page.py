"""The playground in a real browser. Skipped where Playwright or Chromium is missing.

``HIDDENITE_SHOTS=DIRECTORY`` keeps a picture of every page that is tested, to be looked at.
"""

import os
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from hiddenite.web import create_app
from tests.e2e.test_serve import server, small_models
from tests.web_models import models

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = os.environ.get("HIDDENITE_CHROMIUM") or shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

MESSAGE = "the quick fox sleeps under the old tree ."
PHONE = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("models")
    with server(directory, *small_models(directory)) as (address, _):
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def url_with_generation() -> Iterator[str]:
    """A server in a thread of this process, with the stand-in of an HMM language model."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(create_app(models()), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        server.should_exit = True
        thread.join()


class Visit:
    """A page that must complain of nothing and fetch nothing from elsewhere."""

    def __init__(self, browser: Any, url: str, name: str, **options: Any) -> None:
        self.faults: list[str] = []
        self.page = browser.new_context(reduced_motion="reduce", **options).new_page()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._note)
        self.page.on("request", lambda r: None if r.url.startswith(url) else self.faults.append(r.url))
        self._name = name
        self.page.goto(url)

    def _note(self, message: Any) -> None:
        # A refused request is noted by the browser itself; what the page makes of it is tested.
        if message.type in {"error", "warning"} and "status of 4" not in message.text:
            self.faults.append(message.text)

    def finish(self) -> None:
        if directory := os.environ.get("HIDDENITE_SHOTS"):
            self.page.screenshot(path=Path(directory, f"{self._name}.png"), full_page=True)
        fits = self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        self.page.context.close()
        assert not self.faults
        assert fits, "the page is wider than the window"


@pytest.fixture
def visit(browser: Any, url: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    visits: list[Visit] = []

    def begin(**options: Any) -> Any:
        visits.append(Visit(browser, url, request.node.name, **options))
        return visits[-1].page

    yield begin
    for one in visits:
        one.finish()


def expect_text(page: Any, selector: str, pattern: str) -> None:
    playwright.expect(page.locator(selector)).to_have_text(re.compile(pattern), timeout=20_000)


def test_decode(visit: Any) -> None:
    page = visit()
    page.fill("#message", MESSAGE)
    expect_text(page, "#best", re.escape(MESSAGE))
    expect_text(page, "#certificate", "proved optimal")
    expect_text(page, "#bounds-note", "The bounds met")
    expect_text(page, "#samples-note", "^200 independent draws")
    assert page.locator("#marginals .slot").count() == len(MESSAGE.split())
    assert page.locator("#kbest tbody tr").count() == 5
    assert page.locator("#automaton .state.refined").count() > 0
    assert page.locator("#bounds polyline").count() == 2


def test_key_presses(visit: Any) -> None:
    page = visit()
    page.fill("#message", "843 364")
    expect_text(page, "#best", "the dog")
    expect_text(page, "#typed-note", "read as key presses")


def test_noise_and_other_slips(visit: Any) -> None:
    page = visit()
    page.fill("#message", MESSAGE)
    page.focus("#noise")
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    expect_text(page, "#noise-level", "10")
    expect_text(page, "#typed-note", r"\d+ wrong keys")
    typed = page.inner_text("#typed")
    page.click("#reslip")
    playwright.expect(page.locator("#typed")).not_to_have_text(typed)


def test_keyboard_typos(visit: Any) -> None:
    page = visit()
    page.select_option("#channel", "typo")
    page.fill("#noise", "0")
    page.fill("#message", "the quikc fox sleeps under the old tree .")
    expect_text(page, "#best", re.escape(MESSAGE))
    assert page.locator("#best .wrong").count() == 1


def test_beam_search_beside_it(visit: Any) -> None:
    page = visit()
    page.fill("#message", MESSAGE)
    page.check("#beam")
    page.select_option("#width", "30")
    expect_text(page, "#beam-note", "without a proof|search error")
    assert page.is_visible("#beam-card")
    page.uncheck("#beam")
    assert not page.is_visible("#beam-card")


def test_a_long_message(visit: Any) -> None:
    page = visit(viewport=PHONE)
    page.fill("#message", " ".join([MESSAGE] * 5))
    expect_text(page, "#certificate", "proved optimal")
    expect_text(page, "#samples-note", "^200 independent draws")
    assert page.locator("#marginals .slot").count() == 45


def test_an_error_and_recovery(visit: Any) -> None:
    page = visit()
    page.fill("#message", " ".join([MESSAGE] * 6))
    expect_text(page, "#decode-error", "54 words, expected at most 48")
    page.fill("#message", "the dog")
    expect_text(page, "#best", "the dog")
    assert not page.is_visible("#decode-error")


def test_markup_stays_text(visit: Any) -> None:
    page = visit()
    page.click("#tab-tag")
    page.fill("#sentence", "<img src=x onerror=alert(1)> & <b>bold</b>")
    expect_text(page, "#tags", "<b>bold</b>")
    assert page.locator("#tags img, #tags b").count() == 0


def test_tag(visit: Any) -> None:
    page = visit()
    page.click("#tab-tag")
    page.fill("#sentence", "she can open the can .")
    expect_text(page, "#tags", "she.*PRON.*can.*AUX.*open.*VERB.*can.*NOUN")
    expect_text(page, "#tag-certificate", "proved optimal")
    second = page.locator(".token").nth(1)
    second.hover()
    assert second.locator(".tip").is_visible()
    assert second.locator(".bar").count() >= 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_align(visit: Any, scheme: str) -> None:
    page = visit(color_scheme=scheme)
    page.click("#tab-align")
    page.fill("#source", "thou hast a lamp")
    page.fill("#target", "you have a lamp")
    expect_text(page, "#searches", "exact.*viterbi.*paper")
    assert page.locator("#matrix tbody td").count() == 16
    assert page.locator("#matrix .mark.exact").count() >= 4
    page.locator("#matrix tbody td").first.hover()
    expect_text(page, "#cell", "thou – you: ")
    page.focus("#matrix td[tabindex='0']")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect_text(page, "#cell", "hast – a: ")


def test_align_without_sentences(visit: Any) -> None:
    page = visit()
    page.click("#tab-align")
    expect_text(page, "#matrix", "Type two sentences")


def test_generate_without_a_model(visit: Any) -> None:
    page = visit()
    page.click("#tab-generate")
    expect_text(page, "#generate-missing", "hiddenite serve --hmm MODEL")
    assert page.is_disabled("#keywords")
    assert page.is_disabled("#generate-go")


def test_generate(browser: Any, url_with_generation: str) -> None:
    visit = Visit(browser, url_with_generation, "test_generate")
    page = visit.page
    page.click("#tab-generate")
    page.fill("#keywords", "dog, tree")
    page.keyboard.press("Enter")
    expect_text(page, "#generated", "here dog tree")
    expect_text(page, "#constraint", "share of 0.250")
    assert page.locator("#generated tbody tr").count() == 5
    page.fill("#keywords", "unheard-of")
    page.click("#generate-go")
    expect_text(page, "#generate-error", "unknown word 'unheard-of'")
    visit.finish()


def test_keyboard_alone(visit: Any) -> None:
    page = visit()
    expect_text(page, "#certificate", "proved optimal")

    def focused() -> str:
        found: str = page.evaluate("document.activeElement.id || document.activeElement.className")
        return found

    order = []
    for _ in range(9):
        page.keyboard.press("Tab")
        order.append(focused())
    controls = ["message", "channel", "noise", "reslip", "beam"]  # no examples without the built-in texts
    assert order == ["theme", "tab-decode", *controls, "automaton", "marginals"]
    page.focus("#tab-decode")
    page.keyboard.press("ArrowRight")
    assert focused() == "tab-tag"
    assert page.is_visible("#tag")
    for _ in range(2):
        page.keyboard.press("Tab")
    assert focused() == "token"
    assert page.locator(".token .tip").first.is_visible()
    page.focus("#tab-tag")
    page.keyboard.press("End")
    assert focused() == "tab-generate"
    page.keyboard.press("ArrowRight")
    assert focused() == "tab-decode"


@pytest.mark.parametrize("tab", ["decode", "tag", "align", "generate"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone(visit: Any, tab: str, scheme: str) -> None:
    page = visit(viewport=PHONE, has_touch=True, color_scheme=scheme)
    page.tap(f"#tab-{tab}")
    assert page.is_visible(f"#{tab}")
    page.wait_for_load_state("networkidle")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(19, 23, 21)") == (scheme == "dark")


def test_the_theme_is_remembered(visit: Any) -> None:
    page = visit()
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 23, 21)"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
