"""Take the pictures of the page again: `python docs/scripts/screenshots.py [FOLDER]`, by default docs/images.

It needs Debian's Chromium and playwright, starts a service of its own, and writes page*.png.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
# Pixels: as wide as the page gets, and two rows of pictures high.
WIDTH, HEIGHT = 1240, 1180
# Milliseconds in which kernels that are not compiled yet are.
PATIENCE_MS = 120_000
# What is done in a fresh tab before its picture is taken.
Visit = Callable[[Page], None]


def main() -> int:
    """Take all pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    with serve() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, visit in VISITS.items():
            take(browser, url, visit, folder / name)
        browser.close()
    return 0


@contextmanager
def serve() -> Iterator[str]:
    """Run a service with data of its own, and yield its address."""
    command = [sys.executable, "-m", "tiger", "serve", "--port", "0"]
    with tempfile.TemporaryDirectory() as data:
        settings = os.environ | {"TIGER_DATA_DIR": data, "TIGER_WORKERS": "1"}
        with subprocess.Popen(
            command, cwd=ROOT, env=settings, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().strip().rpartition(" ")[2]
            finally:
                process.terminate()


def take(browser: Browser, url: str, visit: Visit, path: Path) -> None:
    """Visit the page, and keep what the window shows."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
    page.set_default_timeout(PATIENCE_MS)
    page.goto(url)
    visit(page)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=path, animations="disabled", caret="hide")
    page.close()


def fill_form(page: Page) -> None:
    """State a task graph and hardware by files, and let both be drawn."""
    choose(page, "stencil8x8.json", 0)
    choose(page, "topology.conf", 1)
    page.locator(".graph[data-ready]").nth(1).wait_for()


def map_tasks(page: Page) -> None:
    """Map a stencil onto a tree, and look at where its tasks go and what links carry."""
    choose(page, "stencil8x8.json", 0)
    page.get_by_label("Specification").fill("tree:4x4x4@1,10,100")
    run(page)
    page.locator(".graph[data-ready]").nth(3).wait_for()
    show(page, "Where tasks go")


def place_network(page: Page) -> None:
    """Place a transformer on eight GPUs, and look at the schedule."""
    page.get_by_role("button", name="Network", exact=True).click()
    choose(page, "models/gpt2-medium.json", 0)
    page.get_by_label("Specification").fill("dgx:1")
    page.locator(".graph[data-ready]").first.wait_for()  # the cluster, so that the form has taken it
    page.get_by_label("schedule", exact=True).select_option("1f1b")
    page.get_by_label("microbatches", exact=True).fill("8")
    run(page)
    page.locator("canvas").nth(1).wait_for()
    show(page, "An iteration")


def choose(page: Page, name: str, at: int) -> None:
    """Choose a file of the examples for the source (0) or the hardware (1)."""
    page.locator("input[type=file]").nth(at).set_input_files(EXAMPLES / name)


def run(page: Page) -> None:
    """Press Run, and wait until the job is done."""
    page.get_by_role("button", name="Run").click()
    page.locator(".status.done").wait_for()
    page.locator("section[aria-label=Pictures]").wait_for()


def show(page: Page, heading: str) -> None:
    """Bring a heading to the top of the window."""
    page.get_by_role("heading", name=heading).evaluate("heading => heading.scrollIntoView()")


VISITS: dict[str, Visit] = {"page.png": map_tasks, "page-form.png": fill_form, "page-schedule.png": place_network}

if __name__ == "__main__":
    sys.exit(main())
