"""The refinement of the best plans: cuts move while that makes the simulated iteration shorter."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.search.cut_moves import Cuts, move_cuts
from tiger.placement.search.incumbent import ChainIncumbent
from tiger.training.costs.plan import Plan
from tiger.training.costs.tolerances import MET
from tiger.training.schedules.fixed_cuts_bound import FixedCutsBound


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRefineParams:
    """Set how many of the best plans are refined, and how long each.

    One plan is given as many simulations as run `passes` passes in all, one for each microbatch and stage, and at least
    `simulations`; effort multiplies both. One finalist or six lead to the same plans as three in `python -m
    benchmarks.vary_plans tiger.placement.search.refinement:PlanRefineParams.finalists 3 1 6` with profiles.
    """

    finalists: int = 3
    passes: int = 200_000
    simulations: int = 50


def refine_plans(incumbent: ChainIncumbent, params: PlanRefineParams = PlanRefineParams()) -> None:
    """Move the cuts of the best plans, or of the closest one until it fits into memory, as a stage."""
    problem = incumbent.problem
    passes = problem.microbatches * problem.positions * problem.virtual
    budget = max(params.passes // passes, params.simulations) * problem.params.effort
    finalists = incumbent.finalists(params.finalists)
    with incumbent.stage("refinement"):
        if not finalists and incumbent.closest is not None:
            finalists = [_reduce_excess(incumbent, incumbent.closest, budget)]
        for plan in finalists:
            if not incumbent.ended:
                found = move_cuts(plan.cuts, _simulate_on(incumbent, plan.grid), budget, incumbent.stop)
                incumbent.offer(replace(plan, cuts=found.cuts))


def _reduce_excess(incumbent: ChainIncumbent, plan: Plan, budget: int) -> Plan:
    """Return a plan with the cuts moved so that less memory is missing."""

    def excess_bytes(cuts: Cuts) -> float:
        return incumbent.problem.evaluator.excess_bytes(replace(plan, cuts=cuts))

    return replace(plan, cuts=move_cuts(plan.cuts, excess_bytes, budget, incumbent.stop).cuts)


def _simulate_on(incumbent: ChainIncumbent, grid: IntArray) -> Callable[[Cuts], float]:
    """Return a function from cuts to seconds: simulated, or their lower bound where that is no better than the best."""
    problem, best_s = incumbent.problem, np.inf
    bound = FixedCutsBound.of(problem.least, problem.cluster, grid, problem.microbatches, problem.line.style)

    def seconds(cuts: Cuts) -> float:
        nonlocal best_s
        # Rounding must not hide cuts that take as long as their bound.
        bound_s = bound.seconds(cuts) * (1 - MET)
        if bound_s >= best_s:
            return bound_s
        value = problem.evaluator.value(problem.make_plan(cuts, grid))
        best_s = min(best_s, value)
        return value

    return seconds
