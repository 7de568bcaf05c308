"""Tests of the bytes over links, by hand."""

import numpy as np
import pytest

from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import workloads
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.models.transformer import layers_of_shape
from tiger.training.schedules.traffic import link_traffic


def four_layers(**given):
    """Return layers that send 1, 2 and 3 bytes to each other and hold 10, 20, 20 and 10."""
    return Layers(
        names=("a", "b", "c", "d"),
        forward_s=np.ones(4),
        backward_s=np.ones(4),
        parameter_bytes=np.array([10.0, 20.0, 20.0, 10.0]),
        crossing_bytes=np.array([0.0, 1.0, 2.0, 3.0, 0.0]),
        **given,
    )


def test_every_microbatch_crosses_a_boundary_forth_and_back():
    """Tests a cut of 2 bytes and five microbatches, the lower device first."""
    assert link_traffic(four_layers(), Plan.line((0, 2, 4), (7, 3)), 5) == {(3, 7): 20.0}


def test_ranks_with_the_same_layers_send_what_their_seconds_say():
    """Bytes over one link between two devices, at a byte a second: what each of both spends on it, sent and received.

    Keys and values of context ranks, tokens for experts, weights that are gathered and gradients that are scattered.
    """
    shape = Shape(layers=2, hidden=8, heads=2, vocabulary=9, sequence=8, experts=2, top_k=1, gated=True, flops=1e9)
    cluster = Cluster(
        names=("a", "b"),
        speed=np.ones(2),
        memory_bytes=np.full(2, np.inf),
        curves=(Curve.affine(1.0, 0.0),),
        link=np.zeros((2, 2), np.int64),
    )
    plan = Plan(cuts=(0, 4), grid=np.array([[[0], [1]]]))
    for setup in (
        TrainingSetup(context=2, recompute="full"),
        TrainingSetup(data=2, expert=2),
        TrainingSetup(data=2, sharding="zero-3"),
        TrainingSetup(context=2, expert=2, sharding="zero-2"),
    ):
        layers = layers_of_shape(shape, setup=setup)
        load = workloads(layers, cluster, plan)[0]
        computing = (layers.forward_s + layers.backward_s).sum()
        sending = 3 * (float((load.forward_s + load.backward_s)[0]) - computing) + float(load.closing_s[0])
        assert link_traffic(layers, plan, 3)[0, 1] == pytest.approx(2 * sending)


def test_virtual_stages_cross_between_the_same_devices_again():
    """Tests four stages on two devices: 1 + 2 + 3 bytes, forth and back."""
    assert link_traffic(four_layers(), Plan.line((0, 1, 2, 3, 4), (0, 1)), 5) == {(0, 1): 60.0}


def test_stages_on_one_device_send_nothing():
    """Tests two virtual stages of the only device."""
    assert link_traffic(four_layers(), Plan.line((0, 2, 4), (0,)), 5) == {}


def test_replicas_all_reduce_their_gradients_once():
    """Tests three replicas: each sends 2 x 2 / 3 of 60 bytes to the next, however many microbatches."""
    plan = Plan(cuts=(0, 4), grid=np.array([[[0], [1], [2]]]))
    assert link_traffic(four_layers(), plan, 9) == {(0, 1): 80.0, (0, 2): 80.0, (1, 2): 80.0}


def test_tensor_parallel_ranks_all_reduce_in_both_passes():
    """Tests two ranks, 4 x 3 bytes reduced in each pass of two microbatches, both ways; gradients stay local."""
    plan = Plan(cuts=(0, 4), grid=np.array([[[0, 1]]]))
    assert link_traffic(four_layers(reduced_bytes=np.full(4, 3.0), slices=0), plan, 2) == {(0, 1): 2 * 4 * 12.0}


def test_tensor_parallel_ranks_send_shares_to_their_counterparts():
    """Tests two stages of two ranks each: half of 2 bytes, forth and back."""
    plan = Plan(cuts=(0, 2, 4), grid=np.array([[[0, 1]], [[2, 3]]]))
    assert link_traffic(four_layers(slices=0), plan, 5) == {(0, 2): 10.0, (1, 3): 10.0}


def test_tied_layers_all_reduce_between_their_stages():
    """Tests the first and the last layer, of 10 bytes: both ways between the ends of three stages, beside messages."""
    traffic = link_traffic(four_layers(tied=((0, 3),)), Plan.line((0, 1, 2, 4), (0, 1, 2)), 1)
    assert traffic == {(0, 1): 2.0, (0, 2): 20.0, (1, 2): 4.0}


def test_messages_behind_passes_are_sent_all_the_same():
    """They take a tenth of the time, and as many bytes."""
    shape = Shape(layers=2, hidden=8, heads=2, vocabulary=9, sequence=8, tied=False, flops=1e9)
    plan, curve = Plan.line((0, 2, 4), (0, 1)), Curve.affine(1.0, 0.0)
    link = np.zeros((2, 2), np.int64)
    cluster = Cluster(names=("a", "b"), speed=np.ones(2), memory_bytes=np.full(2, 1e9), curves=(curve,), link=link)
    plain, hidden = (layers_of_shape(shape, setup=TrainingSetup(overlap_pipeline=share)) for share in (None, 0.1))
    assert link_traffic(plain, plan, 3) == pytest.approx(link_traffic(hidden, plan, 3))
    spent = [workloads(layers, cluster, plan)[0].transfer_s[0] for layers in (plain, hidden)]
    assert spent[1] == pytest.approx(spent[0] / 10)
