r"""A bound on traffic between tasks that may share nodes, from how many slots there are near any node.

For any mapping, :math:`d(u, v)`, the distance between the nodes of tasks u and v, keeps the triangle inequality, and
for every task u and set S of k tasks

.. math:: \sum_{v \in S} d(u, v) \ge f(k) = \sum_{i < k} D(i),

where no node has more than :math:`i` slots nearer than :math:`D(i)`. Let a flow send one unit from each task of S to u
for every such pair (u, S), :math:`y_{uS}` times, and load no edge e above its volume :math:`c_e`. A unit that takes a
path from v to u crosses edges whose distances add up to :math:`d(u, v)` or more, hence

.. math:: \sum_e c_e d_e \ge \sum_{u,S} y_{uS} \sum_{v \in S} d(u, v) \ge \sum_{u,S} y_{uS} f(|S|).

Any flows do; `tiger.bounds.spreading` looks for good ones. Distances of a tree are a sum over its levels of what two
leaves in different subtrees are apart, and each term has a bound of its own, with all of the volumes.

Source: G. Even, J. Naor, S. Rao, B. Schieber, J. ACM 47 (2000), doi:10.1145/347476.347478 (spreading metrics).
"""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from tiger.model.arrays import FloatArray, Int32Array, IntArray
from tiger.model.metrics import DenseMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.rounding import TINY, relative_error
from tiger.model.seams import Stop

# Beyond this many hosts the table of distances takes seconds.
HOSTS = 1024
# Other distances are rounded down to these, which keeps the bound valid: for a stencil of 900 tasks on 300 hosts with
# links of random length 4 to 32 of them give 246, 128 give 251.
DISTANCES = 32
# A region is a 128th of the tasks that may send to it, and regions cover every task 1.5 times for an effort of 1; but
# columns settle some WORK tasks a level, unless that makes fewer of them than COLUMNS.
PARTS, COVER, WORK = 128, 1.5, 1 << 24
# So few columns are cheap to make: with 64 a clique of eight on two nodes has a bound a sixth lower.
COLUMNS = 256
# Columns end when this many entries of neighbour lists were read for an effort of 1, which takes some five seconds.
ENTRIES = 1 << 27
# So few tasks are cheap to look at whole.
FEW = 64
Spread = tuple[FloatArray, IntArray]


def spreading_bound(problem: Problem, effort: int = 1, stop: Stop = bool) -> float:
    """Return a lower bound on the cost of the traffic under the capacity rule, 0 where it has none.

    `effort` multiplies the work; levels of a tree get theirs by the root of their distance. `stop` is called every now
    and then, and ends it early. O(n + m) memory for n tasks and m edges, and O(q^2) for q hosts, which may be up to
    1,024 but on a tree.
    """
    traffic = problem.tasks.traffic
    if problem.groups or not len(problem.topology.hosts):
        return 0.0
    if traffic.nnz == np.count_nonzero(traffic.diagonal()):
        return 0.0
    # The kernel brings the compiler with it, which problems without traffic are spared.
    from tiger.bounds.flows import CsrGraph
    from tiger.bounds.spreading import ColumnChoice, pack

    graph = CsrGraph(*_neighbours(traffic))
    if not len(graph.volume):
        return 0.0
    size, terms = problem.tasks.size, tuple(_spreads(problem))
    centres = np.random.default_rng(0).permutation(np.flatnonzero(np.diff(graph.first)))
    bound, most = 0.0, max((float(reach[-1]) for reach, _ in terms), default=0.0)
    for reach, counts in terms:
        limit = min(3 * int(counts[0]), size) if len(counts) == 1 else _middle(problem, counts)
        region = max(limit // PARTS, int(COVER * size * limit / WORK), 1)
        share = effort * (float(reach[-1]) / most) ** 0.5
        many = max(int(share * COVER * size / region), min(COLUMNS, WORK // limit))
        bound += pack(graph, ColumnChoice(reach, counts, centres, region, limit, many, int(share * ENTRIES)), stop)
    # Distances are differences or sums along a path, and levels of a tree are added up.
    bound *= 1 - relative_error(2 * problem.topology.size + 4)
    return bound if np.isfinite(bound) else 0.0


def _middle(problem: Problem, counts: IntArray) -> int:
    """Return an eighth of the tasks or, if that is more, four nodes full of them; all of a few."""
    return min(max(problem.tasks.size // 8, 4 * int(counts[0]), FEW), problem.tasks.size)


def _neighbours(traffic: sp.csr_array) -> tuple[IntArray, Int32Array, Int32Array, FloatArray]:
    """Return neighbour lists, edges and their volumes, both ways together; neighbours have numbers close by."""
    both = sp.csr_array(traffic + traffic.T)
    both.setdiag(0.0)
    # What is smaller would lose digits on the way; to leave it out lowers the cost, and so the bound.
    both.data[both.data < TINY] = 0.0
    both.eliminate_zeros()
    order = reverse_cuthill_mckee(sp.csr_matrix(both), symmetric_mode=True)
    both = both[order][:, order].tocsr()
    size = both.shape[0]
    row, near = np.repeat(np.arange(size), np.diff(both.indptr)), both.indices.astype(np.int64)
    key = np.minimum(row, near) * size + np.maximum(row, near)
    _, at, edge = np.unique(key, return_index=True, return_inverse=True)
    return both.indptr.astype(np.int64), near.astype(np.int32), edge.astype(np.int32), both.data[at]


def _spreads(problem: Problem) -> Iterator[Spread]:
    """Yield terms of the distance: rising distances, and how many slots at most are nearer than each to any node."""
    metric, slots = problem.metric, count_slots(problem)
    hosts = problem.topology.hosts
    if isinstance(metric, TreeMetric):
        last = 0.0
        for leaves, distance in zip(metric.leaves.tolist(), metric.distances, strict=True):
            count = int(np.bincount(hosts // leaves, slots).max())
            if distance > last and count < problem.tasks.size:
                yield np.array([distance - last], np.float64), np.array([count])
            last = max(last, distance)
    elif len(hosts) <= HOSTS:
        distances = metric.between(hosts[:, None], hosts[None, :])
        yield from _distance_term(
            _metric_below(distances) if isinstance(metric, DenseMetric) else distances, slots, problem.tasks.size
        )


def count_slots(problem: Problem) -> IntArray:
    """Return how many of the smallest tasks fit on each host."""
    hosts, memory, room = problem.topology.hosts, problem.tasks.memory, problem.topology.memory
    slots = problem.topology.slots[hosts]
    if memory is None or room is None:
        return slots
    return np.minimum(slots, np.searchsorted(np.cumsum(np.sort(memory)), room[hosts], side="right"))


def _metric_below(distances: FloatArray) -> FloatArray:
    """Return the largest metric that is nowhere above the distances, whichever way; O(q^3)."""
    closed = np.minimum(distances, distances.T)
    np.fill_diagonal(closed, 0.0)
    for middle in range(len(closed)):
        np.minimum(closed, closed[:, middle, None] + closed[middle], out=closed)
    return closed


def _distance_term(distances: FloatArray, slots: IntArray, tasks: int) -> Iterator[Spread]:
    """Yield the term of a matrix of distances, at most 32 of them, the others rounded down."""
    steps = np.unique(distances)[1:]
    if len(steps) > DISTANCES:
        steps = steps[np.linspace(0, len(steps) - 1, DISTANCES).astype(np.int64)]
    counts = np.array([int(((distances < step) @ slots).max()) for step in steps], np.int64)
    useful = counts < tasks
    if useful.any():
        yield steps[useful], counts[useful]
