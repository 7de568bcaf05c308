"""Slabs: cut tasks and nodes into the same parts, again and again, until every part of the nodes is a single one."""

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.geometry.folding import Folding
from tiger.solvers.geometry.footprints import Footprint
from tiger.solvers.geometry.lattices import Lattice


def cut(labels: IntArray, keys: IntArray, quotas: IntArray) -> IntArray:
    """Return new labels: the tasks sorted by label, then key, and dealt to part q in runs of `quotas[q]`."""
    order = np.argsort(labels * (int(keys.max(initial=0)) + 1) + keys)
    parts = np.empty(len(labels), np.int64)
    parts[order] = np.repeat(np.arange(len(quotas)), quotas)
    return parts


def shares(counts: IntArray, room: IntArray) -> IntArray:
    """Return quota[g, f], `counts[g]` tasks dealt in proportion to `room[g, f]`, of which they never exceed any."""
    reach = np.cumsum(room, axis=1)
    until = counts[:, None] * reach // np.maximum(reach[:, -1:], 1)
    return np.diff(until, axis=1, prepend=0)


def priorities(lattice: Lattice, sides: FloatArray, axis: int) -> list[int]:
    """Return all axes in the order in which a cut along `axis` sorts by them.

    A layer that is cut through is filled by rows across its longest side for the traffic, so that the step is short.
    """
    worth = sides / np.maximum(lattice.pull, 1e-300)
    others = sorted((k for k in range(len(lattice.dims)) if k != axis), key=lambda k: -worth[k])
    return [axis, *others]


def keys_of(lattice: Lattice, order: list[int]) -> IntArray:
    """Return key[n] that sorts tasks by the axes in this order."""
    key = np.zeros(lattice.size, np.int64)
    for axis in order:
        key = key * lattice.dims[axis] + lattice.coords[:, axis]
    return key


def fold_lattice(lattice: Lattice, folding: Folding, footprint: Footprint) -> IntArray:
    """Return places[n]: at each digit every piece of the tasks is cut as the nodes below it are, with as many slots.

    Odd pieces of a task axis are laid backwards, as in a reflected Gray code, so that pieces that follow each other
    stay neighbours. O(digits n log n).
    """
    tasks, nodes = np.zeros(lattice.size, np.int64), np.zeros(len(footprint.nodes), np.int64)
    low = np.zeros_like(footprint.coords)
    high = np.broadcast_to(np.array(footprint.extents), low.shape).copy()
    odd, groups = np.zeros((1, len(lattice.dims)), np.int64), 1
    sides = np.array(lattice.dims, np.float64)
    for axis, column, parts in folding:
        # Cut every piece of the nodes along a column, and count off the parts backwards where the piece is an odd one.
        part = _split(footprint.coords[:, column], low[:, column], high[:, column], parts)
        part = np.where(odd[nodes, axis] == 1, parts - 1 - part, part)
        nodes = nodes * parts + part
        # Cut every piece of the tasks the same way, each part as large as its slots.
        room = np.bincount(nodes, weights=footprint.slots, minlength=groups * parts).astype(np.int64)
        quotas = shares(np.bincount(tasks, minlength=groups), room.reshape(groups, parts))
        tasks = cut(tasks, keys_of(lattice, priorities(lattice, sides, axis)), quotas.ravel())
        # Which of the new pieces are odd along the axis, as the digits of a reflected Gray code (Gray 1953) alternate.
        odd = np.repeat(odd, parts, axis=0)
        odd[:, axis] = (odd[:, axis] * parts + np.tile(np.arange(parts), groups)) % 2
        groups, sides[axis] = groups * parts, sides[axis] / parts
    owner = np.empty(groups, np.int64)
    owner[nodes] = footprint.nodes
    return owner[tasks]


def _split(at: IntArray, low: IntArray, high: IntArray, parts: int) -> IntArray:
    """Return part[k] of each node in its run `low[k]:high[k]` of a column, and narrow the runs to it (in place)."""
    start, extent = low.copy(), high - low
    part = (at - low) * parts // extent
    low[:] = start - part * extent // -parts
    high[:] = start - (part + 1) * extent // -parts
    return part
