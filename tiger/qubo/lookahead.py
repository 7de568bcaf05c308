"""A start under the levels rule: place level after level, looking ahead over a few, with all earlier ones folded in.

A span of one level is the partition of the original tool: exact for each level, blind to those that follow.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Stop
from tiger.model.window import Block, Window, fold

Solve = Callable[[Window], IntArray | None]


def place_forward(problem: Problem, places: IntArray, span: int, solve: Solve, stop: Stop) -> IntArray:
    """Return places[n], level after level by windows of `span` levels of which the first is kept.

    `solve` returns local nodes of a window, in which later levels are absent; where it has none, or
    once `stop()`, those in the feasible `places[n]` stay.
    """
    places = places.copy()
    levels = [group[problem.pins[group] < 0] for group in problem.groups]
    for number in range(len(levels)):
        ahead = levels[number : number + span]
        block = Block(tasks=np.concatenate(ahead), nodes=problem.topology.hosts)
        later = np.concatenate([np.zeros(0, np.int64), *levels[number + span :]])
        if len(block.tasks) and not stop():
            local = solve(fold(problem, block, places, later))
            if local is not None:
                places[block.tasks] = block.nodes[local]
    return places


def assign_level(window: Window) -> IntArray:
    """Return the cheapest local nodes of a window of one level, whose tasks exchange no traffic, exactly."""
    return np.asarray(linear_sum_assignment(window.linear)[1], np.int64)
