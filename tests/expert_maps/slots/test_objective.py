"""What a map costs, and the rules that it keeps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.expert_maps.slots.objective import ExpertCost, count_moves, keeps_rules, price_slots

SIZES = st.sampled_from([(2, 4, 4, 2), (3, 6, 8, 4), (2, 4, 8, 4), (3, 5, 6, 2)])


@given(SIZES, st.integers(0, 99), st.booleans())
@cases(quick=15, long=2_000)
def test_a_price_is_that_of_every_pair_of_replicas(draw_problem, referee, size, seed, in_use):
    """One by one, with loads of the fullest devices and moves from the nearest ones."""
    problem = draw_problem(seed, size, in_use=in_use)
    order = np.tile(np.arange(problem.loads.num_replicas) % problem.loads.experts, (problem.loads.layers, 1))
    slots = np.random.default_rng(seed).permuted(order, axis=1)
    assert price_slots(problem, slots).total == pytest.approx(referee(problem, slots), rel=1e-12)


def test_parts_add_up():
    """To the total, and to that of a step without moves."""
    cost = ExpertCost(load=1.0, links=2.0, moves=4.0)
    assert (cost.step, cost.total, cost.to_dict()["total"]) == (3, 7, 7)


def test_the_map_in_use_moves_nothing(draw_problem):
    """And exchanging two slots of different devices moves two experts, within a device none."""
    problem = draw_problem(0, (2, 4, 4, 2))
    apart, within = problem.in_use.copy(), problem.in_use.copy()
    apart[0, [0, 2]], within[0, [0, 1]] = apart[0, [2, 0]], within[0, [1, 0]]
    assert [count_moves(problem, slots) for slots in (problem.in_use, apart, within)] == [0, 2, 0]
    assert price_slots(problem, within).moves == 0 < price_slots(problem, apart).moves


def test_groups_are_on_one_node(draw_problem):
    """In every layer."""
    problem = draw_problem(0, (2, 4, 4, 4), groups=2)
    other = problem.in_use.copy()
    other[1, [0, 3]] = other[1, [3, 0]]
    assert [keeps_rules(problem.loads, slots) for slots in (problem.in_use, other)] == [True, False]
    assert keeps_rules(draw_problem(0, (2, 4, 4, 4)).loads, other)
