"""Tests of the evaluation of plans."""

from collections.abc import Callable

import numpy as np
import pytest

from tiger.placement.search.evaluator import Evaluator
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers

PLAN = Plan.line((0, 2, 4), (0, 1))


@pytest.fixture
def evaluator(drawn_layers: Callable[..., Layers], drawn_cluster: Callable[..., Cluster]) -> Evaluator:
    """Return an evaluator of four layers on three devices by the bottleneck."""
    return Evaluator(layers=drawn_layers(4, 0), cluster=drawn_cluster(3, 0))


def test_without_a_schedule_the_bottleneck_counts(evaluator: Evaluator) -> None:
    """Nothing is simulated then."""
    assert evaluator.value(PLAN) == evaluator.bottleneck_s(PLAN) == evaluator.seconds(PLAN)
    assert evaluator.bubble(PLAN) is None


def test_with_a_schedule_an_iteration_takes_a_bottleneck_for_each_microbatch(evaluator: Evaluator) -> None:
    """It takes no less, and devices wait for some of it."""
    timed = Evaluator(layers=evaluator.layers, cluster=evaluator.cluster, schedule="gpipe", microbatches=6)
    assert timed.value(PLAN) >= 6 * evaluator.bottleneck_s(PLAN)
    assert 0 < (timed.bubble(PLAN) or 0) < 1


def test_too_little_memory_is_infinitely_bad(evaluator: Evaluator, drawn_cluster: Callable[..., Cluster]) -> None:
    """How much is missing is said all the same."""
    held = evaluator.memory_bytes(PLAN)
    short = Evaluator(layers=evaluator.layers, cluster=drawn_cluster(3, 0, memory_bytes=float(held.max()) - 1))
    assert short.value(PLAN) == np.inf
    assert short.excess_bytes(PLAN) >= 1
    assert np.isfinite(short.seconds(PLAN))


def test_a_pin_that_is_not_kept_is_infinitely_bad(evaluator: Evaluator) -> None:
    """Layer 3 lies on device 1."""
    kept = Evaluator(layers=evaluator.layers, cluster=evaluator.cluster, pinned={3: 1})
    broken = Evaluator(layers=evaluator.layers, cluster=evaluator.cluster, pinned={3: 0})
    assert kept.value(PLAN) == evaluator.value(PLAN)
    assert broken.value(PLAN) == np.inf


def test_bug_a_microbatch_alone_went_in_both_directions(evaluator: Evaluator) -> None:
    """It takes one of two pipelines, at worst the slower one."""
    two = Plan(cuts=(0, 1, 4), grid=np.array([[[0]], [[1]]]), style="mirror")
    ways = [evaluator.latency_s(Plan.line((0, 1, 4), devices)) for devices in ((0, 1), (1, 0))]
    assert evaluator.latency_s(two) == max(ways)


def test_what_has_no_link_takes_for_ever(evaluator: Evaluator) -> None:
    """Devices that cannot send do not become neighbours."""
    bare = Cluster(
        names=("a", "b"), speed=np.ones(2), memory_bytes=np.full(2, np.inf), curves=(), link=np.full((2, 2), -1)
    )
    for schedule in (None, "1f1b"):
        assert Evaluator(layers=evaluator.layers, cluster=bare, schedule=schedule).value(PLAN) == np.inf
