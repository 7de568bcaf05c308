"""Circuits, networks and training plans on the page."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.api.page.browser import drop_example, run_job

pytestmark = pytest.mark.slow


def begin(page: Any, url: str, use: str) -> None:
    """Open the form for a use."""
    page.goto(url)
    page.get_by_role("button", name=use, exact=True).click()


def test_a_dropped_circuit_is_laid_out_routed_and_kept(page: Any, url: str) -> None:
    """The form turns to circuits by itself; layout, SWAPs and gates are shown, and the routed circuit is a file."""
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
    with page.expect_download() as download:
        page.get_by_role("button", name="routed.qasm").click()
    assert Path(download.value.path()).read_text().startswith("OPENQASM")


def test_error_rates_are_shown_on_the_device(page: Any, url: str) -> None:
    """The caption names the worst of them."""
    begin(page, url, "Circuit")
    page.get_by_label("or an example").select_option(label="Three entangled qubits where the errors are small")
    run_job(page)
    page.get_by_text("The strongest colours are errors of up to").wait_for()


def test_a_network_has_its_schedule_memory_and_trace(page: Any, url: str) -> None:
    """The trace has every pass, as Perfetto opens it."""
    begin(page, url, "Network")
    page.get_by_label("or an example").select_option(label="A transformer of 24 layers on eight devices")
    run_job(page)
    page.get_by_text("an iteration; devices run no pass for").wait_for()
    page.get_by_text("is the fullest").wait_for()
    page.get_by_label("Enlarge", exact=True).fill("8")
    page.get_by_label("From", exact=True).fill("0.5")
    with page.expect_download() as download:
        page.get_by_role("button", name="trace.json").click()
    events = json.loads(Path(download.value.path()).read_text())["traceEvents"]
    assert sum(event["ph"] == "X" and event["name"].startswith("forward") for event in events) == 8 * 32


def test_operators_are_drawn_in_layers(page: Any, url: str) -> None:
    """A directed graph has its layers from a worker, within the page's policy."""
    begin(page, url, "Network")
    page.get_by_label("or an example").select_option(label="A diamond of operators on two devices")
    page.get_by_text("5 operators, 5 edges.").wait_for()
    run_job(page)
    page.get_by_text("is the bottleneck").wait_for()


def test_a_training_plan_is_ranked_beside_the_usual_one(page: Any, url: str) -> None:
    """The best plan's placement has pictures, too."""
    begin(page, url, "Training plan")
    page.get_by_label("or paste it").fill("transformer:layers=8,hidden=512,heads=8,vocabulary=1000,sequence=256")
    page.get_by_label("Specification").fill("dgx:1")
    page.get_by_label("batch", exact=True).fill("16")
    run_job(page)
    page.get_by_role("heading", name="Where the time of plans goes").wait_for()
    page.get_by_role("heading", name="An iteration").wait_for()


def test_bug_commands_for_networks_have_options_of_other_names(page: Any, url: str) -> None:
    """Degrees of parallelism are called on the command line what they are called there."""
    begin(page, url, "Network")
    page.get_by_label("or paste it").fill("transformer:layers=8,hidden=512,heads=8,vocabulary=1000,sequence=256")
    page.get_by_label("Specification").fill("dgx:1")
    page.get_by_label("pipeline", exact=True).fill("4")
    page.get_by_label("tensor", exact=True).fill("2")
    page.get_by_text("The same from elsewhere").click()
    command = page.locator("pre[aria-label='Command line']").inner_text()
    assert command.endswith("--cluster dgx:1 --pipeline-parallel 4 --tensor-parallel 2")


def test_bug_commands_name_the_file_of_a_circuit_otherwise(page: Any, url: str) -> None:
    """They have the name that the file had, before and after the run, and offer it to be saved."""
    page.goto(url)
    drop_example(page, "form.new", "circuits/qft5.qasm")
    page.get_by_label("Specification").fill("grid:6")
    run_job(page)
    page.get_by_text("The same from elsewhere").click()
    assert page.locator("pre[aria-label='Command line']").inner_text() == "tiger layout qft5.qasm --coupling grid:6"
    with page.expect_download() as download:
        page.get_by_role("button", name="Save qft5.qasm").click()
    assert Path(download.value.path()).read_text().startswith("//")


def test_bug_seconds_of_a_network_have_no_unit(page: Any, url: str) -> None:
    """Its convergence and its stages are times."""
    begin(page, url, "Network")
    page.get_by_label("or an example").select_option(label="Six equal layers on two devices, one twice as fast")
    run_job(page)
    assert "60.2 ms" in page.locator("section[aria-label='Result'] figcaption").inner_text()
    assert "60.2 ms" in page.locator("tr", has_text="order").inner_text()
