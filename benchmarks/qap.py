"""QAPLIB against scipy's FAQ: mean gaps to the best known values by family, at equal seconds."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.instances import qaplib
from benchmarks.tuning import scipy_cost
from tiger.mapping.mapper import solve
from tiger.model.problem import Problem

LIMITS_S = (1.0, 10.0)
SEEDS = {1.0: (0, 1), 10.0: (0,)}
# Per cent above the best known cost.
NEAR = 0.1
HEAD = ("family", "instances", *(f"{who}, {limit:g} s" for limit in LIMITS_S for who in ("`auto`", "scipy FAQ")))


def table(say: Callable[[str], None], data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield mean gaps in per cent for each family, and how many instances come within 0.1 %."""
    yield HEAD
    gaps: dict[str, list[list[float]]] = {}
    for name, problem, best in qaplib(data) if data else ():
        say(name)
        gaps.setdefault(_family(name), []).append(_gaps(problem, best))
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


def _gaps(problem: Problem, best: float) -> list[float]:
    """Return the mean gaps in per cent of both solvers within each limit."""
    found = []
    for limit_s in LIMITS_S:
        ours = [solve(problem, seed=seed, time_limit_s=limit_s).cost or np.inf for seed in SEEDS[limit_s]]
        theirs = [scipy_cost(problem, "faq", seed, limit_s) for seed in SEEDS[limit_s]]
        found += [100 * (float(np.mean(costs)) / best - 1) for costs in (ours, theirs)]
    return found
