"""Whether a change of the map in use pays."""

from dataclasses import replace

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.expert_maps.replicas.balance import balance
from tiger.expert_maps.replicas.changes import _choose
from tiger.expert_maps.replicas.descent import Point
from tiger.expert_maps.replicas.loads import ExpertLoads, gpu_loads, keep_to_rules
from tiger.expert_maps.verdict import MoveCosts, weigh

# An expert takes 1 ms to move, a step 20 ms of experts.
COSTS = {"expert_bytes": 44e6, "bandwidth": 44e9, "step_s": 0.02, "steps": 1000}

# Fifty maps in use, a few of them in the quick tests.
PARTS = [
    range(2),
    pytest.param(range(2, 8), marks=pytest.mark.slow),
    pytest.param(range(8, 50), marks=pytest.mark.long),
]


def _draw(draw_loads, seed):
    """Return loads, and the map that balances the loads of another seed."""
    return draw_loads(seed), balance(draw_loads(seed + 1000)).phy2log


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_fifty_changes_that_do_not_pay_are_kept(draw_loads, part):
    """Loads that stay for a step, whose gain is below what moving an expert takes, or below the threshold."""
    for seed in part:
        loads, in_use = _draw(draw_loads, seed)
        costs = MoveCosts(**(COSTS | ({"steps": 1, "expert_bytes": 44e9} if seed % 2 else {"threshold": 0.95})))
        verdict = weigh(loads, in_use, costs)
        assert (verdict.advice, verdict.phy2log.tolist()) == ("keep", in_use.tolist())


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_fifty_changes_that_pay_are_not_kept(draw_loads, part):
    """Loads that have drifted far and stay for long: the gain is above the threshold, paid long before the end."""
    for seed in part:
        loads, in_use = _draw(draw_loads, seed)
        verdict = weigh(loads, in_use, MoveCosts(**COSTS))
        assert (verdict.advice, verdict.break_even_steps < 1000, verdict.gain > 0.02) == ("move", True, True)
        assert gpu_loads(loads, verdict.phy2log).max(axis=1).sum() == pytest.approx(verdict.largest_after)
        assert verdict.bound <= verdict.largest_after < verdict.largest_before


@pytest.mark.slow
def test_figures_are_those_of_the_change(draw_loads):
    """Seconds are those of the GPU that receives most, and the gain is of the seconds of a step."""
    loads, in_use = _draw(draw_loads, 0)
    verdict = weigh(loads, in_use, MoveCosts(**COSTS))
    gpus = np.array([in_use, verdict.phy2log]).reshape(2, 3, 8, 3)
    received = [sum(len(set(gpus[1, k, g].tolist()) - set(gpus[0, k, g].tolist())) for k in range(3)) for g in range(8)]
    assert (verdict.moves, verdict.move_s) == (sum(received), pytest.approx(max(received) * 1e-3))
    assert verdict.gain_s == pytest.approx(0.02 * (1 - verdict.largest_after / verdict.largest_before))
    assert verdict.break_even_steps == pytest.approx(verdict.move_s / verdict.gain_s)


@pytest.mark.long
@pytest.mark.parametrize("most", [0, 3])
def test_moves_keep_to_the_cap(draw_loads, most):
    """And more of them do not make the load larger."""
    loads, in_use = _draw(draw_loads, 0)
    verdict = weigh(loads, in_use, MoveCosts(**COSTS, most_moves=most))
    assert verdict.moves <= most
    assert verdict.largest_after >= weigh(loads, in_use, MoveCosts(**COSTS, most_moves=most + 4)).largest_after


@pytest.mark.slow
def test_a_balanced_map_is_kept(draw_loads):
    """Nothing moves, and no change is paid."""
    loads = draw_loads(0)
    verdict = weigh(loads, balance(loads).phy2log, MoveCosts(**COSTS))
    assert (verdict.advice, verdict.moves, verdict.break_even_steps) == ("keep", 0, np.inf)
    assert "no change" in verdict.reason


@pytest.mark.parametrize(
    "changed",
    [
        {"bandwidth": 0},
        {"steps": 1.5},
        {"step_s": np.nan},
        {"expert_bytes": "44MB"},
        {"threshold": -1},
        {"most_moves": True},
        {"steps": 10**400},
        {"bandwidth": 1e-320},
    ],
)
def test_wrong_costs_are_named(changed):
    """Numbers out of their range, and what is no number."""
    with pytest.raises(InputError) as caught:
        MoveCosts(**(COSTS | changed))
    assert [caught.value.field] == list(changed)


@pytest.mark.slow
def test_whole_numbers_of_numpy_are_costs(draw_loads):
    """As they are in the fields of loads."""
    loads, in_use = _draw(draw_loads, 0)
    costs = MoveCosts(**(COSTS | {"steps": np.int64(1000), "most_moves": np.int32(3)}))
    assert weigh(loads, in_use, costs).moves <= 3


def test_bug_a_gain_without_moves_is_taken():
    """GPU 1 has experts 1 and 2 already, and two slots for expert 2 leave it 50 instead of 70."""
    loads = ExpertLoads(np.array([[0.0, 40.0, 50.0]]), 4, 1, 1, 2, 2)
    verdict = weigh(loads, [[0, 1, 2, 1]], MoveCosts(**COSTS))
    assert (verdict.advice, verdict.moves, verdict.break_even_steps) == ("move", 0, 0)
    assert (verdict.largest_before, verdict.largest_after, verdict.phy2log.tolist()) == (70, 50, [[0, 1, 2, 2]])


@pytest.mark.parametrize("seed", range(2))
def test_bug_a_map_to_move_to_keeps_to_the_rules(draw_loads, seed):
    """In all layers that change, also where the one in use has experts twice on a GPU, and groups on several nodes."""
    loads = draw_loads(seed)
    in_use = np.random.default_rng(seed).permuted(np.tile([*range(16), *range(8)], (3, 1)), axis=1)
    verdict = weigh(loads, in_use, MoveCosts(**COSTS))
    assert keep_to_rules(loads, in_use.reshape(3, 8, 3)).tolist() == [False] * 3
    changed = (verdict.phy2log != in_use).any(axis=1)
    assert verdict.advice == "move"
    assert keep_to_rules(loads, verdict.phy2log.reshape(3, 8, 3)).tolist() == changed.tolist()


def test_bug_what_is_left_of_a_cap_is_used():
    """Three moves gain most for each, and are more than there may be: two that gain less for each are made."""
    points = [Point(np.zeros((1, 1), np.int64), load, moved) for load, moved in ((100.0, 0), (90.0, 2), (40.0, 3))]
    assert [_choose([points], 0.0, most)[0].moved for most in (0, 1, 2, 3)] == [0, 0, 2, 3]


@pytest.mark.slow
def test_bug_small_loads_have_small_prices(draw_loads):
    """Under a cap, loads in any unit change as much."""
    loads, in_use = _draw(draw_loads, 0)
    costs = MoveCosts(**COSTS, most_moves=4)
    small = replace(loads, weight=loads.weight * 2.0**-900)
    assert weigh(small, in_use, costs).phy2log.tolist() == weigh(loads, in_use, costs).phy2log.tolist()


def test_bug_a_part_of_the_moves_pays_where_one_gpu_receives_most(draw_loads):
    """Seven experts moved take that GPU 3 ms, more than a step gains; two of them take 1 ms, and gain 1.9 ms."""
    loads = draw_loads(17, nodes=1)
    drifted = replace(loads, weight=loads.weight * np.random.default_rng(17).lognormal(0, 0.3, (3, 16)))
    verdict = weigh(drifted, balance(loads).phy2log, MoveCosts(**(COSTS | {"steps": 1})))
    assert (verdict.advice, verdict.moves, verdict.move_s) == ("move", 2, pytest.approx(1e-3))
    assert verdict.gain_s == pytest.approx(1.9e-3, rel=0.1)
