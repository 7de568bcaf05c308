"""The page of the service in a browser: when it is there, and when pictures of large results can be looked at.

    python -m benchmarks browser

It needs Debian's Chromium and playwright. Every figure is the median of several visits by browsers that have nothing of
the page yet.
"""

import gzip
import shutil
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks.servers import run_server
from tiger.api.routes.page import FOLDER, list_files

HEAD = ("what", "goal", "measured")
VISITS = 5
# More tasks and edges than the service takes by default.
SETTINGS = {"TIGER_MAX_TASKS": "20000", "TIGER_MAX_EDGES": "300000"}
# A square of 2,025 tasks has a group of a few in every dot; this one has a dot for every task.
GRAPH, GRAPH_NODES = "halo:40x50", "torus:40x50"
DENSE, DENSE_NODES = "alltoall:512", "torus:8x8x8"
LARGE, LARGE_NODES = "halo:100x200", "torus:27x28x27"
# Notes when each graph is painted and can be moved; the first two of a mapping are its tasks before and after.
WATCH = """addEventListener("DOMContentLoaded", () => {
    window.graphs_s = [];
    new MutationObserver((changes) => window.graphs_s.push(...changes.map(() => performance.now() / 1000)))
        .observe(document.body, { subtree: true, attributeFilter: ["data-ready"] });
})"""
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
# Draws the matrix of a view as the page does, and returns the seconds until the browser has painted it.
DRAW = """async ([view, folder]) => {
    const { matrices, matrixHeight } = await import(folder + "draw/matrix.js");
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [1100, matrixHeight(1100, view.orders.length)];
    document.body.prepend(canvas);
    const begun = performance.now();
    const frame = { width: canvas.width, height: canvas.height, colours: { ink: "#000", faint: "#555", dark: false } };
    matrices(view)(canvas.getContext("2d"), frame);
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return (performance.now() - begun) / 1000;
}"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime / 1000"


def table(say: Callable[[str], None], _: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield the figures of the page."""
    yield HEAD
    yield "all files, compressed, kB", "700", f"{weigh() / 1e3:.0f}"
    with run_server(1, None, SETTINGS) as server, browse() as browser:
        for name, goal, measure in MEASURES:
            say(name)
            visit = measure(server.url)
            yield name, goal, f"{statistics.median(visit(browser, server.url) for _ in range(VISITS)):.2f}"


def weigh() -> int:
    """Return the bytes of all files of the page as they are sent, but for those that people read."""
    names = [name for name in list_files() if Path(name).suffix in (".html", ".js", ".css", ".svg")]
    return sum(len(gzip.compress((FOLDER / name).read_bytes())) for name in names)


@contextmanager
def browse() -> Iterator[Any]:
    """Run a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        yield browser
        browser.close()


Visit = Callable[[Any, str], float]


def solve(url: str, tasks: str, topology: str) -> str:
    """Have a problem solved as a job, and return its id."""
    with httpx.Client(base_url=url, timeout=120) as client:
        request = {"tasks": tasks, "topology": topology, "seed": 1}
        job = client.post("/assign", json=request, headers={"Prefer": "respond-async"}).raise_for_status().json()
        while job["status"] in ("queued", "running"):
            job = client.get(f"/jobs/{job['id']}", params={"wait": 30}).raise_for_status().json()
    if job["status"] != "done":
        raise SystemExit(f"expected {tasks} to be solved, got {job['problem']}")
    return str(job["id"])


def visit_form(_: str) -> Visit:
    """Measure until something is painted."""

    def visit(browser: Any, url: str) -> float:
        page = browser.new_page()
        page.goto(url)
        page.get_by_role("heading", name="How").wait_for()
        painted = float(page.evaluate(PAINTED))
        page.close()
        return painted

    return visit


def visit_job(tasks: str, topology: str, graphs: int) -> "Callable[[str], Visit]":
    """Measure from the address of a job until so many of its graphs can be moved."""

    def prepare_job(url: str) -> Visit:
        job = solve(url, tasks, topology)

        def visit(browser: Any, url: str) -> float:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.add_init_script(WATCH)
            page.goto(f"{url}/#/jobs/{job}")
            page.locator(".graph[data-ready]").nth(graphs - 1).wait_for()
            took = float(page.evaluate("window.graphs_s")[graphs - 1])
            page.close()
            return took

        return visit

    return prepare_job


def visit_matrix(url: str) -> Visit:
    """Measure how long the matrices of 512 tasks that all talk take to draw."""
    job = solve(url, DENSE, DENSE_NODES)
    view = httpx.get(f"{url}/jobs/{job}/view", timeout=60).json()

    def visit(browser: Any, url: str) -> float:
        page = browser.new_page()
        page.goto(url)
        took = float(page.evaluate(DRAW, [view, f"{url}/page/"]))
        page.close()
        return took

    return visit


MEASURES = (
    ("first paint of the form, s", "1.0", visit_form),
    ("job of 2,000 tasks, to the first graph that can be moved, s", "1.5", visit_job(GRAPH, GRAPH_NODES, 1)),
    ("the same, to the graphs before and after, s", "-", visit_job(GRAPH, GRAPH_NODES, 2)),
    ("two matrices of 512 x 512, all cells in use, s", "0.5", visit_matrix),
    ("job of 20,000 tasks, to its aggregates, s", "3.0", visit_job(LARGE, LARGE_NODES, 2)),
)
