"""Meshes, tori, hypercubes and rings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.model.topology import Topology
from tiger.topologies.grids import grid, grid_links, hypercube, ring, torus

DIMS = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)


def pairs(topology):
    """Return the links as a sorted list of name pairs."""
    names = topology.names
    return sorted(tuple(sorted((names[u], names[v]))) for u, v in zip(topology.links.u, topology.links.v, strict=True))


def all_distances(topology):
    """Return the distance between any two nodes."""
    nodes = np.arange(topology.size)
    return topology.metric.between(nodes[:, None], nodes[None, :])


def test_a_small_grid_has_these_links():
    """A 2 x 2 mesh is a square."""
    assert pairs(grid((2, 2))) == [("0,0", "0,1"), ("0,0", "1,0"), ("0,1", "1,1"), ("1,0", "1,1")]


def test_a_torus_axis_of_two_has_one_link():
    """Wrapping around between two nodes adds nothing."""
    assert pairs(torus((2,))) == [("0", "1")]
    assert pairs(torus((2, 1, 2))) == pairs(grid((2, 1, 2)))


def test_an_axis_of_one_has_no_link():
    """A single node has no neighbour, not even itself."""
    assert pairs(torus((1,))) == []


def test_a_ring_closes():
    """The last node of a ring is next to the first."""
    circle = ring(4)
    assert pairs(circle) == [("0", "1"), ("0", "3"), ("1", "2"), ("2", "3")]
    assert all_distances(circle)[0].tolist() == [0, 1, 2, 1]


@given(dims=DIMS, wrap=st.booleans())
def test_distances_are_shortest_paths_over_the_links(dims, wrap):
    """The formula and the links describe the same machine."""
    topology = torus(dims) if wrap else grid(dims)
    assert np.array_equal(all_distances(topology), Topology.from_links(topology.names, topology.links).metric.table)


@given(dims=DIMS, wrap=st.booleans())
def test_two_nodes_are_linked_where_one_coordinate_differs_by_a_step(dims, wrap):
    """Every pair of neighbours has one link, no other pair has any."""
    topology = torus(dims) if wrap else grid(dims)
    points = np.indices(dims).reshape(len(dims), -1).T
    away = np.abs(points[:, None] - points[None, :])
    steps = np.minimum(away, dims - away) if wrap else away
    u, v = np.nonzero(np.triu(steps.sum(axis=2) == 1))
    assert pairs(topology) == sorted((topology.names[a], topology.names[b]) for a, b in zip(u, v, strict=True))


def test_a_hypercube_has_these_figures():
    """Dimension 10: 1,024 nodes, 5,120 links, distance = number of differing coordinates."""
    cube = hypercube(10)
    assert (cube.size, len(cube.links.u), cube.names[5]) == (1024, 5120, "0,0,0,0,0,0,0,1,0,1")
    assert cube.metric.between(np.array([0]), np.array([1023])).tolist() == [10]


def test_links_carry_the_length_of_a_hop():
    """A grid whose hops are 2 long has links of length 2 and bandwidth 1."""
    links = grid_links((1, 3), (False, False), 2.0)
    assert (links.weight.tolist(), links.bandwidth.tolist()) == ([2, 2], [1, 1])


def test_a_large_torus_is_built():
    """65,536 nodes have 196,608 links, each node six."""
    topology = torus((32, 32, 64))
    degree = np.bincount(topology.links.u, minlength=65536) + np.bincount(topology.links.v, minlength=65536)
    assert len(topology.links.u) == 196_608
    assert set(degree.tolist()) == {6}


@pytest.mark.parametrize("dimension", [0, -1, 21, 10**6, 10**18])
def test_hypercubes_out_of_range_are_refused(dimension):
    """A dimension below 1 or above 20 is bad input, before anything is allocated."""
    with pytest.raises(InputError, match="dimension from 1 to 20"):
        hypercube(dimension)


@pytest.mark.parametrize("build", [grid, torus])
@pytest.mark.parametrize("dims", [(), (0, 3), (2**20, 2), (10**18, 10**18)])
def test_grids_out_of_range_are_refused(build, dims):
    """Extents below 1 and products above the limit are bad input."""
    with pytest.raises(InputError, match=r"^topology: expected"):
        build(dims)
