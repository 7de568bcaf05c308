"""Halos on what a scheduler leaves of a torus, beside a linear assignment of coordinates and annealing after that."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.clocks import processor_clock
from benchmarks.graphs import build_allocation
from benchmarks.plain_annealing import anneal_plainly
from tiger.mapping.mapper import solve
from tiger.model.arrays import IntArray
from tiger.model.metrics import GridMetric
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of

DRAWS, SEEDS = range(3), range(4)
RANKS = (16, 16, 16)
# Where the annealing begins, times the mean traffic of a task: of 1, 0.3, 0.1, 0.05, 0.02 and 0.005 the one that ends
# lowest in 12 s.
HOT = 0.02
HEAD = (
    *("nodes that are away", "linear assignment", "then plain annealing for as long as all seeds"),
    *("TIGER, effort 1, cheapest of 4 seeds", "dearest", "dearest over cheapest", "dearest over annealing"),
    "seconds of a processor, mean",
)


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield costs and the processor's seconds on one thread, for several draws of the nodes that are away."""
    yield HEAD
    for draw in DRAWS:
        problem = build_allocation(draw)
        begun = time.process_time()
        assigned = assign_coordinates(problem, RANKS)
        took = time.process_time() - begun
        # Ranks without memory would share nodes.
        ones = replace(problem.tasks, memory=np.ones(problem.tasks.size, np.int64))
        nodes = replace(problem.topology, memory=problem.topology.slots)
        alone = replace(problem, tasks=ones, topology=nodes)
        # Every kernel is loaded before a clock runs.
        solve(problem, seed=0)
        anneal_plainly(alone, assigned, 0.0, 0)
        say(f"draw {draw}")
        with processor_clock():
            reports = [solve(problem, seed=seed) for seed in SEEDS]
        costs, all_s = [report.cost or np.inf for report in reports], sum(report.seconds for report in reports)
        annealed = cost_of(problem, anneal_plainly(alone, assigned, all_s, 0, HOT)).total
        peers = f"{cost_of(problem, assigned).total:,.0f} ({took:.1f} s)", f"{annealed:,.0f}"
        worst, best = max(costs), min(costs)
        ratios = f"{worst / best:.3f}", f"{worst / annealed:.3f}"
        yield f"a tenth, draw {draw}", *peers, f"{best:,.0f}", f"{worst:,.0f}", *ratios, f"{all_s / len(reports):.1f}"


def assign_coordinates(problem: Problem, shape: tuple[int, ...]) -> IntArray:
    """Return the node of every rank of a grid by the least squared distances from its scaled coordinates."""
    metric, hosts = problem.metric, problem.topology.hosts
    assert isinstance(metric, GridMetric)
    extents = np.array(metric.dims)
    ranks = np.indices(shape).reshape(len(shape), -1).T * extents / shape
    away = np.abs(ranks[:, None] - np.stack(np.unravel_index(hosts, metric.dims), axis=1))
    return hosts[linear_sum_assignment((np.minimum(away, extents - away) ** 2).sum(axis=-1))[1]]
