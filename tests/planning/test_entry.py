"""Tests of the Python entry of plans."""

import json
from dataclasses import replace

import numpy as np
import pytest

import tiger
from tiger.errors import InputError
from tiger.planning.entry import plan
from tiger.planning.report import PlanReport
from tiger.run.progress import Progress
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.sizes import Model

BAD = [
    ({"batch": 0}, "batch"),
    ({"batch": 2.5}, "batch"),
    ({"batch": 4, "data": 3}, "batch"),
    ({"data": 0}, "data"),
    ({"tensor": 3}, "tensor"),
    ({"tensor": 4}, "tensor"),
    ({"data": 9}, "data"),
    ({"pipeline": 9}, "pipeline"),
    ({"schedule": "2f2b"}, "schedule"),
    ({"virtual": 2}, "virtual"),
    ({"microbatch": 2}, "microbatch"),
    ({"microbatch": 0}, "microbatch"),
    ({"top": 0}, "top"),
    ({"seed": -1}, "seed"),
    ({"effort": 0}, "effort"),
    ({"time_limit_s": 0.0}, "time_limit_s"),
    ({"solver": "guess"}, "solver"),
]


@pytest.fixture(scope="module")
def report(shape: dict[str, object], cluster: Cluster) -> PlanReport:
    """Return the report of a tiny transformer on three devices."""
    return plan(shape, replace(cluster, memory_bytes=np.full(3, 5e6)), batch=2)


@pytest.mark.long
def test_a_plan_is_reported(report: PlanReport) -> None:
    """With its degrees, its placement, and what it comes to."""
    best = report.best
    assert best is not None
    assert report.placement is not None
    assert report.iteration_s == best.iteration_s == report.placement.iteration_s == best.breakdown.total_s
    assert best.tokens_per_s == pytest.approx(2 * 32 / best.iteration_s)
    assert best.memory_share <= 1
    assert (report.feasible, report.batch, tiger.plan) == (True, 2, plan)


def test_ranked_plans_rise_and_say_why(report: PlanReport) -> None:
    """All but the first by how much they are slower, the usual one too."""
    times = [each.iteration_s for each in report.ranked]
    assert times == sorted(times)
    assert report.ranked[0].why.startswith("the quickest")
    assert report.heuristic is not None
    assert report.gain is not None
    assert report.gain >= 1
    assert all("slower" in each.why or "as fast" in each.why for each in report.ranked[1:])


def test_the_report_is_plain(report: PlanReport) -> None:
    """With the schema, and the report of the placement inside."""
    document = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert (document["schema"], document["placement"]["schema"]) == ("tiger.plan/1", "tiger.placement/1")
    assert document["degrees"].items() <= document["ranked"][0].items()
    assert {each["reason"] for each in document["pruned"]} <= {"links", "memory", "work", "cuts", "lighter", "budget"}


@pytest.mark.long
def test_fewer_plans_are_reported_where_that_is_asked(model: Model, cluster: Cluster) -> None:
    """The best alone."""
    assert len(plan(model.given, cluster, batch=2, tensor=1, data=1, top=1).ranked) == 1


def test_what_does_not_fit_is_said_with_its_bytes(model: Model, cluster: Cluster) -> None:
    """By the closest choice: at the least 48 bytes on the first of three devices."""
    report = plan(model.given, replace(cluster, memory_bytes=np.full(3, 30.0)), batch=2)
    assert (report.feasible, report.best, report.gain, report.optimal) == (False, None, None, False)
    assert report.iteration_s is None
    assert [each.kind for each in report.violations] == ["memory"]
    assert "B or more, and the largest has 30 B" in report.violations[0].message
    with pytest.raises(InputError, match="possible"):
        report.emit("megatron")


def test_no_degrees_may_go_with_a_model(model: Model, cluster: Cluster) -> None:
    """Three positions and four microbatches do not interleave."""
    report = plan(model.given, cluster, batch=4, pipeline=3, schedule="interleaved", tensor=1)
    assert [each.kind for each in report.violations] == ["choices"]


def test_a_time_limit_is_told(model: Model, cluster: Cluster) -> None:
    """There is a plan all the same."""
    report = plan(model.given, cluster, batch=4, time_limit_s=1e-6)
    assert report.feasible
    assert report.placement is not None
    assert report.warnings[-1].startswith("ended by the time limit")


@pytest.mark.parametrize(("arguments", "field"), BAD)
def test_bad_input_names_its_field(model: Model, cluster: Cluster, arguments: dict[str, object], field: str) -> None:
    """Before anything is searched."""
    with pytest.raises(InputError) as caught:
        plan(model.given, cluster, **arguments)  # type: ignore[arg-type] # what is tested
    assert caught.value.field == field


def test_progress_begins_with_reading(model: Model, cluster: Cluster) -> None:
    """As that of a placement does."""
    told: list[Progress] = []
    plan(model.given, cluster, batch=1, pipeline=1, tensor=1, data=1, progress=told.append)
    assert told[0].stage == "reading"
