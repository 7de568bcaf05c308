"""The maintenance of a server: what was lost is found, and what is old is deleted."""

import asyncio
import time
from asyncio import Runner
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from tiger.api.jobs import queue as queues
from tiger.api.jobs.claims import Claims, Lease
from tiger.api.jobs.engine import DurableJobs
from tiger.api.jobs.job import Job, Work
from tiger.api.jobs.migrations import JOBS, SERVERS
from tiger.api.jobs.run import Run

WORK = Work(kind="assign", body=b"{}")
LONG = Work(kind="assign", body=b'{"sleep": 30, "polite": 1}')


async def wait_until_ended(jobs: DurableJobs, job_id: str) -> Job:
    """Return a job once it has ended."""
    async with asyncio.timeout(15):
        return [seen async for seen in jobs.watch(job_id, "")][-1]


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(15):
        while not condition():
            await asyncio.sleep(0.02)


def going_on(jobs: DurableJobs, lease: Lease) -> bool:
    """Return whether this server runs a lease."""
    return jobs._context.claims.touch(lease, None) == "continue"


def test_a_job_that_never_came_into_the_queue_is_done(loop: Runner, jobs: DurableJobs) -> None:
    """A sweep finds it."""
    job, _ = jobs._store.insert(WORK)
    assert loop.run(wait_until_ended(jobs, job.id)).status == "done"


def test_a_lease_that_the_queue_has_lost_is_renewed(loop: Runner, jobs: DurableJobs) -> None:
    """Nobody knows of the workflow that was to do it."""
    job, _ = jobs._store.insert(WORK)
    with jobs._database.begin() as connection:
        connection.execute(sa.update(JOBS).where(JOBS.c.id == job.id).values(enqueued_s=1.0))
    assert loop.run(wait_until_ended(jobs, job.id)).status == "done"


def test_a_lease_comes_into_the_queue_once(loop: Runner, jobs: DurableJobs) -> None:
    """Putting it there again changes nothing."""
    job, _ = jobs._store.insert(WORK)
    for _ in range(2):
        loop.run(asyncio.to_thread(jobs._queue.put, Lease(job.id, 0)))
    done = loop.run(wait_until_ended(jobs, job.id))
    loop.run(asyncio.to_thread(jobs._queue.put, Lease(job.id, 0)))
    loop.run(asyncio.sleep(0.3))
    assert loop.run(jobs.get(job.id, "")) == done


def test_a_run_that_was_lost_here_is_begun_again(loop: Runner, jobs: DurableJobs) -> None:
    """A row that says running, without a run, does not say so for long."""
    job, _ = jobs._store.insert(WORK)
    assert jobs._context.claims.claim(Lease(job.id, 0)) is not None
    assert loop.run(wait_until_ended(jobs, job.id)).status == "done"


def test_old_jobs_are_forgotten(loop: Runner, jobs: DurableJobs) -> None:
    """They go from the list, and with them what the queue knew of them."""
    job, _ = jobs._store.insert(WORK)
    loop.run(wait_until_ended(jobs, job.id))
    with jobs._database.begin() as connection:
        connection.execute(sa.update(JOBS).where(JOBS.c.id == job.id).values(ended_s=1.0))
    loop.run(asyncio.to_thread(jobs._maintenance.tidy))
    assert loop.run(jobs.get(job.id, "")) is None
    assert loop.run(asyncio.to_thread(jobs._queue.find_lost, [Lease(job.id, 0)], set(), set())) == [Lease(job.id, 0)]


def test_what_waits_is_taken_up_before_the_queue_comes_up_with_it(
    loop: Runner, jobs: DurableJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that has ended goes on with the next job, the most urgent first, and takes its lease out of the queue."""
    # They only look as if they were in the queue.
    monkeypatch.setattr(jobs._queue, "find_lost", lambda *_: [])
    waits = [jobs._store.insert(Work(kind="assign", body=b"{}", priority=priority))[0] for priority in (9, 1, 9)]
    with jobs._database.begin() as connection:
        connection.execute(sa.update(JOBS).where(JOBS.c.status == "queued").values(enqueued_s=time.time()))
    assert [lease.job_id for lease in jobs._context.claims.next(2)] == [waits[1].id, waits[0].id]
    out: list[Lease] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs._queue, "withdraw", out.append)
        loop.run(jobs._run(Lease(waits[2].id, 0)))
        # Threads take leases out, soon.
        until_s = time.monotonic() + 5
        while len(out) < 2 and time.monotonic() < until_s:
            time.sleep(0.01)
    assert [(lease.job_id, lease.token) for lease in out] == [(waits[1].id, 0), (waits[0].id, 0)]
    assert {status for _, status, *_ in jobs._store.states([job.id for job in waits]).values()} == {"done"}


def test_a_lease_that_is_withdrawn_is_not_run(loop: Runner, jobs: DurableJobs) -> None:
    """Cancelling a job that waits takes its lease out, so that none pile up."""

    async def story() -> tuple[Job | None, list[Lease]]:
        hold = [await jobs.submit(LONG) for _ in range(2)]
        async with asyncio.timeout(15):
            while len(jobs._context.running) < 2:
                await asyncio.sleep(0.02)
        waits = await jobs.submit(WORK)
        async with asyncio.timeout(15):
            while not [lease for lease in jobs._context.claims.next(9) if lease.job_id == waits.id]:
                await asyncio.sleep(0.02)
        ended = await jobs.cancel(waits.id, "")
        lost: list[Lease] = []
        async with asyncio.timeout(15):
            while not lost:
                lost = await asyncio.to_thread(jobs._queue.find_lost, [Lease(waits.id, 0)], set(), set())
        for job in hold:
            await jobs.cancel(job.id, "")
        return ended, lost

    ended, lost = loop.run(story())
    assert ended is not None
    assert (ended.status, [lease.job_id for lease in lost]) == ("cancelled", [ended.id])


def test_a_lease_that_is_under_way_is_not_begun_again(loop: Runner, jobs: DurableJobs) -> None:
    """The queue may come up with it late."""
    job, _ = jobs._store.insert(LONG)
    lease = Lease(job.id, 0)
    loop.run(until(lambda: lease in jobs._context.running))
    loop.run(Run(jobs._context, lease)())
    assert lease in jobs._context.running
    loop.run(jobs.cancel(job.id, ""))


def test_a_late_turn_leaves_the_right_one_alone(loop: Runner, jobs: DurableJobs) -> None:
    """It finds nothing to do, and what runs of the same job is not taken for lost."""
    job, _ = jobs._store.insert(LONG)
    loop.run(until(lambda: going_on(jobs, Lease(job.id, 0))))
    loop.run(jobs._run(Lease(job.id, -1)))
    loop.run(asyncio.to_thread(jobs._maintenance.recover_jobs))
    assert going_on(jobs, Lease(job.id, 0))
    loop.run(jobs.cancel(job.id, ""))


def test_a_job_of_a_dead_server_is_taken_over_and_can_be_cancelled(loop: Runner, jobs: DurableJobs) -> None:
    """Also by a server that does not run it."""
    job, _ = jobs._store.insert(LONG)
    assert Claims(jobs._database, "ghost").claim(Lease(job.id, 0)) is not None
    loop.run(until(lambda: going_on(jobs, Lease(job.id, 1))))
    jobs._store.cancel(job.id, "")
    cancelled = loop.run(wait_until_ended(jobs, job.id))
    assert (cancelled.status, cancelled.report) == ("cancelled", b'{"n": null, "ended": true}')


def test_a_job_that_was_begun_too_often_fails(loop: Runner, jobs: DurableJobs) -> None:
    """It may be what its servers died of."""
    job, _ = jobs._store.insert(WORK)
    with jobs._database.begin() as connection:
        connection.execute(sa.update(JOBS).where(JOBS.c.id == job.id).values(attempts=10))
    failed = loop.run(wait_until_ended(jobs, job.id))
    assert (failed.status, failed.problem and failed.problem["status"]) == ("failed", 500)


@pytest.mark.slow
def test_a_worker_that_dies_thrice_fails_the_job(loop: Runner, jobs: DurableJobs) -> None:
    """It is begun again twice, in case it was not the job's fault."""
    job, _ = jobs._store.insert(Work(kind="assign", body=b'{"fault": "die"}'))
    failed = loop.run(wait_until_ended(jobs, job.id))
    assert (failed.status, failed.problem is not None) == ("failed", True)


def test_bug_a_turn_is_given_time_to_begin_by_a_clock_that_nobody_sets(
    jobs: DurableJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the library has taken up here is lost when it has not been run for ten seconds, whenever that was."""
    queue, lease, clock = jobs._queue, Lease("a" * 32, 0), iter((5.0, 14.9, 15.1, 20.0))
    row = SimpleNamespace(workflow_id=f"{lease.job_id}-0", status="PENDING", executor_id=queue.server, updated_at=0)
    monkeypatch.setattr(queue._client, "list_workflows", lambda **_: [row])
    # Not that of the library, whose threads are at work.
    monkeypatch.setattr(queues, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    lost = [queue.find_lost([lease], set(), set()) for _ in range(3)]
    assert lost == [[], [], [lease]]
    assert queue.find_lost([lease], set(), {lease}) == []


def test_bug_a_server_whose_clock_is_set_keeps_its_jobs(loop: Runner, jobs: DurableJobs) -> None:
    """Its beat says that it is long dead, or not born yet; it changes all the same."""
    other, (job, _) = Claims(jobs._database, "other"), jobs._store.insert(LONG)
    other.beat()
    assert other.claim(Lease(job.id, 0)) is not None

    async def beat() -> None:
        for number in range(8):
            with jobs._database.begin_relaxed() as connection:
                changed = sa.update(SERVERS).where(SERVERS.c.id == "other").values(beat_s=(-1.0) ** number * number)
                connection.execute(changed)
            await asyncio.to_thread(jobs._maintenance.beat)
            await asyncio.to_thread(jobs._maintenance.recover_jobs)

    loop.run(beat())
    assert other.touch(Lease(job.id, 0), None) == "continue"
    other.leave()
    loop.run(until(lambda: going_on(jobs, Lease(job.id, 1))))
    loop.run(jobs.cancel(job.id, ""))
