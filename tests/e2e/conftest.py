"""What the tests of a file about the playground's page share: one server, one browser (its loop must end)."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with small models."""
    from tests.e2e.test_serve import server, small_models  # noqa: PLC0415  (only where it is used)

    directory = tmp_path_factory.mktemp("models")
    with server(directory, *small_models(directory)) as (address, _):
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without a window."""
    from tests.page_visits import open_browser  # noqa: PLC0415  (Playwright may be missing)

    with open_browser() as browser:
        yield browser


@pytest.fixture
def visit(browser: Any, url: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Opens pages; each must complain of nothing and fit its window in the end."""
    from tests.page_visits import Visit  # noqa: PLC0415

    visits: list[Visit] = []

    def begin(**options: Any) -> Any:
        visits.append(Visit(browser, url, request.node.name, **options))
        return visits[-1].page

    yield begin
    for one in visits:
        one.finish()
