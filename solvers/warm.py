"""Compile every search kernel into numba's cache, or load it from there."""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from tiger.model.aims import Order
from tiger.model.metrics import GridMetric
from tiger.model.problem import Problem
from tiger.model.seams import Search
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology


def warm(progress: Callable[[str], None]) -> None:
    """Run every compiled kernel once, on three tasks.

    Takes about 20 s of compilation the first time after installation, and well under a second from the cache.
    `progress` is told what comes next. All problems use the same compiled code, whatever their rule or metric.
    """
    from tiger.solvers.exact import Exact
    from tiger.solvers.greedy import Greedy
    from tiger.solvers.judged import Judged
    from tiger.solvers.local import Annealing

    tasks = TaskGraph(names=("a", "b", "c"), traffic=sp.csr_array(np.triu(np.ones((3, 3)), 1)))
    line = Topology(names=("x", "y", "z"), metric=GridMetric((3,), (False,)))
    problem = Problem(tasks=tasks, topology=line, rule="one-to-one")
    searches: tuple[tuple[str, Search], ...] = (
        ("greedy construction", Greedy()),
        ("local search", Annealing()),
        ("branch and bound", Exact()),
        ("other objectives", Judged(Order(np.arange(3)))),
    )
    for name, search in searches:
        progress(name)
        search.search(problem, np.arange(3), effort=1, seed=0, stop=bool)
