"""Tests of what ranks with the same layers spend on messages to each other, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from tiger.model.arrays import IntArray
from tiger.training.costs.groups import ClosingRings, GroupPasses
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers
from tiger.training.models.traffic import GroupTraffic

# Of one layer: nothing is sent but what a test says.
QUIET = GroupTraffic.of_gradients(np.zeros(1))


@pytest.fixture
def cluster() -> Cluster:
    """Return two machines of two devices: 4 bytes a second within, 1 between."""
    machine = np.array([0, 0, 1, 1])
    return Cluster(
        names=("w", "x", "y", "z"),
        speed=np.ones(4),
        memory_bytes=np.full(4, np.inf),
        curves=(Curve.affine(4.0, 0.0), Curve.affine(1.0, 0.0)),
        link=(machine[:, None] != machine).astype(np.int64),
        machine=machine,
    )


RANKS = np.array([[0], [1], [2], [3]])


def layers_of(traffic: GroupTraffic, gradient_bytes: float = 0.0) -> Layers:
    """Return one layer whose replicas send each other something."""
    return Layers(
        names=("a",),
        forward_s=np.zeros(1),
        backward_s=np.zeros(1),
        parameter_bytes=np.array([gradient_bytes]),
        crossing_bytes=np.zeros(2),
        group_traffic=traffic,
    )


def passes_s(traffic: GroupTraffic, cluster: Cluster, ranks: IntArray) -> list[list[float]]:
    """Return the seconds of forward and backward passes of each row of ranks."""
    seconds = GroupPasses.of(layers_of(traffic), cluster, ranks.shape).seconds(ranks)
    # As one of two stages, one of which has nothing, it takes as long.
    columns = GroupPasses.of(layers_of(traffic), cluster, ranks.shape, np.array([0])).seconds(
        ranks[None], np.array([0])
    )
    assert columns[:, 0].tolist() == seconds[:, :, 0].tolist()
    return seconds[:, :, 0].T.tolist()


def test_context_ranks_gather_keys_in_their_own_run(cluster: Cluster) -> None:
    """Of 8 bytes each of two ranks has half: 1 s within a machine; a backward pass sends gradients of them, too."""
    traffic = replace(QUIET, context=2, context_bytes=np.array([8.0]))
    assert passes_s(traffic, cluster, RANKS) == [[1, 2]] * 4
    apart = passes_s(traffic, cluster, RANKS[[0, 2, 1, 3]])
    assert apart == [[4, 8]] * 4
    again = passes_s(replace(traffic, repeats=np.ones(1)), cluster, RANKS)
    assert again == [[1, 3]] * 4


def test_experts_exchange_tokens(cluster: Cluster) -> None:
    """Each of four ranks sends a quarter of 8 bytes to every other, 0.5 s within a machine and 2 s beyond it."""
    traffic = replace(QUIET, expert=4, exchanged_bytes=np.array([8.0]))
    assert passes_s(traffic, cluster, RANKS) == [[4.5, 4.5]] * 4
    near = replace(QUIET, expert=2, exchanged_bytes=np.array([8.0]))
    assert passes_s(near, cluster, RANKS) == [[1, 1]] * 4


def test_weights_that_are_shared_out_are_gathered_twice(cluster: Cluster) -> None:
    """Three steps of a quarter of 8 bytes, half by each of two NICs; gradients of 4 bytes are scattered behind them."""
    both = replace(QUIET, pass_gathered_bytes=np.array([[8.0], [0]]), pass_scattered_bytes=np.array([[4.0], [0]]))
    assert passes_s(both, cluster, RANKS) == [[3, 4.5]] * 4


def test_experts_are_reduced_among_those_that_hold_the_same(cluster: Cluster) -> None:
    """Every second rank: two rings of one NIC between machines; dense layers have one ring with both."""
    traffic = replace(
        QUIET, scattered_bytes=np.array([[0.0], [4.0]]), gathered_bytes=np.array([[0.0], [4.0]]), expert=2
    )

    def closing_s(traffic: GroupTraffic, ranks: IntArray) -> list[float]:
        grid = ranks[None]
        return ClosingRings.of(layers_of(traffic), cluster, (0, 1), grid.shape).seconds(grid).tolist()

    assert closing_s(traffic, RANKS) == [2 + 2]
    dense = replace(traffic, scattered_bytes=traffic.scattered_bytes[::-1], gathered_bytes=traffic.gathered_bytes[::-1])
    assert closing_s(dense, RANKS) == [1.5 + 1.5]
    assert closing_s(replace(traffic, expert=4), RANKS) == [0]
    assert closing_s(replace(traffic, expert=1), RANKS[:1]) == [0]
