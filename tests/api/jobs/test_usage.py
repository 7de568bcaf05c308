"""What owners use: quotas that are exact whatever happens at once, and what is counted towards them."""

import json
from asyncio import Runner
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from tiger.api.jobs.claims import Claims, Lease, Outcome
from tiger.api.jobs.database import Database
from tiger.api.jobs.engine import DurableJobs
from tiger.api.jobs.migrations import KEPT
from tiger.api.jobs.rebalancer_store import RebalancerStore
from tiger.api.jobs.settings import DAY_S
from tiger.api.jobs.store import Store
from tiger.api.jobs.usage import UnwrittenCharges, UsageStore
from tiger.api.seams.files import JobFile
from tiger.api.seams.job import Job, JobOrder
from tiger.api.seams.quota import Charge, QuotaExceededError, Quotas, QuotasOf
from tiger.api.seams.rebalancer import NewRebalancer, RebalancerStep

WORK = JobOrder(kind="assign", body=b"12345", owner="ann")
FILE = JobFile(name="mapping.csv", description="", media_type="text/csv", size=9, packed=b"xyz")


def quotas(**bounds: float) -> QuotasOf:
    """Return the quotas of ann, as others have none."""
    return lambda owner: Quotas(**bounds) if owner == "ann" else Quotas()  # type: ignore[arg-type]  # of any quota


def kept(database: Database, owner: str = "ann") -> int:
    """Return the bytes that are kept of an owner."""
    return UsageStore(database, quotas()).read(owner, 1).kept_bytes


def refused(call: Callable[[], object]) -> QuotaExceededError:
    """Return how a call is refused."""
    with pytest.raises(QuotaExceededError) as caught:
        call()
    return caught.value


def test_no_more_jobs_wait_than_may_however_many_come_at_once(tables: Database) -> None:
    """Of fifty by two servers, seven are kept, and those of another owner come to no harm."""
    stores = [Store(tables, 1000, quotas(queued_jobs=7)) for _ in range(2)]

    def submit(k: int) -> str:
        try:
            return stores[k % 2].insert(WORK)[0].owner
        except QuotaExceededError as error:
            return str(error)

    with ThreadPoolExecutor(8) as threads:
        found = Counter(threads.map(submit, range(50)))
    assert found == {"ann": 7, "queued_jobs: 7 of 7 used": 43}
    assert Store(tables, 1000).insert(JobOrder(kind="assign", body=b"{}", owner="bob"))[1]


def test_no_more_jobs_run_than_may_however_many_claim_at_once(tables: Database) -> None:
    """Of thirty that wait, two servers begin three, and the others as these end."""
    bounds = quotas(running_jobs=3)
    store, servers = Store(tables, 1000), [Claims(tables, name, bounds) for name in ("one", "two")]
    for _ in range(30):
        store.insert(WORK)

    def claim_all(claims: Claims) -> list[Lease]:
        return [claim.lease for claim in iter(claims.claim_next, None)]

    with ThreadPoolExecutor(6) as threads:
        leases = [lease for found in threads.map(claim_all, servers * 3) for lease in found]
        assert len(leases) == 3
        servers[0].finish(leases[0], Outcome(status="done", report=b"{}"))
        assert sum(len(found) for found in threads.map(claim_all, servers * 3)) == 1


def test_what_is_kept_is_counted_to_the_byte(tables: Database) -> None:
    """From the body to the report and its files, until the job is purged; of what is cancelled nothing is left."""
    store, claims = Store(tables, 1000), Claims(tables, "here")
    job, _ = store.insert(WORK)
    assert kept(tables) == 5
    claim = claims.claim_next()
    assert claim is not None
    claims.finish(claim.lease, Outcome(status="done", report=b"1234567", files=(FILE,)))
    assert kept(tables) == 10
    store.cancel(store.insert(WORK)[0].id, "ann")
    assert kept(tables) == 10
    store.insert(WORK)
    again = claims.claim_next()
    assert again is not None
    store.cancel(again.lease.job_id, "ann")
    claims.release(again.lease)
    assert (kept(tables), kept(tables, "bob")) == (10, 0)
    store.purge(job.id, "ann")
    assert kept(tables) == 0
    store.delete(store.list_expired(-1, 10))
    with tables.read() as connection:
        assert connection.execute(sa.select(KEPT)).all() == []


def test_rebalancers_count_towards_what_is_kept(tables: Database) -> None:
    """Their request, their state and their answers, until they are forgotten."""
    store = RebalancerStore(tables, 9, DAY_S, quotas(kept_bytes=9))
    known = store.insert(NewRebalancer(body=b"1234", state=b"123", owner="ann"))
    assert kept(tables) == 7
    store.take_step(RebalancerStep(before=known, body=b"{}", answer=b"12345", state=b"12", key="k"))
    assert kept(tables) == 11
    over = refused(lambda: store.insert(NewRebalancer(body=b"1", state=b"1", owner="ann")))
    assert (over.quota, over.used, over.limit) == ("kept_bytes", 11, 9)
    store.delete(known.id, "ann")
    assert kept(tables) == 0
    assert store.insert(NewRebalancer(body=b"1", state=b"1", owner="ann"))


def test_a_job_is_refused_while_as_much_is_kept_as_may(tables: Database) -> None:
    """Until the first is deleted for its age, or purged; one of a known key is no new one."""
    store, claims = Store(tables, 1000, quotas(kept_bytes=6), keep_s=3600.0), Claims(tables, "here")
    keyed = JobOrder(kind="assign", body=b"12345", owner="ann", key="k")
    job, _ = store.insert(keyed)
    claim = claims.claim_next()
    assert claim is not None
    claims.finish(claim.lease, Outcome(status="done", report=b"123456"))
    over = refused(lambda: store.insert(WORK))
    assert (over.quota, over.used, over.limit) == ("kept_bytes", 6, 6)
    assert 3500 < over.resets_s <= 3600
    assert store.insert(keyed)[0].id == job.id
    store.purge(job.id, "ann")
    assert store.insert(WORK)[1]


def test_the_processor_time_of_a_day_is_used_up(tables: Database) -> None:
    """Then no job is taken until midnight, and what runs goes on; a run whose job was taken over counts as well."""
    bounds = quotas(processor_s_per_day=3.0)
    store, claims, usage = Store(tables, 1000, bounds), Claims(tables, "here"), UsageStore(tables, bounds)
    for _ in range(2):
        store.insert(WORK)
    claim = claims.claim_next()
    assert claim is not None
    claims.release(claim.lease, Charge("ann", 1.0))
    assert not claims.finish(claim.lease, Outcome(status="done", report=b"late"), Charge("ann", 1.5))
    usage.check_processor("ann", 0.4)
    store.insert(WORK)
    usage.charge([Charge("bob", 9.0), Charge("ann", 0.5)])
    over = refused(lambda: store.insert(WORK))
    assert (over.quota, over.used, over.limit, 0 < over.resets_s <= DAY_S) == ("processor_s_per_day", 3.0, 3.0, True)
    assert refused(lambda: usage.check_processor("ann", 0.0)).used == 3.0
    assert refused(lambda: usage.check_processor("ann", 0.6)).used == 3.6
    assert claims.claim_next() is not None
    assert store.insert(JobOrder(kind="assign", body=b"{}", owner="bob"))[1]


def test_days_begin_from_zero(tables: Database) -> None:
    """Those before are told, today first, and forgotten after more than a year."""
    usage = UsageStore(tables, quotas(processor_s_per_day=5.0))
    usage.charge([Charge("ann", 2.0)])
    with tables.begin() as connection:
        connection.execute(sa.text("UPDATE tiger_usage SET day = day - 1"))
        connection.execute(sa.text("INSERT INTO tiger_usage SELECT owner, day - 500, 7 FROM tiger_usage"))
    usage.charge([Charge("ann", 0.25), Charge("ann", 0.5)])
    usage.delete_old()
    found = usage.read("ann", 3)
    assert (found.processor_s_per_day, [seconds for _, seconds in found.days]) == (0.75, [0.75, 2.0, 0.0])
    assert found.days[0][0] == found.days[2][0] + 2
    with tables.read() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM tiger_usage")).scalar_one() == 2


def test_what_is_not_written_yet_is_written_once(tables: Database) -> None:
    """Whatever is added meanwhile."""
    usage, charges = UsageStore(tables, quotas()), UnwrittenCharges()
    charges.add(Charge("ann", 1.0))
    charges.add(Charge("ann", 0.5))
    assert charges.of("ann") == 1.5
    charges.write(usage)
    charges.write(usage)
    assert (charges.of("ann"), usage.read("ann", 1).processor_s_per_day) == (0.0, 1.5)


async def run_to_end(jobs: DurableJobs, owner: str, **asked: object) -> Job:
    """Have the toy do something, and return the job once it has ended."""
    job = await jobs.submit(JobOrder(kind="place", body=json.dumps(asked).encode(), owner=owner))
    return [seen async for seen in jobs.watch(job.id, owner)][-1]


def used_s(loop: Runner, jobs: DurableJobs, owner: str) -> float:
    """Return the processor seconds of an owner."""
    return loop.run(jobs.usage(owner, 1)).processor_s_per_day


@pytest.mark.parametrize("fault", [None, "bad"])
def test_a_run_is_charged_with_its_processor_time(loop: Runner, jobs: DurableJobs, fault: str | None) -> None:
    """Of its children, too, and of one that fails; what waits uses none."""
    asked = {"burn": 0.2, "child": 0.2, "sleep": 0.5} | ({"fault": fault} if fault else {})
    owner = f"burns {fault}"
    job = loop.run(run_to_end(jobs, owner, **asked))
    assert job.status == ("failed" if fault else "done")
    assert 0.4 <= used_s(loop, jobs, owner) < 0.4 + 0.5


async def begin(jobs: DurableJobs, owner: str) -> Job:
    """Have the toy use a third of a second and then sleep, and return the job once it does."""
    job = await jobs.submit(JobOrder(kind="place", body=b'{"burn": 0.3, "sleep": 300}', owner=owner))
    async for seen in jobs.watch(job.id, owner):
        if seen.progress and seen.progress["stage"]:
            return seen
    raise AssertionError(f"the job ended: {job}")


@pytest.mark.slow
def test_a_run_that_is_killed_is_charged_as_well(loop: Runner, jobs: DurableJobs) -> None:
    """With what it had used until then, in hundredths of a second."""
    job = loop.run(jobs.cancel(loop.run(begin(jobs, "killed")).id, "killed"))
    assert job is not None
    assert (job.status, job.report) == ("cancelled", None)
    assert 0.28 <= used_s(loop, jobs, "killed") < 0.3 + 0.5


@pytest.mark.slow
def test_every_run_of_a_job_whose_worker_dies_is_charged(loop: Runner, jobs: DurableJobs) -> None:
    """Three times what one has used, as far as that was measured."""
    job = loop.run(run_to_end(jobs, "dies", burn=0.5, fault="die"))
    assert job.status == "failed"
    assert 0.5 < used_s(loop, jobs, "dies") < 3


@pytest.mark.slow
def test_what_a_server_has_begun_is_charged_when_it_stops(loop: Runner, own: DurableJobs) -> None:
    """Although the job waits again."""

    async def story() -> None:
        await own.start()
        await begin(own, "ann")
        await own.stop()
        await own.start()

    loop.run(story())
    found = loop.run(own.usage("ann", 1))
    loop.run(own.stop())
    # A sum of what is charged by and by, with rounding errors.
    assert found.processor_s_per_day > 0.28 - 1e-9
