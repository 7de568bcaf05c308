"""Tests of moving tasks to the slots nearest to the points of a folding."""

import numpy as np
import pytest

from tiger.model.metrics import GridMetric
from tiger.solvers.geometry import transport as module
from tiger.solvers.geometry.folding import Digit, foldings
from tiger.solvers.geometry.footprints import regions
from tiger.solvers.geometry.lattices import Lattice
from tiger.solvers.geometry.slabs import fold_lattice
from tiger.solvers.geometry.transport import points_of, transport


def box(*dims, wrap=False):
    """Return a lattice in its natural numbering."""
    coords = np.indices(dims).reshape(len(dims), -1).T
    return Lattice(dims, (wrap,) * len(dims), coords, np.ones(len(dims)))


def region_of(*dims, slots, wrap=False):
    """Return all of a grid."""
    return next(regions(GridMetric(dims, (wrap,) * len(dims)), np.array(slots), sum(slots)))


def test_points_go_back_and_forth_along_a_folded_axis():
    """Tests a path of eight on 2 x 4."""
    points = points_of(box(8), (Digit(0, 0, 2), Digit(0, 1, 4)), 2)
    assert np.floor(points).tolist() == [[0, 0], [0, 1], [0, 2], [0, 3], [1, 3], [1, 2], [1, 1], [1, 0]]


def test_tasks_of_one_node_lie_side_by_side():
    """Tests eight tasks on two nodes: every second one backwards."""
    points = points_of(box(8), (Digit(0, 0, 2),), 1)
    assert np.allclose(points[:, 0], (np.arange(8) + 0.5) / 4)


@pytest.mark.parametrize(("dims", "nodes"), [((4, 6), (4, 6)), ((24,), (4, 6)), ((2, 3, 4), (4, 6)), ((8, 8), (4, 4))])
def test_without_holes_it_is_the_folding(dims, nodes):
    """Tests lattices that fill their nodes, one task each or four."""
    region = region_of(*nodes, slots=[np.prod(dims) // np.prod(nodes)] * int(np.prod(nodes)))
    for _, folding in foldings(box(*dims), region.stages, 3):
        found = transport(box(*dims), folding, region)
        assert found.tolist() == fold_lattice(box(*dims), folding, region.footprint).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_every_task_has_a_seat(seed):
    """Tests random slots, none to three a node, that all are taken."""
    slots = np.random.default_rng(seed).integers(0, 4, 48)
    region = region_of(6, 8, slots=slots.tolist(), wrap=bool(seed % 2))
    places = transport(box(int(slots.sum())), (Digit(0, 0, 6), Digit(0, 1, 8)), region)
    assert np.bincount(places, minlength=48).tolist() == slots.tolist()


def test_a_hole_moves_few_tasks():
    """Tests an 8 x 8 lattice less one task on an 8 x 8 grid less one node."""
    lattice = box(8, 8)
    lattice = Lattice(lattice.dims, lattice.wrap, lattice.coords[:-1], lattice.pull)
    region = region_of(8, 8, slots=[1] * 27 + [0] + [1] * 36)
    places = transport(lattice, (Digit(0, 0, 8), Digit(1, 1, 8)), region)
    assert (places != np.arange(63)).sum() <= 8


def test_seats_across_the_border_of_a_torus_are_near():
    """Tests a ring of 20 nodes whose first two are missing, for the 18 tasks of a path that would lie around them."""
    lattice = Lattice((20,), (True,), np.array([*range(9), *range(11, 20)])[:, None], np.ones(1))
    region = region_of(20, slots=[0, 0] + [1] * 18, wrap=True)
    places = transport(lattice, (Digit(0, 0, 20),), region)
    away = np.abs(places - lattice.coords[:, 0])
    assert np.minimum(away, 20 - away).max() <= 2


@pytest.mark.parametrize("pairs", [1, 60, 1000])
def test_many_tasks_are_moved_in_parts(monkeypatch, pairs):
    """Tests 24 tasks on 30 slots of 8 x 5 nodes, halved down to so few pairs: every task has a slot of its own."""
    monkeypatch.setattr(module, "PAIRS", pairs)
    slots = np.ones(40, np.int64)
    slots[np.random.default_rng(1).permutation(40)[:10]] = 0
    places = transport(box(6, 4), (Digit(0, 0, 8), Digit(1, 1, 5)), region_of(8, 5, slots=slots.tolist()))
    assert len(set(places.tolist())) == 24
    assert slots[places].all()


@pytest.mark.slow
def test_bug_a_matching_ends_on_a_long_torus_with_holes():
    """Tests 693 tasks on 716 of 889 nodes, whose sparse matching did not end."""
    slots = np.ones(127 * 7, np.int64)
    slots[np.random.default_rng(0).permutation(slots.size)[:173]] = 0
    region = region_of(127, 7, slots=slots, wrap=True)
    for _, folding in foldings(box(9, 11, 7), region.stages, 3):
        found = transport(box(9, 11, 7), folding, region)
        assert (np.bincount(found, minlength=slots.size) <= slots).all()
