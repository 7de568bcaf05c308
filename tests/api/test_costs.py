"""Requests that say where times come from: as a word, an object or a file, what a client sends, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import tiger
from tiger.api.routes.entries import PLACE, PLAN
from tiger.api.schemas.limits import Limits
from tiger.client.requests import placement, planning
from tiger.errors import InputError

LIMITS = Limits(max_tasks=64, max_time_s=30.0)
SPEC, CLUSTER = "transformer:layers=2,hidden=1024,heads=16,vocabulary=1000,sequence=1024", "dgx-h100:1x2"
CSV = "device,operation,dtype,seconds,m,n,k\nh100,product,bf16,1,1024,3072,1024\n"
FACTORS = {"factors": {"products": 2.0, "inside": 3.0}}
SCHEDULE: dict[str, Any] = {"schedule": "1f1b", "microbatches": 4, "pipeline": 2}


def place(**fields: object) -> dict[str, Any]:
    """Return the report of a request for a placement on two devices."""
    asked = json.dumps({"model": SPEC, "cluster": CLUSTER, **SCHEDULE, **fields}).encode()
    report: dict[str, Any] = json.loads(PLACE.answer(asked, LIMITS).report)
    return report


@pytest.mark.parametrize(
    "costs",
    [
        FACTORS,
        {"csv": CSV},
        {"file": "times.csv", "text": CSV},
        {"file": "factors.json", "text": json.dumps(FACTORS)},
        {"schema": "tiger.calibration/1", **FACTORS, "tables": None, "csv": None, "runs": []},
    ],
)
def test_times_are_those_of_a_local_run(costs: dict[str, object]) -> None:
    """And longer than without them."""
    report = place(costs=costs)
    local = tiger.place(SPEC, CLUSTER, costs=costs, **SCHEDULE)
    assert report["iteration_s"] == local.iteration_s
    assert report["iteration_s"] > 1.2 * place()["iteration_s"]


@pytest.mark.parametrize("name", ["times.csv", "factors.json"])
def test_a_client_sends_the_text_of_a_file(name: str, tmp_path: Path) -> None:
    """So that the service answers what a local run does."""
    (tmp_path / name).write_text(CSV if name.endswith("csv") else json.dumps(FACTORS))
    asked = placement(SPEC, CLUSTER, costs=tmp_path / name, **SCHEDULE)
    report = json.loads(PLACE.answer(asked.body, LIMITS).report)
    assert report["iteration_s"] == tiger.place(SPEC, CLUSTER, costs=tmp_path / name, **SCHEDULE).iteration_s


def test_a_plan_has_the_times_of_a_local_run(tmp_path: Path) -> None:
    """As a placement."""
    (tmp_path / "factors.json").write_text(json.dumps(FACTORS))
    degrees: dict[str, Any] = {"pipeline": 2, "data": 1, "tensor": 1, "batch": 8}
    asked = planning(SPEC, CLUSTER, costs=tmp_path / "factors.json", **degrees)
    report = json.loads(PLAN.answer(asked.body, LIMITS).report)
    assert report["iteration_s"] == tiger.plan(SPEC, CLUSTER, costs=FACTORS, **degrees).iteration_s


@pytest.mark.parametrize(
    ("costs", "field"),
    [
        ("/etc/passwd", "costs"),
        ({"file": "/etc/passwd"}, "costs"),
        ({"tables": "/etc"}, "costs/tables"),
        ({"factors": {"memory": -1}}, "costs/factors/memory"),
        ({"file": "x.csv", "text": "device\n"}, "costs/operation"),
    ],
)
def test_no_file_of_the_service_is_opened(costs: object, field: str) -> None:
    """What would be a path here is an error that names the field."""
    with pytest.raises(InputError) as caught:
        place(costs=costs)
    assert caught.value.field == field


def test_bug_an_answer_pointed_at_a_type_of_python(refusing: TestClient) -> None:
    """Where costs were neither text nor an object; once, and at the field."""
    for path in ("/place", "/plan"):
        answer = refusing.post(path, json={"model": SPEC, "cluster": CLUSTER, "costs": 5})
        faults = [(each["pointer"], each["detail"]) for each in answer.json()["errors"]]
        assert (answer.status_code, faults[0][0], len(faults)) == (422, "#/costs", 1)


def test_a_folder_stays_here(tmp_path: Path) -> None:
    """A service opens none."""
    with pytest.raises(InputError, match="costs: "):
        placement(SPEC, CLUSTER, costs=tmp_path)
