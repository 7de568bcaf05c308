"""Transport: tasks at the points where they would lie on a whole box of nodes, moved to the seats that there are."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import min_weight_full_bipartite_matching
from scipy.spatial import KDTree

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.geometry.folding import Folding
from tiger.solvers.geometry.footprints import Region
from tiger.solvers.geometry.lattices import Lattice

# The fewest seats near by that a task may be moved to, and the most pairs of tasks and seats in all: 32 are as good as
# 64 where one node in ten is missing (4,096 tasks on 16 x 16 x 18), and so many pairs take at most some seconds.
NEAREST, MOST_PAIRS = 32, 1 << 20
# Prices of the matching are whole numbers: squared distances in units of 1 / UNIT of a hop squared.
UNIT = 10_000
# Up to so many pairs of tasks and seats all of them are looked at, in 32 MB: scipy's sparse matching begins with one
# without prices that may take exponential time, and went on for more than 20 s for 693 tasks on 716 of 889 nodes.
DENSE = 1 << 22


def transport(lattice: Lattice, folding: Folding, region: Region) -> IntArray | None:
    """Return places[n] of the least sum of squared distances from the points of a folding; None where none is found.

    A linear assignment problem, solved with the seats nearest to each task alone; where that leaves tasks without a
    seat, with twice as many. Source of the matching: scipy's LAPJVsp after R. Jonker, A. Volgenant,
    doi:10.1007/BF02278710.
    """
    footprint, points = region.footprint, points_of(lattice, folding, len(region.stages))
    free = np.flatnonzero(footprint.seats)
    seats = footprint.seats[free]
    around = [stage.extent if stage.extent == stage.around else 0 for stage in region.stages]
    tree = KDTree(footprint.coords[free] + 0.5, boxsize=around)
    if len(points) * int(seats.sum()) <= DENSE:
        return np.repeat(footprint.nodes[free], seats)[_seat_all(points, tree.data, seats, np.array(around))]
    # Seats of one node are columns that follow each other.
    first, count = np.cumsum(seats) - seats, min(NEAREST, len(free))
    while count * len(points) * int(seats.max()) <= MOST_PAIRS:
        away, near = tree.query(points, count)
        entry, column = _repeat_seats(first, seats, near.reshape(-1))
        prices = np.rint(UNIT * away.reshape(-1)[entry] ** 2) + 1.0
        shape = (len(points), int(seats.sum()))
        pairs = sp.csr_array((prices, (entry // count, column)), shape=shape)
        try:
            seat = min_weight_full_bipartite_matching(pairs)[1]
        except ValueError:  # "no full matching exists"
            if count == len(free):
                break
            count = min(2 * count, len(free))
            continue
        return np.asarray(np.repeat(footprint.nodes[free], seats)[seat], np.int64)
    return None


def _seat_all(points: FloatArray, nodes: FloatArray, seats: IntArray, around: IntArray) -> IntArray:
    """Return a seat for each of the points, of all on the `nodes[k, c]`, at the least sum of squared distances."""
    prices = np.zeros((len(points), len(nodes)))
    for point, node, extent in zip(points.T, nodes.T, around, strict=True):
        step = np.abs(point[:, None] - node)
        prices += (np.minimum(step, extent - step) if extent else step) ** 2
    return np.asarray(linear_sum_assignment(np.rint(UNIT * np.repeat(prices, seats, axis=1)))[1], np.int64)


def points_of(lattice: Lattice, folding: Folding, columns: int) -> FloatArray:
    """Return point[n, c], where in a box of nodes of extent 1 each task lies as a folding cuts the lattice.

    Odd pieces of an axis are laid backwards, as by `slabs.fold_lattice`.
    """
    along = (lattice.coords + 0.5) / np.array(lattice.dims)
    point, rest = np.zeros((lattice.size, columns)), np.full((lattice.size, columns), 0.5)
    for axis, column, parts in folding:
        scaled = along[:, axis] * parts
        part = np.floor(scaled)
        point[:, column] = point[:, column] * parts + part
        along[:, axis] = np.where(part % 2 == 1, part + 1.0 - scaled, scaled - part)
        # The last cut along a column leaves pieces of one node, which tasks fill from side to side.
        rest[:, column] = np.where(part % 2 == 1, 1.0 - along[:, axis], along[:, axis])
    return np.asarray(point + rest)


def _repeat_seats(first: IntArray, seats: IntArray, nodes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the entries of `nodes`, once for each seat of theirs, and the columns of these seats."""
    each = seats[nodes]
    entry = np.repeat(np.arange(len(nodes)), each)
    offset = np.arange(len(entry)) - np.repeat(np.cumsum(each) - each, each)
    return entry, first[nodes[entry]] + offset
