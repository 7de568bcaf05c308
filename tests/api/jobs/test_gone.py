"""A database that cannot be used for a while."""

import asyncio
import sqlite3
import threading
from asyncio import Runner
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from tiger.api.jobs import engine
from tiger.api.jobs.database import Database
from tiger.api.jobs.engine import DurableJobs
from tiger.api.jobs.store import Store
from tiger.api.jobs.usage import UsageStore
from tiger.api.seams.job import DatabaseDownError, Job, JobOrder
from tiger.api.seams.quota import Quotas

BIG = JobOrder(kind="assign", body=b'{"n": 1}' + b" " * 300_000)


@pytest.fixture
def full(jobs: DurableJobs, url: str | None) -> Iterator[DurableJobs]:
    """Return jobs on a disk that has room for little more."""
    if url is not None:
        pytest.skip("only the size of an SQLite file can be bounded")
    _limit_pages(jobs, 60)
    yield jobs
    _limit_pages(jobs, 1_000_000)


@pytest.mark.slow
def test_a_full_disk_is_told_and_got_over(loop: Runner, full: DurableJobs) -> None:
    """Nothing is acknowledged that is not kept; what was kept can be read; with room again, all goes on."""
    with pytest.raises(DatabaseDownError):
        loop.run(full.submit(BIG))
    assert loop.run(full.page("", None, 10)) == ((), None)
    _limit_pages(full, 1_000_000)
    assert loop.run(_run_job(full)).status == "done"


def test_a_database_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Whatever the driver says of it."""
    for url in (f"sqlite:///{tmp_path}/none/x", "postgresql://tiger@127.0.0.1:1/x"):
        database = Database(url)
        with pytest.raises(DatabaseDownError):
            database.prepare()
        database.close()


def test_a_database_that_hangs_is_told(loop: Runner, jobs: DurableJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks is answered at last, as there may never be an answer."""
    asked = threading.Event()
    monkeypatch.setattr(engine, "HUNG_S", 0.01)
    with pytest.raises(DatabaseDownError, match="no answer"):
        loop.run(jobs._query(asked.wait))
    monkeypatch.setattr(engine, "COUNT_S", 0.01)
    monkeypatch.setattr(Store, "waiting", lambda _: asked.wait())
    with pytest.raises(DatabaseDownError, match="no answer"):
        jobs.waiting()
    asked.set()


def test_small_work_does_not_wait_for_a_database_that_hangs(
    loop: Runner, own: DurableJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on whatever its owner has used."""
    asked = threading.Event()
    own.settings = replace(own.settings, quotas_of=lambda _: Quotas(processor_s_per_day=1.0))
    monkeypatch.setattr(engine, "ADMIT_S", 0.01)
    monkeypatch.setattr(UsageStore, "check_processor", lambda *_: asked.wait())

    async def admit() -> None:
        await own.start()
        try:
            async with asyncio.timeout(5):
                await own.admit("")
        finally:
            asked.set()
            await own.stop()

    loop.run(admit())


async def _run_job(jobs: DurableJobs) -> Job:
    """Have a job done."""
    job = await jobs.submit(BIG)
    return [seen async for seen in jobs.watch(job.id, "")][-1]


def _limit_pages(jobs: DurableJobs, pages: int) -> None:
    """Bound the size of the database file."""

    @event.listens_for(jobs._database.engine, "checkout")
    def bound(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute(f"PRAGMA max_page_count={pages}")

    assert isinstance(jobs._database.engine, sa.Engine)
