"""Trees and DGX clusters."""

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.topologies.trees import dgx, tree


def test_fanouts_are_outermost_first_and_distances_innermost_first():
    """Leaves that share the inner group are 1 apart, across the outermost 100."""
    topology = tree((2, 3, 4), (1.0, 10.0, 100.0))
    leaves = [topology.names.index(name) for name in ("0,0,0", "0,0,3", "0,2,0", "1,0,0")]
    assert topology.metric.between(np.array(leaves[0]), np.array(leaves)).tolist() == [0, 1, 10, 100]
    assert (topology.size, topology.links, set(topology.slots.tolist())) == (24, None, {1})


def test_a_dgx_cluster_is_nine_times_slower_between_machines():
    """Two machines of eight GPUs."""
    topology = dgx(2)
    assert (topology.names[0], topology.names[8], topology.size) == ("0,0", "1,0", 16)
    assert topology.metric.between(np.array(0), np.array([0, 7, 8, 15])).tolist() == [0, 1, 9, 9]


@pytest.mark.parametrize(
    ("fanouts", "distances"),
    [((), ()), ((0,), (1.0,)), ((2, 2), (1.0,)), ((2,), (1.0, 2.0)), ((2, 2), (2.0, 1.0)), ((2,), (np.inf,))],
)
def test_malformed_trees_are_refused(fanouts, distances):
    """Fan-outs below 1, another number of distances, falling or infinite ones are bad input."""
    with pytest.raises(InputError, match=r"^topology: expected"):
        tree(fanouts, distances)


@pytest.mark.parametrize("machines", [0, 131_073, 10**12])
def test_clusters_out_of_range_are_refused(machines):
    """At least one machine, at most 2^17."""
    with pytest.raises(InputError, match=r"^topology: expected"):
        dgx(machines)
