"""Tasks node by node in the order of a traversal of their graph: a mapping in the time that it takes to read them.

The order is that of E. Cuthill and J. McKee (doi:10.1145/800195.805928), reversed: breadth first, so that tasks which
exchange traffic are close to each other.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import reverse_cuthill_mckee

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop
from tiger.solvers.annealing import cost_changes
from tiger.solvers.instance import instance_of

# Neighbours of a task up to which there is an order: scipy sorts those of each by insertion, 0.4 s for 40,000.
MOST = 256


@dataclass(frozen=True, slots=True)
class Traversal:
    """Fill nodes one after another by tasks in the order of a traversal, for tasks that may be on any of them.

    Roads of 16,384 and 65,536 tasks, as in `benchmarks/anytime.py`, cost 2 to 5 % of what they cost in the order given.
    A bisection that time ends early begins with it and costs 4 to 10 % of what it does without.
    """

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheaper one of `start[n]` and the mapping by the order; O(entries), effort plays no part.

        Where a task has more than MOST neighbours, `start[n]` comes back.
        """
        graph = (problem.tasks.traffic + problem.inflow).tocsr()
        if np.diff(graph.indptr).max() > MOST:
            return Assignment(places=start.copy())
        order = reverse_cuthill_mckee(graph, symmetric_mode=True)
        hosts, places = problem.topology.hosts, np.empty(len(order), np.int64)
        # No more than all tasks, as a node may have slots without end.
        filled = np.minimum(np.cumsum(np.minimum(problem.topology.slots[hosts], len(order))), len(order))
        places[order] = np.repeat(hosts, np.diff(filled, prepend=0))
        inst = instance_of(problem)
        cheaper = cost_changes.total(inst, places) < cost_changes.total(inst, start)
        return Assignment(places=places if cheaper else start.copy())
