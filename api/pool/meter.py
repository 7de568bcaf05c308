"""How much processor time work takes in a worker, told to whoever accounts for it."""

import os
import resource
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

Result = TypeVar("Result")
# Told of each call of a worker: its processor seconds, None where the worker was killed or lost, and its wall seconds.
Tell = Callable[[float | None, float], None]
# Seconds of a tick, in which /proc counts processor time (proc(5)).
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def _ignore(_: float | None, __: float) -> None:
    """Account for nothing."""


# Who accounts for the calls that a request or a job makes, each in its own context.
SPENT: ContextVar[Tell] = ContextVar("spent", default=_ignore)


@dataclass(frozen=True, slots=True)
class Metered(Generic[Result]):
    """Hold what a call came to, an answer or an error, and the processor seconds that it took."""

    answer: Result | None
    error: Exception | None
    processor_s: float


def read_own_processor_s() -> float:
    """Return the processor seconds of this process, of all its threads and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def read_processor_s(process: int) -> float | None:
    """Return the same of another process, in hundredths of a second; None where it has ended (proc_pid_stat(5))."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return TICK_S * sum(map(int, fields[11:15]))
