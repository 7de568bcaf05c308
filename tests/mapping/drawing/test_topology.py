"""Tests of hardware as documents: its links, its tiers, and groups of nodes where there are too many."""

import networkx as nx
import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.mapping.drawing.topology import view_hardware, wire
from tiger.mapping.entry import problem_of
from tiger.model.metrics import DenseMetric, GridMetric
from tiger.model.topology import Links, Topology
from tiger.objectives.multipath import load_links
from tiger.run.drawing.graph import TopologyView
from tiger.topologies.spec import build


def view_of(topology: str | Topology) -> TopologyView:
    """Return the view of hardware."""
    hardware = wire(build(topology) if isinstance(topology, str) else topology)
    return view_hardware(hardware, hardware.merge())


@pytest.mark.parametrize(
    ("spec", "vertices", "links"),
    [
        ("grid:3x4", 12, 17),
        ("torus:4x4x2", 32, 80),
        ("hypercube:3", 8, 12),
        ("ring:5", 5, 5),
        ("complete:6", 6, 15),
        ("fat-tree:4", 36, 48),
        ("tree:2x3@1,2", 9, 8),
        ("tree:1x2@1,1", 4, 3),
        ("dgx:2", 19, 18),
        ("heavy-hex:3", 19, 20),
    ],
)
def test_every_link_comes_once(spec, vertices, links):
    """Tests nodes, switches or subtrees, and links between them, on each kind of hardware."""
    view = view_of(spec)
    assert (len(view.names), len(view.a)) == (vertices, links) == (view.total, view.total_edges)
    assert len(set(zip(view.a, view.b, strict=True))) == links
    assert all(a < b for a, b in zip(view.a, view.b, strict=True))
    assert sum(view.slots) == build(spec).slots.sum()


@pytest.mark.parametrize(("spec", "tiers"), [("fat-tree:4", 4), ("tree:2x3x2@1,2,3", 4), ("dgx:2", 3), ("tree:4@1", 2)])
def test_hierarchies_stand_in_tiers(spec, tiers):
    """Tests how many heights there are, nodes at the bottom, and a picture that is filled."""
    view = view_of(spec)
    slots, y = np.array(view.slots), np.array(view.y)
    assert sorted(set(y.tolist())) == pytest.approx(np.linspace(0, 1, tiers), abs=1e-5)
    assert (y[slots > 0] == 1).all()
    assert (y[slots == 0] < 1).all()


def test_routers_that_are_linked_lie_on_a_circle():
    """Tests a dragonfly: nodes on a circle around that of the routers, each beside its own."""
    view, slots = view_of("dragonfly:2,2,5"), build("dragonfly:2,2,5").slots
    spots = np.stack([view.x, view.y], axis=1) - 0.5
    radius = np.linalg.norm(spots, axis=1)
    assert radius[slots > 0] == pytest.approx(radius.max(), abs=0.01)
    assert radius[slots == 0] == pytest.approx(0.75 * radius.max(), abs=0.01)
    for node, router in zip(view.a[:20], view.b[:20], strict=True):
        assert np.dot(spots[node], spots[router]) / (radius[node] * radius[router]) > 0.95


def test_an_allocation_changes_no_tier():
    """Tests nodes without slots, which are no switches."""
    topology = build("fat-tree:4")
    view, part = view_of(topology), view_of(topology.allocated(topology.names[:3]))
    assert part.y == view.y
    assert sum(part.slots) == 3


def test_rings_are_circles_and_lines_are_lines():
    """Tests one axis, which wraps around or does not."""
    ring, line = view_of("ring:8"), view_of("grid:8")
    away = np.hypot(np.array(ring.x) - 0.5, np.array(ring.y) - 0.5)
    assert away == pytest.approx(np.full(8, 0.5), abs=0.01)
    assert set(line.y) == {0.5}


def test_bandwidth_is_none_where_none_is_stated():
    """Tests a grid with links of its own, and one without."""
    links = Links(u=np.array([0, 1]), v=np.array([1, 2]), weight=np.array([2.0, 3.0]), bandwidth=np.array([5.0, 7.0]))
    stated = view_of(Topology(names=("x", "y", "z"), metric=GridMetric((3,), (False,)), links=links))
    assert (stated.weight, stated.bandwidth) == ((2.0, 3.0), (5.0, 7.0))
    assert view_of(Topology(names=("x", "y"), metric=GridMetric((2,), (False,)))).bandwidth == (None,)
    assert view_of("tree:2@1").bandwidth == (None, None)


def test_links_of_a_grid_beyond_neighbours_are_shown():
    """Tests a shortcut, which routes of several paths take."""
    links = Links.unit([(0, 1), (1, 2), (0, 2)])
    topology = Topology(names=("0", "1", "2"), metric=GridMetric((3,), (False,)), links=links)
    problem, hardware = problem_of(nx.path_graph(3), topology), wire(topology)
    places = np.array([1, 0, 2])
    for routing, loads in (("single", [2, 0, 1]), ("equal", [1, 1, 0])):
        found = load_links(problem, places, routing)
        assert found is not None
        assert hardware.load(found).tolist() == loads


@pytest.mark.parametrize(
    "spec", ["grid:3x4", "torus:3x4x2", "hypercube:4", "fat-tree:4", "tree:2x3x2@1,1,2", "complete:5"]
)
def test_loads_are_those_of_the_named_links(spec):
    """Tests every load against what lists of the busiest links say."""
    topology = build(spec)
    problem = problem_of(nx.complete_graph(int(topology.hosts.size)), topology)
    places, hardware = launch_order(problem), wire(topology)
    assert not isinstance(places, tuple)
    loads = load_links(problem, places, "single")
    assert loads is not None
    view = view_hardware(hardware, hardware.merge())
    carried = dict(zip(zip(view.a, view.b, strict=True), hardware.load(loads).tolist(), strict=True))
    number = {name: k for k, name in enumerate(hardware.wires.names)}
    for link in loads.list_busiest(topology.link_ends, 100):
        assert carried[tuple(sorted((number[link.a], number[link.b])))] == pytest.approx(link.load)


def test_nodes_without_links_lie_by_distance():
    """Tests hardware of which distances alone are known."""
    table = np.abs(np.arange(6)[:, None] - np.arange(6)[None, :]).astype(float)
    view = view_of(Topology(names=tuple("abcdef"), metric=DenseMetric(table)))
    assert (view.a, view.weight) == ((), ())
    assert list(view.x) in (sorted(view.x), sorted(view.x, reverse=True))


@pytest.mark.parametrize(
    ("spec", "vertices"),
    [
        ("torus:28x28x28", 490),
        ("hypercube:12", 256),
        ("grid:2500", 500),
        ("tree:16x16x16@1,2,3", 273),
        ("tree:4000@1", 446),
        ("fat-tree:20", 500),
    ],
)
def test_too_many_nodes_are_grouped(spec, vertices):
    """Tests blocks of a grid, runs of a line, subtrees, and hosts as part of their switch."""
    topology = build(spec)
    view = view_of(topology)
    assert len(view.names) == vertices
    assert sum(view.counts) == view.total > 2000
    assert sum(view.slots) == topology.slots.sum()
    assert len(view.a) <= 8000


def test_of_too_many_links_the_busiest_are_shown():
    """Tests a complete graph with 8,128 links."""
    hardware = wire(build("complete:128"))
    importance = np.arange(8128, dtype=float)
    view = view_hardware(hardware, hardware.merge(importance))
    assert (len(view.a), view.total_edges) == (8000, 8128)
    assert view.a[0] == 1
