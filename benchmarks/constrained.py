"""Tasks with memory, pins and forbidden pairs on nodes of several speeds, beside plain annealing at equal time."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.clocks import processor_clock
from benchmarks.plain_annealing import anneal_plainly
from tiger.feasibility.start import launch_order
from tiger.mapping.mapper import solve
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.objectives.cost import cost_of, violations
from tiger.topologies.spec import build

SEEDS = range(4)
SIZES = ((200, ("torus:5x8", "tree:5x8@1,10"), (1.05, 1.25)), (1000, ("torus:10x10", "tree:10x10@1,10"), (1.05,)))
DEGREES = (6, 20)
LIMIT_S = 5.0
HEAD = (
    "tasks, hardware",
    "slack of memory",
    "degree",
    "effort 1 over plain annealing",
    "processor time",
    "5 s over plain annealing",
)


class Ratio(NamedTuple):
    """Hold a cost over that of plain annealing in as much time of the processor, and that time."""

    cost: float
    seconds: float


def table(say: Callable[[str], None], _: object = None) -> Iterator[tuple[str, ...]]:
    """Yield mean costs over those of plain annealing, the worst of all seeds in brackets, and mean seconds."""
    yield HEAD
    every: list[tuple[Ratio, Ratio]] = []
    for size, specs, slacks in SIZES:
        for spec, slack, degree in product(specs, slacks, DEGREES):
            say(f"{size} tasks of degree {degree} on {spec} with slack {slack}")
            # Every kernel is loaded before a clock runs.
            first = make(size, spec, slack, degree, 0)
            solve(first, effort=2)
            anneal_plainly(first, np.asarray(launch_order(first)), 0.0, 0)
            rows = [_compare(make(size, spec, slack, degree, seed), seed) for seed in SEEDS]
            every += rows
            yield f"{size}, {spec}", f"{slack:.2f}", str(degree), *_cells(rows)
    yield "**all**", "", "", *_cells(every)


def make(size: int, spec: str, slack: float, degree: int, seed: int) -> Problem:
    """Return random traffic of tasks with memory 1 to 9, 5 of them pinned, on nodes of three speeds, 10 % forbidden."""
    rng, topology = np.random.default_rng([seed, degree, int(100 * slack), size]), build(spec)
    nodes, edges = topology.size, size * degree // 2
    ends = rng.integers(0, size, (2, 2 * edges))
    row, col = np.sort(ends[:, ends[0] != ends[1]][:, :edges], axis=0)
    traffic = sp.csr_array((rng.integers(1, 10, len(row)).astype(float), (row, col)), shape=(size, size))
    memory, work = rng.integers(1, 10, size), rng.integers(1, 10, size).astype(float)
    room = max(math.ceil(memory.sum() * slack / nodes), int(memory.max()))
    banned = rng.random((size, nodes)) < 0.1
    names = tuple(f"t{k}" for k in range(size))
    pinned = {
        names[task]: topology.names[rng.choice(np.flatnonzero(~banned[task]))]
        for task in rng.choice(size, 5, replace=False)
    }
    hardware = replace(
        topology, cost=rng.choice([1.0, 2.0, 3.0], nodes), memory=np.full(nodes, room), slots=np.full(nodes, size)
    )
    return Problem(
        tasks=TaskGraph(names=names, traffic=traffic, work=work, memory=memory),
        topology=hardware,
        rule="capacity",
        pinned=pinned,
        forbidden=[(names[task], topology.names[node]) for task, node in np.argwhere(banned)],
    )


def _compare(problem: Problem, seed: int) -> tuple[Ratio, Ratio]:
    """Return the ratios at effort 1 and under the time limit."""
    start = launch_order(problem)
    if isinstance(start, tuple):
        raise RuntimeError("expected a problem that can be met")
    ratios = []
    for options in ({"effort": 1}, {"time_limit_s": LIMIT_S}):
        begun = time.process_time()
        with processor_clock():
            cost = solve(problem, seed=seed, **options).cost
        seconds = time.process_time() - begun
        places = anneal_plainly(problem, start, seconds, seed)
        if violations(problem, places):
            raise RuntimeError("expected a peer that keeps the rules")
        ratios.append(Ratio(cost / cost_of(problem, places).total, seconds))
    return ratios[0], ratios[1]


def _cells(rows: list[tuple[Ratio, Ratio]]) -> tuple[str, str, str]:
    """Return the mean and the worst ratio at effort 1, its mean seconds, and the ratios under the time limit."""
    first, second = zip(*rows, strict=True)
    costs = [np.array([ratio.cost for ratio in some]) for some in (first, second)]
    seconds = sum(ratio.seconds for ratio in first) / len(rows)
    cells = [f"{some.mean():.3f} ({some.max():.3f})" for some in costs]
    return cells[0], f"{seconds:.1f} s", cells[1]
