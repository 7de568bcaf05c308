"""Tests of the incumbent of a mapping problem."""

import math
import time
from unittest import mock

import numpy as np
import pytest

from tiger.run.deadline import Deadline
from tiger.run.mapping import MappingIncumbent


def run_of(problem, places, **fields):
    """Return a run that starts from places and keeps what it announces."""
    seen = []
    return MappingIncumbent(
        problem=problem, solution=np.array(places), stop=Deadline(None), watch=seen.append, **fields
    ), seen


def test_cheaper_mappings_become_the_incumbent(path_problem):
    """Tests that 7 replaces 9, and 8 does not replace 7."""
    run, _ = run_of(path_problem, [0, 2, 1])
    assert run.cost == 9
    assert run.offer(np.array([0, 1, 2]))
    assert not run.offer(np.array([1, 0, 2]))
    assert (run.cost, run.places.tolist()) == (7, [0, 1, 2])


def test_a_run_ends_at_its_bound_or_by_proof(path_problem):
    """Tests the reasons to stop."""
    run, _ = run_of(path_problem, [0, 1, 2])
    assert not run.ended
    assert run.target == -math.inf
    run.bound = 7.0
    assert run.optimal
    assert run.ended
    assert run.target >= 7
    other, _ = run_of(path_problem, [0, 1, 2])
    other.proved = True
    assert other.ended


def test_a_stage_is_announced_timed_and_recorded(path_problem, monkeypatch):
    """Tests name, cost at its end, figures and seconds."""
    run, seen = run_of(path_problem, [0, 2, 1])
    monkeypatch.setattr("tiger.run.incumbent.time", mock.Mock(perf_counter=iter([1.0, 3.5]).__next__))
    with run.stage("search", 0.5) as detail:
        detail["effort"] = 3
        run.offer(np.array([0, 1, 2]))
    assert [(p.stage, p.fraction, p.cost) for p in seen] == [("search", 0.5, 9)]
    (stage,) = run.stages
    assert (stage.name, stage.cost, dict(stage.detail)) == ("search", 7, {"effort": 3})
    assert stage.seconds == 2.5


def test_a_stage_has_gained_if_it_lowered_the_cost_last_time(path_problem):
    """Tests a stage that has not run, gained, and then did not."""
    run, _ = run_of(path_problem, [0, 2, 1])
    run.record("baseline", 0.0, {})
    gained = [run.has_gained("windows")]
    for places in ([0, 1, 2], [0, 2, 1]):
        with run.stage("windows"):
            run.offer(np.array(places))
        gained.append(run.has_gained("windows"))
    assert gained == [True, True, False]


def test_another_measure_decides_before_the_cost(path_problem):
    """Tests that the value falls first, then the cost, and that stages tell both."""
    run, _ = run_of(path_problem, [0, 1, 2], measure=lambda places: float(places[0]), bound=0.0)
    assert (run.value, run.cost, run.optimal, run.target) == (0.0, 7.0, True, 0.0)
    other, _ = run_of(path_problem, [2, 0, 1], measure=lambda places: float(places[0]))
    assert not other.offer(np.array([2, 0, 1]))
    assert other.offer(np.array([2, 1, 0]))
    assert (other.value, other.cost) == (2.0, 7.0)
    assert other.offer(np.array([0, 2, 1]))
    assert (other.value, other.cost) == (0.0, 9.0)
    with other.stage("anneal") as detail:
        detail["effort"] = 1
    assert dict(other.stages[0].detail) == {"value": 0.0, "effort": 1}


def test_mappings_that_violate_something_are_not_taken(path_problem):
    """Tests that a cheap mapping with two tasks on a node is refused."""
    run, _ = run_of(path_problem, [0, 1, 2])
    assert not run.offer(np.array([1, 1, 1]))
    assert run.cost == 7


def test_loading_is_no_part_of_a_solve(path_problem):
    """Tests that the end is put off by what loading took, and that it is counted."""
    run, _ = run_of(path_problem, [0, 2, 1])
    run.stop = Deadline(100.0)
    with run.loading():
        time.sleep(0.01)
    run.put_off(5.0)
    assert run.loading_s >= 5.01
    assert run.stop.at_s == pytest.approx(100.0 + run.loading_s)


def test_a_mapping_that_is_taken_is_evaluated_anew(path_problem):
    """Tests that a stated value does not count."""
    run, _ = run_of(path_problem, [0, 2, 1])
    assert not run.take(np.array([1, 1, 1]), 0.0)
    assert run.take(np.array([0, 1, 2]), 8.0)
    assert (run.value, run.cost) == (7, 7)
