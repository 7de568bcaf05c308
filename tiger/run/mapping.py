"""The incumbent of a mapping problem: node indices and their cost, recomputed for every mapping that is offered."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.rounding import meets, rounding
from tiger.objectives.cost import cost_of, violations
from tiger.run.deadline import Deadline
from tiger.run.incumbent import Incumbent
from tiger.run.progress import Progress
from tiger.run.stage import Detail, Stage


@dataclass(kw_only=True)
class MappingIncumbent(Incumbent[IntArray]):
    """Hold the best mapping of a problem, its solution, as node indices [n], and the cost of that.

    `value` is the `measure` of the mapping or, without one, its cost; of equal values the lower cost counts. `bounded`
    says that lower bounds on the traffic of pairs are bounds on that cost.
    `elites[k, n]` are good mappings that a stage, by its name, left for its next round. `loading_s` is how long
    modules and kernels were loaded, or compiled once: that is the start of the program and no part of a solve.
    """

    problem: Problem
    stop: Deadline
    measure: Callable[[IntArray], float] | None = None
    bounded: bool = True
    cost: float = field(init=False)
    elites: dict[str, IntArray] = field(default_factory=dict)
    loading_s: float = 0.0

    def __post_init__(self) -> None:
        """Cost and measure the first mapping."""
        self.value, self.cost = self._evaluate(self.solution)

    @property
    def places(self) -> IntArray:
        """Return the node indices [n] of the best mapping."""
        return self.solution

    @property
    def target(self) -> float:
        """Return the value at which nothing better can be found, minus infinity without a bound."""
        return -math.inf if self.bound is None else self.bound + rounding(self.bound)

    def take(self, solution: IntArray, value: float) -> bool:  # noqa: ARG002 (evaluated again)
        """Offer a mapping; its value is evaluated again."""
        return self.offer(solution)

    def offer(self, places: IntArray) -> bool:
        """Take a mapping if it violates nothing and its recomputed value, then cost, is lower; return whether so."""
        values = self._evaluate(places)
        if values >= (self.value, self.cost) or violations(self.problem, places):
            return False
        self.solution, (self.value, self.cost) = places, values
        return True

    @contextmanager
    def stage(
        self, name: str, fraction: float | None = None, load: Callable[[], object] | None = None
    ) -> Iterator[dict[str, Detail]]:
        """Time a stage and record it, after `load` has loaded what it needs, which is no part of the solve."""
        if load is not None:
            with self.loading():
                load()
        with super().stage(name, fraction) as detail:
            yield detail

    @contextmanager
    def loading(self) -> Iterator[None]:
        """Put off the end of the solve by the time that the body takes."""
        begun = time.perf_counter()
        yield
        self.put_off(time.perf_counter() - begun)

    def put_off(self, seconds: float) -> None:
        """Put off the end of the solve by the seconds for which kernels were loaded."""
        self.loading_s += seconds
        if self.stop.at_s is not None:
            self.stop = Deadline(self.stop.at_s + seconds)

    def has_gained(self, name: str) -> bool:
        """Return whether a stage of that name lowered the cost the last time, or has not run."""
        costs = [stage.cost for stage in self.stages]
        last = max((k for k, stage in enumerate(self.stages) if stage.name == name), default=0)
        return last == 0 or costs[last] < costs[last - 1]

    def leads(self, name: str) -> bool:
        """Return whether a stage lowered the cost the last time, has not run, or has an elite of the cost."""
        costs = (cost_of(self.problem, places).total for places in self.elites.get(name, ()))
        return self.has_gained(name) or any(meets(cost, self.cost) for cost in costs)

    def progress(self, name: str, fraction: float | None) -> Progress:
        """Return the message that a stage begins; it has the bound where that is one on the cost."""
        return Progress(name, fraction, self.cost, self.bound if self.measure is None else None)

    def record(self, name: str, seconds: float, detail: Mapping[str, Detail]) -> None:
        """Add a stage that ends at the present cost, and value where that is another."""
        own = detail if self.measure is None else {"value": self.value, **detail}
        self.stages.append(Stage(name=name, cost=self.cost, seconds=seconds, detail=own))

    def _evaluate(self, places: IntArray) -> tuple[float, float]:
        """Return value and cost of a mapping."""
        cost = cost_of(self.problem, places).total
        return (cost if self.measure is None else self.measure(places)), cost
