"""Transport: tasks at the points where they would lie on a whole box of nodes, moved to the slots that there are."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.geometry.folding import Folding
from tiger.solvers.geometry.footprints import Region
from tiger.solvers.geometry.lattices import Lattice

# Prices of the assignment are whole numbers: squared distances in units of 1 / UNIT of a hop squared.
UNIT = 10_000
# Pairs of tasks and slots up to which one assignment is made for all of them, in 64 MB. Sparse matchings of the nearest
# slots alone are as good, but scipy's begin with one without prices that may take exponential time.
PAIRS = 1 << 23


def transport(lattice: Lattice, folding: Folding, region: Region) -> IntArray:
    """Return places[n] of a low sum of squared distances from the points of a folding.

    A linear assignment problem, the least sum up to 2**23 pairs of tasks and slots; above, tasks and slots are halved
    along the longest side until so few are left. Source of the assignment: scipy's, after D. F. Crouse,
    doi:10.1109/TAES.2016.140952.
    """
    footprint, points = region.footprint, points_of(lattice, folding, len(region.stages))
    slot_node = np.repeat(np.arange(len(footprint.nodes)), footprint.slots)
    around = np.array([stage.extent if stage.extent == stage.around else 0 for stage in region.stages])
    slots: FloatArray = footprint.coords[slot_node].astype(np.float64) + 0.5
    places, left = np.empty(len(points), np.int64), [(np.arange(len(points)), np.arange(len(slots)))]
    while left:
        tasks, free = left.pop()
        if len(tasks) * len(free) > PAIRS:
            left += _halve(points, slots, (tasks, free))
        else:
            places[tasks] = footprint.nodes[slot_node[free[_assign(points[tasks], slots[free], around)]]]
    return places


def _halve(points: FloatArray, slots: FloatArray, part: tuple[IntArray, IntArray]) -> list[tuple[IntArray, IntArray]]:
    """Return the halves of some slots along their longest side, each with its share of the tasks."""
    tasks, free = part
    column = int(np.ptp(slots[free], axis=0).argmax())
    free = free[np.argsort(slots[free, column], kind="stable")]
    tasks = tasks[np.argsort(points[tasks, column], kind="stable")]
    half = len(free) // 2
    share = len(tasks) * half // len(free)
    return [(tasks[:share], free[:half]), (tasks[share:], free[half:])]


def _assign(points: FloatArray, slots: FloatArray, around: IntArray) -> IntArray:
    """Return a slot for each of the points at the least sum of squared distances."""
    prices = np.zeros((len(points), len(slots)))
    for point, slot, extent in zip(points.T, slots.T, around.tolist(), strict=True):
        step = np.abs(point[:, None] - slot)
        prices += (np.minimum(step, extent - step) if extent else step) ** 2
    return np.asarray(linear_sum_assignment(np.rint(UNIT * prices))[1], np.int64)


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
