"""Tests of exact cuts along orders of devices."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from tiger.placement.chain.params import LineParams
from tiger.placement.ranks.line_costs import LayerLinkCosts
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import workloads
from tiger.training.models.layers import Layers

FREE = LineParams()


@pytest.mark.parametrize("seed", range(4))
def test_cuts_are_the_best_of_all(seed, drawn_layers, drawn_cluster):
    """The bottleneck along an order is the least over all cuts."""
    layers, cluster = drawn_layers(8, seed), drawn_cluster(3, seed)
    order = tuple(np.random.default_rng(seed).permutation(3).tolist())
    cuts = [(0, *inner, 8) for inner in combinations(range(1, 8), 2)]
    loads = [workloads(layers, cluster, Plan.line(each, order))[0].loads_s.max() for each in cuts]
    assert LayerLinkCosts.of(layers, cluster, FREE).cut(order).bottleneck_s == pytest.approx(min(loads), rel=1e-12)


def test_many_orders_are_told_apart_at_once(drawn_layers, drawn_cluster):
    """An order is within a limit just where its own bottleneck is; -1 ends a shorter one."""
    lines = LayerLinkCosts.of(drawn_layers(8, 1), drawn_cluster(4, 1), FREE)
    orders = np.array([[0, 1, 2, 3], [2, 3, 0, 1], [3, 1, -1, -1], [0, -1, -1, -1]])
    limit = lines.cut([2, 3, 0, 1]).bottleneck_s * (1 + 1e-9)
    wanted = [lines.cut([device for device in order if device >= 0]).bottleneck_s <= limit for order in orders]
    assert lines.within(orders, np.full(4, limit)).tolist() == wanted
    assert lines.within(orders[:0], np.zeros(0)).tolist() == []


def test_memory_moves_the_cut(regular):
    """Four layers of 1 s and 1 byte on two devices, of which the first holds one byte: it gets one layer."""
    layers, cluster = _plain(4), _with_memory(regular(1, 2), [1, 9])
    assert LayerLinkCosts.of(layers, cluster, FREE).cut([0, 1]).cuts == (0, 1, 4)


def test_microbatches_in_flight_count_from_the_end(regular):
    """With a byte held a layer for each stage behind, the first of two devices of 4 bytes takes two of four layers."""
    layers, cluster = _plain(4, held=1.0), _with_memory(regular(1, 2), [4, 9])
    params = LineParams(in_flight=lambda after: float(after))
    assert LayerLinkCosts.of(layers, cluster, params).cut([0, 1]).cuts == (0, 2, 4)
    cluster = _with_memory(regular(1, 2), [3, 9])
    assert LayerLinkCosts.of(layers, cluster, params).cut([0, 1]).cuts == (0, 1, 4)


def test_layers_that_take_no_time_are_cut_too(regular):
    """Two layers that compute nothing, and send nothing, load two devices with nothing."""
    idle = replace(_plain(2), forward_s=np.zeros(2), backward_s=np.zeros(2), weight_s=np.zeros(2))
    assert LayerLinkCosts.of(idle, regular(1, 2), FREE).cut([0, 1]).bottleneck_s == 0


def test_a_layer_that_fits_nowhere_leaves_no_cuts(regular):
    """Without memory for a layer, the bottleneck is infinite."""
    line = LayerLinkCosts.of(_plain(4), _with_memory(regular(1, 2), [0.5, 9]), FREE).cut([0, 1])
    assert (line.cuts, line.bottleneck_s) == ((), np.inf)


def test_more_devices_than_layers_have_no_cuts(regular):
    """Three devices cannot all have one of two layers."""
    assert LayerLinkCosts.of(_plain(2), regular(1, 3), FREE).cut([0, 1]).cuts == (0, 1, 2)
    assert LayerLinkCosts.of(_plain(2), regular(1, 2), FREE).boundaries == 3


def _plain(size: int, held: float = 0.0) -> Layers:
    """Return layers of 1 s and 1 byte that send nothing."""
    return Layers(
        names=tuple(f"l{k}" for k in range(size)),
        forward_s=np.full(size, 0.5),
        backward_s=np.full(size, 0.5),
        parameter_bytes=np.ones(size),
        held_bytes=np.full(size, held),
        crossing_bytes=np.zeros(size + 1),
    )


def _with_memory(cluster, memory):
    """Return the devices with other memory."""
    return replace(cluster, memory_bytes=np.array(memory, np.float64))
