"""Tests of placements that a search starts from."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import tiger
from tiger.client import placement
from tiger.errors import InputError
from tiger.placement.entry.explanation import explain_placement
from tiger.placement.entry.report import PlacementReport
from tiger.placement.entry.start import Start, read_start
from tiger.placement.entry.summary import placement_summary
from tiger.placement.operators.params import Ranks

MODELS = Path(__file__).resolve().parents[3] / "examples" / "models"
GPT, SKIPS = MODELS / "gpt2-medium.json", MODELS / "skipnet.txt"
CASES = {
    "line": (GPT, {"pipeline": 4}),
    "schedule": (GPT, {"pipeline": 4, "schedule": "1f1b"}),
    "interleaved": (GPT, {"pipeline": 2, "schedule": "interleaved"}),
    "groups": (GPT, {"pipeline": 2, "tensor": 2, "data": 2, "schedule": "1f1b"}),
    "throughput": (SKIPS, {"mode": "dag"}),
    "latency": (SKIPS, {"mode": "dag", "objective": "latency"}),
    "both": (SKIPS, {"mode": "dag", "objective": "both"}),
    "contiguous": (SKIPS, {"mode": "dag", "contiguous": True}),
}


def place(case: str, **options: object) -> PlacementReport:
    """Return the placement of a case on eight GPUs."""
    model, usual = CASES[case]
    return tiger.place(model, "dgx:1", **usual, **options)  # type: ignore[arg-type]  # of any option


def value_of(report: PlacementReport, prefix: str = "") -> float:
    """Return what was minimized, of the placement or of the one started from."""
    name = "latency_s" if report.objective == "latency" else "iteration_s" if report.schedule else "bottleneck_s"
    value = getattr(report, f"{prefix}{name}")
    assert isinstance(value, float)
    return value


def ranks_of(source: Start) -> Mapping[str, Ranks]:
    """Return the devices of every layer or operator."""
    read = read_start(source)
    assert read is not None
    return read.ranks


def reverse_devices(report: PlacementReport) -> dict[str, object]:
    """Return the stages of a report on its devices in reverse order, as a document."""
    names = [name for stage in report.stages for row in stage.devices for name in row]
    other = dict(zip(names, names[::-1], strict=False))
    stages = [
        {"ops": list(stage.ops), "devices": [[other[name] for name in row] for row in stage.devices]}
        for stage in report.stages
    ]
    return {"stages": stages}


@pytest.mark.parametrize("case", CASES)
def test_no_placement_ends_above_the_one_given(case: str, tmp_path: Path) -> None:
    """A good one is the start of another search, from its report, its JSON and a document of its stages."""
    good = place(case, effort=2)
    path = tmp_path / "placement.json"
    path.write_text(json.dumps(good.to_dict()), encoding="utf-8")
    again = place(case, start=path, time_limit_s=0.01)
    assert value_of(again) <= value_of(again, "start_") == value_of(good)
    before = ranks_of(good)
    assert again.moved == sum(before[op] != stage.devices for stage in again.stages for op in stage.ops)
    assert "moved from the plan given" in placement_summary(again)
    assert "With the plan given it is" in "".join(explain_placement(again).quality)


@pytest.mark.parametrize("case", ["schedule", "groups"])
def test_other_devices_are_another_start(case: str) -> None:
    """The figures of the start are those of its own devices and cuts."""
    good = place(case)
    start = reverse_devices(good)
    again = place(case, start=start)
    assert value_of(again) <= value_of(again, "start_")
    assert (ranks_of(again) == ranks_of(start)) == (again.moved == 0)


@pytest.mark.parametrize("positions", [1, 2])
def test_bug_an_interleaved_plan_of_one_device_was_refused(positions: int) -> None:
    """Stages that follow each other on a device stay apart, also on the way to a service."""
    options = {"pipeline": positions, "schedule": "interleaved", "virtual": 3, "microbatches": 4}
    good = tiger.place(GPT, "dgx:1", **options)  # type: ignore[arg-type]  # of any option
    again = tiger.place(GPT, "dgx:1", **options, start=good)  # type: ignore[arg-type]  # of any option
    assert again.start_iteration_s == good.iteration_s
    asked = placement(GPT, "dgx:1", **options, start=good)  # type: ignore[arg-type]  # of any option
    assert read_start(json.loads(asked.body)["start"]) == read_start(good)


@pytest.mark.parametrize("case", ["line", "throughput"])
def test_bug_a_start_of_something_else_passed_where_nothing_fits(case: str) -> None:
    """It is refused before, as pins are."""
    model, usual = CASES[case]
    tiny = {"devices": [{"name": "a", "memory_bytes": 1}], "uniform_bandwidth": 1}
    assert not tiger.place(model, tiny, **{**usual, **({"pipeline": 1} if case == "line" else {})}).feasible  # type: ignore[arg-type]  # of any option
    with pytest.raises(InputError, match=r"start: expected (a layer|an operator) of the model, got 'nonsense'"):
        tiger.place(model, tiny, **{**usual, **({"pipeline": 1} if case == "line" else {})}, start={"nonsense": "a"})  # type: ignore[arg-type]  # of any option


def test_an_operator_has_one_device() -> None:
    """Where the plan of a chain has several."""
    stages = [{"ops": list(stage.ops), "devices": [[stage.device, "m0.gpu7"]]} for stage in place("throughput").stages]
    with pytest.raises(InputError, match="expected one device, got 2"):
        place("throughput", start={"stages": stages})


def test_a_start_may_name_one_device_a_layer_in_any_order(tmp_path: Path) -> None:
    """A table of names is as good as stages."""
    good = place("line")
    rows = [f"{op},{stage.device}\n" for stage in good.stages for op in stage.ops]
    path = tmp_path / "plan.csv"
    path.write_text("name,device\n" + "".join(rows[::-1]), encoding="utf-8")
    assert place("line", start=path).start_bottleneck_s == good.bottleneck_s


def change_device(report: PlacementReport, op: str, device: str | None) -> dict[str, str]:
    """Return the devices of a report by name, one of them changed or left out."""
    devices = {name: stage.device for stage in report.stages for name in stage.ops} | {op: device or ""}
    return {name: device for name, device in devices.items() if device}


@pytest.mark.parametrize(
    ("case", "op", "device", "reason"),
    [
        ("line", "embedding", None, "expected a device for all of the model, got none for 'embedding'"),
        ("line", "embedding", "m9.gpu9", "expected a device of the cluster, got 'm9.gpu9'"),
        ("line", "x", "m0.gpu0", "expected a layer of the model, got 'x'"),
        ("line", "decoder.layers.9", "m0.gpu7", "expected layers in one stage a device"),
        ("throughput", "node1", None, "expected a device for all of the model, got none for 'node1'"),
        ("throughput", "node1", "m9.gpu9", "expected a device of the cluster, got 'm9.gpu9'"),
        ("throughput", "x", "m0.gpu0", "expected an operator of the model, got 'x'"),
    ],
)
def test_placements_of_something_else_are_refused(case: str, op: str, device: str | None, reason: str) -> None:
    """The error names what does not fit."""
    start = change_device(place(case), op, device)
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        place(case, start=start)
    assert caught.value.field.partition("/")[0] == "start"


@pytest.mark.parametrize(
    ("case", "options", "reason"),
    [
        ("line", {"pipeline": 2}, "expected a pipeline of 2 devices in a row, got 4"),
        ("line", {"tensor": 2}, "expected data x context x tensor = 1 x 1 x 2 devices of every layer, got 1 x 1"),
        ("line", {"pinned": {"embedding": "m0.gpu7"}}, "got one that breaks a pin"),
        ("throughput", {"pinned": {"node1": "m0.gpu7"}}, "got one that breaks a pin"),
    ],
)
def test_placements_of_another_shape_are_refused(case: str, options: dict[str, object], reason: str) -> None:
    """Degrees and pins are those of now."""
    model, usual = CASES[case]
    start = change_device(place(case), "embedding" if case == "line" else "node1", "m0.gpu0")
    with pytest.raises(InputError, match=re.escape(reason)):
        tiger.place(model, "dgx:1", **{**usual, **options}, start=start)  # type: ignore[arg-type]  # of any option


def test_stages_that_are_not_contiguous_are_refused() -> None:
    """The last operator beside the first one."""
    good = place("contiguous")
    start = change_device(good, good.stages[-1].ops[-1], good.stages[0].device)
    with pytest.raises(InputError, match="start: expected contiguous stages"):
        place("contiguous", start=start)


def test_a_plan_that_lacks_memory_is_refused() -> None:
    """Its bytes are named."""
    small = {"devices": [{"name": name, "memory_bytes": "8GB"} for name in "ab"], "uniform_bandwidth": "10GB/s"}
    layers = [op for stage in place("line").stages for op in stage.ops]
    start = dict.fromkeys(layers[:-1], "a") | {layers[-1]: "b"}
    with pytest.raises(
        InputError, match="start: expected a plan that the cluster can run, got one that lacks memory on"
    ):
        tiger.place(GPT, small, schedule="1f1b", start=start)


@pytest.mark.parametrize(
    ("document", "field", "reason"),
    [
        ({"stages": [{"ops": ["a"]}]}, "start/stages/0/devices", "expected lists of names in a list"),
        ({"stages": [{"ops": "a", "devices": [["d"]]}]}, "start/stages/0/ops", "expected a list of names"),
        ({"stages": [4]}, "start/stages/0", "expected an object with ops and devices"),
        ({"stages": [{"ops": ["a"], "devices": [["d"], ["e", "f"]]}]}, "start/stages/0/devices", "as many names"),
        ({"stages": [{"ops": ["a", "a"], "devices": [["d"]]}]}, "start/stages/0/ops", "expected each of them once"),
        ({"a": 3}, "start", "expected a report or an object of names, got 3 for 'a'"),
    ],
)
def test_documents_that_state_no_placement_are_refused(document: dict[str, object], field: str, reason: str) -> None:
    """By the field of the stage."""
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        read_start(document)
    assert caught.value.field == field


def test_a_start_of_another_type_is_named() -> None:
    """A list is none."""
    with pytest.raises(TypeError, match="start: expected a report, a job, a mapping or a file, got list"):
        place("line", start=[])


@pytest.mark.parametrize("case", ["groups", "throughput"])
def test_a_service_is_asked_by_stages(case: str) -> None:
    """Whatever form the start has here, and it reads the same there."""
    good = place(case)
    model, usual = CASES[case]
    asked = placement(model, "dgx:1", **usual, start=good)  # type: ignore[arg-type]  # of any option
    assert read_start(json.loads(asked.body)["start"]) == read_start(good)


def test_an_empty_start_is_for_the_service_to_refuse() -> None:
    """It goes there as a placement without stages."""
    model, usual = CASES["line"]
    asked = placement(model, "dgx:1", **usual, start={})  # type: ignore[arg-type]  # of any option
    assert json.loads(asked.body)["start"] == {"stages": []}
