"""Large sparse task graphs against Scotch."""

from collections.abc import Callable, Iterator
from math import exp, log
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks import scotch
from benchmarks.graphs import Case, cases
from tiger.mapping.mapper import solve
from tiger.objectives.cost import cost_of
from tiger.run.report import Report

SEED = 0
# Times the peer's seconds that a second run may take.
PATIENCE = 5.0
HEAD = (
    "problem",
    "known construction",
    "Scotch `-cq`",
    "largest load",
    "`auto`, effort 1",
    "`auto`, 5 x Scotch",
    "bound / cost",
)


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield costs and seconds; TIGER never exceeds the slots, Scotch may."""
    yield HEAD
    ratios = []
    for case in cases(SEED):
        say(case.name)
        cells, ratio = _measure(case)
        ratios.append(ratio)
        yield case.name, "" if case.known is None else f"{case.known:,}", *cells
    found = [[ratio[k] for ratio in ratios if ratio] for k in range(2)]
    means = [f"{exp(sum(map(log, column)) / len(column)):.3f}" if column else "" for column in found]
    yield "**geometric mean of cost over Scotch's**", "", "1", "", *means, ""


def _measure(case: Case) -> tuple[list[str], tuple[float, float] | None]:
    """Return the cells of a case, and our costs over Scotch's where that is installed."""
    problem, slots = case.problem, int(case.problem.topology.slots.max())
    with TemporaryDirectory() as folder:
        # Scotch has tori of its own, all of whose nodes take tasks; others are networks to it.
        whole = len(problem.topology.hosts) == problem.topology.size
        target = None if whole else scotch.write_network(problem.topology, Path(folder))
        peer = scotch.map_graph(problem, Path(folder), target)
    once = solve(problem, seed=SEED)
    cells = ["not installed", ""]
    if peer is None:
        return [*cells, _cell(once.cost, once.seconds), "", _share(once)], None
    cost = cost_of(problem, peer[0]).total
    cells = [_cell(cost, peer[1]), f"{np.bincount(peer[0]).max()} of {slots}"]
    more = solve(problem, seed=SEED, time_limit_s=PATIENCE * peer[1])
    found = [_cell(once.cost, once.seconds), _cell(more.cost, more.seconds)]
    return [*cells, *found, _share(once)], ((once.cost or np.inf) / cost, (more.cost or np.inf) / cost)


def _share(report: Report) -> str:
    """Return the lower bound as a share of the cost."""
    return f"{report.lower_bound / report.cost:.2f}" if report.cost and report.lower_bound is not None else ""


def _cell(cost: float | None, seconds: float) -> str:
    """Return a cell of cost and seconds."""
    return f"{cost:,.0f} ({seconds:.2f} s)"
