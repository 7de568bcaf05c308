"""Tests of the rebalancer: when layers move, what it costs, what is refused, and devices that are gone."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import tiger
from tiger.errors import InputError
from tiger.placement.params import PlaceParams
from tiger.placement.result import PlaceResult
from tiger.placement.solve import place_layers
from tiger.rebalancing import replacement
from tiger.rebalancing.line_costs import LineCosts
from tiger.rebalancing.packing import quickest_plan
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers

Make = Callable[..., tiger.Rebalancer]
EVEN = [3e-3] * 12
# The first four layers have become ten times slower.
SKEWED = [30e-3] * 4 + [3e-3] * 8


def test_equal_layers_stay(make: Make) -> None:
    """Uniform cuts are the best there are, nearly."""
    decision = make().step(EVEN)
    assert (decision.action, decision.moves, decision.cuts) == ("keep", (), (0, 4, 8, 12))
    assert decision.kept_s == decision.iteration_s


def test_slow_layers_are_shared_out(make: Make) -> None:
    """The plan in use changes, and the report says what moves from where to where."""
    rebalancer = make()
    decision = rebalancer.step(SKEWED)
    assert decision.action == "move"
    assert decision.kept_s > 1.5 * decision.iteration_s
    assert rebalancer.plan.cuts == decision.cuts == decision.plan.cuts
    assert decision.moved_bytes == 1e9 * decision.moved_layers == sum(move.moved_bytes for move in decision.moves)
    assert all({move.source, move.target} <= {"d0", "d1", "d2"} for move in decision.moves)


def test_a_decision_is_the_best_of_all_cuts_where_moves_are_free(make: Make) -> None:
    """Tests all cuts of random layers by simulation: at most the threshold above the best."""
    rebalancer, rng = make(10, 4, state_bytes=0.0), np.random.default_rng(0)
    for _ in range(5):
        decision = rebalancer.step(rng.uniform(1e-3, 2e-2, (2, 10)))
        costs = LineCosts(line=rebalancer.line, times=rebalancer.times)
        best = min(costs.iteration_s((0, *inner, 10)) for inner in combinations(range(1, 10), 3))
        assert decision.iteration_s <= 1.03 * best


def test_moves_that_do_not_pay_are_not_made(make: Make) -> None:
    """A gigabyte takes a thousand seconds here, an interval ten iterations."""
    options = tiger.RebalanceOptions(iterations=10)
    decision = make(bandwidth=1e6, options=options).step(SKEWED)
    assert (decision.action, decision.moved_layers) == ("keep", 0)
    local = tiger.RebalanceOptions(iterations=10, balancer="diffusion")
    assert make(bandwidth=1e6, options=local).step(SKEWED).action == "keep"


def test_a_gain_below_the_threshold_is_left(make: Make) -> None:
    """One just below the gain moves layers, and one just above does not."""
    free = make().step(SKEWED)
    gain = 1 - free.iteration_s / free.kept_s
    actions = [
        make(options=tiger.RebalanceOptions(threshold=share * gain)).step(SKEWED).action for share in (0, 0.95, 1.05)
    ]
    assert actions == ["move", "move", "keep"]
    assert make().step([3.1e-3] * 4 + [3e-3] * 8).action == "keep"


def test_break_even_is_when_moves_are_paid_back(make: Make) -> None:
    """By the seconds of all moves over those that an iteration saves."""
    decision = make(bandwidth=1e9).step(SKEWED)
    saved = decision.kept_s - decision.iteration_s
    assert decision.break_even == pytest.approx(decision.moving_s / saved)
    assert decision.moving_s == pytest.approx(decision.moved_layers)


def test_times_of_stages_scale_their_layers(make: Make) -> None:
    """The first stage takes ten times as long: the same decision as by its layers."""
    stages, layers = make(), make()
    assert stages.step([120e-3, 12e-3, 12e-3]).cuts == layers.step(SKEWED).cuts
    assert stages.times.forward_s == pytest.approx(layers.times.forward_s)


def test_a_layer_without_any_time_can_come_back(make: Make) -> None:
    """Frozen layers of a stage that take time again share it."""
    rebalancer = make(options=tiger.RebalanceOptions(threshold=0.9))
    rebalancer.step([[0] * 4 + [1] * 8, [0] * 4 + [2] * 8])
    rebalancer.step([1.0] * 3)
    assert rebalancer.plan.cuts == (0, 4, 8, 12)
    assert rebalancer.times.total_s == pytest.approx([0.25] * 12)
    assert rebalancer.times.forward_s == pytest.approx([0.25 / 3] * 12)


def test_times_are_those_of_a_device_of_speed_one(make: Make) -> None:
    """A layer on a device twice as fast takes half of that, by itself or as a part of its stage."""
    line = make().line
    cluster = replace(line.cluster, speed=np.array([1.0, 2.0, 1.0]))
    for loads in ([3e-3] * 4 + [1.5e-3] * 4 + [3e-3] * 4, [12e-3, 6e-3, 12e-3]):
        rebalancer = tiger.Rebalancer(line.layers, cluster, plan=Plan.line((0, 4, 8, 12), (0, 1, 2)))
        rebalancer.step(loads)
        assert rebalancer.times.total_s == pytest.approx([3e-3] * 12)


def test_memory_of_devices_is_respected(make: Make) -> None:
    """Nobody can hold more than five layers, and of activations a stage holds as many microbatches as follow it."""
    decision = make(memory_bytes=5e9).step([30e-3] * 2 + [1e-4] * 10)
    assert np.diff(decision.cuts).max() <= 5
    with pytest.raises(InputError, match="fit into memory"):
        make(memory_bytes=5e9, held_bytes=1e9)
    # Three microbatches are in flight on the first device, two and one on those behind it.
    assert make(memory_bytes=16e9, held_bytes=1e9).line.last[:, 0].tolist() == [4, 5, 8]


def test_the_same_times_have_the_same_decisions(make: Make) -> None:
    """A step neither draws nor looks at the clock."""
    rng = np.random.default_rng(1)
    times = rng.lognormal(-5, 1, (4, 12))
    first, second = make(), make()
    assert [first.step(row).cuts for row in times] == [second.step(row).cuts for row in times]


def test_a_lost_device_leaves_its_layers_to_the_others(make: Make) -> None:
    """They come from nowhere that is known, and what else moves goes over links."""
    rebalancer = make()
    decision = rebalancer.lose("d1")
    assert (decision.action, decision.devices, decision.kept_s) == ("move", ("d0", "d2"), None)
    assert (decision.freed, decision.break_even) == ((), None)
    assert sum(move.layers for move in decision.moves if move.source is None) == 4
    assert rebalancer.step(EVEN).devices == ("d0", "d2")


def test_a_spare_device_takes_the_place_of_a_lost_one(make: Make) -> None:
    """Nothing else has to move."""
    decision = make(spare=1).lose("d1")
    assert decision.devices == ("d0", "d3", "d2")
    assert {(move.source, move.target) for move in decision.moves} == {(None, "d3")}


def test_what_is_left_may_not_hold_the_layers(make: Make) -> None:
    """There is no plan then, and the decision says so."""
    rebalancer = make(memory_bytes=4e9)
    decision = rebalancer.lose("d0")
    assert (decision.action, decision.cuts, decision.plan) == ("stop", (), None)
    with pytest.raises(InputError, match="cluster/devices: expected devices"):
        rebalancer.step(EVEN)


def test_bug_a_lost_device_never_comes_back(make: Make) -> None:
    """Losing a second one after no plan was left gave layers to the first again."""
    rebalancer = with_memory(make, [9e9, 2e9, 2e9], (0, 8, 9, 10))
    assert [rebalancer.lose(name).action for name in ("d0", "d1", "d2")] == ["stop"] * 3


def test_bug_two_spares_take_the_place_of_a_larger_device(make: Make) -> None:
    """Neither holds all of its layers, and there seemed to be no plan."""
    rebalancer = with_memory(make, [8e9, 4e9, 4e9], (0, 8))
    decision = rebalancer.lose("d0")
    assert (decision.action, decision.cuts, decision.devices) == ("move", (0, 4, 8), ("d1", "d2"))
    assert {move.source for move in decision.moves} == {None}


def with_memory(make: Make, memory_bytes: list[float], cuts: tuple[int, ...]) -> tiger.Rebalancer:
    """Return a rebalancer of layers of 1 GB with a plan on the first of three devices of unlike memory."""
    line = make(cuts[-1], 3).line
    cluster = replace(line.cluster, memory_bytes=np.array(memory_bytes))
    return tiger.Rebalancer(line.layers, cluster, plan=Plan.line(cuts, tuple(range(len(cuts) - 1))))


def test_a_lost_spare_changes_nothing(make: Make) -> None:
    """It held no layers."""
    rebalancer = make(spare=1)
    assert rebalancer.lose("d3").action == "keep"
    with pytest.raises(InputError, match="device: expected one of d0, d1, d2, got 'd3'"):
        rebalancer.lose("d3")


def test_packing_frees_devices(make: Make) -> None:
    """Layers that take a quarter of the time need few of them for the throughput of before."""
    rebalancer = make()
    before = rebalancer.step(EVEN).iteration_s
    rebalancer.step([0.75e-3] * 12)
    decision = rebalancer.pack(before)
    assert (decision.devices, decision.freed) == (("d0",), ("d1", "d2"))
    assert decision.kept_s < decision.iteration_s <= before
    assert (decision.break_even, decision.moved_layers) == (None, 8)
    assert rebalancer.pack(before).action == "keep"


def test_packed_plans_keep_the_time(make: Make) -> None:
    """Down to the time of the quickest plan itself, where one with fewer moves would be too slow."""
    rebalancer = make(12, 4, bandwidth=1e6)
    rebalancer.step([4e-3, 1e-3] * 6)
    target = quickest_plan(replace(rebalancer.line, devices=(0, 1, 2)), rebalancer.times).iteration_s
    decision = rebalancer.pack(target)
    assert (len(decision.devices), decision.freed) == (3, ("d3",))
    assert decision.iteration_s <= target


def test_nothing_is_packed_that_would_be_too_slow(make: Make) -> None:
    """The plan stays."""
    assert make().pack(1e-9).action == "keep"


@pytest.mark.parametrize(
    ("loads", "field"),
    [
        ([1.0] * 11, "loads"),
        ([[[1.0]]], "loads"),
        (["a"] * 12, "loads"),
        (["1"] * 12, "loads"),
        ([True] * 12, "loads"),
        ([None] * 12, "loads"),
        ([10**400] * 12, "loads"),
        ([0.0] * 12, "loads"),
        ([1.0] * 11 + [float("nan")], "loads/11"),
        ([[1.0] * 12, [1.0] * 3 + [-1.0] + [1.0] * 8], "loads/1/3"),
        ([1e300] * 12, "loads/0"),
    ],
)
def test_bad_loads_name_the_field(make: Make, loads: object, field: str) -> None:
    """And the layer at fault; the plan stays as it was, and so do the times."""
    rebalancer = make()
    before = rebalancer.plan.cuts, rebalancer.times
    with pytest.raises(InputError) as error:
        rebalancer.step(loads)
    assert error.value.field == field
    assert (rebalancer.plan.cuts, rebalancer.times) == before


@pytest.mark.parametrize("seconds", [1e-300, 5e-324, 1e30])
def test_bug_tiny_loads_are_decided_on(make: Make, seconds: float) -> None:
    """The search for the least limit never ended where the product of two limits is 0 in float64."""
    assert make(8, 3).step([seconds] * 8).action in ("keep", "move")


@pytest.mark.parametrize("target_s", [float("nan"), float("inf"), 10**400, 1e300, True, "1", None])
def test_bug_times_to_pack_for_are_numbers(make: Make, target_s: object) -> None:
    """Whole numbers beyond float64 were an OverflowError; one next to 0 is a time that no plan keeps."""
    with pytest.raises(InputError, match="target_s: expected a number above 0"):
        make().pack(target_s)
    assert make().pack(5e-324).action == "keep"


def test_bug_numbers_whose_products_overflow_are_refused(make: Make) -> None:
    """Of models and clusters that were not read from a file, which is checked."""
    line = make().line
    slow, late = np.array([1, 1, 1e-300]), np.full(12, 1e300)
    with pytest.raises(InputError, match="cluster/devices/speed: expected numbers from 1e-30"):
        tiger.Rebalancer(line.layers, replace(line.cluster, speed=slow))
    with pytest.raises(InputError, match="model/backward_s: expected numbers from 0 to 1e"):
        tiger.Rebalancer(replace(line.layers, backward_s=late), line.cluster)


@pytest.mark.parametrize("name", ["plan", "options"])
def test_bug_other_kinds_name_the_argument(make: Make, name: str) -> None:
    """Where there was an AttributeError."""
    line = make().line
    with pytest.raises(InputError, match=f"{name}: expected .*, got an object"):
        tiger.Rebalancer(line.layers, line.cluster, **{name: {}})


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"iterations": 0}, "iterations"),
        ({"threshold": float("nan")}, "threshold"),
        ({"schedule": "interleaved"}, "schedule"),
        ({"balancer": "none"}, "balancer"),
        ({"microbatches": True}, "microbatches"),
    ],
)
def test_bad_options_name_the_field(options: dict[str, object], field: str) -> None:
    """When they are stated."""
    with pytest.raises(InputError) as error:
        tiger.RebalanceOptions(**options)
    assert error.value.field == field


def test_plans_that_cannot_be_followed_are_refused(make: Make) -> None:
    """Those of other models, and of more than a device a stage."""
    line = make().line
    mirror = Plan(cuts=(0, 5, 12), grid=np.array([[[0]], [[1]]]), style="mirror")
    pair = Plan(cuts=(0, 12), grid=np.array([[[0, 1]]]))
    for plan in (Plan.line((0, 5), (0,)), pair, mirror, Plan.line((0, 12), (7,))):
        with pytest.raises(InputError, match="plan: expected"):
            tiger.Rebalancer(line.layers, line.cluster, plan=plan)
    with pytest.raises(InputError, match="target_s"):
        make().pack(0)


def test_the_first_plan_is_the_best_by_the_times_of_the_model(make: Make) -> None:
    """It is what `place` finds."""
    line = make().line
    rebalancer = tiger.Rebalancer(line.layers, line.cluster, options=tiger.RebalanceOptions(pipeline=2))
    assert rebalancer.plan.positions == 2
    with pytest.raises(InputError, match="pipeline: expected at most 3"):
        tiger.Rebalancer(line.layers, line.cluster, options=tiger.RebalanceOptions(pipeline=4))


def test_bug_the_search_for_a_first_plan_ends(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """After ten seconds, as does the one for a plan where devices are lost; both went on for as long as they liked."""
    stopped = []

    def place(layers: Layers, cluster: Cluster, params: PlaceParams, stop: Callable[[], bool]) -> PlaceResult:
        stopped.append(stop())
        return place_layers(layers, cluster, params, stop)

    monkeypatch.setattr(replacement, "place_layers", place)
    line = make().line
    tiger.Rebalancer(line.layers, line.cluster)
    monkeypatch.setattr(replacement, "PLACE_S", 0.0)
    assert tiger.Rebalancer(line.layers, line.cluster).plan.cuts[-1] == line.layers.size
    assert stopped == [False, True]


@pytest.mark.parametrize("loads", [SKEWED, SKEWED[::-1]])
def test_diffusion_gives_layers_to_neighbours(make: Make, loads: list[float]) -> None:
    """It ends no better than the exact balancer, and better than what it began with, whichever end is busy."""
    local = make(options=tiger.RebalanceOptions(balancer="diffusion")).step(loads)
    assert make().step(loads).iteration_s <= local.iteration_s < local.kept_s
