"""Tests of compiled boundary moves, as plain Python against the definitions."""

import numpy as np
import pytest

from tiger.objectives.cost import cost_of
from tiger.solvers.annealing import boundary_annealing, cost_changes
from tiger.solvers.annealing.boundary import empty_boundary
from tiger.solvers.annealing.boundary_annealing import BoundarySchedule, Occupancy, csr_graph_of
from tiger.solvers.generator import seed_state
from tiger.solvers.instance import instance_of


@pytest.fixture(autouse=True)
def _plain(plain, monkeypatch):
    """Run this file's kernels as plain Python."""
    for module in (boundary_annealing,):
        for name, kernel in vars(module).copy().items():
            monkeypatch.setattr(module, name, getattr(kernel, "py_func", kernel))


def occupancy_of(problem, places):
    """Return the occupancy of a mapping with the nodes as the only tier."""
    inst, size = instance_of(problem), problem.topology.size
    load = np.bincount(places, minlength=size)[None]
    rank = np.where(problem.pins >= 0, -2, -1)
    used = np.zeros(size, np.int64)
    np.add.at(used, places, inst.memory)
    label, external = np.arange(size)[None], np.zeros(len(places), np.int64)
    return Occupancy(places.copy(), label, load, inst.slots[None], used, empty_boundary(rank, external))


def at_boundary(inst, places, pins):
    """Return the tasks with a neighbour on another node."""
    ends = np.repeat(np.arange(len(places)), np.diff(inst.indptr))
    cut = np.unique(ends[places[ends] != places[inst.indices]])
    return sorted(t for t in cut.tolist() if pins[t] < 0)


def schedule(temperatures, proposals, seed):
    """Return a schedule with an overload penalty of 1."""
    return BoundarySchedule(np.array(temperatures), np.ones(len(temperatures)), proposals, 0.25, seed_state(seed))


@pytest.mark.slow
@pytest.mark.parametrize("hardware", ["grid", "torus", "tree"])
def test_the_change_is_that_of_the_cost(hardware, random_problem, random_feasible):
    """Tests every move of every task, self-loops and prices included."""
    for seed in range(3):
        problem = random_problem("capacity", seed, hardware=hardware)
        inst, places = instance_of(problem), random_feasible(problem, np.random.default_rng(seed))
        before = cost_of(problem, places).total
        for t in range(problem.tasks.size):
            for q in range(problem.topology.size):
                other = places.copy()
                other[t] = q
                change = boundary_annealing.relocation_change(csr_graph_of(inst), places, t, q, -1)
                assert change == pytest.approx(cost_of(problem, other).total - before, abs=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_annealing_keeps_loads_and_boundaries(seed, random_problem, random_feasible):
    """Tests loads, memory, boundaries and the cost change after many moves."""
    problem = random_problem("capacity", seed, hardware="torus", pins=True, memory=seed % 2 == 0)
    inst, places = instance_of(problem), random_feasible(problem, np.random.default_rng(seed))
    occupancy, graph = occupancy_of(problem, places), csr_graph_of(inst)
    boundary_annealing.collect_boundary(graph, occupancy)
    change = boundary_annealing.anneal_boundary(inst, graph, occupancy, schedule((50.0, 5.0), 100, seed))
    again = occupancy_of(problem, occupancy.place)
    assert cost_changes.total(inst, occupancy.place) - cost_changes.total(inst, places) == pytest.approx(
        change, abs=1e-6
    )
    assert (occupancy.load == again.load).all()
    assert (occupancy.used == again.used).all()
    assert sorted(occupancy.boundary.vertices[: occupancy.boundary.size[0]].tolist()) == at_boundary(
        inst, occupancy.place, problem.pins
    )
    assert (occupancy.place[problem.pins >= 0] == problem.pins[problem.pins >= 0]).all()


def test_an_empty_boundary_moves_nothing(path_problem):
    """Tests tasks that share one node."""
    inst = instance_of(path_problem)
    occupancy = occupancy_of(path_problem, np.zeros(3, np.int64))
    boundary_annealing.collect_boundary(csr_graph_of(inst), occupancy)
    assert boundary_annealing.anneal_boundary(inst, csr_graph_of(inst), occupancy, schedule((1.0,), 10, 0)) == 0.0
    assert occupancy.place.tolist() == [0, 0, 0]


def test_sizes_are_weighed_without_moving(path_problem):
    """Tests task a, which would save 2 hops to b and pay 1 to c, or stay."""
    inst, places, found = instance_of(path_problem), np.array([0, 2, 1]), np.empty(2)
    boundary_annealing.sample_changes(csr_graph_of(inst), places, np.array([0, 0]), np.array([2, 0]), found)
    assert found.tolist() == [abs(3 * -2 + 0), 0.0]
    assert places.tolist() == [0, 2, 1]
