"""Tests of the bound on an iteration."""

import dataclasses
from itertools import combinations
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import position_of, workloads
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers
from tiger.training.schedules.bound import PlanBounds, iteration_bound_s
from tiger.training.schedules.pass_orders import Schedule, stages_each, style_of
from tiger.training.schedules.simulator import iteration_s

# Chimera has an even number of positions, and tests of its own.
SCHEDULES = [schedule for schedule in get_args(Schedule) if schedule != "chimera"]


def random_case(seed, size, positions):
    """Return layers, and a cluster of as many devices of two speeds as there are positions."""
    rng = np.random.default_rng(seed)
    backward = rng.lognormal(0.7, 0.5, size)
    layers = Layers(
        names=tuple(f"layer{at}" for at in range(size)),
        forward_s=rng.lognormal(0, 0.5, size) * (rng.random(size) > 0.1),
        backward_s=backward,
        weight_s=backward * rng.random(size),
        parameter_bytes=np.zeros(size),
        crossing_bytes=np.concatenate([[0], rng.random(size - 1) * rng.choice([0, 0.2, 2]), [0]]),
    )
    cluster = Cluster(
        names=tuple(f"gpu{at}" for at in range(positions)),
        speed=rng.choice([1.0, 2.0], positions),
        memory_bytes=np.full(positions, np.inf),
        curves=(Curve.affine(1.0, 0.0),),
        link=np.zeros((positions, positions), np.int64),
    )
    return layers, cluster


def floors_of(layers, cluster, bottleneck):
    """Return the floors of plans with a device a position."""
    places = [position_of(layers, cluster, np.array([[at]])) for at in range(cluster.size)]
    return PlanBounds.of(layers, places, bottleneck)


@given(
    schedule=st.sampled_from(SCHEDULES),
    seed=st.integers(0, 2**32 - 1),
    positions=st.integers(1, 3),
    groups=st.integers(1, 3),
)
def test_no_cut_beats_the_bound(schedule, seed, positions, groups):
    """Tests every plan of six layers on devices in order."""
    layers, cluster = random_case(seed, 6, positions)
    stages, m = positions * (stages_each(schedule) or 2), positions * (groups + (schedule == "dualpipe-v"))
    grid = np.arange(positions).reshape(-1, 1, 1)
    cuts = [(0, *inner, 6) for inner in combinations(range(1, 6), stages - 1)]
    plans = [Plan(cuts=each, grid=grid, style=style_of(schedule)) for each in cuts]
    loads = [workloads(layers, cluster, plan)[0] for plan in plans]
    floors = floors_of(layers, cluster, min(load.loads_s.max() for load in loads))
    best = min(iteration_s(load, schedule, m) for load in loads)
    assert iteration_bound_s(floors, schedule, positions, m) <= best * (1 + 1e-12)


def equal_stages(stages, positions):
    """Return layers of 1 s forward, 1 s for gradients and 1 s for weights, and as many equal devices."""
    layers = Layers(
        names=tuple(f"layer{at}" for at in range(stages)),
        forward_s=np.ones(stages),
        backward_s=np.full(stages, 2.0),
        parameter_bytes=np.zeros(stages),
        crossing_bytes=np.zeros(stages + 1),
    )
    return layers, dataclasses.replace(random_case(0, 2, positions)[1], speed=np.ones(positions))


@pytest.mark.parametrize(
    ("schedule", "exact"),
    [("gpipe", 45), ("1f1b", 45), ("interleaved", 81), ("zero-bubble", 39), ("zb-v", 75), ("dualpipe-v", 75)],
)
def test_the_bound_is_close_for_equal_stages(schedule, exact):
    """Tests four positions and twelve microbatches, where the closed forms are known."""
    size = 4 * (stages_each(schedule) or 2)
    floors = floors_of(*equal_stages(size, 4), 3.0 * size / 4)
    bound = iteration_bound_s(floors, schedule, 4, 12)
    assert 0.94 * exact < bound <= exact * (1 + 1e-12)
    assert bound > 12 * floors.bottleneck_s


def test_one_microbatch_takes_all_passes():
    """Tests two positions and one microbatch: 6 s, of which zero-bubble may hide the 2 s of weight passes."""
    floors = floors_of(*equal_stages(2, 2), 3.0)
    assert iteration_bound_s(floors, "1f1b", 2, 1) == 6.0
    assert iteration_bound_s(floors, "zero-bubble", 2, 1) == pytest.approx(4.0)


def test_layers_without_work_are_bounded_by_nothing():
    """Tests that no share of 0 s is taken."""
    layers, cluster = equal_stages(2, 2)
    idle = dataclasses.replace(layers, forward_s=np.zeros(2), backward_s=np.zeros(2), weight_s=np.zeros(2))
    assert iteration_bound_s(floors_of(idle, cluster, 0.0), "1f1b", 2, 4) == 0.0
