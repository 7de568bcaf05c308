"""A solve under way: the best mapping so far, the clock, and the record of stages."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of, violations
from tiger.run.deadline import Deadline
from tiger.run.progress import Progress
from tiger.run.report import meets, rounding
from tiger.run.stage import Detail, Stage

Watch = Callable[[Progress], None]


@dataclass(slots=True, kw_only=True)
class Run:
    """Hold what a solve knows: the incumbent `places[n]` and its cost, the bound, proof, warnings and stages.

    `value` is what is made small, the `measure` of the incumbent or, without one, its cost; `bound` bounds it.
    `elites[k, n]` are good mappings that a stage, by its name, left for its next round.
    """

    problem: Problem
    places: IntArray
    deadline: Deadline
    watch: Watch
    measure: Callable[[IntArray], float] | None = None
    cost: float = field(init=False)
    value: float = field(init=False)
    bound: float | None = None
    proved: bool = False
    stages: list[Stage] = field(default_factory=list)
    elites: dict[str, IntArray] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Cost and measure the first mapping."""
        self.value, self.cost = self._values(self.places)

    @property
    def ended(self) -> bool:
        """Return whether nothing better can be found, or time is up."""
        return self.optimal or self.deadline()

    @property
    def target(self) -> float:
        """Return the value at which nothing better can be found, minus infinity without a bound."""
        return -math.inf if self.bound is None else self.bound + rounding(self.bound)

    @property
    def optimal(self) -> bool:
        """Return whether the incumbent is proved optimal, by search or by the bound."""
        return self.proved or (self.bound is not None and meets(self.value, self.bound))

    def fruitless(self, name: str) -> bool:
        """Return whether a stage of that name has run and gained nothing the last time."""
        costs = [stage.cost for stage in self.stages]
        last = max((k for k, stage in enumerate(self.stages) if stage.name == name), default=0)
        return last > 0 and costs[last] >= costs[last - 1]

    def offer(self, places: IntArray) -> bool:
        """Take a mapping as incumbent if it violates nothing and its recomputed value, then cost, is lower."""
        found = self._values(places)
        if found >= (self.value, self.cost) or violations(self.problem, places):
            return False
        self.places, (self.value, self.cost) = places, found
        return True

    @contextmanager
    def stage(self, name: str, fraction: float | None = None) -> Iterator[dict[str, Detail]]:
        """Time a stage and record it with the figures that its body puts into the yielded mapping."""
        bound = self.bound if self.measure is None else None
        self.watch(Progress(stage=name, fraction=fraction, cost=self.cost, bound=bound))
        detail: dict[str, Detail] = {}
        begun = time.perf_counter()
        yield detail
        self.record(name, time.perf_counter() - begun, detail)

    def record(self, name: str, seconds: float, detail: Mapping[str, Detail]) -> None:
        """Add a stage that ends at the present cost, and value where that is another."""
        own = detail if self.measure is None else {"value": self.value, **detail}
        self.stages.append(Stage(name=name, cost=self.cost, seconds=seconds, detail=own))

    def _values(self, places: IntArray) -> tuple[float, float]:
        """Return value and cost of a mapping."""
        cost = cost_of(self.problem, places).total
        return (cost if self.measure is None else self.measure(places)), cost
