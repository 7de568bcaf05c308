"""Tests of the parts of a grid that hold all tasks."""

import numpy as np
import pytest

from tiger.model.metrics import GridMetric
from tiger.solvers.geometry import footprints
from tiger.solvers.geometry.folding import Axis
from tiger.solvers.geometry.footprints import box, regions


def extents(metric, slots, tasks):
    """Return the extents of all regions."""
    return [region.footprint.extents for region in regions(metric, np.array(slots), tasks)]


def test_a_full_grid_has_one_region():
    """Tests as many tasks as slots."""
    metric = GridMetric((3, 5), (False, True), 2.0)
    region = next(regions(metric, np.ones(15, np.int64), 15))
    assert extents(metric, [1] * 15, 15) == [(3, 5)]
    assert region.stages == (Axis(0, 3, 0, 2.0), Axis(1, 5, 5, 2.0))
    assert region.footprint.nodes.tolist() == list(range(15))


def test_few_tasks_have_tight_regions():
    """Tests four tasks on 6 x 6: the boxes that none smaller fits in, one of each kind."""
    found = extents(GridMetric((6, 6), (True, True)), [1] * 36, 4)
    assert found == [(2, 2), (1, 4)]
    assert extents(GridMetric((6, 5), (True, True)), [2] * 30, 8) == [(2, 2), (1, 4), (4, 1)]


def test_every_region_holds_the_tasks():
    """Tests slots of all regions, and that a node occurs once."""
    metric = GridMetric((4, 5, 6), (True, False, True))
    for region in regions(metric, np.full(120, 2), 90):
        assert region.footprint.slots.sum() >= 90
        assert len(set(region.footprint.nodes.tolist())) == len(region.footprint.nodes)
        assert region.footprint.coords.max(axis=0).tolist() == [k - 1 for k in region.footprint.extents]


def test_only_the_box_around_hosts_is_used():
    """Tests hosts in a corner, one of them missing: a single region, with a hole."""
    metric, slots = GridMetric((4, 4), (False, False)), np.zeros(16, np.int64)
    slots[[5, 6, 9]] = 1
    (region,) = regions(metric, slots, 3)
    assert region.footprint.nodes.tolist() == [5, 6, 9, 10]
    assert region.footprint.slots.tolist() == [1, 1, 1, 0]


@pytest.mark.parametrize("axes", [1, 6])
def test_boxes_of_few_and_of_many_axes(axes):
    """Tests a line, whose first nodes suffice, and a hypercube, which is used as a whole."""
    metric = GridMetric((9,), (False,)) if axes == 1 else GridMetric((2,) * axes, (False,) * axes)
    found = extents(metric, [1] * metric.size, 5)
    assert found == ([(9,), (5,)] if axes == 1 else [(2,) * axes])
    assert box(metric, np.arange(metric.size), np.ones(metric.size, np.int64)).extents == metric.dims
    assert footprints.SPARE > 1


def test_tight_regions_of_hardware_with_holes_hold_the_tasks():
    """Tests 20 tasks on 12 x 12 nodes of which a quarter is missing."""
    slots = (np.random.default_rng(0).random(144) < 0.75).astype(np.int64)
    found = list(regions(GridMetric((12, 12), (True, True)), slots, 20))
    assert min(len(region.footprint.nodes) for region in found) <= 36
    assert all(region.footprint.slots.sum() >= 20 for region in found)
