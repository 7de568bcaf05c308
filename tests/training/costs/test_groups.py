"""Tests of what ranks with the same layers spend on messages to each other, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from tiger.training.costs.groups import closing_rings_s, group_passes_s
from tiger.training.hardware.cluster import Cluster, Curve
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


def test_context_ranks_gather_keys_in_their_own_run(cluster: Cluster) -> None:
    """Of 8 bytes each of two ranks has half: 1 s within a machine; a backward pass sends gradients of them, too."""
    traffic = replace(QUIET, context=2, context_bytes=np.array([8.0]))
    assert group_passes_s(traffic, cluster, RANKS)[:, :, 0].tolist() == [[1, 2]] * 4
    apart = group_passes_s(traffic, cluster, RANKS[[0, 2, 1, 3]])
    assert apart[:, :, 0].tolist() == [[4, 8]] * 4
    again = group_passes_s(replace(traffic, repeats=np.ones(1)), cluster, RANKS)
    assert again[:, :, 0].tolist() == [[1, 3]] * 4


def test_experts_exchange_tokens(cluster: Cluster) -> None:
    """Each of four ranks sends a quarter of 8 bytes to every other, 0.5 s within a machine and 2 s beyond it."""
    traffic = replace(QUIET, expert=4, exchanged_bytes=np.array([8.0]))
    assert group_passes_s(traffic, cluster, RANKS)[:, :, 0].tolist() == [[4.5, 4.5]] * 4
    near = replace(QUIET, expert=2, exchanged_bytes=np.array([8.0]))
    assert group_passes_s(near, cluster, RANKS)[:, :, 0].tolist() == [[1, 1]] * 4


def test_weights_that_are_shared_out_are_gathered_twice(cluster: Cluster) -> None:
    """Three steps of a quarter of 8 bytes between machines; gradients of 4 bytes are scattered behind them."""
    both = replace(QUIET, pass_gathered_bytes=np.array([[8.0], [0]]), pass_scattered_bytes=np.array([[4.0], [0]]))
    assert group_passes_s(both, cluster, RANKS)[:, :, 0].tolist() == [[6, 9]] * 4


def test_experts_are_reduced_among_those_that_hold_the_same(cluster: Cluster) -> None:
    """Every second rank: two rings between machines, where a ring of all four would be needed for dense layers."""
    sent = np.array([[[0.0], [4.0]], [[0.0], [4.0]]])
    assert closing_rings_s(cluster, RANKS[None], sent, 2).tolist() == [2 + 2]
    assert closing_rings_s(cluster, RANKS[None], sent[:, ::-1], 2).tolist() == [3 + 3]
    assert closing_rings_s(cluster, RANKS[None], sent, 4).tolist() == [0]
    assert closing_rings_s(cluster, RANKS[None, :1], sent, 1).tolist() == [0]
