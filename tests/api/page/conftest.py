"""Pages of a browser, each with a note of everything that went wrong in it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.page.browser import FLAGS, PATIENCE_MS, require_browser, run_server


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
    """Run a server without keys for all tests of the page, and return its URL."""
    with run_server(tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.fixture
def look(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return how a page is looked at: a wide light one, unless a test asks for something else."""
    return {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light", **getattr(request, "param", {})}


@pytest.fixture
def faults() -> list[str]:
    """Return what a page complained of so far; a test that expects a complaint takes it out."""
    return []


@pytest.fixture
def page(chromium: Any, look: dict[str, Any], faults: list[str], tmp_path: Path) -> Iterator[Any]:
    """Open a page; at the end nothing may be in its console that the test has not expected."""
    context = chromium.new_context(**look)
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    opened.on("console", lambda message: message.type in ("error", "warning") and faults.append(message.text))
    opened.on("pageerror", lambda error: faults.append(str(error)))
    yield opened
    context.close()
    assert faults == []
