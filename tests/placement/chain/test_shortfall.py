"""Tests of why nothing fits."""

import numpy as np
import pytest

from tests.placement.chain.instances import best_of_all, cluster_of, draw_case, layers_of
from tiger.placement.chain.best_order import best_line
from tiger.placement.chain.params import LineParams
from tiger.placement.chain.shortfall import Shortfall, find_shortfall


def test_the_least_missing_memory_is_named() -> None:
    """Layers of 3, 3, 3 bytes on two devices of 4 need 6 on one of them."""
    found = find_shortfall(layers_of([1.0] * 3, state=[3.0] * 3), cluster_of([1.0, 1.0], memory=4.0), LineParams())
    assert found == Shortfall(kind="memory", missing_bytes=2, layers=("l2",))
    assert found.violation.message == (
        "every device would need 2 B more; filled in order, the devices have no room from layer 'l2' on; "
        "a larger tensor degree, recomputed activations or states offloaded to the host take less"
    )


def test_a_stop_names_what_is_enough() -> None:
    """All layers on one device."""
    layers, cluster = layers_of([1.0] * 3, state=[3.0] * 3), cluster_of([1.0, 1.0], memory=4.0)
    found = find_shortfall(layers, cluster, LineParams(), lambda: True)
    assert found is not None
    assert found.missing_bytes == 9


def test_a_layer_larger_than_any_device_is_named() -> None:
    """Nine bytes do not fit into four."""
    found = find_shortfall(layers_of([1.0] * 2, state=[1.0, 9.0]), cluster_of([1.0, 1.0], memory=4.0), LineParams())
    assert found == Shortfall(kind="memory", missing_bytes=5, layers=("l1",), oversize="l1")
    assert "layer 'l1' alone is larger than any of them" in found.violation.message


def test_nothing_is_short_where_a_line_fits() -> None:
    """Three layers fit into four bytes."""
    assert find_shortfall(layers_of([1.0] * 3), cluster_of([1.0], memory=4.0), LineParams()) is None


def test_devices_without_a_way_are_named() -> None:
    """Each holds half of the model, and no link joins them."""
    cluster = cluster_of([1.0] * 3, [[-1, 0, -1], [0, -1, -1], [-1, -1, -1]], [1.0, 1.0, 2.0])
    found = find_shortfall(layers_of([1.0] * 4, sent=[1.0] * 3), cluster, LineParams())
    assert found == Shortfall(kind="unlinked", devices=("d0", "d2"))
    assert found.violation.message.endswith("such as 'd0', 'd2'")


def test_devices_without_a_link_are_named_where_a_line_needs_it() -> None:
    """A star of three rays: no line goes through all four."""
    star = [[-1, 0, 0, 0], [0, -1, -1, -1], [0, -1, -1, -1], [0, -1, -1, -1]]
    found = find_shortfall(layers_of([1.0] * 4, sent=[1.0] * 3), cluster_of([1.0] * 4, star, 1.0), LineParams())
    assert found == Shortfall(kind="unlinked", devices=("d1", "d2"))


def test_memory_counts_before_links() -> None:
    """Without links, and with half of the memory: more memory is needed anyway."""
    cluster = cluster_of([1.0, 1.0], [[-1, -1], [-1, -1]], 1.0)
    found = find_shortfall(layers_of([1.0] * 4, sent=[1.0] * 3), cluster, LineParams(stages=2))
    assert found == Shortfall(kind="memory", missing_bytes=1, layers=("l2",))


def test_pins_that_no_line_keeps_are_named() -> None:
    """Device 0 would have to come before and after device 1."""
    params = LineParams(pinned={0: 0, 1: 1, 2: 0})
    found = find_shortfall(layers_of([1.0] * 3), cluster_of([1.0, 1.0]), params)
    assert found == Shortfall(kind="pinned", layers=("l0", "l1", "l2"), devices=("d0", "d1", "d0"))
    assert "layers 'l0', 'l1', 'l2' on devices 'd0', 'd1', 'd0'" in found.violation.message


@pytest.mark.parametrize(("layers", "devices"), [(1, 2), (2, 1)])
def test_stages_need_layers_and_devices(layers: int, devices: int) -> None:
    """Two stages of one layer, or on one device."""
    found = find_shortfall(layers_of([1.0] * layers), cluster_of([1.0] * devices), LineParams(stages=2))
    assert found == Shortfall(kind="stages")
    assert found.violation.kind == "stages"


def test_memory_may_be_short_in_no_particular_place() -> None:
    """Filled in order there is room, but the pins are in the way."""
    cluster = cluster_of([1.0, 1.0], memory=2.0)
    found = find_shortfall(layers_of([1.0] * 4), cluster, LineParams(pinned={0: 0, 2: 0}))
    assert found == Shortfall(kind="memory", missing_bytes=1)


@pytest.mark.parametrize("seed", range(200, 210))
def test_with_what_is_missing_a_line_fits_and_with_a_byte_less_none(seed: int) -> None:
    """Random chains, tried in full."""
    layers, cluster, params = draw_case(seed, 5, 3)
    found = find_shortfall(layers, cluster, params)
    assert (found is None) == (best_line(layers, cluster, params) is not None)
    if found is None or found.kind != "memory":
        return
    ample = cluster_of(cluster.speed.tolist(), cluster.link.tolist())
    linked = np.isfinite(best_of_all(layers, ample, params)[0])
    link = cluster.link if linked else np.zeros_like(cluster.link)
    for extra, fits in ((found.missing_bytes, True), (found.missing_bytes - 1, False)):
        more = cluster_of(cluster.speed.tolist(), link.tolist(), (cluster.memory_bytes + extra).tolist())
        assert np.isfinite(best_of_all(layers, more, params)[0]) == fits
