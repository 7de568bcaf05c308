"""Tests of a run of intervals: its sums, its baselines, and bad times."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import tiger
from tiger.errors import InputError
from tiger.rebalancing.follow import follow_times
from tiger.training.costs.plan import Plan

Make = Callable[..., tiger.Rebalancer]
OPTIONS = tiger.RebalanceOptions(iterations=10)
SKEWED = np.array([[30e-3] * 4 + [3e-3] * 8])


def test_sums_are_those_of_the_intervals(make: Make) -> None:
    """With moves in the seconds of rebalanced plans, and bounds below all."""
    report = follow_times(make(options=OPTIONS), [np.full((1, 12), 3e-3), SKEWED, SKEWED])
    iterations = sum(one.decision.iteration_s for one in report.intervals)
    assert report.rebalanced_s == pytest.approx(10 * iterations + report.moving_s)
    assert report.moving_s == sum(one.decision.moving_s for one in report.intervals) > 0
    assert report.gain == pytest.approx(report.uniform_s / report.rebalanced_s)
    assert report.lower_bound_s <= report.rebalanced_s <= report.static_s <= report.uniform_s
    assert (report.cap, report.rebalances, report.uniform_cuts) == (4, 1, (0, 4, 8, 12))


def test_static_cuts_are_the_best_for_all_intervals(make: Make) -> None:
    """Two mirrored loads have the best static cuts in between, which moving beats."""
    report = follow_times(make(options=OPTIONS), [SKEWED, SKEWED[:, ::-1]] * 2)
    assert report.static_gain > 1
    assert report.largest_gain >= report.gain


def test_times_are_of_devices_of_speed_one(make: Make) -> None:
    """A device that is half as fast takes twice as long; uneven stages have a layer more than the mean."""
    line = make(10, 3).line
    cluster = replace(line.cluster, speed=np.full(3, 0.5))
    rebalancer = tiger.Rebalancer(line.layers, cluster, plan=Plan.line((0, 3, 6, 10), (0, 1, 2)), options=OPTIONS)
    report = follow_times(rebalancer, [np.full((1, 10), 3e-3)] * 2)
    assert rebalancer.times.total_s == pytest.approx([3e-3] * 10)
    assert report.lower_bound_s == pytest.approx(2 * 10 * 12 * 30e-3 / 1.5)
    assert report.cap == 4


def test_figures_of_cuts_that_do_not_fit_are_none(make: Make) -> None:
    """The second device holds three layers, uniform cuts give it five; the document says null."""
    line = make(10, 2).line
    cluster = replace(line.cluster, memory_bytes=np.array([9e9, 3e9]))
    rebalancer = tiger.Rebalancer(line.layers, cluster, plan=Plan.line((0, 7, 10), (0, 1)))
    report = follow_times(rebalancer, [np.full((1, 10), 1e-3)])
    assert (report.uniform_s, report.gain, report.largest_gain, report.intervals[0].workers) == (None,) * 4
    assert report.to_dict()["intervals"][0]["uniform_s"] is None
    assert report.warnings == ("uniform cuts do not fit into memory, or lack links",)
    assert "uniform" not in report.headline
    assert report.static_cuts in ((0, 7, 10), (0, 8, 10), (0, 9, 10))


@pytest.mark.parametrize(
    ("times", "field"),
    [([], "times"), ([np.ones((1, 11))], "times/0"), ([SKEWED, SKEWED * np.nan], "times/1/0")],
)
def test_bad_times_name_interval_and_layer(make: Make, times: list[np.ndarray], field: str) -> None:
    """Before anything is decided."""
    with pytest.raises(InputError) as error:
        follow_times(make(), times)
    assert error.value.field == field
