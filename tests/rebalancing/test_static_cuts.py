"""Tests of the best cuts that never move: against all cuts."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

import tiger
from tiger.rebalancing.layer_times import LayerTimes
from tiger.rebalancing.line_costs import LineCosts
from tiger.rebalancing.static_cuts import best_static_cuts

Make = Callable[..., tiger.Rebalancer]
ENDS = np.array([[30e-3] * 4 + [3e-3] * 8, [3e-3] * 8 + [30e-3] * 4])


@pytest.mark.slow
@pytest.mark.parametrize("runs", [(0, 1, 1), (0, 1), (0, 0, 1)])
def test_bug_static_cuts_are_the_best_of_all(make: Make, runs: tuple[int, ...]) -> None:
    """They were 7 % from it where slow layers change ends, which made the gain of moving look larger."""
    line = make().line
    costs = [LineCosts(line=line, times=LayerTimes(forward_s=ENDS[k] / 3, backward_s=ENDS[k] * 2 / 3)) for k in runs]
    totals = {
        cuts: sum(one.iteration_s(cuts) for one in costs)
        for cuts in ((0, *inner, 12) for inner in combinations(range(1, 12), 2))
    }
    assert totals[best_static_cuts(costs, [(0, 4, 8, 12)])] == min(totals.values())


def test_cuts_that_do_not_fit_are_not_taken(make: Make) -> None:
    """Though all known ones are such."""
    line = make(10, 2, memory_bytes=6e9).line
    costs = [LineCosts(line=line, times=LayerTimes.of(line.layers))]
    assert best_static_cuts(costs, [(0, 9, 10), (0, 1, 10)]) in ((0, 5, 10), (0, 4, 10), (0, 6, 10))
