"""Jobs in memory: what a keeper of jobs promises."""

import asyncio
from contextlib import aclosing

import pytest

from tests.api.desk import Desk, get_job, keep_jobs, settle, work
from tiger.api.seams.job import KeyReusedError, Status
from tiger.api.seams.quota import QueueFullError
from tiger.errors import InputError


def test_a_job_is_queued_then_done(loop: asyncio.Runner) -> None:
    """Its report is what the worker says."""

    async def scenario() -> None:
        async with keep_jobs(desk := Desk()) as jobs:
            first = await jobs.submit(work())
            await settle()
            running = await get_job(jobs, first.id)
            desk.asked[0].set_result(b'{"cost": 3}')
            await settle()
            last = await get_job(jobs, first.id)
        assert (first.status, running.status, last.status, last.report) == ("queued", "running", "done", b'{"cost": 3}')
        assert first.created_s <= (last.started_s or 0) <= (last.ended_s or 0)

    loop.run(scenario())


def test_the_most_urgent_is_done_first(loop: asyncio.Runner) -> None:
    """Among equals the earliest."""

    async def scenario() -> list[Status]:
        async with keep_jobs(desk := Desk()) as jobs:
            made = [await jobs.submit(work(rank=rank)) for rank in (10, 1, 10)]
            for turn in range(2):
                await settle()
                desk.asked[turn].set_result(b"{}")
            await settle()
            return [(await get_job(jobs, job.id)).status for job in made]

    assert loop.run(scenario()) == ["done", "done", "running"]


def test_a_failed_job_has_its_problem(loop: asyncio.Runner) -> None:
    """The document that the request itself would have been answered with."""

    async def scenario() -> None:
        async with keep_jobs(desk := Desk()) as jobs:
            made = await jobs.submit(work())
            await settle()
            desk.asked[0].set_exception(InputError("tasks", "expected some"))
            await settle()
            failed = await get_job(jobs, made.id)
        assert failed.problem is not None
        assert (failed.status, failed.problem["status"]) == ("failed", 422)
        assert failed.problem["errors"] == [{"pointer": "#/tasks", "detail": "expected some"}]

    loop.run(scenario())


def test_a_key_is_one_job(loop: asyncio.Runner) -> None:
    """For the same owner and the same body; another body is refused."""

    async def scenario() -> None:
        async with keep_jobs(Desk()) as jobs:
            made, again, other = [await jobs.submit(work(key="k", owner=who)) for who in ("a", "a", "b")]
            assert made.id == again.id != other.id
            with pytest.raises(KeyReusedError):
                await jobs.submit(work(b"[]", key="k", owner="a"))

    loop.run(scenario())


def test_too_many_jobs_are_refused(loop: asyncio.Runner) -> None:
    """Until one of them ends."""

    async def scenario() -> None:
        async with keep_jobs(Desk(), most=1) as jobs:
            made = await jobs.submit(work())
            with pytest.raises(QueueFullError):
                await jobs.submit(work())
            await jobs.cancel(made.id, "")
            await jobs.submit(work())

    loop.run(scenario())


def test_a_cancelled_job_is_not_worked_on(loop: asyncio.Runner) -> None:
    """Neither one that runs nor one that waits; an ended one stays as it is."""

    async def scenario() -> None:
        async with keep_jobs(desk := Desk()) as jobs:
            made = [await jobs.submit(work()) for _ in range(3)]
            await settle()
            ended = [await jobs.cancel(job.id, "") for job in made[:2]]
            await settle()
            assert [job and job.status for job in ended] == ["cancelled", "cancelled"]
            assert [asked.cancelled() for asked in desk.asked] == [True, False]
            desk.asked[1].set_result(b"{}")
            await settle()
            await jobs.cancel(made[2].id, "")
            assert (await get_job(jobs, made[2].id)).status == "done"

    loop.run(scenario())


def test_a_job_of_somebody_else_is_unknown(loop: asyncio.Runner) -> None:
    """As one that never was."""

    async def scenario() -> None:
        async with keep_jobs(Desk()) as jobs:
            made = await jobs.submit(work(owner="a"))
            assert await jobs.get(made.id, "b") is None
            assert await jobs.cancel(made.id, "b") is None
            assert await jobs.page("b", None, 9) == ((), None)
            assert [seen async for seen in jobs.watch(made.id, "b")] == []

    loop.run(scenario())


def test_pages_follow_one_another(loop: asyncio.Runner) -> None:
    """From the newest to the oldest; a cursor that is none has nothing after it."""

    async def scenario() -> None:
        async with keep_jobs(Desk()) as jobs:
            made = [(await jobs.submit(work())).id for _ in range(3)]
            first, cursor = await jobs.page("", None, 2)
            second, end = await jobs.page("", cursor, 2)
            assert [job.id for job in (*first, *second)] == made[::-1]
            assert (end, await jobs.page("", "none", 2)) == (None, ((), None))

    loop.run(scenario())


def test_watching_ends_with_the_job(loop: asyncio.Runner) -> None:
    """Every change is seen by one who is quick."""

    async def scenario() -> list[Status]:
        async with (
            keep_jobs(desk := Desk()) as jobs,
            aclosing(jobs.watch((await jobs.submit(work())).id, "")) as watched,
        ):
            seen = [(await anext(watched)).status]
            await settle()
            desk.asked[0].set_result(b"{}")
            return seen + [job.status async for job in watched]

    assert loop.run(scenario()) == ["queued", "running", "done"]


def test_memory_is_always_there(loop: asyncio.Runner) -> None:
    """Nothing can be missing."""

    async def scenario() -> None:
        async with keep_jobs(Desk()) as jobs:
            assert await jobs.ready()

    loop.run(scenario())
