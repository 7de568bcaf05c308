"""Claims, and the tokens that guard them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tiger.api.jobs.claims import Claims, Lease, Outcome
from tiger.api.jobs.database import Database
from tiger.api.jobs.migrations import BODIES, JOBS, SERVERS
from tiger.api.jobs.store import Store
from tiger.api.seams.job import JobOrder, KeyReusedError
from tiger.api.seams.quota import QueueFullError

DONE = Outcome(status="done", report=b"{}")


@pytest.fixture
def store(tables: Database) -> Store:
    """Return a store."""
    return Store(tables, 1000)


@pytest.fixture
def ann(tables: Database) -> Claims:
    """Return the claims of a server that lives."""
    claims = Claims(tables, "ann")
    claims.beat()
    return claims


@pytest.fixture
def bob(tables: Database) -> Claims:
    """Return the claims of another one."""
    claims = Claims(tables, "bob")
    claims.beat()
    return claims


@pytest.fixture
def lease(store: Store) -> Lease:
    """Return the first lease of a job."""
    return Lease(store.insert(JobOrder(kind="place", body=b"1", request_id="r.1"))[0].id, 0)


def test_a_lease_is_claimed_once(ann: Claims, bob: Claims, lease: Lease) -> None:
    """Whoever comes second gets nothing."""
    claim = ann.claim_next()
    assert claim is not None
    assert (claim.lease, claim.kind, claim.body, claim.attempts) == (lease, "place", b"1", 1)
    assert bob.claim_next() is None
    assert ann.claim_next() is None


def test_the_most_urgent_and_then_oldest_is_claimed_first(ann: Claims, store: Store) -> None:
    """Whatever else waits."""
    ids = [store.insert(JobOrder(kind="assign", body=b"{}", rank=rank))[0].id for rank in (9, 1, 9, 1)]
    claims = [ann.claim_next() for _ in ids]
    assert [claim and claim.lease.job_id for claim in claims] == [ids[1], ids[3], ids[0], ids[2]]


def test_servers_that_claim_at_the_same_time_get_a_job_each(ann: Claims, bob: Claims, store: Store) -> None:
    """None is claimed twice, and none is left."""
    ids = sorted(store.insert(JobOrder(kind="assign", body=b"{}"))[0].id for _ in range(60))

    def claim_all(claims: Claims) -> list[str]:
        return [claim.lease.job_id for claim in iter(claims.claim_next, None)]

    with ThreadPoolExecutor(4) as threads:
        found = [job_id for claimed in threads.map(claim_all, (ann, bob) * 2) for job_id in claimed]
    assert sorted(found) == ids


@pytest.mark.slow
def test_what_is_cancelled_while_it_is_claimed_runs_and_is_told_or_never_runs(
    ann: Claims, bob: Claims, store: Store
) -> None:
    """Whichever comes first, no job is lost between the two."""
    ids = [store.insert(JobOrder(kind="assign", body=b"{}"))[0].id for _ in range(40)]
    with ThreadPoolExecutor(3) as threads:
        claiming = [threads.submit(lambda by: list(iter(by.claim_next, None)), by) for by in (ann, bob)]
        cancelled = [store.cancel(job_id, "") for job_id in ids]
    claimed = {claim.lease: by for by, found in zip((ann, bob), claiming, strict=True) for claim in found.result()}
    running = {job.id for job in cancelled if job and job.status == "running"}
    assert {job.status for job in cancelled if job} <= {"running", "cancelled"}
    # Those that ran before they were cancelled are all told, and nobody runs one that ended before.
    assert {lease.job_id for lease in claimed} == running
    assert {by.touch(lease, None) for lease, by in claimed.items()} <= {"stop"}


def test_a_job_without_a_body_keeps_no_other_waiting(ann: Claims, store: Store, lease: Lease) -> None:
    """It is claimed with none, which is bad input, and the next comes after it."""
    with store.database.begin() as connection:
        connection.execute(sa.delete(BODIES))
    after, _ = store.insert(JobOrder(kind="assign", body=b"2"))
    claims = [ann.claim_next(), ann.claim_next()]
    assert [claim and (claim.lease, claim.body) for claim in claims] == [(lease, b""), (Lease(after.id, 0), b"2")]


def test_a_lease_is_noted_before_its_job_seems_to_run(ann: Claims, lease: Lease) -> None:
    """So that recovery does not take it for lost; a claim that comes to nothing is undone."""
    noted: list[Lease] = []

    def note(found: Lease) -> None:
        with ann.database.engine.connect() as connection:
            assert connection.execute(sa.select(JOBS.c.status)).scalar_one() == "queued"
        noted.append(found)
        if len(noted) == 1:
            raise ValueError("noted")

    with pytest.raises(ValueError, match="noted"):
        ann.claim_next(note)
    assert ann.claim_next(note) is not None
    assert noted == [lease, lease]


def test_a_server_that_was_halted_cannot_write(ann: Claims, bob: Claims, lease: Lease, store: Store) -> None:
    """Its job has another token now, and one result."""
    ann.claim_next()
    ann.leave()
    assert bob.release_silent({}) >= 1
    claim = bob.claim_next()
    assert claim is not None
    assert claim.lease == Lease(lease.job_id, 1)
    assert not ann.finish(lease, Outcome(status="done", report=b"late"))
    assert ann.touch(lease, {"stage": "late"}) == "lost"
    assert bob.finish(Lease(lease.job_id, 1), DONE)
    assert not bob.finish(Lease(lease.job_id, 1), Outcome(status="done", report=b"again"))
    job = store.get(lease.job_id, "")
    assert job is not None
    assert job.report == b"{}"


def test_a_takeover_is_logged(
    ann: Claims, bob: Claims, lease: Lease, lines: Callable[[], list[dict[str, Any]]]
) -> None:
    """Each job has a line, with the number of the request that it came with."""
    ann.claim_next()
    ann.leave()
    bob.release_silent({})
    (line,) = (line for line in lines() if line["job_id"] == lease.job_id)
    assert (line["event"], line["kind"], line["status"]) == ("job taken over", "place", "queued")
    assert line["request_id"] == "r.1"


def test_jobs_of_the_living_are_left_alone(ann: Claims, bob: Claims, lease: Lease) -> None:
    """A beat is enough, and a server that looks for dead ones lives for sure."""
    ann.claim_next()
    bob.release_silent({})
    ann.release_silent(ann.beats())
    assert ann.touch(lease, None) == "continue"


def test_bug_two_threads_say_at_once_that_a_server_lives(tables: Database) -> None:
    """Readiness does so beside the beats, and a server that was taken for dead has no row yet."""
    carl = Claims(tables, "carl")
    with ThreadPoolExecutor(1) as threads:
        with tables.begin() as connection:
            connection.execute(sa.insert(SERVERS).values(id="carl", beat_s=1.0))
            beating = threads.submit(carl.beat)
            # It may wait for this transaction, and must not fail at its end.
            wait((beating,), 0.5)
        beating.result()
    assert "carl" in carl.beats()
    carl.leave()


def test_a_job_cancelled_while_its_server_died_ends(ann: Claims, bob: Claims, lease: Lease, store: Store) -> None:
    """Nobody begins it again."""
    ann.claim_next()
    store.cancel(lease.job_id, "")
    assert ann.touch(lease, None) == "stop"
    ann.leave()
    bob.release_silent({})
    job = store.get(lease.job_id, "")
    assert job is not None
    assert job.status == "cancelled"


def test_what_is_released_waits_again(ann: Claims, lease: Lease) -> None:
    """It has another lease; only what is running here is kept."""
    ann.claim_next()
    ann.release_mine({lease})
    assert ann.touch(lease, None) == "continue"
    ann.release_mine(())
    claim = ann.claim_next()
    assert claim is not None
    assert (claim.lease, claim.attempts) == (Lease(lease.job_id, 1), 2)


def test_old_jobs_are_forgotten(ann: Claims, lease: Lease, store: Store) -> None:
    """Only those that have ended long enough ago."""
    ann.claim_next()
    assert lease.job_id not in store.list_expired(-1, 1000)
    ann.finish(lease, DONE)
    assert lease.job_id not in store.list_expired(60, 1000)
    assert lease.job_id in store.list_expired(-1, 1000)
    store.delete([lease.job_id])
    assert store.get(lease.job_id, "") is None


@pytest.mark.long
@pytest.mark.parametrize("end", ["done", "cancelled", "cancelled while its server died"])
def test_the_body_of_an_ended_job_is_not_kept(ann: Claims, bob: Claims, store: Store, end: str) -> None:
    """It would fill the disk until the job is deleted; its key still stands for it alone."""
    kept, other = (JobOrder(kind="place", body=body, key=end) for body in (b"1", b"2"))
    lease = Lease(store.insert(kept)[0].id, 0)
    if end != "cancelled":
        ann.claim_next()
    store.cancel(lease.job_id, "") if end != "done" else ann.finish(lease, DONE)
    ann.leave()
    bob.release_silent({})
    with store.database.begin() as connection:
        assert not connection.execute(sa.select(BODIES).where(BODIES.c.id == lease.job_id)).all()
    job = store.get(lease.job_id, "")
    assert job is not None
    assert job.status == end.split()[0]
    assert store.insert(kept)[0].id == lease.job_id
    with pytest.raises(KeyReusedError):
        store.insert(other)


def test_tables_are_made_once(tables: Database) -> None:
    """A second start finds them as they are."""
    tables.prepare()


def test_one_owner_may_not_fill_the_queue(tmp_path: Path) -> None:
    """Half of it is left for others."""
    database = Database(f"sqlite:///{tmp_path}/jobs")
    database.prepare()
    store = Store(database, 4)
    kept = [store.insert(JobOrder(kind="assign", body=b"{}", owner="ann")) for _ in range(2)]
    with pytest.raises(QueueFullError):
        store.insert(JobOrder(kind="assign", body=b"{}", owner="ann"))
    assert len(kept) + len([store.insert(JobOrder(kind="assign", body=b"{}", owner="bob")) for _ in range(2)]) == 4
    database.close()
