"""Matching where distances, and not traffic, are those of a sparse graph: tasks and nodes change their parts.

A mapping costs as much as its inverse does where traffic is the distance and distances are the traffic. Files of the
quadratic assignment problem have the two matrices in either order, as those of Drezner have.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from tiger.model.arrays import IntArray
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop, Usage
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.solvers.matching import graph_matching


@dataclass(frozen=True, slots=True)
class TransposedMatching:
    """Embed the graph of the distances in that of the tasks with the least traffic."""

    usage: ClassVar[Usage] = graph_matching.GraphMatching.usage

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the mapping that an embedding leads to, or the feasible `start[n]` where that is no dearer.

        As `GraphMatching`, and O(m^2) for the matrices.
        """
        other = transpose(problem)
        if other is None:
            return Assignment(places=start.copy())
        search = graph_matching.GraphMatching()
        found = search.search(other, np.argsort(start), effort=effort, seed=seed, stop=stop)
        return Assignment(places=np.argsort(found.places))


def applies(problem: Problem) -> bool:
    """Return whether the search is worth a try: distances are those of a sparse graph, and tasks fill its nodes."""
    other = transpose(problem)
    return other is not None and graph_matching.applies(other)


def transpose(problem: Problem) -> Problem | None:
    """Return the problem in which tasks and nodes change their parts; None where more than the matrices counts.

    That is with pins, forbidden pairs, memory or costs of nodes, and where the tasks do not fill the nodes. Where less
    than half of all distances are 0, there is no sparse graph to look for, and None as well. O(m^2).
    """
    tasks, topology = problem.tasks, problem.topology
    full = problem.rule == "one-to-one" and tasks.size == topology.size == len(topology.hosts)
    free = not len(problem.banned) and (problem.pins < 0).all() and tasks.memory is None and not topology.cost.any()
    if not (full and free and isinstance(problem.metric, DenseMetric) and problem.metric.symmetric):
        return None
    table = problem.metric.table
    if 2 * np.count_nonzero(table) > table.size:
        return None
    # Distances are the same both ways, so that of two tasks only the sum of their volumes counts.
    volumes = tasks.traffic.toarray()
    return Problem(
        tasks=TaskGraph(names=topology.names, traffic=sp.csr_array(table)),
        topology=Topology(names=tasks.names, metric=DenseMetric((volumes + volumes.T) / 2.0)),
        rule="one-to-one",
    )
