"""Tests of over which links ranks talk."""

import numpy as np

from tiger.planning.spans import data_links, pipeline_links, tensor_links
from tiger.training.costs.plan import rank_order
from tiger.training.hardware.cluster import Cluster


def test_the_slowest_link_of_each_kind_is_named(large: tuple[object, Cluster]) -> None:
    """Ranks of a layer lie within machines here, replicas between them, and there is one position."""
    grid = rank_order((1, 2, 2))
    assert tensor_links(large[1], grid) == "100 B/s within a machine"
    assert data_links(large[1], grid) == "10 B/s between machines"
    assert pipeline_links(large[1], grid) == ""


def test_no_link_has_no_rate() -> None:
    """Nor has one that takes no time a byte."""
    from tiger.training.hardware.cluster import Curve

    cluster = Cluster(
        names=("a", "b", "c"),
        speed=np.ones(3),
        memory_bytes=np.ones(3),
        curves=(Curve(size_bytes=np.array([0.0, 1.0]), seconds=np.zeros(2)),),
        link=np.array([[-1, 0, -1], [0, -1, -1], [-1, -1, -1]]),
    )
    assert pipeline_links(cluster, np.array([0, 1]).reshape(2, 1, 1)) == "within a machine"
    assert pipeline_links(cluster, np.array([1, 2]).reshape(2, 1, 1)) == ""
