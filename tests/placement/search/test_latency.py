"""The search for the least latency beyond what the dynamic program compares."""

from itertools import permutations

import numpy as np
import pytest

import tiger
from tests.placement.chain.instances import all_cuts, cluster_of, layers_of
from tiger.placement.params import PlaceParams
from tiger.placement.search.latency import quickest_along
from tiger.placement.search.problem import ChainProblem
from tiger.placement.solve import place_layers
from tiger.training.costs.plan import Plan


@pytest.mark.parametrize("seed", range(20))
def test_no_plan_along_an_order_is_quicker(seed: int) -> None:
    """Of all that use some of the devices in their order."""
    rng = np.random.default_rng(seed)
    layers = layers_of(rng.uniform(1, 4, 5).tolist(), rng.uniform(0, 1, 4).tolist(), [1.0] * 5)
    cluster = cluster_of(rng.choice([0.5, 1.0, 2.0], 3).tolist(), memory=rng.choice([2.0, 3.0, 5.0], 3).tolist())
    problem = ChainProblem.of(layers, cluster, PlaceParams(objective="latency"))
    plans = [
        Plan.line(cuts, devices)
        for count in (1, 2, 3)
        for devices in permutations(range(3), count)
        if devices == tuple(sorted(devices))
        for cuts in all_cuts(5, count)
    ]
    least = min(map(problem.evaluator.value, plans))
    found = quickest_along(problem, np.arange(3).reshape(3, 1, 1))
    assert (np.inf if found is None else problem.evaluator.value(found)) == pytest.approx(least)


def test_groups_are_no_quicker_than_their_bound() -> None:
    """Tensor-parallel pairs: all layers in one, as every message between pairs costs; proved where all are alike."""
    model = "llama-3-8b:serve=true,sequence=512"
    alike, apart = (
        tiger.place(model, cluster, objective="latency", tensor=2) for cluster in ("rtx4090:1x4", "rtx4090:2x2")
    )
    assert (len(alike.stages), alike.optimal) == (1, True)
    assert (len(apart.stages), apart.latency_bound_s <= apart.latency_s) == (1, True)


def test_a_number_of_stages_is_kept() -> None:
    """Though one device alone would be quicker; with many kinds of devices as with two."""
    few = tiger.place("llama-3-8b:serve=true,sequence=512", "rtx4090:1x4", objective="latency", pipeline=3)
    assert (len(few.stages), few.optimal) == (3, True)
    rng = np.random.default_rng(0)
    cluster = cluster_of(rng.uniform(0.5, 2, 30).tolist())
    found = place_layers(layers_of([1.0] * 40), cluster, PlaceParams(objective="latency", pipeline=4))
    assert found.plan is not None
    assert found.plan.stages == 4
    assert found.latency_bound_s <= found.latency_s
