"""Exact sweeps over single levels: with all others fixed, a level is a linear assignment problem."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Stop
from tiger.model.window import Block, fold

ROUNDS = 50


def sweep(problem: Problem, places: IntArray, stop: Stop) -> IntArray:
    """Return a mapping at most as costly as the feasible `places[n]`, each level optimal given the others.

    Levels are solved forward, then backward, until none gains; O(m k^2) a level of k tasks on m nodes. A group whose
    tasks exchange traffic among themselves is left alone.
    """
    places = places.copy()
    blocks = [Block(tasks=group[problem.pins[group] < 0], nodes=problem.topology.hosts) for group in problem.groups]
    for _ in range(ROUNDS):
        gains = [_solve(problem, block, places) for block in blocks + blocks[::-1] if len(block.tasks) and not stop()]
        if not any(gains):
            break
    return places


def _solve(problem: Problem, block: Block, places: IntArray) -> bool:
    """Assign one level at least cost (in place) and tell whether that gained."""
    window = fold(problem, block, places)
    if window.traffic.nnz:
        return False
    before = window.cost(window.local(places))
    local = linear_sum_assignment(window.linear)[1].astype(np.int64)
    if window.cost(local) >= before - 1e-9 * abs(before):
        return False
    places[block.tasks] = block.nodes[local]
    return True
