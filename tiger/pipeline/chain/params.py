"""What a line of stages has to keep to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


def nothing_in_flight(after: int) -> int:
    """Return that no microbatch is in flight, with so many stages behind: memory is state alone."""
    return 0 * after


def never_stop() -> bool:
    """Return that no stop is asked for."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class LineParams:
    """Set how many `stages` there are (default: as many as pay), what they hold, and who holds which layer.

    `in_flight(after)` is how many microbatches a stage with `after` stages behind it holds at a time. `pinned` gives
    the device, or where positions are given the position, of a layer.
    """

    stages: int | None = None
    in_flight: Callable[[int], float] = nothing_in_flight
    pinned: Mapping[int, int] = field(default_factory=dict)
