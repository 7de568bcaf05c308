"""The shared oracles, checked against each other."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

RULES = ["one-to-one", "levels", "capacity"]
FLAGS = st.fixed_dictionaries({name: st.booleans() for name in ("pins", "forbidden", "memory", "feasible", "whole")})


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1), rule=st.sampled_from(RULES), flags=FLAGS)
def test_brute_force_is_complete(random_problem, brute_force, naive_broken, naive_cost, seed, rule, flags):
    """It finds the cheapest of all mappings that break nothing, or that there is none."""
    problem = random_problem(rule, seed, tasks=3, nodes=4, **flags)
    every = [np.array(places) for places in itertools.product(range(4), repeat=3)]
    costs = [naive_cost(problem, places) for places in every if not naive_broken(problem, places)]
    found = brute_force(problem)
    assert (found is None) == (not costs)
    if found is not None:
        assert found[0] == pytest.approx(min(costs))
        assert naive_cost(problem, found[1]) == pytest.approx(min(costs))


@given(seed=st.integers(0, 2**32 - 1), rule=st.sampled_from(RULES), flags=FLAGS)
def test_random_feasible_finds_a_mapping_where_there_is_one(
    random_problem, random_feasible, brute_force, naive_broken, seed, rule, flags
):
    """And what it finds breaks nothing."""
    problem = random_problem(rule, seed, tasks=4, nodes=4, **flags)
    places = random_feasible(problem, np.random.default_rng(seed))
    assert (places is None) == (brute_force(problem) is None)
    assert places is None or not naive_broken(problem, places)


@pytest.mark.parametrize("rule", RULES)
def test_the_same_seed_draws_the_same_problem(random_problem, rule):
    """And another seed another one."""
    first, again, other = (random_problem(rule, seed, pins=True, forbidden=True) for seed in (5, 5, 6))
    assert (first.tasks.traffic != again.tasks.traffic).nnz == 0
    assert (first.tasks.names, first.pinned, first.forbidden) == (again.tasks.names, again.pinned, again.forbidden)
    assert first.tasks.work.tolist() != other.tasks.work.tolist()


@pytest.mark.slow
def test_draws_that_cannot_be_feasible_are_refused(random_problem):
    """Five tasks do not fit on four nodes one to one."""
    with pytest.raises(ValueError, match="no feasible problem of 5 tasks on 4 nodes"):
        random_problem("one-to-one", 0, tasks=5, nodes=4)
