"""Waiting for work and for jobs."""

import asyncio

import pytest
from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.types import Message

from tests.api.desk import Desk, keep_jobs, settle, work
from tiger.api.routes.waiting import run_while_connected, wait_until_ended


def test_a_client_that_leaves_ends_its_work(loop: asyncio.Runner) -> None:
    """The work is cancelled when the connection closes."""
    stopped: list[str] = []
    kinds = iter(("http.request", "http.disconnect"))

    async def busy() -> bytes:
        try:
            await asyncio.sleep(60)
        finally:
            stopped.append("cancelled")
        return b""

    async def receive() -> Message:
        await asyncio.sleep(0.01)
        return {"type": next(kinds)}

    with pytest.raises(ClientDisconnect):
        loop.run(run_while_connected(Request({"type": "http"}, receive), busy()))
    assert stopped == ["cancelled"]


def test_a_job_is_waited_for(loop: asyncio.Runner) -> None:
    """It comes with its report."""

    async def scenario() -> None:
        async with keep_jobs(desk := Desk()) as jobs:
            waiting = asyncio.ensure_future(wait_until_ended(jobs, await jobs.submit(work()), 5.0))
            await settle()
            desk.asked[0].set_result(b"{}")
            done = await waiting
            assert (done.status, done.report) == ("done", b"{}")

    loop.run(scenario())


@pytest.mark.parametrize("limit_s", [0.0, -1.0, 0.02])
def test_waiting_has_an_end(loop: asyncio.Runner, limit_s: float) -> None:
    """The job is returned as it is then."""

    async def scenario() -> None:
        async with keep_jobs(Desk()) as jobs:
            seen = await wait_until_ended(jobs, await jobs.submit(work()), limit_s)
            assert seen.status == ("running" if limit_s > 0 else "queued")

    loop.run(scenario())
