"""Tests of how placements of experts are shown."""

import numpy as np

import tiger


def test_experts_have_a_card_and_a_picture() -> None:
    """With the steps of the search beside the order of numbers."""
    trace = np.random.default_rng(0).integers(0, 4, (30, 3))
    cluster = {"devices": [{"name": "x"}, {"name": "y"}], "uniform_bandwidth": 1e9}
    report = tiger.experts(trace, cluster, experts=4)
    assert "0:0" in tiger.card(report)
    assert report.plot("convergence").axes[0].get_ylabel() == "hops of a transition"
