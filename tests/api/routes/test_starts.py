"""Requests that name a job to start from."""

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi.testclient import TestClient

from tests.api.desk import LIMITS, Clerk
from tests.api.memory import in_memory
from tiger.api.app import create_app
from tiger.api.middleware.keys import parse
from tiger.api.routes.examples import ENTANGLED_ON_TARGET, STENCIL_ON_TORUS, TWO_SPEEDS
from tiger.api.routes.starts import put_start
from tiger.api.settings import Settings
from tiger.errors import InputError

TASKS = {"nodes": [{"id": "job"}, {"id": "b"}], "edges": [{"source": "job", "target": "b"}]}
ASSIGNED = {"tasks": TASKS, "topology": "ring:6"}


def submit(client: TestClient, path: str, body: object, **headers: str) -> dict[str, Any]:
    """Have a request answered as a job that is kept, and return it ended."""
    answer = client.post(path, json=body, headers={"Idempotency-Key": uuid4().hex, **headers})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = client.get(answer.headers["location"]).json()
    return found


def read_request(client: TestClient, location: str) -> dict[str, Any]:
    """Return what the job at a place was asked for."""
    found: dict[str, Any] = client.get(f"{location}/files/request.json").json()
    return found


def test_a_mapping_is_put_in_place_of_its_job(solving: TestClient) -> None:
    """The job is kept with the mapping, and outlives the one that it started from, by its key too."""
    first = submit(solving, "/assign", ASSIGNED)
    body = {**ASSIGNED, "start_job": first["id"], "max_moves": 0}
    sent = {"json": body, "headers": {"Idempotency-Key": "second"}}
    second = solving.post("/assign", **sent)  # type: ignore[arg-type]  # as posted
    assert second.json()["mapping"] == first["report"]["mapping"]
    kept = read_request(solving, second.headers["location"])
    assert kept == {**ASSIGNED, "start": first["report"]["mapping"], "max_moves": 0}
    assert solving.delete(f"/jobs/{first['id']}?purge=true").status_code == 204
    assert solving.post("/assign", **sent).headers["location"] == second.headers["location"]  # type: ignore[arg-type]  # as above
    gone = solving.post("/assign", json=body)
    assert (gone.status_code, gone.json()["errors"][0]["pointer"]) == (422, "#/start_job")


def test_little_work_and_long_bodies_start_from_jobs_too(solving: TestClient) -> None:
    """The one is answered at once, and the other is read by a worker, with an escape in the name."""
    first = submit(solving, "/assign", ASSIGNED)
    text = json.dumps({**ASSIGNED, "start_job": first["id"], "max_moves": 0})
    for body in (text, text.replace("start_job", "start\\u005fjob") + " " * 70_000):
        found = solving.post("/assign", content=body, headers={"Content-Type": "application/json"})
        assert (found.status_code, found.json()["moved"]) == (200, 0), found.text


def test_layouts_and_placements_are_taken_from_jobs(solving: TestClient) -> None:
    """As the initial layout of a circuit, and as the stages of a network."""
    routed = submit(solving, "/assign", ENTANGLED_ON_TARGET)
    again = submit(solving, "/assign", {**ENTANGLED_ON_TARGET, "start_job": routed["id"], "seed": 5})
    assert again["report"]["initial_layout"] == routed["report"]["initial_layout"]
    placed = submit(solving, "/place", TWO_SPEEDS)
    moved = submit(solving, "/place", {**TWO_SPEEDS, "start_job": placed["id"]})
    assert moved["report"]["moved"] == 0
    kept = read_request(solving, f"/jobs/{moved['id']}")
    assert [stage["ops"] for stage in kept["start"]["stages"]] == [stage["ops"] for stage in placed["report"]["stages"]]


def test_a_job_of_other_tasks_is_refused_as_its_mapping_is(solving: TestClient) -> None:
    """By the field that has it then."""
    first = submit(solving, "/assign", STENCIL_ON_TORUS)
    found = solving.post("/assign", json={**ASSIGNED, "start_job": first["id"]})
    assert (found.status_code, found.json()["errors"][0]["pointer"]) == (422, "#/start")
    assert "expected tasks of the graph" in found.json()["detail"]


REPORT = {"schema": "tiger.report/1", "feasible": True, "mapping": {"job": "1", "b": "2"}}


@pytest.mark.parametrize(
    ("report", "fields", "reason"),
    [
        (REPORT | {"schema": "tiger.plan/1"}, {}, "got one of another kind"),
        (REPORT | {"feasible": False, "mapping": {}}, {}, "got one without anything feasible"),
        (REPORT, {"start": {"job": "1", "b": "2"}}, "expected no start beside it"),
    ],
)
def test_reports_of_no_use_are_named(report: dict[str, object], fields: dict[str, object], reason: str) -> None:
    """The job has another kind, or found nothing, or is one of two starts."""
    body = json.dumps({**ASSIGNED, "start_job": "x", **fields}).encode()
    with pytest.raises(InputError, match=reason) as caught:
        put_start(json.dumps(report).encode(), body, LIMITS)
    assert caught.value.field == "start_job"


def test_only_ended_jobs_of_ones_own_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another's is as unknown as none, one that goes on is to be waited for, and a failed one has nothing."""
    clerk = Clerk()
    monkeypatch.setattr("tiger.api.app.Workers", lambda *_: clerk)
    settings = Settings(api_keys=parse("a" * 16 + "," + "b" * 16))

    def ask(key: str, body: object, **headers: str) -> httpx.Response:
        answer: httpx.Response = client.post("/assign", json=body, headers={"X-API-Key": key * 16, **headers})
        return answer

    with TestClient(create_app(settings, in_memory)) as client:
        clerk.says = InputError("tasks", "expected others")
        ask("b", ASSIGNED, **{"Idempotency-Key": "k"})
        failed = client.get("/jobs", headers={"X-API-Key": "b" * 16}).json()["jobs"][0]["id"]
        clerk.takes_s = 60.0
        going = ask("a", ASSIGNED, Prefer="respond-async").json()["id"]
        answers = [
            ask(key, {**ASSIGNED, "start_job": job})
            for key, job in (("a", going), ("b", going), ("b", "none"), ("b", failed))
        ]
    assert [answer.status_code for answer in answers] == [409, 422, 422, 422]
    assert all(answer.json()["errors"][0]["pointer"] == "#/start_job" for answer in answers)
    assert answers[0].headers["location"] == f"/jobs/{going}"
    assert answers[1].json()["detail"] == answers[2].json()["detail"]
