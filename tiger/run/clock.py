"""The time that an answer takes, and the limit on it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tiger.run.deadline import Deadline


class Clock:
    """Hold the time limit in seconds, if any, the deadline of a search, and at the end the wall seconds."""

    def __init__(self, limit_s: float | None) -> None:
        self._limit_s, self.seconds = limit_s, 0.0
        self.stop = Deadline(None if limit_s is None else time.monotonic() + limit_s)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return a warning where the limit was reached."""
        if self._limit_s is None or self.seconds < self._limit_s:
            return ()
        return (f"ended by the time limit of {self._limit_s:g} s: the same seed may end elsewhere",)


@contextmanager
def measure_time(limit_s: float | None) -> Iterator[Clock]:
    """Time the body of a `with` statement."""
    begun, clock = time.perf_counter(), Clock(limit_s)
    yield clock
    clock.seconds = time.perf_counter() - begun
