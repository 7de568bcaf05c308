"""Tests of lower bounds, beside all plans there are."""

from itertools import combinations

import numpy as np
import pytest

from tiger.placement.params import PlaceParams
from tiger.placement.search.evaluator import Evaluator
from tiger.placement.solve import place_layers
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.models.transformer import layers_of_shape
from tiger.training.schedules.pass_orders import Schedule


@pytest.mark.parametrize("room", [np.inf, 4e6, 3.4e6])
@pytest.mark.parametrize("schedule", ["1f1b", "gpipe", None])
def test_bounds_hold_where_the_first_layers_of_a_stage_are_recomputed(room: float, schedule: Schedule | None) -> None:
    """No cuts of three stages are quicker than what a placement is bounded by, nor than the one that it finds."""
    shape = Shape(layers=6, hidden=64, heads=4, vocabulary=100, sequence=32, flops=1e9)
    layers = layers_of_shape(shape, setup=TrainingSetup(recompute="full", recompute_layers=1))
    params = PlaceParams(pipeline=3, schedule=schedule, microbatches=4)
    cluster = Cluster(
        names=("a", "b", "c"),
        speed=np.ones(3),
        memory_bytes=np.full(3, room),
        curves=(Curve.affine(1e9, 1e-6),),
        link=np.zeros((3, 3), np.int64),
    )
    evaluator = Evaluator(layers=layers, cluster=cluster, schedule=schedule, microbatches=4)
    plans = [Plan.line((0, *inner, layers.size), (0, 1, 2)) for inner in combinations(range(1, layers.size), 2)]
    best = min(plans, key=evaluator.value)
    found = place_layers(layers, cluster, params)
    assert evaluator.value(best) < np.inf
    assert found.plan is not None
    assert evaluator.value(found.plan) == pytest.approx(evaluator.value(best))
    assert found.lower_bound_s <= evaluator.bottleneck_s(best)
    assert (found.iteration_bound_s or 0.0) <= evaluator.value(best)
