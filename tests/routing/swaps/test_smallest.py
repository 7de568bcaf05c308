"""Tests of the selection of the smallest keys."""

import numpy as np
import pytest

from tiger.routing.swaps.smallest import select


@pytest.mark.parametrize("seed", range(6))
def test_the_smallest_keys_come_first_with_their_values(seed: int) -> None:
    """Keys repeat, and any number of them is asked for."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 9, rng.integers(1, 30)).astype(float)
    order, before, most = np.arange(len(keys), dtype=np.int32), keys.copy(), int(rng.integers(0, 31))
    select.py_func(keys, order, len(keys), most)
    assert (before[order] == keys).all()
    assert sorted(keys[:most]) == sorted(before)[:most]
