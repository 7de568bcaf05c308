"""Tests of the report of a run as people see it: a sentence, rows, and a document."""

from collections.abc import Callable

import numpy as np

import tiger
from tiger.rebalancing.follow import follow_times

Make = Callable[..., tiger.Rebalancer]


def test_a_row_is_an_interval(make: Make) -> None:
    """With what moved, and how many layers every stage has."""
    report = follow_times(make(), [np.full((1, 12), 3e-3), np.array([[30e-3] * 4 + [3e-3] * 8])])
    first, second = report.rows
    assert (first.interval, first.action, first.stages, first.moved_layers) == (0, "keep", (4, 4, 4), 0)
    assert (second.action, sum(second.stages), second.moved_layers) == ("move", 12, report.moved_layers)
    assert report.headline.startswith("rebalanced: ")
    assert f"{report.gain:.2f}x as fast as uniform cuts" in report.headline


def test_documents_are_read_back(make: Make) -> None:
    """Moves and decisions included."""
    report = follow_times(make(), [np.array([[30e-3] * 4 + [3e-3] * 8])])
    assert tiger.RebalanceReport.from_dict(report.to_dict()) == report
