"""Mappings, proofs and bounds on weights of many orders of magnitude, against all mappings in exact arithmetic."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.fuzz import enumeration
from tests.fuzz.problems import drawing_of, problem_of, scale_costs
from tests.fuzz.profile import cases
from tiger.bounds.lower_bound import lower_bound, strong_bound
from tiger.errors import InputError
from tiger.mapping.mapper import solve
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.rounding import ROUNDING
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.objectives.makespan import schedule_of

pytestmark = pytest.mark.slow

SOLVERS = ("auto", "exact", "search", "greedy")
ULPS = Fraction(20, 2**53)
SLACK = 1 + Fraction(ROUNDING)
Seeds = st.integers(0, 2**32 - 1)


def draw_case(seed):
    """Return the problem of a seed and the least exact cost of its mappings, None where there is none."""
    try:
        problem = problem_of(drawing_of(seed))
    except InputError:
        assume(False)
    mappings = enumeration.feasible_mappings(problem)
    if not len(mappings):
        return problem, mappings, None
    costs = enumeration.rough_costs(problem, mappings)
    least = enumeration.least(lambda places: enumeration.exact_cost(problem, places), costs, mappings)
    return problem, mappings[np.argsort(costs, kind="stable")], least


def places_of(problem, report):
    """Return the node indices of a report."""
    index = {name: k for k, name in enumerate(problem.topology.names)}
    return np.array([index[report.mapping[task]] for task in problem.tasks.names])


def check(problem, mappings, least, report):
    """Assert that a report says what is true, and no more."""
    assert report.feasible == (least is not None)
    if least is None:
        return
    places = places_of(problem, report)
    cost = enumeration.exact_cost(problem, places)
    assert (mappings == places).all(axis=1).any()
    assert abs(Fraction(report.cost) - cost) <= ULPS * cost
    assert Fraction(report.lower_bound) <= least * SLACK
    assert not report.optimal or cost <= least * SLACK


@cases(quick=15, long=20_000)
@given(seed=Seeds, solver=st.sampled_from(SOLVERS))
def test_reports_are_true(seed, solver):
    """Tests feasibility, cost, bound and proof under every rule."""
    problem, mappings, least = draw_case(seed)
    check(problem, mappings, least, solve(problem, solver=solver, seed=seed % 3))


@cases(quick=1, long=200)
@given(seed=Seeds, effort=st.integers(1, 4))
def test_sampled_reports_are_true(seed, effort):
    """Tests annealed QUBOs, and the ascents of the bound that come with more effort."""
    problem, mappings, least = draw_case(seed)
    check(problem, mappings, least, solve(problem, solver="neal", seed=seed % 3, effort=effort))


@cases(quick=10, long=2000)
@given(seed=Seeds)
def test_bounds_do_not_depend_on_a_good_mapping(seed):
    """Tests both bounds given the cheapest and the dearest mapping, down to a few roundings."""
    problem, mappings, least = draw_case(seed)
    for places in mappings[[0, -1]] if len(mappings) else ():
        assert Fraction(lower_bound(problem, places)) <= least * (1 + ULPS)
        assert Fraction(strong_bound(problem, places, iterations=8)) <= least * (1 + ULPS)


@cases(quick=10, long=2000)
@given(seed=Seeds, power=st.integers(-200, 200), solver=st.sampled_from(("exact", "search")))
def test_the_unit_of_cost_plays_no_part(seed, power, solver):
    """Tests that costs multiplied by a power of two give the same mapping, its cost multiplied."""
    problem, mappings, least = draw_case(seed)
    unit = 2.0**power
    other = scale_costs(problem, unit, unit)
    one, two = (solve(p, solver=solver, seed=1) for p in (problem, other))
    check(other, mappings, None if least is None else least * Fraction(unit), two)
    if least is not None and not one.optimal:
        assert (two.mapping, two.cost) == (one.mapping, one.cost * unit)


@cases(quick=6, long=1000)
@given(seed=Seeds, shift=st.sampled_from((1e-9, 1.0, 1e6, 1e12)), solver=st.sampled_from(SOLVERS[:3]))
def test_prices_may_have_any_offset(seed, shift, solver):
    """Tests the same amount more a unit of work on every node."""
    problem, mappings, _ = draw_case(seed)
    hardware = replace(problem.topology, cost=problem.topology.cost + shift)
    shifted = replace(problem, topology=hardware)
    costs = enumeration.rough_costs(shifted, mappings)
    exact = enumeration.least(lambda p: enumeration.exact_cost(shifted, p), costs, mappings) if len(mappings) else None
    check(shifted, mappings, exact, solve(shifted, solver=solver))


@cases(quick=6, long=1000)
@given(seed=Seeds, order=st.randoms(use_true_random=False))
def test_names_and_order_play_no_part(seed, order):
    """Tests that a proof of the relabelled problem is one of the problem."""
    problem, mappings, least = draw_case(seed)
    assume(problem.rule != "levels" and not len(problem.banned) and not problem.pinned)
    turn = np.array(order.sample(range(problem.tasks.size), problem.tasks.size))
    tasks = replace(
        problem.tasks,
        traffic=problem.tasks.traffic[turn][:, turn],
        work=problem.tasks.work[turn],
        memory=None if problem.tasks.memory is None else problem.tasks.memory[turn],
    )
    other = Problem(tasks=tasks, topology=problem.topology, rule=problem.rule)
    check(other, mappings[:, turn], least, solve(other, solver="exact"))


@cases(quick=10, long=2000)
@given(seed=Seeds, objective=st.sampled_from(("makespan", "max-link-load")))
def test_other_objectives_are_true(seed, objective):
    """Tests value, bound and proof of the makespan and of the max link load."""
    problem, mappings, least = draw_case(seed)
    judge = judge_of(problem, objective)
    assume(least is not None and judge is not None)
    report = solve(problem, objective=objective, seed=seed % 3)
    exact, rough = judge
    best, value = enumeration.least(exact, rough(mappings), mappings), exact(places_of(problem, report))
    assert abs(Fraction(report.objective.value) - value) <= ULPS * value
    assert Fraction(report.objective.bound) <= best * SLACK
    assert not report.optimal or value <= best * SLACK


def judge_of(problem, objective):
    """Return functions from a mapping to its exact value and from many to rough ones, None where it has no value."""
    if objective == "makespan":
        schedule = schedule_of(problem)
        return schedule and (
            lambda places: enumeration.exact_makespan(problem, schedule.order, places),
            lambda mappings: enumeration.rough_makespans(problem, schedule.order, mappings),
        )
    links = enumeration.links_crossed(problem)
    return links and (
        lambda places: enumeration.exact_load(problem, *links, places),
        lambda mappings: enumeration.rough_loads(problem, *links, mappings),
    )


@pytest.mark.parametrize("solver", SOLVERS[:3])
def test_bug_a_far_node_hides_no_optimum(solver):
    """Tests a triangle on three nodes near each other and one at 1e12, where 106 was reported as the least cost."""
    away = np.full((4, 4), 1e12)
    away[1:, 1:] = [[0, 5, 9], [5, 0, 8], [9, 8, 0]]
    away[0, 0] = 0.0
    volumes = sp.csr_array(np.array([[0.0, 7, 7], [0, 0, 1], [0, 0, 0]]))
    tasks = TaskGraph(names=("0", "1", "2"), traffic=volumes, directed=False)
    hardware = Topology(names=tuple("wxyz"), metric=DenseMetric(away))
    assert solve(Problem(tasks=tasks, topology=hardware, rule="one-to-one"), solver=solver).cost == 100.0
