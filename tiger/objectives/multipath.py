r"""The load on links when every transfer may split over several paths: over equally short ones, or as is best.

- Equal-cost multi-path: at every node, traffic for a target splits evenly over the links that begin a shortest path to
  it. That is how switches forward without measuring loads (C. Hopps, RFC 2992, 2000).
- Weighted paths: any shares of any paths, chosen so that the largest load over bandwidth is as low as it can be, which
  is the maximum concurrent flow with one ratio for all transfers. A linear program over the paths found so far gives
  prices :math:`y_e`, cheapest paths by these prices join it, and for any prices

.. math:: \max_e \frac{f_e}{b_e} \ge \frac{\sum_k c_k\, \mathrm{dist}_{y}(s_k, t_k)}{\sum_e y_e b_e}

  bounds what all splits can reach. The first prices grow exponentially with the loads so far, the multiplicative
  weights of N. Garg, J. Könemann, SIAM J. Comput. 37 (2007), doi:10.1137/S0097539704446232.

Links are undirected as in `shortest_paths`; of parallel links the shortest carries everything. In a tree there is one
path. Transfers between disconnected parts load nothing.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import GridMetric
from tiger.model.problem import Problem
from tiger.model.topology import Links, Topology, distinct_links, neighbour_links
from tiger.objectives.names import RoutingName
from tiger.objectives.shortest_paths import LinkLoads, PathRoutes, Transfers, link_loads, routes_of, transfers_of

# Pairs of nodes whose shares are worked out.
PAIRS = 1024
# Path lengths that differ by less, relative to the longer one, are equal: sums of a few lengths in float64.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitParams:
    """Tune the choice of paths: `tolerance` is how far the largest load may be above the bound, as a part of it.

    `first_rounds` of multiplicative weights with `growth` as exponent come before at most `rounds` linear programs.
    """

    tolerance: float = 0.01
    first_rounds: int = 4
    growth: float = 8.0
    rounds: int = 100


DEFAULTS = SplitParams()


class TrafficSplit(NamedTuple):
    """Hold what every link carries, and a lower bound on the largest load over bandwidth of all ways to split."""

    loads: LinkLoads
    bound: float


def check_routing(problem: Problem, routing: RoutingName) -> None:
    """Raise InputError of `routing` for hardware that has no links to split over, or for too much to split."""
    if routing != "single" and problem.tasks.hyperedges is not None:
        raise InputError("routing", f"expected single for tasks with hyperedges, got {routing}")
    if routing != "single" and routes_of(problem.topology) is None:
        raise InputError("routing", f"expected hardware with links for {routing!r}, got distances alone")
    if routing == "weighted":
        hosts = len(problem.topology.hosts)
        _check_pairs(min(problem.tasks.traffic.nnz, hosts * (hosts - 1)))


def load_links(problem: Problem, places: IntArray, routing: RoutingName) -> LinkLoads | None:
    """Return the loads under a routing for node indices `places[n]`, None without links and for hyperedges.

    A transfer takes a single path, splits over equal ones, or over those that are best. Raises InputError as
    `split_optimally` does.
    """
    if problem.tasks.hyperedges is not None:
        return None
    if routing == "equal":
        return split_equally(problem, places)
    if routing == "weighted":
        split = split_optimally(problem, places)
        return None if split is None else split.loads
    return link_loads(problem, places)


def split_equally(problem: Problem, places: IntArray) -> LinkLoads | None:
    """Return the loads under equal-cost multi-path for node indices `places[n]`, None where there are no links.

    O(targets * hops * l) after the shortest paths.
    """
    routes, links = routes_of(problem.topology), path_links(problem)
    transfers = transfers_of(problem, places)
    if routes is None or links is None:
        return None if routes is None else LinkLoads(routes, routes.loads(transfers))
    network = _Network(links, problem.topology)
    load = np.zeros(len(network.width))
    for target in np.unique(transfers.target):
        mine = transfers.target == target
        demand = np.zeros(network.size)
        np.add.at(demand, transfers.source[mine], transfers.volume[mine])
        load += network.spread(int(target), demand)
    return LinkLoads(network.routes, load)


def split_optimally(problem: Problem, places: IntArray, params: SplitParams = DEFAULTS) -> TrafficSplit | None:
    """Return the loads under the best shares of paths for node indices `places[n]`, None where there are no links.

    The largest load over bandwidth is at most 1 % above the bound, or as near as a hundred linear programs come. Raises
    InputError of `routing` where more than 1,024 pairs of nodes exchange traffic.
    """
    routes, links = routes_of(problem.topology), path_links(problem)
    transfers = transfers_of(problem, places)
    if routes is None or links is None:
        return None if routes is None else _only_split(LinkLoads(routes, routes.loads(transfers)))
    network = _Network(links, problem.topology)
    joined = network.join(transfers)
    _check_pairs(len(joined.volume))
    if not len(joined.volume):
        return _only_split(LinkLoads(network.routes, np.zeros(len(network.width))))
    return _Columns(network, joined).minimize(params)


def _check_pairs(count: int) -> None:
    """Raise InputError where the shares of all pairs of nodes would take too long to work out."""
    if count > PAIRS:
        what = f"expected at most {PAIRS} pairs of nodes with traffic for 'weighted'"
        raise InputError("routing", f"{what}, got up to {count}")


def _only_split(loads: LinkLoads) -> TrafficSplit:
    """Return loads as the only ones there can be."""
    return TrafficSplit(loads, loads.worst)


def path_links(problem: Problem) -> Links | None:
    """Return the links that paths may take, None in trees and where there are none."""
    topology = problem.topology
    if topology.links is None and isinstance(topology.metric, GridMetric):
        return neighbour_links(topology.metric)
    return topology.links


class _Network:
    """Hold l links between m nodes and switches, one per pair, in the order of their ends."""

    def __init__(self, links: Links, topology: Topology) -> None:
        size = topology.size + len(topology.switches)
        ends = np.sort(np.stack([links.u, links.v], axis=1), axis=1)
        chosen = distinct_links(links)
        chosen = chosen[ends[chosen, 0] < ends[chosen, 1]]
        low, high = ends[chosen].T
        self.size, self.routes = size, PathRoutes(links, topology.size, len(topology.switches))
        self.width, self._weight = links.bandwidth[chosen], links.weight[chosen]
        self._keys, numbers = low * size + high, np.tile(np.arange(len(chosen)), 2)
        self.begin, self.end = np.concatenate([low, high]), np.concatenate([high, low])
        self._graph = sp.csr_array((numbers + 1.0, (self.begin, self.end)), shape=(size, size))
        self._entries = self._graph.data.astype(np.int64) - 1

    def join(self, transfers: Transfers) -> Transfers:
        """Return one transfer for each pair of connected nodes, in the order of the sources."""
        pairs = sp.csr_array((transfers.volume, (transfers.source, transfers.target)), shape=(self.size, self.size))
        pairs.sum_duplicates()
        found = pairs.tocoo()
        sources, row = np.unique(found.row, return_inverse=True)
        lengths = self.price(self._weight, sources)[0]
        way = np.isfinite(lengths[row, found.col]) & (found.data > 0)
        return Transfers(found.row[way].astype(np.int64), found.col[way].astype(np.int64), found.data[way])

    def price(self, prices: FloatArray, sources: IntArray) -> tuple[FloatArray, IntArray]:
        """Return the least price and the predecessor on the way from each source to every node."""
        self._graph.data = prices[self._entries]
        lengths, parents = dijkstra(self._graph, indices=sources, return_predecessors=True)
        return np.asarray(lengths, np.float64), np.asarray(parents, np.int64)

    def spread(self, target: int, demand: FloatArray) -> FloatArray:
        """Return load[l] when `demand[m]` for one target splits evenly at every node over its shortest paths."""
        distances, before = (found[0] for found in self.price(self._weight, np.array([target])))
        weight, load = np.tile(self._weight, 2), np.zeros(2 * len(self.width))
        with np.errstate(invalid="ignore"):
            near = np.abs(distances[self.end] + weight - distances[self.begin]) <= ROUNDING * distances[self.begin]
        # Beside far longer links the way back over a short one is as short within rounding too.
        ahead = (distances[self.end] < distances[self.begin]) | (self.end == before[self.begin])
        tight = np.flatnonzero(near & ahead & np.isfinite(distances[self.begin]))
        begin, end = self.begin[tight], self.end[tight]
        ways, flow = np.bincount(begin, minlength=self.size), demand
        # Every round takes all that is under way one hop on; each hop is nearer to the target.
        while (flow[begin] > 0).any():
            moved = flow[begin] / ways[begin]
            load[tight] += moved
            flow = np.zeros(self.size)
            np.add.at(flow, end, moved)
        both: FloatArray = load.reshape(2, -1).sum(axis=0)
        return both

    def link(self, a: IntArray, b: IntArray) -> IntArray:
        """Return the links between neighbours a and b."""
        return np.searchsorted(self._keys, np.minimum(a, b) * self.size + np.maximum(a, b))


class _Columns:
    """Hold the paths found so far, one a column: path[l, p] is 1 on its links, `owner[p]` its transfer.

    Volumes and bandwidths are relative to the largest, so that the linear program is well scaled.
    """

    def __init__(self, network: _Network, transfers: Transfers) -> None:
        self._network, self._transfers = network, transfers
        self._sources, self._row = np.unique(transfers.source, return_inverse=True)
        self._volume = transfers.volume / transfers.volume.max()
        self._width = network.width / network.width.max()
        self._paths, self._owner = list[sp.csc_array](), list[int]()
        self._known, self._bound = set[tuple[int, bytes]](), 0.0
        self._load = np.zeros(len(self._width))

    def minimize(self, params: SplitParams) -> TrafficSplit:
        """Add cheapest paths by the prices of the linear program until the bound is met, or no path is new."""
        self._start(params)
        for _ in range(params.rounds):
            prices = self._solve()
            worst = float((self._load / self._width).max())
            if prices is None:
                break
            # No link is free, or its length would be lost among cheapest paths.
            prices = prices / prices.sum() + ROUNDING
            if self._bound * (1 + params.tolerance) >= worst or self._extend(prices / self._width)[1] == 0:
                break
        scale = float(self._transfers.volume.max())
        bound = min(self._bound, worst) * scale / float(self._network.width.max())
        return TrafficSplit(LinkLoads(self._network.routes, self._load * scale), bound)

    def _start(self, params: SplitParams) -> None:
        """Find the first paths, by multiplicative weights on the mean load of all rounds."""
        prices = 1 / self._width
        for number in range(params.first_rounds):
            self._load += (self._extend(prices)[0] - self._load) / (number + 1)
            used = self._load / self._width
            prices = np.exp(params.growth * (used / used.max() - 1)) / self._width

    def _extend(self, prices: FloatArray) -> tuple[FloatArray, int]:
        """Add the cheapest path of every transfer; return load[l] if all took these, and how many are new."""
        lengths, parents = self._network.price(prices, self._sources)
        spent = float((lengths[self._row, self._transfers.target] * self._volume).sum())
        self._bound = max(self._bound, spent / float((prices * self._width).sum()))
        paths = self._trace(parents)
        new = []
        for owner, (begin, end) in enumerate(zip(paths.indptr[:-1], paths.indptr[1:], strict=True)):
            key = owner, paths.indices[begin:end].tobytes()
            if key not in self._known:
                self._known.add(key)
                new.append(owner)
        if new:
            self._paths.append(paths[:, new])
            self._owner += new
        return np.asarray(paths @ self._volume), len(new)

    def _trace(self, parents: IntArray) -> sp.csc_array:
        """Return path[l, k], walking all transfers back from their targets at once."""
        links, owners = list[IntArray](), list[IntArray]()
        owner, root, node = np.arange(len(self._row)), self._row, self._transfers.target
        while node.size:
            before = parents[root, node]
            links.append(self._network.link(before, node))
            owners.append(owner)
            going = before != self._sources[root]
            owner, root, node = owner[going], root[going], before[going]
        link, owner = np.concatenate(links), np.concatenate(owners)
        paths = sp.csc_array((np.ones(len(link)), (link, owner)), shape=(len(self._width), len(self._row)))
        paths.sort_indices()
        return paths

    def _solve(self) -> FloatArray | None:
        """Take the best shares of the paths at hand, by HiGHS; return prices[l] of bandwidth, None where it fails."""
        from scipy.optimize import linprog  # which takes longer to import than all the rest

        paths, owner = sp.hstack(self._paths, format="csc"), np.array(self._owner)
        count, pairs = len(owner), len(self._row)
        carried = paths @ sp.diags_array(self._volume[owner])
        over = sp.hstack([sp.diags_array(1 / self._width) @ carried, sp.csc_array(-np.ones((len(self._width), 1)))])
        once = sp.csc_array((np.ones(count), (owner, np.arange(count))), shape=(pairs, count + 1))
        worst = np.append(np.zeros(count), 1.0)
        found = linprog(worst, over, np.zeros(len(self._width)), once, np.ones(pairs), method="highs")
        if not found.success:
            return None
        share = np.maximum(found.x[:-1], 0.0)
        share /= np.bincount(owner, share, pairs)[owner]
        self._load = np.asarray(carried @ share)
        return np.maximum(-np.asarray(found.ineqlin.marginals, np.float64), 0.0)
