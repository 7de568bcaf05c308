"""The work of searches, counted alike on every machine."""

from collections.abc import Callable
from dataclasses import dataclass

from tiger.planning.choices import Choice

# Work is counted in forward passes. Simulating a plan takes as long as ASIDE of them beside its own, and a pass of the
# zero-bubble schedule, whose order is searched for, GREEDY times as long.
ASIDE, GREEDY = 10_000, 10


@dataclass(slots=True)
class Meter:
    """Count the work of searches by how often they ask whether to stop, the same on every machine."""

    work: int
    stop: Callable[[], bool]
    spent: int = 0

    @property
    def left(self) -> int:
        """Return the work that is left, less than none where a search took more."""
        return self.work - self.spent

    def stop_for(self, choice: Choice) -> Callable[[], bool]:
        """Return what a search for one choice polls; it never stops that search for the work it takes."""
        step = work_of(choice)

        def stop() -> bool:
            self.spent += step
            return self.stop()

        return stop


def work_of(choice: Choice) -> int:
    """Return the work of simulating a plan once."""
    return ASIDE + choice.passes * (GREEDY if choice.schedule == "zero-bubble" else 1)
