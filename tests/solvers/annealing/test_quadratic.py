"""Tests of problems as matrices and of mappings as permutations."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of, violations
from tiger.solvers.annealing.quadratic import applies, quadratic
from tiger.topologies.spec import build


def ring(tasks, topology, rule="one-to-one", **options):
    """Return a ring of tasks on a topology."""
    return Problem(tasks=task_graph_of(nx.cycle_graph(tasks)), topology=build(topology), rule=rule, **options)


@pytest.mark.parametrize(
    ("tasks", "topology", "expected"),
    [
        (16, "grid:4x4", True),
        (3, "grid:8x8", True),
        (40, "grid:9x9", False),
        (41, "grid:9x9", True),
        (256, "torus:16x16", True),
        (257, "torus:17x16", False),
    ],
)
def test_sizes_decide_whether_it_applies(tasks, topology, expected):
    """Tests few tasks, few nodes, and many."""
    assert applies(ring(tasks, topology)) is expected


def test_rules_and_pins_decide_whether_it_applies(random_problem):
    """Tests shared nodes, split hardware, and nothing left to move."""
    assert not applies(ring(4, "grid:2x2", "capacity"))
    assert not applies(random_problem("levels", 0))
    assert not applies(random_problem("one-to-one", 0, hardware="split"))
    assert not applies(ring(3, "ring:3", pinned={"0": "0", "1": "1"}))
    assert not applies(ring(3, "ring:4", pinned={"0": "0", "1": "1", "2": "2"}))
    assert applies(ring(3, "ring:4", pinned={"0": "0", "1": "1"}))


@pytest.mark.slow
def test_orders_and_places_are_inverse(random_problem, random_feasible):
    """Tests that a mapping survives the way there and back, at its cost."""
    for seed in range(20):
        problem = random_problem("one-to-one", seed, pins=True, forbidden=True, memory=True)
        model = quadratic(problem, launch_order(problem))
        places = random_feasible(problem, np.random.default_rng(seed))
        order = model.order(places)
        assert (model.places(order) == places).all()
        assert model.cost(order) == pytest.approx(cost_of(problem, places).total)


def test_mappings_that_are_not_allowed_have_no_order():
    """Tests a shared node, a pin that is not kept, and a forbidden pair."""
    problem = ring(4, "ring:5", pinned={"3": "3"}, forbidden=frozenset({("0", "2")}))
    model = quadratic(problem, np.array([0, 1, 2, 3]))
    assert model.order(np.array([0, 1, 2, 3])) is not None
    assert model.order(np.array([0, 0, 2, 3])) is None
    assert model.order(np.array([0, 1, 3, 2])) is None
    assert model.order(np.array([2, 1, 0, 3])) is None


def test_random_orders_are_feasible(random_problem):
    """Tests shuffles, and what lies between two of them."""
    for seed in range(20):
        problem = random_problem("one-to-one", seed, pins=seed % 2 == 0, forbidden=seed % 3 == 0, memory=seed % 4 == 0)
        model, rng = quadratic(problem, launch_order(problem)), np.random.default_rng(seed)
        one, other = (model.shuffle(model.order(model.start), rng) for _ in range(2))
        between = model.cross(one, other, rng)
        for order in (one, other, between):
            assert sorted(order) == list(range(model.window.shape[1]))
            assert not violations(problem, model.places(order))


def test_what_two_orders_share_stays():
    """Tests that tasks with the same node in both keep it, and that the way is neither empty nor complete."""
    model = quadratic(ring(20, "grid:4x5"), np.arange(20))
    rng = np.random.default_rng(0)
    one = np.arange(20)
    other = np.r_[0, 1, 2, rng.permutation(np.arange(3, 20))]
    between = model.cross(one, other, rng)
    assert between[:3].tolist() == [0, 1, 2]
    assert (between != one).any()
    assert (between != other).any()


@pytest.mark.parametrize("unit", [2.0**-300, 2.0**300])
def test_units_do_not_matter(unit):
    """Tests that matrices are the same in another unit of traffic and of work."""
    problem = ring(6, "grid:2x3")
    tasks = replace(problem.tasks, traffic=problem.tasks.traffic * unit, work=problem.tasks.work * unit)
    scaled = quadratic(Problem(tasks=tasks, topology=problem.topology, rule=problem.rule), np.arange(6)).fields
    plain = quadratic(problem, np.arange(6)).fields
    for name in ("flow", "distances", "bias"):
        assert (getattr(scaled, name) == getattr(plain, name)).all()
