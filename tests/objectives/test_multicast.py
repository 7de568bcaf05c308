"""The cost of multicasts against scipy's spanning trees and enumeration, its bound, and the search for it."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree

import tiger
from tiger.errors import InputError
from tiger.model.constraints import Constraints, build_problem
from tiger.model.hyperedges import Hyperedges
from tiger.model.metrics import DenseMetric, GridMetric, Metric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.sharing import Rule
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.objectives.multicast import Multicast, multicast_of, span_nodes
from tiger.topologies.spec import build

SEEDS = st.integers(0, 2**32 - 1)
SPECS = st.sampled_from(["torus:3x3", "grid:5", "tree:2x2@1,10", "hypercube:2", "fat-tree:2"])


def sets_of(tasks: int, seed: int, count: int = 6) -> TaskGraph:
    """Return tasks with random sets of random volume."""
    rng = np.random.default_rng(seed)
    sets = [rng.permutation(tasks)[: rng.integers(1, min(tasks, 5) + 1)] for _ in range(count)]
    hyperedges = Hyperedges(
        starts=np.cumsum([0, *map(len, sets)]),
        pins=np.concatenate(sets),
        volumes=rng.integers(0, 9, count).astype(float),
    )
    work = rng.integers(1, 4, tasks).astype(float)
    return TaskGraph.of_hyperedges(tuple(map(str, range(tasks))), hyperedges, work)


def recompute(problem: Problem, places: np.ndarray) -> float:
    """Return the cost of multicasts, tree by tree."""
    hyperedges = problem.tasks.hyperedges
    assert hyperedges is not None
    total = float((problem.tasks.work * problem.topology.cost[places]).sum())
    for k, volume in enumerate(hyperedges.volumes):
        nodes = np.unique(places[hyperedges.pins[hyperedges.starts[k] : hyperedges.starts[k + 1]]])
        total += volume * minimum_spanning_tree(problem.metric.between(nodes[:, None], nodes[None, :])).sum()
    return total


@given(spec=SPECS, seed=SEEDS)
def test_the_value_is_that_of_spanning_trees(spec: str, seed: int) -> None:
    """Each set pays for the tree of its nodes, once however many tasks are on them."""
    problem = build_problem(sets_of(8, seed), build(spec), Constraints(slots=8))
    places = np.random.default_rng(seed).choice(problem.topology.hosts, 8)
    assert multicast_of(problem).value(places) == pytest.approx(recompute(problem, places))


@pytest.mark.parametrize(
    "metric",
    [GridMetric((30, 20), (True, False), 2.5), GridMetric((600,), (False,)), TreeMetric((6, 10, 10), (0, 1.5, 9))],
)
@pytest.mark.parametrize("count", [2, 300, 600])
def test_bug_sets_on_many_nodes_are_measured_soon(metric: Metric, count: int) -> None:
    """Trees over links and levels have the length of those over all pairs; at 20,000 nodes these took 5 s each."""
    nodes = np.sort(np.random.default_rng(count).permutation(600)[:count])
    pairs = DenseMetric(metric.between(nodes[:, None], nodes[None, :]))
    assert span_nodes(metric, nodes[None]) == pytest.approx(span_nodes(pairs, np.arange(count)[None]))


@pytest.mark.parametrize("rule", ["one-to-one", "capacity"])
@given(spec=SPECS, seed=SEEDS)
def test_the_bound_is_below_every_mapping(rule: Rule, spec: str, seed: int) -> None:
    """By enumeration, with two slots or one."""
    topology = build(spec)
    hosts, tasks = topology.hosts.tolist()[: 4 if rule == "one-to-one" else 3], 2 if spec == "fat-tree:2" else 4
    terms = Constraints(rule=rule, slots=2) if rule == "capacity" else Constraints(rule=rule)
    problem = build_problem(sets_of(tasks, seed), topology.allocated([topology.names[p] for p in hosts]), terms)
    found = permutations(hosts, tasks) if rule == "one-to-one" else product(hosts, repeat=tasks)
    kept = [np.array(places) for places in found if rule == "one-to-one" or np.bincount(places).max() <= 2]
    objective = multicast_of(problem)
    assert objective.bound() <= min(objective.value(places) for places in kept)


@pytest.mark.parametrize(("spec", "bound"), [("torus:3x3", 2 * 5 + 3), ("tree:2x2@1,10", 11 * 5 + 3)])
def test_the_bound_spreads_sets_over_as_few_nodes_as_hold_them(spec: str, bound: float) -> None:
    """Sets of 3 and 2 tasks, one a node: in a tree the third is in the other half."""
    sets = Hyperedges(starts=np.array([0, 3, 5]), pins=np.array([0, 1, 2, 0, 3]), volumes=np.array([5.0, 3.0]))
    tasks = TaskGraph.of_hyperedges(("a", "b", "c", "d"), sets)
    problem = build_problem(tasks, build(spec), Constraints(slots=1))
    assert multicast_of(problem).bound() == pytest.approx(bound)


@pytest.mark.parametrize("seed", range(6))
def test_small_problems_are_solved_to_the_optimum(seed: int) -> None:
    """Five tasks on three nodes of a line with two slots, by enumeration."""
    problem = build_problem(sets_of(5, seed, count=4), build("grid:3"), Constraints(slots=2))
    objective = multicast_of(problem)
    kept = [np.array(places) for places in product(range(3), repeat=5) if np.bincount(places).max() <= 2]
    report = tiger.solve(problem, seed=1)
    assert report.objective is not None
    assert report.objective.value == min(objective.value(places) for places in kept)
    assert report.objective.name == "multicast"


def test_a_report_states_what_is_paid_once() -> None:
    """Loads of links are left out, as they would be those of pairs."""
    problem = build_problem(sets_of(40, 3, count=50), build("torus:2x4"), Constraints())
    report = tiger.solve(problem, seed=1)
    places = np.array([problem.topology.names.index(report.mapping[name]) for name in problem.tasks.names])
    assert report.objective is not None
    assert report.objective.value == pytest.approx(recompute(problem, places))
    assert report.objective.value < report.objective.baseline
    assert report.links == ()
    assert "max_link_load" not in report.metrics


def test_what_goes_by_pairs_is_refused() -> None:
    """Objectives, routing, and distances that depend on the direction."""
    tasks = sets_of(4, 1)
    problem = build_problem(tasks, build("torus:2x2"), Constraints())
    for name in ("max-link-load", "makespan", "ring"):
        with pytest.raises(InputError, match="objective: expected cost or multicast"):
            tiger.solve(problem, objective=name)
    with pytest.raises(InputError, match="routing: expected single"):
        tiger.solve(problem, routing="equal")
    with pytest.raises(InputError, match="objective: expected tasks with hyperedges"):
        tiger.assign("ring:4", "torus:2x2", objective="multicast")
    table = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
    skew = Topology(names=("x", "y", "z"), metric=DenseMetric(table), slots=np.full(3, 2))
    with pytest.raises(InputError, match="topology: expected distances that are the same both ways"):
        tiger.solve(build_problem(tasks, skew, Constraints()))


def test_stress_is_the_share_of_a_set() -> None:
    """The most expensive one has 1, and sets on one node 0."""
    sets = Hyperedges(starts=np.array([0, 2, 4]), pins=np.array([0, 1, 2, 3]), volumes=np.array([5.0, 3.0]))
    tasks = TaskGraph.of_hyperedges(("a", "b", "c", "d"), sets)
    problem = build_problem(tasks, build("grid:2"), Constraints(slots=4))
    objective = Multicast(problem=problem, hyperedges=sets)
    assert objective.stress(np.array([0, 1, 0, 0])).tolist() == [1, 0]
    assert objective.stress(np.zeros(4, np.int64)).tolist() == [0, 0]
