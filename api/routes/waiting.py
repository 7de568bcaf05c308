"""Waiting for work, as long as there is somebody who waits."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

from tiger.api.seams.job import Job, Jobs

Result = TypeVar("Result")


async def run_while_connected(request: Request, work: Coroutine[None, None, Result]) -> Result:
    """Return what the work returns; cancel it and raise ClientDisconnect when the client leaves first."""
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_wait_until_gone(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


async def wait_until_ended(jobs: Jobs, job: Job, limit_s: float) -> Job:
    """Return a job with its report as soon as it has ended, or as it is after so many seconds."""
    if job.ended or limit_s <= 0:
        return job
    watching = asyncio.ensure_future(_wait_for_end(jobs, job))
    try:
        await asyncio.wait((watching,), timeout=limit_s)
        if watching.done():
            watching.result()
    finally:
        watching.cancel()
    return await jobs.get(job.id, job.owner) or job


async def _wait_for_end(jobs: Jobs, job: Job) -> None:
    """Wait until a job has ended."""
    async for seen in jobs.watch(job.id, job.owner):
        if seen.ended:
            return


async def _wait_until_gone(request: Request) -> None:
    """Wait until the client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
