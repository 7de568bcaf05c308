"""Lower bounds on the bottleneck and on the iteration time over all plans of a chain."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tiger.placement.chain.best_order import balance_s, bound_s
from tiger.placement.search.problem import ChainProblem
from tiger.training.costs.stages import position_of
from tiger.training.costs.tolerances import SUMS
from tiger.training.schedules.best_cuts_bound import LowestCosts, cut_bounds_s
from tiger.training.schedules.bound import PlanBounds
from tiger.training.schedules.bound import iteration_bound_s as positions_bound_s


def line_bound_s(problem: ChainProblem, stop: Callable[[], bool]) -> float:
    """Return a lower bound on the bottleneck of single devices; infinite where no line fits.

    That of a line does not hold with several stages a position, or positions a stage, where all devices equally busy
    are the bound.
    """
    if not problem.is_line:
        return balance_s(problem.least, problem.cluster, problem.line)
    return bound_s(problem.least, problem.cluster, problem.line, stop=stop)


def group_bound_s(problem: ChainProblem) -> float:
    """Return a lower bound on the bottleneck of groups: all devices equally busy, or the largest layer."""
    params = problem.params
    ranks = params.tensor * params.copies * problem.positions
    work_s = (problem.least.forward_s + problem.least.backward_s) / params.tensor
    speed = np.sort(problem.cluster.speed)[-ranks:]
    # Every replica runs all microbatches, so that each has its share of the devices.
    # The two positions of a mirror that hold a layer share its microbatches.
    largest_s = float(work_s.max() / speed.max()) / (2 if problem.line.style == "mirror" else 1)
    return max(float(work_s.sum() / (problem.positions * speed.max())), largest_s)


def iteration_bound_s(problem: ChainProblem, bottleneck_s: float) -> float:
    """Return a lower bound on the simulated iteration of all plans with a schedule, 0 without one.

    `bottleneck_s` bounds the bottleneck. The least over all numbers of positions, each at least by the paths through
    its schedule with passes on the fastest devices, messages within a position left out, and by the best of all cuts.
    """
    schedule, tensor = problem.params.schedule, problem.params.tensor
    if schedule is None:
        return 0.0
    silent = problem.least.traffic.without_groups()
    bare = replace(problem.least, reduced_bytes=np.zeros(problem.least.size), group_traffic=silent)
    fastest = np.argsort(-problem.cluster.speed, kind="stable")[:tensor].reshape(1, tensor)
    place = position_of(bare, problem.cluster, fastest)
    plan_bounds = PlanBounds.of(bare, [place], bottleneck_s)
    counts = range(1, problem.positions + 1)
    bounds_s = np.array([positions_bound_s(plan_bounds, schedule, p, problem.microbatches) for p in counts])
    if problem.is_line:
        costs = LowestCosts.of(bare, problem.cluster, [place])
        bounds_s = np.maximum(bounds_s, cut_bounds_s(costs, schedule, problem.positions, problem.microbatches))
    lowest_s = float(bounds_s.min() if problem.params.pipeline is None else bounds_s[-1])
    # Sums in another order may differ by rounding, which must not lift the bound above the plan that meets it.
    return lowest_s * (1 - SUMS)
