"""Lower bounds on the largest load of a GPU."""

import numpy as np
import pytest

from tiger.pipeline.experts.replicas.bounds import bound_load
from tiger.pipeline.experts.replicas.pools import Pools


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
