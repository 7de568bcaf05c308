"""The least latency of all lines, against trying every one."""

from itertools import permutations

import numpy as np
import pytest

from tests.placement.chain.instances import all_cuts, cluster_of, draw_case, layers_of, loads_of
from tiger.placement.chain.device_types import device_types_of, group_equal_devices
from tiger.placement.chain.latency_dp import LatencyLine, latency_graph, quickest_line
from tiger.placement.chain.params import LineParams
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import workloads
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers
from tiger.training.models.serving import forward_alone


def find(layers: Layers, cluster: Cluster, params: LineParams) -> LatencyLine | None:
    """Return the quickest line of a forward pass."""
    alone = forward_alone(layers)
    return quickest_line(
        latency_graph(alone, device_types_of(alone, cluster, group_equal_devices(cluster, params)), params)
    )


def latency_s(layers: Layers, cluster: Cluster, line: tuple[tuple[int, ...], tuple[int, ...]]) -> float:
    """Return forward passes and messages of devices and cuts, one after the other."""
    load = workloads(layers, cluster, Plan.line(line[1], line[0]))[0]
    return float(load.forward_s.sum() + load.transfer_s.sum())


@pytest.mark.parametrize("seed", range(60))
def test_no_line_is_quicker(seed: int) -> None:
    """Over all devices, orders and cuts, with memory, links that are missing, ties and pins."""
    layers, cluster, params = draw_case(seed, 6, 4)
    counts = [params.stages] if params.stages else range(1, min(layers.size, cluster.size) + 1)
    lines = [
        (devices, cuts)
        for count in counts
        for devices in permutations(range(cluster.size), count)
        for cuts in all_cuts(layers.size, count)
        if np.isfinite(loads_of(layers, cluster, params, (devices, cuts))).all()
    ]
    found = find(layers, cluster, params)
    assert (found is None) == (not lines)
    if found is not None:
        least = min(latency_s(layers, cluster, line) for line in lines)
        assert found.latency_s == pytest.approx(least, abs=1e-12)
        assert latency_s(layers, cluster, (found.devices, found.cuts)) == pytest.approx(least, abs=1e-12)
        assert (found.devices, found.cuts) in lines


def test_one_fast_device_is_enough() -> None:
    """Three layers of 2 s forward on a device of speed 2 take 3 s; a slow one beside it stays unused."""
    found = find(layers_of([4.0, 4.0, 4.0]), cluster_of([1.0, 2.0]), LineParams())
    assert found is not None
    assert (found.devices, found.cuts, found.latency_s) == ((1,), (0, 3), 3.0)


def test_a_message_goes_forward_once() -> None:
    """A byte over a link of a byte a second takes a second where memory needs two devices."""
    found = find(layers_of([4.0, 4.0], [1.0]), cluster_of([1.0, 1.0], memory=1.0), LineParams())
    assert found is not None
    assert found.latency_s == 2.0 + 1.0 + 2.0
