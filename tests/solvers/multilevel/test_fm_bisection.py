"""Tests of cuts of graphs, as plain Python against the definitions and compiled against known cuts."""

import itertools

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from tiger.solvers.multilevel import coarsening, fm_bisection
from tiger.solvers.multilevel.coarsening import Graph
from tiger.solvers.multilevel.fm_bisection import masses, open_cut, refine, value


@pytest.fixture
def uncompiled(monkeypatch):
    """Run the kernels as plain Python."""
    for module in (fm_bisection, coarsening):
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)


def graph_of(graph, pull=None, memory=None):
    """Return a networkx graph as arrays, edges weighing 1 unless they say otherwise."""
    matrix = sp.csr_array(nx.to_scipy_sparse_array(graph, format="csr", dtype=float))
    size = len(graph)
    return Graph(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data,
        np.ones(size, np.int64),
        np.zeros(size, np.int64) if memory is None else np.array(memory, np.int64),
        np.zeros(size) if pull is None else np.array(pull, float),
    )


def cut(graph, low, high, seed=0, rooms=(0, 0)):
    """Return the sides and the cost of a cut with `low` to `high` vertices on side 0."""
    side = np.empty(len(graph.weight), np.int64)
    cost = fm_bisection.bisect(graph, side, np.array([low, high, *rooms]), 8, seed)
    return side, cost


def cheapest(graph, low, high):
    """Return the cost of the best cut by complete enumeration."""
    size = len(graph.weight)
    sides = (np.array(bits) for bits in itertools.product((0, 1), repeat=size))
    return min(value.py_func(graph, side) for side in sides if low <= size - side.sum() <= high)


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
def test_small_graphs_are_cut_at_least_cost():
    """Tests random graphs with pulls against complete enumeration; few are missed."""
    missed = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        graph = graph_of(nx.gnm_random_graph(9, 16, seed=seed), pull=rng.integers(-3, 4, 9))
        low, high = sorted(rng.integers(1, 9, 2).tolist())
        side, cost = cut(graph, low, high)
        assert low <= (side == 0).sum() <= high
        assert cost == pytest.approx(fm_bisection.value(graph, side))
        missed += cost > cheapest(graph, low, high) + 1e-9
    assert missed <= 1


@pytest.mark.usefixtures("uncompiled")
def test_plain_cycles_balance_exactly():
    """Tests a ladder that is coarsened, cut at a third, and cut again."""
    graph = graph_of(nx.ladder_graph(60))
    side, cost = cut(graph, 40, 40)
    assert (side == 0).sum() == 40
    assert cost == value.py_func(graph, side) <= 4
    assert fm_bisection.bisect(graph, side, np.array([40, 40, 0, 0]), 0, 1) <= cost


@pytest.mark.usefixtures("uncompiled")
def test_gains_follow_the_flips():
    """Tests gains, neighbours across and masses against a fresh start after random flips."""
    graph = graph_of(nx.gnm_random_graph(12, 30, seed=1), pull=range(12), memory=range(12))
    rng = np.random.default_rng(0)
    state = open_cut.py_func(graph, rng.integers(0, 2, 12))
    fm_bisection.fill_heaps(state, 0.0)
    for t in rng.integers(0, 12, 30):
        if state.heap_index[t] >= 0:
            fm_bisection.heap_remove(state, t)
        fm_bisection.flip(graph, state, t)
    fresh = open_cut.py_func(graph, state.side.copy())
    assert state.gain == pytest.approx(fresh.gain)
    assert (state.external == fresh.external).all()
    assert (state.mass == fresh.mass).all()


@pytest.mark.usefixtures("uncompiled")
def test_a_cut_out_of_bounds_is_brought_within():
    """Tests a path that lies on one side, and memory that does not fit there."""
    graph = graph_of(nx.path_graph(10))
    side = np.zeros(10, np.int64)
    assert refine.py_func(graph, side, np.array([5, 5, 0, 0])) == 1
    heavy = graph_of(nx.path_graph(6), memory=[4, 4, 4, 0, 0, 0])
    side = np.array([0, 0, 0, 1, 1, 1])
    refine.py_func(heavy, side, np.array([2, 4, 8, 4]))
    assert masses.py_func(heavy, side)[2:].tolist() == [8, 4]
    side = np.array([1, 1, 1, 0, 0, 0])
    refine.py_func(heavy, side, np.array([2, 4, 4, 8]))
    assert masses.py_func(heavy, side)[2:].tolist() == [4, 8]


def test_meshes_are_cut_straight():
    """Tests grids, whose best cuts are their short sides."""
    for rows, columns in ((12, 40), (8, 64)):
        best = min(
            cut(graph_of(nx.grid_2d_graph(rows, columns)), *[rows * columns // 2] * 2, seed)[1] for seed in (0, 1, 2)
        )
        assert best == rows


def test_pulls_decide_which_side():
    """Tests a path whose ends are pulled apart."""
    pull = np.zeros(200)
    pull[0], pull[-1] = -5.0, 5.0
    side, cost = cut(graph_of(nx.path_graph(200), pull=pull), 100, 100)
    assert (side == np.repeat([1, 0], 100)).all()
    assert cost == -4.0


def test_stars_and_single_vertices_are_cut():
    """Tests graphs on which matchings are small."""
    side, _ = cut(graph_of(nx.star_graph(300)), 100, 120)
    assert 100 <= (side == 0).sum() <= 120
    assert cut(graph_of(nx.empty_graph(300)), 77, 77)[1] == 0.0


def test_slack_is_used():
    """Tests two cliques of unequal size: bounds allow to part them, exact halves would not."""
    graph = graph_of(nx.disjoint_union(nx.complete_graph(40), nx.complete_graph(60)))
    assert cut(graph, 35, 65)[1] == 0.0


def test_same_seed_same_cut():
    """Tests that the cut depends on nothing else."""
    graph = graph_of(nx.random_regular_graph(4, 400, seed=2))
    sides = [cut(graph, 200, 200, seed=seed)[0] for seed in (3, 4, 3)]
    assert (sides[0] == sides[2]).all()
    assert (sides[0] != sides[1]).any()


def test_compiled_and_plain_agree(uncompiled):
    """Tests that refinement, which draws nothing, is the same both ways."""
    graph = graph_of(nx.gnm_random_graph(60, 200, seed=3))
    sides = [np.arange(60) % 2, np.arange(60) % 2]
    bounds = np.array([30, 30, 0, 0])
    assert refine(graph, sides[0], bounds) == pytest.approx(refine.py_func(graph, sides[1], bounds))
    assert (sides[0] == sides[1]).all()


def test_tiny_graphs_are_cut_at_best(uncompiled):
    """Tests graphs of one to four vertices with pulls and memory against all cuts within the bounds."""
    rng = np.random.default_rng(5)
    for size in (1, 2, 3, 4) * 5:
        graph = nx.gnp_random_graph(size, 0.7, seed=int(rng.integers(99)))
        nx.set_edge_attributes(graph, {edge: float(rng.integers(1, 9)) for edge in graph.edges}, "weight")
        made = graph_of(graph, rng.integers(-5, 6, size), rng.integers(0, 3, size))
        low = size // 2
        side = np.empty(size, np.int64)
        bounds = np.array([low, low + 1, 2 * size, 2 * size])
        cost = fm_bisection.bisect(made, side, bounds, 2, 0)
        legal = [np.array(x) for x in itertools.product((0, 1), repeat=size) if low <= x.count(0) <= low + 1]
        assert cost == value(made, side) == min(value(made, x) for x in legal)
