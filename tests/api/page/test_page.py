"""The page in a real browser: each use from file to result, jobs, looks, and who may use it from where.

All of it is one file, as files are what workers of pytest share out: one has the browser and the service for all tests.
"""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.api.page.browser import KEY, begin_anew, drop, drop_example, run_job
from tests.api.page.proxy import proxy

pytestmark = pytest.mark.slow
KEYLESS: dict[str, Any] = {"extra_http_headers": {}}
DARK, NARROW, GERMAN = {"color_scheme": "dark"}, {"viewport": {"width": 375, "height": 800}}, {"locale": "de-DE"}
# The policy of the page lets no test add a script, such as axe.
FREE = {"bypass_csp": True}
# What moves by itself counts, what moves as somebody types or presses a button does not.
SHIFTS = """new PerformanceObserver((list) => {
    const alone = list.getEntries().filter((entry) => !entry.hadRecentInput);
    for (const entry of alone) window.shifted = (window.shifted ?? 0) + entry.value;
}).observe({ type: "layout-shift", buffered: true })"""
# As web vitals call a page stable, of which this is half.
STABLE = 0.05
# Let the refusals of one address come half a second late.
LATE = """const at_once = window.fetch;
window.fetch = async (...asked) => {
  const response = await at_once(...asked);
  if (response.status === 401 && response.url.endsWith("/solvers")) await new Promise((go) => setTimeout(go, 500));
  return response;
};"""


def save(page: Any, what: str) -> bytes:
    """Press a button that saves a file, and return what is kept."""
    with page.expect_download() as download:
        page.get_by_role("button", name=what).click()
    return Path(download.value.path()).read_bytes()


def state(page: Any, url: str, tasks: str, hardware: str) -> None:
    """State a problem in the form."""
    page.goto(f"{url}/#/")
    page.get_by_label("or paste it").fill(tasks)
    page.get_by_label("Specification").fill(hardware)
    page.locator("section[aria-label='The hardware'] .chosen").wait_for()


def map_example(page: Any, url: str) -> None:
    """Map an example, and wait for its pictures."""
    page.goto(url)
    drop_example(page, "form.new", "stencil8x8.json")
    page.get_by_label("Specification").fill("torus:4x4x4")
    page.get_by_text("64 nodes, 192 links.").wait_for()
    run_job(page)
    page.locator(".graph[data-ready]").nth(3).wait_for()


def show_form(page: Any) -> None:
    """Go to the form."""
    page.get_by_role("link", name="New", exact=True).click()
    page.get_by_role("heading", name="How").wait_for()


def show_list(page: Any) -> None:
    """Go to the list of jobs."""
    page.get_by_role("link", name="Jobs").click()
    page.get_by_role("checkbox").first.wait_for()


def make_comparison(page: Any, url: str, count: int, tags: list[str], label: str = "a") -> str:
    """Have some jobs with tags compared, the first with a label, and return the address of the comparison."""
    request = {"tasks": "ring:4", "topology": "ring:4"}
    body = {"kind": "assign", "request": request, "variants": [{"label": label}, *[{"label": "b"}] * (count - 1)]}
    route = f"{url}/comparisons?{urlencode({'tag': tags}, doseq=True)}"
    sent = page.request.post(route, data=body, headers={"X-API-Key": KEY})
    return f"{url}/#/comparisons/{sent.json()['id']}"


def show_comparison(page: Any) -> None:
    """Go to a comparison whose jobs have ended."""
    page.goto(make_comparison(page, page.url.partition("/#")[0], 3, ["one"]))
    page.locator("table.compared .status.done").nth(2).wait_for()


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


def test_a_dropped_file_is_shown_run_and_taken_home(page: Any, url: str) -> None:
    """The report says why the mapping is better; it, pictures that say what they show and orders of ranks are files."""
    page.goto(url)
    drop_example(page, "form.new", "stencil8x8.json")
    page.get_by_text("64 tasks, 112 pairs that talk.").wait_for()
    page.get_by_label("Specification").fill("torus:4x4x4")
    page.get_by_text("64 nodes, 192 links.").wait_for()
    run_job(page)
    assert "less than the block order, the best simple one" in page.locator(".headline").inner_text()
    page.locator(".graph[data-ready]").nth(3).wait_for()
    assert json.loads(save(page, "report.json"))["schema"] == "tiger.report/1"
    for name in ("tasks-before", "tasks-after", "loads-before", "loads-after", "distances", "matrix", "convergence"):
        assert b"<title>" in save(page, f"Save {name} as SVG")
    assert save(page, "Save matrix as PNG").startswith(b"\x89PNG")
    begin_anew(page)
    page.get_by_label("or paste it").fill("ring:8")
    page.get_by_label("Specification").fill("tree:2x4@1,10")
    run_job(page)
    assert sorted(map(int, save(page, "permutation.txt").split())) == list(range(8))


def test_answers_are_taken_home_for_what_was_not_asked_for(page: Any, url: str, faults: list[str]) -> None:
    """What another launcher does not take says why, and that is gone once something is saved."""
    state(page, url, '{"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "a", "target": "b"}]}', "grid:2")
    run_job(page)
    panel = page.get_by_role("region", name="Files")
    panel.get_by_role("button", name="openmpi", exact=True).click()
    panel.get_by_role("alert").wait_for()
    assert "expected" in panel.get_by_role("alert").inner_text()
    assert save(page, "mapping.csv").startswith(b"task,node")
    assert panel.get_by_role("alert").count() == 0
    assert ["422" in fault for fault in faults] == [True] * max(1, len(faults))
    faults.clear()


def test_what_is_wrong_is_said_beside_it(page: Any, url: str, faults: list[str]) -> None:
    """The form keeps the rest, reads the next file, sends none that is no text, takes no comma for a decimal point."""
    page.goto(url)
    page.get_by_label("Specification").fill("torus:4x4")
    drop(page, "form.new", "broken.graph", "3 2\n2\n1 9\n\n")
    page.locator("section[aria-label='The task graph'] .fault").wait_for()
    assert "expected" in page.locator("section[aria-label='The task graph'] .fault").first.inner_text()
    drop_example(page, "form.new", "house5.graph")
    page.get_by_text("5 tasks,").wait_for()
    assert page.get_by_label("Specification").input_value() == "torus:4x4"
    page.set_input_files(
        "section[aria-label='The task graph'] input[type=file]",
        {"name": "a.graph", "mimeType": "image/png", "buffer": b"\x89PNG\xff\xfe"},
    )
    page.get_by_text("expected a file of text (UTF-8), got a.graph").wait_for()
    page.get_by_label("or paste it").fill("ring:4")
    page.get_by_label("effort").fill("1,5")
    page.get_by_role("button", name="Run").click()
    page.get_by_text("expected a number such as 2 or 0.5, got 1,5").first.wait_for()
    assert page.get_by_label("effort").get_attribute("aria-invalid") == "true"
    assert ["422" in fault for fault in faults] == [True] * max(1, len(faults))
    faults.clear()


def test_the_same_is_offered_as_commands(page: Any, url: str, faults: list[str]) -> None:
    """Commands state what is on the screen, pins only with their tasks; a service that is busy is asked again."""
    answers = iter([{"status": 503, "json": {"detail": "all workers are busy"}}])
    page.route("**/views", lambda route: route.fulfill(**busy) if (busy := next(answers, None)) else route.continue_())
    page.goto(url)
    page.get_by_label("or paste it").fill("halo:8x8")
    page.get_by_text("64 tasks, 112 pairs that talk.").wait_for()
    assert ["503" in fault for fault in faults] == [True]
    faults.clear()
    page.get_by_label("Specification").fill("torus:4x4x4")
    page.get_by_label("seed").fill("7")
    page.get_by_text("The same from elsewhere").click()
    shell, python, curl = (page.locator(f"pre[aria-label='{name}']") for name in ("Command line", "Python", "curl"))
    assert shell.inner_text() == "tiger assign halo:8x8 --topology torus:4x4x4 --seed 7"
    assert 'tiger.assign("halo:8x8", "torus:4x4x4", seed=7)' in python.inner_text()
    assert f"{url}/assign" in curl.inner_text()
    page.get_by_label("or an example").select_option(label="A 4x4 stencil on a 4x4 torus, one corner pinned")
    page.get_by_text("16 tasks, 24 pairs that talk.").wait_for()
    assert "--pin 0=1,2" in shell.inner_text()
    assert 'pinned={"0": "1,2"}' in python.inner_text()
    drop_example(page, "form.new", "house5.graph")
    page.get_by_text("5 tasks,").wait_for()
    assert "--pin" not in shell.inner_text()


def test_ranks_with_several_cores_are_asked_for_in_the_form(page: Any, url: str) -> None:
    """Their options are with the others, and what a launcher takes has the cores."""
    page.goto(url)
    page.get_by_label("or paste it").fill("ring:4")
    page.get_by_label("Specification").fill("tree:2x2@1,10")
    page.get_by_text("More options").click()
    page.get_by_label("slots", exact=True).fill("8")
    page.get_by_label("cores per rank").fill("4")
    page.get_by_label("ranks per", exact=True).fill("node=2")
    page.get_by_label("pack", exact=True).select_option(label="yes")
    page.get_by_text("The same from elsewhere").click()
    shell = page.locator("pre[aria-label='Command line']").inner_text()
    words = ["tiger assign ring:4", "--slots 8", "--pack", "--cores-per-rank 4", "--ranks-per node=2"]
    assert [word in shell for word in words] == [True] * len(words)
    run_job(page)
    rows = [line.split(",") for line in save(page, "ranks.csv").decode().splitlines()[1:]]
    assert (sorted(row[-5] for row in rows), len({tuple(row[2:-7]) for row in rows})) == (["0-3"] * 2 + ["4-7"] * 2, 2)


def test_examples_run_as_they_are(page: Any, url: str) -> None:
    """Their graphs, hardware and fields come along, pins included; penalties that the solver neal tunes are shown."""
    page.goto(url)
    page.get_by_label("or an example").select_option(label="A 4x4 stencil on a 4x4 torus, one corner pinned")
    page.get_by_text("16 tasks, 24 pairs that talk.").wait_for()
    run_job(page)
    assert "The cost is 24" in page.locator(".headline").inner_text()
    begin_anew(page)
    page.get_by_label("or an example").select_option(label="Eleven tasks in levels on a 2x2 mesh of four speeds")
    page.get_by_label("solver").fill("neal")
    run_job(page)
    page.get_by_role("heading", name="How penalties were tuned").wait_for()
    assert "of their safe bound" in page.locator("section[aria-label='Penalties'] figcaption").inner_text()


def test_what_is_in_the_form_is_what_runs(page: Any, url: str) -> None:
    """Hardware is that typed last, none where it was cleared or a QAPLIB file states its own; multicasts cost once."""
    page.goto(url)
    drop_example(page, "form.new", "house5.graph")
    page.get_by_text("Name what to map it onto, too.").wait_for()
    drop_example(page, "form.new", "square4.dat")
    page.get_by_text("4 tasks, 4 pairs that talk.").wait_for()
    run_job(page)
    assert "It is optimal" in page.locator(".headline").inner_text()
    begin_anew(page)
    page.get_by_label("or paste it").fill("ring:4")
    page.get_by_label("Specification").fill("torus:4x4")
    page.get_by_label("Specification").fill("")
    assert page.get_by_role("button", name="Run").is_disabled()
    page.get_by_label("Specification").fill("tree:2x2@1,10")
    page.get_by_label("Specification").fill("ring:4")
    run_job(page)
    sent = page.evaluate("JSON.parse(sessionStorage[`tiger-request-${location.hash.split('/').pop()}`])")
    assert sent["request"]["topology"] == "ring:4"
    begin_anew(page)
    drop_example(page, "form.new", "multicast12.hgr")
    page.get_by_label("Specification").fill("torus:2x2")
    run_job(page)
    assert page.locator(".figures > div", has_text="Multicast").count() == 1
    names = page.locator(".figures > div dt").all_inner_texts()
    assert "Lower bound" in names
    assert "Random order" not in names


def test_names_are_letters_and_switches_squares_in_what_is_saved_of_the_form(page: Any, url: str) -> None:
    """Names that are markup or long are text with as many letters as have room, and to save a picture runs nothing."""
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/assign") else None)
    names = ["<img src=x onerror=alert(1)>", "x" * 5000, "</script><script>alert(2)</script>"]
    edges = [{"source": names[0], "target": name} for name in names[1:]]
    graph = {"directed": False, "nodes": [{"id": name} for name in names], "edges": edges}
    page.goto(url)
    drop(page, "form.new", f"{names[0]}.json", json.dumps(graph))
    page.locator(".graph[data-ready]").wait_for()
    assert page.locator("main img, main script").count() == 0
    text = save(page, "Save the-task-graph as SVG").decode()
    assert "<img" not in text
    assert "x" * 25 not in text
    drop_example(page, "section[aria-label='The hardware']", "topology.conf")
    page.get_by_text("7 of them switches (squares)").wait_for()
    text = save(page, "Save the-hardware as SVG").decode()
    assert len(re.findall(r'<path d="M[^"]*h[^"]*z', text)) == 7
    assert sent == []


def test_circuits_are_laid_out_routed_and_kept(page: Any, url: str) -> None:
    """A dropped one turns the form; layout, SWAPs, gates and errors are shown; it and its routed circuit are files."""
    page.goto(url)
    drop_example(page, "form.new", "circuits/qft5.qasm")
    # The form has turned to circuits by then.
    page.get_by_role("heading", name="The device").wait_for()
    page.get_by_label("Specification").fill("grid:6")
    page.get_by_text("6 nodes, 5 links.").wait_for()
    run_job(page)
    assert "Routing adds" in page.locator(".headline").inner_text()
    for heading in ("Where qubits lie", "SWAPs over time", "The routed circuit"):
        page.get_by_role("heading", name=heading).wait_for()
    page.get_by_text("The same from elsewhere").click()
    assert page.locator("pre[aria-label='Command line']").inner_text() == "tiger layout qft5.qasm --coupling grid:6"
    assert save(page, "routed.qasm").startswith(b"OPENQASM")
    assert save(page, "Save qft5.qasm").startswith(b"//")
    begin_anew(page, "Circuit")
    page.get_by_label("or an example").select_option(label="Three entangled qubits where the errors are small")
    run_job(page)
    page.get_by_text("The strongest colours are errors of up to").wait_for()


def test_networks_have_schedules_memory_and_traces(page: Any, url: str) -> None:
    """The trace has all passes of six devices, as Perfetto opens it; a worker draws operators; times have units."""
    page.goto(url)
    begin_anew(page, "Network")
    page.get_by_label("or an example").select_option(label="A transformer of 24 layers on eight devices")
    run_job(page)
    page.get_by_text("an iteration; devices run no pass for").wait_for()
    page.get_by_text("is the fullest").wait_for()
    page.get_by_label("Enlarge", exact=True).fill("8")
    page.get_by_label("From", exact=True).fill("0.5")
    events = json.loads(save(page, "trace.json"))["traceEvents"]
    assert sum(event["ph"] == "X" and event["name"].startswith("forward") for event in events) == 6 * 32
    begin_anew(page, "Network")
    page.get_by_label("or an example").select_option(label="A diamond of operators on two devices")
    page.get_by_text("5 operators, 5 edges.").wait_for()
    run_job(page)
    page.get_by_text("is the bottleneck").wait_for()
    begin_anew(page, "Network")
    page.get_by_label("or an example").select_option(label="Six equal layers on two devices, one twice as fast")
    run_job(page)
    assert "60.2 ms" in page.locator("section[aria-label='Result'] figcaption").inner_text()
    assert "60.2 ms" in page.locator("tr", has_text="order").inner_text()


def test_plans_for_networks_are_ranked_and_commands_have_their_names(page: Any, url: str) -> None:
    """The best plan's placement has pictures, too; degrees of parallelism have the names of the command line there."""
    network = "transformer:layers=8,hidden=512,heads=8,vocabulary=1000,sequence=256"
    page.goto(url)
    begin_anew(page, "Network")
    page.get_by_label("or paste it").fill(network)
    page.get_by_label("Specification").fill("dgx:1")
    page.get_by_label("pipeline", exact=True).fill("4")
    page.get_by_label("tensor", exact=True).fill("2")
    page.get_by_text("The same from elsewhere").click()
    command = page.locator("pre[aria-label='Command line']").inner_text()
    assert command.endswith("--cluster dgx:1 --pipeline-parallel 4 --tensor-parallel 2")
    begin_anew(page, "Training plan")
    page.get_by_label("or paste it").fill(network)
    page.get_by_label("Specification").fill("dgx:1")
    page.get_by_label("batch", exact=True).fill("16")
    # The smaller half of the plans.
    page.get_by_label("tensor", exact=True).fill("2")
    run_job(page)
    page.get_by_role("heading", name="Where the time of plans goes").wait_for()
    page.get_by_role("heading", name="An iteration").wait_for()


def test_a_long_job_is_followed_through_lost_connections_and_cancelled(page: Any, url: str, faults: list[str]) -> None:
    """The best so far and its bound are there while the search goes on, and once the service is back."""
    state(page, url, "alltoall:48", "torus:4x4x4")
    page.get_by_label("effort").fill("100000")
    page.get_by_role("button", name="Run").click()
    page.locator(".status.running").wait_for()
    page.locator(".running .figures b", has_text=re.compile(r"\d")).nth(1).wait_for()
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
    page.locator(".headline").wait_for()
    assert [fault for fault in faults if "ERR_FAILED" not in fault] == []
    faults.clear()


def test_the_address_of_a_job_is_permanent(page: Any, url: str, faults: list[str]) -> None:
    """It shows the same in another tab, after it was left while it was drawn, and without a picture that is lost."""
    state(page, url, "ring:8", "ring:8")
    with page.expect_request("**/view"):
        page.route("**/view", lambda route: None)
        run_job(page)
    address, headline = page.url, page.locator(".headline").inner_text()
    page.get_by_role("link", name="Jobs").click()
    page.get_by_role("checkbox").first.wait_for()
    page.unroute_all()
    page.route("**/view", lambda route: route.abort())
    page.goto(address)
    page.get_by_text("The service cannot be reached.").wait_for()
    assert page.locator(".headline").inner_text() == headline
    other = page.context.new_page()
    other.goto(address)
    other.locator(".graph[data-ready]").nth(3).wait_for()
    assert other.locator(".headline").inner_text() == headline
    assert [fault for fault in faults if "ERR_FAILED" not in fault] == []
    faults.clear()


def test_jobs_are_compared(page: Any, url: str, faults: list[str]) -> None:
    """Their figures stand side by side, once their list is there again after the service was away."""
    for hardware in ("ring:8", "grid:2x4"):
        state(page, url, "ring:8", hardware)
        run_job(page)
    page.route("**/jobs", lambda route: route.abort())
    page.goto(f"{url}/#/jobs")
    page.get_by_text("The service cannot be reached.").wait_for()
    page.unroute_all()
    boxes = page.get_by_role("checkbox")
    boxes.nth(1).wait_for()
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.get_by_role("button", name="Compare 2").click()
    page.get_by_role("heading", name="2 jobs side by side").wait_for()
    page.locator(".graph[data-ready]").nth(1).wait_for()
    heads, rows = page.locator("table.compared thead th"), page.locator("table.compared tbody tr")
    assert heads.all_inner_texts()[:4] == ["job", "state", "topology", "cost"]
    assert rows.nth(0).locator("td").nth(1).inner_text() == "grid:2x4"
    assert rows.nth(1).locator("td").nth(1).inner_text() == "ring:8"
    with page.expect_download() as saved:
        page.get_by_role("button", name="table.csv").click()
    assert saved.value.path().read_text(encoding="utf-8").count("done") == 2
    page.get_by_role("button", name="Forget this comparison").click()
    page.get_by_role("heading", name="Jobs").wait_for()
    assert [fault for fault in faults if "ERR_FAILED" not in fault] == []
    faults.clear()


def test_jobs_are_found_by_their_tags(page: Any, url: str) -> None:
    """A tag of a job is a link to the jobs that have it, which narrows the list further; each goes by a press."""
    for tags in (["team/a", "one"], ["team/a"]):
        make_comparison(page, url, 10, tags)
    page.goto(f"{url}/#/jobs?tag=team/a")
    boxes = page.get_by_role("checkbox")
    boxes.nth(19).wait_for()
    page.get_by_role("link", name="one", exact=True).first.click()
    page.get_by_role("link", name="Show jobs without the tag one, too").wait_for()
    boxes.nth(9).wait_for()
    assert boxes.count() == 10
    for box in boxes.all():
        box.check()
    page.get_by_role("button", name="Compare 10").click()
    page.get_by_role("heading", name="10 jobs side by side").wait_for()
    page.locator("table.compared .status.done").nth(9).wait_for()
    page.goto(f"{url}/#/jobs?tag=team/a&tag=one")
    page.get_by_role("link", name="Show jobs without the tag team/a, too").click()
    page.get_by_role("link", name="Show jobs without the tag one, too").click()
    page.get_by_role("region", name="Comparisons").get_by_role("link", name="a; b; b and 7 more").first.wait_for()


@pytest.mark.parametrize("page", [NARROW], indirect=True)
def test_bug_a_comparison_fits_a_telephone_and_outlives_a_pause(page: Any, url: str, faults: list[str]) -> None:
    """Whatever its labels are, nobody has to scroll sideways; it is asked for again until it is there."""
    address = make_comparison(page, url, 2, [], "x" * 100)
    page.route("**/comparisons/*", lambda route: route.fulfill(status=503, json={"detail": "Come back."}))
    page.goto(address)
    page.get_by_text("Come back. It is asked again.").wait_for()
    page.unroute_all()
    page.locator(".graph[data-ready]").nth(1).wait_for()
    assert page.get_by_text("It is asked again.").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.goto(f"{url}/#/jobs")
    page.get_by_role("region", name="Comparisons").get_by_role("link").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert [fault for fault in faults if "503" not in fault] == []
    faults.clear()


def test_bug_older_jobs_stay_in_the_list_while_new_ones_come(page: Any, url: str) -> None:
    """What a new job pushes off the first page is not lost, and stands there once; no more than ten can be picked."""
    common = {"kind": "assign", "status": "done", "tags": [], "priority": 0}
    jobs = [{**common, "id": f"{k:08x}{'0' * 24}", "created_s": 1000.0 + k // 2} for k in range(12)][::-1]
    first = jobs[1:]
    listed = {"/jobs": {"jobs": first[:6], "next": "/jobs?after=x"}, "/jobs?after=x": {"jobs": first[6:], "next": None}}
    page.route(re.compile(r"/jobs(\?.*)?$"), lambda route: route.fulfill(json=listed[route.request.url[len(url) :]]))
    page.goto(f"{url}/#/jobs")
    page.get_by_role("button", name="Show older ones").click()
    names = [f"Pick job {job['id'][:8]}" for job in jobs]
    boxes = page.get_by_role("checkbox")
    boxes.nth(10).wait_for()
    listed["/jobs"] = {"jobs": jobs[:6], "next": "/jobs?after=y"}
    boxes.nth(11).wait_for(timeout=40_000)
    assert [box.get_attribute("aria-label") for box in boxes.all()] == names
    for box in boxes.all()[:10]:
        box.check()
    assert [box.is_enabled() for box in boxes.all()] == [True] * 10 + [False] * 2
    assert page.get_by_role("button", name="Compare 10").is_enabled()


def test_a_job_that_is_unknown_or_cannot_be_done_says_why(page: Any, url: str, faults: list[str]) -> None:
    """An address that is no text is of no job, nor is a forgotten one; more tasks than slots is an answer."""
    page.goto(f"{url}/#/jobs/%E0%A4%A")
    page.locator(".fault").wait_for()
    page.goto(f"{url}/#/jobs/none")
    page.get_by_text("There is no such job, or not any more.").wait_for()
    assert [fault for fault in faults if "404" not in fault] == []
    faults.clear()
    state(page, url, "ring:8", "ring:4")
    page.get_by_label("rule").select_option("one-to-one")
    run_job(page)
    assert page.locator(".headline").inner_text() == "Nothing meets what is asked:"
    assert page.locator(".violations li").count() >= 1


@pytest.mark.parametrize("page", [FREE], indirect=True)
def test_everybody_can_read_a_page_that_does_not_move(page: Any, url: str) -> None:
    """Places of pictures are kept for them; axe has no serious finding; the choice of dark outlives the page."""
    page.add_init_script(SHIFTS)
    map_example(page, url)
    page.reload()
    page.locator(".graph[data-ready]").nth(3).wait_for()
    page.wait_for_timeout(500)
    assert page.evaluate("window.shifted ?? 0") <= STABLE
    check_accessibility(page)
    show_form(page)
    check_accessibility(page)
    show_list(page)
    check_accessibility(page)
    page.get_by_role("button", name="Change between light and dark").click()
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 22, 28)"


@pytest.mark.parametrize("page", [FREE | DARK | NARROW | GERMAN], indirect=True)
def test_everybody_can_read_it_on_a_dark_telephone_in_any_locale(page: Any, url: str) -> None:
    """At 375 pixels nobody has to scroll sideways, but inside tables; points are decimal, axe finds nothing serious."""
    map_example(page, url)
    page.get_by_text("44 % less than the block order").wait_for()
    assert re.fullmatch(r"\d+\.\d+", page.locator(".figures > div", has_text="Random order").locator("dd").inner_text())
    for show in (None, show_form, show_list, show_comparison):
        if show:
            show(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        check_accessibility(page)


@pytest.mark.long
@pytest.mark.parametrize("page", [FREE | DARK, FREE | NARROW], indirect=True)
def test_everybody_can_read_it_in_other_looks(page: Any, url: str) -> None:
    """Axe has no serious finding on the form, on a job, on the list and on a comparison."""
    map_example(page, url)
    check_accessibility(page)
    show_form(page)
    check_accessibility(page)
    show_list(page)
    check_accessibility(page)
    show_comparison(page)
    check_accessibility(page)


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


@pytest.mark.parametrize("page", [KEYLESS], indirect=True)
def test_the_page_asks_for_the_key_and_keeps_it_for_the_tab(page: Any, url: str, faults: list[str]) -> None:
    """A wrong key is asked for again, a good one not, though late refusals follow; no address or other tab has it.

    All of this holds behind a prefix, as nothing in the page begins with a slash.
    """
    page.add_init_script(LATE)
    with proxy(url, "/maps/tiger") as outside:
        page.goto(f"{outside}/")
        page.get_by_label("Key", exact=True).fill("a-key-that-is-not-known")
        # The late refusals of no key and of the wrong one, each in its turn.
        for key in (None, KEY):
            with page.expect_response(lambda answer: answer.url.endswith("/solvers")):
                if key:
                    page.get_by_text("The service does not know that key.").wait_for()
                    page.get_by_label("Key", exact=True).fill(key)
                page.get_by_role("button", name="Use it").click()
        page.get_by_text("The service does not know that key.").wait_for(state="hidden")
        page.wait_for_timeout(700)
        assert not page.get_by_role("heading", name="API key").is_visible()
        page.get_by_label("or paste it").fill("ring:4")
        page.get_by_label("Specification").fill("ring:4")
        run_job(page)
        page.locator(".graph[data-ready]").nth(3).wait_for()
        assert KEY not in page.url
        assert page.evaluate("[sessionStorage['tiger-key'], Object.keys(localStorage).length]") == [KEY, 0]
        other = page.context.new_page()
        other.goto(page.url)
        other.get_by_role("heading", name="API key").wait_for()
        assert [fault for fault in faults if "401" not in fault] == []
        faults.clear()
        page.get_by_role("link", name="Jobs").click()
        page.get_by_role("checkbox").first.wait_for()
        assert page.url.startswith(f"{outside}/#/jobs")
        # The description of REST has no dialog for a key.
        page.context.set_extra_http_headers({"X-API-Key": KEY})
        page.get_by_role("link", name="REST").click()
        page.get_by_text("Place the layers of a network on a cluster").wait_for()
        # They ask for nothing more once the proxy ends.
        other.close()
        page.goto("about:blank")
