"""QAPLIB against tabu searches and scipy's FAQ: mean gaps to the best known values by family, at equal seconds."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.clocks import processor_clock
from benchmarks.instances import qaplib
from benchmarks.tabu import Assignment
from benchmarks.tuning import scipy_cost
from tiger.mapping.mapper import solve
from tiger.model.problem import Problem

LIMITS_S = (1.0, 10.0)
SEEDS = {1.0: (0, 1), 10.0: (0,)}
# Per cent above the best known cost.
NEAR = 0.1
WHO = ("`auto`", "memetic tabu", "robust tabu", "scipy FAQ")
HEAD = ("family", "instances", *(f"{who}, {limit:g} s" for limit in LIMITS_S for who in WHO))


def table(say: Callable[[str], None], data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield mean gaps in per cent for each family, and how many instances come within 0.1 %."""
    yield HEAD
    gaps: dict[str, list[list[float]]] = {}
    for name, problem, best in qaplib(data) if data else ():
        say(name)
        gaps.setdefault(_family(name), []).append(
            [gap for limit_s in LIMITS_S for gap in measure(problem, best, limit_s, SEEDS[limit_s])]
        )
    every = [row for rows in gaps.values() for row in rows]
    for family, rows in gaps.items():
        yield family, str(len(rows)), *(f"{gap:.3f}" for gap in np.mean(rows, axis=0))
    if every:
        yield "**all**", str(len(every)), *(f"**{gap:.3f}**" for gap in np.mean(every, axis=0))
        near = [f"{sum(gap <= NEAR for gap in column)} of {len(every)}" for column in zip(*every, strict=True)]
        yield f"within {NEAR} %", "", *near


def _family(name: str) -> str:
    """Return the letters around an instance's size, as in tai*a."""
    return re.sub(r"\d+", "*", name)


def measure(problem: Problem, best: float, limit_s: float, seeds: tuple[int, ...]) -> list[float]:
    """Return the mean gaps in per cent to the best cost, over the seeds, of TIGER and its peers.

    All have as much processor time, on one thread.
    """
    costs = []
    for seed in seeds:
        with processor_clock():
            ours = solve(problem, seed=seed, time_limit_s=limit_s).cost
            memetic, robust = (
                search(Assignment(problem, seed, limit_s)) for search in (Assignment.memetic, Assignment.robust)
            )
            costs.append([np.inf if ours is None else ours, memetic, robust, scipy_cost(problem, "faq", seed, limit_s)])
    gaps: list[float] = (100 * (np.mean(costs, axis=0) / best - 1)).tolist()
    return gaps
