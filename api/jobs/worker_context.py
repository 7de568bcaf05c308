"""What all runs of a server share."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar, TypeVarTuple

from tiger.api.jobs.claims import Claims, Turn
from tiger.api.jobs.ipc import Exchange, Solve
from tiger.api.jobs.settings import JobSettings
from tiger.api.workers.processes import Workers

Parts = TypeVarTuple("Parts")
Answer = TypeVar("Answer")


@dataclass(slots=True, kw_only=True)
class Bench:
    """Hold the settings, the rows, the workers and the way to them, and what they solve.

    `threads` are for what waits for the database alone, which may be long: others go on when it hangs.
    `running` has the turns that are under way here, each with the event that asks it to end: by turn and not by job,
    as a late one may come and go while the right one works. `changed` is called with the id of a job whose row has
    changed.
    """

    settings: JobSettings
    claims: Claims
    workers: Workers
    exchange: Exchange
    solve: Solve
    changed: Callable[[str], None]
    threads: ThreadPoolExecutor
    running: dict[Turn, asyncio.Event] = field(default_factory=dict)

    async def call(self, function: Callable[[*Parts], Answer], *args: *Parts) -> Answer:
        """Call a function that waits for the database."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, function, *args)
