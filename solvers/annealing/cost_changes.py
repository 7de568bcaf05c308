"""Compiled costs: distances, the cost of a mapping, and what a move or a swap changes of it.

Every function is compiled by numba on first use and kept in its cache; `.py_func` is the plain Python one.
"""

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.rounding import TIE
from tiger.solvers.instance import Instance
from tiger.solvers.kernel import inner_kernel, kernel


@inner_kernel
def distance(inst: Instance, p: int, q: int) -> float:
    """Return the distance from node p to node q; O(1), or O(axes) or O(levels) where there is no table."""
    if len(inst.row) > 0:
        return float(inst.distances[inst.row[p] + inst.col[q]])
    return float(distance_below(inst.kind, inst.shape, inst.steps, len(inst.shape) - 1, p, q))


@inner_kernel
def distance_below(kind: int, shape: IntArray, steps: FloatArray, axis: int, p: int, q: int) -> float:
    """Return the distance along the axes of a grid up to `axis`, or below that level of a tree.

    A loop would be copied into every caller and take long to compile; what calls itself is not.
    """
    if axis < 0:
        return 0.0
    # Coordinates are digits of the node's number, the last one first; in a tree they name subtrees.
    extent = shape[axis]
    if kind == 2:
        return float(steps[axis]) if p // extent != q // extent else distance_below(kind, shape, steps, axis - 1, p, q)
    gap = abs(p % extent - q % extent)
    if steps[axis] != 0.0 and extent - gap < gap:
        gap = extent - gap
    return float(gap * steps[-1] + distance_below(kind, shape, steps, axis - 1, p // extent, q // extent))


@kernel
def total(inst: Instance, place: IntArray) -> float:
    """Return the cost of a mapping; O(edges)."""
    cost = 0.0
    for t in range(len(place)):
        p = place[t]
        cost += inst.work[t] * inst.price[p] + inst.loop[t] * distance(inst, p, p)
        for e in range(inst.indptr[t], inst.indptr[t + 1]):
            r = place[inst.indices[e]]
            cost += (inst.out[e] * distance(inst, p, r) + inst.back[e] * distance(inst, r, p)) / 2
    return cost


@kernel
def smallest_gain(inst: Instance, cost: float) -> float:
    """Return the smallest gain that counts at a cost."""
    return min(inst.tolerance, TIE * cost)


@inner_kernel
def move_change(inst: Instance, place: IntArray, t: int, q: int, skip: int) -> float:
    """Return the cost change of moving task t to node q, traffic with task `skip` left out; O(degree)."""
    p = place[t]
    change = inst.work[t] * (inst.price[q] - inst.price[p])
    if inst.loop[t] != 0.0:
        change += inst.loop[t] * (distance(inst, q, q) - distance(inst, p, p))
    if inst.plain == 0:
        return float(change + traffic_change(inst, place, t, q, skip))
    # Symmetric distances in a table: one lookup for both directions of the traffic.
    there, here = inst.row[q], inst.row[p]
    for e in range(inst.indptr[t], inst.indptr[t + 1]):
        u = inst.indices[e]
        if u != skip:
            other = inst.col[place[u]]
            change += inst.out[e] * (inst.distances[there + other] - inst.distances[here + other])
    return float(change)


@inner_kernel
def traffic_change(inst: Instance, place: IntArray, t: int, q: int, skip: int) -> float:
    """Return the part of `move_change` that is traffic, whatever the metric."""
    p, change = place[t], 0.0
    for e in range(inst.indptr[t], inst.indptr[t + 1]):
        if inst.indices[e] != skip:
            r = place[inst.indices[e]]
            change += inst.out[e] * (distance(inst, q, r) - distance(inst, p, r))
            if inst.back[e] != 0.0:
                change += inst.back[e] * (distance(inst, r, q) - distance(inst, r, p))
    return float(change)


@inner_kernel
def swap_change(inst: Instance, place: IntArray, t: int, u: int) -> float:
    """Return the cost change of swapping tasks t and u; O(degree)."""
    p, q = place[t], place[u]
    change = move_change(inst, place, t, q, u) + move_change(inst, place, u, p, t)
    skew = distance(inst, q, p) - distance(inst, p, q)
    if skew != 0.0:
        for e in range(inst.indptr[t], inst.indptr[t + 1]):
            if inst.indices[e] == u:
                change += (inst.out[e] - inst.back[e]) * skew
    return change
