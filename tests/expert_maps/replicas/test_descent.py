"""A map in use, improved a step at a time."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.expert_maps.replicas.balance import balance
from tiger.expert_maps.replicas.descent import descend, measure
from tiger.expert_maps.replicas.loads import ExpertLoads
from tiger.expert_maps.replicas.moves import find_moved
from tiger.expert_maps.replicas.pools import Pools


def test_a_slot_goes_to_the_expert_that_needs_it():
    """Expert 0 has become idle: its second slot goes to expert 1, one move where an exchange takes two."""
    pools = Pools(np.array([[0.0, 8.0, 3.0, 1.0, 3.0]]), 3, 2, 1)
    path = descend(pools, np.array([[[0, 2], [1, 3], [0, 4]]]), 1, 1)[0]
    assert [(point.largest, point.moved) for point in path] == [(9, 0), (7, 1)]


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1), nodes=st.sampled_from([1, 2]), most=st.integers(0, 20))
def test_every_step_lowers_the_load_and_keeps_to_the_rules(draw_loads, seed, nodes, most):
    """Loads are those of the maps, moves within the cap, experts on their nodes, at most once a GPU."""
    before, loads = balance(draw_loads(seed, nodes=nodes)), draw_loads(seed + 1, nodes=nodes)
    start = before.phy2log.reshape(3, 8, 3)
    for layer, path in enumerate(descend(Pools(loads.weight, 8, 3, 1), start, nodes, most)):
        assert all(a.largest > b.largest for a, b in pairwise(path))
        for point in path:
            one = Pools(loads.weight[layer : layer + 1], 8, 3, 1)
            assert measure(one, point.slots[None]).sum(axis=2).max() == pytest.approx(point.largest)
            assert find_moved(start[layer], point.slots).sum() == point.moved <= most
            assert max(np.bincount(gpu).max() for gpu in point.slots) == 1
            nodes_of = [np.unique(node.ravel() // 4).tolist() for node in point.slots.reshape(nodes, -1)]
            assert nodes_of == [np.unique(node.ravel() // 4).tolist() for node in start[layer].reshape(nodes, -1)]


def test_balanced_layers_are_left_alone():
    """A load near the mean needs no step."""
    loads = ExpertLoads(np.ones((1, 8)), 8, 1, 1, 4)
    path = descend(Pools(loads.weight, 4, 2, 1), np.arange(8).reshape(1, 4, 2), 1, 8)[0]
    assert [point.moved for point in path] == [0]
