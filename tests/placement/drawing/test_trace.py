"""Tests of schedules as trace events."""

import json

import pytest

import tiger
from tiger.errors import InputError
from tiger.placement.drawing.trace import chrome_trace
from tiger.placement.entry.report import PlacementReport

LAYERS = [
    {"name": f"l{k}", "forward_s": 0.1 / 3, "backward_s": 0.2 / 3, "parameter_bytes": 1e8, "held_bytes": 1e7,
     "activation_bytes": 1e7}
    for k in range(6)
]  # fmt: skip
OPERATORS = {
    "nodes": [
        {"id": k, "cpuLatency": 1, "fpgaLatency": 1, "size": 0, "supportedOnFpga": True, "isBackwardNode": False}
        for k in range(3)
    ],
    "edges": [{"sourceId": 0, "destId": 1, "cost": 0}, {"sourceId": 0, "destId": 2, "cost": 0}],
    "maxFPGAs": 2,
    "maxCPUs": 0,
    "maxSizePerFPGA": 9,
}


@pytest.fixture(scope="module", name="report")
def _report() -> PlacementReport:
    """Return the report of six layers on three devices."""
    return tiger.place({"layers": LAYERS}, "dgx:1", schedule="1f1b", microbatches=5, pipeline=3)


def events_of(report: PlacementReport, phase: str) -> list[dict]:
    """Return the events of one kind."""
    return [event for event in json.loads(chrome_trace(report))["traceEvents"] if event["ph"] == phase]


def test_threads_are_positions_in_order(report):
    """Tests one process, and a thread for each position with its name and its place."""
    events = events_of(report, "M")
    assert {event["pid"] for event in events} == {1}
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    places = {event["tid"]: event["args"]["sort_index"] for event in events if event["name"] == "thread_sort_index"}
    assert names == {k + 1: stage.device for k, stage in enumerate(report.stages)}
    assert places == {1: 0, 2: 1, 3: 2}


def test_every_pass_is_an_event_with_its_stage_and_microbatch(report):
    """Tests both passes of five microbatches over three stages, and messages between these."""
    events = events_of(report, "X")
    passes = {(e["name"], e["args"]["stage"], e["args"]["microbatch"]) for e in events if e["name"] != "message"}
    assert passes == {(name, s, m) for name in ("forward", "backward") for s in range(3) for m in range(5)}
    # Forward and backward over two boundaries, at both ends.
    assert sum(event["name"] == "message" for event in events) == 2 * 2 * 2 * 5
    assert max(event["ts"] + event["dur"] for event in events) == pytest.approx(1e6 * report.iteration_s)


def test_no_two_events_of_a_thread_overlap(report):
    """Tests whole nanoseconds: Perfetto takes events apart that overlap by one."""
    free = dict.fromkeys((1, 2, 3), 0)
    for event in events_of(report, "X"):
        start, length = round(1000 * event["ts"]), round(1000 * event["dur"])
        assert start >= free[event["tid"]]
        free[event["tid"]] = start + length


def test_memory_is_counted(report):
    """Tests a counter for each position, up to its peak."""
    events = events_of(report, "C")
    for stage in report.stages:
        mine = [event["args"]["bytes"] for event in events if event["name"] == f"memory of {stage.device}"]
        assert max(mine) == pytest.approx(stage.memory_bytes)


def test_operators_for_latency_are_named():
    """Tests the times of one microbatch on two devices."""
    report = tiger.place(OPERATORS, mode="dag", objective="latency")
    events = events_of(report, "X")
    assert {event["args"]["operator"] for event in events} == {"0", "1", "2"}
    assert max(event["ts"] + event["dur"] for event in events) == pytest.approx(1e6 * report.latency_s)


def test_nothing_is_traced_without_a_schedule(report):
    """Tests a plan for a steady pipeline, no plan, and a report that comes from a document."""
    for one in (
        tiger.place({"layers": LAYERS}, "dgx:1", pipeline=3),
        PlacementReport(feasible=False, solver="auto", seed=0, seconds=0.0),
        PlacementReport.from_dict(report.to_dict()),
    ):
        with pytest.raises(InputError, match="trace: expected a plan with a schedule"):
            chrome_trace(one)


@pytest.mark.parametrize(
    ("schedule", "pipeline", "rows"),
    [
        ("zb-v", 3, {0: {1}, 1: {2}, 2: {3}, 3: {3}, 4: {2}, 5: {1}}),
        ("dualpipe-v", 2, {0: {1}, 1: {2}, 2: {2}, 3: {1}}),
        ("chimera", 2, {0: {1, 2}, 1: {1, 2}}),
    ],
)
def test_stages_are_on_the_rows_of_their_devices(schedule, pipeline, rows):
    """Those of a V come back, and those of two directions are on two rows, each with its microbatches."""
    report = tiger.place({"layers": LAYERS}, "dgx:1", schedule=schedule, microbatches=6, pipeline=pipeline)
    passes = [event for event in events_of(report, "X") if event["name"] == "forward"]
    stages = {event["args"]["stage"] for event in passes}
    assert {stage: {each["tid"] for each in passes if each["args"]["stage"] == stage} for stage in stages} == rows
    for stage in stages:
        assert sorted(each["args"]["microbatch"] for each in passes if each["args"]["stage"] == stage) == list(range(6))
