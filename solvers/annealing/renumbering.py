"""Tasks in another order, in which those that exchange traffic are close in memory."""

from dataclasses import replace

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem


def renumber(problem: Problem, order: IntArray) -> Problem:
    """Return a problem by capacity with its tasks in another order: `order[n]` says which of them comes when."""
    tasks = problem.tasks
    renumbered = replace(
        tasks,
        names=tuple(map(tasks.names.__getitem__, order.tolist())),
        traffic=tasks.traffic[order][:, order],
        work=tasks.work[order],
        memory=None if tasks.memory is None else tasks.memory[order],
        hyperedges=None,
    )
    return replace(problem, tasks=renumbered)


def restore(places: IntArray, order: IntArray) -> IntArray:
    """Return places[n] of tasks in their first order, by those of the renumbered ones."""
    restored = np.empty_like(places)
    restored[order] = places
    return restored
