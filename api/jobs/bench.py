"""What all runs of a server share."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from tiger.api.jobs.claims import Claims
from tiger.api.jobs.line import Exchange, Solve
from tiger.api.jobs.settings import JobSettings
from tiger.api.workers import Workers


@dataclass(slots=True, kw_only=True)
class Bench:
    """Hold the settings, the rows, the workers and the way to them, and what they solve.

    `running` has the jobs that are under way here, each with the event that asks it to end; `changed` is called with
    the id of a job whose row has changed.
    """

    settings: JobSettings
    claims: Claims
    workers: Workers
    exchange: Exchange
    solve: Solve
    changed: Callable[[str], None]
    running: dict[str, asyncio.Event] = field(default_factory=dict)
