"""Tests of cuts that trade the sum of loads for the bottleneck."""

from dataclasses import replace

import numpy as np
import pytest

from tests.placement.chain.instances import all_cuts, cluster_of, draw_case, layers_of, loads_of, positions_of
from tiger.placement.chain import frontier as module
from tiger.placement.chain.frontier import frontier, mix_weights
from tiger.placement.chain.params import LineParams


def _values(seed: int) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Return the bottlenecks and sums on the frontier of a random chain, and those of all cuts."""
    layers, cluster, params = draw_case(seed, 7, 4)
    params = replace(params, pinned={})
    devices = tuple(range(min(layers.size, cluster.size)))
    loads = [loads_of(layers, cluster, params, (devices, cuts)) for cuts in all_cuts(layers.size, len(devices))]
    found = frontier(layers, *positions_of(layers, cluster, devices), params)
    for cuts in found:
        assert loads_of(layers, cluster, params, (devices, cuts.cuts)).sum() == pytest.approx(cuts.total_s)
    return [(f.bottleneck_s, f.total_s) for f in found], [(x.max(), x.sum()) for x in loads if np.isfinite(x).all()]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_its_ends_are_the_least_bottleneck_and_the_least_sum(seed: int) -> None:
    """All cuts of random chains are tried; nothing on the frontier betters another in both."""
    found, every = _values(seed)
    assert bool(found) == bool(every)
    if every:
        least = min(every)[0]
        assert found[0] == pytest.approx((least, min(t for b, t in every if b <= least + 1e-9)), 1e-9, 1e-9)
        assert found[-1][1] == pytest.approx(min(total for _, total in every), 1e-9, 1e-9)
    assert found == sorted(found)
    assert [total for _, total in found] == sorted({total for _, total in found}, reverse=True)


def test_a_small_message_is_worth_a_larger_stage() -> None:
    """Cut in the middle, messages take 2 x 4 s; after the first layer, next to nothing."""
    layers = layers_of([2.0, 1.0, 1.0, 2.0], sent=[0.5, 0.1, 9.0])
    found = frontier(layers, *positions_of(layers, cluster_of([1.0, 1.0]), (0, 1)), LineParams())
    assert [cuts.cuts for cuts in found] == [(0, 2, 4)]
    layers = layers_of([2.0, 1.0, 1.0, 2.0], sent=[0.1, 0.5, 9.0])
    found = frontier(layers, *positions_of(layers, cluster_of([1.0, 1.0]), (0, 1)), LineParams())
    assert [cuts.cuts for cuts in found] == [(0, 2, 4), (0, 1, 4)]


def test_without_work_the_ends_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least bottleneck and the least sum cost next to nothing."""
    monkeypatch.setattr(module, "WORK_LIMIT", 0)
    layers = layers_of([2.0, 1.0, 1.0, 2.0], sent=[0.1, 0.5, 9.0])
    found = frontier(layers, *positions_of(layers, cluster_of([1.0, 1.0]), (0, 1)), LineParams())
    assert [cuts.cuts for cuts in found] == [(0, 2, 4), (0, 1, 4)]


def test_chains_without_times_have_one_point() -> None:
    """Zero is the least of both."""
    layers = layers_of([0.0] * 3)
    found = frontier(layers, *positions_of(layers, cluster_of([1.0, 1.0]), (0, 1)), LineParams())
    assert [(cuts.bottleneck_s, cuts.total_s) for cuts in found] == [(0.0, 0.0)]


def test_mixes_add_cuts_for_unequal_passes() -> None:
    """Only the last layer is not frozen: five and one by sums, four and two where forward passes count double."""
    backward = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 4.0])
    layers = replace(layers_of([2.0] * 6), backward_s=backward, weight_s=backward / 2)
    at = positions_of(layers, cluster_of([1.0, 1.0]), (0, 1))
    assert mix_weights(layers, *at, LineParams()) == ((0, 5, 6), (0, 4, 6))


def test_mixes_are_the_frontier_for_equal_ones() -> None:
    """Half and half throughout; a stop leaves what the first weight found."""
    layers = layers_of([2.0, 1.0, 1.0, 2.0], sent=[0.1, 0.5, 9.0])
    at = positions_of(layers, cluster_of([1.0, 1.0]), (0, 1))
    assert mix_weights(layers, *at, LineParams()) == tuple(point.cuts for point in frontier(layers, *at, LineParams()))
    layers = replace(layers, forward_s=np.array([2.0, 0.5, 0.0, 1.0]))
    assert len(mix_weights(layers, *at, LineParams(), lambda: True)) == 2
