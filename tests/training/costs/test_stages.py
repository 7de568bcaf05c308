"""Tests of what stages cost, on models that a reader can cost by hand."""

from dataclasses import replace

import numpy as np
import pytest

from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import position_of, transfers_s, workloads
from tiger.training.costs.sums import state_bytes
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers
from tiger.training.models.setup import TrainingSetup


@pytest.fixture
def layers() -> Layers:
    """Return four layers of 1 s forward and 2 s back, 8 bytes each, the first tied to the last, that send 4 bytes."""
    return Layers(
        names=("a", "b", "c", "d"),
        forward_s=np.ones(4),
        backward_s=np.full(4, 2.0),
        parameter_bytes=np.full(4, 8.0),
        crossing_bytes=np.array([0.0, 4.0, 4.0, 4.0, 0.0]),
        held_bytes=np.full(4, 2.0),
        reduced_bytes=np.full(4, 6.0),
        reductions=np.full(4, 2.0),
        tied=((0, 3),),
        slices=0,
    )


@pytest.fixture
def cluster() -> Cluster:
    """Return four devices, two of them half as fast, 1 byte a second between any two."""
    return Cluster(
        names=("w", "x", "y", "z"),
        speed=np.array([1.0, 1.0, 0.5, 0.5]),
        memory_bytes=np.array([10.0, 20.0, 30.0, 40.0]),
        curves=(Curve.affine(1.0, 0.0),),
        link=np.zeros((4, 4), np.int64),
    )


def test_a_stage_pays_for_passes_and_for_messages_at_both_ends(layers: Layers, cluster: Cluster) -> None:
    """Two layers take 6 s, on a slow device 12 s; 4 bytes go forward and 4 come back."""
    (load,) = workloads(layers, cluster, Plan.line((0, 2, 4), (0, 2)))
    assert load.forward_s.tolist() == [2, 4]
    assert load.backward_s.tolist() == [4, 8]
    assert load.transfer_s.tolist() == [4]
    assert load.loads_s.tolist() == [14, 20]


def test_a_position_of_several_stages_has_all_their_loads(layers: Layers, cluster: Cluster) -> None:
    """Stages 0 and 2 run on the first device, which sends twice and receives once."""
    (load,) = workloads(layers, cluster, Plan.line((0, 1, 2, 3, 4), (0, 1)))
    assert load.loads_s.tolist() == [6 + 2 * 3 * 4, 6 + 2 * 3 * 4]


def test_tied_layers_are_held_once_and_reduced_once_an_iteration(layers: Layers, cluster: Cluster) -> None:
    """Apart, both ends hold 8 bytes and all-reduce them, 2 x 4 s over two ranks; in one stage neither happens."""
    (apart,) = workloads(layers, cluster, Plan.line((0, 2, 4), (0, 1)))
    assert apart.state_bytes.tolist() == [16, 16]
    assert apart.closing_s.tolist() == [8, 8]
    (whole,) = workloads(layers, cluster, Plan.line((0, 4), (0,)))
    assert (whole.state_bytes.tolist(), whole.closing_s.tolist()) == ([24], [0])
    assert state_bytes(replace(layers, tied=((0, 1, 2),)), (0, 4)).tolist() == [16]


def test_tensor_parallel_ranks_share_a_layer_and_wait_for_the_slowest(layers: Layers, cluster: Cluster) -> None:
    """Half of 1 s at half the speed, and two all-reduces of 3 bytes, each 2 x 1.5 s."""
    position = position_of(layers, cluster, np.array([[0, 2]]))
    assert position.forward_s.tolist() == [1 + 6] * 4
    assert position.backward_s.tolist() == [2 + 6] * 4
    assert (position.memory_bytes, position.ranks) == (10, 2)
    assert transfers_s(layers, cluster, np.array([[0, 1]]), np.array([[2, 3]])).tolist() == [0, 2, 2, 2, 0]


def test_products_that_hide_messages_lose_a_share(layers: Layers, cluster: Cluster) -> None:
    """Of 6 s of messages all but 1 s, 0.25 s, or more than all go on behind products, which lose a tenth of that."""
    setup = TrainingSetup(overlap_tensor=0.1)
    hiding = replace(layers, hiding_s=np.array([1.0, 0.25, 10.0, 0.0]), setup=setup)
    position = position_of(hiding, cluster, np.array([[0, 2]]))
    added = [5 + 0.1, 5.75 + 0.025, 0.6, 6]
    assert position.forward_s.tolist() == pytest.approx([1 + more for more in added])
    assert position.backward_s.tolist() == pytest.approx([2 + more for more in added])


def test_replicas_all_reduce_their_gradients_at_the_end(layers: Layers, cluster: Cluster) -> None:
    """Two stages of two layers, 16 bytes of gradients each: 2 x 8 s between two replicas, and 8 s for the tie."""
    plan = Plan(cuts=(0, 2, 4), grid=np.array([[[0], [1]], [[2], [3]]]))
    loads = workloads(layers, cluster, plan)
    assert [load.closing_s.tolist() for load in loads] == [[24, 24]] * 2
    assert loads[0].held_bytes.tolist() == [4, 4]
