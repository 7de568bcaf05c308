"""Boxes: a lattice cut into boxes that fit on one node each, as few as there are nodes or fewer, and laid onto them."""

import heapq
import math
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import Metric
from tiger.solvers.geometry.embedding import Boxes, embed, lay
from tiger.solvers.geometry.folding import Stage
from tiger.solvers.geometry.footprints import Footprint
from tiger.solvers.geometry.lattices import Lattice

# Ways to cut all axes but one that are looked at, those of least surface where there are more.
WAYS = 1 << 13
# Ways to cut that are laid onto nodes, at 5 to 100 ms each, and embeddings of each that are weighed, by estimate first.
LAID, WEIGHED = 24, 8
# Ways to cut that are mapped by a search of their own, and how many times the least surface theirs is at most: four
# halos of 102,400 ranks on 800 hosts of irregular trees cost 12 to 40 % more in boxes of the next surface, of 1.12 to
# 1.5 times as much.
SEARCHED, NEAR = 3, 1.1
Parts = tuple[int, ...]


class Grid(NamedTuple):
    """Hold nodes that form a whole grid or tree, the axes or levels they lie along, and their distances by row."""

    footprint: Footprint
    stages: tuple[Stage, ...]
    metric: Metric
    rows: IntArray


def map_boxes(lattice: Lattice, grid: Grid, below: float, keep: int) -> list[IntArray]:
    """Return up to `keep` mappings of one box a node, cheapest first, that cost less than `below`.

    Cuts are tried by their least cost, as if all boxes that touch were one step apart, until that is too much.
    """
    found: list[tuple[float, int, Parts, IntArray]] = []
    nearest = min(stage.span(1) for stage in grid.stages)
    ways = list_boxes(lattice, int(grid.footprint.slots.min()), len(grid.rows))
    for parts in _leave_out_turned(lattice, ways)[:LAID]:
        if surfaces(lattice, np.array([parts]))[0] * nearest >= below:
            break
        for embedding in embed(Boxes(parts, lattice.across, lattice.wrap), grid.stages, WEIGHED):
            rows = np.ravel_multi_index(tuple(lay(embedding, parts, grid.stages).T), grid.footprint.extents)
            cost = _weigh(lattice, parts, grid, rows)
            if cost < below:
                found.append((cost, len(found), parts, rows))
                found = heapq.nsmallest(keep, found, key=lambda each: each[:2])
                below = found[-1][0] if len(found) == keep else below
    return [grid.footprint.nodes[rows[box_numbers(lattice, parts)]] for _, _, parts, rows in found]


def _weigh(lattice: Lattice, parts: Parts, grid: Grid, rows: IntArray) -> float:
    """Return the cost of the traffic between boxes on the nodes of some rows."""
    at, cost = grid.rows[rows].reshape(parts), 0.0
    for axis, count in enumerate(parts):
        layers = np.moveaxis(at, axis, 0)
        cuts = [(layers[:-1], layers[1:])] if count > 1 else []
        cuts += [(layers[-1:], layers[:1])] if count > 1 and lattice.wrap[axis] else []
        each = lattice.across[axis] * count / len(rows)
        cost += each * sum(float(grid.metric.between(*cut).sum()) for cut in cuts)
    return cost


def _leave_out_turned(lattice: Lattice, ways: IntArray) -> list[Parts]:
    """Return the ways to cut but for those that are another one with axes that are alike exchanged."""
    types = list(zip(lattice.dims, lattice.wrap, lattice.pull.round(9).tolist(), strict=True))
    seen: dict[tuple[object, ...], Parts] = {}
    for parts in ways.tolist():
        seen.setdefault(tuple(sorted(zip(types, parts, strict=True))), tuple(parts))
    return list(seen.values())


def list_cheap_boxes(lattice: Lattice, room: int, nodes: int) -> list[Parts]:
    """Return up to three ways to cut, as `list_boxes` does, with about the least traffic between boxes."""
    ways = list_boxes(lattice, room, nodes)
    traffic = surfaces(lattice, ways)
    return _leave_out_turned(lattice, ways[traffic <= NEAR * traffic.min(initial=np.inf)])[:SEARCHED]


def list_boxes(lattice: Lattice, room: int, nodes: int) -> IntArray:
    """Return parts[k, d] into which each axis is cut so that boxes hold `room` tasks at most, and are `nodes` at most.

    Sorted by the traffic between boxes. One axis has as few parts as the others allow, so that none is cut in vain.
    O(ways), of which there are as many as different numbers of parts, about 2 sqrt(extent) an axis.
    """
    last = int(np.argmax(lattice.dims))
    ways, volumes = np.ones((1, len(lattice.dims)), np.int64), np.ones(1, np.int64)
    for axis, extent in enumerate(lattice.dims):
        if axis == last:
            continue
        counts = part_counts(extent)
        new, held = np.repeat(ways, len(counts), axis=0), np.multiply.outer(volumes, -(-extent // counts)).ravel()
        new[:, axis] = np.tile(counts, len(ways))
        fits = np.flatnonzero((new.prod(axis=1) <= nodes) & (held <= room))
        fits = fits[np.argsort(surfaces(lattice, new[fits]), kind="stable")[:WAYS]]
        ways, volumes = new[fits], held[fits]
    # The longest sides of boxes along the last axis that there is room for.
    ways[:, last] = -(-lattice.dims[last] // np.minimum(room // volumes, lattice.dims[last]))
    ways = ways[ways.prod(axis=1) <= nodes]
    return np.asarray(ways[np.argsort(surfaces(lattice, ways), kind="stable")])


def surfaces(lattice: Lattice, parts: IntArray) -> FloatArray:
    """Return the traffic between boxes where each axis is cut into `parts[k, d]`."""
    cuts = parts - 1 + ((parts > 1) & np.array(lattice.wrap))
    return np.asarray(cuts @ lattice.across)


def box_numbers(lattice: Lattice, parts: Parts) -> IntArray:
    """Return the number of the box of each task, row by row; boxes along an axis differ by one layer at most."""
    along = lattice.coords * np.array(parts) // np.array(lattice.dims)
    return np.asarray(np.ravel_multi_index(tuple(along.T), parts), np.int64)


def part_counts(extent: int) -> IntArray:
    """Return the numbers of parts of an axis that shorter parts do without: the least for each longest part."""
    root = range(1, math.isqrt(extent) + 2)
    sides = {-(-extent // parts) for parts in root} | set(root)
    return np.array(sorted({-(-extent // side) for side in sides}))
