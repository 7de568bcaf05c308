"""Tests of how placements of experts are shown."""

import numpy as np

import tiger
from tiger.expert_maps.report import ExpertReport
from tiger.plotting.pictures import list_artists


def test_experts_have_a_card_and_a_picture() -> None:
    """The transitions before and after, and the steps of the search beside the order of numbers."""
    trace = np.random.default_rng(0).integers(0, 4, (30, 3))
    cluster = {"devices": [{"name": "x"}, {"name": "y"}], "uniform_bandwidth": 1e9}
    report = tiger.experts(trace, cluster, experts=4)
    assert "0:0" in tiger.card(report)
    titles = [axes.get_title("left") for axes in report.plot("transitions").axes[:2]]
    assert titles == [
        f"order of numbers: {report.contiguous.crossing:.1%} change device",
        f"placed: {report.placed.crossing:.1%} change device",
    ]
    assert report.plot("convergence").axes[0].get_ylabel() == "hops of a transition"


def test_a_report_that_was_read_has_no_transitions() -> None:
    """Counts are not in documents."""
    trace = np.array([[0, 1], [1, 0]])
    report = tiger.experts(trace, {"devices": [{"name": "x"}, {"name": "y"}], "uniform_bandwidth": 1e9}, experts=2)
    assert list(list_artists(report)) == ["transitions", "loads", "convergence"]
    assert list(list_artists(ExpertReport.from_dict(report.to_dict()))) == ["loads", "convergence"]
