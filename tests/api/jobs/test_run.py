"""Turns of jobs, as the log tells of them."""

import asyncio
import json
from asyncio import Runner
from collections.abc import Callable
from typing import Any

import pytest

from tiger.api.jobs.claims import Claims, Lease
from tiger.api.jobs.engine import DurableJobs
from tiger.api.pool.processes import SolverLostError, Workers
from tiger.api.seams.files import JobDelivery
from tiger.api.seams.job import Job, JobOrder

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def kind(request: pytest.FixtureRequest) -> str:
    """Return the kind of database."""
    return str(request.param)


async def run_to_end(jobs: DurableJobs, **asked: object) -> Job:
    """Have the toy do something, and return the job once it has ended."""
    job = await jobs.submit(JobOrder(kind="place", body=json.dumps(asked).encode(), request_id="r.1"))
    return [seen async for seen in jobs.watch(job.id, "")][-1]


async def cancel(jobs: DurableJobs, body: bytes = b'{"sleep": 30, "polite": 1}') -> Job:
    """Cancel a job once it has told of itself."""
    job = await jobs.submit(JobOrder(kind="place", body=body, request_id="r.1"))
    async for seen in jobs.watch(job.id, ""):
        if seen.progress and seen.progress["stage"]:
            break
    await jobs.cancel(job.id, "")
    return job


def log_of(lines: Lines, job: Job) -> list[tuple[str, str | None]]:
    """Return event and status of what was logged of a job, all of it with its kind and the request's number."""
    of = [line for line in lines() if line.get("job_id") == job.id]
    assert {(line["kind"], line["request_id"]) for line in of if line["event"] != "job cancelled"} == {("place", "r.1")}
    ends = [(line["who"], line["resource"], line["outcome"]) for line in of if line["event"] == "audit"]
    assert ends == [(job.owner or None, job.id, line["status"]) for line in of if line["event"] == "job ended"]
    return [(line["event"], line.get("status")) for line in of if line["event"] != "audit"]


@pytest.mark.slow
def test_begin_and_end_are_logged(lines: Lines, loop: Runner, jobs: DurableJobs) -> None:
    """With the request that it came with, and the seconds that it took."""
    job = loop.run(run_to_end(jobs, n=1))
    assert log_of(lines, job) == [("job begun", None), ("job ended", "done")]
    begun, end, _ = (line for line in lines() if line.get("job_id") == job.id)
    assert (begun["attempt"], begun["age_s"] >= 0) == (1, True)
    assert end["seconds"] > 0


def test_failures_are_logged(lines: Lines, loop: Runner, jobs: DurableJobs) -> None:
    """The traceback has the number of the job."""
    assert log_of(lines, loop.run(run_to_end(jobs, fault="bad")))[1:] == [("job ended", "failed")]
    assert log_of(lines, loop.run(run_to_end(jobs, fault="bug")))[1:] == [
        ("job failed", None),
        ("job ended", "failed"),
    ]
    assert any("ValueError" in line.get("exception", "") for line in lines())


def test_cancels_are_logged(lines: Lines, loop: Runner, jobs: DurableJobs) -> None:
    """First that it was asked for, then that it has ended."""
    found = log_of(lines, loop.run(cancel(jobs)))
    assert found == [("job begun", None), ("job cancelled", "running"), ("job ended", "cancelled")]


@pytest.mark.slow
def test_a_solve_that_has_to_be_killed_is_counted(
    loop: Runner, jobs: DurableJobs, pool: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its worker dies of it; one that listens lives on."""
    told: list[object] = []
    monkeypatch.setattr(pool, "on_result", told.append)
    loop.run(run_to_end(jobs, sleep=30, polite=1, time_limit_s=0.1))
    loop.run(cancel(jobs, b'{"sleep": 30}'))
    assert [type(outcome) for outcome in told] == [JobDelivery, SolverLostError]


def test_a_cancel_that_comes_too_late_is_not_logged(lines: Lines, loop: Runner, jobs: DurableJobs) -> None:
    """It changes nothing."""
    job = loop.run(run_to_end(jobs, n=2))
    loop.run(jobs.cancel(job.id, ""))
    assert log_of(lines, job)[-1] == ("job ended", "done")


@pytest.mark.slow
def test_bug_a_run_listens_on_after_an_error(loop: Runner, jobs: DurableJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it was: what another server writes later is heard."""
    faults, touch = [ValueError()], Claims.touch

    def once(claims: Claims, lease: Lease, progress: Any) -> Any:
        if faults:
            raise faults.pop()
        return touch(claims, lease, progress)

    monkeypatch.setattr(Claims, "touch", once)

    async def story() -> Job | None:
        job = await jobs.submit(JobOrder(kind="place", body=b'{"sleep": 30, "polite": 1}'))
        while faults:
            await asyncio.sleep(0.02)
        jobs._store.cancel(job.id, "")
        return [seen async for seen in jobs.watch(job.id, "")][-1]

    ended = loop.run(asyncio.wait_for(story(), 15))
    assert ended is not None
    assert ended.status == "cancelled"
