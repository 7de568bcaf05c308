"""Quadratic assignment problems in the format of QAPLIB (`.dat`)."""

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.model.metrics import DENSE_LIMIT, DenseMetric
from tiger.model.tasks import TaskGraph
from tiger.model.text import read_amounts, read_wholes
from tiger.model.topology import Topology


def read_problem(text: str) -> tuple[TaskGraph, Topology]:
    """Return tasks and topology of a QAPLIB instance: n, the distances of n nodes, then the traffic of n tasks.

    Both matrices are taken entry by entry, diagonals included, so that the cost of a mapping is the QAPLIB objective.
    Tasks and nodes are named `0` to `n-1`. Raises InputError of `tasks`. Source: Burkard, Karisch, Rendl, J. Global
    Optimization 10 (1997), doi:10.1023/A:1008293323270.
    """
    words = text.split()
    size = int(read_wholes("tasks", "the first number", words[:1])[0]) if words else 0
    if not 1 <= size <= DENSE_LIMIT:
        raise InputError("tasks", f"expected a size from 1 to {DENSE_LIMIT:,} as the first number, got {size}")
    if len(words) != 1 + 2 * size * size:
        raise InputError("tasks", f"expected 2 x {size} x {size} numbers after the size, got {len(words) - 1}")
    distances, traffic = read_amounts("tasks", "matrices", words[1:]).reshape(2, size, size)
    names = tuple(str(k) for k in range(size))
    tasks = TaskGraph(names=names, traffic=sp.csr_array(traffic))
    return tasks, Topology(names=names, metric=DenseMetric(np.asarray(distances)))
