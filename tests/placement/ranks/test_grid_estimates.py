"""Tests of estimates of grids by their parts, against those of each grid alone."""

from dataclasses import replace

import numpy as np
import pytest

from tiger.placement.ranks.cost_model import GridCostModel, ParallelDegrees
from tiger.placement.ranks.grid_estimates import GridEstimates
from tiger.placement.ranks.grid_moves import Grids, draw_grids, neighbour_grids
from tiger.placement.ranks.position_keys import PositionKeys
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.models.transformer import layers_of_shape

SHAPES = [
    ((2, 2, 4), 1),
    ((4, 2, 2), 2),
    ((2, 4, 2), 1),
    ((1, 8, 2), 2),
    ((8, 1, 2), 1),
    ((3, 2, 2), 1),
    ((16, 1, 1), 1),
]


def drawn_cluster(seed: int) -> Cluster:
    """Return 16 devices of some machines: of two speeds and sizes, with few NICs and links that may be missing."""
    rng = np.random.default_rng(seed)
    machine = np.sort(rng.integers(4, size=16))
    inside = rng.integers(-1 if seed % 3 == 2 else 0, 2 if seed % 2 else 1, size=(16, 16))
    link = np.where(machine[:, None] == machine, np.tril(inside) + np.tril(inside, -1).T, 2)
    return Cluster(
        names=tuple(f"d{k}" for k in range(16)),
        speed=rng.choice([1.0, 0.5], 4)[machine],
        memory_bytes=rng.choice([1e9, 4e8], 4)[machine],
        curves=(Curve.affine(100e9, 5e-6), Curve.affine(40e9, 4e-6), Curve.affine(10e9, 15e-6)),
        link=link,
        machine=machine,
        nics=rng.integers(3, size=4)[machine],
    )


def check_neighbours(cost_model: GridCostModel, cluster: Cluster, seed: int) -> None:
    """Check the neighbours of two grids a move apart, and grids further away, with what is known of the first."""
    rng, shape = np.random.default_rng(seed), cost_model.degrees.shape
    estimates = GridEstimates.of(cost_model, PositionKeys.of(cluster, shape))
    grid = rng.permutation(16)[: cost_model.degrees.ranks].reshape(shape)
    for _ in range(2):
        grids = neighbour_grids(grid, cluster.machine)
        whole = grids.take(np.arange(len(grids)))
        assert estimates.seconds(grids, len(grids)).tolist() == cost_model.estimates(whole).tolist()
        grid = whole[rng.integers(len(whole))]
    drawn = draw_grids(grid, cluster.machine, 40, rng)
    assert estimates.seconds(Grids.of(drawn), 9).tolist() == cost_model.estimates(drawn[:9]).tolist()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("shape", "virtual"), SHAPES)
def test_parts_make_the_estimates_of_each_grid_alone(shape, virtual, seed, transformer):
    """To the last bit, on machines of any kind, with tied layers and several stages a position."""
    cluster, layers = drawn_cluster(seed), transformer(14)
    p, d, t = shape
    cuts = tuple(np.linspace(0, 16, p * virtual + 1).astype(int).tolist())
    degrees = ParallelDegrees(pipeline=p, data=d, tensor=t, microbatches=8)
    check_neighbours(GridCostModel.of(layers, cluster, cuts, degrees), cluster, seed)


@pytest.mark.parametrize("sharding", ["none", "zero-1", "zero-3"])
@pytest.mark.parametrize(("context", "expert"), [(1, 4), (2, 2)])
@pytest.mark.parametrize("regularly", [True, False])
def test_parts_hold_what_ranks_with_the_same_layers_send(sharding, context, expert, regularly, regular, irregular):
    """Context and expert ranks, and what is shared out, on equal machines and on those whose links differ."""
    shape = Shape(layers=4, hidden=64, heads=4, vocabulary=99, sequence=32, experts=4, gated=True, flops=1e9)
    setup = TrainingSetup(tensor=2, data=4 // context, context=context, expert=expert, sharding=sharding)
    cluster = regular() if regularly else irregular()
    degrees = ParallelDegrees(pipeline=2, data=4, tensor=2, microbatches=4)
    cost_model = GridCostModel.of(layers_of_shape(shape, setup=setup), cluster, (0, 3, 6), degrees)
    check_neighbours(cost_model, cluster, context + expert)


def test_equal_parts_are_evaluated_once(transformer, regular):
    """Of 120 exchanges on two machines, positions that only differ in which equal device is where are one."""
    layers, cluster, degrees = transformer(), regular(), ParallelDegrees(pipeline=2, data=2, tensor=4)
    estimates = GridEstimates.of(
        GridCostModel.of(layers, cluster, (0, 7, 14), degrees), PositionKeys.of(cluster, degrees.shape)
    )
    grids = neighbour_grids(np.arange(16).reshape(degrees.shape), cluster.machine)
    estimates.seconds(grids, len(grids))
    # Exchanges of one rank or one group of either position, both of these, and rank order.
    assert len(estimates.places.by_pattern.keys) == 2 * 2 + 2 + 2
    before = estimates.places.by_key.keys
    estimates.seconds(grids, len(grids))
    assert estimates.places.by_key.keys is before


def test_memory_of_unequal_devices_counts(transformer, regular):
    """Devices of one machine that differ in memory alone are told apart."""
    cluster = replace(regular(2, 8), memory_bytes=np.where(np.arange(16) % 2, 1e9, 2e8))
    degrees = ParallelDegrees(pipeline=2, data=2, tensor=4, microbatches=4)
    check_neighbours(GridCostModel.of(transformer(), cluster, (0, 7, 14), degrees), cluster, 0)
