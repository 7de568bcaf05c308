"""How requests for work are answered: at once, after a wait, or with a job."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi import Request
from fastapi.testclient import TestClient
from starlette.requests import ClientDisconnect
from starlette.types import Message

from tests.api.desk import LIMITS, Clerk, Desk, keep_jobs
from tests.api.memory import MemoryJobs, in_memory
from tiger.api.app import create_app
from tiger.api.pool.processes import SolverLostError
from tiger.api.routes.entries import ASSIGN, ENTRIES, Solve
from tiger.api.routes.examples import TWO_SPEEDS
from tiger.api.routes.inline import Inline
from tiger.api.routes.solving import Bounds, Solving
from tiger.api.seams.job import DatabaseDownError, JobOrder, KeyReusedError, QueueFullError
from tiger.api.settings import Settings
from tiger.errors import InputError
from tiger.run.progress import Progress

SMALL = {"tasks": {"nodes": [{"id": "a"}], "edges": []}, "topology": "grid:2"}
LARGE = SMALL | {"time_limit_s": 4}


@pytest.fixture
def clerk() -> Clerk:
    """Return who answers."""
    return Clerk()


@pytest.fixture
def client(clerk: Clerk, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """Return a client of a service whose requests are all answered by the clerk."""
    monkeypatch.setattr("tiger.api.app.Workers", lambda *_: clerk)
    with TestClient(create_app(Settings(max_time_s=5.0, max_wait_s=1.0), in_memory)) as client:
        clerk.calls = 0
        yield client


def ask(client: TestClient, body: object = SMALL, **headers: str) -> httpx.Response:
    """Ask for work, with headers whose names have underscores for hyphens."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    found: httpx.Response = client.post("/assign", json=body, headers=sent)
    return found


def jobs_of(client: TestClient) -> list[dict[str, Any]]:
    """Return the jobs that are listed."""
    found: list[dict[str, Any]] = client.get("/jobs").json()["jobs"]
    return found


def test_little_work_leaves_no_job(client: TestClient) -> None:
    """It is answered with its report alone."""
    answer = ask(client, Prefer="wait=3")
    assert (answer.status_code, answer.json(), "location" in answer.headers) == (200, {"seconds": 3}, False)
    assert (answer.headers["preference-applied"], jobs_of(client)) == ("wait=1", [])


@pytest.mark.slow
@pytest.mark.parametrize(("body", "headers"), [(LARGE, {}), (SMALL, {"Idempotency_Key": "k"})])
def test_a_stored_job_is_waited_for(client: TestClient, body: object, headers: dict[str, str]) -> None:
    """Its report is the answer, and the job is there to be asked for again."""
    answer = ask(client, body, **headers)
    assert (answer.status_code, answer.json()) == (200, {"seconds": 3})
    assert [answer.headers["location"]] == [f"/jobs/{job['id']}" for job in jobs_of(client)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "headers", "priority"),
    [(SMALL, {"Idempotency_Key": "k"}, 1), (LARGE, {}, 5), (SMALL, {"Prefer": "respond-async"}, 10)],
)
def test_little_work_that_is_waited_for_goes_first(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, body: object, headers: dict[str, str], priority: int
) -> None:
    """Then what is waited for, then what nobody waits for."""
    kept: list[JobOrder] = []

    async def submit(_: MemoryJobs, work: JobOrder) -> None:
        kept.append(work)
        raise QueueFullError

    monkeypatch.setattr(MemoryJobs, "submit", submit)
    ask(client, body, **headers)
    assert [work.rank for work in kept] == [priority]


def test_work_is_put_off_for_who_asks_so(client: TestClient) -> None:
    """Small or not, it is a job at once."""
    answer = ask(client, Prefer="respond-async")
    job = answer.json()
    assert (answer.status_code, answer.headers["location"]) == (202, f"/jobs/{job['id']}")
    assert (answer.headers["retry-after"], answer.headers["preference-applied"]) == ("1", "respond-async")
    assert (job["kind"], job["status"], job["report"]) == ("assign", "queued", None)


def test_both_preferences_wait_first(client: TestClient) -> None:
    """RFC 7240: answer in time if that can be done."""
    answer = ask(client, Prefer="respond-async, wait=1")
    assert (answer.status_code, answer.headers["preference-applied"]) == (200, "wait=1")
    assert "location" in answer.headers


@pytest.mark.slow
@pytest.mark.parametrize("body", [SMALL, LARGE])
@pytest.mark.parametrize("wait", ["wait=0", "wait=1"])
def test_work_that_takes_longer_than_the_wait_goes_on(
    client: TestClient, clerk: Clerk, body: object, wait: str
) -> None:
    """Small as it looks, it becomes a job."""
    clerk.takes_s = 60.0
    answer = ask(client, body, Prefer=wait)
    assert (answer.status_code, answer.headers["preference-applied"]) == (202, wait)
    assert [job["id"] for job in jobs_of(client)] == [answer.json()["id"]]


def test_a_failed_job_is_answered_with_its_problem(client: TestClient, clerk: Clerk) -> None:
    """As if there had been no job."""
    clerk.says = InputError("topology", "expected another")
    answer = ask(client, LARGE)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert answer.json()["errors"] == [{"pointer": "#/topology", "detail": "expected another"}]
    assert answer.headers["location"].startswith("/jobs/")


@pytest.mark.slow
def test_a_key_finds_its_job(client: TestClient) -> None:
    """Whether it has ended or not, and however it is asked."""
    first = ask(client, Idempotency_Key="k")
    later = ask(client, Idempotency_Key="k", Prefer="respond-async")
    assert first.headers["location"] == later.headers["location"]
    assert (later.status_code, later.json()["status"], later.json()["report"]) == (202, "done", {"seconds": 3})
    assert "retry-after" not in later.headers


def test_a_key_with_another_body_is_422(client: TestClient) -> None:
    """Nothing is kept of it."""
    ask(client, Idempotency_Key="k")
    assert ask(client, LARGE, Idempotency_Key="k").status_code == 422
    assert ask(client, SMALL, Idempotency_Key="k k").status_code == 400
    assert len(jobs_of(client)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "status"), [(KeyReusedError(), 422), (QueueFullError(), 429), (DatabaseDownError(), 503)], ids=type
)
def test_what_cannot_be_kept_is_a_problem(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int
) -> None:
    """Where asking again may help, it says when."""

    async def submit(self: MemoryJobs, work: JobOrder) -> None:
        raise error

    monkeypatch.setattr(MemoryJobs, "submit", submit)
    answer = ask(client, Prefer="respond-async")
    assert (answer.status_code, "retry-after" in answer.headers) == (status, status != 422)
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.slow
def test_a_job_cancelled_meanwhile_is_409(client: TestClient) -> None:
    """The job says what it found until then."""
    place = ask(client, LARGE, Idempotency_Key="k", Prefer="respond-async").headers["location"]
    client.delete(place)
    answer = ask(client, LARGE, Idempotency_Key="k")
    expected = (409, place) if client.get(place).json()["status"] == "cancelled" else (200, place)
    assert (answer.status_code, answer.headers["location"]) == expected


@pytest.mark.parametrize(("key", "status"), [(None, "cancelled"), ("k", "running")])
def test_a_client_that_leaves_ends_its_job(loop: asyncio.Runner, key: str | None, status: str) -> None:
    """Unless it has a key to come back with."""
    headers = [(b"content-type", b"application/json"), *([(b"idempotency-key", key.encode())] if key else [])]
    messages = [{"type": "http.request", "body": json.dumps(LARGE).encode()}, {"type": "http.disconnect"}]

    desk = Desk()

    async def receive() -> Message:
        while len(messages) == 1 and not desk.asked:
            await asyncio.sleep(0.001)
        return messages.pop(0)

    async def scenario() -> None:
        async with keep_jobs(desk) as jobs:
            solving = Solving(Inline(desk, LIMITS), jobs, Bounds(max_body_bytes=999))
            with pytest.raises(ClientDisconnect):
                await solving.answer(Request({"type": "http", "headers": headers}, receive), ASSIGN)
            assert [job.status for job in (await jobs.page("", None, 9))[0]] == [status]

    loop.run(scenario())


def test_bug_a_job_whose_worker_was_lost_says_when_to_ask_again(client: TestClient, clerk: Clerk) -> None:
    """As every other 503 does."""
    clerk.says = SolverLostError("gone")
    answer = ask(client, Idempotency_Key="lost")
    assert (answer.status_code, "retry-after" in answer.headers) == (503, True)


@pytest.mark.slow
def test_solves_and_cancels_are_counted(client: TestClient, clerk: Clerk) -> None:
    """Among the figures for those who run the service."""
    ask(client)
    clerk.takes_s = 60.0
    place = ask(client, Prefer="respond-async").headers["location"]
    for _ in range(2):
        client.delete(place)
    figures = client.get("/metrics").text
    assert 'tiger_solve_seconds_count{solver="other"} 1.0' in figures
    assert "tiger_cancellations_total 1.0" in figures


def test_networks_are_jobs_too(client: TestClient) -> None:
    """They say of which kind they are."""
    found = client.post("/place", json=TWO_SPEEDS, headers={"Prefer": "respond-async"})
    assert (found.status_code, found.json()["kind"]) == (202, "place")


def test_a_job_says_how_far_it_is(line: dict[str, Any]) -> None:
    """Stages are told as they begin, in the worker that does the job."""
    told: list[Progress] = []
    report, _ = Solve(LIMITS)("assign", json.dumps({"tasks": line, "topology": "grid:3"}).encode(), told.append)
    assert json.loads(report)["cost"] == 3
    assert told


def test_every_kind_of_job_has_an_entry() -> None:
    """Under its own name."""
    assert {kind: entry.kind for kind, entry in ENTRIES.items()} == {
        kind: kind for kind in ("assign", "place", "plan", "experts")
    }
