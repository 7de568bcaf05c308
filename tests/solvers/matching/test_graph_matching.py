"""Tests of mapping task graphs as parts of the hardware's graph."""

import time

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.objectives.cost import cost_of, violations
from tiger.run.deadline import Deadline
from tiger.solvers.matching import graph_matching
from tiger.solvers.matching.graph_matching import GraphMatching, PartialPrice, applies
from tiger.solvers.matching.growth import Growth
from tiger.solvers.matching.neighbourhoods import Neighbourhoods
from tiger.solvers.matching.partial_matching import MatchingParams, SeedNursery
from tiger.topologies.spec import build

FAMILIES = {
    "grid": nx.grid_2d_graph(6, 7),
    "torus": nx.grid_graph((4, 3, 3), periodic=True),
    "cubic": nx.random_regular_graph(3, 60, seed=5),
    "quartic": nx.random_regular_graph(4, 100, seed=5),
    "tree": nx.random_labeled_tree(85, seed=5),
    "cube": nx.hypercube_graph(6),
}


def _pose(graph: nx.Graph, moved: int, seed: int, **terms: object) -> tuple[Problem, float]:
    """Return a graph onto itself, shuffled, with some edges moved, and the cost with every vertex at its place."""
    rng = np.random.default_rng(seed)
    hardware = nx.convert_node_labels_to_integers(graph, ordering="sorted")
    tasks, n = hardware.copy(), len(hardware)
    edges = list(tasks.edges)
    tasks.remove_edges_from([edges[k] for k in rng.choice(len(edges), moved, replace=False)])
    while tasks.number_of_edges() < len(edges):
        tasks.add_edge(*rng.choice(n, 2, replace=False).tolist())
    distance = nx.floyd_warshall_numpy(hardware)
    ends, order, names = np.array(tasks.edges), rng.permutation(n), tuple(map(str, range(n)))
    row, col = order[ends].T
    traffic = sp.csr_array((np.ones(len(ends)), (row, col)), shape=(n, n))
    topology = Topology(names=names, metric=DenseMetric(distance))
    problem = Problem(
        tasks=TaskGraph(names=names, traffic=traffic),
        topology=topology,
        rule="one-to-one",
        **{key: value(order) for key, value in terms.items()},
    )
    return problem, float(distance[ends[:, 0], ends[:, 1]].sum())


def _cost(problem: Problem, params: MatchingParams | None = None) -> float:
    """Return what the search finds from the identity."""
    search = GraphMatching() if params is None else GraphMatching(params)
    found = search.search(problem, np.arange(problem.tasks.size), effort=1, seed=0, stop=bool)
    assert violations(problem, found.places) == ()
    return cost_of(problem, found.places).total


@pytest.mark.parametrize("name", FAMILIES)
def test_a_graph_lies_on_itself(name: str) -> None:
    """Every edge costs one, which is the optimum."""
    problem, planted = _pose(FAMILIES[name], 0, 1)
    assert _cost(problem) == planted == problem.tasks.traffic.nnz


@pytest.mark.parametrize("name", ["grid", "torus", "cubic", "quartic", "cube"])
def test_with_edges_moved_it_lies_almost_on_itself(name: str) -> None:
    """A twentieth of the edges moved costs no more than with every vertex at its place."""
    graph = FAMILIES[name]
    problem, planted = _pose(graph, graph.number_of_edges() // 20, 3)
    assert _cost(problem) <= planted


@pytest.mark.parametrize(("family", "seed"), [("cubic", 25), ("quartic", 7)])
def test_bug_one_try_missed_what_others_found(family: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs with a twentieth of the edges moved, which no other place of the vertices makes cheaper."""
    problem, planted = _pose(FAMILIES[family], FAMILIES[family].number_of_edges() // 20, seed)
    assert _cost(problem) <= planted
    for name in ("FEWEST_TRIES", "TRIES"):
        monkeypatch.setattr(graph_matching, name, 1)
    assert _cost(problem) > planted


def test_bug_growth_followed_edges_that_had_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heavy hexagons grow back ear by ear, and not vertex by vertex, as their cycles are long."""
    links, lattice = build("heavy-hex:7").links, nx.empty_graph(115)
    assert links is not None
    lattice.add_edges_from(np.stack([links.u, links.v], axis=1).tolist())
    problem, planted = _pose(lattice, lattice.number_of_edges() // 20, 5)
    assert _cost(problem) <= planted
    monkeypatch.setattr(graph_matching, "EAR_TRY", -1)
    assert _cost(problem) > 1.2 * planted


@pytest.mark.parametrize("moved", [0, 1])
def test_plain_kernels_find_the_same(moved: int, request: pytest.FixtureRequest) -> None:
    """The Petersen graph with or without an edge moved."""
    problem, _ = _pose(nx.petersen_graph(), moved, 3)
    compiled = _cost(problem, MatchingParams(fewest=1))
    request.getfixturevalue("uncompiled")
    assert _cost(problem, MatchingParams(fewest=1)) == compiled


def test_pins_and_forbidden_pairs_hold() -> None:
    """One task is kept from its place, another one is pinned there."""
    terms = {
        "pinned": lambda order: {str(order[0]): "0"},
        "forbidden": lambda order: [(str(order[7]), "7")],
    }
    problem, planted = _pose(FAMILIES["tree"], 0, 1, **terms)
    start = np.arange(85)
    node = problem.pins[problem.pins >= 0][0]
    task = int(np.flatnonzero(problem.pins >= 0)[0])
    start[[task, node]] = start[[node, task]]
    banned = problem.banned[0]
    if start[banned[0]] == banned[1]:
        other = (banned[0] + 1) % 85
        start[[banned[0], other]] = start[[other, banned[0]]]
    found = GraphMatching().search(problem, start, effort=1, seed=0, stop=bool).places
    assert violations(problem, found) == ()
    assert cost_of(problem, found).total < 2 * planted


def test_bug_several_tasks_waited_for_one_node() -> None:
    """Three tasks fit on nodes 0, 10 and 23 of a path alone; a path of 21 leaves one or two of them."""
    names, turn = tuple(map(str, range(24))), np.random.default_rng(1).permutation(21)
    memory, room = np.repeat([1, 2], [21, 3]), np.ones(24, np.int64)
    room[[0, 10, 23]] = 2
    traffic = sp.csr_array((np.ones(20), (turn[:-1], turn[1:])), shape=(24, 24))
    topology = Topology(names=names, metric=build("grid:24").metric, memory=room)
    tasks = TaskGraph(names=names, traffic=traffic, memory=memory)
    problem = Problem(tasks=tasks, topology=topology, rule="one-to-one")
    start = np.concatenate([np.flatnonzero(room == 1), np.flatnonzero(room == 2)])
    found = GraphMatching().search(problem, start, effort=1, seed=0, stop=bool).places
    assert violations(problem, found) == ()
    assert cost_of(problem, found).total == 18 + 2 + 1


def test_bug_what_made_room_was_taken_for_perfect() -> None:
    """A ring lies on a ring, but a task that may not have the node left takes one of them, for 18 + 2 + 2."""
    ring, names = nx.floyd_warshall_numpy(nx.cycle_graph(20)), tuple(map(str, range(21)))
    distance = np.full((21, 21), 9.0)
    distance[:20, :20], distance[20, 20] = ring, 0.0
    distance[[4, 6], 20] = distance[20, [4, 6]] = 2.0
    turn = np.random.default_rng(1).permutation(20)
    traffic = sp.csr_array((np.ones(20), (turn, np.roll(turn, 1))), shape=(21, 21))
    problem = Problem(
        tasks=TaskGraph(names=names, traffic=traffic),
        topology=Topology(names=names, metric=DenseMetric(distance)),
        rule="one-to-one",
        forbidden=[("20", "20")],
    )
    found = GraphMatching().search(problem, np.roll(np.arange(21), 1), effort=1, seed=0, stop=bool).places
    assert violations(problem, found) == ()
    assert cost_of(problem, found).total == 22


def test_pins_hold_where_another_isomorphism_is_found_first() -> None:
    """A torus has one for every node that a task may be pinned to; at least one of three pins is not of the first."""
    first = GraphMatching().search(_pose(FAMILIES["torus"], 0, 1)[0], np.arange(36), effort=1, seed=0, stop=bool).places
    different = 0
    for task in (0, 7, 20):
        pin = {"pinned": lambda order, task=task: {str(order[task]): str(task)}}
        problem, planted = _pose(FAMILIES["torus"], 0, 1, **pin)
        pinned = int(np.flatnonzero(problem.pins >= 0)[0])
        start = np.arange(36)
        start[[pinned, task]] = start[[task, pinned]]
        found = GraphMatching().search(problem, start, effort=1, seed=0, stop=bool).places
        assert violations(problem, found) == ()
        assert cost_of(problem, found).total == planted
        different += first[pinned] != task
    assert different


def test_a_part_of_the_hardware_is_found() -> None:
    """A ring of 30 in a torus of 36."""
    torus = nx.convert_node_labels_to_integers(FAMILIES["torus"])
    distance = nx.floyd_warshall_numpy(torus)
    turn, names = np.random.default_rng(1).permutation(30), tuple(map(str, range(36)))
    traffic = sp.csr_array((np.ones(30), (turn, np.roll(turn, 1))), shape=(30, 30))
    topology = Topology(names=names, metric=DenseMetric(distance))
    tasks = TaskGraph(names=names[:30], traffic=traffic)
    assert _cost(Problem(tasks=tasks, topology=topology, rule="one-to-one")) == 30


def test_bug_hops_were_measured_for_nothing_where_time_was_up() -> None:
    """What takes most of a short limit is of use for a whole embedding, which takes the least."""
    problem, planted = _pose(FAMILIES["quartic"], 0, 1)
    asked = iter([False])
    found = GraphMatching().search(problem, np.arange(100), effort=1, seed=0, stop=lambda: next(asked, True))
    assert cost_of(problem, found.places).total == planted


def test_bug_hops_took_all_of_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where less is left than they take, the start comes back at once; else a graph lies on itself."""
    problem, planted = _pose(FAMILIES["quartic"], 0, 1)
    monkeypatch.setattr(graph_matching, "PAIR_S", 1.0)
    for seconds, cost in ((100.0**2 + 60.0, planted), (100.0**2 - 1.0, None)):
        stop = Deadline(time.monotonic() + seconds)
        found = GraphMatching().search(problem, np.arange(100), effort=1, seed=0, stop=stop).places
        assert cost_of(problem, found).total == (cost or cost_of(problem, np.arange(100)).total)


def test_the_same_seed_finds_the_same() -> None:
    """Random numbers follow from the seed alone."""
    problem, _ = _pose(FAMILIES["cubic"], 8, 4)
    first, second = (
        GraphMatching().search(problem, np.arange(60), effort=1, seed=3, stop=bool).places for _ in range(2)
    )
    assert (first == second).all()


def test_what_cannot_fit_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A star does not lie on a ring, as degrees show; a clique is not sparse, and directions differ nowhere."""
    star, ring = nx.star_graph(29), nx.cycle_graph(30)
    names = tuple(map(str, range(30)))
    traffic = nx.to_scipy_sparse_array(star, dtype=float, format="csr")
    topology = Topology(names=names, metric=DenseMetric(nx.floyd_warshall_numpy(ring)))
    problem = Problem(
        tasks=TaskGraph(names=names, traffic=sp.csr_array(sp.triu(traffic))), topology=topology, rule="one-to-one"
    )
    monkeypatch.setattr(graph_matching, "Neighbourhoods", None)
    assert applies(problem)
    assert GraphMatching().search(problem, np.arange(30), effort=1, seed=0, stop=bool).places.tolist() == list(
        range(30)
    )
    clique = sp.csr_array(np.triu(np.ones((30, 30)), 1))
    dense = Problem(tasks=TaskGraph(names=names, traffic=clique), topology=topology, rule="one-to-one")
    assert not applies(dense)


def test_tasks_without_a_place_cost_the_mean() -> None:
    """A path of three on a path of three nodes: one edge known, one at the mean distance of 8/9."""
    path = nx.path_graph(3)
    names = ("a", "b", "c")
    traffic = sp.csr_array(np.array([[0.0, 1, 0], [0, 0, 9], [0, 0, 0]]))
    topology = Topology(names=names, metric=DenseMetric(nx.floyd_warshall_numpy(path)))
    problem = Problem(tasks=TaskGraph(names=names, traffic=traffic), topology=topology, rule="one-to-one")
    assert PartialPrice(problem)(np.array([0, 2, -1])) == pytest.approx(2 + 9 * 8 / 9)


def test_bug_hops_between_all_of_many_nodes_filled_the_memory() -> None:
    """A ring of 20 tasks is looked for on 2,500 nodes, and not on 3,600, however few its tasks are."""
    ring = sp.csr_array((np.ones(20), (np.arange(20), np.roll(np.arange(20), 1))), shape=(20, 20))
    tasks = TaskGraph(names=tuple(map(str, range(20))), traffic=ring)
    few, many = (Problem(tasks=tasks, topology=build(f"grid:{n}x{n}"), rule="one-to-one") for n in (50, 60))
    assert applies(few)
    assert not applies(many)


@pytest.mark.parametrize(
    ("patterns", "count", "used", "kept", "hopeless"),
    [
        (1, 4, 10**6, 39, True),
        (1, 4, 10**6, 41, False),
        (1, 4, 300, 0, False),
        (10, 9, 10**6, 74, False),
        (10, 10, 10**6, 74, True),
        (10, 10, 10**6, 76, False),
        (9, 0, 0, 0, False),
        (10, 0, 0, 0, True),
    ],
)
def test_what_keeps_few_edges_is_given_up(patterns: int, count: int, used: int, kept: int, hopeless: object) -> None:
    """A ring of 100: 40 of its edges after four seeds of enough work, 75 after ten, and places of ten patterns."""
    ring = Neighbourhoods.of(np.array(nx.cycle_graph(100).edges), 100)
    empty = Growth.of(np.ones((100, 100), np.bool_), ring)
    nursery = SeedNursery(guest=ring, target=ring, empty=empty, price=lambda _: 0.0, params=MatchingParams())
    nursery.count, nursery.used, nursery.kept = count, used, kept
    assert nursery.is_hopeless(patterns) == hopeless


def test_by_ears_what_takes_little_is_not_given_up() -> None:
    """Many seeds that end soon, and then the work of ten."""
    ring = Neighbourhoods.of(np.array(nx.cycle_graph(100).edges), 100)
    empty, params = Growth.of(np.ones((100, 100), np.bool_), ring), MatchingParams().for_ears()
    nursery = SeedNursery(guest=ring, target=ring, empty=empty, price=lambda _: 0.0, params=params)
    nursery.count, nursery.used = 1000, 10 * params.seed_work * 100 - 1
    assert not nursery.is_hopeless(60)
    nursery.used += 1
    assert nursery.is_hopeless(60)
