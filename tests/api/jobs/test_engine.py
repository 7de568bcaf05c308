"""Durable jobs, on SQLite and on PostgreSQL, with real worker processes."""

import asyncio
import json
from asyncio import Runner
from collections import Counter

import pytest

from tiger.api.jobs import watchers
from tiger.api.jobs.claims import Claims
from tiger.api.jobs.engine import DurableJobs
from tiger.api.jobs.store import Store
from tiger.api.routes.waiting import wait_until_ended
from tiger.api.seams.comparison import NewComparison, NewEntry
from tiger.api.seams.job import Job, JobOrder, KeyReusedError
from tiger.api.seams.quota import QueueFullError
from tiger.errors import InputError


def work(key: str | None = None, owner: str = "", rank: int = 10, **asked: object) -> JobOrder:
    """Return work for the toy."""
    return JobOrder(kind="assign", body=json.dumps(asked).encode(), key=key, owner=owner, rank=rank)


async def run_all(jobs: DurableJobs, *works: JobOrder) -> list[Job]:
    """Submit work, wait for all of it, and return how it ended."""
    kept = [await jobs.submit(one) for one in works]
    return [[seen async for seen in jobs.watch(job.id, job.owner)][-1] for job in kept]


async def begin(jobs: DurableJobs, one: JobOrder) -> Job:
    """Submit work and return it once it runs and has told of itself."""
    job = await jobs.submit(one)
    async for seen in jobs.watch(job.id, job.owner):
        if seen.progress and seen.progress["stage"]:
            return seen
    raise AssertionError(f"the job ended: {job}")


def test_the_same_key_at_once_is_one_comparison(loop: Runner, jobs: DurableJobs) -> None:
    """Whose jobs are done without another request, once each."""
    entries = tuple(NewEntry(label=f"{k}", job=work(n=k, owner="compare"), request=None) for k in range(2))
    new = NewComparison(body=b"{}", kind="assign", entries=entries, owner="compare", key="one")

    async def scenario() -> None:
        first, second = await asyncio.gather(*(jobs.comparisons.insert(new) for _ in range(2)))
        assert first == second == await jobs.comparisons.get(first.id, "compare")
        ended = [[seen async for seen in jobs.watch(each.job, "compare")][-1] for each in first.entries]
        assert [json.loads(job.report or b"")["n"] for job in ended] == [0, 1]
        listed, _ = await jobs.page("compare", None, 9)
        assert {job.id for job in listed} == {job.id for job in ended}
        assert await jobs.comparisons.page("compare", None, 9) == ((first,), None)
        assert await jobs.comparisons.delete(first.id, "compare")
        assert await jobs.comparisons.find("compare", "one", b"{}") is None

    loop.run(scenario())


@pytest.mark.slow
def test_a_job_is_done(loop: Runner, jobs: DurableJobs) -> None:
    """The report is what the solve returned."""
    (job,) = loop.run(run_all(jobs, work(n=3)))
    assert (job.status, job.report, job.problem) == ("done", b'{"n": 3, "ended": false}', None)
    assert job.created_s <= (job.started_s or 0) <= (job.ended_s or 0)


def test_bad_input_fails_a_job_with_its_problem(loop: Runner, jobs: DurableJobs) -> None:
    """The document is the one that the request itself would have been answered with."""
    (job,) = loop.run(run_all(jobs, work(fault="bad")))
    assert (job.status, job.report) == ("failed", None)
    assert job.problem is not None
    assert (job.problem["status"], job.problem["errors"]) == (
        422,
        [{"pointer": "#/tasks", "detail": "expected others"}],
    )


@pytest.mark.slow
def test_a_bug_fails_a_job_without_a_word_of_it(loop: Runner, jobs: DurableJobs) -> None:
    """The traceback is for the log."""
    (job,) = loop.run(run_all(jobs, work(fault="bug")))
    assert job.status == "failed"
    assert "Traceback" not in json.dumps(job.problem)
    assert job.problem is not None
    assert job.problem["status"] == 500


def test_a_running_job_tells_how_far_it_is(loop: Runner, jobs: DurableJobs) -> None:
    """Progress has the stage, the cost, the bound, and the share of the time that is gone."""
    job = loop.run(begin(jobs, work(sleep=300, polite=1)))
    assert job.status == "running"
    assert job.progress is not None
    assert (job.progress["stage"], job.progress["cost"], job.progress["bound"]) == ("toy", 7.0, 6.0)
    loop.run(jobs.cancel(job.id, ""))


@pytest.mark.slow
def test_a_cancelled_solve_that_listens_hands_over_what_it_has(loop: Runner, own: DurableJobs) -> None:
    """It is told to end before it is killed."""

    async def story() -> Job | None:
        await own.start()
        job = await own.cancel((await begin(own, work(sleep=3000, polite=1, n=4))).id, "")
        await own.stop()
        return job

    job = loop.run(story())
    assert job is not None
    assert (job.status, job.report) == ("cancelled", b'{"n": 4, "ended": true}')


@pytest.mark.slow
def test_a_cancelled_solve_that_does_not_listen_is_killed(loop: Runner, jobs: DurableJobs) -> None:
    """There is nothing of it to keep."""
    job = loop.run(jobs.cancel(loop.run(begin(jobs, work(sleep=300))).id, ""))
    assert job is not None
    assert (job.status, job.report) == ("cancelled", None)


def test_a_job_that_waits_is_cancelled_at_once(loop: Runner, jobs: DurableJobs) -> None:
    """It is never begun."""

    async def story() -> list[Job | None]:
        hold = [await begin(jobs, work(sleep=300, polite=1)) for _ in range(2)]
        waits = await jobs.submit(work())
        return [await jobs.cancel(job.id, "") for job in (waits, *hold)]

    cancelled = loop.run(story())
    assert [job.status for job in cancelled if job] == ["cancelled"] * 3
    assert cancelled[0] is not None
    assert cancelled[0].started_s is None


@pytest.mark.slow
def test_the_many_who_wait_do_not_look(loop: Runner, jobs: DurableJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """They read their job when it has changed."""
    looks: list[str] = []
    get = Store.get

    def look(store: Store, job_id: str, owner: str) -> Job | None:
        looks.append(job_id)
        return get(store, job_id, owner)

    monkeypatch.setattr(Store, "get", look)
    monkeypatch.setattr(watchers, "LOOK_S", 0.05)

    async def story() -> None:
        hold = [await begin(jobs, work(sleep=300, polite=1)) for _ in range(2)]
        waits = await jobs.submit(work())
        looks.clear()
        await asyncio.gather(*(wait_until_ended(jobs, waits, 1.5) for _ in range(20)))
        for job in (waits, *hold):
            await jobs.cancel(job.id, "")

    loop.run(story())
    assert 20 <= looks.count(looks[0]) <= 60


def test_an_ended_job_stays_as_it_is_when_cancelled(loop: Runner, jobs: DurableJobs) -> None:
    """There is nothing left to cancel."""
    (job,) = loop.run(run_all(jobs, work(n=5)))
    assert loop.run(jobs.cancel(job.id, "")) == job


@pytest.mark.slow
def test_a_solve_over_its_limit_is_told_to_end(loop: Runner, jobs: DurableJobs) -> None:
    """The limit of the body is kept from outside."""
    (job,) = loop.run(run_all(jobs, work(sleep=300, polite=1, time_limit_s=0.1)))
    assert (job.status, job.report) == ("done", b'{"n": null, "ended": true}')
    assert job.ended_s is not None
    assert job.started_s is not None
    assert job.ended_s - job.started_s < 2


@pytest.mark.slow
def test_bug_a_solve_that_does_not_end_fails_as_bad_input(loop: Runner, jobs: DurableJobs) -> None:
    """It is killed within two seconds of its limit, and asked too much: 5xx would say that the service is at fault."""
    (job,) = loop.run(run_all(jobs, work(sleep=300, time_limit_s=0.1)))
    assert job.problem is not None
    assert (job.status, job.problem["status"]) == ("failed", 422)
    assert 1 < (job.ended_s or 0) - (job.started_s or 0) < 2.1


def test_fifty_requests_with_one_key_are_one_job(loop: Runner, jobs: DurableJobs) -> None:
    """They may come at the same time."""

    async def story() -> set[str]:
        return {job.id for job in await asyncio.gather(*(jobs.submit(work("same", n=1)) for _ in range(50)))}

    assert len(loop.run(story())) == 1


def test_a_key_with_another_body_is_refused(loop: Runner, jobs: DurableJobs) -> None:
    """The earlier job is not returned for it; another owner's key is another key."""
    first = loop.run(jobs.submit(work("key", n=1)))
    with pytest.raises(KeyReusedError):
        loop.run(jobs.submit(work("key", n=2)))
    assert loop.run(jobs.submit(work("key", "other", n=2))).id != first.id


def test_a_job_of_another_owner_is_unknown(loop: Runner, jobs: DurableJobs) -> None:
    """It can be neither seen nor cancelled, no more than what is no id at all."""
    job = loop.run(jobs.submit(work(owner="ann")))
    for name in (job.id, "x", "\x00", "0" * 32):
        assert loop.run(jobs.get(name, "bob")) is None
        assert loop.run(jobs.cancel(name, "bob")) is None
    assert loop.run(jobs.page("bob", None, 10)) == ((), None)


@pytest.mark.slow
def test_the_urgent_come_first(loop: Runner, jobs: DurableJobs) -> None:
    """Jobs that wait are begun in the order of their priorities, those alike in that of their submission."""

    async def story() -> list[Job]:
        hold = [await begin(jobs, work(sleep=300, polite=1)) for _ in range(2)]
        waits = [await jobs.submit(work(rank=p, sleep=0.1)) for p in (9, 9, 5, 5, 1, 1)]
        await asyncio.sleep(0.3)
        for job in hold:
            await jobs.cancel(job.id, "")
        return [[seen async for seen in jobs.watch(job.id, "")][-1] for job in waits]

    started = [job.started_s or 0 for job in loop.run(story())]
    assert max(started[4:]) < min(started[2:4])
    assert max(started[2:4]) < min(started[:2])


@pytest.mark.slow
def test_pages_have_every_job_once(loop: Runner, jobs: DurableJobs) -> None:
    """The newest come first, without their reports."""

    async def story() -> list[str]:
        ids, after = [(await jobs.submit(work(owner="pages"))).id for _ in range(7)], None
        found: list[str] = []
        while after is not None or not found:
            page, after = await jobs.page("pages", after, 3)
            found += [job.id for job in page]
        assert found == ids[::-1]
        return found

    assert len(loop.run(story())) == 7


def test_what_is_no_cursor_is_refused(loop: Runner, jobs: DurableJobs) -> None:
    """It is bad input."""
    with pytest.raises(InputError, match="after"):
        loop.run(jobs.page("", "x", 3))


def test_too_many_jobs_that_wait_are_refused(loop: Runner, jobs: DurableJobs) -> None:
    """A key that came before is answered all the same; requests at the same moment may each find the last place."""

    async def story() -> Counter[str]:
        hold = [await begin(jobs, work(sleep=300, polite=1)) for _ in range(2)]
        known = await jobs.submit(work("full", n=1))
        waits = await asyncio.gather(*(jobs.submit(work(n=n)) for n in range(50)), return_exceptions=True)
        assert (await jobs.submit(work("full", n=1))).id == known.id
        for job in (*(job for job in waits if isinstance(job, Job)), *hold, known):
            await jobs.cancel(job.id, "")
        return Counter(type(job).__name__ for job in waits)

    found = loop.run(story())
    assert 29 <= found["Job"] <= 37
    assert found["Job"] + found[QueueFullError.__name__] == 50


def test_the_ready_are_ready(loop: Runner, jobs: DurableJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database is there; those who ask at the same time are told by one look at the database."""
    beats: list[Claims] = []
    monkeypatch.setattr(Claims, "beat", lambda claims: beats.append(claims))

    async def story() -> list[bool]:
        return await asyncio.gather(*(jobs.ready() for _ in range(100)))

    assert loop.run(story()) == [True] * 100
    assert len(beats) < 10
