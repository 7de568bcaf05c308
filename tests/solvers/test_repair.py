"""Tests of repairing what breaks memory or forbidden pairs."""

import numpy as np
import pytest

from tiger.objectives.cost import violations
from tiger.solvers import repair
from tiger.solvers.instance import instance_of, state_of


@pytest.fixture(params=[True, False], ids=["compiled", "plain"])
def _either(request, monkeypatch, plain):
    """Run the kernels as plain Python, or as they are."""
    for name, kernel in vars(repair).copy().items() if not request.param else ():
        if hasattr(kernel, "py_func"):
            monkeypatch.setattr(repair, name, kernel.py_func)


def repair_mapping(problem, places, stop=bool):
    """Return what becomes of a mapping."""
    return repair.repair_mapping(problem, instance_of(problem), places, stop)


@pytest.mark.usefixtures("_either")
@pytest.mark.parametrize("rule", ["one-to-one", "capacity"])
def test_what_is_repaired_is_feasible(rule, random_problem, random_feasible):
    """Tests feasible mappings whose tasks have been shuffled among the nodes in use, pins aside."""
    found = 0
    for seed in range(12):
        problem = random_problem(rule, seed, pins=seed % 2 == 0, forbidden=True, memory=seed % 3 > 0)
        rng = np.random.default_rng(seed)
        places = random_feasible(problem, rng)
        places[problem.free] = rng.permutation(places[problem.free])
        better = repair_mapping(problem, places)
        if better is not None:
            found += 1
            assert not violations(problem, better)
    assert found >= 6


def test_nothing_amiss_is_left_as_it_is(random_problem, random_feasible):
    """Tests a feasible mapping with limits, and any without."""
    for limits in ({"forbidden": True, "memory": True}, {}):
        problem = random_problem("capacity", 5, **limits)
        places = random_feasible(problem, np.random.default_rng(0))
        assert (repair_mapping(problem, places) == places).all()


def test_no_time_no_repair(random_problem, random_feasible, monkeypatch):
    """Tests a stop, and a scan that is too long, where forbidden pairs are used."""
    problem = random_problem("one-to-one", 7, forbidden=True)
    places = random_feasible(problem, np.random.default_rng(0))
    task, node = problem.banned[0]
    places[places == node] = places[task]
    places[task] = node
    assert repair_mapping(problem, places, stop=lambda: True) is None
    monkeypatch.setattr(repair, "SCANS", 0)
    assert repair_mapping(problem, places) is None


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["one-to-one", "levels", "capacity"])
def test_bug_misplaced_tasks_are_found_together(rule, random_problem, random_feasible):
    """Tests that the tasks found, at a fraction of the time, are those that the kernel for one task finds."""
    for seed in range(20):
        problem = random_problem(rule, seed, pins=seed % 2 == 0, forbidden=seed % 4 > 0, memory=seed % 3 > 0)
        rng = np.random.default_rng(seed)
        places = rng.permutation(random_feasible(problem, rng))
        inst, state = instance_of(problem), state_of(problem, places)
        alone = [t for t in problem.free.tolist() if repair.is_misplaced(inst, state, t)]
        assert repair._find_misplaced(problem, inst, state).tolist() == alone
