"""Quotients: the boxes of a lattice as tasks of their own, mapped by another search where hardware has no structure."""

import math
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Search, Stop
from tiger.model.tasks import TaskGraph
from tiger.solvers.geometry.boxes import Parts, box_numbers
from tiger.solvers.geometry.lattices import Lattice

# The search that maps the boxes of a problem.
ChooseSearch = Callable[[Problem], Search]


def map_quotient(problem: Problem, lattice: Lattice, parts: Parts, choose: ChooseSearch, stop: Stop) -> IntArray:
    """Return places[n] of the tasks of a lattice cut into boxes, one on each of some hosts."""
    boxes = box_numbers(lattice, parts)
    quotient = _quotient(problem, boxes, math.prod(parts))
    start = quotient.topology.hosts[: quotient.tasks.size]
    found = choose(quotient).search(quotient, start, effort=1, seed=0, stop=stop)
    return found.places[boxes]


def _quotient(problem: Problem, boxes: IntArray, size: int) -> Problem:
    """Return the problem of mapping boxes, one a host: those that all tasks of a box fit on."""
    counts = np.bincount(boxes, minlength=size)
    traffic = problem.tasks.traffic.tocoo()
    between = boxes[traffic.row] != boxes[traffic.col]
    ends = boxes[traffic.row[between]], boxes[traffic.col[between]]
    tasks = TaskGraph(
        names=tuple(map(str, range(size))),
        traffic=sp.csr_array((traffic.data[between], ends), shape=(size, size)),
        work=np.bincount(boxes, problem.tasks.work, size).astype(np.float64),
        directed=True,
    )
    topology = problem.topology.with_slots((problem.topology.slots >= counts.max()).astype(np.int64))
    return Problem(tasks=tasks, topology=topology, rule="one-to-one")
