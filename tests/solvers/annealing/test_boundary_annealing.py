"""Tests of compiled boundary moves, as plain Python against the definitions."""

import numpy as np
import pytest

from tiger.objectives.cost import cost_of
from tiger.solvers.annealing import boundary_annealing as boundary
from tiger.solvers.annealing import moves
from tiger.solvers.annealing.boundary_annealing import Crowd, web_of
from tiger.solvers.instance import instance_of


@pytest.fixture(autouse=True)
def _plain(plain, monkeypatch):
    """Run this file's kernels as plain Python."""
    for module in (boundary,):
        for name, kernel in vars(module).copy().items():
            monkeypatch.setattr(module, name, getattr(kernel, "py_func", kernel))


def crowd_of(problem, places):
    """Return the crowd of a mapping with the nodes as the only tier."""
    inst, size = instance_of(problem), problem.topology.size
    load = np.bincount(places, minlength=size)[None]
    rank = np.where(problem.pins >= 0, -2, -1)
    used = np.zeros(size, np.int64)
    np.add.at(used, places, inst.memory)
    tasks = len(places)
    label, apart = np.arange(size)[None], np.zeros(tasks, np.int64)
    return Crowd(
        places.copy(), label, load, inst.slots[None], used, np.empty(tasks, np.int64), np.zeros(1, int), rank, apart
    )


def border(inst, places, pins):
    """Return the tasks with a neighbour on another node."""
    ends = np.repeat(np.arange(len(places)), np.diff(inst.indptr))
    cut = np.unique(ends[places[ends] != places[inst.indices]])
    return sorted(t for t in cut.tolist() if pins[t] < 0)


@pytest.mark.parametrize("hardware", ["grid", "torus", "tree"])
def test_the_change_is_that_of_the_cost(hardware, random_problem, random_feasible):
    """Tests every move of every task, self-loops and prices included."""
    for seed in range(6):
        problem = random_problem("capacity", seed, hardware=hardware)
        inst, places = instance_of(problem), random_feasible(problem, np.random.default_rng(seed))
        before = cost_of(problem, places).total
        for t in range(problem.tasks.size):
            for q in range(problem.topology.size):
                other = places.copy()
                other[t] = q
                change = boundary.relocation_change(web_of(inst), places, t, q, -1)
                assert change == pytest.approx(cost_of(problem, other).total - before, abs=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_drift_keeps_books(seed, random_problem, random_feasible):
    """Tests loads, memory, boundaries and the cost change after many moves."""
    problem = random_problem("capacity", seed, hardware="torus", pins=True, memory=seed % 2 == 0)
    inst, places = instance_of(problem), random_feasible(problem, np.random.default_rng(seed))
    crowd, web = crowd_of(problem, places), web_of(inst)
    boundary.enlist(web, crowd)
    change = boundary.drift(inst, web, crowd, np.array([[50.0, 1.0], [5.0, 1.0]]), (100, seed))
    again = crowd_of(problem, crowd.place)
    assert moves.total(inst, crowd.place) - moves.total(inst, places) == pytest.approx(change, abs=1e-6)
    assert (crowd.load == again.load).all()
    assert (crowd.used == again.used).all()
    assert sorted(crowd.border[: crowd.listed[0]].tolist()) == border(inst, crowd.place, problem.pins)
    assert (crowd.place[problem.pins >= 0] == problem.pins[problem.pins >= 0]).all()


def test_an_empty_boundary_moves_nothing(path_problem):
    """Tests tasks that share one node."""
    inst = instance_of(path_problem)
    crowd = crowd_of(path_problem, np.zeros(3, np.int64))
    boundary.enlist(web_of(inst), crowd)
    assert boundary.drift(inst, web_of(inst), crowd, np.ones((1, 2)), (10, 0)) == 0.0
    assert crowd.place.tolist() == [0, 0, 0]


def test_sizes_are_weighed_without_moving(path_problem):
    """Tests task a, which would save 2 hops to b and pay 1 to c, or stay."""
    inst, places, found = instance_of(path_problem), np.array([0, 2, 1]), np.empty(2)
    boundary.sample_changes(web_of(inst), places, np.array([0, 0]), np.array([2, 0]), found)
    assert found.tolist() == [abs(3 * -2 + 0), 0.0]
    assert places.tolist() == [0, 2, 1]
