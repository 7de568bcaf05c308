"""Jobs kept in memory, done by a stand-in whose answers a test gives."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from tests.api.memory import MemoryJobs
from tiger.api.pool.processes import Workers
from tiger.api.schemas.limits import Limits
from tiger.api.seams.job import Job, JobOrder, Jobs

LIMITS = Limits(max_tasks=8, max_time_s=5.0)


class Desk(Workers):
    """Stand in for workers: what is to be run lies here until a test says what comes of it."""

    def __init__(self, count: int = 1) -> None:
        super().__init__(count)
        self.asked: list[asyncio.Future[Any]] = []

    async def run(self, timeout_s: float, function: Callable[..., Any], *args: object) -> Any:
        """Wait for what a test says."""
        self.asked.append(asyncio.get_running_loop().create_future())
        return await self.asked[-1]


class Clerk(Workers):
    """Stand in for workers: say `says`, or raise it, after `takes_s` seconds."""

    def __init__(self, count: int = 1) -> None:
        super().__init__(count)
        self.says: bytes | Exception = b'{"seconds": 3}'
        self.takes_s = 0.0
        self.calls = 0

    async def stop(self) -> None:
        """Do nothing."""

    async def run(self, timeout_s: float, function: Callable[..., Any], *args: object) -> Any:
        """Answer."""
        self.calls += 1
        await asyncio.sleep(self.takes_s)
        if isinstance(self.says, Exception):
            raise self.says
        # What warms workers up makes no report.
        if function is not bool:
            self.on_result(self.says)
        return self.says


def work(body: bytes = b"{}", **fields: Any) -> JobOrder:
    """Return work to be done."""
    return JobOrder(kind="assign", body=body, **fields)


def job(**fields: Any) -> Job:
    """Return a job."""
    return Job(**{"id": "j1", "owner": "", "kind": "assign", "status": "running", "created_s": 1.0} | fields)


@asynccontextmanager
async def keep_jobs(desk: Desk, most: int = 9) -> AsyncIterator[MemoryJobs]:
    """Keep jobs that a desk does, at most so many that have not ended."""
    jobs = MemoryJobs(desk, LIMITS, most)
    await jobs.start()
    try:
        yield jobs
    finally:
        await jobs.stop()


async def get_job(jobs: Jobs, job_id: str) -> Job:
    """Return a job that is there."""
    found = await jobs.get(job_id, "")
    assert found is not None
    return found


async def settle() -> None:
    """Let everything happen that can."""
    for _ in range(20):
        await asyncio.sleep(0)
