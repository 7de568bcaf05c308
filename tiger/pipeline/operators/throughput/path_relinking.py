"""Two placements combined: what they agree on moves as one."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tiger.model.arrays import IntArray
from tiger.pipeline.operators.terms import Terms


def agreed_groups(terms: Terms, first: IntArray, second: IntArray) -> IntArray:
    """Return a group for every class [C]: those that edges join and neither of two placements parts.

    O(e). Source: Sanders and Schulz, Distributed evolutionary graph partitioning, doi:10.1137/1.9781611972924.2.
    """
    both = first * terms.devices + second
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    a, b = terms.of[producer], terms.of[terms.consumer]
    joined = both[a] == both[b]
    size = terms.classes
    graph = sp.csr_array((np.ones(int(joined.sum()), np.int8), (a[joined], b[joined])), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)
