"""Requests for plans: answers, errors, and what the document says of them."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tiger.api.routes.entries import PLAN
from tiger.api.routes.examples import DEGREES, PLANS
from tiger.api.schemas.closed import refer
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.reports import model_of
from tiger.errors import InputError
from tiger.planning.report import PlanReport

LIMITS = Limits(max_tasks=16, max_time_s=5.0)
ROW = {"forward_s": 1, "backward_s": 2, "parameter_bytes": 10, "activation_bytes": 5}
MODEL = {"layers": [{"name": name, **ROW} for name in "abcd"]}
CLUSTER = {"devices": [{"name": "x"}, {"name": "y"}], "uniform_bandwidth": 10}


def ask(**fields: object) -> bytes:
    """Return the bytes of a request for four layers on two devices, but for the fields given."""
    return json.dumps({"model": MODEL, "cluster": CLUSTER, "batch": 4, **fields}).encode()


def test_a_plan_is_answered_as_documented() -> None:
    """With the fields that the documentation promises, degrees among those of every ranked plan, and no others."""
    document = json.loads(PLAN.answer(ask(top=2), LIMITS).report)
    model_of(PlanReport).model_validate(document)
    assert (document["schema"], document["feasible"], len(document["ranked"])) == ("tiger.plan/1", True, 2)
    assert document["ranked"][0]["pipeline"] == document["degrees"]["pipeline"]
    assert PlanReport.from_dict(document).to_dict() == document


def test_degrees_that_are_given_are_kept() -> None:
    """As in Python."""
    document = json.loads(PLAN.answer(ask(pipeline=2, data=1, tensor=1, schedule="gpipe"), LIMITS).report)
    assert {each["schedule"] for each in document["ranked"]} == {"gpipe"}
    assert document["degrees"]["pipeline"] == 2


def test_a_plan_given_is_reported_beside_the_best() -> None:
    """As in Python: two stages of two layers each take 3 s a layer and microbatch, and a second for every message."""
    document = json.loads(PLAN.answer(ask(given="pp=2"), LIMITS).report)
    model_of(PlanReport).model_validate(document)
    assert (document["given"]["pipeline"], document["given"]["feasible"]) == (2, True)
    assert document["given"]["iteration_s"] >= document["iteration_s"]


def test_what_does_not_fit_is_an_answer() -> None:
    """It says what stands against it."""
    small = {"devices": [{"name": "x", "memory_bytes": 15}]}
    document = json.loads(PLAN.answer(ask(cluster=small), LIMITS).report)
    assert (document["feasible"], document["violations"][0]["kind"]) == (False, "memory")


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"model": "/etc/passwd"}, "#/model"),
        ({"model": {"operators": [], "edges": []}}, "#/model"),
        ({"cluster": None}, "#/cluster"),
        ({"cluster": "/etc/passwd"}, "#/cluster"),
        ({"cluster": "dgx:100000000"}, "#/cluster"),
        ({"model": {"layers": [{}] * 17}}, "#/model"),
        ({"batch": 0}, "#/batch"),
        ({"batch": 65_537}, "#/batch"),
        ({"top": 1001}, "#/top"),
        ({"tensor": 2}, "#/tensor"),
        ({"schedule": "2f2b"}, "#/schedule"),
        ({"given": "pp=3"}, "#/given/pp"),
        ({"given": "depth=3"}, "#/given"),
        ({"given": {"pp": 3}}, "#/given"),
        ({"solver": "leap-bqm"}, "#/solver"),
        ({"time_limit_s": 6}, "#/time_limit_s"),
        ({"mode": "dag"}, "#/mode"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_input_is_422_and_points_at_the_field(solving: TestClient, fields: dict[str, Any], pointer: str) -> None:
    """Whatever is wrong."""
    stated = {"batch": 4, **fields}
    found = solving.post("/plan", content=ask(**stated), headers={"Content-Type": "application/json"})
    assert (found.status_code, found.headers["content-type"]) == (422, "application/problem+json")
    assert found.json()["errors"][0]["pointer"].startswith(pointer)


def test_a_plan_is_a_job(solving: TestClient) -> None:
    """Which says of what kind it is."""
    found = solving.post("/plan", json=DEGREES, headers={"Prefer": "respond-async"})
    assert (found.status_code, found.json()["kind"]) == (202, "plan")
    report = solving.get(f"/jobs/{found.json()['id']}?wait=3600").json()["report"]
    assert (report["schema"], report["feasible"]) == ("tiger.plan/1", True)


def test_the_document_shows_request_and_report(document: dict[str, Any]) -> None:
    """With worked examples, and a cluster that a plan cannot do without."""
    content = document["paths"]["/plan"]["post"]["requestBody"]["content"]["application/json"]
    assert (set(content["examples"]), content["schema"]) == (set(PLANS), refer("PlanRequest"))
    assert document["components"]["schemas"]["PlanRequest"]["required"] == ["model", "cluster"]


def test_the_time_of_the_service_is_that_of_a_plan_without_one() -> None:
    """A longer one is refused before anything is read."""
    assert PLAN.check(ask(time_limit_s=5.0), LIMITS).time_limit_s == 5.0
    with pytest.raises(InputError, match="time_limit_s: expected at most 5"):
        PLAN.check(ask(time_limit_s=5.5), LIMITS)


@pytest.mark.parametrize("path", ["/plan", "/experts", "/rebalancers"])
def test_bug_no_cluster_is_one_error_of_the_cluster(refusing: TestClient, path: str) -> None:
    """Where one has to be: its pointer ended in what the cluster could have been."""
    asked = {"cluster": None, "trace": [[0]]} if path == "/experts" else {"cluster": None, "model": "x"}
    refused = refusing.post(path, json=asked)
    errors = [error for error in refused.json()["errors"] if error["pointer"].startswith("#/cluster")]
    assert (refused.status_code, [error["pointer"] for error in errors]) == (422, ["#/cluster"])
    assert errors[0]["detail"].endswith("got null")
