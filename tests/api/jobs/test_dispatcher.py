"""What a server takes up, and when, also where something goes wrong at that moment."""

import asyncio
import json
import threading
import time
from asyncio import Runner
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tests.api.jobs.older import insert_as_before
from tiger.api.jobs import migrations
from tiger.api.jobs.claims import Claim, Claims, Lease
from tiger.api.jobs.engine import DurableJobs
from tiger.api.jobs.migrations import JOBS
from tiger.api.jobs.run import Run
from tiger.api.seams.job import DatabaseDownError, Job, JobOrder

ClaimNext = Callable[..., Claim | None]


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def kind(request: pytest.FixtureRequest) -> str:
    """Return the kind of database."""
    return str(request.param)


def work(**asked: object) -> JobOrder:
    """Return work for the toy."""
    return JobOrder(kind="assign", body=json.dumps(asked).encode())


async def finish(jobs: DurableJobs, ids: list[str]) -> list[Job]:
    """Return jobs once they have ended."""
    async with asyncio.timeout(300):
        return [[seen async for seen in jobs.watch(job_id, "")][-1] for job_id in ids]


def columns(jobs: DurableJobs, *names: str) -> list[tuple[Any, ...]]:
    """Return columns of all jobs, the oldest first."""
    with jobs._database.read() as connection:
        rows = connection.execute(sa.select(*(JOBS.c[name] for name in names)).order_by(JOBS.c.created_s))
        return [tuple(row) for row in rows]


def slow(claim_next: ClaimNext, wait: Callable[[], object]) -> ClaimNext:
    """Return a claim that is known to the database before it is to the server, which has to wait in between."""

    def claim(*args: Any) -> Claim | None:
        found = claim_next(*args)
        if found is not None:
            wait()
        return found

    return claim


@pytest.mark.slow
def test_no_more_run_at_a_time_than_there_are_workers(loop: Runner, own: DurableJobs) -> None:
    """Whatever waits, and the next begins when one ends."""

    async def story() -> list[Job]:
        await own.start()
        ids = [(await own.submit(work(sleep=0.1))).id for _ in range(6)]
        ended = await finish(own, ids)
        await own.stop()
        return ended

    spans = [(job.started_s or 0.0, job.ended_s or 0.0) for job in loop.run(story())]
    assert max(sum(begin <= at < end for begin, end in spans) for at, _ in spans) == 2


@pytest.mark.slow
def test_recovery_during_a_claim_puts_no_job_back(
    loop: Runner, own: DurableJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job whose row says that it runs here is not lost because nobody runs it yet."""
    monkeypatch.setattr(Claims, "claim_next", slow(Claims.claim_next, partial(time.sleep, 0.2)))

    async def story() -> None:
        await own.start()
        ids = [(await own.submit(work(n=n))).id for n in range(6)]
        ending = asyncio.create_task(finish(own, ids))
        while not ending.done():
            await asyncio.to_thread(own._maintenance.recover_jobs)
        assert {job.status for job in await ending} == {"done"}
        assert columns(own, "token", "attempts") == [(0, 1)] * 6
        await own.stop()

    loop.run(story())


def test_a_server_that_stops_during_a_claim_puts_the_job_back(
    loop: Runner, own: DurableJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not left to a server that is not there any more."""
    stopping = threading.Event()
    monkeypatch.setattr(Claims, "claim_next", slow(Claims.claim_next, stopping.wait))

    async def story() -> None:
        await own.start()
        for n in range(3):
            await own.submit(work(n=n, sleep=300))
        while ("running",) not in columns(own, "status"):
            await asyncio.sleep(0.01)
        assert own._dispatcher._runs == {}
        threading.Timer(0.2, stopping.set).start()
        await own.stop()

    loop.run(story())
    # Closed connections are opened again.
    assert columns(own, "status", "server") == [("queued", None)] * 3
    own._database.close()


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "event"), [(ValueError, "no job could"), (DatabaseDownError, "the database cannot")])
def test_a_claim_that_fails_is_tried_again(
    loop: Runner,
    own: DurableJobs,
    monkeypatch: pytest.MonkeyPatch,
    lines: Callable[[], list[dict[str, Any]]],
    fault: type[Exception],
    event: str,
) -> None:
    """Whatever the reason, without filling the log, and no worker is lost by it, not even where the claim was kept."""
    faults, claim_next = [fault() for _ in range(6)], Claims.claim_next

    def claim(claims: Claims, note: Callable[[Lease], None]) -> Claim | None:
        found = claim_next(claims, note)
        if found is not None and faults:
            raise faults.pop()
        return found

    monkeypatch.setattr(Claims, "claim_next", claim)

    async def story() -> None:
        await own.start()
        ids = [(await own.submit(work(n=n))).id for n in range(7)]
        assert [job.status for job in await finish(own, ids)] == ["done"] * 7
        assert (faults, own._context.running) == ([], {})
        await own.stop()

    loop.run(story())
    assert len([line for line in lines() if line["event"].startswith(event)]) == 1


@pytest.mark.slow
def test_a_run_that_fails_leaves_its_place_and_is_begun_again(
    loop: Runner, own: DurableJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often, up to the limit of attempts."""
    faults, work_on = [ValueError() for _ in range(3)], Run._work

    async def fail(run: Run) -> None:
        if faults:
            raise faults.pop()
        await work_on(run)

    monkeypatch.setattr(Run, "_work", fail)

    async def story() -> None:
        await own.start()
        assert (await finish(own, [(await own.submit(work())).id]))[0].status == "done"
        assert columns(own, "token", "attempts") == [(3, 4)]
        await own.stop()

    loop.run(story())


@pytest.mark.slow
def test_a_claim_that_the_database_forgets_is_not_run_twice(loop: Runner, own: DurableJobs, tmp_path: Path) -> None:
    """As PostgreSQL may, which does not wait for the disk there; the run that goes on is the one that counts."""

    async def story() -> None:
        await own.start()
        job = await own.submit(work(n=1, sleep=0.5, log=str(tmp_path / "log")))
        async with asyncio.timeout(300):
            while not own._dispatcher._runs:
                await asyncio.sleep(0.005)
        with own._database.begin() as connection:
            connection.execute(sa.update(JOBS).values(status="queued", server=None, attempts=0))
        own._dispatcher.wake()
        assert (await finish(own, [job.id]))[0].status == "done"
        assert columns(own, "token", "attempts") == [(0, 1)]
        await own.stop()

    loop.run(story())
    assert (tmp_path / "log").read_text() == "1\n"


def test_jobs_of_the_version_before_are_done_once(
    loop: Runner, own: DurableJobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether its queue had them, and those that it ran, here or on a server that is gone."""
    with monkeypatch.context() as older:
        older.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:4])
        loop.run(own.start())
        loop.run(own._dispatcher.stop())
        name = own._server.name
        rows = [("queued", None, None), ("queued", 1.0, None), ("running", 1.0, name), ("running", 1.0, "gone")]
        for n, (status, enqueued_s, server) in enumerate(rows):
            job_id = insert_as_before(own._database, work(n=n, log=str(tmp_path / "log")))
            with own._database.begin() as connection:
                changed = {"id": job_id, "status": status, "enqueued_s": enqueued_s, "server": server}
                values = "status = :status, enqueued_s = :enqueued_s, server = :server, attempts = 1"
                connection.execute(sa.text(f"UPDATE tiger_jobs SET {values} WHERE id = :id"), changed)
        # As a server that is killed, it puts nothing back.
        older.setattr(Claims, "release_mine", lambda *_: None)
        loop.run(own.stop())

    async def story() -> None:
        await own.start()
        ids = [job_id for (job_id,) in columns(own, "id")]
        assert [job.status for job in await finish(own, ids)] == ["done"] * 4
        assert columns(own, "token") == [(0,), (0,), (1,), (1,)]
        await own.stop()

    loop.run(story())
    assert sorted((tmp_path / "log").read_text().split()) == ["0", "1", "2", "3"]
