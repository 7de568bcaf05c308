"""Tests of the cheapest cuts within a limit: compiled and plain, against all cuts."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from tiger.placement.chain.limited_cuts import StageCosts, cheapest_cuts, costs_of_cuts, min_sum, ranges


def draw(seed: int, stages: int = 3, layers: int = 7) -> tuple[StageCosts, np.random.Generator]:
    """Draw the costs of some stages, of which a few hold no more than two layers."""
    rng, size = np.random.default_rng(seed), layers + 1
    ahead = np.cumsum(np.pad(rng.uniform(1, 5, (stages, layers)), ((0, 0), (1, 0))), axis=1)
    sent = np.pad(rng.uniform(0, 2, (stages - 1, size)), ((0, 1), (0, 0)))
    start = np.arange(size)
    last = np.where(rng.random((stages, size)) < 0.3, np.minimum(start + 2, layers), layers)
    return StageCosts(ahead, np.roll(sent, 1, axis=0), sent, last), rng


def list_cuts(stages: StageCosts) -> list[tuple[int, ...]]:
    """Return all cuts that fit."""
    count, size = stages.last.shape
    every = ((0, *inner, size - 1) for inner in combinations(range(1, size - 1), count - 1))
    return [cuts for cuts in every if (stages.last[range(count), cuts[:-1]] >= cuts[1:]).all()]


@pytest.mark.parametrize("seed", range(6))
def test_no_cuts_within_the_limit_are_cheaper(seed: int) -> None:
    """By any prices of stages, compiled and as plain Python; none at all are within less than the least limit."""
    stages, rng = draw(seed)
    prices = np.cumsum(rng.uniform(0, 1, stages.last.shape), axis=1)
    known = {cuts: costs_of_cuts(stages, cuts) for cuts in list_cuts(stages)}
    assert known
    limits = sorted(one.bottleneck_s for one in known.values())
    for limit in (limits[0], limits[len(limits) // 2], limits[-1]):
        kept = [cuts for cuts, one in known.items() if one.bottleneck_s <= limit]
        least = min(sum(prices[s, b] - prices[s, a] for s, (a, b) in enumerate(pairwise(c))) for c in kept)
        for search in (cheapest_cuts, cheapest_cuts.py_func):
            price, cuts = search(stages, (prices, prices), limit, ranges(stages, limit))
            assert tuple(cuts.tolist()) in kept
            assert price == pytest.approx(least)
        assert min_sum(stages, limit).total_s == pytest.approx(min(known[cuts].total_s for cuts in kept))
    assert np.isinf(cheapest_cuts(stages, (prices, prices), limits[0] * 0.99, ranges(stages, limits[-1]))[0])


def test_of_equally_cheap_cuts_the_first_stages_are_short() -> None:
    """Three layers of a second on two positions."""
    zero, last = np.zeros((2, 4)), np.full((2, 4), 3)
    stages = StageCosts(np.tile(np.arange(4.0), (2, 1)), zero, zero, last)
    assert min_sum(stages, 2.0).cuts == (0, 1, 3)
