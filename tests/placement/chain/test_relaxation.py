"""Tests of clusters with the best links between machines."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.placement.chain.instances import cluster_of, draw_case, layers_of
from tiger.placement.chain import relaxation as module
from tiger.placement.chain.best_order import best_line, bound_s
from tiger.placement.chain.params import LineParams
from tiger.placement.chain.relaxation import relax_by_machine
from tiger.training.hardware.cluster import Curve


def test_links_are_the_best_of_their_machines() -> None:
    """Of links 0 and 1 in a machine the faster is everywhere in it; between machines there is only one, and none."""
    cluster = cluster_of([1.0] * 4, [[-1, 0, 0, 0], [0, -1, 1, 0], [0, 1, -1, -1], [0, 0, -1, -1]])
    cluster = replace(cluster, machine=np.array([0, 0, 0, 1]))
    relaxed = relax_by_machine(layers_of([1.0, 1.0], sent=[1.0]), cluster)
    seconds = [[float(relaxed.seconds(a, b, 1.0)) for b in range(4)] for a in range(4)]
    assert seconds == [[0, 0.5, 0.5, 1], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 1], [1, 1, 1, 0]]


def test_each_size_has_its_own_best_link() -> None:
    """One link is quick to start, the other to send."""
    curves = (Curve.affine(1.0, 0.0), Curve.affine(10.0, 3.0))
    cluster = replace(cluster_of([1.0] * 3, [[-1, 0, 1], [0, -1, 1], [1, 1, -1]]), curves=curves)
    relaxed = relax_by_machine(layers_of([1.0] * 3, sent=[1.0, 10.0]), cluster)
    assert relaxed.seconds(0, 1, [1.0, 10.0]).tolist() == pytest.approx([1.0, 4.0])
    assert (relaxed.device_types() == 0).all()


def test_very_many_machines_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs of machines would take too long."""
    monkeypatch.setattr(module, "MOST_MACHINES", 1)
    cluster = replace(cluster_of([1.0] * 2), machine=np.arange(2))
    assert relax_by_machine(layers_of([1.0]), cluster) is cluster


def test_irregular_machines_have_a_close_bound() -> None:
    """Two machines of four with one slow link each: without machines, all links would be fast."""
    at = np.arange(8) // 4
    link = np.where(at[:, None] == at, 2, 0)
    link[[0, 1, 4, 6], [1, 0, 6, 4]] = 1
    layers = layers_of([4.0] * 8, sent=[1.0] * 7)
    cluster = replace(cluster_of([1.0] * 8, link.tolist()), machine=at)
    exact = best_line(layers, cluster, LineParams())
    assert exact is not None
    assert bound_s(layers, cluster, LineParams(), 1000) == pytest.approx(exact.bottleneck_s)
    alone = replace(cluster, machine=np.zeros(8, np.int64))
    assert bound_s(layers, alone, LineParams(), 1000) < exact.bottleneck_s


@given(st.integers(0, 10**6), st.integers(1, 2000))
def test_it_bounds_from_below(seed: int, limit: int) -> None:
    """Any cluster with any machines."""
    layers, cluster, params = draw_case(seed, 6, 5)
    cluster = replace(cluster, machine=np.random.default_rng(seed).integers(0, 3, cluster.size))
    exact, relaxed = best_line(layers, cluster, params), best_line(layers, relax_by_machine(layers, cluster), params)
    if exact is not None:
        assert relaxed is not None
        assert relaxed.bottleneck_s <= exact.bottleneck_s * (1 + 1e-11)
        assert bound_s(layers, cluster, params, limit) <= exact.bottleneck_s * (1 + 1e-11)
