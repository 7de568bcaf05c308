"""Jobs as rows of both databases: lists of some of them, and those that are purged."""

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tiger.api.jobs.claims import Claims, Outcome
from tiger.api.jobs.database import Database
from tiger.api.jobs.migrations import BODIES, FILES, JOBS, KEPT
from tiger.api.jobs.store import Store
from tiger.api.seams.files import JobFile
from tiger.api.seams.job import Job, JobFilter, JobOrder, JobTerms, KeyReusedError, Kind

FILE = JobFile(name="mapping.csv", description="", media_type="text/csv", size=1, packed=b"x")


@pytest.fixture
def store(tmp_path: Path, url: str | None, request: pytest.FixtureRequest) -> Iterator[Store]:
    """Return a store with empty tables."""
    database = Database(request.getfixturevalue("database") if url else f"sqlite:///{tmp_path}/jobs")
    database.prepare()
    yield Store(database, 100)
    database.close()


def insert(
    store: Store, created_s: float, kind: Kind = "assign", key: str | None = None, tags: tuple[str, ...] = ()
) -> Job:
    """Return a new job that was created at a time."""
    job, _ = store.insert(JobOrder(kind=kind, body=b"{}", owner="me", key=key, terms=JobTerms(tags=tags)))
    with store.database.begin() as connection:
        connection.execute(sa.update(JOBS).where(JOBS.c.id == job.id).values(created_s=created_s))
    return job


def finish(store: Store) -> None:
    """Have the oldest job that waits done, with a file."""
    claims = Claims(store.database, "here")
    claim = claims.claim_next()
    assert claim is not None
    assert claims.finish(claim.lease, Outcome(status="done", report=b"{}", files=(FILE,)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (JobFilter(), [5, 4, 3, 2, 1]),
        (JobFilter(statuses=("queued",)), [5, 4, 2]),
        (JobFilter(statuses=("done", "cancelled")), [3, 1]),
        (JobFilter(kinds=("plan", "place")), [4, 3]),
        (JobFilter(kinds=("plan",), statuses=("queued",)), [4]),
        (JobFilter(since_s=2.0, until_s=4.0), [3, 2]),
        (JobFilter(statuses=("failed",)), []),
        (JobFilter(tags=("n1",)), [3, 1]),
        (JobFilter(tags=("a_b", "n1"), kinds=("place",)), [3]),
        (JobFilter(tags=("a_B",)), []),
        (JobFilter(tags=("n",)), []),
    ],
)
def test_bug_a_list_is_of_the_jobs_that_are_wanted(store: Store, wanted: JobFilter, found: list[int]) -> None:
    """On all pages, whatever is submitted or deleted between two of them."""
    kinds: tuple[Kind, ...] = ("assign", "assign", "place", "plan", "assign")
    tags = [("axb", "n1"), (), ("n1", "a_b"), ("a_b",), ()]
    jobs = [insert(store, float(k), kind, tags=tags[k - 1]) for k, kind in enumerate(kinds, 1)]
    finish(store)
    store.cancel(jobs[2].id, "me")
    seen, cursor = [], None
    for created_s in itertools.count(100):
        page, cursor = store.page("me", cursor, 1, wanted)
        seen += [int(job.created_s) for job in page]
        if cursor is None:
            break
        store.purge(page[0].id, "me")
        insert(store, float(created_s), "experts")
    assert seen == found


def test_a_purged_job_leaves_nothing(store: Store) -> None:
    """Neither files nor a body; one that goes on and one of another owner stay."""
    job = insert(store, 1.0)
    assert not store.purge(job.id, "me")
    finish(store)
    assert not store.purge(job.id, "you")
    assert not store.purge("none", "me")
    assert store.purge(job.id, "me")
    assert not store.purge(job.id, "me")
    with store.database.read() as connection:
        left = [connection.execute(sa.select(table.c.id)).all() for table in (JOBS, FILES, BODIES)]
    assert left == [[], [], []]


def test_the_key_of_a_purged_job_is_free(store: Store) -> None:
    """The same request is a new job, as it is after the days that jobs are kept."""
    job = insert(store, 1.0, key="k")
    finish(store)
    assert store.insert(JobOrder(kind="assign", body=b"{}", owner="me", key="k")) == (store.get(job.id, "me"), False)
    store.purge(job.id, "me")
    again, new = store.insert(JobOrder(kind="plan", body=b"[]", owner="me", key="k"))
    assert (new, again.id != job.id) == (True, True)


def test_a_key_goes_by_what_was_sent(store: Store) -> None:
    """Whatever body was made of it, by which no job is found then."""
    made = JobOrder(kind="assign", body=b"{1}", owner="me", key="k", sent=b"{}")
    assert store.find(made) is None
    job, _ = store.insert(made)
    assert store.find(replace(made, body=b"{2}")) == store.insert(replace(made, body=b"{2}"))[0] == job
    with pytest.raises(KeyReusedError):
        store.find(replace(made, sent=None))
    assert store.find(replace(made, owner="you")) is None


def test_bug_a_key_whose_job_is_purged_meanwhile_makes_another(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was taken when this one was inserted, and free when that was looked for."""
    keep, tries = Store._insert, itertools.count()

    def insert_late(*args: Any) -> Job:
        if next(tries) == 0:
            raise sa.exc.IntegrityError("", {}, Exception())
        return keep(*args)

    monkeypatch.setattr(Store, "_insert", insert_late)
    assert store.insert(JobOrder(kind="assign", body=b"{}", key="k"))[1]


def test_jobs_that_expire_are_purged_at_the_same_time(store: Store) -> None:
    """Nobody waits for somebody who waits in turn, and each job is deleted once."""
    jobs = []
    for k in range(100):
        jobs.append(insert(store, float(k)))
        store.cancel(jobs[-1].id, "me")

    def purge(order: int) -> int:
        return sum(store.purge(job.id, "me") for job in jobs[::order])

    def expire(order: int) -> int:
        return store.delete([job.id for job in jobs[::order]])

    with ThreadPoolExecutor(4) as threads:
        deleted = [threads.submit(call, order) for call in (purge, expire) for order in (1, -1)]
    assert sum(each.result() for each in deleted) == len(jobs)
    with store.database.read() as connection:
        assert [connection.execute(sa.select(table.c.id)).all() for table in (JOBS, KEPT, FILES)] == [[], [], []]
