"""The search for the plan with the least latency: one microbatch forward through all stages."""

from collections.abc import Iterator

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.chain.device_types import device_types_of, group_equal_devices
from tiger.placement.chain.dp_states import WORK_LIMIT, merge_device_types, steps_of
from tiger.placement.chain.fitting_runs import admitted_ends, fitting_ends, prefix_sums
from tiger.placement.chain.latency_dp import LatencyLine, latency_graph, quickest_line
from tiger.placement.chain.range_minima import Windows
from tiger.placement.search.incumbent import ChainIncumbent
from tiger.placement.search.problem import ChainProblem
from tiger.training.costs.plan import Plan, rank_order
from tiger.training.costs.stages import passes_s, transfers_s
from tiger.training.costs.tolerances import SUMS
from tiger.training.models.serving import forward_alone

# One pass of the dynamic program, where the least bottleneck takes twenty: 12 devices that all differ, and 80 layers.
LATENCY_LIMIT = 4 * WORK_LIMIT


def search_latency(incumbent: ChainIncumbent) -> None:
    """Find the plan of the least latency, exactly over single devices of few types, else by orders that are tried."""
    problem = incumbent.problem
    groups = group_equal_devices(problem.cluster, problem.line)
    few = steps_of(problem.layers, problem.line, groups) <= LATENCY_LIMIT
    with incumbent.stage("latency") as detail:
        detail["exact"] = few and not problem.has_groups
        bound = None if problem.has_groups else _bound_line(problem)
        if bound is not None:
            incumbent.bound_latency(max(bound.latency_s - bound.error_s, 0.0))
        elif problem.has_groups:
            incumbent.bound_latency(_bound_groups_s(problem))
        if few and not problem.has_groups:
            alone = forward_alone(problem.layers)
            types = device_types_of(alone, problem.line_cluster, groups)
            line = quickest_line(latency_graph(alone, types, problem.line))
            if line is not None:
                incumbent.offer(Plan.line(line.cuts, line.devices))
    if not incumbent.optimal:
        with incumbent.stage("orders"):
            _try_orders(incumbent)


def _bound_line(problem: ChainProblem) -> LatencyLine | None:
    """Return the line of the least latency, or one that is no slower: the optimum where devices are of few types.

    Stages whose layers need less while at work have more room than a line is given, so that they have all of it here.
    """
    alone = forward_alone(problem.least)
    types = merge_device_types(alone, problem.cluster, problem.line, LATENCY_LIMIT)
    return quickest_line(latency_graph(alone, types, problem.line))


def _bound_groups_s(problem: ChainProblem) -> float:
    """Return a lower bound for groups: the optimum where all devices are alike, so that all groups are.

    Otherwise all layers on the fastest devices, without messages.
    """
    params, cluster = problem.params, problem.cluster
    if not cluster.device_types().any() and params.pipeline is None and not problem.line.pinned:
        plan = quickest_along(problem, next(list_grids(problem)))
        return 0.0 if plan is None else problem.evaluator.latency_s(plan) * (1 - SUMS)
    return float(problem.least.forward_s.sum()) / (float(cluster.speed.max()) * params.tensor) * (1 - SUMS)


def _try_orders(incumbent: ChainIncumbent) -> None:
    """Offer the quickest plans along some orders of positions, each of which may be left out."""
    problem = incumbent.problem
    for grid in list_grids(problem):
        if problem.params.pipeline is not None:
            incumbent.offer_grids([grid[: problem.params.pipeline]])
        elif (plan := quickest_along(problem, grid)) is not None:
            incumbent.offer(plan)
        if incumbent.ended:
            return


def list_grids(problem: ChainProblem) -> Iterator[IntArray]:
    """Yield positions in the order of the cluster, the fastest first, and the largest first; as many as layers."""
    count = problem.cluster.size // (problem.params.tensor * problem.params.copies)
    grid = rank_order((count, problem.params.copies, problem.params.tensor))
    speed, room = (each[grid].min(axis=(1, 2)) for each in (problem.cluster.speed, problem.cluster.memory_bytes))
    home = problem.cluster.machine[grid[:, 0, 0]]
    orders = (np.arange(count), np.argsort(-speed, kind="stable"), np.argsort(-room, kind="stable"))
    # The fastest machine first keeps messages inside machines.
    best = {machine: float(speed[home == machine].max()) for machine in set(home.tolist())}
    by_machine = np.lexsort((-speed, home, -np.array([best[machine] for machine in home.tolist()])))
    for order in (*orders, by_machine):
        yield grid[order[: problem.layers.size]]


def quickest_along(problem: ChainProblem, grid: IntArray) -> Plan | None:
    """Return the plan of the least latency on positions in an order, some of which may stay unused; None without one.

    Exact for the order. O(p^2 L log L) for p positions.
    """
    layers, count = forward_alone(problem.layers), len(grid)
    forward_s = passes_s(layers, problem.cluster, grid)[:, :, 0].max(axis=1)
    ahead = np.array([prefix_sums(row) for row in forward_s])
    windows = [_windows(problem, ranks) for ranks in grid]
    rows: FloatArray = np.full((count, layers.size + 1), np.inf)
    beyond: FloatArray = np.full((count, layers.size + 1), np.inf)
    beyond[:, -1] = 0.0
    follows = np.full((count, layers.size + 1), -1)
    for position in range(count - 1, -1, -1):
        behind = grid[position + 1 :]
        if len(behind):
            sent_s = transfers_s(layers, problem.cluster, np.broadcast_to(grid[position], behind.shape), behind)
            options = sent_s + rows[position + 1 :]
            follows[position] = position + 1 + options.argmin(axis=0)
            beyond[position, :-1] = options.min(axis=0)[:-1]
        rows[position] = windows[position].minima((beyond[position] + ahead[position])[None])[0] - ahead[position]
    if not np.isfinite(rows[:, 0].min()):
        return None
    at, cuts, used = int(rows[:, 0].argmin()), [0], list[int]()
    while cuts[-1] < layers.size:
        ends = slice(cuts[-1] + 1, int(windows[at].last[cuts[-1]]) + 1)
        cuts.append(ends.start + int((beyond[at] + ahead[at])[ends].argmin()))
        used.append(at)
        at = int(follows[at, cuts[-1]])
    return Plan(cuts=tuple(cuts), grid=grid[used])


def _windows(problem: ChainProblem, ranks: IntArray) -> Windows:
    """Return the runs of layers that the devices of a position can hold, and that pins admit."""
    layers, tensor = problem.layers, ranks.shape[-1]
    room = float(problem.cluster.memory_bytes[ranks].min()) * tensor - float(layers.working_bytes.max())
    pinned = problem.line.pinned
    limits = admitted_ends(layers.size, pinned, set(ranks.ravel().tolist()))
    return Windows.of(np.minimum(fitting_ends(layers, max(room, 0.0), 0.0), limits))
