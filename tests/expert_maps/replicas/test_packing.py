"""Replicas onto GPUs, largest first."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tiger.expert_maps.replicas.packing import pack
from tiger.expert_maps.replicas.pools import Pools
from tiger.expert_maps.replicas.replication import replicate


def test_each_replica_goes_to_the_lightest():
    """5 and 4 begin, 3 joins 4, and 1 goes where there is room."""
    pools = Pools(np.array([[3.0, 5.0, 4.0, 1.0]]), 2, 2, 1)
    assert pack(pools, replicate(pools)).tolist() == [[[1, 3], [2, 0]]]


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 5), gpus=st.integers(1, 5), copies=st.integers(1, 3))
def test_room_is_made_where_the_rule_leaves_none(seed, size, gpus, copies):
    """Whatever the replicas, all have a slot, and no GPU has more of an expert than it may."""
    rng = np.random.default_rng(seed)
    experts = int(rng.integers(-(-size // copies), gpus * size + 1))
    pools = Pools(rng.pareto(0.5, (4, experts)), gpus, size, copies)
    owners = replicate(pools)
    found = pack(pools, owners)
    assert (np.sort(found.reshape(4, -1)) == np.sort(owners)).all()
    assert max(np.bincount(gpu).max() for row in found for gpu in row) <= copies
