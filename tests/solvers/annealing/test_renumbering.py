"""Tests of the order in which tasks are kept while they are refined."""

import numpy as np
import scipy.sparse as sp

from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.objectives.cost import cost_of
from tiger.solvers.annealing.renumbering import renumber, restore
from tiger.topologies.spec import build


def build_problem(seed):
    """Return 40 tasks with work, memory, loops and one pin on eight nodes, and places that keep the pin."""
    rng = np.random.default_rng(seed)
    names = tuple(f"task{k}" for k in range(40))
    traffic = sp.random_array((40, 40), density=0.1, rng=rng, format="csr")
    tasks = TaskGraph(names=names, traffic=traffic, work=rng.random(40), memory=rng.integers(1, 9, 40))
    topology = build("torus:4x2")
    problem = Problem(
        tasks=tasks,
        topology=topology.with_slots(np.full(8, 40)),
        rule="capacity",
        pinned={"task7": topology.names[3]},
    )
    places = rng.integers(8, size=40)
    places[7] = 3
    return problem, places, rng.permutation(40)


def test_a_renumbered_problem_has_the_same_costs():
    """Names, traffic, work, memory and pins all go where the order says."""
    for seed in range(20):
        problem, places, order = build_problem(seed)
        renumbered = renumber(problem, order)
        assert renumbered.tasks.names == tuple(problem.tasks.names[k] for k in order)
        assert np.isclose(cost_of(renumbered, places[order]).total, cost_of(problem, places).total, rtol=1e-12)
        assert (renumbered.tasks.memory == problem.tasks.memory[order]).all()
        assert (renumbered.pins == problem.pins[order]).all()


def test_places_are_restored():
    """What is renumbered and restored is as before."""
    _, places, order = build_problem(0)
    assert (restore(places[order], order) == places).all()
