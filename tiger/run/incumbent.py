"""A search under way: the best solution so far, its bound, the clock, and the record of stages."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tiger.model.rounding import meets
from tiger.run.answers import Answers
from tiger.run.progress import Progress, ignore
from tiger.run.stage import Detail, Stage

Watch = Callable[[Progress], None]
Solution = TypeVar("Solution")


@dataclass(kw_only=True)
class Incumbent(Generic[Solution]):
    """Hold the best solution of a search and its value, the lower bound, proof and warnings, and the stages so far.

    The value is what is minimized, infinite where the first solution stands for none. `meets` says whether a value is
    as good as a bound. `stop` says that time is up, `watch` is called as stages begin. `answers` are a sampler's.
    """

    solution: Solution
    value: float = math.inf
    stop: Callable[[], bool]
    watch: Watch = ignore
    meets: Callable[[float, float], bool] = meets
    bound: float | None = None
    proved: bool = False
    stages: list[Stage] = field(default_factory=list)
    warnings: dict[str, None] = field(default_factory=dict)
    answers: Answers = field(default_factory=Answers)

    @property
    def optimal(self) -> bool:
        """Return whether the solution is proved optimal, by search or by the bound."""
        return self.proved or (self.bound is not None and self.meets(self.value, self.bound))

    @property
    def ended(self) -> bool:
        """Return whether nothing better can be found, or time is up."""
        return self.optimal or self.stop()

    def take(self, solution: Solution, value: float) -> bool:
        """Take a solution if its value is lower, and return whether it is."""
        if not value < self.value:
            return False
        self.solution, self.value = solution, value
        return True

    @contextmanager
    def stage(self, name: str, fraction: float | None = None) -> Iterator[dict[str, Detail]]:
        """Time a stage and record it with the figures that its body puts into the yielded mapping."""
        self.watch(self.progress(name, fraction))
        detail: dict[str, Detail] = {}
        begun = time.perf_counter()
        yield detail
        self.record(name, time.perf_counter() - begun, detail)

    def progress(self, name: str, fraction: float | None) -> Progress:
        """Return the message that a stage begins."""
        return Progress(name, fraction, self.value if math.isfinite(self.value) else None, self.bound)

    def record(self, name: str, seconds: float, detail: Mapping[str, Detail]) -> None:
        """Add a stage that ends at the present value."""
        self.stages.append(Stage(name=name, cost=self.value, seconds=seconds, detail=detail))
