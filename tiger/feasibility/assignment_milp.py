"""A mixed-integer program over all pairs of tasks and hosts, for problems that nothing simpler decides."""

import numpy as np
from scipy.optimize import LinearConstraint

from tiger.feasibility.components import Residual, components
from tiger.feasibility.milp import limits, solve, sum_matrix
from tiger.model.arrays import BoolArray, IntArray
from tiger.model.problem import Problem
from tiger.objectives.cost import violations

# More entries of a matrix than these, which take 240 MB, are left out.
PAIR_CELLS = 20_000_000
# Programs solved at most, each with another cover; the time ends nearly all of them before.
ROUNDS = 200


def solve_assignment(
    problem: Problem, residual: Residual, part: IntArray, reachable: BoolArray, until_s: float
) -> tuple[IntArray | None, bool]:
    """Return a feasible places[n], or None and whether it is proved that there is none.

    `part[h]` are the parts of the hardware, `reachable[h, h]` which hosts are connected. Sets of tasks whose memory
    turns out not to fit, where the program had to round, are excluded one by one by cover inequalities.
    """
    opened = _open_pairs(problem, residual, reachable)
    if not opened.any(axis=1).all():
        return None, True
    tasks, hosts = np.nonzero(opened)
    rows, size = _build_rows(problem, residual, part, reachable, opened)
    proved = False
    for limited in limits(residual.load[tasks], hosts, np.minimum(residual.room, residual.load.sum(axis=0)), size):
        for _ in range(ROUNDS):
            x, proved = solve([*rows, *limited], np.ones(size, np.int64), until_s)
            if x is None:
                break
            chosen = np.flatnonzero(x[: len(tasks)] > 0.5)
            places = problem.pins.copy()
            places[residual.tasks[tasks[chosen]]] = residual.hosts[hosts[chosen]]
            if not violations(problem, places):
                return places, True
            covers = _covers(residual, tasks[chosen], hosts[chosen], chosen, size)
            if not covers:
                break
            limited += covers
    return None, proved


def _build_rows(
    problem: Problem, residual: Residual, part: IntArray, reachable: BoolArray, opened: BoolArray
) -> tuple[list[LinearConstraint], int]:
    """Return the constraints that do not depend on loads, and the number of variables.

    Variables are the pairs opened[f, h], then a flag for every component and part. The pairs of a task in a part add up
    to the flag of its component, whose flags add up to 1.
    """
    tasks, hosts = np.nonzero(opened)
    label, parts = components(problem, part)[residual.tasks], int(part.max()) + 1
    flags = len(tasks) + np.arange((int(label.max()) + 1) * parts).reshape(-1, parts)
    cells, size = np.arange(len(tasks)), len(tasks) + flags.size
    both = np.arange(len(residual.tasks) * parts)
    lies = sum_matrix(tasks * parts + part[hosts], cells, size, len(both))
    lies -= sum_matrix(both, flags[label].ravel(), size, len(both))
    rows = [
        LinearConstraint(lies, 0, 0),
        LinearConstraint(sum_matrix(np.indices(flags.shape)[0].ravel(), flags.ravel(), size, len(flags)), 1, 1),
        *_bar_traffic(problem, residual, ~reachable & (part[:, None] == part), opened, size),
    ]
    if problem.groups:
        clash = residual.group[residual.kind[tasks]] * len(residual.hosts) + hosts
        rows.append(LinearConstraint(sum_matrix(clash, cells, size, int(clash.max()) + 1), -np.inf, 1))
    return rows, size


def _covers(residual: Residual, tasks: IntArray, hosts: IntArray, cells: IntArray, size: int) -> list[LinearConstraint]:
    """Return cover inequalities: tasks of a host that holds more than it has room for may not all be there again."""
    used = np.zeros_like(residual.room)
    np.add.at(used, hosts, residual.load[tasks])
    over = np.flatnonzero((used > residual.room).any(axis=1))
    return [
        LinearConstraint(sum_matrix(np.zeros_like(there), there, size, 1), -np.inf, len(there) - 1)
        for there in (cells[hosts == host] for host in over)
    ]


def _open_pairs(problem: Problem, residual: Residual, reachable: BoolArray) -> BoolArray:
    """Return open[f, h], the hosts that a free task may have beside the pinned tasks, their traffic included."""
    opened = residual.open[residual.kind] & (residual.load[:, None] <= residual.room).all(axis=2)
    edges, row = problem.tasks.traffic.tocoo(), np.full(problem.tasks.size, -1)
    row[residual.tasks] = np.arange(len(residual.tasks))
    host = np.searchsorted(residual.hosts, problem.pins)
    for ends, others, there in ((edges.row, edges.col, reachable.T), (edges.col, edges.row, reachable)):
        tied = np.flatnonzero((row[ends] >= 0) & (row[others] < 0))
        np.logical_and.at(opened, row[ends[tied]], there[host[others[tied]]])
    loops = row[edges.row[(edges.row == edges.col) & (row[edges.row] >= 0)]]
    opened[loops] &= reachable.diagonal()
    return opened


def _bar_traffic(
    problem: Problem, residual: Residual, blocked: BoolArray, opened: BoolArray, size: int
) -> list[LinearConstraint]:
    """Return that no traffic goes from a host to one it is blocked from, for the pairs opened[f, h] first of `size`.

    Too many such rows are left out: what is infeasible without them is so with them.
    """
    edges, row = problem.tasks.traffic.tocoo(), np.full(problem.tasks.size, -1)
    row[residual.tasks] = np.arange(len(residual.tasks))
    variable = np.where(opened, np.cumsum(opened).reshape(opened.shape) - 1, -1)
    free = (row[edges.row] >= 0) & (row[edges.col] >= 0) & (edges.row != edges.col)
    source, target = variable[row[edges.row[free]]], variable[row[edges.col[free]]]
    here, there = np.nonzero(blocked)
    if not here.size or here.size * len(source) > PAIR_CELLS:
        return []
    first = np.arange(len(source))[:, None] * len(blocked)
    start = np.unique(here)
    label = np.concatenate([(first + start).ravel(), (first + here).ravel()])
    column = np.concatenate([source[:, start].ravel(), target[:, there].ravel()])
    label, column = label[column >= 0], column[column >= 0]
    return [LinearConstraint(sum_matrix(label, column, size, len(source) * len(blocked)), -np.inf, 1)]
