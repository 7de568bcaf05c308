"""Pages of a browser, each with a note of everything that went wrong in it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.page.browser import FLAGS, KEY, PATIENCE_MS, require_browser, run_server

# How a page is looked at, unless a test asks for something else; who looks has the key.
USUAL: dict[str, Any] = {
    "viewport": {"width": 1280, "height": 900},
    "color_scheme": "light",
    "extra_http_headers": {"X-API-Key": KEY},
}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Run the browser, no longer than a module, as its loop of events would be in the way of other tests."""
    path = require_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a server that has a key for all tests of the page, and return its URL."""
    with run_server(tmp_path_factory.mktemp("server"), TIGER_API_KEYS=KEY) as address:
        yield address


@pytest.fixture
def faults() -> list[str]:
    """Return what a page complained of so far; a test that expects a complaint takes it out."""
    return []


@pytest.fixture(scope="module")
def window(chromium: Any) -> Any:
    """Open a window whose tabs load the files of the page once; its first tab stays, as a new window takes seconds."""
    context = chromium.new_context(**USUAL)
    context.new_page()
    return context


@pytest.fixture
def page(request: pytest.FixtureRequest, chromium: Any, window: Any, faults: list[str]) -> Iterator[Any]:
    """Open a page, looked at as a test asks for; at its end its console has nothing that the test did not expect."""
    look = getattr(request, "param", None)
    context = chromium.new_context(**USUAL | look) if look else window
    before = len(context.pages)
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    opened.on("console", lambda message: message.type in ("error", "warning") and faults.append(message.text))
    opened.on("pageerror", lambda error: faults.append(str(error)))
    yield opened
    for tab in context.pages[before:]:
        tab.close()
    if look:
        context.close()
    assert faults == []
