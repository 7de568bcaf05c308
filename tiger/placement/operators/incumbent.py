"""The best placement of operators so far, what it is measured by, and lower bounds on that."""

from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.operators.latency.list_scheduling import makespan_s
from tiger.placement.operators.loads import held_bytes, loads_s
from tiger.placement.operators.params import Objective
from tiger.placement.operators.terms import Terms
from tiger.run.incumbent import Incumbent
from tiger.run.progress import Progress
from tiger.training.costs.tolerances import MEMORY


@dataclass(kw_only=True)
class PlacementIncumbent(Incumbent[IntArray | None]):
    """Hold the device of every group [C], None before a placement fits, and its value.

    The value is the sum of the makespan and the largest load, in seconds, each times its weight: at first the load
    alone. `line` are the devices that hold a stage, in order, where stages are contiguous. `load_bound_s` and
    `latency_bound_s` are lower bounds for all placements, None before they are known.
    """

    terms: Terms
    line: tuple[int, ...] = ()
    makespan_weight: float = 0.0
    load_weight: float = 1.0
    load_bound_s: float | None = None
    latency_bound_s: float | None = None

    def offer(self, place: IntArray | None, line: tuple[int, ...] = ()) -> None:
        """Take a placement if it fits and its value is lower."""
        if place is not None and fits(self.terms, place) and self.take(place, self.measure(place)):
            self.line = line

    def measure(self, place: IntArray) -> float:
        """Return the value of a placement."""
        makespan = self.makespan_weight * makespan_s(self.terms, place) if self.makespan_weight else 0.0
        return makespan + self.load_weight * self.load_s(place)

    def load_s(self, place: IntArray) -> float:
        """Return the largest load of a device."""
        return float(np.add(*loads_s(self.terms, place)).max())

    @property
    def least_load_s(self) -> float:
        """Return the largest load of the best placement, infinite before one fits."""
        return np.inf if self.solution is None else self.load_s(self.solution)

    def turn_to(self, objective: Objective) -> None:
        """Measure by the makespan (latency), or by makespan and load in units of their bounds (both)."""
        load = 1 / self.load_bound_s if self.load_bound_s else 1.0
        makespan = 1 / self.latency_bound_s if self.latency_bound_s else 1.0
        self.makespan_weight, self.load_weight = (makespan, load) if objective == "both" else (1.0, 0.0)
        self.proved = False
        if self.solution is not None:
            self.value = self.measure(self.solution)

    def report_step(self, stage: str, _: IntArray, value: float) -> None:
        """Send a message of the value that a step within a stage has reached."""
        self.watch(Progress(stage, None, value))


def fits(terms: Terms, place: IntArray) -> bool:
    """Return whether every group is where it may go, and within memory up to rounding."""
    allowed = terms.allowed[np.arange(terms.groups), place].all()
    return bool(allowed and (held_bytes(terms, place) <= terms.capacity * (1 + MEMORY)).all())
