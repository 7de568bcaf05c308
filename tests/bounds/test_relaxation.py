"""Tests of the projected eigenvalue bound and of the dual ascent on pairs of placements."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from tiger.bounds import relaxation
from tiger.bounds.lower_bound import rearrangement_bound
from tiger.bounds.relaxation import (
    ascend,
    assignment,
    count_window_slots,
    expand_slots,
    projected_bound,
    projection,
    sharpen,
)
from tiger.feasibility.start import launch_order
from tiger.model.window import fold, whole


@pytest.fixture
def square(random_problem, brute_force):
    """Return a window of five tasks on five nodes of a grid, and the cost of its best mapping."""
    problem = random_problem("one-to-one", 4, tasks=5, nodes=5, hardware="grid")
    cost, places = brute_force(problem)
    return fold(problem, whole(problem), places), cost


@pytest.mark.slow
def test_seats_count_the_smallest_tasks_that_fit(random_problem):
    """Tests slots and memory against adding one task after another."""
    for seed in range(20):
        problem = random_problem("capacity", seed, memory=True)
        window = fold(problem, whole(problem), launch_order(problem))
        for node, count in enumerate(count_window_slots(window)):
            held = [np.sort(c.load)[:count].sum() <= c.room[node] for c in window.capacities]
            more = [np.sort(c.load)[: count + 1].sum() <= c.room[node] for c in window.capacities]
            assert all(held)
            assert count == window.shape[0] or not all(more)


def test_seats_are_copies_of_their_nodes(random_problem):
    """Tests that a mapping onto slots costs what it costs on the nodes."""
    problem = random_problem("capacity", 3, tasks=6, nodes=4)
    places = launch_order(problem)
    window = fold(problem, whole(problem), places)
    spread = expand_slots(window)
    slot = np.array([np.flatnonzero(spread.block.nodes == place)[0] for place in places])
    assert spread.cost(slot) == pytest.approx(window.cost(window.local(places)))
    assert expand_slots(spread) is spread


def test_no_diagonal_lifts_the_projected_bound_above_the_optimum(square):
    """Tests the bound for random shifts of the diagonal."""
    window, cost = square
    frame, rng = projection(window), np.random.default_rng(0)
    for _ in range(200):
        shift = rng.normal(0, 10, len(frame.sums))
        near = np.linalg.eigvalsh(relaxation._centre(frame.traffic - np.diag(shift)))[:-1]
        assert frame.bound(near, shift)[0] <= cost


def test_the_projected_spectrum_leaves_out_the_vector_of_ones():
    """Tests the eigenvalues against those of a projection onto an orthonormal basis."""
    matrix = np.random.default_rng(1).normal(size=(7, 7))
    matrix += matrix.T
    basis = np.linalg.svd(np.ones((1, 7)))[2][1:]
    found = np.linalg.eigvalsh(relaxation._centre(matrix))[:-1]
    assert found == pytest.approx(np.linalg.eigvalsh(basis @ matrix @ basis.T))


def test_ascent_over_diagonals_gains(square):
    """Tests that more steps give no lower a bound, and more than the best of the three first diagonals."""
    window, cost = square
    climb = [sharpen(window, cost, iterations) for iterations in (1, 4, 16, 64)]
    assert climb == sorted(climb)
    assert projected_bound(window) < climb[-1] <= cost


def test_the_first_step_of_the_dual_ascent_is_the_bound_of_gilmore_and_lawler(square):
    """Tests the assignment of half of the rearranged traffic, and that further steps give more."""
    window, cost = square
    first = window.constant + assignment(window.linear + rearrangement_bound(window, worst=False) / 2)[0]
    assert ascend(window, 0.0, cost, 1) == pytest.approx(first)
    assert first < ascend(window, 0.0, cost, 16) <= cost


def test_the_dual_ascent_gives_up_on_a_floor_out_of_reach(square, monkeypatch):
    """Tests that it ends as soon as its pace is too slow."""
    window, cost = square
    calls = []
    duals = relaxation._duals
    monkeypatch.setattr(relaxation, "_duals", lambda costs: calls.append(1) or duals(costs))
    ascend(window, cost, cost, 1000)
    assert len(calls) < 200


def test_ascents_end_when_they_are_told_to(square):
    """Tests that nothing is claimed that was not computed."""
    window, cost = square
    assert sharpen(window, cost, 16, stop=lambda: True) == -np.inf
    assert ascend(window, 0.0, cost, 16, stop=lambda: True) <= window.constant


@pytest.mark.parametrize("shape", [(40, 1, 4), (40, 3, 3), (40, 3, 5)])
def test_duals_are_optimal(shape):
    """Tests their sign, that they fit under the costs, and their sum against the assignment."""
    costs = np.random.default_rng(2).integers(0, 9, shape).astype(float)
    u, v = relaxation._duals(costs)
    best = [matrix[linear_sum_assignment(matrix)].sum() for matrix in costs]
    assert (v <= 0).all()
    assert (u[:, :, None] + v[:, None, :] <= costs).all()
    assert u.sum(axis=1) + v.sum(axis=1) == pytest.approx(np.array(best))


@pytest.mark.slow
def test_bug_an_assignment_is_bounded_however_large_its_other_entries():
    """Tests costs of 1e-9 to 1e12 against all assignments in exact arithmetic, and that the bound is tight."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        costs = 10 ** rng.uniform(-9, 12, (4, 5))
        ways = itertools.permutations(range(5), 4)
        least = min(sum(Fraction(costs[row, column]) for row, column in enumerate(way)) for way in ways)
        bound = assignment(costs)[0]
        assert least * (1 - Fraction(1, 10**12)) <= Fraction(bound) <= least


def test_bug_the_ascent_bounds_from_a_bad_start_as_well(square):
    """Tests that a ceiling far above the optimum costs no more than its own rounding."""
    window, cost = square
    for ceiling in (cost, 1e6 * cost):
        assert cost * (1 - 1e-5) <= ascend(window, 0.0, ceiling, 200) <= cost


def test_bug_the_ascent_goes_on_where_squares_are_out_of_range(square):
    """Tests the same bound on distances of 1e200, whose squares are infinite, in the unit of these."""
    window, cost = square
    unit = 2.0**660
    far = replace(window, distance=window.distance * unit, linear=window.linear * unit, constant=window.constant * unit)
    bound = sharpen(expand_slots(window), cost, 8)
    assert sharpen(expand_slots(far), cost * unit, 8) / unit == pytest.approx(bound)
