"""Max link load as an objective: bounds, stress, and prices on busy links."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import tiger
from tiger.formats.files import read_topology
from tiger.model.metrics import DenseMetric, GridMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Links, Topology
from tiger.objectives import link_load as congestion
from tiger.objectives.link_load import MaxLinkLoad
from tiger.objectives.multipath import load_links
from tiger.objectives.shortest_paths import link_loads, routes_of


def aim(problem):
    """Return the aim of a problem."""
    return MaxLinkLoad(problem=problem, routes=routes_of(problem.topology))


def talking(volumes, topology, rule="one-to-one", **fields):
    """Return tasks that exchange these volumes on some hardware."""
    volumes = np.array(volumes, float)
    tasks = TaskGraph(names=tuple(f"t{k}" for k in range(len(volumes))), traffic=sp.csr_array(volumes))
    return Problem(tasks=tasks, topology=topology, rule=rule, **fields)


def line(*bandwidths, **fields):
    """Return nodes in a row with links of these bandwidths."""
    ends = np.arange(len(bandwidths))
    links = Links(u=ends, v=ends + 1, weight=np.ones(len(ends)), bandwidth=np.array(bandwidths, float))
    size = len(ends) + 1
    names = tuple(map(str, range(size)))
    return Topology(names=names, metric=GridMetric((size,), (False,)), links=links, **fields)


STAR = [[0, 3, 1, 2], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["one-to-one", "levels", "capacity"])
def test_the_value_is_the_metric(rule, random_problem, random_feasible):
    """Both are the largest load over bandwidth, and its link alone has stress 1."""
    for seed in range(12):
        problem = random_problem(rule, seed, hardware=("grid", "torus", "tree", "links")[seed % 4])
        places = random_feasible(problem, np.random.default_rng(seed))
        found, load = aim(problem), link_loads(problem, places).worst
        assert found.value(places) == load
        assert found.stress(places).max() == (1 if load else 0)


@pytest.mark.slow
@pytest.mark.parametrize("routing", ["equal", "weighted"])
def test_split_transfers_are_bounded(routing, random_problem, random_feasible):
    """The value is the load that the report states, and no mapping of some has a lower one than the bound."""
    tight = 0
    for seed in range(4):
        problem = random_problem("capacity", seed, hardware=("grid", "torus", "tree", "links")[seed % 4])
        found = MaxLinkLoad(problem=problem, routes=routes_of(problem.topology), routing=routing)
        mappings = [random_feasible(problem, np.random.default_rng([seed, k])) for k in range(5)]
        values = [found.value(places) for places in mappings]
        assert values[0] == load_links(problem, mappings[0], routing).worst
        assert min(values) >= found.bound()
        tight += found.bound() > 0
    assert tight


def test_split_transfers_between_two_corners_meet_the_bound():
    """Two ways of two links each: half of the traffic takes either, and both bounds say so."""
    square = Topology(names=tuple("abcd"), metric=GridMetric((2, 2), (False, False)))
    corners = talking([[0, 8], [0, 0]], square, pinned={"t0": "a", "t1": "d"})
    for routing, value in (("single", 8), ("equal", 4), ("weighted", 4)):
        found = MaxLinkLoad(problem=corners, routes=routes_of(square), routing=routing)
        assert found.value(np.array([0, 3])) == pytest.approx(value)
        assert found.bound() == pytest.approx(4)


@pytest.mark.long
@pytest.mark.parametrize("routing", ["single", "equal", "weighted"])
def test_gpus_that_talk_share_two_nvlinks(routing):
    """Whatever else carries a part, which is less than in the block order, where a pair has one; PCIe is for parts."""
    machine = read_topology(str(Path(__file__).resolve().parents[2] / "examples" / "nvlinks8.xml"))
    problem = talking(np.kron(np.eye(4), [[0, 100], [0, 0]]), machine)
    report = tiger.solve(problem, objective="max-link-load", routing=routing)
    assert report.objective.value == pytest.approx(report.metrics["max_link_load"])
    assert report.objective.bound <= report.objective.value <= 2.0
    assert report.objective.value < report.baseline_max_link_load
    assert any(link.b.startswith("pix") for link in report.links) == (routing == "weighted")


def test_stress_is_load_over_bandwidth():
    """On a row of three, 6 over 3 is less than 4 over 1."""
    found = aim(talking([[0, 2, 4], [0, 0, 0], [0, 0, 0]], line(3, 1)))
    assert found.stress(np.array([0, 1, 2])).tolist() == [0.5, 1.0, 0.0]


def test_what_leaves_a_node_bounds_its_links():
    """Six units leave the hub over one link, or over two; with wide links for two tasks the third has one link left."""
    hub = talking(STAR, Topology(names=tuple("abcd"), metric=TreeMetric((4,), (1.0,))))
    assert aim(hub).bound() == 6.0
    assert aim(talking(STAR, line(1, 1, 1))).bound() == 3.0
    assert aim(talking(STAR, line(1, 4, 1))).bound() == pytest.approx(2.0)


def test_tasks_of_other_levels_may_stay():
    """Under levels the largest of the hub's three stays with it, 1 and 2 leave; with two slots a node likewise."""
    assert aim(talking(STAR, line(1, 1, 1), "levels")).bound() == 2.0
    assert aim(talking(STAR, line(1, 1, 1, slots=[2, 2, 2, 2]), "capacity")).bound() == 2.0
    assert aim(talking(STAR, line(1, 1, 1, slots=[4, 2, 2, 2]), "capacity")).bound() == 0.0


def test_the_average_load_bounds_the_largest():
    """A ring of four that all talk to all needs eight crossings of four links."""
    every = np.triu(np.ones((4, 4)), 1)
    ring = Topology(names=tuple("abcd"), metric=GridMetric((4,), (True,)))
    assert aim(talking(every, ring)).bound() == 2.0
    assert aim(talking(every * 1.5, ring)).bound() == pytest.approx(3.0)


def test_bounds_without_traffic_or_links():
    """Nothing has to leave, and nothing can."""
    assert aim(talking(np.zeros((2, 2)), line(1))).bound() == 0.0
    apart = Topology.from_links(("x", "y"), Links.unit(np.zeros((0, 2))))
    assert aim(talking([[0, 1], [0, 0]], apart.with_slots([2, 2]), "capacity")).bound() == 0.0


@pytest.mark.slow
def test_the_surrogate_adds_prices_to_distances():
    """With one busy link of two, crossing it costs more; in all 0.3 times the distances are added."""
    found = aim(talking([[0, 1, 0], [0, 0, 1], [0, 0, 0]], line(1, 1)))
    table = found.surrogate(np.array([1.0, 0.5, 0.0])).topology.metric.table
    away = np.array([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert table.sum() == pytest.approx(1.3 * away.sum())
    assert (table[0, 1] - 1) == pytest.approx(2 * (table[1, 2] - 1))
    assert table[0, 2] == pytest.approx(table[0, 1] + table[1, 2])


def test_prices_alone_lead_where_distances_say_nothing():
    """Hardware whose distances are all 0 still has routes."""
    flat = Topology(names=("x", "y"), metric=TreeMetric((2,), (0.0,)))
    table = aim(talking([[0, 1], [0, 0]], flat)).surrogate(np.ones(2)).topology.metric.table
    assert table.tolist() == [[0, 2], [2, 0]]


def test_disconnected_parts_stay_apart():
    """Their distances remain infinite."""
    split = Topology.from_links(("x", "y", "z"), Links.unit([(0, 1)]))
    table = aim(talking([[0, 1], [0, 0]], split)).surrogate(np.ones(1)).topology.metric.table
    assert table.tolist() == [[0, 1.3, np.inf], [1.3, 0, np.inf], [np.inf, np.inf, 0]]


def test_large_hardware_has_no_surrogate(monkeypatch):
    """Above the limit there is no dense matrix; over plain links there are no routes for compiled code either."""
    monkeypatch.setattr(congestion, "DENSE_NODES", 2)
    grid, plain = aim(talking(STAR, line(1, 1, 1))), aim(talking(STAR, plain_line()))
    assert grid.surrogate(np.ones(4)) is plain.surrogate(np.ones(3)) is None
    assert (grid.arrays() is None, plain.arrays() is None) == (False, True)
    assert grid.bound() == 3.0


def plain_line():
    """Return four nodes in a row that are known by their links alone."""
    return Topology.from_links(tuple("abcd"), Links.unit([(0, 1), (1, 2), (2, 3)]))


def test_distances_that_are_not_those_of_the_links_do_not_matter():
    """The bound is by routes, however far apart a matrix says that nodes are."""
    plain = plain_line()
    far = Topology(names=plain.names, metric=DenseMetric(100.0 * plain.metric.table), links=plain.links)
    assert aim(talking(STAR, far)).bound() == aim(talking(STAR, plain)).bound() == 3.0
