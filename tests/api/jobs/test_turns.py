"""Whose job is begun next."""

from collections import Counter

import pytest
import sqlalchemy as sa

from tiger.api.jobs.claims import Claim, Claims, Outcome
from tiger.api.jobs.database import Database
from tiger.api.jobs.store import Store
from tiger.api.jobs.turns import PRIORITY_S, Head, choose_owner, find_turn
from tiger.api.seams.job import JobOrder, JobTerms
from tiger.api.seams.quota import Charge, Quotas

DONE = Outcome(status="done", report=b"{}")


@pytest.fixture
def store(tables: Database) -> Store:
    """Return a store that takes many jobs."""
    return Store(tables, 10_000)


def submit(store: Store, owner: str, priority: int = 0, rank: int = 10, waited_s: float = 0.0) -> str:
    """Submit a job that has waited for so long already, and return its id."""
    terms = JobTerms(priority=priority)
    job, _ = store.insert(JobOrder(kind="assign", body=b"{}", owner=owner, rank=rank, terms=terms))
    with store.database.begin() as connection:
        earlier = sa.text("UPDATE tiger_jobs SET turn_s = turn_s - :waited_s WHERE id = :id")
        connection.execute(earlier, {"waited_s": waited_s, "id": job.id})
    return job.id


def claim(claims: Claims) -> Claim:
    """Claim a job that there is."""
    found = claims.claim_next()
    assert found is not None
    return found


def run_next(claims: Claims, processor_s: float = 1.0) -> str:
    """Have the next job done, and return its owner."""
    found = claim(claims)
    assert claims.finish(found.lease, DONE, Charge(found.owner, processor_s))
    return found.owner


def head(owner: str, turn_s: float, urgency: int = 0, **state: float) -> Head:
    """Return the next job of an owner."""
    return Head(owner=owner, turn_s=turn_s, urgency=urgency, **state)  # type: ignore[arg-type]  # running is an int


@pytest.mark.parametrize(
    ("heads", "first"),
    [
        ([], None),
        ([head("a", 2.0), head("b", 1.0)], "b"),
        # The fewest that run, and then the least processor time.
        ([head("a", 2.0), head("b", 1.0, running=1)], "a"),
        ([head("a", 2.0, recent_s=1.0, at_s=9.0), head("b", 1.0, recent_s=2.0, at_s=9.0)], "a"),
        # Two seconds of ten minutes ago are less than one of now.
        ([head("a", 2.0, recent_s=2.0, at_s=0.0), head("b", 1.0, recent_s=1.0, at_s=600.0)], "a"),
        # A higher priority counts, whatever it has used, unless the other has waited for longer.
        ([head("a", find_turn(0, 0, 10)), head("b", find_turn(9, 1, 10), 1, running=3)], "b"),
        ([head("a", find_turn(0, 0, 10)), head("b", find_turn(PRIORITY_S + 1, 1, 10), 1, running=3)], "a"),
        # Once it has, what is more urgent takes part as well.
        ([head("a", find_turn(0, 0, 10), running=1), head("b", find_turn(PRIORITY_S + 1, 1, 10), 1)], "b"),
    ],
)
def test_whose_turn_it_is(heads: list[Head], first: str | None) -> None:
    """By priority and waiting time, jobs that run, processor time, and age."""
    assert choose_owner(heads) == first


@pytest.mark.slow
def test_two_owners_share_a_worker(store: Store) -> None:
    """Half each, although one has submitted all of its hundred jobs before the other came."""
    claims = Claims(store.database, "here")
    for owner in ("ann", "bob"):
        for _ in range(100):
            submit(store, owner)
    order = [run_next(claims) for _ in range(200)]
    shares = [Counter(order[:count])["ann"] / count for count in (50, 100, 150)]
    assert all(abs(share - 0.5) < 0.02 for share in shares)
    assert Counter(order) == {"ann": 100, "bob": 100}


def test_shares_are_of_processor_time(store: Store) -> None:
    """Of two who wait, the one whose jobs take three times as long has a third as many done."""
    claims, costs = Claims(store.database, "here"), {"ann": 3.0, "bob": 1.0}
    for owner in costs:
        for _ in range(40):
            submit(store, owner)
    used = Counter[str]()
    for _ in range(40):
        found = claim(claims)
        claims.finish(found.lease, DONE, Charge(found.owner, costs[found.owner]))
        used[found.owner] += 1
    assert abs(3 * used["ann"] / used["bob"] - 1) < 0.1


def test_workers_are_shared_while_jobs_run(store: Store) -> None:
    """Four workers are two of each owner, before any job has ended."""
    for owner in ("ann", "bob"):
        for _ in range(9):
            submit(store, owner)
    claims = Claims(store.database, "here")
    assert Counter(claim(claims).owner for _ in range(4)) == {"ann": 2, "bob": 2}


def test_the_urgent_go_first_and_the_low_do_not_starve(store: Store) -> None:
    """What has waited ninety minutes longer goes before what is newer, whatever that says of itself."""
    claims = Claims(store.database, "here")
    old, low = (submit(store, "ann", 0, waited_s=s) for s in (9 * PRIORITY_S + 60, 7 * PRIORITY_S))
    high, higher = submit(store, "bob", 8), submit(store, "bob", 9)
    found = [claim(claims) for _ in range(2)]
    assert {one.lease.job_id for one in found} == {old, higher}
    assert [claim(claims).lease.job_id for _ in range(2)] == [high, low]


def test_small_work_of_an_owner_goes_first(store: Store) -> None:
    """Until other work has waited for nine minutes longer."""
    claims = Claims(store.database, "here")
    new, old = submit(store, "ann"), submit(store, "ann", waited_s=600)
    small = submit(store, "ann", rank=1)
    assert [claim(claims).lease.job_id for _ in range(3)] == [old, small, new]


def test_an_owner_has_no_more_running_than_it_may(store: Store) -> None:
    """Others go first meanwhile, and it goes on as soon as one has ended."""
    claims = Claims(store.database, "here", lambda owner: Quotas(running_jobs=2 if owner == "ann" else None))
    for _ in range(4):
        submit(store, "ann", 9)
    submit(store, "bob")
    found = [claim(claims) for _ in range(3)]
    assert [one.owner for one in found] == ["ann", "ann", "bob"]
    assert claims.claim_next() is None
    claims.finish(found[0].lease, DONE)
    assert [claim(claims).owner, claims.claim_next()] == ["ann", None]
