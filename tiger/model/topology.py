"""The hardware: nodes, what each can hold, the links between them, and how far apart they are."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components, dijkstra

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray, check_amounts, check_names, check_whole, freeze, lock, unset_array
from tiger.model.metrics import DENSE_LIMIT, DenseMetric, GridMetric, Metric, TreeMetric
from tiger.model.resources import Resources
from tiger.model.wording import INSIDE

# Sources of a shortest-path search at a time: what scipy makes beside the matrix stays small.
ROWS = 256


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Links:
    """Hold undirected links between node indices `u[l]` and `v[l]`; length `weight[l]` and `bandwidth[l]` are > 0."""

    u: IntArray
    v: IntArray
    weight: FloatArray
    bandwidth: FloatArray

    def __post_init__(self) -> None:
        """Check every bound; an infinite or zero length or bandwidth is bad input."""
        size = len(self.u)
        for name in ("u", "v"):
            object.__setattr__(self, name, check_whole(f"topology/links/{name}", getattr(self, name), size))
        for name in ("weight", "bandwidth"):
            values = check_amounts(f"topology/links/{name}", getattr(self, name), size)
            if (values == 0).any():
                raise InputError(f"topology/links/{name}", "expected numbers > 0, got 0")
            object.__setattr__(self, name, values)

    @classmethod
    def unit(cls, pairs: ArrayLike) -> "Links":
        """Return links of length and bandwidth 1 along index `pairs[l, 2]`."""
        ends = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        return cls(u=ends[:, 0], v=ends[:, 1], weight=np.ones(len(ends)), bandwidth=np.ones(len(ends)))


class LinkShare(NamedTuple):
    """Say what part of the bandwidth between nodes `a` and `b` is in use, in both directions together."""

    a: str
    b: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Topology:
    """Hold m nodes, their links and a metric.

    `slots[m]` is how many tasks fit at once (default 1; 0 for a switch), `cost[m]` the price of a unit of work (default
    0), `memory[m]` whole bytes or None for no limit. `links` may be None where only distances are known. `switches`
    name what forwards traffic without being a node; links end there too, numbered from m on. Without links they are the
    subtrees of a tree, innermost first and the root last.
    `slots_stated` says that the slots are meant as such, where otherwise a caller may spread more tasks evenly, and
    `slots_granted` that a launcher or a batch system has them, so that no caller can have others. Where `slots` are the
    even share of a job, `room[m]` has all slots of the nodes, None elsewhere.
    `host` is the machine that all nodes are inside; without it nodes are hosts, or units that are called HOST/UNIT.
    Launchers fill the nodes by `turn[m]`, equal ones by index (default 0: all by index).
    `remarks` are what a reader found odd, for the warnings of reports. `resources` says what of its host each node is,
    nothing where none is known; elsewhere a rank takes the next `cores_per_rank` cores for its slot, if that is given.
    """

    names: tuple[str, ...]
    metric: Metric
    links: Links | None = None
    switches: tuple[str, ...] = ()
    slots: IntArray = field(default_factory=unset_array)
    cost: FloatArray = field(default_factory=unset_array)
    memory: IntArray | None = None
    slots_stated: bool = False
    slots_granted: bool = False
    room: IntArray | None = None
    host: str | None = None
    turn: IntArray = field(default_factory=unset_array)
    remarks: tuple[str, ...] = ()
    resources: tuple[Resources, ...] = ()
    cores_per_rank: int | None = None

    def __post_init__(self) -> None:
        """Check every bound and make the arrays read-only; raise InputError that names the field."""
        size = len(self.names)
        if len(self.resources) not in (0, size):
            raise InputError("topology/resources", f"expected those of {size} nodes, got {len(self.resources)}")
        names = check_names("topology", (*self.names, *self.switches))[:size]
        if self.metric.size != size:
            raise InputError("topology", f"expected distances for {size} nodes, got {self.metric.size}")
        if self.links is not None:
            _check_ends(self.links, size + len(self.switches))
        elif self.switches and isinstance(self.metric, TreeMetric):
            _check_subtrees(self.metric, len(self.switches))
        slots = self.slots if len(self.slots) else np.ones(size)
        cost = self.cost if len(self.cost) else np.zeros(size)
        turn = self.turn if len(self.turn) else np.zeros(size)
        memory = None if self.memory is None else check_whole("topology/memory", self.memory, size)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "slots", check_whole("topology/slots", slots, size))
        object.__setattr__(self, "cost", check_amounts("topology/cost", cost, size))
        object.__setattr__(self, "turn", check_whole("topology/turn", turn, size))
        object.__setattr__(self, "memory", memory)

    @classmethod
    def from_links(cls, names: tuple[str, ...], links: Links, slots: ArrayLike = ()) -> "Topology":
        """Build a topology whose distances are shortest paths over the links.

        O(c (l + c log c) + m^2), where c nodes have more than one link; raises InputError above 8,192 nodes and for a
        link to a node that is not there.
        """
        size = len(check_names("topology", names))
        if size > DENSE_LIMIT:
            raise InputError(
                "topology", f"expected at most {DENSE_LIMIT} nodes without grid or tree structure, got {size}"
            )
        _check_ends(links, size)
        metric = DenseMetric(lock(_compute_shortest(link_matrix(links, size))))
        return cls(names=names, metric=metric, links=links, slots=np.asarray(slots))

    @property
    def link_ends(self) -> tuple[str, ...]:
        """Return the names of what links end at, the nodes and then the switches.

        Subtrees of a tree that have no names are called by their first and last leaf, such as `n0..n3`.
        """
        if self.switches or not isinstance(self.metric, TreeMetric):
            return self.names + self.switches
        extents = [*self.metric.leaves.tolist()[1:], self.size]
        return self.names + tuple(
            self.names[first] if leaves == 1 else f"{self.names[first]}..{self.names[first + leaves - 1]}"
            for leaves in extents
            for first in range(0, self.size, leaves)
        )

    def with_links(self) -> "Topology | None":
        """Return the hardware with the links of a grid or tree stated, and any other as it is.

        None where there are no links: that is also so in a tree where a level adds nothing to the distance. O(m).
        """
        if self.links is not None:
            return self
        if isinstance(self.metric, GridMetric):
            return replace(self, links=neighbour_links(self.metric))
        if isinstance(self.metric, TreeMetric) and (np.diff(self.metric.distances, prepend=0.0) > 0).all():
            return replace(self, links=tree_links(self.metric), switches=self.link_ends[self.size :])
        return None

    @property
    def size(self) -> int:
        """Return m, the number of nodes."""
        return len(self.names)

    @property
    def hosts(self) -> IntArray:
        """Return the indices of the nodes that can hold a task."""
        return np.flatnonzero(self.slots)

    @property
    def launch_hosts(self) -> IntArray:
        """Return the indices of the nodes that can hold a task, in the order in which launchers fill them."""
        hosts = self.hosts
        return hosts[np.argsort(self.turn[hosts], kind="stable")]

    @property
    def machines(self) -> IntArray:
        """Return the number of the machine of each node, from 0 on; a node that is not inside another is its own."""
        if not any(INSIDE in name for name in self.names):
            return freeze(np.arange(self.size))
        number: dict[str, int] = {}
        host_of = [number.setdefault(name.partition(INSIDE)[0], len(number)) for name in self.names]
        return freeze(np.array(host_of, np.int64))

    @property
    def parts(self) -> IntArray:
        """Return the label of the connected part that each node lies in; O(m^2) on a dense metric."""
        if not isinstance(self.metric, DenseMetric) or self.metric.connected:
            return freeze(np.zeros(self.size, np.int64))
        reach = sp.csr_array(np.isfinite(self.metric.table))
        return freeze(connected_components(reach, connection="strong")[1].astype(np.int64))

    def allocated(self, names: Sequence[str], slots: IntArray | None = None) -> "Topology":
        """Return the hardware of which only the nodes named hold tasks, as in an allocation of a batch system.

        The others get 0 slots, still forward traffic, and keep their distances. Launchers fill the nodes in the order
        of the names, but those inside one machine as that counts them. With `slots[k]` that is what the nodes named
        are granted. Raises InputError of `allocation`, with the position, for a name that is unknown, that comes twice
        or whose node has no slot.
        """
        index, turn = {name: k for k, name in enumerate(self.names)}, np.zeros(self.size, np.int64)
        chosen = np.zeros(self.size, bool)
        for position, name in enumerate(names):
            if name not in index:
                raise InputError(f"allocation/{position}", f"expected a node of the topology, got {name!r}")
            if chosen[index[name]]:
                raise InputError(f"allocation/{position}", f"expected different nodes, got {name!r} twice")
            if not self.slots[index[name]]:
                raise InputError(f"allocation/{position}", f"expected a node that can hold tasks, got {name!r}")
            chosen[index[name]], turn[index[name]] = True, position if self.host is None else 0
        if not chosen.any():
            raise InputError("allocation", "expected at least one node, got none")
        left = np.where(chosen, self.slots, 0)
        if slots is None:
            return replace(self, slots=left, turn=turn)
        left[[index[name] for name in names]] = slots
        return replace(self, slots=left, turn=turn, slots_stated=True, slots_granted=True)

    def shared(self, running: Sequence[LinkShare]) -> "Topology":
        """Return the hardware as a job sees it while others use parts of its links.

        A link of which a part s is in use has 1 - s of its bandwidth left, and so counts 1 / (1 - s) times its length:
        that is how much longer a byte takes to cross it. Distances rise by as much as shortest paths by these lengths
        do, as under adaptive routing. Grids have links between neighbours, trees above their subtrees. Raises
        InputError of `running`, with the position, for nodes without a link, one that comes twice, and shares out of
        [0, 1); of `topology` for hardware without links and, as `from_links` does, above 8,192 nodes and switches.
        """
        wired = self.with_links() if self.size <= DENSE_LIMIT else None
        if wired is None or wired.links is None:
            expected = f"expected links that have a length, between at most {DENSE_LIMIT} nodes"
            raise InputError("topology", f"{expected}, for {len(running)} shares of links; got distances alone")
        ends, links = wired.names + wired.switches, wired.links
        left = _left_over(ends, links, running)
        busy = replace(links, weight=links.weight / left, bandwidth=links.bandwidth * left)
        metric = Topology.from_links(ends, busy).metric
        if wired.switches:
            metric = _lengthen(wired, Topology.from_links(ends, links).metric, metric)
        return replace(wired, metric=metric, links=busy)

    def with_slots(self, slots: ArrayLike) -> "Topology":
        """Return the same hardware with other slots."""
        return replace(self, slots=check_whole("topology/slots", slots, self.size))


def neighbour_links(metric: GridMetric) -> Links:
    """Return the links of a grid, of the length of a hop; O(m)."""
    nodes, pairs = np.arange(metric.size).reshape(metric.dims), list[IntArray]()
    for axis, (extent, wrap) in enumerate(zip(metric.dims, metric.wrap, strict=True)):
        step = np.stack([nodes, np.roll(nodes, -1, axis)], axis=-1)
        around = wrap and extent > 2
        pairs.append((step if around else step.take(range(extent - 1), axis)).reshape(-1, 2))
    links = Links.unit(np.concatenate(pairs))
    return replace(links, weight=links.weight * metric.hop)


def tree_links(metric: TreeMetric) -> Links:
    """Return the links above leaves and subtrees, link l above number l, leaves first and the root last; O(m).

    Two links of a level together are as long as what the level adds to the distance, which has to be more than 0.
    """
    counts = metric.size // metric.leaves
    above = [
        begin + np.arange(count) // fanout
        for begin, count, fanout in zip(np.cumsum(counts), counts, reversed(metric.fanouts), strict=True)
    ]
    lengths = np.repeat(np.diff(metric.distances, prepend=0.0) / 2, counts)
    ends = np.concatenate(above)
    return Links(u=np.arange(len(ends)), v=ends, weight=lengths, bandwidth=np.ones(len(ends)))


def _lengthen(topology: Topology, free: Metric, busy: Metric) -> Metric:
    """Return the distances of nodes, more by what shortest paths over the links of nodes and switches have gained."""
    nodes = np.arange(topology.size)
    before, after, apart = (each.between(nodes[:, None], nodes[None, :]) for each in (free, busy, topology.metric))
    longer = after > before
    apart[longer] += after[longer] - before[longer]
    return DenseMetric(lock(apart))


def _left_over(names: tuple[str, ...], links: Links, running: Sequence[LinkShare]) -> FloatArray:
    """Return the part left[l] of every link that others leave; parallel links are alike."""
    index = {name: k for k, name in enumerate(names)}
    joined = np.minimum(links.u, links.v) * len(names) + np.maximum(links.u, links.v)
    known, left = set(joined.tolist()), dict[int, float]()
    for position, (a, b, share) in enumerate(running):
        low, high = sorted((index.get(a, -1), index.get(b, -1)))
        pair = low * len(names) + high
        if low < 0 or pair not in known:
            raise InputError(f"running/{position}", f"expected nodes with a link between them, got {a!r} and {b!r}")
        if pair in left:
            raise InputError(f"running/{position}", f"expected different links, got {a!r} and {b!r} twice")
        if not 0 <= share < 1:
            raise InputError(f"running/{position}", f"expected a share >= 0 and < 1, got {share!r}")
        left[pair] = 1 - share
    return np.array([left.get(pair, 1.0) for pair in joined.tolist()])


def _check_subtrees(metric: TreeMetric, count: int) -> None:
    """Raise InputError where switches without links are too many for subtrees of a tree."""
    subtrees = int((metric.size // metric.leaves[1:]).sum()) + 1
    if count != subtrees:
        raise InputError("topology/switches", f"expected {subtrees}, one for each subtree, got {count}")


def _check_ends(links: Links, size: int) -> None:
    """Raise InputError where a link ends at a node that is not there."""
    last = max(links.u.max(initial=-1), links.v.max(initial=-1))
    if last >= size:
        raise InputError("topology/links", f"expected node indices below {size}, got {last}")


def _compute_shortest(links: sp.csr_array) -> FloatArray:
    """Return the lengths of shortest paths; a node with one link, such as a host at its switch, costs no search."""
    size, ends = links.shape[0], links.tocoo()
    degree = np.bincount(np.concatenate([ends.row, ends.col]), minlength=size)
    anchor, stub = np.arange(size), np.zeros(size)
    # Of two nodes that have nothing but the link between them, the second hangs on the first.
    for leaf, other in ((ends.col, ends.row), (ends.row, ends.col)):
        hangs = (degree[leaf] == 1) & ((degree[other] > 1) | (leaf > other)) & (leaf != other)
        anchor[leaf[hangs]], stub[leaf[hangs]] = other[hangs], ends.data[hangs]
    core, at = np.unique(anchor, return_inverse=True)
    if 2 * len(core) > size:
        return _search(links)
    paths = _search(links[core][:, core])
    table = np.empty((size, size))
    for begin in range(0, size, ROWS):
        rows = slice(begin, begin + ROWS)
        np.take(paths[at[rows]], at, axis=1, out=table[rows])
        table[rows] += stub[rows, None] + stub[None, :]
    np.fill_diagonal(table, 0.0)
    return table


def _search(links: sp.csr_array) -> FloatArray:
    """Return the lengths of shortest paths by a search from every node, in one matrix and little beside."""
    paths = np.empty(links.shape)
    cuts = [slice(begin, begin + ROWS) for begin in range(0, len(paths), ROWS)]
    nodes = np.arange(len(paths))
    for some in cuts:
        paths[some] = dijkstra(links, directed=False, indices=nodes[some])
    # The two directions add the same lengths up in opposite order, and so may differ in the last digit.
    for k, a in enumerate(cuts):
        for b in cuts[k:]:
            paths[a, b] = np.minimum(paths[a, b], paths[b, a].T)
            paths[b, a] = paths[a, b].T
    return paths


def link_matrix(links: Links, size: int) -> sp.csr_array:
    """Return link lengths as an upper triangular CSR matrix with one entry per pair of nodes, the shortest there."""
    chosen = distinct_links(links)
    low, high = np.minimum(links.u, links.v)[chosen], np.maximum(links.u, links.v)[chosen]
    return sp.csr_array((links.weight[chosen], (low, high)), shape=(size, size))


def distinct_links(links: Links) -> IntArray:
    """Return the indices of links, one per pair of nodes and sorted by it: the shortest, then the widest."""
    low, high = np.minimum(links.u, links.v), np.maximum(links.u, links.v)
    order = np.lexsort((-links.bandwidth, links.weight, high, low))
    low, high = low[order], high[order]
    first = np.ones(len(low), bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    return order[first]
