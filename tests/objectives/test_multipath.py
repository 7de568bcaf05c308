"""Loads over several paths, against the linear program of all paths and splits worked out by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.multipath import draw_skewed, four_rails, least_load, nvlink_graph
from tiger.errors import InputError
from tiger.model.metrics import DenseMetric, GridMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Links, Topology
from tiger.objectives.multipath import split_equally, split_optimally
from tiger.objectives.shortest_paths import link_loads


def pose(topology, *entries):
    """Return a problem of traffic (u, v, volume), and every task on the node of its number."""
    row, col, volume = zip(*entries, strict=True)
    traffic = sp.csr_array((np.array(volume, float), (row, col)), shape=(topology.size, topology.size))
    tasks = TaskGraph(names=tuple(f"t{k}" for k in range(topology.size)), traffic=traffic)
    return Problem(tasks=tasks, topology=topology, rule="one-to-one"), np.arange(topology.size)


def name_nodes(metric):
    """Return hardware of a metric, without links of its own."""
    return Topology(names=tuple(f"n{k}" for k in range(metric.size)), metric=metric)


def link(*links, size=4):
    """Return hardware with links (u, v, length, bandwidth)."""
    u, v, weight, bandwidth = zip(*links, strict=True)
    joined = Links(u=u, v=v, weight=np.array(weight, float), bandwidth=np.array(bandwidth, float))
    return Topology.from_links(tuple(f"n{k}" for k in range(size)), joined)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("hardware", [nvlink_graph, four_rails])
def test_weighted_paths_reach_the_linear_program(hardware, seed):
    """Within 1 % of it, with a bound that does not pass it, and never above what one path or equal ones reach."""
    problem = draw_skewed(hardware(), seed)
    places, size = problem.topology.hosts, problem.topology.size
    volume = np.zeros((size, size))
    volume[np.ix_(places, places)] = problem.tasks.traffic.toarray()
    least, found = least_load(problem.topology, volume), split_optimally(problem, places)
    assert found.bound <= least * (1 + 1e-6) <= found.loads.worst * (1 + 2e-6) <= 1.0101 * least
    assert found.loads.worst <= split_equally(problem, places).worst * (1 + 1e-6)
    assert found.loads.worst <= link_loads(problem, places).worst * (1 + 1e-6)


@pytest.mark.long
@given(seed=st.integers(0, 2**32 - 1))
def test_weighted_paths_of_random_networks(seed):
    """Within 1 % of the linear program."""
    rng = np.random.default_rng(seed)
    ends = [(a, b) for a in range(6) for b in range(a) if b == a - 1 or rng.random() < 0.4]
    hardware = link(*((a, b, rng.integers(1, 4), rng.random() + 0.1) for a, b in ends), size=6)
    volume = np.where(rng.random((6, 6)) < 0.6, rng.pareto(1.0, (6, 6)), 0.0)
    volume[0, 5] += 1.0
    np.fill_diagonal(volume, 0)
    problem, places = pose(hardware, *((u, v, volume[u, v]) for u, v in np.argwhere(volume)))
    least, found = least_load(hardware, volume), split_optimally(problem, places)
    assert found.bound <= least * (1 + 1e-5)
    assert least * (1 - 1e-5) <= found.loads.worst <= 1.0101 * least


def test_equal_paths_split_at_every_node():
    """From corner to corner of a 3 x 3 grid both first links get a half, and their next ones a quarter each."""
    loads = split_equally(*pose(name_nodes(GridMetric((3, 3), (False, False))), (0, 8, 8)))
    found = {(link.a, link.b): link.load for link in loads.list_busiest(tuple("abcdefghi"), 20)}
    assert found["a", "b"] == found["a", "d"] == found["f", "i"] == found["h", "i"] == 4
    assert found["b", "c"] == found["b", "e"] == found["d", "e"] == found["e", "f"] == 2 == found["c", "f"]
    assert sum(found.values()) == 8 * 4


def test_longer_paths_carry_nothing_unless_weighted():
    """A short wide path beside a long narrow one: equal paths take the first alone, weighted ones both by bandwidth."""
    problem, places = pose(link((0, 1, 1, 3), (0, 2, 1, 1), (2, 3, 1, 1), (3, 1, 1, 1)), (0, 1, 8))
    assert split_equally(problem, places).worst == 8 / 3
    assert split_optimally(problem, places).loads.worst == pytest.approx(2.0)
    assert split_optimally(problem, places).bound == pytest.approx(2.0, rel=1e-6)


def test_trees_have_one_path():
    """Both answers are that of the one path, which is its own bound."""
    problem, places = pose(name_nodes(TreeMetric((2, 2), (1.0, 2.0))), (0, 3, 5), (1, 2, 4))
    found = split_optimally(problem, places)
    assert split_equally(problem, places).worst == found.loads.worst == found.bound == 9


def test_hardware_without_links_has_no_loads():
    """Nothing is said of it; nothing crosses links between disconnected parts, or without traffic."""
    problem, places = pose(name_nodes(DenseMetric(1 - np.eye(2))), (0, 1, 5))
    assert split_equally(problem, places) is None is split_optimally(problem, places)
    problem, places = pose(link((0, 1, 1, 1), (2, 3, 1, 1)), (0, 2, 5))
    assert split_equally(problem, places).worst == 0 == split_optimally(problem, places).loads.worst


def test_too_many_pairs_are_refused():
    """Tests the message, which states the number."""
    ends = [(u, v, 1) for u in range(33) for v in range(33) if u != v]
    with pytest.raises(InputError, match=r"^routing: expected at most 1024 pairs of nodes .*, got up to 1056$"):
        split_optimally(*pose(name_nodes(GridMetric((33,), (True,))), *ends))


def test_bug_equal_paths_went_back_over_short_links_for_ever():
    """Tests that nothing leaves for a neighbour so near that the way over it is as short within rounding."""
    problem, places = pose(link((0, 1, 1, 1), (1, 2, 1e-12, 1), (1, 3, 1e-12, 1)), (1, 0, 4.0), (3, 0, 1.0))
    assert split_equally(problem, places).load.tolist() == [5, 0, 1]
