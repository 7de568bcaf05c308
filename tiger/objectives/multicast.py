r"""The cost of multicasts: what a set of tasks gets is sent once to every node that holds some of them.

Tasks of a hyperedge e of volume :math:`v_e` lie on the different nodes :math:`P_e`. One of these has the message, and
nodes that have it pass it on, so that it crosses the edges of a spanning tree of :math:`P_e`. The cost is

.. math:: \sum_t w_t\, k_{p(t)} + \sum_e v_e\, \min_{T} \sum_{(p,q) \in T} d_{pq}

over minimum spanning trees T of :math:`P_e` by the distances of the hardware: no other node is a part of it. Of two
nodes that is their distance. It is less than twice the smallest Steiner tree, which may branch at other nodes too
(E. N. Gilbert, H. O. Pollak, doi:10.1137/0116001).
"""

from dataclasses import dataclass

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.hyperedges import Hyperedges
from tiger.model.metrics import GridMetric, Metric, TreeMetric
from tiger.model.objective_arrays import NetArrays
from tiger.model.problem import Problem
from tiger.model.rounding import TIE

# Rows of distances that the smallest one is looked for in at a time.
ROWS = 256


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
        """Return what every set adds to the cost, the largest 1."""
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
    """Return the lengths of minimum spanning trees of the k different nodes in each row of `nodes[h, k]`; O(h k^2).

    Source: R. C. Prim, doi:10.1002/j.1538-7305.1957.tb01515.x.
    """
    rows = np.arange(len(nodes))
    lengths, away = np.zeros(len(nodes)), metric.between(nodes[:, :1], nodes).astype(np.float64)
    away[:, 0] = np.inf
    for _ in range(nodes.shape[1] - 1):
        # The closest node joins the tree, and is no longer looked at.
        closest = away.argmin(axis=1)
        lengths += away[rows, closest]
        joined = np.isinf(away)
        away = np.minimum(away, metric.between(nodes[rows, closest][:, None], nodes))
        away[joined] = np.inf
        away[rows, closest] = np.inf
    return lengths


def _least_spans(problem: Problem, most: int) -> FloatArray:
    """Return spans[k], below the spanning tree of any k different hosts, for k up to `most`."""
    counts, metric = np.arange(most + 1), problem.metric
    if not isinstance(metric, TreeMetric):
        return np.maximum(counts - 1, 0) * _find_least(problem)
    # In a tree k leaves lie in so many subtrees of each level at least, and each that joins costs the level's distance.
    parts, spans = counts, np.zeros(most + 1)
    for leaves, away in zip(metric.leaves.tolist()[1:], metric.distances, strict=False):
        fewer = -(-counts // leaves)
        spans += (parts - fewer) * away
        parts = fewer
    return spans + np.maximum(parts - 1, 0) * metric.distances[-1]


def _find_least(problem: Problem) -> float:
    """Return a lower bound on the distance of two different hosts, 0 without two."""
    if isinstance(problem.metric, GridMetric):
        return problem.metric.hop
    hosts, least = problem.topology.hosts, np.inf
    for begin in range(0, len(hosts), ROWS):
        some = hosts[begin : begin + ROWS]
        away = problem.metric.between(some[:, None], hosts[None, :]).astype(np.float64)
        away[some[:, None] == hosts[None, :]] = np.inf
        least = min(least, float(away.min()))
    return least if np.isfinite(least) else 0.0
