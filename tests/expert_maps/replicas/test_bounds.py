"""Lower bounds on the largest load of a GPU."""

import numpy as np
import pytest

from tiger.expert_maps.replicas.balance import balance
from tiger.expert_maps.replicas.bounds import bound_load, bound_pairs
from tiger.expert_maps.replicas.groups import bound_heaviest, bound_nodes
from tiger.expert_maps.replicas.loads import ExpertLoads
from tiger.expert_maps.replicas.pools import Pools


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weight", "gpus", "size", "least"),
    [
        # The mean.
        ([4, 4, 4, 4], 2, 2, 8),
        # One slot more halves the largest, and what shares its GPU is at least the smallest.
        ([12, 1, 1, 1, 1], 3, 2, 7),
        # Of three experts of 5, two share a GPU of the two, whatever else there is.
        ([5, 5, 5, 0], 2, 2, 10),
        # No replicas to spare: the largest and the smallest share a GPU.
        ([9, 2, 2, 2], 2, 2, 11),
    ],
)
def test_bounds_are_those_of_the_hand(weight, gpus, size, least):
    """The mean, the largest replica with the least that fills its GPU, and replicas that have to share."""
    pools = Pools(np.array([weight], np.float64), gpus, size, 1)
    assert bound_load(pools, np.array([float(sum(weight))])) == pytest.approx([least])


def test_bounds_are_at_most_what_is_reached():
    """Also where the load reached is the mean itself."""
    pools = Pools(np.ones((1, 4)), 2, 2, 1)
    assert bound_load(pools, np.array([2.0])).tolist() == [2.0]


@pytest.mark.parametrize(("copies", "spare", "least"), [(1, 1, 20), (1, 2, 16), (2, 2, 16), (2, 3, 38 / 3)])
def test_two_large_experts_meet_or_leave_each_other_few_gpus(copies, spare, least):
    """20 and 12 on two GPUs beside idle ones: apart they carry 20, and together 20 / 2 with 12 / 2, if slots allow."""
    weight = np.array([[20.0, 12.0] + [0.0] * (8 - spare)])
    assert bound_pairs(Pools(weight, 2, 5, copies)) == pytest.approx([least])


@pytest.mark.parametrize(
    ("weight", "speed", "size", "least"),
    [
        # The load divided by speed.
        ([4, 4, 4, 4], [1.0, 1.0], 2, 8),
        # The slow GPU has two slots, too, and at least the two lightest experts.
        ([5, 4, 2, 2], [1.0, 0.1], 2, 40),
        # One of the two heaviest experts is on a GPU of half the speed.
        ([6, 6, 1], [1.0, 0.5, 0.5], 1, 12),
        # Two replicas share an expert evenly, however slow one of their GPUs is.
        ([12, 0, 0], [1.0, 1.0, 0.25], 2, 6),
    ],
)
def test_bounds_know_speeds(weight, speed, size, least):
    """Of slots that slow GPUs fill, and of experts that they have to share."""
    pools = Pools(np.array([weight], np.float64), len(speed), size, 1, np.array([speed]))
    assert bound_load(pools, np.array([1e3])) == pytest.approx([least])


def test_bounds_know_slots():
    """Four of five experts are on the first GPU: at least the four lightest, and one replica has nowhere else to go."""
    pools = Pools(np.array([[9.0, 4, 3, 2, 1]]), 2, 4, 1, room=np.array([[4, 1]]))
    assert bound_load(pools, np.array([100.0])) == pytest.approx([10])
    slow = pools._replace(speed=np.array([[0.5, 1.0]]))
    assert bound_load(slow, np.array([100.0])) == pytest.approx([20])


@pytest.mark.long
def test_a_node_has_the_heaviest_group_and_no_less_than_the_smallest_experts():
    """The hot expert has two replicas at most there, and its node a mean load of 27."""
    weight = np.array([[60.0, 1.0, 1.0, 1.0], *[[8.0, 7.0, 1.0, 1.0]] * 3]).ravel()
    loads = ExpertLoads(weight[None], 18, 4, 2, 6)
    reached = np.array([100.0])
    assert bound_nodes(loads, reached) == pytest.approx(80 / 3)
    assert bound_heaviest(loads, reached) == pytest.approx([32])
    assert balance(loads).largest == pytest.approx([32])
