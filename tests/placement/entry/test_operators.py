"""Tests of the entry of operators."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.model.violation import Violation
from tiger.placement.entry.place import place
from tiger.placement.operators.params import OperatorParams
from tiger.placement.operators.result import OperatorPlacement
from tiger.run.stage import Stage
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.operators import Operators

ROWS = [{"name": name, "seconds": 3, "memory_bytes": 10, "output_bytes": 5} for name in "abcd"]
TABLE: dict[str, Any] = {"operators": ROWS, "edges": [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"]]}
NODE = {"supportedOnFpga": 1, "cpuLatency": 8000, "fpgaLatency": 2000, "isBackwardNode": 0}
NODES: dict[str, Any] = {
    "maxFPGAs": 1,
    "maxSizePerFPGA": 5,
    "maxCPUs": 1,
    "nodes": [{"id": 1, **NODE}, {"id": 2, **NODE}],
    "edges": [{"sourceId": 1, "destId": 2, "cost": 500}],
}


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> list[OperatorParams]:
    """Put the first half of all colocation groups on the first device, and return what each placement was asked."""
    seen: list[OperatorParams] = []

    def place(
        operators: Operators, cluster: Cluster, params: OperatorParams, stop: Callable[[], bool], _: Any
    ) -> OperatorPlacement:
        seen.append(params)
        if operators.memory_bytes.sum() > 100:
            return OperatorPlacement(place=None, violations=(Violation(kind="memory", message="too much"),))
        place = np.arange(operators.groups) * 2 // operators.groups
        stages = (Stage(name="uniform", cost=6.5, seconds=0.0),)
        line = (1, 0) if params.contiguous else ()
        timed = {"latency_s": 9.0, "latency_bound_s": 9.0} if params.objective != "throughput" else {}
        return OperatorPlacement(place=place, line=line, bottleneck_s=6.5, lower_bound_s=6.0, stages=stages, **timed)

    monkeypatch.setattr("tiger.placement.operators.solve.place_operators", place)
    return seen


def test_every_device_has_what_it_holds_and_takes(engine: list[OperatorParams], pair: Cluster) -> None:
    """Two operators each; a sends 5 bytes at 10 a second to y, b another 5, and c and d nothing back."""
    report = place(TABLE, pair, mode="dag")
    assert (report.mode, report.objective, report.feasible, report.optimal) == ("dag", "throughput", True, False)
    assert [(s.device, s.ops, s.compute_s, s.communication_s) for s in report.stages] == [
        ("x", ("a", "b"), 6.0, 1.0),
        ("y", ("c", "d"), 6.0, 1.0),
    ]
    assert [(s.memory_bytes, s.capacity_bytes, s.devices) for s in report.stages] == [
        (20.0, 100.0, (("x",),)),
        (20.0, None, (("y",),)),
    ]
    assert (report.iteration_s, report.bubble, report.latency_s) == (None, None, None)


def test_what_is_asked_reaches_the_engine(engine: list[OperatorParams], pair: Cluster) -> None:
    """Under its own names."""
    asked = {"objective": "both", "contiguous": True, "seed": 3, "effort": 2, "time_limit_s": 9.0}
    place(TABLE, pair, mode="dag", pinned={"a": "x"}, **asked)
    assert engine == [OperatorParams(pinned={"a": "x"}, **asked)]


@pytest.mark.parametrize(("objective", "optimal"), [("throughput", False), ("latency", True), ("both", False)])
def test_optimal_is_what_the_objective_says(
    engine: list[OperatorParams], pair: Cluster, objective: Any, *, optimal: bool
) -> None:
    """The load is above its bound, the makespan is not."""
    assert place(TABLE, pair, mode="dag", objective=objective).optimal is optimal


def test_contiguous_stages_are_in_their_order(engine: list[OperatorParams], pair: Cluster) -> None:
    """Not in that of the cluster."""
    assert [stage.device for stage in place(TABLE, pair, mode="dag", contiguous=True).stages] == ["y", "x"]


def test_devices_that_the_model_states_are_used(engine: list[OperatorParams], pair: Cluster, tmp_path: Path) -> None:
    """Only where no cluster is given; the cpu pays nothing for what it receives."""
    (tmp_path / "m.json").write_text(json.dumps(NODES))
    report = place(tmp_path / "m.json", mode="dag")
    assert [(s.device, s.ops, s.compute_s, s.communication_s) for s in report.stages] == [
        ("gpu0", ("1",), 2.0, 0.5),
        ("cpu0", ("2",), 8.0, 0.0),
    ]
    assert [stage.device for stage in place(NODES, pair, mode="dag").stages] == ["x", "y"]


def test_what_is_infeasible_is_a_report(engine: list[OperatorParams], pair: Cluster) -> None:
    """It holds no figures."""
    rows = [row | {"memory_bytes": 50} for row in ROWS]
    report = place({**TABLE, "operators": rows}, pair, mode="dag")
    assert (report.feasible, report.stages, report.bottleneck_s) == (False, (), None)
    assert report.violations[0].kind == "memory"
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))["mode"] == "dag"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"cluster": None}, "cluster"),
        ({"pinned": {"e": "x"}}, "pinned/e"),
        ({"pinned": {"a": "z"}}, "pinned/a"),
        ({"pinned": {"a/b~c": "x"}}, "pinned/a~1b~0c"),
        ({"schedule": "1f1b"}, "schedule"),
        ({"microbatches": 4, "schedule": "gpipe"}, "schedule"),
        ({"pipeline": 2}, "pipeline"),
        ({"tensor": 2}, "tensor"),
        ({"data": 2}, "data"),
        ({"objective": "beauty"}, "objective"),
        ({"mode": "chain", "objective": "both"}, "objective"),
        ({"mode": "dag", "objective": "cache"}, "objective"),
        ({"mode": "chain", "contiguous": True}, "contiguous"),
        ({"model": "transformer:layers=2"}, "model"),
        ({"model": {"layers": []}}, "model"),
        ({"model": []}, "model"),
    ],
)
def test_bad_arguments_name_their_field(pair: Cluster, arguments: dict[str, Any], field: str) -> None:
    """Those of chains as well."""
    with pytest.raises(InputError) as caught:
        place(**{"model": TABLE, "cluster": pair, "mode": "dag", **arguments})
    assert caught.value.field == field


@pytest.mark.parametrize("name", ["microbatches", "virtual"])
def test_what_needs_a_schedule_first_needs_the_other_mode(pair: Cluster, name: str) -> None:
    """Nobody is sent for a schedule, which the mode dag would refuse next."""
    with pytest.raises(InputError, match=f"{name}: expected the mode chain beside it, got 4 in the mode dag"):
        place(**{"model": TABLE, "cluster": pair, "mode": "dag", name: 4})  # type: ignore[arg-type]  # one of two counts


@pytest.mark.parametrize("arguments", [{"model": 5}, {"contiguous": 1}, {"cluster": 5}])
def test_other_types_are_the_callers_fault(pair: Cluster, arguments: dict[str, Any]) -> None:
    """They are no input."""
    with pytest.raises(TypeError):
        place(**{"model": TABLE, "cluster": pair, "mode": "dag", **arguments})


def test_operators_cannot_be_emitted(engine: list[OperatorParams], pair: Cluster) -> None:
    """No system takes them."""
    with pytest.raises(InputError, match="emit: expected the mode chain beside it, got the mode dag"):
        place(TABLE, pair, mode="dag").emit("vllm")
