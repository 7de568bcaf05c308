"""Tests of placements from end to end."""

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from tiger.placement.chain.shortfall import ADVICE
from tiger.placement.params import PlaceParams
from tiger.placement.search.evaluator import Evaluator
from tiger.placement.search.reasons import UNDECIDED
from tiger.placement.solve import place_layers
from tiger.training.costs.plan import Plan, rank_order
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.hardware.reading import read_cluster
from tiger.training.models.layers import Layers
from tiger.training.models.reading import read_model
from tiger.training.schedules.pass_orders import Schedule

SMALL = "transformer:layers=24,hidden=1024,heads=16,vocabulary=50257,sequence=2048"
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)
DrawnLayers = Callable[..., Layers]
DrawnCluster = Callable[..., Cluster]
Oracle = Callable[[Layers, Cluster], float]


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_all_orders_of_six(
    seed: int, drawn_layers: DrawnLayers, drawn_cluster: DrawnCluster, least_of_all_orders: Oracle
) -> None:
    """Every order and subset of six unequal devices has been tried, and none is better."""
    layers, cluster = drawn_layers(9, seed), drawn_cluster(6, seed)
    placed = place_layers(layers, cluster, PlaceParams())
    assert placed.bottleneck_s == pytest.approx(least_of_all_orders(layers, cluster), rel=1e-9)
    assert placed.bottleneck_s == pytest.approx(placed.lower_bound_s, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_the_best_of_all_orders_of_eight(
    seed: int, drawn_layers: DrawnLayers, drawn_cluster: DrawnCluster, least_of_all_orders: Oracle
) -> None:
    """Every order and subset of eight unequal devices has been tried, and none is better."""
    layers, cluster = drawn_layers(11, seed), drawn_cluster(8, seed)
    placed = place_layers(layers, cluster, PlaceParams())
    assert placed.bottleneck_s == pytest.approx(least_of_all_orders(layers, cluster), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_plan_is_worth_what_it_says_and_fits(schedule: Schedule, drawn_layers: DrawnLayers) -> None:
    """The figures are those of the plan, no worse than an even split, between the bounds, and within memory."""
    layers, cluster = drawn_layers(12, 3), read_cluster("dgx:1")
    cluster = replace(cluster, memory_bytes=np.full(8, 40.0))
    placed = place_layers(layers, cluster, PlaceParams(schedule=schedule, microbatches=16))
    assert placed.plan is not None
    judge = Evaluator(layers=layers, cluster=cluster, schedule=schedule, microbatches=16)
    assert placed.iteration_s == judge.value(placed.plan)
    assert placed.iteration_bound_s <= placed.iteration_s <= placed.uniform_iteration_s
    assert placed.bottleneck_s == judge.bottleneck_s(placed.plan) >= placed.lower_bound_s * (1 - 1e-9)
    assert max(placed.memory_bytes) <= 40


@pytest.mark.slow
@pytest.mark.parametrize(
    "schedule", [kind if kind == "1f1b" else pytest.param(kind, marks=pytest.mark.long) for kind in SCHEDULES]
)
def test_a_head_is_worth_several_layers(schedule: Schedule) -> None:
    """On 8 stages, h = 1024 and V = 50k, as many layers everywhere take a quarter longer, or 1.4 times as long."""
    placed = place_layers(
        read_model(SMALL), read_cluster("dgx:1"), PlaceParams(schedule=schedule, pipeline=8, microbatches=32)
    )
    # Both ends share devices with other stages under chimera, and interleaving cuts into small stages.
    least = 1.25 if schedule in ("chimera", "interleaved") else 1.4
    assert placed.uniform_iteration_s >= least * placed.iteration_s


def test_few_microbatches_or_slow_links_leave_devices_out(drawn_layers: DrawnLayers) -> None:
    """What all links together would cost is more than one device needs."""
    layers, cluster = drawn_layers(8, 1), read_cluster("dgx:1")
    slow = replace(cluster, curves=(Curve.affine(1e-3, 0.0),), link=np.zeros((8, 8), np.int64))
    for schedule in (None, "1f1b"):
        placed = place_layers(layers, slow, PlaceParams(schedule=schedule))
        assert placed.plan is not None
        assert placed.plan.positions == 1


@pytest.mark.long
def test_as_many_stages_as_asked_for(drawn_layers: DrawnLayers) -> None:
    """Systems that were started with five ranks need five stages."""
    for schedule in (None, "1f1b", "interleaved"):
        params = PlaceParams(schedule=schedule, pipeline=5)
        placed = place_layers(drawn_layers(12, 2), read_cluster("dgx:1"), params)
        assert placed.plan is not None
        assert placed.plan.positions == 5


def test_pins_are_kept(drawn_layers: DrawnLayers) -> None:
    """The first and the last layer go where they are told, with and without a schedule."""
    layers, cluster = drawn_layers(10, 4), read_cluster("dgx:1")
    for schedule in (None, "1f1b", "interleaved"):
        params = PlaceParams(schedule=schedule, pinned={"l0": "m0.gpu5", "l9": "m0.gpu2"}, pipeline=4)
        placed = place_layers(layers, cluster, params)
        assert placed.plan is not None
        assert placed.plan.grid[0, 0, 0] == 5
        assert placed.plan.grid[3, 0, 0] == 2


@pytest.mark.slow
def test_rank_order_is_proved_on_regular_hardware() -> None:
    """With TP 8 in each of two equal machines nothing is better than ranks in order."""
    params = PlaceParams(schedule="1f1b", pipeline=2, tensor=8, microbatches=8)
    placed = place_layers(read_model(SMALL), read_cluster("dgx:2"), params)
    proof = next(stage.detail for stage in placed.stages if stage.name == "ranks")
    assert placed.plan is not None
    assert proof["same_cuts_optimal"]
    assert {frozenset(row) for row in placed.plan.grid[:, 0].tolist()} == {
        frozenset(row) for row in rank_order((2, 1, 8))[:, 0].tolist()
    }


@pytest.mark.slow
def test_ranks_on_irregular_links_beat_rank_order() -> None:
    """Rings of tensor-parallel ranks lie along the NVLinks of two DGX-1V."""
    layers, cluster = read_model(f"{SMALL},flops=4e14"), read_cluster("dgx-1v:2")
    params = PlaceParams(schedule="1f1b", pipeline=4, tensor=2, data=2, microbatches=32)
    placed = place_layers(layers, cluster, params)
    judge = Evaluator(layers=layers, cluster=cluster, schedule="1f1b", microbatches=32)
    assert placed.plan is not None
    assert placed.iteration_s < 0.9 * judge.seconds(Plan(cuts=placed.plan.cuts, grid=rank_order((4, 2, 2))))


@pytest.mark.slow
@pytest.mark.parametrize(("tensor", "data"), [(1, 1), (2, 1), (1, 2)])
def test_memory_that_is_missing_is_a_result(tensor: int, data: int) -> None:
    """It says how much, and at which layer."""
    cluster = read_cluster("dgx:1")
    small = replace(cluster, memory_bytes=np.full(8, 1e7))
    params = PlaceParams(schedule="1f1b", tensor=tensor, data=data)
    placed = place_layers(read_model(SMALL), small, params)
    assert placed.plan is None
    assert placed.bottleneck_s is placed.lower_bound_s is None
    (violation,) = placed.violations
    assert violation.kind == "memory"
    assert "B more" in violation.message
    assert "'embedding'" in violation.message


def test_devices_without_links_are_named(drawn_layers: DrawnLayers) -> None:
    """No device alone holds the model."""
    apart = Cluster(
        names=("x", "y"), speed=np.ones(2), memory_bytes=np.full(2, 20.0), curves=(), link=np.full((2, 2), -1)
    )
    (violation,) = place_layers(drawn_layers(10, 0), apart, PlaceParams()).violations
    assert violation.kind == "unlinked"
    assert "'x'" in violation.message


def test_more_stages_than_layers_are_a_result(drawn_layers: DrawnLayers) -> None:
    """Five devices of two stages each need ten layers."""
    params = PlaceParams(schedule="interleaved", pipeline=5)
    (violation,) = place_layers(drawn_layers(9, 0), read_cluster("dgx:1"), params).violations
    assert violation.kind == "stages"


@pytest.mark.slow
def test_interleaved_stages_are_squeezed_into_memory(drawn_layers: DrawnLayers) -> None:
    """Where no candidate fits, the cuts move until one does."""
    layers = replace(drawn_layers(12, 5), state_bytes=np.array([9.0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9]))
    cluster = read_cluster("dgx:1")
    params = PlaceParams(schedule="interleaved", pipeline=2, microbatches=4, virtual=2)
    free = place_layers(layers, cluster, params)
    tight = replace(cluster, memory_bytes=np.full(8, max(free.memory_bytes) * 0.99))
    placed = place_layers(layers, tight, params)
    assert placed.plan is None or max(placed.memory_bytes) <= tight.memory_bytes[0]


def test_time_that_is_up_ends_the_search(drawn_layers: DrawnLayers) -> None:
    """What is known by then is a plan all the same."""
    placed = place_layers(drawn_layers(20, 0), read_cluster("dgx:1"), PlaceParams(schedule="1f1b"), stop=lambda: True)
    assert placed.plan is not None


def test_bug_what_the_closest_plan_lacks_is_in_units(drawn_layers: DrawnLayers) -> None:
    """With advice, as all messages on memory."""
    layers = replace(drawn_layers(12, 5), state_bytes=np.full(12, 3e9))
    cluster = replace(read_cluster("dgx:1"), memory_bytes=np.full(8, 5e9))
    params = PlaceParams(schedule="interleaved", pipeline=2, microbatches=4, virtual=2)
    (violation,) = place_layers(layers, cluster, params).violations
    assert violation.message.startswith(f"{UNDECIDED}; the closest one lacks ")
    assert violation.message.endswith(f" GB; {ADVICE}")


def test_bug_pins_that_no_plan_keeps_were_said_to_lack_no_memory(drawn_layers: DrawnLayers) -> None:
    """The first and the last layer of a V are on one device."""
    layers = drawn_layers(12, 5)
    pinned = {layers.names[0]: "m0.gpu0", layers.names[-1]: "m0.gpu1"}
    params = PlaceParams(schedule="zb-v", pipeline=2, microbatches=4, pinned=pinned)
    assert [each.message for each in place_layers(layers, read_cluster("dgx:1"), params).violations] == [UNDECIDED]
