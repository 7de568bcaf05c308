"""The search for a map, beside all maps of small problems."""

import numpy as np
import pytest

from tiger.expert_maps.slots.objective import count_moves, keeps_rules, price_slots
from tiger.expert_maps.slots.search import SlotParams, search_slots
from tiger.expert_maps.slots.starts import add_replicas, balance_groups, group_slots, rename_devices

QUICK = SlotParams(proposals=500)


def search(problem, params=QUICK):
    """Search without a time limit."""
    return search_slots(problem, params, lambda: False)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("size", [(2, 4, 4, 2), (2, 3, 4, 2)])
@pytest.mark.parametrize(("in_use", "unlike"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_no_map_of_all_is_cheaper(draw_problem, referee, list_maps, seed, size, in_use, unlike):
    """And none is below the bound, by prices that are computed anew."""
    problem = draw_problem(seed, size, in_use=in_use, unlike=unlike)
    found = search(problem, SlotParams(proposals=500, effort=8))
    least = min(referee(problem, slots) for slots in list_maps(problem))
    assert referee(problem, found.maps[0]) == pytest.approx(least)
    assert found.bound.total <= least * (1 + 1e-9)


@pytest.mark.parametrize("rules", [{}, {"in_use": 0}, {"groups": 4}, {"most": 4}, {"most": 0}])
def test_rules_are_kept_and_no_start_is_cheaper(draw_problem, rules):
    """Of the map in use, whatever is asked."""
    problem = draw_problem(3, (2, 8, 8, 4), **rules)
    start = draw_problem(3, (2, 8, 8, 4)).in_use
    found = search(problem)
    assert found.bound.total <= price_slots(problem, found.maps[0]).total <= price_slots(problem, start).total
    assert keeps_rules(problem.loads, found.maps[0])
    assert problem.most_moves is None or count_moves(problem, found.maps[0]) <= problem.most_moves
    assert (np.sort(found.maps[0], axis=1) == np.arange(8)).all()


@pytest.mark.slow
def test_an_answer_has_its_seed(draw_problem):
    """The same one, the same answer."""
    problem = draw_problem(5, (4, 8, 12, 4))
    assert np.array_equal(search(problem).maps[0], search(problem).maps[0])


@pytest.mark.slow
def test_a_search_that_is_stopped_has_a_map(draw_problem):
    """That of the loads, at once."""
    problem = draw_problem(0, (3, 6, 8, 4), in_use=0, groups=2)
    found = search_slots(problem, QUICK, lambda: True)
    assert [stage.name for stage in found.stages] == ["loads"]
    assert keeps_rules(problem.loads, found.maps[0])


def test_names_of_devices_leave_loads_alone(draw_problem):
    """And make links and moves cheaper, or leave them."""
    problem = draw_problem(0, (4, 8, 8, 4))
    start = np.random.default_rng(0).permuted(problem.in_use, axis=1)
    before, after = (price_slots(problem, slots) for slots in (start, rename_devices(problem, start)))
    assert after.total < before.total
    assert after.load == before.load


def test_names_go_to_devices_of_the_same_speed(draw_problem):
    """Others would change the largest load."""
    problem = draw_problem(0, (4, 8, 8, 4), unlike=1)
    start = np.random.default_rng(0).permuted(problem.in_use, axis=1)
    before, after = (price_slots(problem, slots) for slots in (start, rename_devices(problem, start)))
    assert after.total < before.total
    assert after.load == before.load


def test_replicas_fill_the_slots_that_are_left(draw_problem):
    """With the busiest experts, and never two on a device."""
    loads = draw_problem(0, (3, 4, 12, 4)).loads
    slots = add_replicas(loads, np.tile(np.arange(4), (3, 1)))
    assert slots.shape == (3, 12)
    assert all(len(set(row)) == 3 for row in slots.reshape(-1, 3).tolist())
    assert all(np.bincount(row, minlength=4).min() >= 1 for row in slots)


def test_groups_are_experts_of_nodes(draw_problem):
    """With the sums of their loads and transitions, and a map of theirs is one of nodes."""
    problem = draw_problem(0, (3, 8, 8, 4), groups=4)
    coarse = group_slots(problem)
    assert coarse.loads.weight.sum() == problem.loads.weight.sum()
    assert coarse.counts.sum() == problem.counts.sum()
    assert coarse.hops == pytest.approx(np.array([[0, 0.95], [0.95, 0]]))
    slots = balance_groups(problem.loads, np.array([[0, 3, 1, 2], [1, 2, 0, 3], [0, 1, 2, 3]]))
    assert [sorted(row[:4]) for row in slots.tolist()] == [[0, 1, 6, 7], [2, 3, 4, 5], [0, 1, 2, 3]]
