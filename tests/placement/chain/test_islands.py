"""Tests of lines over islands that can be exchanged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.placement.chain.instances import cluster_of, draw_case, layers_of, loads_of
from tiger.placement.chain import islands as module
from tiger.placement.chain.best_order import best_line, bound_s, sweep_steps
from tiger.placement.chain.islands import island_line
from tiger.placement.chain.params import LineParams
from tiger.training.hardware.cluster import Cluster


def _machines(machine: list[int], speed: list[float], memory: float = np.inf) -> Cluster:
    """Return devices with fast links in a machine and slow ones between machines."""
    at = np.array(machine)
    return cluster_of(speed, np.where(at[:, None] == at, 2, 0).tolist(), memory)


def test_runs_fill_machines() -> None:
    """Three machines of two: the line crosses where the messages are small."""
    layers = layers_of([4.0] * 6, sent=[1.0, 0.1, 1.0, 0.1, 1.0])
    found = island_line(layers, _machines([0, 1, 2, 0, 1, 2], [1.0] * 6), LineParams())
    assert found is not None
    assert found.devices == (0, 3, 1, 4, 2, 5)
    assert found.bottleneck_s == pytest.approx(4.7)


def test_a_machine_may_be_used_twice() -> None:
    """Runs of 1, 2 and 1 on two machines of two: the ends share one."""
    layers = layers_of([4.0] * 4, sent=[0.1, 9.0, 0.1])
    found = island_line(layers, _machines([0, 0, 1, 1], [1.0] * 4), LineParams(stages=4))
    assert found is not None
    assert found.devices == (0, 2, 3, 1)
    assert found.bottleneck_s == pytest.approx(8.7)


def test_runs_that_no_machines_have_room_for_tell_nothing() -> None:
    """Runs of 2, 2, 2 would be best; two machines of three have no room for them, for best_line to find out."""
    layers = layers_of([4.0] * 6, sent=[1.0, 0.1, 1.0, 0.1, 1.0])
    cluster = _machines([0, 0, 0, 1, 1, 1], [1.0] * 6)
    assert island_line(layers, cluster, LineParams()) is None
    assert bound_s(layers, cluster, LineParams(), 400) == pytest.approx(4.7)
    assert best_line(layers, cluster, LineParams()).bottleneck_s > 4.7


def test_orders_of_many_machines_need_not_be_told_apart() -> None:
    """Sixteen of eight devices have too many, but runs of at most eight devices have few."""
    layers = layers_of([1.0] * 12, sent=[0.01] * 11)
    cluster = _machines([k // 8 for k in range(128)], [1.0] * 128)
    assert sweep_steps(layers, cluster, LineParams()) > 10**15
    found = island_line(layers, cluster, LineParams())
    assert found is not None
    assert len(found.devices) == 12
    assert found.bottleneck_s == pytest.approx(1.025)
    assert bound_s(layers, cluster, LineParams()) == pytest.approx(found.bottleneck_s)


def test_a_pinned_device_is_not_exchanged() -> None:
    """Its machine consists of it and of the others."""
    layers = layers_of([4.0] * 4, sent=[1.0, 0.1, 1.0])
    found = island_line(layers, _machines([0, 0, 1, 1], [1.0] * 4), LineParams(pinned={0: 3}))
    assert found is not None
    assert found.devices == (3, 2, 0, 1)


def test_nothing_is_found_where_nothing_fits() -> None:
    """Memory is short."""
    layers = layers_of([1.0] * 4, state=[9.0] * 4)
    assert island_line(layers, _machines([0, 0, 1, 1], [1.0] * 4, 2.0), LineParams()) is None


def test_nothing_is_tried_above_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """One step is not enough."""
    monkeypatch.setattr(module, "WORK_LIMIT", 1)
    assert island_line(layers_of([1.0] * 4), _machines([0, 0, 1, 1], [1.0] * 4), LineParams()) is None


@pytest.mark.slow
@given(st.integers(0, 10**6), st.lists(st.integers(0, 2), min_size=1, max_size=7), st.integers(1, 3000))
def test_what_is_found_is_exact_and_bounds_are_bounds(seed: int, machine: list[int], limit: int) -> None:
    """Two types of machines, of any sizes, with memory, pins and schedules."""
    layers, _, params = draw_case(seed, 7, len(machine))
    params = LineParams(in_flight=params.in_flight, pinned=params.pinned)
    memory = float(layers.state_bytes.sum()) * 0.5 + 2
    cluster = _machines(machine, [1.0 + (m == 2) for m in machine], memory)
    params = params if max(params.pinned.values(), default=0) < len(machine) else LineParams()
    exact, found = best_line(layers, cluster, params), island_line(layers, cluster, params)
    if exact is not None:
        assert bound_s(layers, cluster, params, limit) <= exact.bottleneck_s * (1 + 1e-11)
    if found is not None:
        assert found.bottleneck_s == pytest.approx(exact.bottleneck_s, 1e-11)
        assert loads_of(layers, cluster, params, found[:2]).max() == pytest.approx(found.bottleneck_s, 1e-11)
