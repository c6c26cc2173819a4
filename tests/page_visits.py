"""Visits to the playground in a real browser, for the tests of its page.

``HIDDENITE_SHOTS=DIRECTORY`` keeps a picture of every page that is tested, to be looked at.
``HIDDENITE_LATENCY=700`` delays every answer of the server by so many milliseconds: a test that passes with
and without it does not depend on how fast the machine is.
"""

import os
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from hiddenite.web import Models, create_app

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = os.environ.get("HIDDENITE_CHROMIUM") or shutil.which("chromium")
PHONE = {"width": 360, "height": 740}


@contextmanager
def in_process(served: Models) -> Iterator[str]:
    """A server in a thread of this process."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(create_app(served), log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        server.should_exit = True
        thread.join()


class Visit:
    """A page that must complain of nothing and fetch nothing from elsewhere."""

    def __init__(self, browser: Any, url: str, name: str, tab: str = "decode", **options: Any) -> None:
        self.faults: list[str] = []
        self.page = browser.new_context(**{"reduced_motion": "reduce"} | options).new_page()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._note)
        self.page.on("request", lambda r: None if r.url.startswith(url) else self.faults.append(r.url))
        self._name = name
        if latency := os.environ.get("HIDDENITE_LATENCY"):
            network = self.page.context.new_cdp_session(self.page)
            speed = {"latency": float(latency), "downloadThroughput": -1, "uploadThroughput": -1}
            network.send("Network.emulateNetworkConditions", {"offline": False, **speed})
        self.page.goto(f"{url}#{tab}" if tab else url)

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


@contextmanager
def open_browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def expect_text(page: Any, selector: str, pattern: str) -> None:
    playwright.expect(page.locator(selector)).to_have_text(re.compile(pattern), timeout=20_000)


def settle(page: Any, tab: str) -> list[str]:
    """Wait until no card of a tab is on its way; return their states."""
    cards = f"[...document.querySelectorAll('#{tab} .card:has(h2)')]"
    states: list[str] = []
    for _ in range(200):
        states = page.evaluate(f"{cards}.filter(c => c.checkVisibility()).map(c => c.dataset.state)")
        if "pending" not in states:
            return states
        page.wait_for_timeout(100)
    raise AssertionError(f"{tab} is still working: {states}")
