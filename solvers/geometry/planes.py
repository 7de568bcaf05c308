"""Planes: reorder the planes of a grid of nodes along each of its axes, with the tasks that lie on them."""

from functools import lru_cache

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.geometry.footprints import Region

# Without this step hypercubes of 9 and 10 axes on tori of their size cost 7 to 10 % more, `auto` at effort 1; 63 other
# lattices on grids, tori and trees cost the same.
# Planes up to which exchanges are tried, and up to which reversals and shifts are too, of which there are O(planes^2).
WIDEST, FEW = 128, 16
# Rounds of descent, and the least gain of one, as a part of the cost.
ROUNDS, GAIN = 200, 1e-9


def reorder(region: Region, places: IntArray, edges: tuple[IntArray, IntArray, FloatArray]) -> IntArray:
    """Return the places with planes of nodes moved about to descend in cost, an axis at a time.

    `edges` are tails, heads and volumes. Only where all nodes of the region have as many slots, and along axes of up to
    128 nodes. On a grid the distances along one axis do not depend on the others, so that this is a quadratic
    assignment problem of the planes. O(edges + extent^3) a round.
    """
    footprint = region.footprint
    if (footprint.slots != footprint.slots[0]).any():
        return places
    # Places as coordinates, and the way back.
    row = np.zeros(int(footprint.nodes.max()) + 1, np.int64)
    row[footprint.nodes] = np.arange(len(footprint.nodes))
    at = footprint.coords[row[places]]
    node = np.empty(footprint.extents, np.int64)
    node[tuple(footprint.coords.T)] = footprint.nodes
    for stage in region.stages:
        if 2 < stage.extent <= WIDEST:
            column, extent = at[:, stage.column], stage.extent
            # Traffic between the planes of this axis, whatever the other coordinates.
            key = column[edges[0]] * extent + column[edges[1]]
            flow = np.bincount(key, weights=edges[2], minlength=extent**2).astype(np.float64).reshape(extent, extent)
            flow = flow + flow.T
            np.fill_diagonal(flow, 0.0)
            steps, every = np.array([stage.span(step) for step in range(extent)]), np.arange(extent)
            distances = steps[np.abs(every[:, None] - every[None, :])]
            at[:, stage.column] = arrange(flow, distances)[column]
    return np.asarray(node[tuple(at.T)])


def arrange(flow: FloatArray, distances: FloatArray) -> IntArray:
    """Return position[k] of each plane, a local optimum of exchanges, and for up to 16 planes of reversals and shifts.

    `flow[k, k]` is symmetric traffic, `distances[k, k]` symmetric distances, least between the first two. It never
    costs more than the identity.
    """
    position, cost = np.arange(len(flow)), float((flow * distances).sum())
    if cost <= float(flow.sum()) * distances[0, 1]:
        return position
    least = GAIN * cost
    # Descent by the best exchange; where there is none, by the best reversal or shift, as 2-opt and or-opt of tours do.
    for _ in range(ROUNDS):
        new = _exchange(flow, distances, position)
        if len(flow) <= FEW and _price(flow, distances, position) - _price(flow, distances, new) <= least:
            new = _move_run(flow, distances, position)
        if _price(flow, distances, position) - _price(flow, distances, new) <= least:
            break
        position = new
    return position


def _price(flow: FloatArray, distances: FloatArray, position: IntArray) -> float:
    """Return the cost of an arrangement."""
    return float((flow * distances[np.ix_(position, position)]).sum())


def _exchange(flow: FloatArray, distances: FloatArray, position: IntArray) -> IntArray:
    """Return the arrangement after the best exchange of two planes."""
    field, every = flow @ distances[position], np.arange(len(flow))
    here, there = field[every, position], field[:, position]
    change = there + there.T - here[:, None] - here[None, :] + 2 * flow * distances[np.ix_(position, position)]
    one, other = np.unravel_index(int(change.argmin()), change.shape)
    new = position.copy()
    new[[one, other]] = position[[other, one]]
    return new


def _move_run(flow: FloatArray, distances: FloatArray, position: IntArray) -> IntArray:
    """Return the arrangement after the best reversal or shift by one of a run of positions."""
    moves = runs(len(flow))[:, position]
    prices = (flow * distances[moves[:, :, None], moves[:, None, :]]).sum(axis=(1, 2))
    return np.asarray(moves[int(prices.argmin())])


@lru_cache(maxsize=256)
def runs(extent: int) -> IntArray:
    """Return new[k, extent], where each position goes if a run of them is reversed, or shifted by one either way."""
    found = []
    for low in range(extent):
        for high in range(low + 2, extent + 1):
            run = list(range(low, high))
            new = run[::-1], [*run[1:], low], [high - 1, *run[:-1]]
            found += [[*range(low), *each, *range(high, extent)] for each in new]
    return np.array(found)
