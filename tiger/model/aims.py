"""What an objective other than the cost looks like to compiled code: plain arrays."""

from typing import NamedTuple

from tiger.model.arrays import FloatArray, IntArray

GRID_WAYS, TREE_WAYS, PATH_WAYS = 0, 1, 2


class Ways(NamedTuple):
    """Hold the routes over l links of bandwidth `width[l]` (inf: no such link), for the objective `max-link-load`.

    GRID_WAYS: `shape` are extents, `wrap` whether axes wrap around, `table[m, axes]` coordinates; link a m + p leads
    from node p up axis a. TREE_WAYS: `table[m, levels]` are the links above the subtrees that hold a node. PATH_WAYS:
    `table[s, t]` is the last link on the way from node s to t, -1 without one, and `ends[l]` the sum of a link's two
    nodes. Parts that do not apply have size 1.
    """

    kind: int
    shape: IntArray
    wrap: IntArray
    table: IntArray
    ends: IntArray
    width: FloatArray


class Order(NamedTuple):
    """Hold all tasks in `order[n]`, in which they run where they share a node, for the objective `makespan`."""

    order: IntArray


Aims = Ways | Order
