"""Tests of the bound over all cuts."""

import dataclasses
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import position_of, workloads
from tiger.training.hardware.cluster import NO_LINK, Cluster, Curve
from tiger.training.models.layers import Layers
from tiger.training.schedules import best_cuts_bound
from tiger.training.schedules.best_cuts_bound import LowestCosts, cut_bounds_s
from tiger.training.schedules.simulator import iteration_s

SCHEDULES = ["gpipe", "1f1b", "interleaved", "zero-bubble"]


def chain(forward, sent=0.0):
    """Return layers that take as long for gradients and for weights as forward, and send as many bytes each."""
    size = len(forward)
    return Layers(
        names=tuple(f"layer{at}" for at in range(size)),
        forward_s=np.array(forward, np.float64),
        backward_s=2 * np.array(forward, np.float64),
        parameter_bytes=np.zeros(size),
        crossing_bytes=np.concatenate([[0.0], np.broadcast_to(sent, size - 1), [0.0]]),
    )


def line_of(*speed):
    """Return devices of some speeds, a byte a second between any two."""
    size = len(speed)
    return Cluster(
        names=tuple(f"gpu{at}" for at in range(size)),
        speed=np.array(speed, np.float64),
        memory_bytes=np.full(size, np.inf),
        curves=(Curve.affine(1.0, 0.0),),
        link=np.zeros((size, size), np.int64),
    )


def leasts_of(layers, cluster):
    """Return what each device spends."""
    places = [position_of(layers, cluster, np.array([[at]])) for at in range(cluster.size)]
    return [LowestCosts.of(layers, cluster, [place]) for place in places], LowestCosts.of(layers, cluster, places)


def best_of(layers, cluster, schedule, microbatches):
    """Return the shortest iteration of all cuts, on devices in order."""
    size, positions = layers.size, cluster.size
    cuts = ((0, *cut, size) for cut in combinations(range(1, size), positions - 1))
    loads = (workloads(layers, cluster, Plan.line(cut, tuple(range(positions))))[0] for cut in cuts)
    return min(iteration_s(load, schedule, microbatches) for load in loads)


@pytest.mark.slow
@given(
    schedule=st.sampled_from(SCHEDULES),
    seed=st.integers(0, 2**32 - 1),
    positions=st.integers(1, 4),
    groups=st.integers(1, 4),
)
def test_no_cut_beats_the_bounds(schedule, seed, positions, groups):
    """Tests every cut of seven layers, with messages and devices of two speeds."""
    rng, m = np.random.default_rng(seed), positions * groups
    layers = chain(rng.lognormal(0, 0.5, 7), rng.random(6) * rng.choice([0.0, 1.0]))
    cluster = line_of(*rng.choice([1.0, 2.0], positions))
    _, every = leasts_of(layers, cluster)
    best = best_of(layers, cluster, schedule, m)
    assert cut_bounds_s(every, schedule, positions, m)[-1] <= best * (1 + 1e-12)


@pytest.mark.parametrize(("schedule", "exact"), [("gpipe", 45), ("1f1b", 45), ("zero-bubble", 39)])
def test_the_bound_is_met_by_a_layer_a_stage(schedule, exact):
    """Tests four equal layers on four devices and twelve microbatches."""
    every = leasts_of(chain([1] * 4), line_of(1, 1, 1, 1))[1]
    assert cut_bounds_s(every, schedule, 6, 12)[3] == pytest.approx(exact)


def test_fewer_stages_have_bounds_of_their_own():
    """Tests two layers, two microbatches: 12 s on one device, 9 s on two; three stages are too many."""
    every = leasts_of(chain([1, 1]), line_of(1, 1, 1))[1]
    assert cut_bounds_s(every, "1f1b", 3, 2).tolist() == [12.0, 9.0, np.inf]


def test_messages_count_at_both_ends():
    """Tests a cut of 1 s on two stages of 3 s: 5 s for each of ten microbatches, and 3 s at the other stage."""
    layers, cluster = chain([1, 1], 1.0), line_of(1, 1)
    assert cut_bounds_s(leasts_of(layers, cluster)[1], "1f1b", 2, 10)[1] == 53.0
    assert best_of(layers, cluster, "1f1b", 10) == 53.0


def test_the_largest_passes_of_gpipe_may_be_of_two_stages():
    """Tests forward passes of 1 s and 3 s, backward ones of 5 s and 1 s: 10 + 9 (3 + 5) s in ten microbatches."""
    layers, cluster = chain([1, 3]), line_of(1, 1)
    layers = dataclasses.replace(layers, backward_s=np.array([5.0, 1.0]), weight_s=np.zeros(2))
    assert best_of(layers, cluster, "gpipe", 10) == 82.0
    bound = cut_bounds_s(leasts_of(layers, cluster)[1], "gpipe", 2, 10)[1]
    assert 64.0 < bound <= 82.0


@pytest.mark.parametrize("limit", ["MOST_LAYERS", "MOST_WINDOWED"])
def test_too_many_layers_have_a_weaker_bound(monkeypatch, limit):
    """Tests the limits of memory and of work: nothing is claimed beyond them."""
    layers, cluster = chain([1, 3]), line_of(1, 1)
    _, every = leasts_of(layers, cluster)
    best = cut_bounds_s(every, "gpipe", 2, 10)[1]
    monkeypatch.setattr(best_cuts_bound, limit, 1)
    assert cut_bounds_s(every, "gpipe", 2, 10)[1] <= best


def test_devices_without_links_send_in_no_time():
    """Tests that a bound needs no link at all."""
    alone = Cluster(
        names=("gpu0",),
        speed=np.ones(1),
        memory_bytes=np.ones(1),
        curves=(),
        link=np.full((1, 1), NO_LINK),
    )
    assert cut_bounds_s(leasts_of(chain([1, 1], 1.0), alone)[1], "gpipe", 1, 3).tolist() == [18.0]
