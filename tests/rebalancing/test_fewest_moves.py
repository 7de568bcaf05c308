"""Tests of the cuts that move the least: against all cuts."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

import tiger
from tiger.rebalancing.fewest_moves import SLACK, cheapest_cuts, waiting_program
from tiger.rebalancing.layer_times import LayerTimes
from tiger.rebalancing.line_costs import LineCosts
from tiger.rebalancing.moving import homes_of, prices_s

Make = Callable[..., tiger.Rebalancer]


@pytest.mark.parametrize("seed", range(3, 6))
def test_the_program_is_exact_for_every_limit(make: Make, seed: int) -> None:
    """No cuts below the limit, whose stages fit, have cheaper moves."""
    rng, line = np.random.default_rng(seed), make(9, 3, memory_bytes=4e9).line
    times = LayerTimes(forward_s=rng.uniform(1, 5, 9), backward_s=rng.uniform(1, 5, 9))
    costs, price = LineCosts(line=line, times=times), rng.uniform(0, 1, (3, 9))
    program, all_cuts = waiting_program(costs), [(0, *inner, 9) for inner in combinations(range(1, 9), 2)]
    limits = {cuts: float(program.loads_s(cuts).max()) * (1 + SLACK) for cuts in all_cuts if line.fits(cuts)}
    prices = np.pad(np.cumsum(price, axis=1), ((0, 0), (1, 0)))
    for limit in (*sorted(limits.values())[::3], np.inf):
        found = program.cheapest_moves(prices, limit)
        stages = (np.repeat(range(3), np.diff(one)) for one, least in limits.items() if least <= limit)
        assert found is not None
        assert limits[found[1]] <= limit
        assert found[0] == pytest.approx(min(price[stage, range(9)].sum() for stage in stages))


def test_proposals_end_with_cuts_that_move_nothing(make: Make) -> None:
    """Where those in use are within the last of the limits."""
    line = make().line
    costs = LineCosts(line=line, times=LayerTimes.of(line.layers))
    price = prices_s(line, homes_of((0, 3, 8, 12), line.devices))
    assert (0, 3, 8, 12) in cheapest_cuts(costs, price)
