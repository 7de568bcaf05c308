"""How the page looks: dark, narrow, for keyboards and screen readers, in other locales, and without shifts."""

import re
from typing import Any

import pytest

from tests.api.page.browser import drop_example, run_job

pytestmark = pytest.mark.slow
DARK, NARROW, GERMAN = {"color_scheme": "dark"}, {"viewport": {"width": 375, "height": 800}}, {"locale": "de-DE"}
# The policy of the page lets no test add a script, such as axe.
LOOKS = [look | {"bypass_csp": True} for look in ({}, DARK, NARROW)]
# What moves by itself counts, what moves as somebody types or presses a button does not.
SHIFTS = """new PerformanceObserver((list) => {
    const alone = list.getEntries().filter((entry) => !entry.hadRecentInput);
    for (const entry of alone) window.shifted = (window.shifted ?? 0) + entry.value;
}).observe({ type: "layout-shift", buffered: true })"""
# As web vitals call a page stable, of which this is half.
STABLE = 0.05


def map_example(page: Any, url: str) -> None:
    """Map an example, and wait for its pictures."""
    page.goto(url)
    drop_example(page, "form.new", "stencil8x8.json")
    page.get_by_label("Specification").fill("torus:4x4x4")
    page.get_by_text("64 nodes, 192 links.").wait_for()
    run_job(page)
    page.locator(".graph[data-ready]").nth(3).wait_for()


def check_accessibility(page: Any) -> None:
    """Raise AssertionError where axe finds anything serious or critical."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    grave = [
        (each["id"], [node["html"][:200] for node in each["nodes"]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
    assert grave == []


@pytest.mark.parametrize("look", LOOKS, indirect=True)
def test_everybody_can_read_and_use_it(page: Any, url: str) -> None:
    """Axe has no serious finding on the form, on a job and on the list, in any look."""
    page.goto(url)
    page.get_by_role("heading", name="How").wait_for()
    check_accessibility(page)
    map_example(page, url)
    check_accessibility(page)
    page.goto(f"{url}/#/jobs")
    page.get_by_role("checkbox").first.wait_for()
    check_accessibility(page)


@pytest.mark.parametrize("look", [NARROW], indirect=True)
def test_nothing_is_wider_than_a_telephone(page: Any, url: str) -> None:
    """At 375 pixels nobody has to scroll sideways, but inside tables."""
    map_example(page, url)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.goto(f"{url}/#/")
    page.get_by_role("heading", name="How").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_dark_is_kept(page: Any, url: str) -> None:
    """The choice outlives the page, and pictures follow it."""
    page.goto(url)
    page.get_by_role("button", name="Change between light and dark").click()
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 22, 28)"


def test_all_of_it_works_by_keyboard(page: Any, url: str) -> None:
    """From the link that skips the head to the run, without a pointer."""
    page.goto(url)
    page.get_by_label("or paste it").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Skip to the content"
    page.get_by_label("or paste it").focus()
    page.keyboard.type("ring:6")
    page.keyboard.press("Tab")
    page.get_by_label("Specification").focus()
    page.keyboard.type("ring:6")
    page.locator("section[aria-label='The hardware'] .graph[data-ready]").wait_for()
    page.keyboard.press("Enter")
    page.locator(".status.done").wait_for()
    graph = page.locator(".graph[data-ready]").first
    graph.focus()
    before = graph.screenshot()
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(300)
    assert graph.screenshot() != before


@pytest.mark.parametrize("look", [GERMAN], indirect=True)
def test_numbers_are_alike_in_every_locale(page: Any, url: str) -> None:
    """Points are decimal, wherever the browser is from."""
    map_example(page, url)
    page.get_by_text("44 % less than the block order").wait_for()
    assert re.fullmatch(r"\d+\.\d+", page.locator(".figures > div", has_text="Random order").locator("dd").inner_text())


def test_nothing_moves_by_itself(page: Any, url: str) -> None:
    """Places of pictures are kept for them."""
    page.add_init_script(SHIFTS)
    map_example(page, url)
    page.reload()
    page.locator(".graph[data-ready]").nth(3).wait_for()
    page.wait_for_timeout(500)
    assert page.evaluate("window.shifted ?? 0") <= STABLE
