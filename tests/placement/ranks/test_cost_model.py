"""Tests of what grids of ranks cost."""

from dataclasses import fields, replace

import numpy as np
import pytest

from tiger.placement.ranks.cost_model import GridCostModel, ParallelDegrees
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import Workload, workloads
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.models.transformer import layers_of_shape

COSTS = [each.name for each in fields(Workload) if each.name != "style"]


@pytest.mark.parametrize(
    ("shape", "cuts"),
    [((2, 2, 4), (0, 7, 14)), ((4, 2, 2), (0, 4, 7, 10, 14)), ((2, 4, 2), (0, 3, 7, 10, 14)), ((1, 16, 1), (0, 14))],
)
@pytest.mark.parametrize("hides", [False, True])
def test_workloads_are_those_of_the_plan(shape, cuts, hides, transformer, irregular):
    """GridCostModel give what the plan's own evaluation does, virtual stages and tied layers included."""
    layers, cluster, (p, d, t) = transformer(), irregular(), shape
    setup, hiding_s = TrainingSetup(overlap_tensor=0.1), np.linspace(0, 2e-3, layers.size)
    layers = replace(layers, hiding_s=hiding_s, setup=setup) if hides else layers
    grid = np.random.default_rng(p).permutation(16).reshape(shape)
    cost_model = GridCostModel.of(layers, cluster, cuts, ParallelDegrees(pipeline=p, data=d, tensor=t))
    for mine, true in zip(
        cost_model.workloads(grid), workloads(layers, cluster, Plan(cuts=cuts, grid=grid)), strict=True
    ):
        for name in COSTS:
            np.testing.assert_allclose(getattr(mine, name), getattr(true, name), rtol=1e-12)


@pytest.mark.parametrize("recompute", ["none", "full"])
@pytest.mark.parametrize("sharding", ["none", "zero-1", "zero-3"])
@pytest.mark.parametrize(("context", "expert"), [(1, 1), (2, 1), (1, 4), (2, 2)])
def test_workloads_have_what_ranks_with_the_same_layers_send(sharding, recompute, context, expert, irregular):
    """Context and expert ranks, and what is shared out, wherever the ranks are."""
    shape = Shape(layers=4, hidden=64, heads=4, vocabulary=99, sequence=32, experts=4, gated=True, flops=1e9)
    setup = TrainingSetup(
        tensor=2, data=4 // context, context=context, expert=expert, sharding=sharding, recompute=recompute
    )
    layers, cluster, cuts = layers_of_shape(shape, setup=setup), irregular(), (0, 3, 6)
    grid = np.random.default_rng(context + expert).permutation(16).reshape(2, 4, 2)
    cost_model = GridCostModel.of(layers, cluster, cuts, ParallelDegrees(pipeline=2, data=4, tensor=2))
    plan = Plan(cuts=cuts, grid=grid)
    for mine, true in zip(cost_model.workloads(grid), workloads(layers, cluster, plan), strict=True):
        for name in COSTS:
            if name != "room_bytes":
                np.testing.assert_allclose(getattr(mine, name), getattr(true, name), rtol=1e-12)


def test_unequal_devices_wait_for_the_slowest(transformer, regular):
    """A group with a device of half the speed takes twice the compute."""
    cluster = replace(regular(1, 4), speed=np.array([1, 0.5, 1, 1]))
    layers = replace(transformer(2), reduced_bytes=np.zeros(4))
    cost_model = GridCostModel.of(layers, cluster, (0, 2, 4), ParallelDegrees(pipeline=2, tensor=2))
    slow, fast = (cost_model.workloads(np.array(order).reshape(2, 1, 2))[0] for order in ([0, 1, 2, 3], [0, 2, 1, 3]))
    assert slow.forward_s[0] == pytest.approx(2 * fast.forward_s[0])


def test_estimates_of_a_balanced_pipeline_are_exact(drawn_layers, regular):
    """Without messages an iteration takes the bottleneck for every microbatch and each other stage once."""
    layers = replace(drawn_layers(2, 0), crossing_bytes=np.zeros(3))
    cost_model = GridCostModel.of(layers, regular(1, 2), (0, 1, 2), ParallelDegrees(pipeline=2, microbatches=5))
    loads = layers.forward_s + layers.backward_s
    assert cost_model.estimates(np.array([[[[0]], [[1]]]])) == pytest.approx([5 * loads.max() + loads.min()], rel=1e-5)


def test_estimates_tell_missing_links_and_memory(drawn_layers, regular):
    """A grid that sends over no link is none; one that holds too much counts as much slower."""
    layers, cluster = drawn_layers(2, 0), regular(1, 3)
    link = np.array([[0, -1, 0], [-1, 0, 0], [0, 0, 0]])
    short = replace(cluster, link=link, memory_bytes=np.array([np.inf, np.inf, 1.5]))
    grids = np.array([[0, 1], [0, 2], [1, 0]]).reshape(3, 2, 1, 1)
    plain, held = (
        GridCostModel.of(layers, each, (0, 1, 2), ParallelDegrees(pipeline=2)).estimates(grids)
        for each in (cluster, short)
    )
    assert np.isinf(held[[0, 2]]).all()
    assert held[1] > 2 * plain[1]
