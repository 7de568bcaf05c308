"""Tests of the best cuts at given positions."""

from dataclasses import replace

import numpy as np
import pytest

from tests.placement.chain.instances import all_cuts, cluster_of, draw_case, layers_of, loads_of, positions_of
from tiger.placement.chain.fixed_order import split
from tiger.placement.chain.params import LineParams


def test_messages_count_at_both_ends_in_both_directions() -> None:
    """Seconds 4 | 4 with a message of 1 s between: 4 + 2 x 1 each; 3 | 5 with one of 0.25 s is 5.5."""
    layers = layers_of([3.0, 1.0, 4.0], sent=[0.25, 1.0])
    found = split(layers, *positions_of(layers, cluster_of([1.0, 1.0]), (0, 1)), LineParams())
    assert found is not None
    assert (found.cuts, found.bottleneck_s, found.bound_s) == ((0, 1, 3), 5.5, 5.5)


def test_a_faster_position_gets_more() -> None:
    """Four equal layers at speeds 3 and 1 are three and one."""
    layers = layers_of([3.0] * 4)
    found = split(layers, *positions_of(layers, cluster_of([3.0, 1.0]), (0, 1)), LineParams())
    assert found is not None
    assert (found.cuts, found.bottleneck_s) == ((0, 3, 4), 3.0)


def test_early_stages_hold_more_microbatches() -> None:
    """With one microbatch more in the first stage than in the last, six bytes hold one layer there and three here."""
    layers = layers_of([1.0] * 4, state=[1.0] * 4, held=[1.0] * 4)
    params = LineParams(in_flight=lambda after: 1 + 3 * after)
    found = split(layers, *positions_of(layers, cluster_of([1.0, 1.0], memory=6.0), (0, 1)), params)
    assert found is not None
    assert found.cuts == (0, 1, 4)


def test_no_cuts_where_memory_is_short() -> None:
    """Two layers of two bytes each do not fit into three."""
    layers = layers_of([1.0, 1.0], state=[2.0, 2.0])
    assert split(layers, *positions_of(layers, cluster_of([1.0], memory=3.0), (0,)), LineParams()) is None


def test_pins_are_kept() -> None:
    """The first three layers of four are pinned to the first position."""
    layers = layers_of([1.0] * 4)
    found = split(layers, *positions_of(layers, cluster_of([1.0, 1.0]), (0, 1)), LineParams(pinned={2: 0}))
    assert found is not None
    assert found.cuts == (0, 3, 4)


def test_positions_with_several_stages_share_their_memory() -> None:
    """Four stages on two positions: each may have two of four bytes."""
    layers = layers_of([1.0] * 6)
    positions, sent = positions_of(layers, cluster_of([1.0, 1.0], memory=4.0), (0, 1))
    found = split(layers, positions, np.repeat(sent, 3, axis=0), LineParams(pinned={0: 0, 5: 1}))
    assert found is not None
    assert len(found.cuts) == 5
    assert found.bottleneck_s == 2.0


def test_tensor_parallel_ranks_share_bytes() -> None:
    """Two ranks of two bytes hold four."""
    layers = layers_of([1.0] * 4)
    positions, sent = positions_of(layers, cluster_of([1.0], memory=2.0), (0,))
    assert split(layers, positions, sent, LineParams()) is None
    assert split(layers, [replace(positions[0], ranks=2)], sent, LineParams()) is not None


def test_times_of_zero_are_split_as_well() -> None:
    """Nothing takes nothing."""
    layers = layers_of([0.0] * 3)
    found = split(layers, *positions_of(layers, cluster_of([1.0, 1.0]), (0, 1)), LineParams())
    assert found is not None
    assert found.bottleneck_s == found.bound_s == 0.0


def test_a_stop_leaves_a_bound_below() -> None:
    """The first cuts found are returned, and what is known."""
    layers = layers_of([1.0, 3.0, 2.0, 5.0, 4.0, 3.0], sent=[1.0] * 5)
    at = positions_of(layers, cluster_of([1.0] * 3), (0, 1, 2))
    stopped, exact = split(layers, *at, LineParams(), lambda: True), split(layers, *at, LineParams())
    assert stopped is not None
    assert exact is not None
    assert stopped.bound_s <= exact.bottleneck_s <= stopped.bottleneck_s


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_no_cuts_are_better(seed: int) -> None:
    """All cuts of random chains are tried."""
    layers, cluster, params = draw_case(seed, 7, 4)
    stages = min(layers.size, cluster.size)
    devices = tuple(np.random.default_rng(seed).permutation(cluster.size)[:stages].tolist())
    pins = {layer: devices.index(device) for layer, device in params.pinned.items() if device in devices}
    by_device = replace(params, pinned={layer: devices[position] for layer, position in pins.items()})
    best = min(loads_of(layers, cluster, by_device, (devices, c)).max() for c in all_cuts(layers.size, stages))
    found = split(layers, *positions_of(layers, cluster, devices), replace(params, pinned=pins))
    assert (found is None) == np.isinf(best)
    if found is not None:
        assert found.bottleneck_s == pytest.approx(best, 1e-12, 1e-12)
        assert loads_of(layers, cluster, by_device, (devices, found.cuts)).max() == pytest.approx(best, 1e-12, 1e-12)
