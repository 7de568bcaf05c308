"""Tests of plans whose stages go to the last device and back, or both ways, beside all plans there are."""

from itertools import combinations, permutations
from typing import get_args

import numpy as np
import pytest

from tiger.placement.params import PlaceParams
from tiger.placement.search.evaluator import Evaluator
from tiger.placement.solve import place_layers
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.hardware.reading import read_cluster
from tiger.training.models.layers import Layers
from tiger.training.models.reading import read_model
from tiger.training.schedules.pass_orders import Schedule, stages_each, style_of

SCHEDULES = [schedule for schedule in get_args(Schedule) if style_of(schedule) != "loop"]


def draw(seed: int) -> tuple[Layers, Cluster]:
    """Return six layers and three devices of two speeds, with little memory or without a limit."""
    rng = np.random.default_rng(seed)
    backward_s, state = rng.lognormal(0.7, 0.5, 6), 4 * rng.random(6)
    layers = Layers(
        names=tuple("abcdef"),
        forward_s=rng.lognormal(0, 0.5, 6),
        backward_s=backward_s,
        weight_s=backward_s * rng.random(6),
        parameter_bytes=state,
        state_bytes=state,
        held_bytes=rng.random(6),
        crossing_bytes=np.concatenate([[0], rng.random(5) * rng.choice([0, 0.2, 2]), [0]]),
    )
    cluster = Cluster(
        names=("x", "y", "z"),
        speed=rng.choice([1.0, 2.0], 3),
        memory_bytes=rng.choice([np.inf, 8.0, 12.0, 20.0], 3),
        curves=(Curve.affine(1.0, 0.0),),
        link=np.zeros((3, 3), np.int64),
    )
    return layers, cluster


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_bounds_are_below_all_orders_and_cuts(schedule: Schedule, seed: int) -> None:
    """No plan is quicker than what is proved, and what is not found is not called impossible."""
    (layers, cluster), count, each = draw(seed), 8, stages_each(schedule) or 1
    evaluator = Evaluator(layers=layers, cluster=cluster, schedule=schedule, microbatches=count)
    plans = [
        Plan(cuts=(0, *inner, 6), grid=np.reshape(order, (-1, 1, 1)), style=style_of(schedule))
        for p in (1, 2, 3)
        for order in permutations(range(3), p)
        for inner in combinations(range(1, 6), each * p - 1)
    ]
    fitting = [plan for plan in plans if evaluator.value(plan) < np.inf]
    found = place_layers(layers, cluster, PlaceParams(schedule=schedule, microbatches=count))
    if not fitting or found.plan is None:
        assert [each.kind for each in found.violations] == ["undecided"]
        return
    least = min(map(evaluator.value, fitting))
    assert least * (1 - 1e-9) <= found.iteration_s
    assert found.iteration_bound_s <= least * (1 + 1e-12)
    assert found.lower_bound_s <= min(map(evaluator.bottleneck_s, fitting)) * (1 + 1e-12)


@pytest.mark.slow
def test_bug_many_ranks_were_to_be_proved_with_one_stage_a_device() -> None:
    """Of 64 ranks rank order is proved before a search, which no V is."""
    model = read_model("transformer:layers=16,hidden=256,heads=8,vocabulary=1000,sequence=128")
    params = PlaceParams(schedule="zb-v", microbatches=4, pipeline=2, tensor=8, data=4)
    placed = place_layers(model, read_cluster("dgx:8"), params)
    assert placed.plan is not None
    assert placed.plan.stage_positions.tolist() == [0, 1, 1, 0]
