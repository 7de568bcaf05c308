"""Tests of where grids differ from their base, against the keys of each grid alone."""

import numpy as np
import pytest

from tiger.placement.ranks.grid_changes import PlaceChanges
from tiger.placement.ranks.grid_moves import neighbour_grids
from tiger.placement.ranks.position_keys import PositionKeys, mix_keys


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 1, 2), (1, 2, 4), (4, 2, 1)])
def test_exchanges_have_the_keys_of_their_grids(shape, irregular):
    """What an exchange adds to the keys of its base makes those of the grid as a whole, unused devices included."""
    cluster = irregular(1)
    grids = neighbour_grids(np.random.default_rng(0).permutation(8)[: np.prod(shape)].reshape(shape), cluster.machine)
    keys, count, hops = PositionKeys.of(cluster, shape), len(grids.low), shape[0]
    base, whole = keys.keys(grids.base[None])[0], keys.keys(grids.take(np.arange(count)))
    moved, after = PlaceChanges.of(grids, keys), np.arange(1, hops + 1) % hops
    for changes, wanted in (
        (moved.places(base, None), whole),
        (moved.pairs(base, hops, None), mix_keys((whole, whole[:, after]))),
    ):
        found = np.tile(changes.base, (count, 1))
        found[changes.grid, changes.column] = changes.key[changes.part]
        assert (found == wanted).all()
    ends = np.array([0, hops - 1]) if hops > 1 else np.array([0])
    assert (moved.ties(base, count, ends) == mix_keys(whole[:, ends].T)).all()
