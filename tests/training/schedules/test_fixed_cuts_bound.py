"""Tests of what cuts cannot go below on given devices."""

from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest

from tiger.placement.params import PlaceParams
from tiger.placement.search.evaluator import Evaluator
from tiger.placement.solve import place_layers
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers
from tiger.training.schedules.fixed_cuts_bound import FixedCutsBound
from tiger.training.schedules.pass_orders import Schedule, stages_each, style_of

# Chimera has an even number of positions, and tests of its own.
SCHEDULES = [schedule for schedule in get_args(Schedule) if schedule != "chimera"]


def test_the_last_position_waits_for_the_first_microbatch() -> None:
    """One layer of 1 s and 2 s each on two devices: 1 s, then four times 3 s."""
    layers = Layers(
        names=("a", "b"),
        forward_s=np.ones(2),
        backward_s=np.full(2, 2.0),
        parameter_bytes=np.ones(2),
        crossing_bytes=np.zeros(3),
    )
    cluster = Cluster(names=("x", "y"), speed=np.ones(2), memory_bytes=np.ones(2), curves=(), link=np.full((2, 2), -1))
    floor = FixedCutsBound.of(layers, cluster, np.array([0, 1]).reshape(2, 1, 1), 4)
    assert floor.seconds((0, 1, 2)) == pytest.approx(13)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("seed", range(4))
def test_no_simulation_is_quicker(
    drawn_layers: Callable[[int, int], Layers],
    drawn_cluster: Callable[[int, int], Cluster],
    schedule: Schedule,
    seed: int,
) -> None:
    """Whatever the cuts, the groups and the schedule."""
    rng, layers, cluster = np.random.default_rng(seed), drawn_layers(9, seed), drawn_cluster(8, seed)
    virtual, grid, style = stages_each(schedule) or 2, rng.permutation(8).reshape(2, 2, 2), style_of(schedule)
    inner = np.sort(rng.choice(np.arange(1, 9), 2 * virtual - 1, replace=False)).tolist()
    plan = Plan(cuts=(0, *inner, 9), grid=grid, style=style)
    evaluator = Evaluator(layers=layers, cluster=cluster, schedule=schedule, microbatches=4)
    bound_s = FixedCutsBound.of(layers, cluster, grid, 4, style).seconds(plan.cuts)
    assert bound_s <= evaluator.seconds(plan) * (1 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["gpipe", "1f1b", "interleaved", "zero-bubble", "zb-v"])
def test_the_floor_changes_no_answer(
    drawn_layers: Callable[[int, int], Layers],
    drawn_cluster: Callable[[int, int], Cluster],
    monkeypatch: pytest.MonkeyPatch,
    schedule: Schedule,
) -> None:
    """A search that simulates all cuts ends with the same plan."""
    layers, cluster = drawn_layers(12, 3), drawn_cluster(3, 3)
    params = PlaceParams(schedule=schedule, microbatches=6, pipeline=3)
    quick = place_layers(layers, cluster, params)
    monkeypatch.setattr(FixedCutsBound, "seconds", lambda self, cuts: 0.0)
    slow = place_layers(layers, cluster, params)
    assert quick.plan is not None
    assert slow.plan is not None
    assert (quick.iteration_s, quick.plan.cuts) == (slow.iteration_s, slow.plan.cuts)
