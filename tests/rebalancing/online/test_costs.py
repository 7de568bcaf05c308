"""Tests of the cuts for an order of devices, against the exact dynamic program of the chain."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from tiger.placement.chain.fixed_order import split
from tiger.placement.chain.params import LineParams
from tiger.placement.search.evaluator import Evaluator
from tiger.rebalancing.online.costs import DeviceCuts, FixedCosts, LayerCosts
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import position_of, transfers_s
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


def costs_of(layers: Layers, cluster: Cluster) -> LayerCosts:
    """Return the costs that a model and a cluster state."""
    return LayerCosts.of(layers.forward_s + layers.backward_s, 1 / cluster.speed)


def least_bottleneck_s(layers: Layers, cluster: Cluster, order: tuple[int, ...]) -> float:
    """Return the least bottleneck of an order by the dynamic program of the chain, infinite where nothing fits."""
    ranks = [np.array([[device]]) for device in order]
    sent = [transfers_s(layers, cluster, a, b) for a, b in pairwise(ranks)]
    found = split(layers, [position_of(layers, cluster, rank) for rank in ranks], np.array(sent), LineParams())
    return np.inf if found is None else found.bottleneck_s


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("memory_bytes", [np.inf, 12.0])
def test_cuts_are_those_of_the_exact_cut_dp(
    seed: int,
    memory_bytes: float,
    drawn_layers: Callable[..., Layers],
    drawn_cluster: Callable[..., Cluster],
) -> None:
    """The least bottleneck of an order of devices, memory and links of their own included, or that there is none."""
    layers, cluster = drawn_layers(9, seed), drawn_cluster(4, seed, memory_bytes=memory_bytes)
    order = tuple(np.random.default_rng(seed).permutation(4).tolist())
    found = FixedCosts.of(layers, cluster).best_cuts(costs_of(layers, cluster), order)
    expected = least_bottleneck_s(layers, cluster, order)
    assert (np.inf if found is None else found[0]) == pytest.approx(expected)
    if found is not None:
        assert Evaluator(layers=layers, cluster=cluster).value(Plan.line(*found[1])) == pytest.approx(expected)


def test_cuts_are_found_below_a_limit_alone(
    drawn_layers: Callable[..., Layers], drawn_cluster: Callable[..., Cluster]
) -> None:
    """The least bottleneck is below a limit just above it, and not below itself."""
    layers, cluster = drawn_layers(9, 0), drawn_cluster(3, 0)
    terms, stated = FixedCosts.of(layers, cluster), costs_of(layers, cluster)
    best = terms.best_cuts(stated, (0, 1, 2))
    assert best is not None
    assert terms.best_cuts(stated, (0, 1, 2), best[0] * 1.001) == best
    assert terms.best_cuts(stated, (0, 1, 2), best[0]) is None


def test_loads_are_those_that_a_judge_makes(
    drawn_layers: Callable[..., Layers], drawn_cluster: Callable[..., Cluster]
) -> None:
    """The bottleneck of a line is that of its plan, messages at both ends of a boundary included."""
    layers, cluster = drawn_layers(9, 2), drawn_cluster(3, 2)
    lines = [DeviceCuts((0, 3, 7, 9), (1, 0, 2)), DeviceCuts((0, 1, 2, 9), (2, 1, 0))]
    found = FixedCosts.of(layers, cluster).bottlenecks_s(costs_of(layers, cluster), lines)
    evaluator = Evaluator(layers=layers, cluster=cluster)
    assert found.tolist() == pytest.approx([evaluator.bottleneck_s(Plan.line(*line)) for line in lines])


def test_what_a_device_cannot_hold_or_send_is_left_out(
    drawn_layers: Callable[..., Layers], drawn_cluster: Callable[..., Cluster]
) -> None:
    """Of lines with too much on a device, or over no link, none is left."""
    layers = drawn_layers(4, 3)
    lines = [DeviceCuts((0, 2, 4), (0, 1)), DeviceCuts((0, 1, 4), (0, 1))]
    room = float(layers.state_bytes[1:].sum()) - 0.01
    cluster = drawn_cluster(2, 3, memory_bytes=room)
    assert lines[1] not in FixedCosts.of(layers, cluster).feasible_lines(lines)
    apart = Cluster(
        names=cluster.names,
        speed=cluster.speed,
        memory_bytes=np.full(2, np.inf),
        curves=(),
        link=np.full((2, 2), -1),
    )
    assert FixedCosts.of(layers, apart).feasible_lines(lines) == []
    assert FixedCosts.of(layers, apart).feasible_lines([]) == []
