"""Jobs on the page: their list, their addresses, their progress and end, and two side by side."""

import re
from typing import Any

import pytest

from tests.api.page.browser import run_job

pytestmark = pytest.mark.slow


def state(page: Any, url: str, tasks: str, hardware: str) -> None:
    """State a problem in the form."""
    page.goto(f"{url}/#/")
    page.get_by_label("or paste it").fill(tasks)
    page.get_by_label("Specification").fill(hardware)
    page.locator("section[aria-label='The hardware'] .chosen").wait_for()


def test_progress_is_shown_and_a_job_is_cancelled(page: Any, url: str) -> None:
    """The best so far and its bound are there while the search goes on, and stay when it is cancelled."""
    state(page, url, "alltoall:48", "torus:4x4x4")
    page.get_by_label("effort").fill("100000")
    page.get_by_role("button", name="Run").click()
    page.locator(".status.running").wait_for()
    page.locator(".running .figures b", has_text=re.compile(r"\d")).nth(1).wait_for()
    page.get_by_role("button", name="Cancel, and keep the best so far").click()
    page.locator(".status.cancelled").wait_for()
    page.locator(".headline").wait_for()


def test_the_address_of_a_job_is_permanent(page: Any, url: str) -> None:
    """Whoever opens it later, or in another tab, sees the same pictures."""
    state(page, url, "ring:8", "ring:8")
    run_job(page)
    address, headline = page.url, page.locator(".headline").inner_text()
    other = page.context.new_page()
    other.goto(address)
    other.locator(".graph[data-ready]").nth(3).wait_for()
    assert other.locator(".headline").inner_text() == headline


def test_two_jobs_are_compared(page: Any, url: str) -> None:
    """Their figures stand side by side, and those that differ are marked."""
    for hardware in ("ring:8", "grid:2x4"):
        state(page, url, "ring:8", hardware)
        run_job(page)
    page.goto(f"{url}/#/jobs")
    boxes = page.get_by_role("checkbox")
    boxes.nth(1).wait_for()
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.get_by_role("link", name="Compare two").click()
    page.get_by_role("heading", name="Two jobs").wait_for()
    page.locator("tr", has_text="Random order").locator("td").nth(1).wait_for()
    page.locator(".graph[data-ready]").nth(1).wait_for()


def test_a_job_that_cannot_be_done_says_why(page: Any, url: str) -> None:
    """More tasks than slots is an answer, not a failure."""
    state(page, url, "ring:8", "ring:4")
    page.get_by_label("rule").select_option("one-to-one")
    run_job(page)
    assert page.locator(".headline").inner_text() == "Nothing meets what is asked:"
    assert page.locator(".violations li").count() >= 1


def test_an_unknown_job_is_named(page: Any, url: str, faults: list[str]) -> None:
    """A job of another owner, or one that is forgotten, is answered in a sentence."""
    page.goto(f"{url}/#/jobs/none")
    page.get_by_text("There is no such job, or not any more.").wait_for()
    assert [fault for fault in faults if "404" not in fault] == []
    faults.clear()


def test_bug_a_job_is_lost_with_the_connection(page: Any, url: str, faults: list[str]) -> None:
    """The page says that the service is away, and goes on when it is back."""
    state(page, url, "alltoall:48", "torus:4x4x4")
    page.get_by_label("effort").fill("100000")
    page.get_by_role("button", name="Run").click()
    page.locator(".status.running").wait_for()
    page.route("**/jobs/**", lambda route: route.abort())
    page.reload()
    page.get_by_text("The service cannot be reached.").wait_for()
    page.unroute_all()
    page.route("**/events", lambda route: route.abort())
    page.reload()
    page.get_by_text("The service cannot be reached. Is it still running? It is asked again.").wait_for()
    page.unroute_all()
    page.locator(".running .figures b", has_text=re.compile(r"\d")).nth(1).wait_for()
    page.get_by_role("button", name="Cancel, and keep the best so far").click()
    page.locator(".status.cancelled").wait_for()
    assert [fault for fault in faults if "ERR_FAILED" not in fault] == []
    faults.clear()


def test_bug_a_job_left_while_it_is_drawn_is_an_exception(page: Any, url: str) -> None:
    """Another page is opened before the picture is there; nothing is said of the picture then."""
    state(page, url, "ring:8", "ring:8")
    with page.expect_request("**/view"):
        page.route("**/view", lambda route: None)
        run_job(page)
    page.goto(f"{url}/#/jobs")
    page.get_by_role("checkbox").first.wait_for()


def test_bug_a_job_is_not_shown_without_its_picture(page: Any, url: str, faults: list[str]) -> None:
    """The report stays when the picture cannot be read, beside what is wrong."""
    page.route("**/view", lambda route: route.abort())
    state(page, url, "ring:8", "ring:8")
    run_job(page)
    page.get_by_text("The service cannot be reached.").wait_for()
    assert page.locator(".headline").is_visible()
    assert [fault for fault in faults if "ERR_FAILED" not in fault] == []
    faults.clear()


def test_bug_the_list_stops_with_the_connection(page: Any, url: str, faults: list[str]) -> None:
    """It is there again when the service is."""
    page.route("**/jobs", lambda route: route.abort())
    page.goto(f"{url}/#/jobs")
    page.get_by_text("The service cannot be reached.").wait_for()
    page.unroute_all()
    page.locator("table, .empty").wait_for()
    assert [fault for fault in faults if "ERR_FAILED" not in fault] == []
    faults.clear()


def test_bug_an_address_that_is_no_text_is_an_exception(page: Any, url: str, faults: list[str]) -> None:
    """It is a job that is not known."""
    page.goto(f"{url}/#/jobs/%E0%A4%A")
    page.locator(".fault").wait_for()
    assert [fault for fault in faults if "404" not in fault] == []
    faults.clear()
