"""Tests of V-cycles with annealing: no worse than before, within the slots, and mostly better."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from tests.solvers.multilevel.test_multilevel import problem_of
from tiger.feasibility.start import launch_order
from tiger.objectives.cost import cost_of, violations
from tiger.solvers.generator import seed_state
from tiger.solvers.instance import instance_of
from tiger.solvers.multilevel import coarsening, fm_bisection, label_propagation, v_cycle, v_cycle_kernels
from tiger.solvers.multilevel.coarsening import Graph
from tiger.solvers.multilevel.multilevel import Multilevel, MultilevelParams, dissect
from tiger.solvers.multilevel.v_cycle import VCycle
from tiger.solvers.multilevel.v_cycle_kernels import Regions, anneal_regions, fit_regions, measure, refine_pairs

BRIEF = VCycle(clusters=20, temperatures=10, proposals=10)


@pytest.fixture
def uncompiled(plain, monkeypatch):
    """Run the kernels of a V-cycle as plain Python."""
    for module in (coarsening, fm_bisection, label_propagation, v_cycle, v_cycle_kernels):
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)


def graph_of(graph, weights=None):
    """Return a graph whose edges cost 1, or their `weight`."""
    matrix = sp.csr_array(nx.to_scipy_sparse_array(graph, dtype=float))
    size = matrix.shape[0]
    ones = np.ones(size, np.int64) if weights is None else weights
    return Graph(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data, ones, ones * 0, np.zeros(size)
    )


def draw(seed, most=200):
    """Return a random graph with volumes, regions on a line, some of them full, and a way to share it out."""
    rng = np.random.default_rng(seed)
    size, count = int(rng.integers(2, most)), int(rng.integers(1, 9))
    graph = nx.gnm_random_graph(size, int(rng.integers(0, 4 * size)), seed=seed)
    for _, _, data in graph.edges(data=True):
        data["weight"] = int(rng.integers(1, 10))
    place = rng.integers(0, 100, count).astype(float)
    # Some have room to spare, some regions may be empty.
    full = np.sort(rng.integers(0, count, size))
    slots = np.bincount(full, minlength=count) + rng.integers(0, 1 + seed % 3, count)
    return (graph_of(graph), Regions(np.abs(np.subtract.outer(place, place)), slots), rng.permutation(full))


@pytest.mark.slow
def test_cold_annealing_takes_no_move_that_costs():
    """What vertices cost in every region is kept as others move; with room for all, nothing but the cost counts."""
    gained = 0
    for seed in range(30):
        graph, regions, region = draw(seed)
        regions = regions._replace(slots=np.full(len(regions.slots), len(region)))
        cost, after = measure(graph, regions, region), region.copy()
        for number in range(20):
            anneal_regions(graph, regions, after, (np.full(1, 1e-9), 1.0, 1, 9), seed_state(number))
            before, cost = cost, measure(graph, regions, after)
            assert cost <= before
            gained += cost < before
    assert gained > 100


@pytest.mark.parametrize("params", [BRIEF, VCycle(clusters=5, hot=0.0, warm=0.0, cold=0.05), VCycle(rounds=0)])
def test_a_v_cycle_is_no_worse_than_before_and_keeps_the_seats(params):
    """Tests random graphs, regions and ways to share them out, which stay as they were."""
    gained = 0
    for seed in range(20):
        graph, regions, before = draw(seed)
        copy, least = before.copy(), measure(graph, regions, before)
        found = params.improve(graph, regions, before, seed, bool)
        assert (np.bincount(found, minlength=len(regions.slots)) <= regions.slots).all()
        assert measure(graph, regions, found) <= least * (1 + 1e-12)
        assert (before == copy).all()
        gained += measure(graph, regions, found) < least
    assert gained > 10


@pytest.mark.usefixtures("uncompiled")
def test_plain_python_improves_as_well():
    """Tests the kernels uncompiled."""
    for seed in range(4):
        graph, regions, before = draw(seed, most=60)
        found = BRIEF.improve(graph, regions, before, seed, bool)
        assert (np.bincount(found, minlength=len(regions.slots)) <= regions.slots).all()
        assert measure(graph, regions, found) <= measure(graph, regions, before)


def test_the_cost_of_regions_is_that_of_all_pairs():
    """Tests it against a sum over a dense matrix."""
    graph, regions, way = draw(3)
    dense = sp.csr_array((graph.flow, graph.indices, graph.indptr), shape=(len(way), len(way))).toarray()
    assert measure(graph, regions, way) == pytest.approx((dense * regions.distances[way[:, None], way]).sum() / 2)


def test_vertices_of_one_region_are_joined_and_no_others():
    """Tests that no cluster has vertices of two regions."""
    graph, before = graph_of(nx.grid_2d_graph(16, 16)), np.arange(256) // 128 * 2 + np.arange(256) % 16 // 8
    graphs, labels, region = BRIEF._coarsen(graph, before, 0)
    label = np.arange(256)
    for step in labels:
        label = step[label]
    assert len(graphs[-1].weight) < 64
    assert graphs[-1].weight.sum() == 256
    assert (region[label] == before).all()


def test_mixed_up_cliques_are_put_together():
    """Tests four cliques on four nodes, of which two are mixed up."""
    graph = graph_of(nx.disjoint_union_all([nx.complete_graph(8)] * 4))
    regions, home = Regions(1.0 - np.eye(4), np.full(4, 8)), np.arange(32) // 8
    before = np.where(home < 2, np.arange(32) % 2, home)
    assert measure(graph, regions, VCycle().improve(graph, regions, before, 0, bool)) == 0.0


def test_a_stop_gives_what_was_there_before():
    """Tests stops after any number of questions."""
    graph, regions, before = draw(5)
    assert BRIEF.improve(graph, regions, before, 0, lambda: True) is before
    for most in range(0, 40, 3):
        asked = iter(range(10**6))
        found = BRIEF.improve(graph, regions, before, 0, lambda limit=most, asked=asked: next(asked) >= limit)
        assert measure(graph, regions, found) <= measure(graph, regions, before)


def test_same_seed_same_regions():
    """Tests that nothing but the seed decides."""
    graph, regions, before = draw(11)
    found = [BRIEF.improve(graph, regions, before, seed, bool) for seed in (1, 1)]
    assert (found[0] == found[1]).all()


def test_chains_of_regions_make_sizes_exact():
    """Tests a path on a line of regions of which the first holds too much and the last has room."""
    graph = graph_of(nx.path_graph(40))
    away = np.abs(np.subtract.outer(np.arange(4), np.arange(4))).astype(float)
    region = np.repeat(np.arange(4), [13, 10, 10, 7])
    assert fit_regions(graph, Regions(away, np.full(4, 10)), region, 64)
    assert (region == np.arange(40) // 10).all()
    assert not fit_regions(graph, Regions(away, np.full(4, 9)), region, 64)


def test_pairs_of_which_neither_has_changed_stay():
    """Tests that a bad way is left as it is unless a region is said to have changed."""
    graph, regions = graph_of(nx.path_graph(8)), Regions(1.0 - np.eye(2), np.full(2, 4))
    region = np.arange(8) % 2
    refine_pairs(graph, regions, region, np.zeros(2, bool), 0)
    assert (region == np.arange(8) % 2).all()
    refine_pairs(graph, regions, region, np.ones(2, bool), 0)
    assert measure(graph, regions, region) == 1.0


@pytest.mark.slow
def test_bug_a_cycle_that_gains_nothing_changed_what_followed():
    """Tests that a path, which is cut as well as can be, is mapped as without; random numbers went on elsewhere."""
    problem = problem_of(nx.path_graph(512), "tree:4x4x4@1,10,100", slots=8)
    inst, kinds = instance_of(problem), (MultilevelParams(v_cycle=None), MultilevelParams())
    places = [dissect(problem, inst, params, 0, bool) for params in kinds]
    assert (places[0] == places[1]).all()


def test_a_cycle_that_gains_is_run_again_after_pairs(monkeypatch):
    """Tests a triangulated grid, by whether each cycle of its first regions has changed these."""
    gained, improve = [], VCycle.improve

    def note(cycle, graph, regions, before, seed, stop):
        found = improve(cycle, graph, regions, before, seed, stop)
        gained.append(bool((found != before).any()))
        return found

    monkeypatch.setattr(VCycle, "improve", note)
    problem = problem_of(nx.triangular_lattice_graph(24, 47), "tree:8x4@1,100", slots=20)
    places = dissect(problem, instance_of(problem), MultilevelParams(), 0, bool)
    # The first eight regions are the only ones that are few, and the first of two cycles gains.
    assert gained[0]
    assert len(gained) == 2
    assert not violations(problem, places)


@pytest.mark.parametrize("volume", [5e-324, 1e290])
def test_extreme_volumes_keep_the_seats(volume):
    """Tests denormal and huge traffic, where changes and temperatures underflow or overflow."""
    graph, regions, before = draw(8)
    graph = graph._replace(flow=np.full(len(graph.flow), volume))
    found = BRIEF.improve(graph, regions, before, 0, bool)
    assert (np.bincount(found, minlength=len(regions.slots)) <= regions.slots).all()
    assert measure(graph, regions, found) <= measure(graph, regions, before)


@pytest.mark.slow
def test_annealing_cuts_a_mesh_better_than_pairs_alone():
    """Tests a triangulated grid on a tree, by two seeds."""
    problem = problem_of(nx.triangular_lattice_graph(32, 63), "tree:8x4@1,100", slots=36)
    costs = []
    for params in (MultilevelParams(v_cycle=None), MultilevelParams()):
        search, start = Multilevel(params), launch_order(problem)
        places = [search.search(problem, start, effort=1, seed=seed, stop=bool).places for seed in (0, 1)]
        costs.append(sum(cost_of(problem, found).total for found in places))
    assert costs[1] < costs[0]
