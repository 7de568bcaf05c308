"""Objectives other than the cost as plain arrays, for compiled code."""

from typing import NamedTuple

from tiger.model.arrays import FloatArray, IntArray

# Where a kernel takes the links of a route from.
GRID_ROUTES, TREE_ROUTES, PATH_ROUTES = 0, 1, 2


class RouteArrays(NamedTuple):
    """Hold the routes over l links of bandwidth `width[l]` (inf: no such link), for the objective `max-link-load`.

    GRID_ROUTES: `shape` are extents, `wrap` whether axes wrap around, `table[m, axes]` coordinates; link a m + p leads
    from node p up axis a. TREE_ROUTES: `table[m, levels]` are the links above the subtrees that hold a node.
    PATH_ROUTES: `table[s, t]` is the last link on the route from node s to node or switch t, -1 without one, and
    `ends[l]` the sum of a link's two ends. Parts that do not apply have size 1.
    """

    kind: int
    shape: IntArray
    wrap: IntArray
    table: IntArray
    ends: IntArray
    width: FloatArray


class TaskOrder(NamedTuple):
    """Hold all tasks in `order[n]`, in which they run where they share a node, for the objective `makespan`."""

    order: IntArray


class RingHops(NamedTuple):
    """Hold a lower bound on the slowest hop of rings, for the objective `ring`."""

    bound: float


class NetArrays(NamedTuple):
    """Hold h sets of tasks, for the objective `multicast`: the fields of `Hyperedges`, of sets of two or more alone."""

    starts: IntArray
    pins: IntArray
    volumes: FloatArray


ObjectiveArrays = NetArrays | RouteArrays | TaskOrder | RingHops
