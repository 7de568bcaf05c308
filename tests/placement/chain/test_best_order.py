"""Tests of the best line over all orders of devices."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.placement.chain.instances import best_of_all, cluster_of, draw_case, layers_of, loads_of
from tiger.placement.chain.best_order import balance_s, best_line, bound_s, sweep_steps
from tiger.placement.chain.params import LineParams


def test_the_fast_device_takes_the_large_layer() -> None:
    """Of 1, 6, 1 seconds, the middle goes to the device of speed 3, the ends to the others."""
    found = best_line(layers_of([1.0, 6.0, 1.0]), cluster_of([1.0, 1.0, 3.0]), LineParams())
    assert found is not None
    assert (found.devices, found.cuts, found.bottleneck_s) == ((0, 2, 1), (0, 1, 2, 3), 2.0)
    assert found.bound_s == 2.0


def test_fewer_devices_win_ties() -> None:
    """A second device does not help a single layer, nor one that slow messages lead to."""
    assert best_line(layers_of([5.0]), cluster_of([1.0, 1.0]), LineParams())[0] == (0,)
    assert best_line(layers_of([2.0, 2.0], sent=[9.0]), cluster_of([1.0, 1.0]), LineParams())[:2] == ((0,), (0, 2))


def test_first_devices_win_ties() -> None:
    """Any two of four equal devices do."""
    assert best_line(layers_of([2.0, 2.0]), cluster_of([1.0] * 4), LineParams())[0] == (0, 1)


def test_as_many_stages_as_asked_for() -> None:
    """Two stages although one is better."""
    found = best_line(layers_of([2.0, 2.0], sent=[9.0]), cluster_of([1.0, 1.0]), LineParams(stages=2))
    assert found is not None
    assert (found.cuts, found.bottleneck_s) == ((0, 1, 2), 20.0)


def test_lines_go_along_links() -> None:
    """Devices 0 and 2 are not linked: the line goes over 1, which is in the middle."""
    link = [[-1, 0, -1], [0, -1, 0], [-1, 0, -1]]
    found = best_line(layers_of([1.0] * 3, sent=[0.1, 0.1]), cluster_of([1.0] * 3, link), LineParams())
    assert found is not None
    assert found.devices == (0, 1, 2)


def test_pins_need_no_way_round() -> None:
    """The last layer is pinned to the first device."""
    found = best_line(layers_of([1.0] * 3), cluster_of([1.0] * 3), LineParams(pinned={2: 0}))
    assert found is not None
    assert found.devices == (1, 2, 0)


def test_nothing_where_a_layer_is_too_large() -> None:
    """Three bytes do not fit into two."""
    layers, cluster = layers_of([1.0, 1.0], state=[1.0, 3.0]), cluster_of([1.0, 1.0], memory=2.0)
    assert best_line(layers, cluster, LineParams()) is None
    assert bound_s(layers, cluster, LineParams()) == np.inf


def test_more_stages_than_layers_are_none() -> None:
    """A stage needs a layer."""
    assert best_line(layers_of([1.0]), cluster_of([1.0, 1.0]), LineParams(stages=2)) is None


def test_work_grows_with_what_differs() -> None:
    """Eight equal devices are a matter of one order, eight different ones of 2^8 sets."""
    layers = layers_of([1.0] * 9)
    assert sweep_steps(layers, cluster_of([1.0] * 8), LineParams()) == (8 + 7) * 10
    different = cluster_of([1.0 + k for k in range(8)])
    assert sweep_steps(layers, different, LineParams()) == (8 * 128 + 56 * 64) * 10
    assert sweep_steps(layers, different, LineParams(stages=2)) == (8 + 8 * 7 + 8 * 7) * 10
    assert sweep_steps(layers, cluster_of([1.0 + k for k in range(20)]), LineParams()) == 2**20 * 10


def test_long_chains_agree_with_a_table_of_all_segments() -> None:
    """The plain dynamic program over all pairs of boundaries, on equal devices."""
    rng = np.random.default_rng(0)
    layers = layers_of(rng.random(60).tolist(), rng.random(59).tolist(), rng.integers(1, 9, 60).tolist())
    for memory in (np.inf, 70.0):
        passed, held = np.append(0, np.cumsum(layers.forward_s * 2)), np.append(0, np.cumsum(layers.state_bytes))
        loads = passed - passed[:, None] + 2 * layers.crossing_bytes[:, None] + 2 * layers.crossing_bytes
        loads[np.tri(61, dtype=bool) | (held - held[:, None] > memory)] = np.inf
        best, least = loads[0], loads[0, -1]
        for _ in range(7):
            best = np.maximum(best[:, None], loads).min(axis=0)
            least = min(least, best[-1])
        found = best_line(layers, cluster_of([1.0] * 8, memory=memory), LineParams())
        assert found is not None
        assert found.bottleneck_s == pytest.approx(least, 1e-12)


def test_balance_counts_the_devices_that_may_be_used() -> None:
    """Eight seconds on the faster one of two, or on both, and five of them in one layer."""
    layers, cluster = layers_of([5.0, 3.0]), cluster_of([1.0, 3.0])
    assert balance_s(layers, cluster, LineParams(stages=1)) == 8 / 3
    assert balance_s(layers, cluster, LineParams()) == 2.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_nothing_tried_is_better(seed: int) -> None:
    """All orders, subsets and cuts of random chains, with memory, ties, pins and missing links."""
    _compare(*draw_case(seed, 5, 3))


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [*range(1000, 1015), *(pytest.param(k, marks=pytest.mark.long) for k in range(1015, 1400))]
)
def test_nothing_tried_is_better_for_more(seed: int) -> None:
    """The same for up to seven layers and four devices."""
    _compare(*draw_case(seed, 7, 4))


def _compare(*question: object) -> None:
    """Compare with trying everything: bottleneck, devices, and what the cuts cost."""
    layers, cluster, params = question
    least, count, devices = best_of_all(layers, cluster, params)
    found = best_line(layers, cluster, params)
    assert (found is None) == np.isinf(least)
    if found is not None:
        assert (len(found.devices), found.devices) == (count, devices)
        assert found.bottleneck_s == pytest.approx(least, 1e-9, 1e-9)
        assert loads_of(layers, cluster, params, found[:2]).max() == pytest.approx(found.bottleneck_s, 1e-12, 1e-12)
        assert found.bound_s == pytest.approx(found.bottleneck_s, 1e-11, 1e-11)


@pytest.mark.slow
@given(st.integers(0, 10**6))
def test_merged_classes_bound_from_below(seed: int) -> None:
    """With any number of steps, down to one class of devices; with all of them the bound is the optimum."""
    layers, cluster, params = draw_case(seed, 6, 4)
    found = best_line(layers, cluster, params)
    least = np.inf if found is None else found.bottleneck_s * (1 + 1e-11)
    assert bound_s(layers, cluster, params, 1) <= bound_s(layers, cluster, params, 200) * (1 + 1e-11)
    assert (
        bound_s(layers, cluster, params, 200) <= bound_s(layers, cluster, params) * (1 + 1e-11) <= least * (1 + 1e-11)
    )
    assert bound_s(layers, cluster, params) == pytest.approx(np.inf if found is None else found.bottleneck_s)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from([0.5, 1.0, 2.0]))
def test_a_device_more_is_never_worse(seed: int, speed: float) -> None:
    """It may be left out."""
    layers, cluster, params = draw_case(seed, 6, 3)
    params = replace(params, stages=None)
    link = np.pad(cluster.link, (0, 1))
    more = cluster_of([*cluster.speed.tolist(), speed], link.tolist(), [*cluster.memory_bytes.tolist(), 9.0])
    fewer, found = best_line(layers, cluster, params), best_line(layers, more, params)
    assert fewer is None or (found is not None and found.bottleneck_s <= fewer.bottleneck_s * (1 + 1e-11))


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_order_of_the_devices_does_not_matter(seed: int, other: int) -> None:
    """Renaming devices keeps the bottleneck."""
    layers, cluster, params = draw_case(seed, 6, 4)
    turn = np.random.default_rng(other).permutation(cluster.size)
    renamed = cluster_of(
        cluster.speed[turn].tolist(), cluster.link[np.ix_(turn, turn)].tolist(), cluster.memory_bytes[turn].tolist()
    )
    pins = {layer: int(np.argmax(turn == device)) for layer, device in params.pinned.items()}
    found, again = best_line(layers, cluster, params), best_line(layers, renamed, replace(params, pinned=pins))
    assert (found is None) == (again is None)
    assert found is None or again.bottleneck_s == pytest.approx(found.bottleneck_s, 1e-11)


def test_devices_of_two_islands_stay_together() -> None:
    """Two islands of two, slow between: one crossing, where the message is small."""
    link = [[0, 2, 0, 0], [2, 0, 0, 0], [0, 0, 0, 2], [0, 0, 2, 0]]
    layers = layers_of([4.0] * 4, sent=[1.0, 0.1, 1.0])
    found = best_line(layers, cluster_of([1.0] * 4, link), LineParams())
    assert found is not None
    assert (found.devices, found.bottleneck_s) == ((0, 1, 2, 3), pytest.approx(4.7))


def test_nothing_is_compiled() -> None:
    """Short chains are answered in a cold process."""
    folder = Path(__file__).parents[3] / "tiger" / "placement" / "chain"
    assert not [path.name for path in folder.glob("*.py") if "numba" in path.read_text(encoding="utf-8")]
