"""Tests of two placements combined."""

import numpy as np
import pytest

from tests.placement.operators.instances import draw_terms
from tiger.placement.operators.throughput.path_relinking import agreed_vertices


@pytest.mark.parametrize("seed", range(6))
def test_neither_placement_parts_a_group(seed: int) -> None:
    """And every edge that neither cuts lies within one."""
    terms, rng = draw_terms(seed), np.random.default_rng(seed)
    first, second = rng.integers(0, terms.devices, (2, terms.groups))
    label = agreed_vertices(terms, first, second)
    for g in range(label.max() + 1):
        assert len(set(first[label == g])) == len(set(second[label == g])) == 1
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    a, b = terms.group_of[producer], terms.group_of[terms.consumer]
    assert (label[a] == label[b])[(first[a] == first[b]) & (second[a] == second[b])].all()
