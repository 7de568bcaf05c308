"""Two placements combined: sets of groups that both keep together become vertices."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tiger.model.arrays import IntArray
from tiger.placement.operators.terms import Terms


def agreed_vertices(terms: Terms, first: IntArray, second: IntArray) -> IntArray:
    """Return a vertex for every group [C]: connected sets that neither of two placements separates.

    O(e). Source: Sanders and Schulz, Distributed evolutionary graph partitioning, doi:10.1137/1.9781611972924.2.
    """
    both = first * terms.devices + second
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    a, b = terms.group_of[producer], terms.group_of[terms.consumer]
    joined = both[a] == both[b]
    size = terms.groups
    graph = sp.csr_array((np.ones(int(joined.sum()), np.int8), (a[joined], b[joined])), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)
