"""The load on links when every transfer follows one shortest path."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, dijkstra

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import GridMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.topology import Links, distinct

SOURCES_AT_ONCE = 1024


class Transfers(NamedTuple):
    """Hold `volume[k]` > 0 that goes from node `source[k]` to another node `target[k]`."""

    source: IntArray
    target: IntArray
    volume: FloatArray


def max_link_load(problem: Problem, places: IntArray) -> float | None:
    """Return the largest load of a link over its bandwidth for node indices `places[n]`, None where there are no links.

    Links are undirected, with one load for both directions. Every traffic entry follows one shortest path:

    - Grids and tori have links between neighbours, just one on an axis of two nodes. Routes correct the last axis first
      and go the shorter way round; half way round an even axis they go up. Where `links` says nothing, bandwidth is 1.
    - Trees have a link of bandwidth 1 above every subtree, which carries all that leaves or enters it.
    - Elsewhere routes run along the shortest-path tree of the source over `links`; among parallel links they take the
      shortest, then the widest. Which of equally short routes scipy's search finds is arbitrary, but always the same.
      Transfers between disconnected parts load nothing.

    O(edges) on each axis or level; over links O(edges * hops + sources * (l + m log m)).
    """
    edges = problem.tasks.traffic.tocoo()
    source, target = places[edges.row], places[edges.col]
    moves = source != target
    transfers = Transfers(source[moves], target[moves], edges.data[moves])
    metric, links = problem.topology.metric, problem.topology.links
    if isinstance(metric, GridMetric):
        return _grid_load(metric, links, transfers)
    if isinstance(metric, TreeMetric):
        return _tree_load(metric, transfers)
    return None if links is None else _path_load(links, metric.size, transfers)


def _grid_load(metric: GridMetric, links: Links | None, transfers: Transfers) -> float:
    """Route along one axis after the other; link x of a line joins the nodes at x and x + 1."""
    here, target, volume = transfers
    worst, stride = 0.0, 1
    for axis in reversed(range(len(metric.dims))):
        extent = metric.dims[axis]
        around = metric.wrap[axis] and extent > 2
        x, y = here // stride % extent, target // stride % extent
        up = 2 * ((y - x) % extent) <= extent if around else x <= y
        first, last, start = np.where(up, x, y), np.where(up, y, x), here - x * stride
        over = first > last
        begun, ended = (np.bincount(start + end * stride, volume, metric.size) for end in (first, last))
        passed = np.bincount(start[over], volume[over], metric.size)
        load = np.cumsum((begun - ended + passed).reshape(metric.dims), axis).ravel()
        width = 1.0 if links is None else _axis_bandwidth(metric, axis, links)
        worst = max(worst, float((load / width).max()))
        here, stride = start + y * stride, stride * extent
    return worst


def _axis_bandwidth(metric: GridMetric, axis: int, links: Links) -> FloatArray:
    """Return bandwidth[m] of the link from every node to the next one up the axis, the widest of parallel links."""
    extent, stride = metric.dims[axis], int(np.prod(metric.dims[axis + 1 :]))
    width = np.zeros(metric.size)
    for low, high in ((links.u, links.v), (links.v, links.u)):
        x = low // stride % extent
        # Where the axis has no link across its seam, no route crosses it, and any width will do.
        found = high == low + np.where(x == extent - 1, 1 - extent, 1) * stride
        np.maximum.at(width, low[found], links.bandwidth[found])
    return np.where(width > 0, width, 1.0)


def _tree_load(metric: TreeMetric, transfers: Transfers) -> float:
    """Add up, level by level, what leaves and enters every subtree."""
    worst = 0.0
    for leaves in metric.leaves.tolist():
        source, target = transfers.source // leaves, transfers.target // leaves
        volume = np.where(source != target, transfers.volume, 0.0)
        count = metric.size // leaves
        load = np.bincount(source, volume, count) + np.bincount(target, volume, count)
        worst = max(worst, float(load.max()))
    return worst


def _path_load(links: Links, size: int, transfers: Transfers) -> float:
    """Walk every transfer back from its target along the shortest-path tree of its source."""
    ends = np.sort(np.stack([links.u, links.v], axis=1), axis=1)
    chosen = distinct(links)
    chosen = chosen[ends[chosen, 0] < ends[chosen, 1]]
    low, high = ends[chosen].T
    graph = sp.csr_array((links.weight[chosen], (low, high)), shape=(size, size))
    graph, keys, load = sp.csr_array(graph + graph.T), low * size + high, np.zeros(len(chosen))
    pairs = sp.csr_array((transfers.volume, (transfers.source, transfers.target)), shape=(size, size)).tocoo()
    sources, tree = np.unique(pairs.row, return_inverse=True)
    for begin in range(0, len(sources), SOURCES_AT_ONCE):
        parents = _parents(graph, sources[begin : begin + SOURCES_AT_ONCE])
        mine = (tree >= begin) & (tree < begin + SOURCES_AT_ONCE)
        root, node, volume = tree[mine] - begin, pairs.col[mine].astype(np.int64), pairs.data[mine]
        while node.size:
            before = parents[root, node]
            going = before >= 0
            root, node, before, volume = root[going], node[going], before[going], volume[going]
            link = np.searchsorted(keys, np.minimum(before, node) * size + np.maximum(before, node))
            load += np.bincount(link, volume, len(load))
            node = before
    return float((load / links.bandwidth[chosen]).max(initial=0.0))


def _parents(graph: sp.csr_array, sources: IntArray) -> IntArray:
    """Return parents[s, m], every node's predecessor on the way from each source, negative where there is none."""
    if graph.nnz and graph.data.min() < graph.data.max():
        parents = dijkstra(graph, indices=sources, return_predecessors=True)[1]
    else:
        parents = np.stack([breadth_first_order(graph, source)[1] for source in sources])
    return np.asarray(parents, np.int64)
