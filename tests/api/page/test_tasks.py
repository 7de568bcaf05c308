"""Tasks on the page: from a file that is dropped to the pictures and files of its mapping."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.api.page.browser import drop, drop_example, run_job

pytestmark = pytest.mark.slow


def test_a_dropped_file_is_shown_run_and_taken_home(page: Any, url: str, tmp_path: Path) -> None:
    """The way of a newcomer, from a file to a report that says why the mapping is better."""
    page.goto(url)
    drop_example(page, "form.new", "stencil8x8.json")
    page.get_by_text("64 tasks, 112 pairs that talk.").wait_for()
    page.get_by_label("Specification").fill("torus:4x4x4")
    page.get_by_text("64 nodes, 192 links.").wait_for()
    run_job(page)
    assert "less than the block order, the best simple one" in page.locator(".headline").inner_text()
    page.locator(".graph[data-ready]").nth(3).wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="report.json").click()
    download.value.save_as(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["schema"] == "tiger.report/1"


def test_every_picture_is_kept_as_svg_and_png(page: Any, url: str, tmp_path: Path) -> None:
    """Each has both buttons, and its SVG says in words what it shows."""
    page.goto(url)
    page.get_by_label("or paste it").fill("halo:4x4")
    page.get_by_label("Specification").fill("torus:4x4")
    run_job(page)
    page.locator(".graph[data-ready]").nth(3).wait_for()
    for name in ("tasks-before", "tasks-after", "loads-before", "loads-after", "distances", "matrix", "convergence"):
        assert b"<title>" in save(page, f"{name} as SVG")
    assert save(page, "matrix as PNG").startswith(b"\x89PNG")


def save(page: Any, what: str) -> bytes:
    """Press a button that saves a picture, and return what is kept."""
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Save {what}").click()
    return Path(download.value.path()).read_bytes()


def test_bug_multicasts_are_shown_by_what_they_cost(page: Any, url: str) -> None:
    """The figures were of a graph of pairs that stands for them, and so were the simple orders beside it."""
    page.goto(url)
    drop_example(page, "form.new", "multicast12.hgr")
    page.get_by_label("Specification").fill("torus:2x2")
    run_job(page)
    assert page.locator(".figures > div", has_text="Multicast").count() == 1
    names = page.locator(".figures > div dt").all_inner_texts()
    assert "Lower bound" in names
    assert "Random order" not in names


def test_files_for_launchers_are_offered(page: Any, url: str) -> None:
    """The order of ranks for those that take it is one press away."""
    page.goto(url)
    page.get_by_label("or paste it").fill("ring:8")
    page.get_by_label("Specification").fill("tree:2x4@1,10")
    run_job(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="permutation.txt").click()
    assert sorted(map(int, Path(download.value.path()).read_text().split())) == list(range(8))


def test_a_bad_file_is_answered_beside_it(page: Any, url: str, faults: list[str]) -> None:
    """The form says what is wrong with the file, keeps everything else, and shows the next one."""
    page.goto(url)
    page.get_by_label("Specification").fill("torus:4x4")
    drop(page, "form.new", "broken.graph", "3 2\n2\n1 9\n\n")
    page.locator("section[aria-label='The task graph'] .fault").wait_for()
    assert "expected" in page.locator("section[aria-label='The task graph'] .fault").first.inner_text()
    drop_example(page, "form.new", "house5.graph")
    page.get_by_text("5 tasks,").wait_for()
    assert page.get_by_label("Specification").input_value() == "torus:4x4"
    assert [fault for fault in faults if "422" not in fault] == []
    faults.clear()


def test_a_file_that_is_no_text_is_refused_at_once(page: Any, url: str) -> None:
    """Nothing is sent of a picture."""
    page.goto(url)
    page.set_input_files(
        "section[aria-label='The task graph'] input[type=file]",
        {"name": "a.graph", "mimeType": "image/png", "buffer": b"\x89PNG\xff\xfe"},
    )
    page.get_by_text("expected a file of text (UTF-8), got a.graph").wait_for()


def test_a_number_that_is_none_is_pointed_at(page: Any, url: str) -> None:
    """A comma is no decimal point, whatever the locale."""
    page.goto(url)
    page.get_by_label("or paste it").fill("ring:4")
    page.get_by_label("Specification").fill("ring:4")
    page.get_by_label("effort").fill("1,5")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("expected a number such as 2 or 0.5, got 1,5").first.wait_for()
    assert page.get_by_label("effort").get_attribute("aria-invalid") == "true"


def test_an_example_runs_as_it_is(page: Any, url: str) -> None:
    """Its graph, its hardware and its fields come along, pins included."""
    page.goto(url)
    page.get_by_label("or an example").select_option(label="A 4x4 stencil on a 4x4 torus, one corner pinned")
    page.get_by_text("16 tasks, 24 pairs that talk.").wait_for()
    run_job(page)
    assert "The cost is 24" in page.locator(".headline").inner_text()


def test_the_same_is_offered_as_commands(page: Any, url: str) -> None:
    """What is on the screen runs elsewhere, too."""
    page.goto(url)
    page.get_by_label("or paste it").fill("halo:8x8")
    page.get_by_label("Specification").fill("torus:4x4x4")
    page.get_by_label("seed").fill("7")
    page.get_by_text("The same from elsewhere").click()
    assert (
        page.locator("pre[aria-label='Command line']").inner_text()
        == "tiger assign halo:8x8 --topology torus:4x4x4 --seed 7"
    )
    assert 'tiger.assign("halo:8x8", "torus:4x4x4", seed=7)' in page.locator("pre[aria-label='Python']").inner_text()
    assert f"{url}/assign" in page.locator("pre[aria-label='curl']").inner_text()


def test_bug_a_file_with_its_own_distances_waits_for_hardware(page: Any, url: str) -> None:
    """A QAPLIB file states its hardware, so that it is run alone; others say what is lacking."""
    page.goto(url)
    drop_example(page, "form.new", "house5.graph")
    page.get_by_text("Name what to map it onto, too.").wait_for()
    drop_example(page, "form.new", "square4.dat")
    page.get_by_text("4 tasks, 4 pairs that talk.").wait_for()
    run_job(page)
    assert "It is optimal" in page.locator(".headline").inner_text()


def test_bug_hardware_that_was_typed_last_is_not_what_runs(page: Any, url: str) -> None:
    """What is in the field is sent, also right after it was typed, and nothing where it was cleared."""
    page.goto(url)
    page.get_by_label("or paste it").fill("ring:4")
    page.get_by_label("Specification").fill("torus:4x4")
    page.get_by_label("Specification").fill("")
    assert page.get_by_role("button", name="Run").is_disabled()
    page.get_by_label("Specification").fill("tree:2x2@1,10")
    page.get_by_label("Specification").fill("ring:4")
    run_job(page)
    assert page.evaluate("JSON.parse(Object.values(sessionStorage)[0]).request.topology") == "ring:4"


def test_bug_pins_of_an_example_go_with_another_file(page: Any, url: str) -> None:
    """They are shown, in the commands as well, and left out where its tasks are replaced."""
    page.goto(url)
    page.get_by_label("or an example").select_option(label="A 4x4 stencil on a 4x4 torus, one corner pinned")
    page.get_by_text("The same from elsewhere").click()
    assert "--pin 0=1,2" in page.locator("pre[aria-label='Command line']").inner_text()
    assert 'pinned={"0": "1,2"}' in page.locator("pre[aria-label='Python']").inner_text()
    drop_example(page, "form.new", "house5.graph")
    page.get_by_text("5 tasks,").wait_for()
    assert "--pin" not in page.locator("pre[aria-label='Command line']").inner_text()


def test_bug_names_that_are_long_or_markup_spoil_the_page(page: Any, url: str) -> None:
    """They are letters only, and as many as have room."""
    names = ["<img src=x onerror=alert(1)>", "x" * 5000, "</script><script>alert(2)</script>"]
    edges = [{"source": names[0], "target": name} for name in names[1:]]
    graph = {"directed": False, "nodes": [{"id": name} for name in names], "edges": edges}
    page.goto(url)
    drop(page, "form.new", f"{names[0]}.json", json.dumps(graph))
    page.locator(".graph[data-ready]").wait_for()
    assert page.locator("main img, main script").count() == 0
    text = save(page, "the-task-graph as SVG").decode()
    assert "<img" not in text
    assert "x" * 25 not in text


def test_bug_switches_are_circles_in_a_saved_picture(page: Any, url: str) -> None:
    """The caption says that they are squares."""
    page.goto(url)
    drop_example(page, "section[aria-label='The hardware']", "topology.conf")
    page.get_by_text("7 of them switches (squares)").wait_for()
    text = save(page, "the-hardware as SVG").decode()
    assert len(re.findall(r'<path d="M[^"]*h[^"]*z', text)) == 7


def test_the_penalties_of_a_qubo_are_shown(page: Any, url: str) -> None:
    """The solver neal tunes them, and the page says how."""
    page.goto(url)
    page.get_by_label("or an example").select_option(label="Eleven tasks in levels on a 2x2 mesh of four speeds")
    page.get_by_label("solver").fill("neal")
    run_job(page)
    page.get_by_role("heading", name="How penalties were tuned").wait_for()
    assert "of their safe bound" in page.locator("section[aria-label='Penalties'] figcaption").inner_text()


def test_bug_a_busy_service_is_asked_once(page: Any, url: str, faults: list[str]) -> None:
    """A picture that no worker was free for comes a little later by itself."""
    answers = iter([{"status": 503, "json": {"detail": "all workers are busy"}}])
    page.route("**/views", lambda route: route.fulfill(**busy) if (busy := next(answers, None)) else route.continue_())
    page.goto(url)
    page.get_by_label("or paste it").fill("ring:4")
    page.get_by_text("4 tasks, 4 pairs that talk.").wait_for()
    assert [fault for fault in faults if "503" not in fault] == []
    faults.clear()
