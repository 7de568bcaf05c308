"""The incumbent of a search for a plan: the best plan, all others that fit, the closest that does not, and bounds."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.ranks.search import OrderSearch
from tiger.placement.search.bounds import iteration_bound_s
from tiger.placement.search.candidates import LineSearch, candidate_plans
from tiger.placement.search.problem import ChainProblem
from tiger.run.incumbent import Incumbent
from tiger.training.costs.plan import Plan
from tiger.training.costs.tolerances import meets


@dataclass(kw_only=True)
class ChainIncumbent(Incumbent[Plan | None]):
    """Hold the best plan of a chain, None before one fits, all other plans that fit, and bounds.

    The value is seconds: of the bottleneck, of latency, or with a schedule of the simulated iteration. `plans` are all
    that fit, each with its value; `closest` lacks the least memory of those that do not. `bottleneck_bound_s` is a
    lower bound on the bottleneck of every plan, `latency_bound_s` on its latency.
    """

    problem: ChainProblem
    near: Plan | None = None
    solution: Plan | None = None
    plans: dict[tuple[tuple[int, ...], bytes], tuple[float, Plan]] = field(default_factory=dict)
    closest: Plan | None = None
    bottleneck_bound_s: float = 0.0
    latency_bound_s: float = 0.0
    meets: Callable[[float, float], bool] = meets
    _iteration_bound_s: float | None = None

    @property
    def optimal(self) -> bool:
        """Return whether the best plan meets the lower bound."""
        if self.solution is None:
            return False
        if self.problem.params.objective == "latency":
            return self.meets(self.value, self.latency_bound_s)
        timed = self.problem.params.schedule is not None
        return self.meets(self.value, self.iteration_bound_s if timed else self.bottleneck_bound_s)

    @property
    def iteration_bound_s(self) -> float:
        """Return the lower bound on the simulated iteration of every plan, worked out when first asked for."""
        if self._iteration_bound_s is None:
            self._iteration_bound_s = iteration_bound_s(self.problem, self.bottleneck_bound_s)
        return self._iteration_bound_s

    @property
    def order_search(self) -> OrderSearch:
        """Return the settings of the searches for an order of devices and for places of ranks."""
        params = self.problem.params
        return OrderSearch(
            solver=params.solver,
            seed=params.seed,
            effort=params.effort,
            stop=self.stop,
            answers=self.answers,
            near=None if self.near is None else self.near.grid,
        )

    def bound_bottleneck(self, bound_s: float) -> None:
        """Take a lower bound on the bottleneck; without a schedule it is that of the value."""
        self.bottleneck_bound_s = bound_s
        if self.problem.params.schedule is None and bound_s > 0:
            self.bound = bound_s

    def bound_latency(self, bound_s: float) -> None:
        """Take a lower bound on the latency, which is that of the value."""
        self.latency_bound_s = bound_s
        self.bound = bound_s if bound_s > 0 else None

    def offer(self, plan: Plan) -> None:
        """Keep a plan if it fits, as the best one if it is."""
        key = plan.cuts, plan.grid.tobytes()
        if key not in self.plans and (value := self.problem.evaluator.value(plan)) < np.inf:
            self.plans[key] = value, plan
            self.take(plan, value)

    def offer_grids(self, grids: Iterable[IntArray]) -> None:
        """Offer all candidate plans on grids `[p, d, t]`; remember the one that lacks the least memory if none fits."""
        problem, least_bytes = self.problem, np.inf
        for grid in grids:
            search = LineSearch(replace(problem.line, stages=None), self.stop)
            for plan in candidate_plans(problem.layers, problem.cluster, grid, problem.virtual, search):
                self.offer(plan)
                if not self.plans and (excess_bytes := problem.evaluator.excess_bytes(plan)) < least_bytes:
                    least_bytes, self.closest = excess_bytes, plan
                if self.stop():
                    return

    def finalists(self, count: int) -> list[Plan]:
        """Return the best plans that fit, so many at most."""
        ranked = sorted(self.plans.values(), key=lambda found: found[0])
        return [plan for _, plan in ranked[:count]]
