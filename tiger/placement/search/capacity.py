"""The most sequences that a cluster can serve at once: bisection over their number."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.placement.chain.device_types import device_types_of, group_equal_devices
from tiger.placement.chain.dp_states import WORK_LIMIT, steps_of
from tiger.placement.chain.latency_dp import latency_graph, quickest_line
from tiger.placement.chain.params import never_stop
from tiger.placement.chain.shortfall import has_line
from tiger.placement.params import PlaceParams
from tiger.placement.search.latency import LATENCY_LIMIT, list_grids, quickest_along
from tiger.placement.search.memory_split import count_sequences, plan_by_memory
from tiger.placement.search.problem import ChainProblem
from tiger.placement.search.reasons import merge_groups
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers
from tiger.training.models.serving import with_sequences
from tiger.training.options import SEQUENCE_LIMIT


class ServingCapacity(NamedTuple):
    """Hold layers of as many sequences as some plan has room for, their number, and the most of any plan.

    `plan` is one that has room, None where there is none.
    """

    layers: Layers
    sequences: int
    most: int
    plan: Plan | None = None


def fit_most_sequences(
    layers: Layers, cluster: Cluster, params: PlaceParams, stop: Callable[[], bool] = never_stop
) -> ServingCapacity:
    """Return layers of the most sequences for which a plan fits, of one where none does.

    Exact over single devices of few types: bisection with the dynamic program over cuts. Otherwise orders are tried,
    and the bound is that of a relaxation. Raises InputError of `objective` for a model that does not serve.
    """
    if layers.served is None:
        reason = "expected a model that serves, as with serve=1, beside cache"
        raise InputError("objective", f"{reason}, got one whose cache is not known")
    problem = ChainProblem.of(layers, cluster, params)
    groups = group_equal_devices(cluster, problem.line)
    exact = not problem.has_groups and steps_of(layers, problem.line, groups) <= LATENCY_LIMIT
    steps = LATENCY_LIMIT if exact else WORK_LIMIT

    def may_fit(count: int) -> bool:
        resized, line = with_sequences(layers, count), problem.line
        if not problem.has_groups:
            return has_line(resized, cluster, line, (cluster.link, cluster.memory_bytes), steps)
        merged = merge_groups(cluster, params, problem.positions)
        return has_line(resized, merged, replace(line, pinned={}), (merged.link, merged.memory_bytes))

    def find(count: int) -> Plan | None:
        resized = replace(problem, layers=with_sequences(layers, count))
        plans = (quickest_along(resized, grid[: params.pipeline]) for grid in list_grids(resized))
        return next((plan for plan in plans if plan is not None), None)

    simple = _count_simple(ChainProblem.of(with_sequences(layers, 1), cluster, params))
    known = max((count for count, _ in simple), default=0)
    held, most = _bisect(may_fit, (known, SEQUENCE_LIMIT), stop)
    if exact:
        resized = with_sequences(layers, max(held, 1))
        types = device_types_of(resized, cluster, groups)
        line = quickest_line(latency_graph(resized, types, problem.line)) if held else None
        return ServingCapacity(resized, held, most, None if line is None else Plan.line(line.cuts, line.devices))
    count = _bisect(lambda number: find(number) is not None, (known, most), stop)[0]
    plan = next((each for number, each in simple if number == count), None) or (find(count) if count else None)
    return ServingCapacity(with_sequences(layers, max(count, 1)), count, most, plan)


def _count_simple(problem: ChainProblem) -> list[tuple[int, Plan]]:
    """Return how many sequences the uniform plan and the split by memory have room for, where they hold one at all."""
    layers, cluster = problem.layers, problem.cluster
    plans = [problem.uniform_plan, plan_by_memory(problem)]
    allowed = [plan for plan in plans if problem.params.pipeline in (None, plan.positions)]
    fitting = [plan for plan in allowed if problem.evaluator.value(plan) < np.inf]
    return [(count_sequences(layers, cluster, plan) or 0, plan) for plan in fitting]


def _bisect(fits: Callable[[int], bool], limits: tuple[int, int], stop: Callable[[], bool]) -> tuple[int, int]:
    """Return the largest number up to a limit that fits, and again as the bound on it; the first limit is known to fit.

    What fits a number fits smaller ones, and 0 stands for none. If stopped, a number that fits, and one above which
    none may.
    """
    low, most = limits
    high = max(2 * low, 1)
    while high <= most and not stop() and fits(high):
        low, high = high, 2 * high
    high = most + 1 if stop() else min(high, most + 1)
    while high - low > 1 and not stop():
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low, high - 1
