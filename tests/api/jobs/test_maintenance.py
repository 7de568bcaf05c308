"""The maintenance of a server: what was lost is found, and what is old is deleted."""

import asyncio
from asyncio import Runner
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from tiger.api.jobs.claims import Claims, Lease
from tiger.api.jobs.engine import DurableJobs
from tiger.api.jobs.migrations import BODIES, COMPARISONS, JOBS, REBALANCERS, SERVERS
from tiger.api.seams.comparison import NewComparison
from tiger.api.seams.job import Job, JobOrder
from tiger.api.seams.rebalancer import NewRebalancer

WORK = JobOrder(kind="assign", body=b"{}")
LONG = JobOrder(kind="assign", body=b'{"sleep": 300, "polite": 1}')


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def kind(request: pytest.FixtureRequest) -> str:
    """Return the kind of database."""
    return str(request.param)


async def wait_until_ended(jobs: DurableJobs, job_id: str) -> Job:
    """Return a job once it has ended."""
    async with asyncio.timeout(300):
        return [seen async for seen in jobs.watch(job_id, "")][-1]


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(300):
        while not condition():
            await asyncio.sleep(0.02)


def claim_as(jobs: DurableJobs, server: str, work: JobOrder, attempts: int = 1) -> Lease:
    """Return the lease of a job that a server has claimed so often, before any other could."""
    with jobs._database.begin() as connection:
        lease = Lease(jobs._store._insert(connection, work, "").id, 0)
        claimed = sa.update(JOBS).where(JOBS.c.id == lease.job_id)
        connection.execute(claimed.values(status="running", server=server, attempts=attempts))
    return lease


def going_on(jobs: DurableJobs, lease: Lease) -> bool:
    """Return whether this server runs a lease."""
    return jobs._context.claims.touch(lease, None) == "continue"


def has_progress(jobs: DurableJobs, lease: Lease) -> bool:
    """Return whether the solve of a job has told of itself."""
    job = jobs._store.get(lease.job_id, "")
    return job is not None and job.progress is not None and job.progress["stage"] is not None


@pytest.mark.slow
def test_a_job_that_another_server_was_given_is_done(loop: Runner, jobs: DurableJobs) -> None:
    """Nobody wakes this one, which finds it by looking."""
    job, _ = jobs._store.insert(WORK)
    assert loop.run(wait_until_ended(jobs, job.id)).status == "done"


def test_a_run_that_was_lost_here_is_begun_again(loop: Runner, jobs: DurableJobs) -> None:
    """A row that says running, without a run, does not say so for long."""
    lease = claim_as(jobs, jobs._server.name, WORK)
    assert loop.run(wait_until_ended(jobs, lease.job_id)).status == "done"


def test_old_jobs_are_forgotten(loop: Runner, jobs: DurableJobs) -> None:
    """They go from the list."""
    job, _ = jobs._store.insert(WORK)
    loop.run(wait_until_ended(jobs, job.id))
    with jobs._database.begin() as connection:
        connection.execute(sa.update(JOBS).where(JOBS.c.id == job.id).values(ended_s=1.0))
    loop.run(asyncio.to_thread(jobs._maintenance.tidy))
    assert loop.run(jobs.get(job.id, "")) is None


def test_rebalancers_and_comparisons_that_expired_are_forgotten(loop: Runner, jobs: DurableJobs) -> None:
    """With what belongs to them."""
    kept = loop.run(jobs.rebalancers.insert(NewRebalancer(body=b"{}", state=b"{}")))
    compared = loop.run(jobs.comparisons.insert(NewComparison(body=b"{}", kind="plan", entries=())))
    with jobs._database.begin() as connection:
        connection.execute(sa.update(REBALANCERS).values(used_s=1.0))
        connection.execute(sa.update(COMPARISONS).values(created_s=1.0))
    loop.run(asyncio.to_thread(jobs._maintenance.tidy))
    with jobs._database.read() as connection:
        left = [*connection.execute(sa.select(REBALANCERS.c.id)), *connection.execute(sa.select(BODIES.c.id))]
    assert kept.id not in {row.id for row in left}
    assert loop.run(jobs.comparisons.get(compared.id, "")) is None


@pytest.mark.slow
def test_a_job_of_a_dead_server_is_taken_over_and_can_be_cancelled(loop: Runner, jobs: DurableJobs) -> None:
    """Also by a server that does not run it."""
    lease = claim_as(jobs, "ghost", LONG)
    loop.run(until(lambda: going_on(jobs, Lease(lease.job_id, 1)) and has_progress(jobs, lease)))
    jobs._store.cancel(lease.job_id, "")
    cancelled = loop.run(wait_until_ended(jobs, lease.job_id))
    assert (cancelled.status, cancelled.report) == ("cancelled", b'{"n": null, "ended": true}')


def test_a_job_that_was_begun_too_often_fails(loop: Runner, jobs: DurableJobs) -> None:
    """It may be what its servers died of, which is no fault of the request."""
    lease = claim_as(jobs, "ghost", WORK, 10)
    failed = loop.run(wait_until_ended(jobs, lease.job_id))
    assert (failed.status, failed.problem and failed.problem["status"]) == ("failed", 503)


@pytest.mark.slow
def test_a_worker_that_dies_thrice_fails_the_job(loop: Runner, jobs: DurableJobs) -> None:
    """It is begun again twice, in case it was not the job's fault."""
    job, _ = jobs._store.insert(JobOrder(kind="assign", body=b'{"fault": "die"}'))
    failed = loop.run(wait_until_ended(jobs, job.id))
    assert (failed.status, failed.problem is not None) == ("failed", True)


@pytest.mark.slow
def test_bug_a_server_whose_clock_is_set_keeps_its_jobs(loop: Runner, jobs: DurableJobs) -> None:
    """Its beat says that it is long dead, or not born yet; it changes all the same."""
    other = Claims(jobs._database, "other")
    other.beat()
    lease = claim_as(jobs, "other", LONG)

    async def beat() -> None:
        for number in range(8):
            with jobs._database.begin_relaxed() as connection:
                changed = sa.update(SERVERS).where(SERVERS.c.id == "other").values(beat_s=(-1.0) ** number * number)
                connection.execute(changed)
            await asyncio.to_thread(jobs._maintenance.beat)
            await asyncio.to_thread(jobs._maintenance.recover_jobs)

    loop.run(beat())
    assert other.touch(lease, None) == "continue"
    other.leave()
    loop.run(until(lambda: going_on(jobs, Lease(lease.job_id, 1))))
    loop.run(jobs.cancel(lease.job_id, ""))


def test_a_purge_gives_its_room_back_soon(loop: Runner, jobs: DurableJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that goes on is left alone, and those who watch one that is purged see no more of it."""
    monkeypatch.setattr("tiger.api.jobs.maintenance.SOON_S", 0.0)
    shrunk: list[bool] = []

    async def story() -> tuple[bool, bool, Job | None]:
        job = await jobs.submit(LONG)
        refused = await jobs.purge(job.id, "")
        await jobs.cancel(job.id, "")
        monkeypatch.setattr(jobs._database, "shrink", lambda: bool(shrunk.append(True)))
        return refused, await jobs.purge(job.id, ""), await jobs.get(job.id, "")

    assert loop.run(story()) == (False, True, None)
    loop.run(until(lambda: bool(shrunk)))
