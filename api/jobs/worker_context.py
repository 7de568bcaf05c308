"""What all runs of leases on a server share."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar, TypeVarTuple

from tiger.api.jobs.claims import Claims, Lease
from tiger.api.jobs.ipc import IpcServer, Solve
from tiger.api.jobs.settings import JobSettings
from tiger.api.jobs.upload_store import UploadStore
from tiger.api.jobs.usage import UnwrittenCharges
from tiger.api.pool.processes import Workers

Parts = TypeVarTuple("Parts")
Answer = TypeVar("Answer")


@dataclass(slots=True, kw_only=True)
class WorkerContext:
    """Hold the settings, the rows of jobs and of uploads, the workers and their connections, and what these use.

    `threads` wait for the database and for nothing else, so that other work goes on when it hangs.
    `running` has the leases that are claimed and run here, each with the event that asks it to end: by lease and not by
    job, as an old one may end while the valid one runs. `changed` is called with the id of a job whose row has changed.
    """

    settings: JobSettings
    claims: Claims
    uploads: UploadStore
    workers: Workers
    ipc_server: IpcServer
    solve: Solve
    changed: Callable[[str], None]
    threads: ThreadPoolExecutor
    charges: UnwrittenCharges
    running: dict[Lease, asyncio.Event] = field(default_factory=dict)

    async def call(self, function: Callable[[*Parts], Answer], *args: *Parts) -> Answer:
        """Call a function that waits for the database."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, function, *args)
