"""When a solve has to end."""

import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

# Set in a process whose solves have to come to an end now, with what they have.
ENDING = threading.Event()


def _is_abandoned() -> bool:
    """Say that somebody waits for the answer."""
    return False


# Tells, while a call is made for another process, whether nobody waits for its answer any more.
ABANDONED: ContextVar[Callable[[], bool]] = ContextVar("abandoned", default=_is_abandoned)


@dataclass(frozen=True, slots=True)
class Deadline:
    """Say when a solve has to end, by the system's monotonic clock in seconds; None for never.

    It can be sent to other processes and machines, by the seconds left.
    """

    at_s: float | None

    def __reduce__(self) -> tuple[Callable[[float | None], "Deadline"], tuple[float | None]]:
        """Return how to make it again on another clock."""
        return _end_in, (self.left_s,)

    @property
    def left_s(self) -> float | None:
        """Return the seconds left, None where there is no end."""
        if ENDING.is_set():
            return 0.0
        return None if self.at_s is None else self.at_s - time.monotonic()

    def share(self, part: float) -> "Deadline":
        """Return a deadline after a part of the time that is left."""
        left_s = self.left_s
        return self if left_s is None else Deadline(time.monotonic() + part * max(left_s, 0.0))

    def __call__(self) -> bool:
        """Return whether time is up, or the solve has to end for another reason."""
        return ENDING.is_set() or ABANDONED.get()() or (self.at_s is not None and time.monotonic() >= self.at_s)


def _end_in(seconds: float | None) -> Deadline:
    """Return the deadline some seconds from now."""
    return Deadline(None if seconds is None else time.monotonic() + seconds)
