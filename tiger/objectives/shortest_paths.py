"""The load on links when every transfer follows one shortest path.

Links are undirected, with one load for both directions:

- Grids and tori have links between neighbours, just one on an axis of two nodes. Routes correct the last axis first and
  go the shorter way round; half way round an even axis they go up. Where `links` says nothing, bandwidth is 1.
- Trees without links of their own have one of bandwidth 1 above every subtree, which carries all that leaves or enters
  it.
- Elsewhere routes run along the shortest-path tree of the source over `links`; among parallel links they take the
  shortest, then the widest. Which of equally short routes scipy's search finds is arbitrary, but always the same.
  Transfers between disconnected parts load nothing.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, dijkstra

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.document import Document
from tiger.model.metrics import GridMetric, TreeMetric
from tiger.model.objective_arrays import GRID_ROUTES, PATH_ROUTES, TREE_ROUTES, RouteArrays
from tiger.model.problem import Problem
from tiger.model.topology import Links, Topology, distinct_links

# Sources whose shortest-path trees are held at once: 8 MB for 1,024 nodes, 64 MB for 8,192.
SOURCES_AT_ONCE = 1024
# Less of the largest load than this is what sums along the lines of a grid leave where nothing crosses.
NOTHING = 1e-9


class Transfers(NamedTuple):
    """Hold `volume[k]` > 0 that goes from node `source[k]` to another node `target[k]`."""

    source: IntArray
    target: IntArray
    volume: FloatArray


class Routes(Protocol):
    """Know the way between any two of m nodes over l links."""

    @property
    def width(self) -> FloatArray:
        """Return bandwidth[l], infinite for a number that stands for no link."""
        ...

    @property
    def around(self) -> FloatArray:
        """Return the bandwidth[m] of all links at each node together."""
        ...

    def loads(self, transfers: Transfers) -> FloatArray:
        """Return load[l]; O(transfers) on each axis or level, over links O(transfers * hops + sources l log m)."""
        ...

    def lengths(self, prices: FloatArray) -> FloatArray:
        """Return length[m, m], the sum of `prices[l]` along every route, infinite without one; O(m^2) memory."""
        ...

    def arrays(self) -> RouteArrays:
        """Return the routes for compiled code; O(m^2) memory over links, O(l) otherwise."""
        ...

    def name_ends(self, link: int, names: Sequence[str]) -> tuple[str, str]:
        """Return the names of the ends of a link, given those of all ends."""
        ...


def routes_of(topology: Topology) -> Routes | None:
    """Return the routes of hardware, None where there are no links."""
    if isinstance(topology.metric, GridMetric):
        return GridRoutes(topology.metric, topology.links)
    if isinstance(topology.metric, TreeMetric) and topology.links is None:
        return TreeRoutes(topology.metric)
    return None if topology.links is None else PathRoutes(topology.links, topology.size, len(topology.switches))


def transfers_of(problem: Problem, places: IntArray) -> Transfers:
    """Return the volumes from node to node, one transfer for each traffic entry that leaves its node."""
    edges = problem.tasks.traffic.tocoo()
    source, target = places[edges.row], places[edges.col]
    moves = source != target
    return Transfers(source[moves], target[moves], edges.data[moves])


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkLoad(Document):
    """Hold what crosses the link between `a` and `b`, in both directions together.

    `share` is load over bandwidth as a part of the largest there is: 1 is the bottleneck. `before` is the load in the
    block order, None where that is not known.
    """

    a: str
    b: str
    load: float
    share: float
    before: float | None = None


class LinkLoads(NamedTuple):
    """Hold the load[l] of the links of `routes`."""

    routes: Routes
    load: FloatArray

    @property
    def worst(self) -> float:
        """Return the largest load of a link over its bandwidth."""
        return float((self.load / self.routes.width).max(initial=0.0))

    def list_busiest(self, names: Sequence[str], most: int, before: "LinkLoads | None" = None) -> tuple[LinkLoad, ...]:
        """Return at most `most` links, the one with the largest load over bandwidth first; those without load never.

        `names` are those of what links end at, `before` the loads of the same links in the block order.
        """
        over, worst = self.load / self.routes.width, self.worst
        busiest = np.argsort(-over, kind="stable")[:most]
        return tuple(
            LinkLoad(
                a=a,
                b=b,
                load=float(self.load[k]),
                share=float(over[k] / worst),
                before=None if before is None else float(before.load[k]),
            )
            for k in busiest[over[busiest] > NOTHING * worst].tolist()
            for a, b in (self.routes.name_ends(k, names),)
        )


def link_loads(problem: Problem, places: IntArray) -> LinkLoads | None:
    """Return the loads of all links for node indices `places[n]`, None where there are no links.

    Every traffic entry follows the one route between its nodes.
    """
    routes = routes_of(problem.topology)
    return None if routes is None else LinkLoads(routes, routes.loads(transfers_of(problem, places)))


class _Span(NamedTuple):
    """Hold the part of each route along one axis: `hops` hops up from `first` on the line of node `start`.

    Lines step by `stride`.
    """

    axis: int
    stride: int
    start: IntArray
    first: IntArray
    hops: IntArray


class GridRoutes:
    """Route along one axis after the other; link x of a line joins the nodes at x and x + 1."""

    def __init__(self, metric: GridMetric, links: Links | None) -> None:
        self._metric = metric
        self.width = np.concatenate([_axis_width(metric, axis, links) for axis in range(len(metric.dims))])

    @property
    def around(self) -> FloatArray:
        """Return the bandwidth[m] of the links up and down every axis."""
        dims = self._metric.dims
        width = np.where(np.isfinite(self.width), self.width, 0.0).reshape(len(dims), *dims)
        both: FloatArray = sum((line + np.roll(line, 1, axis) for axis, line in enumerate(width)), np.zeros(dims))
        return both.ravel()

    def loads(self, transfers: Transfers) -> FloatArray:
        """Add up along every line where routes begin and end, or link by link where bandwidths differ."""
        load = np.empty((len(self._metric.dims), self._metric.size))
        real = self.width[np.isfinite(self.width)]
        # Sums of what begins less what ends err by parts of the largest load, which a narrow link may not bear.
        add = self._sum_lines if real.size and real.min() == real.max() else self._walk_hops
        for span in self._spans(transfers.source, transfers.target):
            load[span.axis] = add(span, transfers.volume)
        return load.ravel()

    def lengths(self, prices: FloatArray) -> FloatArray:
        """Look up the sums of one, two, .. prices up every line; O(m^2) memory."""
        metric, nodes = self._metric, np.arange(self._metric.size)
        runs = []
        for axis, extent in enumerate(metric.dims):
            price = prices[axis * metric.size : (axis + 1) * metric.size].reshape(metric.dims)
            run = np.zeros((extent, metric.size))
            for hops in range(1, extent):
                run[hops] = run[hops - 1] + np.roll(price, 1 - hops, axis).ravel()
            runs.append(run)
        portions = np.array_split(nodes, -(-4 * len(nodes) // SOURCES_AT_ONCE))
        return np.concatenate([self._lengths_from(portion, nodes, runs) for portion in portions])

    def arrays(self) -> RouteArrays:
        """Return extents, which axes wrap around, and coordinates."""
        shape, around = np.array(self._metric.dims, np.int64), np.array(self._metric.wrap)
        table = np.stack(np.unravel_index(np.arange(self._metric.size), self._metric.dims), axis=1)
        return RouteArrays(
            GRID_ROUTES, shape, (around & (shape > 2)).astype(np.int64), table, np.zeros(1, np.int64), self.width
        )

    def name_ends(self, link: int, names: Sequence[str]) -> tuple[str, str]:
        """Name a node and the next one up the axis."""
        axis, node = divmod(link, self._metric.size)
        dims = self._metric.dims
        stride, extent = math.prod(dims[axis + 1 :]), dims[axis]
        last = node // stride % extent == extent - 1
        return names[node], names[node + (1 - extent if last else 1) * stride]

    def _sum_lines(self, span: _Span, volume: FloatArray) -> FloatArray:
        """Return load[m] of the links up an axis by sums along its lines."""
        metric, extent = self._metric, self._metric.dims[span.axis]
        last = span.first + span.hops
        over = last >= extent
        begun, ended = (
            np.bincount(span.start + end * span.stride, volume, metric.size) for end in (span.first, last % extent)
        )
        passed = np.bincount(span.start[over], volume[over], metric.size)
        return np.asarray(np.cumsum((begun - ended + passed).reshape(metric.dims), span.axis).ravel())

    def _walk_hops(self, span: _Span, volume: FloatArray) -> FloatArray:
        """Return load[m] of the links up an axis, hop by hop."""
        load, extent = np.zeros(self._metric.size), self._metric.dims[span.axis]
        start, first, hops = span.start, span.first, span.hops
        for step in range(int(hops.max(initial=0))):
            going = hops > step
            start, first, hops, volume = start[going], first[going], hops[going], volume[going]
            load += np.bincount(start + (first + step) % extent * span.stride, volume, len(load))
        return load

    def _lengths_from(self, sources: IntArray, targets: IntArray, runs: list[FloatArray]) -> FloatArray:
        """Return the lengths from some nodes to others, given the length of each number of hops up every axis."""
        total = np.zeros((len(sources), len(targets)))
        for axis, stride, start, first, hops in self._spans(sources[:, None], targets[None, :]):
            total += runs[axis][hops, start + first * stride]
        return total

    def _spans(self, here: IntArray, target: IntArray) -> Iterator[_Span]:
        """Yield the part of every route along each axis, in the order in which they are gone."""
        stride = 1
        for axis in reversed(range(len(self._metric.dims))):
            extent = self._metric.dims[axis]
            around = self._metric.wrap[axis] and extent > 2
            x, y = here // stride % extent, target // stride % extent
            up = 2 * ((y - x) % extent) <= extent if around else x <= y
            first, last, start = np.where(up, x, y), np.where(up, y, x), here - x * stride
            yield _Span(axis, stride, start, first, (last - first) % extent)
            here, stride = start + y * stride, stride * extent


def _axis_width(metric: GridMetric, axis: int, links: Links | None) -> FloatArray:
    """Return bandwidth[m] of the link from every node to the next one up the axis, the widest of parallel links."""
    extent, stride = metric.dims[axis], int(np.prod(metric.dims[axis + 1 :]))
    width = np.zeros(metric.size)
    # A link of bandwidth 1 says no more than none does, and a hypercube has ten million of them.
    given = None if links is None or (links.bandwidth == 1.0).all() else links
    ends = [] if given is None else [(given.u, given.v, given.bandwidth), (given.v, given.u, given.bandwidth)]
    for low, high, bandwidth in ends:
        x = low // stride % extent
        found = high == low + np.where(x == extent - 1, 1 - extent, 1) * stride
        np.maximum.at(width, low[found], bandwidth[found])
    width[width == 0] = 1.0
    if extent <= 2 or not metric.wrap[axis]:
        width[np.arange(metric.size) // stride % extent == extent - 1] = np.inf
    return width


class TreeRoutes:
    """Route up to the smallest subtree that holds both ends, and down; links of inner subtrees come first."""

    def __init__(self, metric: TreeMetric) -> None:
        self._metric = metric
        counts = metric.size // metric.leaves
        self._first = np.cumsum(counts) - counts
        self.width = np.ones(int(counts.sum()))

    @property
    def around(self) -> FloatArray:
        """Return the bandwidth[m] of the link above each leaf."""
        return np.ones(self._metric.size)

    def loads(self, transfers: Transfers) -> FloatArray:
        """Add up, level by level, what leaves and enters every subtree."""
        load = np.zeros(len(self.width))
        for first, source, target in self._subtrees(transfers.source, transfers.target):
            volume = np.where(source != target, transfers.volume, 0.0)
            load += np.bincount(first + source, volume, len(load)) + np.bincount(first + target, volume, len(load))
        return load

    def lengths(self, prices: FloatArray) -> FloatArray:
        """Add up, level by level, the prices of the links above both ends where their subtrees differ."""
        nodes = np.arange(self._metric.size)
        total = np.zeros((len(nodes), len(nodes)))
        for first, source, target in self._subtrees(nodes[:, None], nodes[None, :]):
            total += np.where(source != target, prices[first + source] + prices[first + target], 0.0)
        return total

    def arrays(self) -> RouteArrays:
        """Return the links above every leaf."""
        nodes, none = np.arange(self._metric.size), np.zeros(1, np.int64)
        table = np.stack([first + source for first, source, _ in self._subtrees(nodes, nodes)], axis=1)
        return RouteArrays(TREE_ROUTES, none, none, table, none, self.width)

    def name_ends(self, link: int, names: Sequence[str]) -> tuple[str, str]:
        """Name a subtree, or leaf, and the next larger one."""
        level = int(np.searchsorted(self._first, link, "right")) - 1
        begin, count = int(self._first[level]), self._metric.size // int(self._metric.leaves[level])
        return names[link], names[begin + count + (link - begin) // self._metric.fanouts[-1 - level]]

    def _subtrees(self, source: IntArray, target: IntArray) -> Iterator[tuple[int, IntArray, IntArray]]:
        """Yield the first link of each level, and the subtrees that hold the ends."""
        for first, leaves in zip(self._first.tolist(), self._metric.leaves.tolist(), strict=True):
            yield first, source // leaves, target // leaves


class PathRoutes:
    """Walk every route back from its target along the shortest-path tree of its source.

    Links join `size` nodes and, numbered behind them, `switches` switches.
    """

    def __init__(self, links: Links, size: int, switches: int = 0) -> None:
        ends = np.sort(np.stack([links.u, links.v], axis=1), axis=1)
        chosen = distinct_links(links)
        chosen = chosen[ends[chosen, 0] < ends[chosen, 1]]
        self._nodes, self._size = size, size + switches
        size, (self._low, self._high) = self._size, ends[chosen].T
        graph = sp.csr_array((links.weight[chosen], (self._low, self._high)), shape=(size, size))
        self._graph, self._keys = sp.csr_array(graph + graph.T), self._low * size + self._high
        self.width = links.bandwidth[chosen]

    @property
    def around(self) -> FloatArray:
        """Return the bandwidth[m] of the links that end at each node."""
        low, high = (np.bincount(end, self.width, self._size) for end in (self._low, self._high))
        return np.asarray(low + high)[: self._nodes]

    def loads(self, transfers: Transfers) -> FloatArray:
        """Walk the routes of a portion of the sources at once, link by link."""
        size, load = self._size, np.zeros(len(self.width))
        pairs = sp.csr_array((transfers.volume, (transfers.source, transfers.target)), shape=(size, size)).tocoo()
        sources, tree = np.unique(pairs.row, return_inverse=True)
        for begin in range(0, len(sources), SOURCES_AT_ONCE):
            parents = _parents(self._graph, sources[begin : begin + SOURCES_AT_ONCE])
            mine = (tree >= begin) & (tree < begin + SOURCES_AT_ONCE)
            root, node, volume = tree[mine] - begin, pairs.col[mine].astype(np.int64), pairs.data[mine]
            while node.size:
                before = parents[root, node]
                going = before >= 0
                root, node, before, volume = root[going], node[going], before[going], volume[going]
                load += np.bincount(self._links(before, node), volume, len(load))
                node = before
        return load

    def lengths(self, prices: FloatArray) -> FloatArray:
        """Jump back along all routes at once, twice as far each time."""
        nodes = np.arange(self._nodes)
        parents = _parents(self._graph, nodes)
        before = np.where(parents >= 0, parents, np.arange(self._size)[None, :])
        total = (
            np.where(parents >= 0, prices[self._last_links(parents)], 0.0) if len(prices) else np.zeros(parents.shape)
        )
        for _ in range(self._size.bit_length()):
            total += np.take_along_axis(total, before, 1)
            before = np.take_along_axis(before, before, 1)
        return np.where(before == nodes[:, None], total, np.inf)[:, : self._nodes]

    def arrays(self) -> RouteArrays:
        """Return the last link of every route."""
        parents, none = _parents(self._graph, np.arange(self._nodes)), np.zeros(1, np.int64)
        table = np.where(parents >= 0, self._last_links(parents), -1)
        return RouteArrays(PATH_ROUTES, none, none, table, self._low + self._high, self.width)

    def name_ends(self, link: int, names: Sequence[str]) -> tuple[str, str]:
        """Name both ends."""
        return names[self._low[link]], names[self._high[link]]

    def _last_links(self, parents: IntArray) -> IntArray:
        """Return via[s, m], the link from every node's predecessor to it, any link where it has none."""
        nodes = np.broadcast_to(np.arange(self._size), parents.shape)
        return np.minimum(self._links(np.maximum(parents, 0), nodes), max(len(self._keys) - 1, 0))

    def _links(self, a: IntArray, b: IntArray) -> IntArray:
        """Return the links between neighbours a and b."""
        return np.searchsorted(self._keys, np.minimum(a, b) * self._size + np.maximum(a, b))


def _parents(graph: sp.csr_array, sources: IntArray) -> IntArray:
    """Return parents[s, m], every node's predecessor on the way from each source, negative where there is none."""
    if graph.nnz and graph.data.min() < graph.data.max():
        parents = dijkstra(graph, indices=sources, return_predecessors=True)[1]
    elif graph.nnz == graph.shape[0] * (graph.shape[0] - 1):
        # Every other node is one link away.
        return np.where(np.arange(graph.shape[0]) == sources[:, None], -1, sources[:, None])
    else:
        parents = np.stack([breadth_first_order(graph, source)[1] for source in sources])
    return np.asarray(parents, np.int64)
