"""A real browser and a real server for the tests of the page."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

# Debian's browser; sandboxes, processes by the dozen and the network's extras are of no use to a test.
CHROMIUM = "chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--renderer-process-limit=1",
    "--in-process-gpu",
    "--disable-gpu-compositing",
    "--disable-software-rasterizer",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Of the server that tests share.
KEY = "a-key-for-the-page-alone"
# Milliseconds that a busy machine may take for what a user waits for.
PATIENCE_MS = 20_000
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def require_browser() -> str:
    """Return the path of the browser; skip without one, or fail where TIGER_TEST_BROWSER says that it is required."""
    path = shutil.which(CHROMIUM)
    lacking = None if path else "needs Debian's package chromium"
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        lacking = "needs playwright"
    if lacking:
        go_without(lacking)
    return str(path)


def go_without(lacking: str) -> NoReturn:
    """Skip the test of the page that lacks something, or fail where TIGER_TEST_BROWSER says that it is required."""
    if os.environ.get("TIGER_TEST_BROWSER") == "required":
        pytest.fail(lacking)
    pytest.skip(lacking)


@contextmanager
def run_server(folder: Path, **settings: str) -> Iterator[str]:
    """Run a server with its data in a folder, and yield its URL."""
    command = [sys.executable, "-m", "tiger", "serve", "--port", "0"]
    usual = {"TIGER_DATA_DIR": str(folder / "data"), "TIGER_WORKERS": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ | usual | settings
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip().rpartition(" ")[2]
        finally:
            process.terminate()
            process.wait(30)


def drop(page: Any, place: str, name: str, text: str) -> None:
    """Drop a file with some text on a place of a page."""
    script = """([name, text]) => {
        const carried = new DataTransfer();
        carried.items.add(new File([text], name));
        return carried;
    }"""
    page.dispatch_event(place, "drop", {"dataTransfer": page.evaluate_handle(script, [name, text])})


def drop_example(page: Any, place: str, name: str) -> None:
    """Drop a file of the examples."""
    path = EXAMPLES / name
    drop(page, place, path.name, path.read_text(encoding="utf-8"))


def run_job(page: Any) -> None:
    """Press Run, and wait until the job is done and shown."""
    page.get_by_role("button", name="Run").click()
    page.wait_for_url("**/#/jobs/*")
    page.locator(".status.done").wait_for()
    page.locator(".headline").wait_for()


def begin_anew(page: Any, use: str = "Tasks") -> None:
    """Go back to the form, which keeps what was stated of each use."""
    page.get_by_role("link", name="New", exact=True).click()
    page.get_by_role("button", name=use, exact=True).click()
