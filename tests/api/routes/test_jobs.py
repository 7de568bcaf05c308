"""The routes of jobs."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, get_args
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient

from tests.api.desk import Clerk, job
from tests.api.memory import in_memory
from tiger.api.app import create_app
from tiger.api.schemas.jobs import JobBody, summary
from tiger.api.seams.job import Status
from tiger.api.settings import Settings

TASKS = {"tasks": {"nodes": [{"id": "a"}], "edges": []}, "topology": "grid:2"}
KEYS = ("first-key-0123456789", "second-key-0123456789")


@pytest.fixture
def clerk() -> Clerk:
    """Return who answers, which takes a minute."""
    clerk = Clerk()
    clerk.takes_s = 60.0
    return clerk


@pytest.fixture(scope="module")
def settings() -> Settings:
    """Return the settings of a service with two keys."""
    return Settings(max_time_s=5.0, max_wait_s=0.2, api_keys=",".join(KEYS))  # type: ignore[arg-type]


@pytest.fixture
def client(clerk: Clerk, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """Return a client, with the first of two keys, of a service whose jobs are done by the clerk."""
    monkeypatch.setattr("tiger.api.app.Workers", lambda *_: clerk)
    with TestClient(create_app(settings, in_memory), headers={"X-API-Key": KEYS[0]}) as client:
        yield client


@pytest.fixture(scope="module")
def resting(settings: Settings) -> TestClient:
    """Return such a client of a service that has not started, for what it refuses at once."""
    return TestClient(create_app(settings, in_memory), headers={"X-API-Key": KEYS[0]})


def submit(client: TestClient) -> str:
    """Submit a job, and return where it is."""
    answer: httpx.Response = client.post("/assign", json=TASKS, headers={"Prefer": "respond-async"})
    return answer.headers["location"]


def wait_for_end(client: TestClient, place: str) -> httpx.Response:
    """Return the answer about a job once it is done."""
    while (answer := client.get(place, params={"wait": 9})).json()["status"] != "done":
        pass
    return answer


def test_a_job_is_shown(client: TestClient) -> None:
    """With all that is known of it, and when to ask again."""
    answer = client.get(submit(client))
    job = JobBody.model_validate(answer.json())
    assert (answer.status_code, answer.headers["retry-after"]) == (200, "1")
    assert (job.kind, job.ended_s, job.report, job.problem) == ("assign", None, None, None)
    assert job.created_s == pytest.approx(time.time(), abs=60)


def test_bug_a_cursor_that_is_none_is_called_so(resting: TestClient) -> None:
    """The answer was a regular expression."""
    detail = resting.get("/jobs", params={"after": "xx"}).json()["detail"]
    assert detail == '#/after: expected the cursor of a page, as `next` of the one before has it, got "xx"'


def test_bug_a_done_job_is_done_as_a_whole() -> None:
    """What was heard of it last is from before its end, or from before its beginning."""
    heard = {"stage": "dense", "cost": 3.0, "fraction": 0.2}
    assert summary(job(status="done", progress=heard))["progress"] == heard | {"fraction": 1.0}
    assert summary(job(status="cancelled", progress=heard))["progress"] == heard
    assert summary(job(status="done"))["progress"] is None


def test_an_ended_job_has_its_report(client: TestClient, clerk: Clerk) -> None:
    """Nothing more is to be asked for."""
    clerk.takes_s = 0.0
    answer = wait_for_end(client, submit(client))
    assert (answer.json()["status"], answer.json()["report"]) == ("done", {"seconds": 3})
    assert "retry-after" not in answer.headers


def test_waiting_for_a_job_has_an_end(client: TestClient) -> None:
    """The service's own bound counts, which is far below the minute that the job takes."""
    place, begun = submit(client), time.monotonic()
    assert client.get(place, params={"wait": 3600}).json()["status"] == "running"
    assert time.monotonic() - begun > 0.15


@pytest.mark.slow
def test_a_cancelled_job_stays(client: TestClient) -> None:
    """Cancelling again changes nothing."""
    place = submit(client)
    answers = [client.delete(place) for _ in range(2)]
    assert [(answer.status_code, answer.json()["status"]) for answer in answers] == [(200, "cancelled")] * 2
    assert answers[0].json() == answers[1].json() == client.get(place).json()


def test_an_ended_job_cannot_be_cancelled(client: TestClient, clerk: Clerk) -> None:
    """What it found is not lost to a cancel that comes too late."""
    clerk.takes_s = 0.0
    place = submit(client)
    wait_for_end(client, place)
    answer = client.delete(place)
    assert (answer.status_code, answer.json()["status"], answer.json()["report"]) == (200, "done", {"seconds": 3})


@pytest.mark.slow
def test_a_job_is_followed(client: TestClient, clerk: Clerk) -> None:
    """Until it ends, as server-sent events."""
    clerk.takes_s = 0.3
    answer = client.get(f"{submit(client)}/events")
    names = [line for line in answer.text.split("\n") if line.startswith("event")]
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert (names[0], names[-1], names.count("event: done")) == ("event: progress", "event: done", 1)


OF_A_JOB = [
    ("GET", "{}"),
    ("GET", "{}?wait=1"),
    ("GET", "{}/events"),
    ("GET", "{}/view"),
    ("GET", "{}/files"),
    ("GET", "{}/files/mapping.csv"),
    ("GET", "{}/files/%00"),
    ("DELETE", "{}"),
    ("DELETE", "{}?purge=true"),
]
STRANGE = ("none", "%00", "a" * 200, "%F0%9F%90%AF")


def test_a_job_of_another_key_is_unknown(client: TestClient) -> None:
    """It answers just as one that never was."""
    place = submit(client)
    for method, path in OF_A_JOB:
        answers = [
            client.request(method, path.format(place), headers={"X-API-Key": KEYS[1]}),
            *(client.request(method, path.format(f"/jobs/{name}")) for name in STRANGE),
        ]
        assert {answer.status_code for answer in answers} == {404}, (method, path)
        assert len({answer.text for answer in answers}) == 1, (method, path)


def test_jobs_are_listed_by_page(client: TestClient) -> None:
    """The newest first, without reports, and none of another key."""
    places = [submit(client) for _ in range(3)]
    first = client.get("/jobs", params={"limit": 2}).json()
    second = client.get(first["next"]).json()
    assert [f"/jobs/{job['id']}" for job in (*first["jobs"], *second["jobs"])] == places[::-1]
    assert second["next"] is None
    assert "report" not in first["jobs"][0]
    assert client.get("/jobs", headers={"X-API-Key": KEYS[1]}).json() == {"jobs": [], "next": None}


@pytest.mark.slow
def test_bug_jobs_are_filtered(client: TestClient, clerk: Clerk) -> None:
    """By status, of which there may be several, kind and age; the next page is of the same jobs."""
    places = [submit(client) for _ in range(3)]
    client.delete(places[1])
    since = datetime.fromtimestamp(client.get(places[0]).json()["created_s"] - 60, UTC).isoformat()
    filters = {"status": ["running", "queued", "done"], "kind": "assign", "created_after": since}
    first = client.get("/jobs", params={**filters, "limit": 1}).json()
    assert parse_qs(urlsplit(first["next"]).query)["status"] == filters["status"]
    second = client.get(first["next"]).json()
    assert [f"/jobs/{page['jobs'][0]['id']}" for page in (first, second)] == [places[2], places[0]]
    assert second["next"] is None
    for others in ({"kind": "plan"}, {"status": "failed"}, {"created_before": since}):
        assert client.get("/jobs", params=others).json()["jobs"] == []


def test_a_purged_job_is_gone(client: TestClient, clerk: Clerk) -> None:
    """With all that it has left; to purge it again is to ask for one that never was."""
    clerk.takes_s = 0.0
    place = submit(client)
    client.get(place, params={"wait": 9})
    answer = client.delete(place, params={"purge": "true"})
    assert (answer.status_code, answer.content) == (204, b"")
    paths = (place, f"{place}/files", f"{place}/view")
    assert [client.get(path).status_code for path in paths] == [404] * 3
    assert client.delete(place, params={"purge": "true"}).status_code == 404
    assert client.get("/jobs").json()["jobs"] == []


def test_a_job_that_goes_on_is_not_purged(client: TestClient) -> None:
    """It is to be cancelled first, so that no work is lost by mistake."""
    place = submit(client)
    answer = client.delete(place, params={"purge": "true"})
    assert (answer.status_code, answer.headers["content-type"]) == (409, "application/problem+json")
    assert (answer.headers["location"], client.get(place).json()["status"]) == (place, "running")
    assert client.delete(place, params={"purge": "false"}).json()["status"] == "cancelled"
    assert client.delete(place, params={"purge": "true"}).status_code == 204


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ("/jobs?limit=0", "#/limit"),
        ("/jobs?limit=101", "#/limit"),
        ("/jobs?limit=x", "#/limit"),
        ("/jobs?after=", "#/after"),
        ("/jobs?after=%00", "#/after"),
        (f"/jobs?after={'x' * 300}", "#/after"),
        ("/jobs?after=0", "#/after"),
        ("/jobs?status=open", "#/status/0"),
        ("/jobs?status=done&status=", "#/status/1"),
        ("/jobs?kind=views", "#/kind/0"),
        ("/jobs?created_after=1700000000", "#/created_after"),
        ("/jobs?created_after=2026-01-31T12:00:00", "#/created_after"),
        ("/jobs?created_after=2026-01-31T12:00:00+01:00", "#/created_after"),
        ("/jobs?created_before=2026-02-31T12:00:00Z", "#/created_before"),
        ("/jobs/none?wait=-1", "#/wait"),
        ("/jobs/none?wait=nan", "#/wait"),
        ("/jobs/none?wait=inf", "#/wait"),
    ],
)
def test_a_bad_parameter_is_422(resting: TestClient, path: str, pointer: str) -> None:
    """The problem points at it."""
    answer = resting.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_the_document_describes_jobs(document: dict[str, Any]) -> None:
    """With every answer that there may be."""
    paths = document["paths"]
    statuses = {f"{verb} {path}": set(route["responses"]) for path in paths for verb, route in paths[path].items()}
    always = {"200", "401", "405", "421", "422", "429", "500", "503"}
    assert statuses["get /jobs"] == always | {"422"}
    assert statuses["get /jobs/{job_id}"] == statuses["get /jobs/{job_id}/events"] == always | {"404", "422"}
    assert statuses["get /jobs/{job_id}/view"] == statuses["get /jobs/{job_id}/files"] == always | {"404", "422"}
    assert statuses["get /jobs/{job_id}/files/{name}"] == always | {"404", "422"}
    assert statuses["delete /jobs/{job_id}"] == always | {"202", "204", "404", "409", "422"}
    parameters = {each["name"]: each for each in paths["/jobs"]["get"]["parameters"]}
    assert list(parameters) == ["after", "limit", "status", "kind", "tag", "created_after", "created_before"]
    assert parameters["status"]["schema"]["items"]["enum"] == list(get_args(Status))
    assert parameters["created_after"]["schema"]["anyOf"][0]["format"] == "date-time"


@pytest.mark.parametrize(("path", "known"), [("/jobs/none", "DELETE, GET"), ("/metrics", "GET"), ("/place", "POST")])
def test_bug_a_wrong_method_is_told_all_that_the_path_knows(resting: TestClient, path: str, known: str) -> None:
    """Several routes may share a path."""
    answer = resting.put(path)
    assert (answer.status_code, answer.headers["allow"]) == (405, known)
