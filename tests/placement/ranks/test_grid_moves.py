"""Tests of grids of ranks and those one move away."""

import numpy as np
import pytest

from tiger.placement.ranks.grid_moves import draw_grids, neighbour_grids
from tiger.training.costs.plan import rank_order

MACHINE = np.repeat([0, 1], 4)


def neighbours(grid, machine=MACHINE):
    """Return all grids one move away."""
    grids = neighbour_grids(grid, machine)
    return grids.take(np.arange(len(grids)))


def test_rank_order_counts_tensor_ranks_first():
    """Eight devices as 2 x 2 x 2: neighbours are tensor-parallel, then data-parallel."""
    assert rank_order((2, 2, 2)).tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]


@pytest.mark.parametrize("shape", [(2, 2, 2), (4, 2, 1), (1, 1, 8), (3, 1, 2), (1, 1, 1)])
def test_grids_around_use_every_device_once(shape):
    """All of them have the shape, and no device twice."""
    grid = rank_order(shape)
    for grids in (neighbours(grid), draw_grids(grid, MACHINE, 40, np.random.default_rng(0))):
        assert grids.shape[1:] == shape
        assert all(len(np.unique(each)) == grid.size for each in grids)


def test_grids_around_hold_the_moves_by_name():
    """Swapped ranks, groups, stages, lanes of all groups, machines, and a turned pipeline are among them."""
    found = {tuple(each.ravel().tolist()) for each in neighbours(rank_order((2, 2, 2)))}
    ranks, groups, stages = (0, 1, 2, 7, 4, 5, 6, 3), (0, 1, 4, 5, 2, 3, 6, 7), (4, 5, 6, 7, 0, 1, 2, 3)
    lanes, one = (1, 0, 3, 2, 5, 4, 7, 6), (1, 0, 3, 2, 4, 5, 6, 7)
    assert {ranks, groups, stages, lanes, one} <= found
    turned = {tuple(each.ravel().tolist()) for each in neighbours(rank_order((4, 1, 1)))}
    assert {(2, 1, 0, 3), (3, 2, 1, 0), (4, 5, 6, 7)} <= turned


def test_unused_devices_come_in():
    """With two of eight devices in use, each of the others replaces either."""
    found = {tuple(each.ravel().tolist()) for each in neighbours(rank_order((2, 1, 1)))}
    assert {(k, 1) for k in range(2, 8)} | {(0, k) for k in range(2, 8)} <= found


def test_drawn_machines_are_turned_alike():
    """The first half keeps devices on their machine, in one order on both."""
    for grid in draw_grids(rank_order((2, 1, 4)), MACHINE, 20, np.random.default_rng(1))[:10]:
        assert (grid[1, 0] - 4 == grid[0, 0]).all()
