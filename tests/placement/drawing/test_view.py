"""Tests of placements as documents: times and bytes are those of the report."""

import json
from dataclasses import replace

import numpy as np
import pytest

import tiger
from tiger.errors import InputError
from tiger.placement.drawing import view as views
from tiger.placement.drawing.view import PlacementView, view_placement
from tiger.placement.entry.report import PlacementReport
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.operators import Operators

LAYERS = [
    {"name": f"layer{k}", "forward_s": 0.01 + 0.001 * k, "backward_s": 0.02, "parameter_bytes": 1e8, "held_bytes": 1e7,
     "activation_bytes": 1e7}
    for k in range(8)
]  # fmt: skip
SCHEDULES = ("gpipe", "1f1b", "interleaved", "zero-bubble")


@pytest.fixture(scope="module", name="reports")
def _reports() -> dict[str | None, PlacementReport]:
    """Return the reports of eight layers on four devices, by their schedule."""
    found: dict[str | None, PlacementReport] = {None: tiger.place({"layers": LAYERS}, "dgx:1", pipeline=4)}
    for name in SCHEDULES:
        options = {"virtual": 2} if name == "interleaved" else {}
        found[name] = tiger.place(
            {"layers": LAYERS}, "dgx:1", schedule=name, microbatches=8, pipeline=4, data=2, **options
        )
    return found


@pytest.fixture(scope="module", name="operators")
def _operators() -> PlacementReport:
    """Return the report of operators of both passes that are placed for latency."""
    graph = Operators(
        names=("a", "b", "c", "d"),
        seconds=np.array([2.0, 3.0, 2.0, 1.0]),
        source=np.array([0, 0, 1, 2]),
        target=np.array([1, 2, 3, 3]),
        backward=np.array([False, False, True, True]),
    )
    cluster = Cluster(
        names=("x", "y"),
        speed=np.ones(2),
        memory_bytes=np.array([9.0, np.inf]),
        curves=(Curve.affine(1.0, 0.0),),
        link=np.zeros((2, 2), np.int64),
    )
    return tiger.place(graph, cluster, mode="dag", objective="latency")


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_timeline_ends_with_the_iteration(reports, schedule):
    """Tests the end, the bubble, and how many passes there are."""
    report = reports[schedule]
    timeline = view_placement(report).timeline
    assert max(timeline.end_s) == pytest.approx(report.iteration_s)
    assert timeline.iteration_s == pytest.approx(report.iteration_s)
    assert timeline.bubble == pytest.approx(report.bubble)
    assert timeline.kind.count("forward") == len(report.stages) * 8
    assert "all-reduce" in timeline.kind
    assert ("weight" in timeline.kind) == (schedule == "zero-bubble")
    assert list(timeline.start_s) == sorted(timeline.start_s)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_rows_run_one_thing_at_a_time(reports, schedule):
    """Tests that no pass or message of a row begins before the one before it has ended."""
    timeline = view_placement(reports[schedule]).timeline
    free = dict.fromkeys(timeline.row, 0.0)
    for row, start, end in zip(timeline.row, timeline.start_s, timeline.end_s, strict=True):
        assert start >= free[row] - 1e-9
        free[row] = end


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_memory_peaks_are_those_of_the_report(reports, schedule):
    """Tests the most that is held over time, and state as the least."""
    report = reports[schedule]
    memory = view_placement(report).memory
    peaks = [stage.memory_bytes for stage in report.stages[:4]]
    assert memory.peak_bytes == pytest.approx(peaks)
    assert [max(held) for held in memory.held_bytes] == pytest.approx(peaks)
    assert [min(held) for held in memory.held_bytes] == pytest.approx(memory.state_bytes)
    assert memory.limit_bytes == tuple(stage.capacity_bytes for stage in report.stages[:4])


def test_rows_have_their_layers_and_devices(reports):
    """Tests a stage a device, and two with replicas."""
    plain, virtual = view_placement(reports[None]), view_placement(reports["interleaved"])
    assert sum(row.operators for row in plain.rows) == sum(row.operators for row in virtual.rows) == 8
    assert (plain.rows[0].first, plain.rows[-1].last) == ("layer0", "layer7")
    assert (virtual.rows[0].first, virtual.rows[-1].last) == ("layer0", "layer7")
    assert [len(row.devices) for row in virtual.rows] == [2, 2, 2, 2]
    loads = np.array(plain.compute_s) + np.array(plain.communication_s)
    assert loads.max() == pytest.approx(reports[None].bottleneck_s)


def test_without_a_schedule_there_is_state_alone(reports):
    """Tests a plan for a steady pipeline."""
    view = view_placement(reports[None])
    assert view.timeline is None
    assert view.memory.state_bytes == view.memory.peak_bytes
    assert (view.memory.when_s, view.memory.held_bytes, view.traffic.a) == ((), (), ())


def test_traffic_is_that_of_the_links(reports):
    """Tests the bytes between devices."""
    report = reports["1f1b"]
    traffic = view_placement(report).traffic
    pairs = zip(traffic.a, traffic.b, traffic.sent_bytes, strict=True)
    named = [(traffic.names[a], traffic.names[b], size) for a, b, size in pairs]
    assert named == [(link.a, link.b, link.sent_bytes) for link in report.links]


def test_operators_for_latency_have_their_times(operators):
    """Tests rows of devices, passes, and the latency as the end."""
    view = view_placement(operators)
    assert view.timeline is not None
    assert view.timeline.iteration_s == pytest.approx(operators.latency_s)
    assert sorted(view.timeline.stage) == [0, 1, 2, 3]
    assert sorted(view.timeline.kind) == ["backward", "backward", "forward", "forward"]
    assert [row.devices[0] for row in view.rows] == [stage.device for stage in operators.stages]
    assert 0 <= view.timeline.bubble < 1


def test_operators_for_throughput_have_none(operators):
    """Tests that no time is made up."""
    assert view_placement(replace(operators, latency_s=None)).timeline is None


def test_many_passes_are_thinned(reports, monkeypatch):
    """Tests that messages go first and then all but one pass a dot; ends and peaks stay."""
    report = reports["1f1b"]
    whole = view_placement(report).timeline
    monkeypatch.setattr(views, "PASSES", whole.total - 1)
    quiet = view_placement(report).timeline
    assert (quiet.thinned, quiet.total, "message" in quiet.kind) == (True, whole.total, False)
    assert quiet.kind.count("forward") == whole.kind.count("forward")
    monkeypatch.setattr(views, "PASSES", 24)
    few = view_placement(report)
    assert 12 <= len(few.timeline.row) <= 24
    assert max(few.timeline.end_s) <= report.iteration_s
    assert [len(when) for when in few.memory.when_s] == [6] * 4
    assert [max(held) for held in few.memory.held_bytes] == list(few.memory.peak_bytes)


def test_a_report_from_a_document_has_all_but_times(reports):
    """Tests that what needs the plan is missing, and nothing else."""
    report = reports["1f1b"]
    whole, read = view_placement(report), view_placement(PlacementReport.from_dict(report.to_dict()))
    assert (read.rows, read.compute_s, read.traffic) == (whole.rows, whole.compute_s, whole.traffic)
    assert (read.timeline, read.memory.state_bytes) == (None, (None,) * 4)
    assert read.memory.peak_bytes == pytest.approx(whole.memory.peak_bytes)


def test_documents_come_back_from_strict_json(reports, operators):
    """Tests that every number is finite, and every member read as it was."""
    for report in (*reports.values(), operators):
        view = view_placement(report)
        assert PlacementView.from_dict(json.loads(json.dumps(view.to_dict(), allow_nan=False))) == view


def test_no_plan_is_no_view():
    """Tests the report of a model that does not fit."""
    with pytest.raises(InputError, match="report: expected a plan"):
        view_placement(PlacementReport(feasible=False, solver="auto", seed=0, seconds=0.0))


def test_rows_of_a_v_have_the_first_layers_and_the_last() -> None:
    """The first device has both ends of the model, the last one the layers in the middle."""
    row = {"forward_s": 1.0, "backward_s": 2.0, "parameter_bytes": 1.0, "activation_bytes": 0.0}
    layers = [{"name": f"l{k}", **row} for k in range(6)]
    view = view_placement(tiger.place({"layers": layers}, "dgx:1", schedule="zb-v", microbatches=6, pipeline=3))
    assert [(each.first, each.last, each.operators) for each in view.rows] == [
        ("l0", "l5", 2),
        ("l1", "l4", 2),
        ("l2", "l3", 2),
    ]
    assert list(view.compute_s) == pytest.approx([6.0, 6.0, 6.0])
