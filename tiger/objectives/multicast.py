r"""The cost of multicasts: what a set of tasks gets is sent once to every node that holds some of them.

Tasks of a hyperedge e of volume :math:`v_e` lie on the different nodes :math:`P_e`. One of these has the message, and
nodes that have it pass it on, so that it crosses the edges of a spanning tree of :math:`P_e`. The cost is

.. math:: \sum_t w_t\, k_{p(t)} + \sum_e v_e\, \min_{T} \sum_{(p,q) \in T} d_{pq}

over minimum spanning trees T of :math:`P_e` by the distances of the hardware: no other node is a part of it. Of two
nodes that is their distance. It is less than twice the smallest Steiner tree, which may branch at other nodes too
(E. N. Gilbert, H. O. Pollak, doi:10.1137/0116001).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.hyperedges import Hyperedges
from tiger.model.metrics import GridMetric, Metric, TreeMetric
from tiger.model.objective_arrays import NetArrays
from tiger.model.problem import Problem
from tiger.model.rounding import TIE
from tiger.model.topology import Links, link_matrix, neighbour_links

# Rows of distances that the smallest one is looked for in at a time.
ROWS = 256
# Distances that take as long as a node of the grid where a tree is found by its links, which take 1,000 nodes to begin.
PER_NODE, FIRST = 40, 1000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Multicast:
    """Evaluate and bound the cost of multicasts as an objective."""

    problem: Problem
    hyperedges: Hyperedges

    def value(self, places: IntArray) -> float:
        """Return the cost for node indices `places[n]`; O(pins log pins + the square of the nodes of each set)."""
        compute = float((self.problem.tasks.work * self.problem.topology.cost[places]).sum())
        return compute + float((self.hyperedges.volumes * self.lengths(places)).sum())

    def lengths(self, places: IntArray) -> FloatArray:
        """Return the length of every set's spanning tree."""
        size, owner = self.problem.topology.size, self.hyperedges.set_of
        pairs = np.unique(owner * size + places[self.hyperedges.pins])
        owner, nodes = pairs // size, pairs % size
        counts = np.bincount(owner, minlength=self.hyperedges.size)
        starts, lengths = np.cumsum(counts) - counts, np.zeros(self.hyperedges.size)
        for count in np.unique(counts[counts > 1]).tolist():
            chosen = np.flatnonzero(counts == count)
            lengths[chosen] = span_nodes(self.problem.metric, nodes[starts[chosen, None] + np.arange(count)])
        return lengths

    def stress(self, places: IntArray) -> FloatArray:
        """Return the share of every set in the cost, the largest 1."""
        shares = self.hyperedges.volumes * self.lengths(places)
        return np.asarray(shares / (float(shares.max(initial=0.0)) or 1.0))

    def surrogate(self, weights: FloatArray) -> None:  # noqa: ARG002 (part of the protocol)
        """Return None: the graph that stands for the sets has been solved before."""
        return

    def arrays(self) -> NetArrays:
        """Return the sets of two tasks or more for compiled code."""
        hyperedges = self.hyperedges
        widths = np.diff(hyperedges.starts)
        many = widths > 1
        starts = np.concatenate([[0], np.cumsum(widths[many])])
        return NetArrays(starts, hyperedges.pins[np.repeat(many, widths)], hyperedges.volumes[many])

    def bound(self) -> float:
        """Return a lower bound: every set by itself on as few nodes as hold it, as close as any are; O(m^2 + pins)."""
        problem = self.problem
        fewest = self._count_nodes()
        spans = _least_spans(problem, int(fewest.max(initial=1)))
        compute = float(problem.tasks.work.sum()) * float(problem.topology.cost[problem.topology.hosts].min())
        return (compute + float((self.hyperedges.volumes * spans[fewest]).sum())) * (1 - TIE)

    def _count_nodes(self) -> IntArray:
        """Return the least number of nodes that each set needs, by slots, or by tasks that exclude each other."""
        widths, owner = np.diff(self.hyperedges.starts), self.hyperedges.set_of
        group = self.problem.group_of[self.hyperedges.pins]
        if self.problem.groups:
            alike, counts = np.unique(owner * len(self.problem.groups) + group, return_counts=True)
            fewest = np.ones(self.hyperedges.size, np.int64)
            np.maximum.at(fewest, alike // len(self.problem.groups), counts)
            return fewest
        slots = np.minimum(np.sort(self.problem.topology.slots)[::-1], self.problem.tasks.size)
        return np.minimum(np.searchsorted(np.cumsum(slots), widths) + 1, len(slots))


def multicast_of(problem: Problem) -> Multicast:
    """Return the cost of multicasts; raise InputError where there are no hyperedges, or where directions matter."""
    hyperedges = problem.tasks.hyperedges
    if hyperedges is None:
        what = "expected tasks with hyperedges for multicast (an .hgr file, or hyperedges in JSON)"
        raise InputError("objective", f"{what}, got a graph of pairs")
    if not problem.metric.symmetric:
        raise InputError("topology", "expected distances that are the same both ways for hyperedges, got others")
    return Multicast(problem=problem, hyperedges=hyperedges)


def span_nodes(metric: Metric, nodes: IntArray) -> FloatArray:
    """Return the lengths of minimum spanning trees of the k nodes in each row of `nodes[h, k]`, which rise.

    O(h k) in a tree, O(h m log m) for many nodes of a grid of m, otherwise O(h k^2). Source: R. C. Prim,
    doi:10.1002/j.1538-7305.1957.tb01515.x.
    """
    if isinstance(metric, TreeMetric):
        parts = [(np.diff(nodes // leaves, axis=1) != 0).sum(axis=1) for leaves in metric.leaves.tolist()]
        return _span_levels(np.array([*parts, np.zeros(len(nodes), np.int64)]) + 1, metric)
    if isinstance(metric, GridMetric) and nodes.shape[1] ** 2 > PER_NODE * (metric.size + FIRST):
        return np.array([_span_grid(metric, row) for row in nodes])
    rows = np.arange(len(nodes))
    lengths, distances = np.zeros(len(nodes)), metric.between(nodes[:, :1], nodes).astype(np.float64)
    distances[:, 0] = np.inf
    for _ in range(nodes.shape[1] - 1):
        # The closest node joins the tree, and is no longer looked at.
        closest = distances.argmin(axis=1)
        lengths += distances[rows, closest]
        joined = np.isinf(distances)
        distances = np.minimum(distances, metric.between(nodes[rows, closest][:, None], nodes))
        distances[joined] = np.inf
        distances[rows, closest] = np.inf
    return lengths


def _span_levels(parts: IntArray, metric: TreeMetric) -> FloatArray:
    """Return the lengths of trees of leaves in `parts[l, h]` subtrees of each level, innermost first, in the end 1."""
    return np.asarray(np.array(metric.distances) @ (parts[:-1] - parts[1:]).astype(np.float64))


def _span_grid(metric: GridMetric, nodes: IntArray) -> float:
    """Return the length of the minimum spanning tree of nodes of a grid, over links between what is closest to them.

    Source: K. Mehlhorn, doi:10.1016/0020-0190(88)90066-X.
    """
    links = neighbour_links(replace(metric, hop=1.0))
    graph = link_matrix(links, metric.size)
    distances, _, closest = dijkstra(graph, directed=False, indices=nodes, min_only=True, return_predecessors=True)
    u, v = closest[links.u].astype(np.int64), closest[links.v].astype(np.int64)
    apart = u != v
    ways = distances[links.u] + links.weight + distances[links.v]
    between = Links(u=u[apart], v=v[apart], weight=ways[apart], bandwidth=np.ones(apart.sum()))
    return float(minimum_spanning_tree(link_matrix(between, metric.size)).sum()) * metric.hop


def _least_spans(problem: Problem, most: int) -> FloatArray:
    """Return spans[k], below the spanning tree of any k different hosts, for k up to `most`."""
    counts, metric = np.arange(most + 1), problem.metric
    if not isinstance(metric, TreeMetric):
        return np.maximum(counts - 1, 0) * _find_least(problem)
    # In a tree k leaves lie in this many subtrees of each level at least, and each that joins costs the level's
    # distance.
    parts = [-(-counts // leaves) for leaves in metric.leaves.tolist()]
    return _span_levels(np.array([*parts, np.minimum(counts, 1)]), metric)


def _find_least(problem: Problem) -> float:
    """Return a lower bound on the distance of two different hosts, 0 without two."""
    if isinstance(problem.metric, GridMetric):
        return problem.metric.hop
    hosts, least = problem.topology.hosts, np.inf
    for begin in range(0, len(hosts), ROWS):
        some = hosts[begin : begin + ROWS]
        distances = problem.metric.between(some[:, None], hosts[None, :]).astype(np.float64)
        distances[some[:, None] == hosts[None, :]] = np.inf
        least = min(least, float(distances.min()))
    return least if np.isfinite(least) else 0.0
