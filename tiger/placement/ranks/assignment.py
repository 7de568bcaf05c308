"""Stages or ranks put onto devices by the core: a quadratic assignment problem, and the solver for it."""

import numpy as np
import scipy.sparse as sp

from tiger.mapping.mapper import solve_problem
from tiger.mapping.options import SolveArguments
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.placement.ranks.search import OrderSearch
from tiger.qubo.params import IsingParams
from tiger.run.deadline import Deadline

# Distance of pairs without a link, in units of the farthest with one: no saving pays for it, and solvers can tell
# costs apart beside it. The shortest time limit that a solver is given, in seconds.
FARTHEST, SHORT_S = 1e6, 1e-3


def assignment_problem(traffic: sp.csr_array, work: FloatArray, distance: FloatArray, price: FloatArray) -> Problem:
    r"""Return the problem of putting n tasks onto m different devices.

    .. math:: \min_p \sum_t w_t c_{p(t)} + \sum_{u, v} B_{u v} D_{p(u) p(v)}

    `traffic[n, n]` in bytes, `distance[m, m]` in seconds per byte, infinite without a link, `work[n]` in seconds and
    `price[m]` per second of it; the cost is in units of its largest term, so that no size of them matters. Pairs
    without a link are a million times as far apart as the farthest with one.
    """
    linked = distance[np.isfinite(distance)]
    far = float(linked.max(initial=0.0)) or 1.0
    most = float(traffic.data.max(initial=0.0)) or 1.0
    unit = max(most * far, float(work.max()) * float(price.max())) or 1.0
    table = np.where(np.isfinite(distance), distance / far, FARTHEST)
    return Problem(
        tasks=TaskGraph(
            names=tuple(f"task{k}" for k in range(len(work))),
            traffic=sp.csr_array(traffic / most),
            work=work / (unit / float(price.max())),
        ),
        topology=Topology(
            names=tuple(f"device{k}" for k in range(len(price))),
            metric=DenseMetric(table * (most * far / unit)),
            cost=price / float(price.max()),
        ),
        rule="one-to-one",
    )


def assign(problem: Problem, search: OrderSearch, seed: int) -> IntArray:
    """Return the device of every task that the solver of a search finds, in one round of effort."""
    left_s = search.stop.left_s if isinstance(search.stop, Deadline) else None
    limit = None if left_s is None else max(left_s, SHORT_S)
    arguments = SolveArguments(
        solver=search.solver, seed=seed, effort=1, time_limit_s=limit, ising=IsingParams(control=False)
    )
    report = solve_problem(problem, arguments, answers=search.answers)
    index = {name: k for k, name in enumerate(problem.topology.names)}
    return np.array([index[report.mapping[name]] for name in problem.tasks.names], np.int64)
