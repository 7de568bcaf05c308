"""Tests of how many positions are tried."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tiger.placement.params import PlaceParams
from tiger.placement.search.position_counts import position_counts
from tiger.placement.search.problem import ChainProblem
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


@pytest.mark.parametrize(
    ("devices", "params", "counts"),
    [
        (4, PlaceParams(), [4, 3, 2, 1]),
        (12, PlaceParams(), [12, 6, 3, 1]),
        (4, PlaceParams(pipeline=3), [3]),
        (8, PlaceParams(tensor=2), [4, 2, 1]),
        (4, PlaceParams(schedule="interleaved", microbatches=4), [4, 2, 1]),
    ],
)
def test_every_number_of_a_few_devices_and_halves_of_many(
    devices: int,
    params: PlaceParams,
    counts: list[int],
    drawn_layers: Callable[..., Layers],
    drawn_cluster: Callable[..., Cluster],
) -> None:
    """Only that which is asked for; interleaved microbatches go in groups of as many as there are positions."""
    layers = replace(drawn_layers(24, 0), slices=2)
    assert position_counts(ChainProblem.of(layers, drawn_cluster(devices, 0), params)) == counts
