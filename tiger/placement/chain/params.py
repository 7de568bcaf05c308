"""The limits that a line of stages has to keep to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tiger.training.costs.stage_positions import StageStyle


def none_in_flight(after: int) -> int:
    """Return 0 for any number of stages behind: memory is state alone."""
    return 0 * after


def never_stop() -> bool:
    """Return False: the search is not to stop."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class LineParams:
    """Set how many `stages` a line has (default: as many as pay), what they hold, and which device holds which layer.

    `in_flight(after)` is how many microbatches a stage with `after` stages behind it holds at a time. `pinned` gives
    the device, or where positions are given the position, of a layer. `style` deals several stages to each position.
    """

    stages: int | None = None
    in_flight: Callable[[int], float] = none_in_flight
    pinned: Mapping[int, int] = field(default_factory=dict)
    style: StageStyle = "loop"
