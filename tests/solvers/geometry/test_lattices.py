"""Tests of recognising grids and tori, tasks numbered in any order."""

import itertools
import math
import time

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from tiger.formats.graphs import task_graph_of
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.solvers.geometry import lattices, squares
from tiger.solvers.geometry.lattices import may_be_lattice, merge_axes, recognise
from tiger.topologies.spec import build


def problem_of(graph, seed=0):
    """Return a graph, its vertices shuffled, with room for all of it on either of two nodes."""
    order = np.random.default_rng(seed).permutation(len(graph)).tolist()
    shuffled = nx.relabel_nodes(graph, {name: order[k] for k, name in enumerate(sorted(graph))})
    tidy = type(graph)()
    tidy.add_nodes_from(range(len(graph)))
    tidy.add_edges_from(shuffled.edges(data=True))
    hardware = build("grid:2").with_slots([len(graph)] * 2)
    return Problem(tasks=task_graph_of(tidy), topology=hardware, rule="capacity")


def grid(dims, wrap=None, weights=None):
    """Return a grid, periodic along the axes that wrap, with a weight an axis."""
    around = list(wrap or [False] * len(dims))
    graph = nx.grid_graph(dim=dims[::-1], periodic=around[::-1])
    if len(dims) == 1:
        graph = nx.relabel_nodes(graph, {name: (name,) for name in graph})
    for u, v in graph.edges:
        axis = next(k for k in range(len(dims)) if u[k] != v[k])
        graph.edges[u, v]["weight"] = weights[axis] if weights else 1
    return graph


def king(dims):
    """Return a grid with all diagonals."""
    graph = nx.strong_product(nx.path_graph(dims[0]), nx.path_graph(dims[1]))
    for extent in dims[2:]:
        graph = nx.strong_product(graph, nx.path_graph(extent))
    names = {name: tuple(flat(name)) for name in graph}
    return nx.relabel_nodes(graph, names)


def flat(name):
    """Yield the numbers of a nested tuple."""
    for part in name:
        yield from flat(part) if isinstance(part, tuple) else (part,)


def shape(lattice):
    """Return the extents with their wrap flags, in order."""
    return sorted(zip(lattice.dims, lattice.wrap, strict=True))


CASES = [
    ((7,), (False,)),
    ((9,), (True,)),
    ((5, 7), (False, False)),
    ((2, 6), (False, False)),
    ((3, 5), (True, True)),
    ((6, 5, 3), (True, False, False)),
    ((3, 3, 3), (True, True, True)),
    ((2, 3, 2, 5), (False, False, False, True)),
    ((2, 2, 2, 2, 2), (False,) * 5),
    ((40, 2, 3), (False, False, False)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("dims", "wrap"), CASES)
def test_products_of_paths_and_cycles_are_lattices(dims, wrap):
    """Tests extents, and that every edge joins tasks whose coordinates differ by one step along one axis."""
    problem = problem_of(grid(dims, wrap))
    lattice = recognise(problem)
    assert shape(lattice) == sorted(zip(dims, wrap, strict=True))
    assert len({tuple(at) for at in lattice.coords.tolist()}) == math.prod(dims)
    row, col = problem.tasks.traffic.nonzero()
    away = np.abs(lattice.coords[row] - lattice.coords[col])
    away = np.minimum(away, np.where(lattice.wrap, np.array(lattice.dims) - away, away))
    assert (away.sum(axis=1) == 1).all()


def test_pull_is_the_traffic_along_each_axis():
    """Tests weights by axis, the same for all numberings."""
    for seed in range(3):
        lattice = recognise(problem_of(grid((4, 5, 6), weights=(1, 20, 300)), seed))
        assert dict(zip(lattice.dims, lattice.pull.tolist(), strict=True)) == pytest.approx({4: 1, 5: 20, 6: 300})
        assert lattice.across[lattice.dims.index(4)] == pytest.approx(30)


def test_directed_traffic_counts_both_ways():
    """Tests a grid in which every pair exchanges 1 and 2."""
    graph = nx.DiGraph()
    for u, v in grid((5, 6)).edges:
        graph.add_edge(u, v, weight=1)
        graph.add_edge(v, u, weight=2)
    assert recognise(problem_of(graph)).pull.tolist() == [3, 3]


@pytest.mark.parametrize("dims", [(3, 3), (6, 9), (4, 4, 4), (5, 3, 7)])
def test_stencils_with_diagonals_are_lattices(dims):
    """Tests the 9-point and the 27-point stencil: no edge spans more than one step."""
    problem = problem_of(king(dims))
    lattice = recognise(problem)
    assert sorted(lattice.dims) == sorted(dims)
    row, col = problem.tasks.traffic.nonzero()
    assert np.abs(lattice.coords[row] - lattice.coords[col]).max() == 1


@pytest.mark.slow
@pytest.mark.parametrize(("dims", "missing"), [((30, 30), 0), ((9, 10, 11), 25)])
def test_a_few_wrong_edges_do_not_matter(dims, missing):
    """Tests a grid without a few edges, and with one in a hundred more between random tasks."""
    graph, rng = grid(dims), np.random.default_rng(3)
    edges, names = sorted(graph.edges), sorted(graph)
    graph.remove_edges_from([edges[k] for k in rng.choice(len(edges), missing, replace=False)])
    graph.add_edges_from([(names[a], names[b]) for a, b in rng.integers(0, len(names), (len(edges) // 100, 2))])
    assert sorted(recognise(problem_of(graph)).dims) == sorted(dims)


OTHERS = {
    "tree": nx.balanced_tree(2, 6),
    "star": nx.star_graph(30),
    "complete": nx.complete_graph(20),
    "regular": nx.random_regular_graph(4, 100, seed=1),
    "geometric": nx.random_geometric_graph(200, 0.15, seed=2),
    "small world": nx.watts_strogatz_graph(100, 8, 0.1, seed=1),
    "triangles": nx.triangular_lattice_graph(9, 9),
    "hexagons": nx.hexagonal_lattice_graph(9, 9),
    "two grids": nx.disjoint_union(nx.grid_2d_graph(5, 5), nx.grid_2d_graph(5, 5)),
    "no edges": nx.empty_graph(12),
    "one task": nx.empty_graph(1),
    "bipartite": nx.complete_bipartite_graph(5, 5),
    "matching": nx.disjoint_union_all([nx.path_graph(2)] * 6),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_graphs_are_none(name):
    """Tests graphs that are no product of paths and cycles."""
    assert recognise(problem_of(OTHERS[name])) is None


def test_cycles_of_four_come_as_two_axes_and_merge():
    """Tests a torus of 4 x 4 x 5: its cycles of four are squares, until they are merged."""
    problem = problem_of(grid((4, 4, 5), (True, True, True)))
    lattice = recognise(problem)
    assert shape(lattice) == [(2, False)] * 4 + [(5, True)]
    whole = merge_axes(lattice)
    assert shape(whole) == [(4, True), (4, True), (5, True)]
    row, col = problem.tasks.traffic.nonzero()
    away = np.abs(whole.coords[row] - whole.coords[col])
    assert np.minimum(away, np.array(whole.dims) - away).sum(axis=1).tolist() == [1] * len(row)
    assert merge_axes(whole) is None


def test_other_graphs_are_told_from_a_few_tasks():
    """Tests that 65,536 tasks with random edges cost next to nothing."""
    rng = np.random.default_rng(0)
    row, col = rng.integers(0, 65536, (2, 200_000))
    traffic = sp.csr_array((np.ones(200_000), (row, col)), shape=(65536, 65536))
    tasks = TaskGraph(names=tuple(map(str, range(65536))), traffic=traffic)
    problem = Problem(tasks=tasks, topology=build("grid:2").with_slots([65536] * 2), rule="capacity")
    begun = time.thread_time()
    assert not may_be_lattice(problem)
    assert recognise(problem) is None
    assert time.thread_time() - begun < 5


def test_graphs_of_too_many_corners_are_none(monkeypatch):
    """Tests a grid beyond the limit."""
    monkeypatch.setattr(squares, "PAIRS", 10)
    assert recognise(problem_of(grid((5, 5)))) is None


def test_graphs_without_large_axes_are_none(monkeypatch):
    """Tests a grid whose axes are all too rare to count, and one too few of whose edges they explain."""
    monkeypatch.setattr(lattices, "RARE", 0.6)
    assert recognise(problem_of(grid((5, 5)))) is None
    monkeypatch.setattr(lattices, "RARE", 0.5)
    assert recognise(problem_of(grid((3, 30)))) is None


def test_a_graph_of_wide_neighbourhoods_is_none():
    """Tests a task with more neighbours than any lattice has, among those looked at."""
    assert not may_be_lattice(problem_of(nx.complete_graph(40)))


def test_numbering_plays_no_part():
    """Tests that all numberings give the same extents and pulls."""
    graph = grid((5, 6, 7), (False, True, False), weights=(3, 1, 2))
    found = [recognise(problem_of(graph, seed)) for seed in range(4)]
    known = [sorted(zip(each.dims, each.wrap, each.pull.round(9).tolist(), strict=True)) for each in found]
    assert all(one == other for one, other in itertools.pairwise(known))
