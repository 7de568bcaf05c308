"""Tests of what messages around rings take at the least."""

from collections.abc import Callable

import numpy as np
import pytest

from tiger.planning.links import LinkCurves, rate
from tiger.training.hardware.cluster import Cluster, Curve

Make = Callable[[tuple[int, ...]], Cluster]


def test_large_rings_need_slow_links(cluster_of: Make) -> None:
    """Two devices are on a machine, three and four are not, and five are nowhere."""
    links = LinkCurves.of(cluster_of((0, 0, 1, 1)))
    assert [links.need(ranks) for ranks in (1, 2, 3, 4, 5)] == [0, 0, 1, 1, None]


def test_the_quickest_curve_from_one_on_counts(cluster_of: Make) -> None:
    """Ten bytes take 0.101 s within a machine and 1.01 s between."""
    links = LinkCurves.of(cluster_of((0, 0, 1, 1)))
    assert links.least_s(0, np.array([10.0])) == pytest.approx(0.101)
    assert links.least_s(1, np.array([10.0])) == pytest.approx(1.01)


def test_rates_leave_latency_out(cluster_of: Make) -> None:
    """A byte takes 10 ms within a machine, and 100 ms between by each of two NICs."""
    links = LinkCurves.of(cluster_of((0, 0, 1, 1)))
    assert links.least_rate(0, 2, 1.0) == pytest.approx(0.01)
    assert links.least_rate(1, 2, 1.0) == pytest.approx(0.05)


def test_the_rate_is_the_least_of_a_table() -> None:
    """Here at its last entry, as bytes beyond it are slow again."""
    curve = Curve(size_bytes=np.array([1.0, 10.0, 11.0]), seconds=np.array([1.0, 2.0, 4.0]))
    assert rate(curve) == pytest.approx(0.2)
    sizes = np.linspace(0.5, 50, 200)
    assert (curve.of(sizes) >= rate(curve) * sizes * (1 - 1e-12)).all()


def test_many_curves_are_not_told_apart() -> None:
    """Then every ring may have any of them."""
    link = np.full((20, 20), -1)
    link[np.triu_indices(20, 1)] = np.arange(190)
    link = np.maximum(link, link.T)
    curves = tuple(Curve.affine(float(1 + k), 0.0) for k in range(190))
    cluster = Cluster(
        names=tuple(f"d{k}" for k in range(20)),
        speed=np.ones(20),
        memory_bytes=np.ones(20),
        curves=curves,
        link=link,
    )
    assert LinkCurves.of(cluster).need(20) == 0
