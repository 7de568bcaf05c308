"""Undirected graphs whose files list every edge at both of its ends."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray

Ends = NDArray[np.int32 | np.int64]


def fold(names: Sequence[str], degrees: IntArray, target: Ends, weights: FloatArray) -> sp.csr_array:
    """Return each edge once, above the diagonal; raise InputError of `tasks` unless both ends list it alike.

    Vertex k lists `degrees[k]` ends in `target`, those of vertex 0 first.
    """
    shape, bounds = (len(names), len(names)), np.concatenate([[0], np.cumsum(degrees)])
    traffic = sp.csr_array((weights, target, bounds), shape=shape)
    traffic.sort_indices()
    if not (traffic.has_canonical_format and _is_symmetric(traffic)):
        ones = np.ones(len(target))
        listed = sp.csr_array((ones, traffic.indices, traffic.indptr), shape=shape, copy=True)
        traffic.sum_duplicates()
        _check_symmetric(names, listed, "as often")
        _check_symmetric(names, traffic, "with the same weight")
    return _take_upper(traffic)


def _is_symmetric(traffic: sp.csr_array) -> bool:
    """Return whether a canonical matrix is the same by columns as by rows."""
    back = traffic.T.tocsr()
    return all(np.array_equal(getattr(traffic, part), getattr(back, part)) for part in ("indptr", "indices", "data"))


def _take_upper(traffic: sp.csr_array) -> sp.csr_array:
    """Return the entries above the diagonal."""
    size = traffic.shape[0]
    row = np.repeat(np.arange(size, dtype=traffic.indices.dtype), np.diff(traffic.indptr))
    upper = traffic.indices > row
    bounds = np.concatenate([[0], np.cumsum(np.bincount(row[upper], minlength=size))])
    return sp.csr_array((traffic.data[upper], traffic.indices[upper], bounds), shape=traffic.shape)


def _check_symmetric(names: Sequence[str], matrix: sp.csr_array, how: str) -> None:
    """Raise InputError unless every edge stands at both ends alike."""
    odd = (matrix != matrix.T).tocoo()
    if odd.nnz:
        u, v = int(odd.row[0]), int(odd.col[0])
        found = f"{matrix[u, v]:g} and {matrix[v, u]:g}"
        raise InputError("tasks", f"expected vertices {names[u]} and {names[v]} to list each other {how}, got {found}")
