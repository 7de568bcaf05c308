"""The report of a placement."""

import json
from dataclasses import replace

import pytest

from tiger.errors import InputError
from tiger.model.violation import Violation
from tiger.placement.entry.report import PlacementReport
from tiger.placement.entry.stage import Link, PlacedStage
from tiger.run.stage import Stage

STAGE = PlacedStage(
    device="x",
    devices=(("x",),),
    ops=("a", "b"),
    compute_s=3.0,
    communication_s=1.0,
    memory_bytes=10.0,
    capacity_bytes=None,
)
REPORT = PlacementReport(
    feasible=True,
    solver="auto",
    seed=1,
    seconds=0.5,
    stages=(STAGE,),
    bottleneck_s=4.0,
    lower_bound_s=4.0,
    uniform_bottleneck_s=6.0,
    progress=(Stage(name="uniform", cost=6.0, seconds=0.1),),
)


def test_the_schema_is_that_of_the_documentation() -> None:
    """Every field is there, in strict JSON."""
    document = json.loads(json.dumps(REPORT.to_dict(), allow_nan=False))
    assert document["schema"] == "tiger.placement/1"
    (stage,) = document["stages"]
    assert (stage["device"], stage["ops"], stage["devices"]) == ("x", ["a", "b"], [["x"]])
    assert (stage["compute_s"], stage["communication_s"]) == (3.0, 1.0)
    assert (stage["memory_bytes"], stage["capacity_bytes"]) == (10.0, None)
    figures = ("bottleneck_s", "iteration_s", "bubble", "uniform_bottleneck_s", "lower_bound_s", "optimal", "seconds")
    assert [document[name] for name in figures] == [4.0, None, None, 6.0, 4.0, True, 0.5]
    assert document["progress"] == [{"name": "uniform", "cost": 6.0, "seconds": 0.1}]


def test_figures_without_an_end_are_null() -> None:
    """A uniform split may need a link that is not there."""
    endless = replace(REPORT, uniform_bottleneck_s=float("inf"), stages=(replace(STAGE, communication_s=float("inf")),))
    document = endless.to_dict()
    json.dumps(document, allow_nan=False)
    assert document["uniform_bottleneck_s"] is None


def test_violations_and_links_are_listed() -> None:
    """By their names."""
    made = replace(REPORT, links=(Link(a="x", b="y", sent_bytes=5.0),), violations=(Violation(kind="k", message="m"),))
    assert made.to_dict()["links"] == [{"a": "x", "b": "y", "bytes": 5.0}]
    assert made.to_dict()["violations"] == [{"kind": "k", "message": "m"}]


@pytest.mark.parametrize(
    ("fields", "optimal"),
    [
        ({}, True),
        ({"bottleneck_s": 4.0 * (1 + 1e-12)}, True),
        ({"bottleneck_s": 4.01}, False),
        ({"lower_bound_s": None}, False),
        ({"bottleneck_s": None}, False),
        ({"schedule": "1f1b", "iteration_s": 9.0, "iteration_bound_s": 8.0}, False),
        ({"schedule": "1f1b", "iteration_s": 8.0, "iteration_bound_s": 8.0, "bottleneck_s": 5.0}, True),
    ],
)
def test_optimal_is_what_meets_its_bound(fields: dict[str, object], optimal: bool) -> None:  # noqa: FBT001 (a case, not a mode)
    """The iteration with a schedule, else the bottleneck."""
    assert replace(REPORT, **fields).optimal is optimal


def test_nothing_is_emitted_without_a_plan() -> None:
    """But an unknown system is named first."""
    with pytest.raises(InputError, match="emit: expected one of megatron"):
        REPORT.emit("jax")
    with pytest.raises(InputError, match="emit: expected a plan that is possible, got a report without one"):
        REPORT.emit("vllm")
