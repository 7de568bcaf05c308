"""What moves between two maps."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tiger.expert_maps.replicas.moves import align, find_moved


def test_names_of_gpus_and_slots_move_nothing():
    """The same sets of experts under other names are the map in use."""
    before = np.array([[0, 1], [2, 3], [4, 5], [6, 7]])
    assert align(before, before[[3, 2, 1, 0], ::-1], 2).tolist() == before.tolist()


def test_gpus_of_different_speeds_keep_their_names():
    """Whatever moves for it."""
    before, speed = np.array([[0], [1], [2], [3]]), np.array([1.0, 0.5, 1.0, 0.5])
    assert align(before, before[[2, 3, 0, 1]], 1, speed).tolist() == before.tolist()
    assert align(before, before[[1, 0, 3, 2]], 1, speed).ravel().tolist() == [1, 0, 3, 2]


def test_nodes_stay_whole():
    """Half of each node's experts went to the other: without nodes nothing would move."""
    before, after = np.array([[0, 1], [2, 3], [4, 5], [6, 7]]), np.array([[0, 1], [6, 7], [4, 5], [2, 3]])
    assert find_moved(before, align(before, after, 1)).sum() == 0
    assert find_moved(before, align(before, after, 2)).sum() == 4


@given(seed=st.integers(0, 2**32 - 1), nodes=st.sampled_from([1, 2, 4]))
def test_aligned_maps_hold_the_same(seed, nodes):
    """GPU by GPU, in some order, and no more moves than before."""
    rng = np.random.default_rng(seed)
    before, after = rng.integers(0, 6, (4, 3)), rng.integers(0, 6, (4, 3))
    found = align(before, after, nodes)
    assert sorted(map(sorted, found.tolist())) == sorted(map(sorted, after.tolist()))
    assert find_moved(before, found).sum() <= find_moved(before, after).sum()


def test_bug_an_expert_is_received_once():
    """A GPU that gets it in two slots copies it from one to the other."""
    before, after = np.array([[0, 1, 2]]), np.array([[3, 0, 3]])
    assert find_moved(before, after).tolist() == [[True, False, False]]
