"""Tests of starts that place level after level."""

import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.objectives.cost import cost_of, violations
from tiger.qubo.lookahead import assign_level, place_forward


@pytest.mark.slow
def test_forward_starts_are_feasible(random_problem):
    """Tests pins and forbidden pairs, level by level."""
    for seed in range(12):
        problem = random_problem("levels", seed, tasks=8, nodes=5, pins=True, forbidden=True)
        assert not violations(problem, place_forward(problem, launch_order(problem), 1, assign_level, bool))


def test_every_level_is_the_best_given_those_before(random_problem, brute_force):
    """Tests that with a single level the start is the optimum, and that later levels are not looked at."""
    seen = []

    def watch(window):
        seen.append((len(window.block.tasks), window.traffic.nnz))
        return assign_level(window)

    problem = random_problem("levels", 4, tasks=9, nodes=4)
    place_forward(problem, launch_order(problem), 1, watch, bool)
    assert [tasks for tasks, _ in seen] == [len(group) for group in problem.groups]
    assert all(links == 0 for _, links in seen)


def test_a_wider_span_sees_the_next_levels(random_problem):
    """Tests that windows hold the levels ahead, and that unsolved ones leave the mapping."""
    sizes = []

    def refuse(window):
        sizes.append(len(window.block.tasks))

    problem = random_problem("levels", 4, tasks=9, nodes=4)
    start = launch_order(problem)
    assert (place_forward(problem, start, 2, refuse, bool) == start).all()
    widths = [len(group) for group in problem.groups]
    assert sizes == [sum(widths[k : k + 2]) for k in range(len(widths))]


def test_later_levels_are_absent(path_problem, random_problem):
    """Tests that the first level is placed as if nothing followed: at its cheapest nodes."""
    problem = random_problem("levels", 7, tasks=8, nodes=5)
    first = []
    place_forward(
        problem, launch_order(problem), 1, lambda window: first.append(window.linear) or assign_level(window), bool
    )
    work = problem.tasks.work[problem.groups[0]]
    own = np.outer(work, problem.topology.cost[problem.topology.hosts])
    loops = problem.tasks.traffic.diagonal()[problem.groups[0]]
    hosts = problem.topology.hosts
    own += np.outer(loops, problem.metric.between(hosts, hosts))
    assert np.allclose(first[0][np.isfinite(first[0])], own[np.isfinite(first[0])])


@pytest.mark.slow
def test_the_start_costs_what_its_mapping_costs(random_problem):
    """Tests that exact levels in order are no worse than the launch order on most graphs."""
    better = 0
    for seed in range(10):
        problem = random_problem("levels", seed, tasks=9, nodes=4)
        start = launch_order(problem)
        forward = place_forward(problem, start, 1, assign_level, bool)
        better += cost_of(problem, forward).total <= cost_of(problem, start).total
    assert better >= 8


def test_time_that_is_up_leaves_the_mapping(random_problem):
    """Tests that no level is placed once told to stop."""
    problem = random_problem("levels", 4, tasks=9, nodes=4)
    start = launch_order(problem)
    assert (place_forward(problem, start, 1, assign_level, lambda: True) == start).all()
